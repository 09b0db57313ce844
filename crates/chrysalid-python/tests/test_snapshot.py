"""Snapshots: idle, paused and in the middle of calls; in this process and in another one."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

import chrysalid
from chrysalid import Key, Limits, Tool
from conftest import KEY
from processes import output_of
from stepping import step, step_to_calls


def tools(paid: list[int], **options: Any) -> list[Tool]:
    def pay(amount: int) -> int:
        paid.append(amount)
        return amount

    def echo(v: Any) -> Any:
        return v

    return [Tool(pay, approval="always", **options), Tool(echo), Tool(name="human")]


def test_idle(engine: chrysalid.Engine) -> None:
    session = engine.session()
    session.run("let count = 1; const f = () => ++count; const m = new Map([['k', new Date(5)]])")
    data = session.snapshot()
    assert isinstance(data, bytes)
    again = engine.restore(data)
    assert again.id == session.id
    assert again.run("[f(), f(), m.get('k').getTime()]").value == [2, 3, 5]
    assert session.run("f()").value == 2
    assert engine.restore(data).run("count").value == 1


def test_paused(engine: chrysalid.Engine) -> None:
    paid: list[int] = []
    session = engine.session(tools(paid))
    outcome = session.run("const { length } = 'abc'; const a = await tools.pay({ amount: 7 }); [a, length]")
    data = session.snapshot()
    again = engine.restore(data, tools(paid))
    assert not again.is_idle
    assert again.source == session.source
    (pending,) = again.pending
    assert pending.token == outcome.pending[0].token
    again.approve(pending.id, token=outcome.pending[0].token)
    assert again.resume().value == [7, 3]
    assert paid == [7]


def test_decided_and_stored(engine: chrysalid.Engine) -> None:
    paid: list[int] = []
    session = engine.session(tools(paid))
    session.run("await tools.pay({ amount: 7 })")
    session.approve("1.1", by="ann")
    again = engine.restore(session.snapshot(), tools(paid))
    assert again.pending[0].decided
    with pytest.raises(chrysalid.AlreadyDecided):
        again.reject("1.1")
    outcome = again.resume()
    assert (outcome.value, paid, outcome.calls[0].decided_by) == (7, [7], "ann")


@pytest.mark.parametrize("decision", ["approve", "respond", "reject", "settle", "fail"])
def test_in_flight_is_unknown_afterwards(engine: chrysalid.Engine, decision: str) -> None:
    paid: list[int] = []
    session = engine.session(tools(paid))
    session.start("try { await tools.echo({ v: 5 }) } catch (error) { error.name }")
    (call,) = step_to_calls(session, 1)
    assert step(session).kind == "wait"
    again = engine.restore(session.snapshot(), tools(paid))
    outcome = again.resume()
    assert outcome.status == "paused"
    (pending,) = outcome.pending
    assert (pending.id, pending.status) == (call.id, "unknown")
    match decision:
        case "approve":
            again.approve(pending.id)
            assert [each.idempotency_key for each in step_to_calls(again, 1)] == [call.idempotency_key]
            again.settle(pending.id, 5)
        case "respond":
            again.respond(pending.id, 6)
        case "settle":
            again.settle(pending.id, 8)
        case "fail":
            again.fail(pending.id, "hm", name="Lost")
        case _:
            again.reject(pending.id)
    expected = {"approve": 5, "respond": 6, "settle": 8, "fail": "Lost", "reject": "ToolError"}
    assert again.resume().value == expected[decision]


def test_answers_that_are_there_travel_along(engine: chrysalid.Engine) -> None:
    paid: list[int] = []
    seen: list[Any] = []

    def echo(v: Any) -> Any:
        seen.append(v)
        return v

    given = [Tool(lambda q: q, name="gate", approval="always"), Tool(echo)]
    session = engine.session(given)
    assert session.run("(await Promise.all([tools.gate({ q: 'A' }), tools.echo({ v: 2 })])).join()").status == "paused"
    assert seen == [2]
    again = engine.restore(session.snapshot(), given)
    again.approve("1.1")
    assert again.resume().value == "A,2"
    assert (seen, paid) == ([2], [])


def test_suspended_and_outside(engine: chrysalid.Engine) -> None:
    paid: list[int] = []
    session = engine.session(tools(paid))
    session.start("[await tools.echo({ v: 1 }), await tools.human({})]")
    (call,) = step_to_calls(session, 1)
    session.suspend(call.id)
    assert step(session).kind == "paused"
    session = engine.restore(session.snapshot(), tools(paid))
    session.settle(call.id, "first")
    outcome = session.resume()
    assert [pending.name for pending in outcome.pending] == ["human"]
    session = engine.restore(session.snapshot(), tools(paid))
    session.settle(session.pending[0].id, "second")
    assert session.resume().value == ["first", "second"]


def test_fork(engine: chrysalid.Engine) -> None:
    paid: list[int] = []
    session = engine.session(tools(paid))
    session.run("await tools.pay({ amount: 1 })")
    data = session.snapshot()
    fork = engine.restore(data, tools(paid), fork=True)
    assert fork.id != session.id
    (pending,) = fork.pending
    assert pending.token != session.pending[0].token
    fork.reject(pending.id)
    assert fork.resume().status == "failed"
    session.approve("1.1")
    assert session.resume().value == 1
    assert paid == [1]


def test_in_a_new_process_with_the_key_of_the_environment(tmp_path: Path) -> None:
    key = Key.generate()
    env = {"CHRYSALID_KEY": key.to_text()}
    image = tmp_path / "image"
    paid = tmp_path / "paid"
    program = """
        import chrysalid, sys
        image, paid, step = sys.argv[1:]
        def pay(amount: int) -> int:
            with open(paid, "a") as file:
                file.write(f"{amount}\\n")
            return amount
        tools = [chrysalid.Tool(pay, approval="always")]
        engine = chrysalid.Engine()
        if step == "start":
            session = engine.session(tools, context=b"tenant 1")
            outcome = session.run("await tools.pay({ amount: 1 }) + await tools.pay({ amount: 2 })")
        else:
            with open(image, "rb") as file:
                session = engine.restore(file.read(), tools, context=b"tenant 1")
            session.approve(session.pending[0].id)
            outcome = session.resume()
        if outcome.status == "paused":
            with open(image, "wb") as file:
                file.write(session.snapshot())
        print(outcome.status, outcome.value)
    """
    said = [output_of(program, str(image), str(paid), step, env=env) for step in ("start", "go on", "go on")]
    assert said == ["paused UNDEFINED", "paused UNDEFINED", "done 3"]
    assert paid.read_text() == "1\n2\n"


CACHE = os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache"))


def test_a_key_is_made_once(tmp_path: Path) -> None:
    env = {
        "HOME": str(tmp_path),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "CHRYSALID_KEY": "",
        "CHRYSALID_KEY_FILE": "",
        "XDG_CACHE_HOME": CACHE,
    }
    program = """
        import chrysalid, os
        for name in ("CHRYSALID_KEY", "CHRYSALID_KEY_FILE"):
            os.environ.pop(name)
        engine = chrysalid.Engine()
        print(engine.inspect(engine.session().snapshot()).key)
    """
    first = output_of(program, env=env)
    assert output_of(program, env=env) == first
    (file,) = [path for path in tmp_path.rglob("key") if path.is_file()]
    assert file.stat().st_mode & 0o777 == 0o600


def test_other_keys(engine: chrysalid.Engine) -> None:
    session = engine.session()
    session.run("globalThis.kept = 5")
    data = session.snapshot()
    other = chrysalid.Engine(key=Key.generate())
    with pytest.raises(chrysalid.UnknownKey):
        other.restore(data)
    rotated = chrysalid.Engine(key=Key.generate(), old_keys=[KEY])
    again = rotated.restore(data)
    assert again.run("kept").value == 5
    assert rotated.inspect(again.snapshot()).key != KEY.id
    with pytest.raises(chrysalid.UnknownKey):
        engine.restore(again.snapshot())


def test_another_context(engine: chrysalid.Engine) -> None:
    data = engine.session(context=b"ann").snapshot()
    assert engine.restore(data, context=b"ann").run("1").value == 1
    for context in (b"ben", b""):
        with pytest.raises(chrysalid.OtherContext):
            engine.restore(data, context=context)


def test_other_tools(engine: chrysalid.Engine) -> None:
    paid: list[int] = []
    session = engine.session(tools(paid))
    session.run("globalThis.f = tools.echo; await tools.pay({ amount: 1 })")
    data = session.snapshot()
    with pytest.raises(chrysalid.MissingCapability, match="pay"):
        engine.restore(data)

    def pay(amount: str) -> None: ...

    with pytest.raises(chrysalid.StaleArguments):
        engine.restore(data, [Tool(pay, approval="always")])


def test_bytes_that_are_no_snapshot(engine: chrysalid.Engine) -> None:
    session = engine.session()
    session.run("globalThis.x = 'x'.repeat(1000)")
    data = session.snapshot()
    with pytest.raises(chrysalid.NotASnapshot):
        engine.restore(b"")
    with pytest.raises(chrysalid.NotASnapshot):
        engine.restore(b"\x00" * 4096)
    for broken in (data[: len(data) // 2], data[:-1], data + b"x", data[:200] + b"\x00" + data[201:]):
        with pytest.raises((chrysalid.BadSeal, chrysalid.Corrupt, chrysalid.NotASnapshot)):
            engine.restore(broken)
    with pytest.raises(TypeError):
        engine.restore("text")  # type: ignore[arg-type]
    assert engine.restore(data).run("x.length").value == 1000


def test_inspect(engine: chrysalid.Engine) -> None:
    paid: list[int] = []
    session = engine.session(tools(paid))
    session.run("await tools.pay({ amount: 1 })")
    data = session.snapshot()
    found = engine.inspect(data)
    assert (found.size, found.key, found.guest_is_known, found.paused) == (len(data), KEY.id, True, True)
    assert found.taint == []
    assert repr(found) == f'Inspection(size={len(data)}, key="{KEY.id}", paused=True)'
    blind = chrysalid.Engine(key=Key.generate()).inspect(data)
    assert (blind.key, blind.paused, blind.taint) == (KEY.id, None, None)
    with pytest.raises(chrysalid.NotASnapshot):
        engine.inspect(b"nothing")


def test_keys() -> None:
    key = Key.generate()
    assert Key.from_text(key.to_text()).id == key.id
    assert len(key.to_text()) == 64
    assert Key.from_bytes(bytes(32)).to_text() == "00" * 32
    assert repr(key) == f"Key({key.id})"
    assert key.to_text() not in repr(key)
    with pytest.raises(ValueError, match="a key has 32 bytes, not 3"):
        Key.from_bytes(b"abc")
    with pytest.raises(ValueError, match=r"."):
        Key.from_text("short")


def test_a_key_file_that_is_wrong(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CHRYSALID_KEY", "not a key")
    with pytest.raises(chrysalid.NoKey):
        chrysalid.Engine()
    monkeypatch.delenv("CHRYSALID_KEY")
    monkeypatch.setenv("CHRYSALID_KEY_FILE", str(tmp_path / "none"))
    with pytest.raises(chrysalid.NoKey):
        chrysalid.Engine()


def test_the_ledger_keeps_an_older_image_from_lowering_anything(engine: chrysalid.Engine) -> None:
    def read() -> str:
        return "secret"

    given = [Tool(read, effects=["private"])]
    session = engine.session(given, limits=Limits(session_calls=2))
    early = session.snapshot()
    session.run("await tools.read({}); await tools.read({})")
    assert session.taint == ["private"]
    assert json.loads(session.ledger)
    older = engine.restore(early, given, limits=Limits(session_calls=2))
    assert older.taint == []
    kept = engine.restore(early, given, limits=Limits(session_calls=2), ledger=session.ledger)
    assert kept.taint == ["private"]
    error = kept.run("await tools.read({})").error
    assert error is not None
    assert error.name == "CallBudgetExceeded"


def test_s08_a_state_that_is_too_large(engine: chrysalid.Engine) -> None:
    session = engine.session(limits=Limits(snapshot_size=1 << 20))
    session.run("globalThis.big = Array.from({ length: 400000 }, () => Math.random()); 0")
    with pytest.raises(chrysalid.TooLarge, match="1048576"):
        session.snapshot()
    assert session.run("big.length").value == 400000
    session.run("delete globalThis.big")


def test_limits_of_the_new_session_hold(engine: chrysalid.Engine) -> None:
    data = engine.session().snapshot()
    again = engine.restore(data, limits=Limits(cpu_time=0.05))
    error = again.run("for (;;) {}").error
    assert error is not None
    assert error.kind == "timeout"


def test_random_numbers_differ_after_a_restore(engine: chrysalid.Engine) -> None:
    session = engine.session()
    session.run("Math.random()")
    data = session.snapshot()
    drawn = {engine.restore(data).run("Math.random()").value for _ in range(3)}
    assert len(drawn) == 3
