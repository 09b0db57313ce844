"""Events: what happens in a session, in order, as it happens."""

import asyncio
import logging

import pytest

import chrysalid
from chrysalid import Engine, Event, Tool
from stepping import step_with_events


def add(a: int, b: int) -> int:
    """Adds."""
    return a + b


PROGRAM = "console.log('before'); const sum = await tools.add({ a: 1, b: 2 }); console.warn('after', sum); sum"
EXPECTED = [
    {"type": "line", "level": "log", "text": "before"},
    {"type": "call_started", "id": "1.1", "name": "add"},
    {"type": "call_ended", "id": "1.1", "name": "add", "status": "completed"},
    {"type": "line", "level": "warn", "text": "after 3"},
]


def test_a_run_tells_of_calls_and_lines(engine: Engine) -> None:
    seen: list[Event] = []
    session = engine.session([add], on_event=seen.append)
    assert session.run(PROGRAM).value == 3
    assert seen == EXPECTED


def test_so_does_an_async_run(engine: Engine) -> None:
    seen: list[Event] = []
    session = engine.session([add], on_event=seen.append)
    assert asyncio.run(session.arun(PROGRAM)).value == 3
    assert seen == EXPECTED


def test_a_line_is_told_before_the_program_ends(engine: Engine) -> None:
    seen: list[Event] = []
    at_call: list[int] = []

    def look() -> None:
        at_call.append(len(seen))

    session = engine.session([look], on_event=seen.append)
    session.run("console.log('one'); await tools.look(); console.log('two')")
    assert at_call == [2]  # the line, and that the call began


def test_pauses_and_what_was_met(engine: Engine) -> None:
    seen: list[Event] = []
    tools = [Tool(add, name="read", effects=["private"]), Tool(add, name="send", effects=["acts"], approval="always")]
    session = engine.session(tools, on_event=seen.append)
    assert session.run("await tools.read({ a: 1, b: 1 }); await tools.send({ a: 1, b: 1 })").status == "paused"
    kinds = [event["type"] for event in seen]
    assert kinds == ["met", "call_started", "call_ended", "call_waiting", "paused"]
    assert (seen[0]["effect"], seen[0]["by"]) == ("private", "read (call 1.1, line 1)")
    assert seen[-1] == {"type": "paused", "pending": 1}


def test_a_reader_that_fails_does_not_fail_the_program(engine: Engine, caplog: pytest.LogCaptureFixture) -> None:
    def fail(event: Event) -> None:
        raise RuntimeError(event["type"])

    session = engine.session([add], on_event=fail)
    with caplog.at_level(logging.ERROR, logger="chrysalid"):
        assert session.run("console.log('x'); 1").value == 1
    assert [record.exc_info[1].args for record in caplog.records if record.exc_info] == [("line",)]


def test_the_step_machine_gives_them_with_the_step(engine: Engine) -> None:
    session = engine.session(events=True)
    session.start("console.log('x')")
    step, events = step_with_events(session)
    assert (step.kind, events) == ("ended", [{"type": "line", "level": "log", "text": "x"}])


def test_without_the_option_there_are_none(engine: Engine) -> None:
    session = engine.session()
    session.start("console.log('x')")
    assert session.step().events == []


def test_the_type_is_exported() -> None:
    assert chrysalid.Event is Event
