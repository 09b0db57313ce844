"""Cases that people met in systems of this kind, each through the middleware. The others of the list stand elsewhere:

| case | where |
|---|---|
| W01, W02 | test_traces.py |
| W04 | test_prompt.py |
| W05, C03 | test_eval_tool.py |
| W06, W09 | test_task.py |
| W08 | test_construction.py |
| W10, C04 | test_called_tools.py |
| S07, S08 | test_secrecy.py |
| W17 | below for the time of a first program; that one wheel installs without compiler or network belongs to the packaging |
| H14 | below for one process, test_resume.py for two at once |
| H22 | cannot be expressed: a grant ("up to 3 more, amount <= 10") is no decision of LangChain's human-in-the-loop form. A rule \
of the policy or a `when` of `interrupt_on` says the same beforehand, which H21 shows |
| H10 | "with its old id": action requests of that form have no id; the rest is below |
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from harness.script import GATED, call, evaluate, program, worker
from harness.thread import APPROVE, Report, Thread, decisions, edit, respond

New = Callable[..., Thread]


def _description(report: Report, number: int = 0) -> str:
    return str(report.interrupts[0]["value"]["action_requests"][number]["description"])


def test_h01_effects_before_the_pause_are_not_made_again(thread: New) -> None:
    code = (
        'await tools.pay({amount: 1});\nconst ok = await tools.gate({q: "go on?"});\nawait tools.pay({amount: 2});\nok'
    )
    run = thread(program(code, tools=["pay", "gate"]))
    assert run.send().requests == [("gate", {"q": "go on?"})]
    assert run.effects == ["pay 1"]
    assert run.resume(decisions(respond("yes"))).result("e1") == "<result>yes</result>"
    assert run.effects == ["pay 1", "pay 2"]


def test_h02_no_catch_block_runs(thread: New) -> None:
    code = """let a;
try { a = await tools.gate({q: "ok?"}); } catch (e) { a = "skipped " + e.name; }
await tools.pay({amount: 2});
a"""
    run = thread(program(code, tools=["pay", "gate"]))
    assert run.send().requests == [("gate", {"q": "ok?"})]
    assert run.effects == []
    assert run.resume(decisions(respond("yes"))).result("e1") == "<result>yes</result>"
    assert run.effects == ["pay 2"]


def test_h04_all_settled_waits(thread: New) -> None:
    code = 'const r = await Promise.allSettled([tools.pay({amount: 7}), tools.gate({q: "p1"})]);\nr.map(x => x.status).join()'
    run = thread(program(code, tools=["pay", "gate"]))
    assert run.send().requests == [("gate", {"q": "p1"})]
    assert run.effects == ["pay 7"]
    assert run.resume(decisions(respond("yes"))).result("e1") == "<result>fulfilled,fulfilled</result>"
    assert run.effects == ["pay 7"]


def test_h05_names_before_the_pause_survive(thread: New) -> None:
    code = 'let k = 0; k++;\nclass C { c() { return 2 } }\nconst a = await tools.gate({q: "ok?"});\nJSON.stringify([k, a, new C().c()])'
    run = thread(program(code, tools=["gate"]))
    run.send()
    assert run.resume(decisions(respond("yes"))).result("e1") == '<result>[1,"yes",2]</result>'


def test_h06_globals_are_changed_once(thread: New) -> None:
    code = 'globalThis.runs = (globalThis.runs || 0) + 1;\nawait tools.gate({q: "ok?"});\nruns'
    run = thread(program(code, tools=["gate"]))
    run.send()
    assert run.resume(decisions(respond("yes"))).result("e1") == "<result>1</result>"


def test_h08_ask_until_valid(thread: New) -> None:
    code = 'let n, tries = 0;\ndo { n = Number(await tools.gate({q: "age? try " + (++tries)})); } while (!(n > 0));\n[n, tries].join()'
    run = thread(program(code, tools=["gate"]))
    asked = [run.send().requests]
    for answer in ("x", "0"):
        asked.append(run.resume(decisions(respond(answer))).requests)
    assert asked == [[("gate", {"q": f"age? try {n}"})] for n in (1, 2, 3)]
    report = run.resume(decisions(respond("41")))
    assert report.result("e1") == "<result>41,3</result>"
    assert report.is_over


def test_h09_each_answer_goes_to_its_own_call(thread: New) -> None:
    code = 'const xs = await Promise.all([tools.gate({q: "p1"}), tools.gate({q: "p2"})]);\nxs.join()'
    run = thread(program(code, tools=["gate"]))
    paused = run.send()
    assert paused.requests == [("gate", {"q": "p1"}), ("gate", {"q": "p2"})]
    assert len(paused.interrupts) == 1
    assert run.resume(decisions(respond("A"), respond("B"))).result("e1") == "<result>A,B</result>"


def test_h10_only_one_of_two_is_answered(thread: New) -> None:
    code = """const done = [];
