"""What programs have met is remembered beyond their heaps: nothing with all three effects happens without a person."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from harness.script import evaluate, program, worker
from harness.thread import APPROVE, REJECT, Thread, decisions

New = Callable[..., Thread]
TOOLS = ["read_mail", "read_web", "post", "note"]
READ_MAIL = 'await tools.readMail({q: "m"})'
READ_WEB = 'await tools.readWeb({q: "w"})'
POST = 'await tools.post({q: "p"})'
ALL_READ = ["read_mail m", "read_web w"]


def _asks(run: Thread, message: str = "go") -> None:
    assert run.send(message).requests == [("post", {"q": "p"})]
    assert run.effects == ALL_READ
    run.resume(decisions(APPROVE))
    assert run.effects == [*ALL_READ, "post p"]


def test_two_effects_do_not_ask(thread: New) -> None:
    run = thread(program(f"{READ_MAIL}; {POST}; 1", tools=TOOLS))
    assert run.send().result("e1") == "<result>1</result>"
    assert run.effects == ["read_mail m", "post p"]


def test_all_three_in_one_program(thread: New) -> None:
    _asks(thread(program(f"{READ_MAIL}; {READ_WEB}; {POST}", tools=TOOLS)))


def test_a_no_is_a_no(thread: New) -> None:
    run = thread(program(f"{READ_MAIL}; {READ_WEB}; {POST}", tools=TOOLS))
    run.send()
    assert run.resume(decisions(REJECT)).result("e1").startswith('<error type="ToolRejected">')
    assert run.effects == ALL_READ


@pytest.mark.parametrize("mode", ["thread", "turn", "call"])
@pytest.mark.parametrize("saver", ["memory:", "sqlite", "sqlite+async"], indirect=True)
def test_over_three_evals(thread: New, saver: str, mode: str) -> None:
    _asks(thread(program(READ_MAIL, READ_WEB, POST, tools=TOOLS, options={"mode": mode}), saver))


@pytest.mark.parametrize("mode", ["thread", "turn", "call"])
def test_over_turns(thread: New, mode: str) -> None:
    agent = program(READ_MAIL, READ_WEB, tools=TOOLS, options={"mode": mode})
    agent["script"]["again"] = [[evaluate(POST, "e3")]]
    run = thread(agent)
    run.send()
    _asks(run, "again")


def test_a_heap_that_is_too_large_forgets_nothing_of_it(thread: New) -> None:
    grow = "; globalThis.noise = Array.from({length: 60000}, () => Math.random()); 0"
    run = thread(program(READ_MAIL + grow, READ_WEB + grow, POST, tools=TOOLS, options={"max_snapshot_bytes": 100_000}))
    _asks(run)


def test_another_key_forgets_nothing_of_it(thread: New) -> None:
    agent = program(READ_MAIL, READ_WEB, tools=TOOLS, options={"snapshot_signing_key": "first"})
    agent["script"]["again"] = [[evaluate(POST, "e3")]]
    run = thread(agent)
    run.send()
    run.agent = {**agent, "interpreter": {**agent["interpreter"], "snapshot_signing_key": "second"}}
    _asks(run, "again")


def test_evals_of_one_message(thread: New) -> None:
    agent = program("0", tools=TOOLS)
    agent["script"] = {"go": [[evaluate(READ_MAIL), evaluate(READ_WEB, "e2"), evaluate(POST, "e3")]]}
    _asks(thread(agent))


def test_what_the_program_met_goes_down_to_a_subagent(thread: New) -> None:
    sub: dict[str, Any] = worker(
        "sub", [evaluate(POST, "s1")], "sub done", tools=("post", "note"), interpreter={"ptc": ["post", "note"]}
    )
    sub["count_runs"] = False
    run = thread(
        program(
            f'{READ_MAIL}; {READ_WEB}; await task({{description: "x", subagentType: "sub"}})',
            tools=TOOLS,
            subagents=[sub],
        )
    )
    report = run.send()
    for _ in range(3):
        assert "post p" not in run.effects
        if ("post", {"q": "p"}) in report.requests:
            break
        # The dispatch itself counts as all three and asks first.
        report = run.resume(decisions(*[APPROVE] * len(report.requests)))
    assert report.requests == [("post", {"q": "p"})]
    run.resume(decisions(APPROVE))
    assert run.effects == [*ALL_READ, "post p"]
