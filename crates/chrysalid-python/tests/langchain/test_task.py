"""`task()`: subagents from code."""

from __future__ import annotations

import asyncio
import html
import json
from collections.abc import Callable
from typing import Any

import pytest
from harness.agents import build
from harness.script import call, evaluate, program, worker
from harness.thread import APPROVE, Thread, decisions
from harness.tools import TENANT
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore

New = Callable[..., Thread]
DISPATCH = 'await task({description: "count", subagentType: "worker"})'


def _agent(*codes: str, sub: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    return program(*codes, tools=spec.pop("tools", ["look"]), subagents=[sub or worker("worker", "done")], **spec)


@pytest.mark.parametrize("saver", ["memory:", "sqlite", "sqlite+async"], indirect=True)
def test_the_last_text_is_the_result(thread: New, saver: str) -> None:
    run = thread(_agent(DISPATCH), saver)
    assert run.send().result("e1") == "<result>done</result>"
    (sent,) = [each for each in run.sent if each["agent"] == "worker"]
    assert sent["messages"] == [["human", "count"]]


def test_the_last_text_that_is_not_empty(thread: New) -> None:
    run = thread(_agent(DISPATCH, sub=worker("worker", [call("look", "l1", q="x")], "", tools=("look",))), "memory:")
    assert run.send().result("e1").startswith("<result>")


def test_it_is_a_frozen_global(thread: New) -> None:
    code = "try { task = 1 } catch {} typeof task + Object.isFrozen(task)"
    assert thread(_agent(code), "memory:").send().result("e1") == "<result>functiontrue</result>"


def test_it_can_be_switched_off(thread: New) -> None:
    run = thread(_agent("typeof task", options={"subagents": False}), "memory:")
    assert run.send().result("e1") == "<result>undefined</result>"
    assert "subagentType" not in run.sent[0]["system"]


def test_it_is_not_there_without_a_task_tool(answers: Callable[..., list[str]]) -> None:
    assert answers("typeof task") == ["<result>undefined</result>"]


def test_w09_wrong_requests_are_refused_clearly(thread: New) -> None:
    code = """
        const r = [];
        for (const a of [{description: "x", subagentType: "nope"}, {prompt: "x"}, "x", {description: "x", subagentType: "worker", resposeSchema: {}},
                         {description: "", subagentType: "worker"}, {description: "x", subagentType: 7}, {description: "x"}])
            try { await task(a); r.push("ok") } catch (e) { r.push(e.message) }
        r.join("\\n")
    """
    run = thread(_agent(code), "memory:")
    lines = run.send().result("e1").removeprefix("<result>").removesuffix("</result>").split("\n")
    assert len(lines) == 7
    for line, wanted in zip(
        lines,
        ["worker", "description", "object", "responseSchema", "description", "subagentType", "subagentType"],
        strict=True,
    ):
        assert wanted in line
    assert "nope" in lines[0]
    assert "prompt" in lines[1] or "description" in lines[1]
    assert "resposeSchema" in lines[3]
    assert run.effects == []


def test_w06_a_schema_gives_a_value(thread: New) -> None:
    code = """
        const r = await task({description: "count words in: a b c", subagentType: "worker",
            responseSchema: {type: "object", properties: {n: {type: "integer"}}, required: ["n"]}});
        typeof r.n + r.n
    """
    sub = worker("worker", [call("$structured", "s1", n=3)])
    assert thread(_agent(code, sub=sub), "memory:").send().result("e1") == "<result>number3</result>"


def test_w06_a_compiled_subagent_that_cannot_honour_a_schema_says_so(thread: New) -> None:
    code = 'await task({description: "x", subagentType: "worker", responseSchema: {type: "object", properties: {}}})'
    run = thread(_agent(code, sub=worker("worker", "done", compiled=True)), "memory:")
    text = run.send().result("e1")
    assert text.startswith("<error")
    assert "chema" in text
    assert run.effects == []


@pytest.mark.parametrize(
    "schema",
    [
        "5",
        '{type: "object", properties: Object.fromEntries(Array.from({length: 33}, (_, n) => ["p" + n, {type: "string"}]))}',
        '{type: "object", description: "x".repeat(4096)}',
        "(function nest(n) { return n ? {type: 'object', properties: {a: nest(n - 1)}} : {type: 'string'} })(6)",
    ],
    ids=["no object", "33 properties", "too large", "too deep"],
)
def test_w06_schemas_are_bounded(thread: New, schema: str) -> None:
    code = f'let said; try {{ await task({{description: "x", subagentType: "worker", responseSchema: {schema}}}); said = "ok" }} catch (e) {{ said = e.message }} said'
    run = thread(_agent(code), "memory:")
    text = run.send().result("e1")
    assert "responseSchema" in text
    assert run.effects == []


@pytest.mark.parametrize(
    "schema",
    [
        '{type: "object", properties: Object.fromEntries(Array.from({length: 32}, (_, n) => ["p" + n, {type: "string"}]))}',
        "(function nest(n) { return n ? {type: 'object', properties: {a: nest(n - 1)}} : {type: 'string'} })(5)",
    ],
)
def test_w06_schemas_at_the_bound_are_taken(thread: New, schema: str) -> None:
    code = f'typeof await task({{description: "x", subagentType: "worker", responseSchema: {schema}}})'
    run = thread(_agent(code, sub=worker("worker", [call("$structured", "s1", p0="x")])), "memory:")
    assert run.send().result("e1") == "<result>object</result>"


def _seen_by_the_worker(result_of: str, sub: dict[str, Any], **given: Any) -> str:
    """What a tool of a subagent found, which is the subagent's last text."""
    agent = build(_agent(result_of, sub=sub, middleware=["notes"]), InMemorySaver(), store=InMemoryStore())
    asked = {"messages": [HumanMessage("go")], **given}
    result = asyncio.run(agent.ainvoke(asked, {"configurable": {"thread_id": "t"}}))
    return next(message.text for message in result["messages"] if message.type == "tool")


def test_the_state_goes_down_without_what_is_private(thread: New) -> None:
    code = 'const told = await task({description: "count", subagentType: "worker"}); told'
    sub = worker(
        "worker", [evaluate("JSON.stringify(await tools.injected())", "s1")], "$last tool", tools=("injected",)
    )
    sub |= {"middleware": ["notes"], "interpreter": {"ptc": ["injected"]}, "count_runs": False}
    todos = [{"content": "x", "status": "pending"}]
    text = _seen_by_the_worker(code, sub, notes=["n"], todos=todos)
    found = json.loads(
        html.unescape(text)
        .removeprefix("<result>")
        .removesuffix("</result>")
        .removeprefix("<result>")
        .removesuffix("</result>")
    )
    assert found["notes"] == ["n"]
    # The task and the subagent's own call, nothing of the parent.
    assert found["messages"] == 2
    assert found["todos"] is False


def test_it_runs_on_the_callers_loop_with_its_context() -> None:
    sub = worker("worker", [call("on_the_loop", "o1", q="x")], "$last tool", tools=("on_the_loop",), count_runs=False)
    agent = build(_agent(DISPATCH, sub=sub))

    async def run() -> tuple[str, int]:
        TENANT.set("ada")
        result = await agent.ainvoke({"messages": [HumanMessage("go")]})
        return next(message.text for message in result["messages"] if message.type == "tool"), id(
            asyncio.get_running_loop()
        )

    text, loop = asyncio.run(run())
    assert json.loads(text.removeprefix("<result>").removesuffix("</result>")) == {
        "loop": loop,
        "tenant": "ada",
        "q": "x",
    }


def test_it_is_traced_as_a_subagent(thread: New) -> None:
    sub = worker("worker", [call("agent_type", "a1")], "$last tool", tools=("agent_type",))
    assert thread(_agent(DISPATCH, sub=sub)).send().result("e1") == "<result>subagent</result>"


def test_events_form_a_tree(thread: New) -> None:
    leaf = worker("leaf", "leaf done")
    sub = worker(
        "worker",
        [evaluate('await task({description: "leaf", subagentType: "leaf"})', "s1")],
        "done",
        interpreter={},
        subagents=[leaf],
    )
    events = _subagent_events(thread(_agent(DISPATCH, sub=sub)).send())
    starts = {event["subagent_type"]: event for event in events if event["phase"] == "start"}
    assert [starts["worker"]["depth"], starts["leaf"]["depth"]] == [1, 2]
    assert "parent_id" not in starts["worker"]
    assert starts["leaf"]["parent_id"] == starts["worker"]["id"]


def test_tasks_run_at_most_so_many_at_a_time(thread: New) -> None:
    code = 'await Promise.all([1, 2, 3, 4].map(n => task({description: "job " + n, subagentType: "worker"}))); 1'
    sub = worker("worker", [call("slow", "s1", ms=300, v="x")], "done", tools=("slow",))
    narrow = thread(_agent(code, sub=sub, options={"max_subagent_concurrency": 1}), "sqlite+async").send()
    wide = thread(_agent(code, sub=sub), "sqlite+async").send()
    assert narrow.result("e1") == wide.result("e1") == "<result>1</result>"
    assert narrow.seconds > 1.2
    assert wide.seconds < narrow.seconds
    order = [
        event["phase"]
        for event in narrow.events
        if event.get("type") == "subagent" and event["phase"] in ("start", "complete")
    ]
    assert order == ["start", "complete"] * 4
    assert [event["phase"] for event in narrow.events].count("queued") >= 3


def test_a_task_that_nobody_awaits_still_finishes(thread: New) -> None:
    run = thread(_agent('task({description: "count", subagentType: "worker"}); "not awaited"'))
    assert run.send().result("e1") == "<result>not awaited</result>"
    assert run.effects == ["run worker"]


def _subagent_events(report: Any) -> list[dict[str, Any]]:
    return [event for event in report.events if isinstance(event, dict) and event.get("type") == "subagent"]


@pytest.mark.parametrize("saver", ["sqlite", "sqlite+async"], indirect=True)
def test_events(thread: New, saver: str) -> None:
    code = 'await task({description: "count the words", subagentType: "worker", label: "words"}); await task({description: "x".repeat(500), subagentType: "worker"}); 1'
    events = _subagent_events(thread(_agent(code), saver).send())
    starts = [event for event in events if event["phase"] == "start"]
    assert [(each["subagent_type"], each["label"], each["eval_id"]) for each in starts] == [
        ("worker", "words", "e1"),
        ("worker", "x" * 60, "e1"),
    ]
    assert starts[0]["description"] == "count the words"
    assert len(starts[1]["description"]) == 200
    completes = [event for event in events if event["phase"] == "complete"]
    assert [each["id"] for each in completes] == [each["id"] for each in starts]
    assert len({each["id"] for each in starts}) == 2
    assert all(isinstance(each["duration_ms"], int) for each in completes)


def test_events_of_a_failure(thread: New) -> None:
    sub = worker("worker", [call("fail", "f1", msg="broken")], tools=("fail",))
    events = _subagent_events(thread(_agent(DISPATCH + ".catch(() => 0)", sub=sub)).send())
    (error,) = [event for event in events if event["phase"] == "error"]
    assert "broken" in error["error"]
    assert error["id"] == next(event["id"] for event in events if event["phase"] == "start")


def test_events_over_a_pause_carry_the_same_id(thread: New) -> None:
    sub = worker("worker", [call("pay_gated", "p1", amount=1)], "done", tools=("pay_gated",))
    run = thread(_agent(DISPATCH, sub=sub, tools=["pay_gated"]))
    before = _subagent_events(run.send(process="exec"))
    after = _subagent_events(run.resume(decisions(APPROVE), process="exec"))
    assert len({event["id"] for event in [*before, *after]}) == 1
    assert [event["phase"] for event in before][-1] == "paused"
    assert "resumed" in [event["phase"] for event in after]
    assert after[-1]["phase"] == "complete"
    usage = json.dumps(after[-1].get("usage"))
    assert "input_tokens" in usage


def test_runs_of_subagents_are_tagged(thread: New) -> None:
    report = thread(_agent(DISPATCH)).send()
    names = {run["metadata"].get("lc_agent_name") for run in report.runs}
    assert "worker" in names