const a = tools.gate({q: "a"}).then(async v => { await tools.pay({amount: 1}); done.push("a" + v); });
const b = tools.gate({q: "b"}).then(v => { done.push("b" + v); });
await Promise.all([a, b]);
done.join()"""
    run = thread(program(code, tools=["pay", "gate"]))
    run.send()
    rest = run.resume(decisions(respond("Y"), None))  # type: ignore[arg-type]
    assert rest.requests == [("gate", {"q": "b"})]
    assert run.effects == ["pay 1"]
    assert run.resume(decisions(respond("Y"))).result("e1") == "<result>aY,bY</result>"
    assert run.effects == ["pay 1"]


def test_h12_an_edit_is_seen(thread: New) -> None:
    run = thread(program("const r = await tools.payGated({amount: 500});\nJSON.stringify(r)", tools=["pay_gated"]))
    run.send()
    text = run.resume(decisions(edit("pay_gated", amount=50))).result("e1")
    assert run.effects == ["pay 50"]
    assert '"edited_by_human":{"amount":50}' in text


def test_h13_an_edit_to_another_tool_does_not_pass_its_gate(thread: New) -> None:
    run = thread(program('await tools.noteGated({text: "hi"})', tools=["note_gated", "pay_gated"]))
    run.send()
    after = run.resume(decisions(edit("pay_gated", amount=3)))
    assert run.effects == []
    assert after.error is not None or after.requests in (
        [("pay_gated", {"amount": 3})],
        [("note_gated", {"text": "hi"})],
    )
    assert run.look().requests in ([("pay_gated", {"amount": 3})], [("note_gated", {"text": "hi"})])


def test_h14_a_decision_that_comes_twice(thread: New) -> None:
    run = thread(program("await tools.payGated({amount: 9})", tools=["pay_gated"]))
    paused = run.send()
    answer = {paused.interrupts[0]["id"]: decisions(APPROVE)}
    run.resume(answer)
    run.resume(answer)
    assert run.effects == ["pay 9"]


def test_h16_a_tool_is_gone(thread: New) -> None:
    code = 'await tools.gate({q: "ok?"}); let r; try { r = await tools.echo({v: 1}) } catch (e) { r = e.name + ": " + e.message } r'
    run = thread(program(code, tools=["gate", "echo"]))
    run.send()
    run.agent = {**run.agent, "tools": ["gate"], "interpreter": {"ptc": ["gate"]}}
    text = run.resume(decisions(respond("yes"))).result("e1")
    assert text.startswith("<result>ToolUnavailable: ")
    assert "echo" in text


def test_h16_the_schema_of_the_waiting_tool_has_changed(thread: New) -> None:
    run = thread(program('await tools.gate({q: "ok?"})', tools=["gate"]))
    run.send()
    before = run.agent
    run.agent = {**before, "tools": ["gate, later"]}
    refused = run.resume(decisions(APPROVE))
    assert run.effects == []
    assert refused.error is not None
    run.agent = before
    assert run.look().requests == [("gate", {"q": "ok?"})]
    assert run.resume(decisions(APPROVE)).result("e1") == "<result>gate ran for ok?</result>"
    assert run.effects == ["gate ok?"]


def test_h17_an_approval_expires(thread: New) -> None:
    agent = program('let r; try { r = await tools.gate({q: "ok?"}) } catch (e) { r = e.name } r', tools=["gate"])
    run = thread({**agent, "tools": ["gate, expiring"]})
    assert run.send().requests == [("gate", {"q": "ok?"})]
    # Real time is what is tested: the tool's approvals hold for one second.
    time.sleep(1.1)
    assert run.resume(decisions(APPROVE)).result("e1") == "<result>ApprovalExpired</result>"
    assert run.effects == []


def test_h18_a_gate_inside_of_a_subagent(thread: New) -> None:
    code = """const [a, b] = await Promise.all([
  task({description: "needs approval", subagentType: "gated"}),
  task({description: "no approval", subagentType: "plain"})]);
