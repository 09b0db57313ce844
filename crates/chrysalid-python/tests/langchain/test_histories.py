"""What people do to a thread's history: they edit messages, go back, and cancel in the middle. No effect is made twice."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from harness import effects
from harness.agents import build
from harness.script import program
from harness.thread import APPROVE, Thread, decisions
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

New = Callable[..., Thread]
CODE = 'await tools.look({q: "a"}); await tools.payGated({amount: 1}); await tools.look({q: "b"}); "over"'
CONFIG: Any = {"configurable": {"thread_id": "t"}}
GO: Any = {"messages": [HumanMessage("go")]}


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """`agent(spec)`: in this process, on a checkpointer in memory, with its effects in a file."""
    monkeypatch.setenv(effects.FILE, str(tmp_path / "effects"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return lambda spec: build(spec, InMemorySaver())


def _tool_texts(state: Any) -> list[str]:
    return [message.text for message in state["messages"] if message.type == "tool"]


def test_going_back_to_a_pause_that_was_answered_makes_no_effect_again(
    agent: Callable[..., Any], tmp_path: Path
) -> None:
    graph = agent(program(CODE, tools=["look", "pay_gated"], kind="plain"))
    graph.invoke(GO, CONFIG)
    paused = graph.get_state(CONFIG).config
    graph.invoke(Command(resume=decisions(APPROVE)), CONFIG)
    done = effects.written(tmp_path / "effects")
    assert done == ["look a", "pay 1", "look b"]
    for again in (Command(resume=decisions(APPROVE)), None):
        graph.invoke(again, paused)
        assert effects.written(tmp_path / "effects") == done


def test_a_program_that_was_edited_while_paused_is_another_program(agent: Callable[..., Any], tmp_path: Path) -> None:
    graph = agent(program(CODE, tools=["look", "pay_gated"], kind="plain"))
    graph.invoke(GO, CONFIG)
    (said,) = [message for message in graph.get_state(CONFIG).values["messages"] if isinstance(message, AIMessage)]
    call = {**said.tool_calls[0], "args": {"code": "'another'"}}
    graph.update_state(CONFIG, {"messages": [said.model_copy(update={"tool_calls": [call]})]}, as_node="model")
    result = graph.invoke(None, CONFIG)
    if "__interrupt__" in result:
        result = graph.invoke(Command(resume=decisions(APPROVE)), CONFIG)
    assert "pay 1" not in effects.written(tmp_path / "effects")
    assert _tool_texts(result) == ["<result>another</result>"]


def test_a_run_that_is_cancelled_in_a_call_says_that_nobody_knows(agent: Callable[..., Any], tmp_path: Path) -> None:
    code = 'await tools.look({q: "a"}); const v = await tools.slow({ms: 1500, v: "x"}); await tools.look({q: "b"}); v'
    graph = agent(program(code, tools=["look", "slow"], kind="plain"))

    async def run() -> tuple[Any, Any]:
        running = asyncio.create_task(graph.ainvoke(GO, CONFIG))
        while effects.written(tmp_path / "effects") != ["look a"]:
            await asyncio.sleep(0.01)
        # `slow` begins right after; half a second later it is under way.
        await asyncio.sleep(0.5)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        asked = await graph.ainvoke(None, CONFIG)
        assert effects.written(tmp_path / "effects") == ["look a"]
        return asked, await graph.ainvoke(Command(resume=decisions(APPROVE)), CONFIG)

    asked, result = asyncio.run(run())
    (pause,) = asked["__interrupt__"]
    assert [request["name"] for request in pause.value["action_requests"]] == ["slow"]
    assert _tool_texts(result) == ["<result>x</result>"]
    assert effects.written(tmp_path / "effects") == ["look a", "slow x", "look b"]


def test_approvals_of_an_agent_that_asks_for_each_call_hold_for_code_too(thread: New) -> None:
    run = thread(program(CODE, tools=["look", "pay_gated"], kind="plain", interrupt_mode="per_call"))
    assert run.send().requests == [("pay_gated", {"amount": 1})]
    assert run.effects == ["look a"]
    assert run.resume(decisions(APPROVE)).result("e1") == "<result>over</result>"
    assert run.effects == ["look a", "pay 1", "look b"]


def test_a_subagent_that_asks_for_each_call_is_put_into_the_standard_form(
    agent: Callable[..., Any], tmp_path: Path
) -> None:
    sub = {
        "name": "sub",
        "script": {"*": [[{"name": "pay_gated", "args": {"amount": 5}, "id": "p1"}], "sub done"]},
        "tools": ["pay_gated"],
        "kind": "plain",
        "interrupt_on": {"pay_gated": True},
        "interrupt_mode": "per_call",
        "compiled": True,
    }
    graph = agent(program('await task({description: "x", subagentType: "sub"})', tools=["look"], subagents=[sub]))
    (pause,) = graph.invoke(GO, CONFIG)["__interrupt__"]
    assert [(each["name"], each["args"]) for each in pause.value["action_requests"]] == [("pay_gated", {"amount": 5})]
    result = graph.invoke(Command(resume=decisions(APPROVE)), CONFIG)
    assert _tool_texts(result) == ["<result>sub done</result>"]
    assert effects.written(tmp_path / "effects") == ["pay 5"]
