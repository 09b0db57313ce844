"""Exceptions: one class a kind, and what raises which."""

import builtins
import inspect
import pickle
from pathlib import Path
from typing import Any

import pytest

import chrysalid
from chrysalid import _native
from stepping import step

CODES = {
    "AlreadyDecided": "already_decided",
    "ApprovalExpired": "approval_expired",
    "BadSeal": "bad_seal",
    "BrokenChain": "broken_chain",
    "Busy": "busy",
    "CapabilityError": "capability",
    "ConfigError": "config",
    "Corrupt": "corrupt",
    "DecisionNotAllowed": "decision_not_allowed",
    "GuestError": "guest",
    "InternalError": "internal",
    "InvalidArguments": "invalid_arguments",
    "IoError": "io",
    "MissingCapability": "missing_capability",
    "NoKey": "no_key",
    "NotASnapshot": "not_a_snapshot",
    "NotRunning": "not_running",
    "NotWaiting": "not_waiting",
    "OtherContext": "other_context",
    "OtherVersion": "other_version",
    "SessionBusy": "session_busy",
    "SessionLost": "session_lost",
    "SessionPaused": "session_paused",
    "SourceTooLarge": "source_too_large",
    "StaleArguments": "stale_arguments",
    "TooLarge": "too_large",
    "UnknownCall": "unknown_call",
    "UnknownGuest": "unknown_guest",
    "UnknownKey": "unknown_key",
    "ValueRefused": "value",
}


def kinds(module: Any) -> dict[str, Any]:
    classes = inspect.getmembers(module, inspect.isclass)
    return {
        name: cls for name, cls in classes if issubclass(cls, module.ChrysalidError) and cls.__base__ is not Exception
    }


def test_the_runtime_has_one_class_a_kind() -> None:
    assert {name: cls.code for name, cls in kinds(_native).items()} == CODES


def test_the_package_exports_them_all() -> None:
    assert set(kinds(chrysalid)) == set(CODES)
    assert set(CODES) <= set(chrysalid.__all__)


def test_the_stub_lists_what_the_runtime_has() -> None:
    stub = Path(_native.__file__ or "").with_name("_native.pyi").read_text(encoding="utf-8")
    assert {line.split()[1].split("(")[0] for line in stub.splitlines() if "(ChrysalidError):" in line} == set(CODES)


def test_no_class_hides_one_of_python() -> None:
    assert not set(CODES) & set(vars(builtins))


def test_all_that_is_exported_is_there() -> None:
    assert sorted(chrysalid.__all__) == sorted(set(chrysalid.__all__))
    for name in chrysalid.__all__:
        assert hasattr(chrysalid, name), name


@pytest.mark.parametrize("name", CODES)
def test_they_pickle(name: str) -> None:
    error = getattr(chrysalid, name)("text")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == "text"
    assert isinstance(error, chrysalid.ChrysalidError)


def test_options_are_checked(engine: chrysalid.Engine) -> None:
    with pytest.raises(chrysalid.ConfigError, match="memory limit of 5 bytes is not between 4194304 and"):
        engine.session(limits=chrysalid.Limits(memory=5))
    with pytest.raises(chrysalid.ConfigError, match="value depth of 1000 is not between 1 and 512"):
        engine.session(limits=chrysalid.Limits(value_depth=1000))
    with pytest.raises(ValueError, match=r"cpu_time of -1 seconds"):
        chrysalid.Limits(cpu_time=-1)
    with pytest.raises(ValueError, match=r"wall_time of NaN seconds"):
        chrysalid.Limits(wall_time=float("nan"))
    with pytest.raises(ValueError, match=r'when_spent is "fail" or "ask", not "never"'):
        chrysalid.Limits(when_spent="never")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="clock of -5 seconds"):
        engine.session(clock=-5)
    with pytest.raises(ValueError, match=r"^ledger: "):
        engine.session(ledger="{")
    with pytest.raises(OverflowError):
        engine.session(seed=-1)
    with pytest.raises(TypeError):
        engine.session(unknown=1)  # type: ignore[call-arg]


def test_the_wrong_moment(session: chrysalid.Session) -> None:
    with pytest.raises(chrysalid.NotRunning):
        session.step()
    with pytest.raises(chrysalid.NotRunning):
        session.resume()
    session.start("1")
    with pytest.raises(chrysalid.SessionBusy):
        session.start("2")
    end = step(session)
    assert end.outcome is not None
    assert end.outcome.value == 1
    for unknown in ("1.1", "9.9"):
        with pytest.raises(chrysalid.UnknownCall):
            session.approve(unknown)
        with pytest.raises(chrysalid.UnknownCall):
            session.settle(unknown, 1)
    with pytest.raises(chrysalid.ChrysalidError):
        session.approve("no id")


def test_a_source_that_is_too_large(engine: chrysalid.Engine) -> None:
    session = engine.session(limits=chrysalid.Limits(source_size=10))
    with pytest.raises(chrysalid.SourceTooLarge, match="10"):
        session.run("1 + 1 + 1 + 1")
    assert session.run("2").value == 2


def test_sources_that_are_no_text(session: chrysalid.Session) -> None:
    with pytest.raises(TypeError):
        session.run(b"1")  # type: ignore[arg-type]
    assert session.run("").value is chrysalid.UNDEFINED
    assert session.run("'a\0b'.length").value == 3
    assert session.run("1").value == 1


def test_a_source_with_a_lone_surrogate(session: chrysalid.Session) -> None:
    with pytest.raises(UnicodeEncodeError):
        session.run("'\ud800'")
    assert session.run("1").value == 1


def test_how_a_program_failed_is_data(session: chrysalid.Session) -> None:
    outcome = session.run("const a = 1;\nnull.x")
    assert outcome.status == "failed"
    assert outcome.value is chrysalid.UNDEFINED
    assert outcome.rendered == ""
    error = outcome.error
    assert error is not None
    assert (error.kind, error.name, error.line) == ("exception", "TypeError", 2)
    assert "TypeError" in str(error)
    assert outcome.heap == "intact"
    thrown = session.run("throw { code: 7 }").error
    assert thrown is not None
    assert thrown.value == {"code": 7}
    syntax = session.run("const = 1").error
    assert syntax is not None
    assert (syntax.name, syntax.line) == ("SyntaxError", 1)
    assert syntax.value is None or isinstance(syntax.value, chrysalid.JSError)


def test_what_cannot_be_pickled(engine: chrysalid.Engine, session: chrysalid.Session) -> None:
    with pytest.raises(TypeError, match="take a snapshot"):
        pickle.dumps(session)
    with pytest.raises(TypeError, match="snapshots of its sessions are bytes"):
        pickle.dumps(engine)
