"""Several evals in one message of the model, and evals beside other gated calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from harness.script import GATED, call, evaluate
from harness.thread import APPROVE, Thread, decisions

New = Callable[..., Thread]


def _agent(*calls: dict[str, Any], **options: Any) -> dict[str, Any]:
    names = ["pay_gated", "look", "gate", "slow"]
    return {
        "script": {"go": [list(calls)], "again": [[evaluate("typeof shared + typeof later", "again")]]},
        "tools": names,
        "interpreter": {"ptc": names, **options},
        "interrupt_on": {"pay_gated": GATED, "gate": GATED},
    }


def test_they_run_in_their_order_on_one_heap(thread: New) -> None:
    run = thread(
        _agent(
            evaluate("let shared = 1; await tools.slow({ms: 50, v: 1})"),
            evaluate("shared += 1", "e2"),
            evaluate("shared + 1", "e3"),
        )
    )
    report = run.send()
    assert [report.result(each) for each in ("e1", "e2", "e3")] == [
        "<result>1</result>",
        "<result>2</result>",
        "<result>3</result>",
    ]


def test_behind_one_that_pauses_the_next_is_not_run(thread: New) -> None:
    first = 'let shared = 1; await tools.look({q: "1"}); await tools.payGated({amount: 1}); await tools.look({q: "2"}); "first"'
    run = thread(_agent(evaluate(first), evaluate('let later = 1; await tools.look({q: "never"})', "e2")))
    paused = run.send()
    assert paused.requests == [("pay_gated", {"amount": 1})]
    report = run.resume(decisions(APPROVE))
    assert report.result("e1") == "<result>first</result>"
    assert report.result("e2").startswith('<error type="SessionPaused">')
    assert run.effects == ["look 1", "pay 1", "look 2"]
    assert run.send("again").result("again") == "<result>numberundefined</result>"


@pytest.mark.parametrize("saver", ["sqlite", "sqlite+async"], indirect=True)
def test_behind_one_that_pauses_the_next_waits_if_it_is_told_to(thread: New, saver: str) -> None:
    first = 'let shared = 1; await tools.payGated({amount: 1}); shared += 1; "first"'
    second = "let later = shared; await tools.payGated({amount: 2}); later + 10"
    run = thread(_agent(evaluate(first), evaluate(second, "e2"), wait_behind_pause=True), saver)
    assert run.send().requests == [("pay_gated", {"amount": 1})]
    assert run.resume(decisions(APPROVE)).requests == [("pay_gated", {"amount": 2})]
    report = run.resume(decisions(APPROVE))
    assert [report.result("e1"), report.result("e2")] == ["<result>first</result>", "<result>12</result>"]
    assert run.effects == ["pay 1", "pay 2"]
    assert run.send("again").result("again") == "<result>numbernumber</result>"


def test_beside_a_gated_call_of_the_model(thread: New) -> None:
    run = thread(_agent(call("pay_gated", "p1", amount=9), evaluate("await tools.payGated({amount: 1})")))
    assert run.send().requests == [("pay_gated", {"amount": 9})]
    assert run.effects == []
    assert run.resume(decisions(APPROVE)).requests == [("pay_gated", {"amount": 1})]
    report = run.resume(decisions(APPROVE))
    assert run.effects == ["pay 9", "pay 1"]
    assert report.is_over


def test_the_eval_itself_can_be_gated(thread: New) -> None:
    agent = _agent(evaluate("await tools.payGated({amount: 1}); 5"))
    run = thread({**agent, "interrupt_on": {"eval": True, "pay_gated": GATED}})
    assert run.send().requests == [("eval", {"code": "await tools.payGated({amount: 1}); 5"})]
    assert run.resume(decisions(APPROVE)).requests == [("pay_gated", {"amount": 1})]
    assert run.resume(decisions(APPROVE)).result("e1") == "<result>5</result>"
    assert run.effects == ["pay 1"]


def test_a_plain_tool_call_beside_a_paused_eval_is_made_once(thread: New) -> None:
    run = thread(_agent(call("look", "l1", q="direct"), evaluate("await tools.payGated({amount: 1}); 5")))
    assert run.send().requests == [("pay_gated", {"amount": 1})]
    report = run.resume(decisions(APPROVE))
    assert sorted(run.effects) == ["look direct", "pay 1"]
    assert [report.result("l1"), report.result("e1")] == ["looked direct", "<result>5</result>"]
