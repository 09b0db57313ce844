"""Approvals of calls that a program makes: what is asked, what may be answered, what comes of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from harness.script import GATED, call, evaluate, program, worker
from harness.thread import APPROVE, REJECT, Thread, decisions, edit, respond

New = Callable[..., Thread]
SAVERS = ["memory:", "sqlite", "sqlite+async", "postgres", "postgres+async"]

TWO_IN_A_ROW = """
    await tools.look({q: "a"});
    const one = await tools.payGated({amount: 1});
    await tools.look({q: "b"});
    const two = await tools.payGated({amount: 2});
    await tools.look({q: "c"});
    `${one.n} ${two.n}`
"""
THREE_AT_ONCE = """
    const all = await Promise.allSettled([1, 2, 3].map(amount => tools.payGated({amount})));
    all.map(one => one.status === "fulfilled" ? "paid " + one.value.amount : one.reason.name + ": " + one.reason.message).join(" | ")
"""


def pay(amount: int) -> tuple[str, dict[str, int]]:
    return ("pay_gated", {"amount": amount})


@pytest.mark.parametrize("kind", ["deep", "plain"])
@pytest.mark.parametrize("saver", SAVERS, indirect=True)
def test_two_in_a_row(thread: New, saver: str, kind: str) -> None:
    run = thread(program(TWO_IN_A_ROW, tools=["look", "pay_gated"], kind=kind), saver)
    assert run.send().requests == [pay(1)]
    assert run.effects == ["look a"]
    assert run.resume(decisions(APPROVE)).requests == [pay(2)]
    assert run.effects == ["look a", "pay 1", "look b"]
    report = run.resume(decisions(APPROVE))
    assert run.effects == ["look a", "pay 1", "look b", "pay 2", "look c"]
    assert report.result("e1") == "<result>2 4</result>"
    assert report.is_over


def test_three_at_once_answered_in_one_resume(thread: New) -> None:
    run = thread(program(THREE_AT_ONCE, tools=["pay_gated"]))
    paused = run.send()
    assert len(paused.interrupts) == 1
    assert paused.requests == [pay(1), pay(2), pay(3)]
    report = run.resume(decisions(APPROVE, REJECT, edit("pay_gated", amount=30)))
    assert sorted(run.effects) == ["pay 1", "pay 30"]
    text = report.result("e1")
    assert text.startswith("<result>paid 1 | ToolRejected: ")
    assert "no" in text
    assert "paid 30" in text


@pytest.mark.parametrize("saver", ["sqlite", "postgres+async"], indirect=True)
def test_three_at_once_answered_in_several_resumes(thread: New, saver: str) -> None:
    run = thread(program(THREE_AT_ONCE, tools=["pay_gated"]), saver)
    run.send()
    rest = run.resume(decisions(None, APPROVE, None))  # type: ignore[arg-type]
    assert run.effects == ["pay 2"]
    assert rest.requests == [pay(1), pay(3)]
    rest = run.resume(decisions(None, APPROVE))  # type: ignore[arg-type]
    assert run.effects == ["pay 2", "pay 3"]
    assert rest.requests == [pay(1)]
    report = run.resume(decisions(APPROVE))
    assert run.effects == ["pay 2", "pay 3", "pay 1"]
    assert report.result("e1") == "<result>paid 1 | paid 2 | paid 3</result>"


def test_an_answer_by_interrupt_id(thread: New) -> None:
    run = thread(program(TWO_IN_A_ROW, tools=["look", "pay_gated"]))
    first = run.send()
    second = run.resume({first.interrupts[0]["id"]: decisions(APPROVE)})
    assert second.requests == [pay(2)]
    run.resume({second.interrupts[0]["id"]: decisions(APPROVE)})
    assert run.effects == ["look a", "pay 1", "look b", "pay 2", "look c"]


def test_reject_is_an_error_that_the_program_can_catch(thread: New) -> None:
    code = 'await tools.payGated({amount: 1}).catch(error => [error.name, error.message].join(": "))'
    run = thread(program(code, tools=["pay_gated"]))
    run.send()
    text = run.resume(decisions({"type": "reject", "message": "too expensive"})).result("e1")
    assert text.startswith("<result>ToolRejected: ")
    assert "too expensive" in text
    assert run.effects == []


def test_reject_that_nobody_catches_ends_the_program(thread: New) -> None:
    run = thread(
        program("await tools.payGated({amount: 1}); await tools.look({q: 'after'})", tools=["pay_gated", "look"])
    )
    run.send()
    report = run.resume(decisions({"type": "reject"}))
    assert report.result("e1").startswith('<error type="ToolRejected">')
    assert run.effects == []
    assert report.final == "end"


def test_edit_runs_the_edited_call_once_and_says_so(thread: New) -> None:
    run = thread(program("JSON.stringify(await tools.payGated({amount: 500}))", tools=["pay_gated"]))
    run.send()
    text = run.resume(decisions(edit("pay_gated", amount=50))).result("e1")
    assert run.effects == ["pay 50"]
    assert text == '<result>{"ok":true,"n":1,"amount":50,"edited_by_human":{"amount":50}}</result>'


def test_edit_of_a_call_whose_result_is_a_text_is_told_to_the_model(thread: New) -> None:
    run = thread(program('await tools.sendEmail({to: "a@example.test"})', tools=["send_email"]))
    run.send()
    text = run.resume(decisions(edit("send_email", to="b@example.test"))).result("e1")
    assert run.effects == ["send b@example.test"]
    assert "<result>sent to b@example.test</result>" in text
    assert "edited" in text


def test_edit_that_the_schema_refuses_leaves_the_pause_as_it_is(thread: New) -> None:
    run = thread(program("(await tools.payGated({amount: 5})).amount", tools=["pay_gated"]))
    run.send()
    refused = run.resume(decisions(edit("pay_gated", amount="much")))
    assert run.effects == []
    assert refused.error is not None or refused.requests == [pay(5)]
    assert run.look().requests == [pay(5)]
    assert run.resume(decisions(APPROVE)).result("e1") == "<result>5</result>"
    assert run.effects == ["pay 5"]


def test_respond_is_the_result_and_the_tool_does_not_run(thread: New) -> None:
    run = thread(program('const said = await tools.gate({q: "age?"}); typeof said + " " + said', tools=["gate"]))
    run.send()
    assert run.resume(decisions(respond("41"))).result("e1") == "<result>string 41</result>"
    assert run.effects == []


@pytest.mark.parametrize(
    "answer",
    [
        decisions(),
        decisions(APPROVE, APPROVE),
        decisions({"type": "perhaps"}),
        decisions(edit("pay_gated", amount=1)),
        "yes",
        {},
    ],
    ids=["too few", "too many", "unknown kind", "not allowed", "text", "empty"],
)
def test_a_wrong_answer_does_nothing_and_can_be_corrected(thread: New, answer: Any) -> None:
    agent = program("(await tools.payGated({amount: 5})).amount", tools=["pay_gated"])
    run = thread({**agent, "interrupt_on": {"pay_gated": {"allowed_decisions": ["approve", "reject"]}}})
    assert run.send().allowed == [["approve", "reject"]]
    run.resume(answer)
    assert run.effects == []
    assert run.look().requests == [pay(5)]
    assert run.resume(decisions(APPROVE)).result("e1") == "<result>5</result>"
    assert run.effects == ["pay 5"]


def test_the_request_has_the_standard_form(thread: New) -> None:
    agent = program("await tools.payGated({amount: 5})", tools=["pay_gated"])
    run = thread(
        {**agent, "interrupt_on": {"pay_gated": {"allowed_decisions": ["approve"], "description": "Look twice."}}}
    )
    (pause,) = run.send().interrupts
    (request,) = pause["value"].pop("action_requests")
    assert request["name"] == "pay_gated"
    assert request["args"] == {"amount": 5}
    assert "Look twice." in request["description"]
    assert pause["value"] == {"review_configs": [{"action_name": "pay_gated", "allowed_decisions": ["approve"]}]}


def test_a_description_can_be_absent(thread: New) -> None:
    run = thread(
        {**program("await tools.payGated({amount: 5})", tools=["pay_gated"]), "interrupt_on": {"pay_gated": True}}
    )
    (pause,) = run.send().interrupts
    (request,) = pause["value"]["action_requests"]
    assert "pay_gated" in request["description"]
    assert "5" in request["description"]


def test_false_means_not_gated(thread: New) -> None:
    run = thread({**program("(await tools.pay({amount: 5})).n", tools=["pay"]), "interrupt_on": {"pay": False}})
    assert run.send().result("e1") == "<result>1</result>"
    assert run.effects == ["pay 5"]


def test_interrupt_on_of_the_middleware_itself(thread: New) -> None:
    agent = program("await tools.pay({amount: 5})", tools=["pay"], options={"interrupt_on": {"pay": True}})
    run = thread(agent)
    assert run.send().requests == [("pay", {"amount": 5})]
    assert run.effects == []
    run.resume(decisions(APPROVE))
    assert run.effects == ["pay 5"]


def test_a_policy_asks(thread: New) -> None:
    policy = '[[rules]]\ntools = "pay"\ndecision = "ask"\nreason = "payments are looked at"\n'
    run = thread(program("await tools.pay({amount: 5})", tools=["pay"], options={"policy": policy}))
    assert run.send().requests == [("pay", {"amount": 5})]
    run.resume(decisions(APPROVE))
    assert run.effects == ["pay 5"]


def test_a_tool_that_interrupts_by_itself(thread: New) -> None:
    code = 'const said = await tools.ask({question: "why?"}); await tools.look({q: "after"}); said'
    run = thread(program(code, tools=["ask", "look"]))
    paused = run.send(process="exec")
    assert [name for name, _ in paused.requests] == ["ask"]
    assert paused.allowed == [["respond"]]
    assert "why?" in paused.interrupts[0]["value"]["action_requests"][0]["description"]
    report = run.resume(decisions(respond("because")), process="exec")
    assert report.result("e1") == "<result>answer because</result>"
    assert run.effects == ["ask why? -> because", "look after"]


def test_a_tool_that_interrupts_twice(thread: New) -> None:
    run = thread(program('await tools.askTwice({first: "one?", second: "two?"})', tools=["ask_twice"]))
    assert "one?" in run.send().interrupts[0]["value"]["action_requests"][0]["description"]
    assert "two?" in run.resume(decisions(respond("1"))).interrupts[0]["value"]["action_requests"][0]["description"]
    assert run.resume(decisions(respond("2"))).result("e1") == "<result>answers 1 2</result>"
    assert run.effects == ["ask_twice -> 1 2"]


def test_a_gated_call_and_a_tool_that_interrupts_are_one_request(thread: New) -> None:
    code = 'const both = await Promise.all([tools.payGated({amount: 1}), tools.ask({question: "why?"})]); both[0].amount + both[1]'
    run = thread(program(code, tools=["pay_gated", "ask"]))
    paused = run.send()
    assert len(paused.interrupts) == 1
    assert sorted(name for name, _ in paused.requests) == ["ask", "pay_gated"]
    answers = {"pay_gated": APPROVE, "ask": respond("so")}
    report = run.resume(decisions(*(answers[name] for name, _ in paused.requests)))
    assert report.result("e1") == "<result>1answer so</result>"
    assert sorted(run.effects) == ["ask why? -> so", "pay 1"]


@pytest.mark.parametrize("saver", ["sqlite", "sqlite+async", "postgres"], indirect=True)
def test_a_subagent_of_a_subagent(thread: New, saver: str) -> None:
    inner = worker(
        "inner",
        [call("pay_gated", "p1", amount=7)],
        "inner done",
        tools=("pay_gated",),
        interrupt_on={"pay_gated": GATED},
    )
    middle = worker(
        "middle",
        [evaluate('await tools.look({q: "m"}); await task({description: "deep", subagentType: "inner"})', "m1")],
        "middle done",
        tools=("look",),
        interpreter={"ptc": ["look"]},
        subagents=[inner],
    )
    code = 'await tools.look({q: "top"}); await task({description: "go down", subagentType: "middle"})'
    run = thread(program(code, tools=["look"], subagents=[middle]), saver)
    paused = run.send(process="exec")
    assert paused.requests == [pay(7)]
    assert "middle" in paused.interrupts[0]["value"]["action_requests"][0]["description"]
    report = run.resume(decisions(APPROVE), process="exec")
    assert report.result("e1") == "<result>middle done</result>"
    assert run.effects == ["look top", "run middle", "look m", "run inner", "pay 7"]


def test_an_eval_inside_of_a_subagent_that_the_model_called(thread: New) -> None:
    sub = worker(
        "sub",
        [evaluate(TWO_IN_A_ROW, "s1")],
        "sub done",
        tools=("look", "pay_gated"),
        interpreter={"ptc": ["look", "pay_gated"]},
    )
    sub["interrupt_on"] = {"pay_gated": GATED}
    agent = {
        "script": {"go": [[call("task", "t1", description="do", subagent_type="sub")]]},
        "tools": [],
        "interpreter": {},
        "subagents": [sub],
    }
    run = thread(agent)
    assert run.send(process="exec").requests == [pay(1)]
    assert run.resume(decisions(APPROVE), process="exec").requests == [pay(2)]
    report = run.resume(decisions(APPROVE), process="exec")
    assert report.result("t1") == "sub done"
    assert run.effects == ["run sub", "look a", "pay 1", "look b", "pay 2", "look c"]


def test_a_declared_subagent_inherits_the_gates(thread: New) -> None:
    sub = worker(
        "sub",
        [call("pay_gated", "p1", amount=1)],
        [evaluate("await tools.payGated({amount: 2})", "s1")],
        "sub done",
        tools=("pay_gated",),
    )
    sub["interpreter"] = {"ptc": ["pay_gated"]}
    run = thread(program('await task({description: "x", subagentType: "sub"})', tools=["pay_gated"], subagents=[sub]))
    assert run.send().requests == [pay(1)]
    assert run.resume(decisions(APPROVE)).requests == [pay(2)]
    assert run.resume(decisions(APPROVE)).result("e1") == "<result>sub done</result>"
    assert run.effects == ["run sub", "pay 1", "pay 2"]


def test_a_declared_subagent_may_have_gates_of_its_own(thread: New) -> None:
    sub = worker(
        "sub", [call("pay_gated", "p1", amount=1)], "sub done", tools=("pay_gated",), interrupt_on={"look": True}
    )
    run = thread(program('await task({description: "x", subagentType: "sub"})', tools=["pay_gated"], subagents=[sub]))
    assert run.send().result("e1") == "<result>sub done</result>"
    assert run.effects == ["run sub", "pay 1"]


def test_task_itself_can_be_gated(thread: New) -> None:
    agent = program(
        'await task({description: "x", subagentType: "sub"})', tools=["look"], subagents=[worker("sub", "sub done")]
    )
    run = thread({**agent, "interrupt_on": {"task": True}})
    paused = run.send()
    assert paused.requests == [("task", {"description": "x", "subagent_type": "sub"})]
    assert run.effects == []
    assert run.resume(decisions(APPROVE)).result("e1") == "<result>sub done</result>"
    assert run.effects == ["run sub"]
