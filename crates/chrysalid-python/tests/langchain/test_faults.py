"""The twelve faults that were measured in the released interpreter, R1 to R12: here each is the other way round."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from typing import Any

import pytest
from harness import scenarios
from harness.script import evaluate, program, worker
from harness.thread import APPROVE, REJECT, Report, Thread, decisions

MIB = 1 << 20
FILE_SAVERS = ["sqlite", "sqlite+async", "postgres", "postgres+async"]
New = Callable[..., Thread]

MAIL_A = ("send_email", {"to": "a@example.test"})
MAIL_B = ("send_email", {"to": "b@example.test"})


def test_r1_approval_in_the_same_process_runs_an_earlier_effect_once(thread: New) -> None:
    run = thread(scenarios.charge_then_mail(), "memory:", keep_agent=True)
    paused = run.send()
    assert paused.requests == [MAIL_A]
    assert run.effects == ["charge 10"]
    _charged_and_mailed(run, run.resume(decisions(APPROVE)))


@pytest.mark.parametrize("saver", FILE_SAVERS, indirect=True)
def test_r1_r2_approval_from_a_new_process_goes_on(thread: New, saver: str) -> None:
    run = thread(scenarios.charge_then_mail(), saver)
    paused = run.send(process="exec")
    assert paused.requests == [MAIL_A]
    assert run.effects == ["charge 10"]
    _charged_and_mailed(run, run.resume(decisions(APPROVE), process="exec"))


def _charged_and_mailed(run: Thread, report: Report) -> None:
    assert run.effects == ["charge 10", "send a@example.test"]
    assert report.result("e1") == "<result>charged 10 / mail sent</result>"
    assert report.final == "end"
    assert report.is_over


def test_r2_the_subagent_is_not_run_again(thread: New) -> None:
    run = thread(scenarios.charge_then_mail())
    run.send(process="exec")
    run.resume(decisions(APPROVE), process="exec")
    asked = [sent["agent"] for sent in run.sent]
    assert asked == ["main", "mailer", "mailer", "main"]


@pytest.mark.parametrize("saver", ["sqlite", "sqlite+async"], indirect=True)
def test_r3_variables_of_an_earlier_eval_are_there_in_a_new_process(thread: New, saver: str) -> None:
    run = thread(scenarios.variables_of_an_earlier_eval(), saver)
    assert run.send(process="exec").requests == [MAIL_A]
    report = run.resume(decisions(APPROVE), process="exec")
    assert report.result("e2") == '<result>[7,["a","mail sent"],8,"tag"]</result>'
    assert run.effects == ["send a@example.test"]


@pytest.mark.parametrize("kind", ["deep", "plain"])
def test_r4_a_gated_tool_asks_when_it_is_called_from_code(thread: New, kind: str) -> None:
    run = thread({**scenarios.gated_call_from_code(), "kind": kind})
    paused = run.send()
    assert paused.requests == [MAIL_A]
    assert paused.allowed == [["approve", "edit", "reject", "respond"]]
    assert run.effects == []
    report = run.resume(decisions(APPROVE))
    assert run.effects == ["send a@example.test"]
    assert report.result("e1") == "<result>sent to a@example.test</result>"


def test_r5_a_program_cannot_notice_the_pause(thread: New) -> None:
    run = thread(scenarios.caught_approval())
    assert run.send().requests == [MAIL_A]
    assert run.effects == []
    report = run.resume(decisions(APPROVE))
    assert run.effects == ["send a@example.test", "charge 2"]
    assert report.result("e1") == "<result>mail sent</result>"


@pytest.mark.parametrize("saver", FILE_SAVERS, indirect=True)
def test_r6_two_calls_at_once_that_need_approval_are_both_shown(thread: New, saver: str) -> None:
    run = thread(scenarios.two_at_once(), saver)
    paused = run.send(process="exec")
    assert len(paused.interrupts) == 1
    assert sorted(paused.requests, key=str) == [MAIL_A, MAIL_B]
    answers = [APPROVE if request == MAIL_B else REJECT for request in paused.requests]
    report = run.resume(decisions(*answers), process="exec")
    assert run.effects == ["send b@example.test"]
    assert report.result("e1") == "<result>mail sent / second sent</result>"
    assert report.is_over


def test_r7_an_eval_may_dispatch_so_many_subagents(thread: New) -> None:
    run = thread(scenarios.many_subagents(max_ptc_calls=None, max_subagents_per_eval=5))
    assert run.send().result("e1") == "<result>5,295</result>"
    assert run.effects == ["run worker"] * 5


def test_r7_subagents_count_as_calls_too(thread: New) -> None:
    run = thread(scenarios.many_subagents(max_ptc_calls=2))
    assert run.send().result("e1") == "<result>2,298</result>"
    assert run.effects == ["run worker"] * 2


def test_r7_a_run_may_dispatch_so_many_subagents(thread: New) -> None:
    code = """
        const all = await Promise.allSettled([1, 2, 3, 4].map(n => task({description: "job " + n, subagentType: "worker"})));
        all.filter(one => one.status === "fulfilled").length
    """
    limits = {"max_subagents_per_eval": 4, "max_subagents_per_run": 6}
    run = thread(program(code, code, tools=["charge"], options=limits, subagents=[worker("worker", "done")]))
    report = run.send()
    assert [report.result("e1"), report.result("e2")] == ["<result>4</result>", "<result>2</result>"]
    assert run.effects == ["run worker"] * 6


def test_r7_the_limits_hold_for_the_whole_tree(thread: New) -> None:
    code = """
        const all = await Promise.allSettled([1, 2, 3].map(n => task({description: "leaf " + n, subagentType: "leaf"})));
        all.filter(one => one.status === "fulfilled").length
    """
    branch = worker(
        "branch",
        [evaluate(code, "inner")],
        "branch done",
        interpreter={"max_subagents_per_run": 100},
        subagents=[worker("leaf", "leaf done")],
    )
    outer = """
        for (const n of [1, 2, 3]) await task({description: "branch " + n, subagentType: "branch"}).catch(() => {});
        "over"
    """
    run = thread(program(outer, tools=["charge"], options={"max_subagents_per_run": 6}, subagents=[branch]))
    assert run.send().result("e1") == "<result>over</result>"
    assert len(run.effects) == 6


def test_r7_subagents_may_be_nested_so_deep(thread: New) -> None:
    code = 'await task({description: "leaf", subagentType: "leaf"}).catch(error => "refused: " + error.message)'
    branch = worker(
        "branch", [evaluate(code, "inner")], "branch done", interpreter={}, subagents=[worker("leaf", "leaf done")]
    )
    run = thread(
        program(
            'await task({description: "b", subagentType: "branch"})',
            tools=["charge"],
            options={"max_depth": 1},
            subagents=[branch],
        )
    )
    assert run.send().result("e1") == "<result>branch done</result>"
    assert run.effects == ["run branch"]
    inner = [
        text for sent in run.sent if sent["agent"] == "branch" for kind, text in sent["messages"] if kind == "tool"
    ]
    assert len(inner) == 1
    assert inner[0].startswith("<result>refused: ")


@pytest.mark.parametrize("code", [scenarios.ARRAYS, scenarios.STRINGS], ids=["arrays", "strings"])
def test_r8_memory_and_time_are_bounded(thread: New, code: str) -> None:
    before = thread(program("1 + 1", tools=["charge"])).send(process="exec")
    report = thread(scenarios.memory_hog(code)).send(process="exec")
    assert re.match(r'<error type="(OutOfMemory|Timeout)">', report.result("e1"))
    assert report.result("e2") == "<result>2</result>"
    # The heap once more as the copy that the session goes back to, and room for the host's own work.
    assert report.peak_bytes - before.peak_bytes < (64 + 64 + 32) * MIB
    assert report.seconds < 15


def test_r9_deep_recursion_is_an_error_of_the_program(thread: New) -> None:
    report = thread(scenarios.deep_recursion()).send()
    assert report.result("e1").startswith('<error type="RangeError">Maximum call stack size exceeded')
    assert report.result("e2") == "<result>2</result>"
    assert report.is_over


def test_r11_an_unknown_subagent_is_refused_by_name(thread: New) -> None:
    run = thread(scenarios.unknown_subagent())
    text = run.send().result("e1")
    assert text.startswith("<result>rejected: ")
    assert "nobody" in text
    assert "mailer" in text
    assert [sent["agent"] for sent in run.sent] == ["main", "main"]


@pytest.mark.parametrize("saver", ["sqlite", "sqlite+async"], indirect=True)
def test_r12_the_snapshot_is_small_private_and_sealed(thread: New, saver: str) -> None:
    spec = scenarios.some_state()
    bare = thread({**spec, "interpreter": None, "script": {}}, saver).send()
    run = thread(spec, saver)
    report = run.send(process="exec")
    assert report.leaks == []
    assert report.state_bytes - bare.state_bytes < 4_000
    assert max(size for place, size in report.largest.items() if "model start" not in place) < 4_000
    assert run.send("again", process="exec").result("e2") == "<result>row 99</result>"
    assert b"row 42" not in b"".join(path.read_bytes() for path in run.folder.glob("checkpoints.db*"))


@pytest.mark.parametrize("options", [{}, {"clock": "none"}], ids=["default", "none"])
def test_r10_clock_and_random_are_as_the_prompt_says(thread: New, options: dict[str, Any]) -> None:
    begun = time.time() * 1000
    run = thread(scenarios.clock_and_random(**options))
    report = run.send()
    readings = [
        json.loads(report.result(each).removeprefix("<result>").removesuffix("</result>")) for each in ("e1", "e2")
    ]
    prompt = run.sent[0]["system"]
    if options:
        assert "no clock" in prompt
        assert readings[0][:2] == readings[1][:2]
        assert not begun - 86_400_000 <= readings[0][0] <= time.time() * 1000
    else:
        assert "no clock" not in prompt
        assert all(begun - 1 <= now <= date <= time.time() * 1000 + 1 for now, date, _ in readings)
        assert readings[0][2] != readings[1][2]
