"""What may happen to a thread while a program waits: answers that are not meant for it, messages, updates, two at once."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from harness.script import GATED, evaluate, program
from harness.thread import APPROVE, Thread, decisions
from test_approval import TWO_IN_A_ROW, pay

New = Callable[..., Thread]
SAVERS = ["sqlite", "sqlite+async", "postgres", "postgres+async"]


def _two(**spec: Any) -> dict[str, Any]:
    return program(TWO_IN_A_ROW, tools=["look", "pay_gated"], **spec)


@pytest.mark.parametrize("saver", ["memory:", *SAVERS], indirect=True)
def test_running_on_without_an_answer_does_not_reuse_the_first(thread: New, saver: str) -> None:
    run = thread(_two(), saver)
    run.send()
    assert run.go_on().requests == [pay(1)]
    assert run.effects == ["look a"]
    assert run.resume(decisions(APPROVE)).requests == [pay(2)]
    for _ in range(2):
        assert run.go_on().requests == [pay(2)]
        assert run.effects == ["look a", "pay 1", "look b"]
    assert run.resume(decisions(APPROVE)).is_over
    assert run.effects == ["look a", "pay 1", "look b", "pay 2", "look c"]


def test_an_answer_is_not_taken_by_a_sibling(thread: New) -> None:
    """One eval waits; a subagent beside it dies before its own first question; the answer is for the eval."""
    sub = {
        "name": "sub",
        "script": {
            "*": [
                [evaluate("await tools.slow({ms: 1500, v: 'x'}); await tools.payGated({amount: 2}); 2", "s1")],
                "sub done",
            ]
        },
        "tools": ["slow", "pay_gated"],
        "interpreter": {"ptc": ["slow", "pay_gated"]},
        "interrupt_on": {"pay_gated": GATED},
    }
    task = {"name": "task", "id": "t1", "args": {"description": "x", "subagent_type": "sub"}}
    agent = {
        "script": {"go": [[evaluate("await tools.payGated({amount: 1}); 1"), task]]},
        "tools": ["pay_gated"],
        "interpreter": {"ptc": ["pay_gated"]},
        "interrupt_on": {"pay_gated": GATED},
        "subagents": [sub],
    }
    run = thread(agent)
    assert run.send(kill="before slow x").killed
    assert run.look().requests in ([pay(1)], [])
    after = run.resume(decisions(APPROVE))
    assert "pay 2" not in run.effects
    assert [name for name, _ in after.requests if name == "pay_gated"] in ([], ["pay_gated"])
    for _ in range(4):
        if not after.interrupts:
            break
        after = run.resume(
            {each["id"]: decisions(*[APPROVE] * len(each["value"]["action_requests"])) for each in after.interrupts}
        )
    assert after.is_over
    assert sorted(run.effects) == ["pay 1", "pay 2", "slow x"]


@pytest.mark.parametrize("saver", SAVERS, indirect=True)
def test_two_processes_that_resume_at_once_make_one_effect(thread: New, saver: str) -> None:
    code = 'await tools.gate({q: "go?"}); await tools.slow({ms: 1000, v: "once"}); "over"'
    run = thread(program(code, tools=["gate", "slow"]), saver)
    assert run.send().requests == [("gate", {"q": "go?"})]
    both = [run.start({"operation": "resume", "value": decisions(APPROVE)}) for _ in range(2)]
    for each in both:
        run.finish(each)
    assert run.effects.count("gate go?") == 1
    assert run.effects.count("slow once") <= 1
    report = run.look()
    if not report.is_over:
        report = run.go_on()
    assert report.result("e1") == "<result>over</result>"
    assert run.effects == ["gate go?", "slow once"]


@pytest.mark.parametrize("second", ["go on", "resume"])
@pytest.mark.parametrize("saver", ["sqlite", "sqlite+async", "postgres"], indirect=True)
def test_a_program_is_not_taken_from_a_process_that_is_alive(thread: New, saver: str, second: str) -> None:
    """A call of the first takes long; the second finds it begun, and must not say that its process has ended."""
    code = 'await tools.gate({q: "go?"}); const v = await tools.slow({ms: 6000, v: "once"}); "over " + v'
    run = thread(program(code, tools=["gate", "slow"]), saver)
    run.send()
    first = run.start({"operation": "resume", "value": decisions(APPROVE)})
    until = time.monotonic() + 60
    while "gate go?" not in run.effects and time.monotonic() < until:
        time.sleep(0.02)
    meanwhile = run.go_on() if second == "go on" else run.resume(decisions(APPROVE))
    assert "slow once" not in run.effects
    assert "slow" not in [name for name, _ in meanwhile.requests]
    assert run.finish(first).result("e1") == "<result>over once</result>"
    assert run.effects == ["gate go?", "slow once"]
    assert run.look().is_over


@pytest.mark.parametrize("saver", ["sqlite", "sqlite+async", "postgres"], indirect=True)
def test_an_update_of_the_state_does_not_lose_the_program(thread: New, saver: str) -> None:
    run = thread({**_two(), "middleware": ["notes"]}, saver)
    run.send()
    run.update({"notes": ["seen"]}, as_node="model")
    report = run.resume(decisions(APPROVE))
    if report.requests == [pay(1)]:
        # The update gave the task another id: the question is put again, and that is the one that is answered.
        assert run.effects == ["look a"]
        report = run.resume(decisions(APPROVE))
    assert report.requests == [pay(2)]
    assert run.effects == ["look a", "pay 1", "look b"]
    assert run.resume(decisions(APPROVE)).result("e1") == "<result>2 4</result>"
    assert run.effects == ["look a", "pay 1", "look b", "pay 2", "look c"]


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
@pytest.mark.parametrize("saver", SAVERS, indirect=True)
def test_durability(thread: New, saver: str, durability: str) -> None:
    run = thread(_two(), saver, durability=durability)
    assert run.send().requests == [pay(1)]
    assert run.resume(decisions(APPROVE)).requests == [pay(2)]
    report = run.resume(decisions(APPROVE))
    assert report.result("e1") == "<result>2 4</result>"
    assert run.effects == ["look a", "pay 1", "look b", "pay 2", "look c"]


@pytest.mark.parametrize("saver", ["sqlite", "sqlite+async", "postgres"], indirect=True)
def test_a_new_message_while_paused_says_what_was_done(thread: New, saver: str) -> None:
    agent = program(
        'globalThis.kept = 1; await tools.look({q: "1"}); await tools.payGated({amount: 1}); kept = 2',
        tools=["look", "pay_gated"],
    )
    agent["script"] |= {"forget it": ["well"], "again": [[evaluate("typeof kept", "e9")]]}
    run = thread(agent, saver)
    run.send()
    report = run.send("forget it")
    assert report.is_over
    assert report.final == "well"
    text = report.result("e1")
    assert "look" in text
    assert "pay_gated" in text or "payGated" in text
    assert [said for kind, said in run.sent[-1]["messages"] if kind == "tool"] == [text]
    run.resume(decisions(APPROVE))
    assert run.effects == ["look 1"]
    assert run.send("again").result("e9").startswith("<result>")


def test_a_new_message_keeps_the_result_of_a_finished_sibling(thread: New) -> None:
    agent = program("0", tools=["look", "pay_gated"])
    agent["script"] = {
        "go": [
            [evaluate("await tools.look({q: '1'}); 'finished'"), evaluate("await tools.payGated({amount: 1})", "e2")]
        ],
        "stop": ["well"],
    }
    run = thread(agent)
    assert run.send().requests == [pay(1)]
    report = run.send("stop")
    assert report.result("e1") == "<result>finished</result>"
    assert report.is_over
    assert run.effects == ["look 1"]


def test_the_same_answer_twice_makes_one_effect(thread: New) -> None:
    run = thread(program("await tools.payGated({amount: 9}); 9", tools=["pay_gated"]))
    run.send()
    assert run.resume(decisions(APPROVE)).result("e1") == "<result>9</result>"
    run.resume(decisions(APPROVE))
    assert run.effects == ["pay 9"]


@pytest.mark.parametrize("saver", ["memory:", "sqlite", "sqlite+async"], indirect=True)
def test_a_model_may_use_the_id_of_a_call_again(thread: New, saver: str) -> None:
    """Scripted models, and some providers, count their calls anew in each turn."""
    agent = program("0", tools=["pay_gated"])
    agent["script"] = {
        "go": [[evaluate("await tools.payGated({amount: 1}); 'first'")], [evaluate("'second'")]],
        "again": [[evaluate("await tools.payGated({amount: 2}); 'third'")]],
    }
    run = thread(agent, saver)
    assert run.send().requests == [pay(1)]
    texts = [each["text"] for each in run.resume(decisions(APPROVE)).messages if each["type"] == "tool"]
    assert texts == ["<result>first</result>", "<result>second</result>"]
    assert run.send("again").requests == [pay(2)]
    texts = [each["text"] for each in run.resume(decisions(APPROVE)).messages if each["type"] == "tool"]
    assert texts == ["<result>first</result>", "<result>second</result>", "<result>third</result>"]
    assert run.effects == ["pay 1", "pay 2"]


@pytest.mark.parametrize("saver", ["sqlite", "sqlite+async"], indirect=True)
def test_two_threads_do_not_mix(thread: New, saver: str) -> None:
    run = thread(_two(), saver)
    other = thread(_two(), saver)
    other.saver = run.saver
    run.send()
    other.send()
    run.resume(decisions(APPROVE))
    assert other.look().requests == [pay(1)]
    assert run.look().requests == [pay(2)]
    assert other.effects == ["look a"]


@pytest.mark.parametrize("saver", ["sqlite", "sqlite+async"], indirect=True)
def test_an_update_of_the_state_without_a_node_does_not_lose_the_program(thread: New, saver: str) -> None:
    run = thread({**_two(), "middleware": ["notes"]}, saver)
    first = run.send()
    run.update({"notes": ["seen"]})
    report = run.resume({first.interrupts[0]["id"]: decisions(APPROVE)})
    for _ in range(3):
        if report.interrupts:
            report = run.resume(decisions(APPROVE))
    assert report.values["notes"] == ["seen"]
    assert len(run.effects) == len(set(run.effects))


@pytest.mark.parametrize("saver", ["sqlite", "postgres+async"], indirect=True)
def test_a_long_chain_of_approvals_each_in_its_own_process(thread: New, saver: str) -> None:
    code = "let sum = 0; for (let n = 1; n <= 8; n++) sum += (await tools.payGated({amount: n})).amount; sum"
    run = thread(program(code, tools=["pay_gated"]), saver)
    report = run.send()
    for number in range(1, 9):
        assert report.requests == [pay(number)]
        report = run.resume(decisions(APPROVE))
    assert report.result("e1") == "<result>36</result>"
    assert run.effects == [f"pay {number}" for number in range(1, 9)]