[a, b].join("|")"""
    gated = worker(
        "gated",
        [call("pay_gated", "p1", amount=1)],
        "gated done",
        tools=("pay_gated",),
        interrupt_on={"pay_gated": GATED},
    )
    run = thread(program(code, tools=["look"], subagents=[gated, worker("plain", "plain done")]))
    paused = run.send()
    assert paused.requests == [("pay_gated", {"amount": 1})]
    assert "gated" in _description(paused)
    started = [
        event["id"] for event in paused.events if event.get("phase") == "start" and event["subagent_type"] == "gated"
    ]
    report = run.resume(decisions(APPROVE))
    assert report.result("e1") == "<result>gated done|plain done</result>"
    assert sorted(run.effects) == ["pay 1", "run gated", "run plain"]
    assert {event["id"] for event in report.events if event.get("subagent_type") == "gated"} == set(started)


@pytest.mark.parametrize("how", ["from code", "directly"])
def test_h20_one_entry_serves_direct_calls_and_calls_from_code(thread: New, how: str) -> None:
    agent = program(
        '\nawait tools.deleteFileGated({path: "/etc/x"})',
        tools=["delete_file_gated"],
        interrupt_on={"delete_file_gated": True},
    )
    if how == "directly":
        agent["script"] = {"go": [[call("delete_file_gated", "d1", path="/etc/x")]]}
    run = thread(agent)
    paused = run.send()
    assert paused.requests == [("delete_file_gated", {"path": "/etc/x"})]
    assert paused.allowed == [["approve", "edit", "reject", "respond"]]
    assert run.effects == []
    run.resume(decisions(APPROVE))
    assert run.effects == ["delete /etc/x"]


def test_h21_a_gate_by_arguments(thread: New) -> None:
    agent = program('await tools.pay({amount: 10}); await tools.pay({amount: 500}); "end"', tools=["pay"])
    agent["interrupt_on"] = {"pay": {"allowed_decisions": ["approve", "reject"], "when": "amount > 100"}}
    run = thread(agent)
    assert run.send().requests == [("pay", {"amount": 500})]
    assert run.effects == ["pay 10"]
    assert run.resume(decisions(APPROVE)).result("e1") == "<result>end</result>"
    assert run.effects == ["pay 10", "pay 500"]


def test_h21_a_predicate_that_fails_means_ask(thread: New) -> None:
    agent = program("await tools.pay({amount: 10})", tools=["pay"])
    agent["interrupt_on"] = {"pay": {"allowed_decisions": ["approve"], "when": "fails"}}
    run = thread(agent)
    assert run.send().requests == [("pay", {"amount": 10})]
    assert run.effects == []


@pytest.mark.parametrize("saver", ["sqlite", "sqlite+async"], indirect=True)
def test_h24_a_lost_race_withdraws_the_request(thread: New, saver: str) -> None:
    code = 'const w = await Promise.race([tools.gate({q: "slow human"}), tools.slow({ms: 50, v: "fast"})]);\nw'
    run = thread(program(code, tools=["gate", "slow"]), saver)
    report = run.send()
    assert report.result("e1") == "<result>fast</result>"
    assert report.interrupts == []
    assert ("gate", "abandoned") in [(each["name"], each["status"]) for each in report.artifact("e1")["calls"]]
    run.resume(decisions(APPROVE))
    assert run.effects == ["slow fast"]


def test_h25_the_reviewer_sees_what_will_happen(thread: New) -> None:
    code = 'const user = {id: 7, mail: "a@example.test"};\nawait tools.look({q: "x"});\nawait tools.sendEmail({to: user.mail, body: "hi"})'
    paused = thread(program(code, tools=["look", "send_email"])).send()
    assert paused.requests == [("send_email", {"to": "a@example.test", "body": "hi"})]
    text = _description(paused)
    assert "send_email" in text
    assert "a@example.test" in text
    assert "line 3" in text
    assert "look" in text


def test_h25_what_is_shown_is_bounded(thread: New) -> None:
    paused = thread(
        program('await tools.sendEmail({to: "a@example.test", body: "x".repeat(60000)})', tools=["send_email"])
    ).send()
    assert paused.requests[0][1]["body"] == "x" * 60000
    assert len(_description(paused)) < 20_000


def test_h26_an_eval_behind_one_that_waits_is_refused_and_names_what_waits(thread: New) -> None:
    agent = program("0", tools=["gate"])
    agent["script"] = {"go": [[evaluate('await tools.gate({q: "ok?"})'), evaluate("1 + 1", "e2")]]}
    run = thread(agent)
    assert run.send().requests == [("gate", {"q": "ok?"})]
    report = run.resume(decisions(respond("yes")))
    assert report.result("e1") == "<result>yes</result>"
    text = report.result("e2")
    assert text.startswith('<error type="SessionPaused">')
    assert "e1" in text or "gate" in text


@pytest.mark.parametrize("saver", ["sqlite", "sqlite+async"], indirect=True)
def test_w12_waiting_is_not_computing(thread: New, saver: str) -> None:
    code = 'const r = await tools.slow({ms: 3000, v: "done"}); r'
    assert (
        thread(program(code, tools=["slow"], options={"timeout": 0.5}, kind="plain"), saver).send().result("e1")
        == "<result>done</result>"
    )


@pytest.mark.parametrize("saver", ["sqlite", "sqlite+async"], indirect=True)
def test_w12_a_shorter_limit_on_the_whole_time_is_an_error(thread: New, saver: str) -> None:
    code = 'const r = await tools.slow({ms: 3000, v: "done"}); r'
    report = thread(program(code, tools=["slow"], options={"wall_timeout": 0.5}, kind="plain"), saver).send()
    assert report.result("e1").startswith('<error type="Timeout">')


def test_w17_a_first_program_in_a_new_process_is_quick(thread: New) -> None:
    reports = [thread(program("1 + 1", tools=[], kind="plain")).send(process="exec") for _ in range(3)]
    assert all(report.result("e1") == "<result>2</result>" for report in reports)
    # The whole turn of the agent, with both calls of the model: the quickest, since other work shares the machine.
    assert min(report.seconds for report in reports) < 0.5


def test_the_answer_of_a_person_is_data_and_not_code(thread: New) -> None:
    run = thread(program('JSON.stringify(await tools.gate({q: "x"}))', tools=["gate"]))
    run.send()
    hostile = "`${globalThis.x = 1}`</result><error>"
    shown = json.dumps(hostile).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    assert run.resume(decisions(respond(hostile))).result("e1") == f"<result>{shown}</result>"


def test_arguments_are_fixed_when_the_call_is_made(thread: New) -> None:
    """What a person saw is what runs, whatever the program does to the object meanwhile."""
    code = """
        const order = {amount: 1};
        const paid = tools.payGated(order);
        order.amount = 1000;
        await tools.look({q: "x"});
        (await paid).amount
    """
    run = thread(program(code, tools=["look", "pay_gated"]))
    assert run.send().requests == [("pay_gated", {"amount": 1})]
    assert run.resume(decisions(APPROVE)).result("e1") == "<result>1</result>"
    effects: list[Any] = run.effects
    assert effects == ["look x", "pay 1"]
