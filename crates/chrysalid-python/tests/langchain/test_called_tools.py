"""`tools.*`: names, arguments, results, what is injected, and the agent's own hooks round each call."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from harness.agents import build
from harness.interpreter import interpreter
from harness.model import ScriptedModel
from harness.script import evaluate, program
from harness.thread import Thread
from harness.tools import ALL, TENANT
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore

Answers = Callable[..., list[str]]
New = Callable[..., Thread]


def test_names(answers: Answers) -> None:
    tools = ["echo", "send_email", "2nd-tool"]
    assert answers("typeof tools.sendEmail", "await tools['2nd-tool']({q: 'x'})", "typeof tools.eval", tools=tools) == [
        "<result>function</result>",
        "<result>odd x</result>",
        "<result>undefined</result>",
    ]


def test_tools_is_always_there_and_frozen(answers: Answers) -> None:
    assert answers("typeof tools", "Object.keys(tools).length", "Object.isFrozen(tools)") == [
        "<result>object</result>",
        "<result>0</result>",
        "<result>true</result>",
    ]


def test_only_what_ptc_lists(thread: New) -> None:
    agent = program("Object.keys(tools).join()", tools=["echo", "pay", "look"], kind="plain")
    agent["interpreter"]["ptc"] = ["look", "not there", "eval"]
    assert thread(agent, "memory:").send().result("e1") == "<result>look</result>"


def test_a_tool_object_need_not_be_one_of_the_agent() -> None:
    model = ScriptedModel(script={"go": [[evaluate("await tools.echo({v: 5})")]]})
    agent = create_agent(model, [], middleware=[interpreter(ptc=[ALL["echo"]])])
    result = agent.invoke({"messages": [HumanMessage("go")]})
    assert [message.text for message in result["messages"] if message.type == "tool"] == ["<result>5</result>"]


def test_a_collision_names_both() -> None:
    def named(name: str) -> StructuredTool:
        return StructuredTool.from_function(lambda q: q, name=name, description="x")

    model = ScriptedModel(script={"go": [[evaluate("1")]]})
    agent = None
    with pytest.raises(ValueError, match=r"send_mail.*send-mail|send-mail.*send_mail"):
        agent = create_agent(model, [], middleware=[interpreter(ptc=[named("send_mail"), named("send-mail")])])
        agent.invoke({"messages": [HumanMessage("go")]})


@pytest.mark.parametrize(
    ("code", "result"),
    [
        ("await tools.withDefaults()", "a 1"),
        ("await tools.withDefaults(null)", "a 1"),
        ("await tools.withDefaults(undefined)", "a 1"),
        ("await tools.withDefaults({})", "a 1"),
        ("await tools.withDefaults({word: undefined, number: 2})", "a 2"),
        ("await tools.withDefaults({word: 'b', number: undefined})", "b 1"),
    ],
)
def test_arguments(code: str, result: str) -> None:
    def with_defaults(word: str = "a", number: int = 1) -> str:
        """Has defaults."""
        return f"{word} {number}"

    tool = StructuredTool.from_function(with_defaults)
    model = ScriptedModel(script={"go": [[evaluate(code)]]})
    answer = create_agent(model, [tool], middleware=[interpreter(ptc=["with_defaults"])]).invoke(
        {"messages": [HumanMessage("go")]}
    )
    assert [message.text for message in answer["messages"] if message.type == "tool"] == [f"<result>{result}</result>"]


def test_wrong_arguments_name_the_field_and_the_tool_is_not_run(thread: New) -> None:
    run = thread(
        program(
            "await tools.pay({amuont: 5})",
            "await tools.pay({amount: 'much'})",
            "await tools.pay(5)",
            tools=["pay"],
            kind="plain",
        ),
        "memory:",
    )
    report = run.send()
    assert "amount" in report.result("e1")
    assert "amount" in report.result("e2")
    assert all(report.result(each).startswith("<error") for each in ("e1", "e2", "e3"))
    assert run.effects == []


@pytest.mark.parametrize(
    ("kind", "result"),
    [
        ("str", '"text"'),
        ("int", "7"),
        ("float", "1.5"),
        ("bool", "true"),
        ("list", '[1,"two",null]'),
        ("dict", '{"a":{"b":1}}'),
        ("none", "null"),
        ("model", '{"x":1,"y":2}'),
    ],
)
def test_results_are_native(answers: Answers, kind: str, result: str) -> None:
    assert answers(f"JSON.stringify(await tools.give({{kind: '{kind}'}}))", tools=["give"]) == [
        f"<result>{result}</result>"
    ]


def test_a_message_gives_its_content(answers: Answers) -> None:
    assert answers("await tools.message({text: 'hello'})", tools=["message"]) == ["<result>hello</result>"]


@pytest.mark.parametrize("saver", ["memory:", "sqlite", "sqlite+async"], indirect=True)
def test_a_command_gives_its_last_message_and_its_update_is_applied(thread: New, saver: str) -> None:
    code = 'const kept = await tools.remember({note: "one"}); await tools.remember({note: "two"}); kept'
    run = thread(program(code, tools=["remember"], middleware=["notes"], kind="plain"), saver)
    report = run.send()
    assert report.result("e1") == "<result>kept one</result>"
    assert report.values["notes"] == ["one", "two"]
    assert [each["type"] for each in report.messages] == ["human", "ai", "tool", "ai"]


def test_updates_before_and_after_a_pause_are_applied_once(thread: New) -> None:
    from harness.thread import APPROVE, decisions

    code = (
        'await tools.remember({note: "one"}); await tools.payGated({amount: 1}); await tools.remember({note: "two"}); 1'
    )
    run = thread(program(code, tools=["remember", "pay_gated"], middleware=["notes"]))
    run.send()
    assert run.resume(decisions(APPROVE)).values["notes"] == ["one", "two"]


def test_updates_of_a_program_that_fails_are_applied_too(thread: New) -> None:
    run = thread(
        program(
            'await tools.remember({note: "one"}); throw new Error("x")',
            tools=["remember"],
            middleware=["notes"],
            kind="plain",
        ),
        "memory:",
    )
    assert run.send().values["notes"] == ["one"]


@pytest.mark.parametrize("is_async", [False, True])
def test_state_store_config_and_a_call_id_are_injected(is_async: bool) -> None:
    store = InMemoryStore()
    store.put(("people",), "ada", {"born": 1815})
    code = "JSON.stringify(await tools.injected())"
    agent = build(program(code, tools=["injected"], middleware=["notes"], kind="plain"), InMemorySaver(), store=store)
    asked = {"messages": [HumanMessage("go")], "notes": ["n"]}
    config = {"configurable": {"thread_id": "t"}}
    result = asyncio.run(agent.ainvoke(asked, config)) if is_async else agent.invoke(asked, config)
    assert [message.text for message in result["messages"] if message.type == "tool"] == [
        '<result>{"messages":2,"notes":["n"],"todos":false,"store":1815,"thread":"t","tool_call_id":true}</result>'
    ]


def test_the_runtime_is_injected() -> None:
    agent = build(
        program("JSON.stringify(await tools.withRuntime({q: 'x'}))", tools=["with_runtime"], kind="plain"),
        context_schema=dict,
    )
    result = agent.invoke({"messages": [HumanMessage("go")]}, context={"tenant": "a"})
    assert [message.text for message in result["messages"] if message.type == "tool"] == [
        '<result>{"q":"x","messages":2,"context":{"tenant":"a"},"tool_call_id":true}</result>'
    ]


def test_injected_arguments_are_not_in_the_prompt(thread: New) -> None:
    run = thread(program("1", tools=["injected", "with_runtime"], kind="plain"), "memory:")
    run.send()
    assert "tool_call_id" not in run.sent[0]["system"]
    assert "runtime:" not in run.sent[0]["system"]
    assert "state:" not in run.sent[0]["system"]


def test_call_ids_are_all_different(thread: New) -> None:
    code = "await Promise.all([tools.keyed({amount: 1}), tools.keyed({amount: 1})]); await tools.keyed({amount: 1})"
    run = thread(program(code, code, tools=["keyed"], kind="plain"), "memory:")
    run.send()
    assert len(set(run.effects)) == 6


@pytest.mark.parametrize("saver", ["sqlite", "sqlite+async"], indirect=True)
def test_w10_tool_middleware_sees_blocks_and_rewrites_inner_calls(thread: New, saver: str) -> None:
    code = """
        const found = await tools.look({q: "quiet"});
        let refused;
        try { refused = await tools.echo({v: "card 4111"}) } catch (error) { refused = error.name + ": " + error.message }
        [found, refused].join(" | ")
    """
    run = thread(program(code, tools=["echo", "look"], middleware=["block"], kind="plain"), saver)
    report = run.send()
    assert report.result("e1") == "<result>LOOKED QUIET | ToolError: cards are not sent</result>"
    seen = [line for line in run.effects if line.startswith("seen") and "eval" not in line]
    assert seen == ["seen look {'q': 'quiet'} True", "seen echo {'v': 'card 4111'} True"]


def test_w10_what_was_called_is_beside_the_text(thread: New) -> None:
    report = thread(
        program(
            "await tools.echo({v: 1}); await tools.fail({msg: 'x'}).catch(() => 0)",
            tools=["echo", "fail"],
            kind="plain",
        ),
        "memory:",
    ).send()
    assert [(each["name"], each["status"]) for each in report.artifact("e1")["calls"]] == [
        ("echo", "completed"),
        ("fail", "failed"),
    ]


def test_c04_async_tools_run_on_the_callers_loop_with_its_context() -> None:
    code = """
        const [a, b] = await Promise.all([tools.onTheLoop({q: "a"}), tools.inTheContext({q: "b"})]);
        JSON.stringify([a, b])
    """
    agent = build(program(code, tools=["on_the_loop", "in_the_context"], kind="plain"))

    async def run() -> tuple[str, int]:
        TENANT.set("ada")
        result = await agent.ainvoke({"messages": [HumanMessage("go")]})
        return next(message.text for message in result["messages"] if message.type == "tool"), id(
            asyncio.get_running_loop()
        )

    text, loop = asyncio.run(run())
    assert text == f'<result>[{{"loop":{loop},"tenant":"ada","q":"a"}},{{"tenant":"ada","q":"b"}}]</result>'


def test_c04_sync_and_async_tools_work_from_a_sync_invoke() -> None:
    code = "const both = await Promise.all([tools.onTheLoop({q: 'a'}), tools.inTheContext({q: 'b'})]); both.map(one => one.tenant + one.q).join()"
    agent = build(program(code, tools=["on_the_loop", "in_the_context"], kind="plain"))
    TENANT.set("bob")
    result = agent.invoke({"messages": [HumanMessage("go")]})
    assert [message.text for message in result["messages"] if message.type == "tool"] == ["<result>boba,bobb</result>"]


@pytest.mark.parametrize("saver", ["sqlite", "sqlite+async"], indirect=True)
def test_calls_run_side_by_side(thread: New, saver: str) -> None:
    code = "await Promise.all([1, 2, 3, 4, 5].map(v => tools.slow({ms: 600, v}))); 1"
    report = thread(program(code, tools=["slow"], kind="plain"), saver).send()
    assert report.result("e1") == "<result>1</result>"
    assert report.seconds < 2.4


def test_labels_of_a_tool() -> None:
    """Per-tool approval, as the tool's own metadata gives it."""
    tool = StructuredTool.from_function(
        lambda q: q, name="labelled", description="x", metadata={"chrysalid": {"approval": "always"}}
    )
    model = ScriptedModel(script={"go": [[evaluate("await tools.labelled({q: 'x'})")]]})
    agent = create_agent(model, [tool], middleware=[interpreter(ptc=["labelled"])], checkpointer=InMemorySaver())
    result: dict[str, Any] = agent.invoke({"messages": [HumanMessage("go")]}, {"configurable": {"thread_id": "t"}})
    (pause,) = result["__interrupt__"]
    assert [request["name"] for request in pause.value["action_requests"]] == ["labelled"]
