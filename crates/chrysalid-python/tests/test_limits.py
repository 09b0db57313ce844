"""Bounds: each ends in a failure of the program that names it, and leaves the session of use."""

from typing import Any

import pytest

import chrysalid
from chrysalid import Limits, Tool


def echo(v: Any = None) -> Any:
    return v


def failure(engine: chrysalid.Engine, code: str, tools: Any = (echo,), **limits: Any) -> tuple[str, str]:
    session = engine.session(tools, limits=Limits(**limits))
    error = session.run(code).error
    assert error is not None
    if not session.is_lost:
        assert session.run("1 + 1").value == 2
    return error.kind, error.name


CASES = [
    ("for (;;) {}", {"cpu_time": 0.05}, ("timeout", "Timeout")),
    ("await new Promise(f => setTimeout(f, 5000))", {"wall_time": 0.05}, ("wall_timeout", "WallTimeout")),
    (
        "const all = []; for (;;) all.push(new Array(1000).fill(1.5))",
        {"memory": 8 << 20},
        ("out_of_memory", "OutOfMemory"),
    ),
    ("for (let i = 0; i < 5; i++) await tools.echo({})", {"calls": 3}, ("exception", "CallBudgetExceeded")),
    ("await tools.echo({ v: 'x'.repeat(5000) })", {"argument_size": 1000}, ("exception", "ArgumentTooLarge")),
    ("await tools.echo({ v: 'x'.repeat(5000) })", {"call_result_size": 1000}, ("exception", "ResultTooLarge")),
    ("'x'.repeat(5000)", {"result_size": 1000}, ("result_too_large", "ResultTooLarge")),
]


@pytest.mark.parametrize(("code", "limits", "expected"), CASES, ids=lambda part: str(part)[:40])
def test_each_bound(engine: chrysalid.Engine, code: str, limits: dict[str, Any], expected: tuple[str, str]) -> None:
    assert failure(engine, code, **limits) == expected


def test_max_calls(engine: chrysalid.Engine) -> None:
    session = engine.session([Tool(echo, max_calls=2, max_calls_per_session=3)])
    code = """const seen = [];
    for (let i = 0; i < 3; i++) try { seen.push(await tools.echo({ v: i })) } catch (error) { seen.push(error.name) }
    seen"""
    assert session.run(code).value == [0, 1, "CallBudgetExceeded"]
    assert session.run(code.replace("seen", "more")).value == [0, "CallBudgetExceeded", "CallBudgetExceeded"]


def test_subagents(engine: chrysalid.Engine) -> None:
    spawn = Tool(echo, name="spawn", subagent=True)
    assert failure(engine, "await tools.spawn({}); await tools.spawn({})", [spawn], spawns=1) == (
        "exception",
        "CallBudgetExceeded",
    )
    session = engine.session([spawn], limits=Limits(depth=2), depth=2)
    error = session.run("await tools.spawn({})").error
    assert error is not None
    assert error.name == "CallBudgetExceeded"


def test_console_is_cut(engine: chrysalid.Engine) -> None:
    outcome = engine.session(limits=Limits(console_size=100)).run(
        "for (let i = 0; i < 100; i++) console.log('line', i); 1"
    )
    assert outcome.status == "done"
    assert sum(len(line.text) for line in outcome.logs) <= 200
    assert outcome.notes


def test_waiting_is_no_cpu_time(engine: chrysalid.Engine) -> None:
    import time

    session = engine.session([Tool(lambda: time.sleep(0.2), name="slow")], limits=Limits(cpu_time=0.1))
    assert session.run("await tools.slow({}); 'done'").value == "done"
    assert session.cpu_time < 0.1


def test_defaults_can_be_read() -> None:
    limits = Limits()
    assert (limits.memory, limits.cpu_time, limits.wall_time, limits.calls, limits.calls_in_flight) == (
        64 << 20,
        5.0,
        None,
        256,
        32,
    )
    given = {
        "memory": 5 << 20,
        "cpu_time": 1.5,
        "wall_time": 2.0,
        "calls": 3,
        "calls_in_flight": 4,
        "argument_size": 5,
        "call_result_size": 6,
        "value_depth": 7,
        "value_nodes": 8,
        "console_size": 9,
        "result_size": 10,
        "source_size": 11,
        "pending_approvals": 12,
        "host_memory": 13,
        "snapshot_size": 14,
        "session_calls": 15,
        "session_bytes": 16,
        "session_spawns": 17,
        "session_wall_time": 18.0,
        "spawns": 19,
        "depth": 20,
        "declassified_bits": 21,
        "when_spent": "ask",
    }
    made = Limits(**given)  # type: ignore[arg-type]
    assert {name: getattr(made, name) for name in given} == given
    assert repr(made) == f"Limits({', '.join(f'{name}={value!r}' for name, value in given.items())})".replace(
        "'ask'", '"ask"'
    ).replace(".0", "")


def test_limits_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        Limits().memory = 5  # type: ignore[misc]
    with pytest.raises(TypeError):
        Limits(5)  # type: ignore[call-arg]


def test_a_session_has_its_own_limits() -> None:
    engine = chrysalid.Engine(key=chrysalid.Key.generate(), limits=Limits(calls=1), max_memory=64 << 20)
    session = engine.session([echo])
    assert session.run("await tools.echo({}); await tools.echo({})").status == "failed"
    session = engine.session([echo], limits=Limits(calls=2))
    assert session.run("await tools.echo({}); await tools.echo({}); 2").value == 2
    with pytest.raises(chrysalid.ConfigError):
        engine.session(limits=Limits(memory=65 << 20))


def test_w08_no_wall_time_is_none(engine: chrysalid.Engine) -> None:
    session = engine.session(limits=Limits(wall_time=None))
    assert session.run("let s = 0; for (let i = 0; i < 3e6; i++) s += i; s > 0").value is True


def test_w12_a_long_call_takes_no_cpu(engine: chrysalid.Engine) -> None:
    import asyncio

    async def slow(v: str) -> str:
        await asyncio.sleep(0.3)
        return v

    session = engine.session([slow])
    assert asyncio.run(session.arun("await tools.slow({ v: 'done' })")).value == "done"
    assert session.cpu_time < 0.05
