"""A new user message while a program waits."""

from __future__ import annotations

from typing import Any

import pytest
from deepagents import create_deep_agent
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, HumanInTheLoopMiddleware
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from chrysalid.langchain import CodeInterpreterMiddleware
from scripted import ScriptedModel, approve, texts, thread, user

CODE = "let n = 5; await tools.look({what: 'a'}); await tools.pay({amount: 1})"
SCRIPT = [["let n = 1; n", CODE], ["n"]]


@pytest.mark.parametrize("deep", [True, False])
def test_the_model_is_told_what_was_done_and_the_question_is_gone(deep: bool) -> None:
    effects: list[str] = []
    saver = InMemorySaver()

    @tool
    def look(what: str) -> str:
        """Looks."""
        effects.append(what)
        return f"saw {what}"

    @tool
    def pay(amount: int) -> str:
        """Pays."""
        effects.append(f"pay {amount}")
        return "paid"

    model = ScriptedModel(script=SCRIPT)

    def agent() -> Any:
        own = CodeInterpreterMiddleware(ptc=["look", "pay"])
        if deep:
            return create_deep_agent(
                model, [look, pay], middleware=[own], interrupt_on={"pay": True}, checkpointer=saver
            )
        gate = HumanInTheLoopMiddleware({"pay": True})
        return create_agent(model, [look, pay], middleware=[own, gate], checkpointer=saver)

    agent().invoke(user(), thread())
    before = agent().get_state(thread())
    result = agent().invoke(user("never mind"), thread())
    assert texts(result) == [
        "<result>1</result>",
        '<error type="Cancelled">withdrawn by a new user message before it ended; '
        "its variables are as they were before it\n"
        "- look (2.1): done, result 'saw a'\n"
        "- pay (2.2): not made</error>",
        "<result>1</result>",
    ]
    kinds = [type(one) for one in result["messages"]]
    assert kinds == [
        HumanMessage,
        AIMessage,
        ToolMessage,
        AIMessage,
        ToolMessage,
        HumanMessage,
        AIMessage,
        ToolMessage,
        AIMessage,
    ]
    assert "__interrupt__" not in result
    assert effects == ["a"]
    agent().invoke(Command(resume=approve()), before.config)
    assert effects == ["a"]


def test_messages_that_are_answered_stay_as_they_are() -> None:
    saver = InMemorySaver()
    agent = create_deep_agent(
        ScriptedModel(script=[["1", "throw new Error('x')"], ["2"]]),
        [],
        middleware=[CodeInterpreterMiddleware()],
        checkpointer=saver,
    )
    first = agent.invoke(user(), thread())["messages"]
    second = agent.invoke(user("more"), thread())["messages"]
    assert second[: len(first)] == first


def test_an_answer_that_other_middleware_changed_stays_changed() -> None:
    class Redact(AgentMiddleware[Any, Any, Any]):
        def wrap_tool_call(self, request: Any, handler: Any) -> Any:
            answer = handler(request)
            first, *_ = answer.update["messages"]
            hidden = ToolMessage("[hidden]", tool_call_id=first.tool_call_id, name="eval", status=first.status)
            return Command(update={**answer.update, "messages": [hidden]})

    agent = create_agent(
        ScriptedModel(script=[[["1", "throw 2"]], []]),
        [],
        middleware=[Redact(), CodeInterpreterMiddleware()],
        checkpointer=InMemorySaver(),
    )
    agent.invoke(user(), thread())
    assert texts(agent.invoke(user("more"), thread())) == ["[hidden]", "[hidden]"]
