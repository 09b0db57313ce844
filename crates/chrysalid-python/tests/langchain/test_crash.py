"""`kill -9`: while a program waits, and at each point of a call. No effect is made twice, and doubt is said."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest
from harness.script import call, evaluate, program, worker
from harness.thread import APPROVE, Report, Thread, decisions, respond

New = Callable[..., Thread]
SAVERS = ["sqlite", "sqlite+async", "postgres", "postgres+async"]

STEPS = """
    const seen = await tools.look({q: "a"});
    const paid = await tools.keyed({amount: 1});
    const after = await tools.look({q: "b"});
    [seen, paid, after].join(" | ")
"""


def _steps(**spec: Any) -> dict[str, Any]:
    return program(STEPS, tools=["look", "keyed"], **spec)


def _names(run: Thread) -> list[str]:
    return [" ".join(line.split()[:2]) for line in run.effects]


@pytest.mark.parametrize("saver", SAVERS, indirect=True)
def test_killed_while_paused(thread: New, saver: str) -> None:
    code = 'await tools.look({q: "a"}); await tools.payGated({amount: 1}); await tools.look({q: "b"}); "over"'
    run = thread(program(code, tools=["look", "pay_gated"]), saver)
    assert run.send(kill="interrupt", process="exec").killed
    paused = run.look()
    if not paused.interrupts:
        # The process died before LangGraph wrote the interrupt down; running on puts the question again.
        paused = run.go_on(process="exec")
    assert paused.requests == [("pay_gated", {"amount": 1})]
    assert run.effects == ["look a"]
    report = run.resume(decisions(APPROVE), process="exec")
    assert report.result("e1") == "<result>over</result>"
    assert run.effects == ["look a", "pay 1", "look b"]


@pytest.mark.parametrize("saver", ["sqlite", "postgres+async"], indirect=True)
def test_killed_after_the_pause_of_an_earlier_approval(thread: New, saver: str) -> None:
    code = 'await tools.payGated({amount: 1}); await tools.look({q: "a"}); await tools.payGated({amount: 2}); "over"'
    run = thread(program(code, tools=["look", "pay_gated"]), saver)
    run.send()
    assert run.resume(decisions(APPROVE), kill="interrupt").killed
    paused = run.go_on()
    assert paused.requests == [("pay_gated", {"amount": 2})]
    assert run.effects == ["pay 1", "look a"]
    assert run.resume(decisions(APPROVE)).result("e1") == "<result>over</result>"
    assert run.effects == ["pay 1", "look a", "pay 2"]


def _asked_about_keyed(run: Thread, report: Report) -> None:
    """The program came back, and says that nobody knows about the call that was under way."""
    assert [name for name, _ in report.requests] == ["keyed"]
    assert report.requests[0][1] == {"amount": 1}
    assert report.allowed == [["approve", "respond", "reject"]] or sorted(report.allowed[0]) == [
        "approve",
        "reject",
        "respond",
    ]
    description = report.interrupts[0]["value"]["action_requests"][0]["description"]
    assert "not known" in description or "unknown" in description


@pytest.mark.parametrize("point", ["before", "after"])
@pytest.mark.parametrize("saver", SAVERS, indirect=True)
def test_killed_in_a_call_is_unknown_and_may_be_said_to_be_done(thread: New, saver: str, point: str) -> None:
    run = thread(_steps(), saver)
    _kill_in_keyed(run, point)
    done = ["look a"] if point == "before" else ["look a", "keyed 1"]
    assert _names(run) == done
    report = run.go_on(process="exec")
    _asked_about_keyed(run, report)
    assert _names(run) == done
    report = run.resume(decisions(respond("was paid")), process="exec")
    assert report.result("e1") == "<result>looked a | was paid | looked b</result>"
    assert _names(run) == [*done, "look b"]


def test_killed_in_a_call_may_be_run_again_under_the_same_key(thread: New) -> None:
    run = thread(_steps())
    _kill_in_keyed(run, "after")
    _asked_about_keyed(run, run.go_on())
    report = run.resume(decisions(APPROVE))
    assert report.result("e1") == "<result>looked a | paid 1 | looked b</result>"
    first, second = [line for line in run.effects if line.startswith("keyed")]
    assert first == second


def test_killed_in_a_call_may_be_said_to_have_failed(thread: New) -> None:
    run = thread(_steps())
    _kill_in_keyed(run, "before")
    run.go_on()
    report = run.resume(decisions({"type": "reject", "message": "it did not arrive"}))
    assert "it did not arrive" in report.result("e1")
    assert report.result("e1").startswith("<error")
    assert _names(run) == ["look a"]


def test_unknown_calls_fail_without_a_question_if_so_configured(thread: New) -> None:
    run = thread(_steps(options={"on_unknown": "fail"}))
    _kill_in_keyed(run, "after")
    report = run.go_on()
    assert report.result("e1").startswith("<error")
    assert report.is_over
    assert _names(run) == ["look a", "keyed 1"]


def _kill_in_keyed(run: Thread, point: str) -> None:
    """Kills at the effect of `keyed`, whose line holds the id of its call, which is only known after one run."""
    assert run.send(kill=f"{point} keyed 1", process="exec").killed


def test_a_finished_call_of_a_batch_is_kept_when_another_is_killed(thread: New) -> None:
    code = """
        const all = await Promise.all([tools.look({q: "x"}), tools.slow({ms: 700, v: "y"})]);
        await tools.look({q: "z"});
        all.join(" ")
    """
    run = thread(program(code, tools=["look", "slow"]))
    assert run.send(kill="after slow y").killed
    report = run.go_on()
    assert [name for name, _ in report.requests] == ["slow"]
    assert run.resume(decisions(respond("done"))).result("e1") == "<result>looked x done</result>"
    assert run.effects == ["look x", "slow y", "look z"]


@pytest.mark.parametrize("saver", ["sqlite", "sqlite+async", "postgres"], indirect=True)
def test_killed_in_a_subagent_goes_on_in_the_subagent(thread: New, saver: str) -> None:
    sub = worker("sub", [call("look", "l1", q="in")], [call("pay", "p1", amount=3)], "sub done", tools=("look", "pay"))
    code = 'await tools.look({q: "out"}); const text = await task({description: "x", subagentType: "sub"}); await tools.look({q: "end"}); text'
    run = thread(program(code, tools=["look"], subagents=[sub]), saver, durability="sync")
    assert run.send(kill="before pay 3", process="exec").killed
    assert run.effects == ["look out", "run sub", "look in"]
    report = run.go_on(process="exec")
    assert report.result("e1") == "<result>sub done</result>"
    assert run.effects == ["look out", "run sub", "look in", "pay 3", "look end"]


@pytest.mark.parametrize("durability", ["sync", "async"])
@pytest.mark.parametrize("phase", ["first", "second"])
@pytest.mark.parametrize("saver", ["sqlite", "sqlite+async", "postgres"], indirect=True)
def test_killed_after_any_write_of_the_saver(thread: New, saver: str, phase: str, durability: str) -> None:
    """The first run, or the run after the approval, is killed right after its 1st, 2nd, 3rd … write."""
    code = 'await tools.look({q: "a"}); await tools.payGated({amount: 1}); await tools.look({q: "b"}); "over"'
    _sweep(thread, program(code, tools=["look", "pay_gated"]), saver, phase, durability, ["look a", "pay 1", "look b"])


@pytest.mark.parametrize("phase", ["first", "second"])
@pytest.mark.parametrize("saver", ["sqlite", "sqlite+async"], indirect=True)
def test_killed_after_any_write_with_a_subagent_that_asks(thread: New, saver: str, phase: str) -> None:
    """The subagent's call is one of its own program. For one that its model makes, LangGraph's tool node vouches, and that
    may run a tool again whose result was not written yet."""
    sub = worker(
        "sub", [evaluate("(await tools.payGated({amount: 1})).amount", "s1")], "sub done", tools=("pay_gated",)
    )
    sub |= {"count_runs": False, "interpreter": {"ptc": ["pay_gated"]}}
    code = """
        await tools.look({q: "a"});
        await task({description: "x", subagentType: "sub"});
        await tools.look({q: "b"});
        "over"
    """
    agent = program(code, tools=["look", "pay_gated"], subagents=[sub])
    _sweep(thread, agent, saver, phase, "sync", ["look a", "pay 1", "look b"])


def _sweep(thread: New, agent: dict[str, Any], saver: str, phase: str, durability: str, whole: list[str]) -> None:
    """At every write with `CHRYSALID_LONG_TESTS`, else at every fourth, from another one on for each combination."""
    stride = 1 if os.environ.get("CHRYSALID_LONG_TESTS") else 4
    offset = sum(map(ord, saver[:14] + phase + durability)) % stride
    for write in range(1 + offset, 100, stride):
        run = thread(agent, saver, durability=durability)
        if phase == "first":
            killed = run.send(kill_at_write=write).killed
        else:
            run.send()
            killed = run.resume(decisions(APPROVE), kill_at_write=write).killed
        if not killed:
            assert write > 8
            return
        _to_the_end(run)
        # Before the first checkpoint there is nothing to go on from, and nothing was done either.
        assert run.effects in (whole, []), (write, run.effects)
    raise AssertionError("the run writes without end")


def _to_the_end(run: Thread) -> None:
    """Goes on as a person would who was told of a crash, and who knows what was really done."""
    report = run.look()
    if not report.messages:
        return
    report = run.go_on()
    for _ in range(6):
        if not report.interrupts:
            break
        answers = []
        for name, arguments in report.requests:
            line = f"{'pay' if name == 'pay_gated' else name} {next(iter(arguments.values()))}"
            answers.append(respond(f"done {line}") if line in run.effects else APPROVE)
        report = run.resume(decisions(*answers))
    assert report.is_over
