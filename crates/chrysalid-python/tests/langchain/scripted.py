"""A chat model that says what a script tells it, for agents in tests."""

from __future__ import annotations

from typing import Any

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult

Script = list[list[Any]]
"""Per turn, the model's messages; a message is the programs or tool calls in it. After the last one it says `done`."""


class ScriptedModel(BaseChatModel):
    """Takes the turn from the number of user messages, and the place in it from the model's own since then."""

    script: Script
    seen: list[list[BaseMessage]] = []  # noqa: RUF012 - a pydantic field, copied per instance

    def bind_tools(self, tools: Any, **_: Any) -> ScriptedModel:
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        self.seen.append(messages)
        turn = sum(isinstance(one, HumanMessage) for one in messages) - 1
        last = max(index for index, one in enumerate(messages) if isinstance(one, HumanMessage))
        said = sum(isinstance(one, AIMessage) for one in messages[last:])
        lines = self.script[turn] if turn < len(self.script) else []
        if said >= len(lines):
            return _result(AIMessage("done"))
        calls = [_call(one, f"call-{turn}-{said}-{index}") for index, one in enumerate(_listed(lines[said]))]
        return _result(AIMessage("", tool_calls=calls))

    @property
    def _llm_type(self) -> str:
        return "scripted"


def _listed(line: Any) -> list[Any]:
    return line if isinstance(line, list) else [line]


def _call(one: Any, call_id: str) -> Any:
    if isinstance(one, str):
        return {"name": "eval", "args": {"code": one}, "id": call_id, "type": "tool_call"}
    name, arguments = one
    return {"name": name, "args": arguments, "id": call_id, "type": "tool_call"}


def _result(message: AIMessage) -> ChatResult:
    return ChatResult(generations=[ChatGeneration(message=message)])


def texts(result: dict[str, Any]) -> list[str]:
    """What the tools answered."""
    return [str(one.content) for one in result["messages"] if isinstance(one, ToolMessage)]


def thread(name: str = "1", **configurable: Any) -> dict[str, Any]:
    """A configuration for a thread."""
    return {"configurable": {"thread_id": name, **configurable}}


def user(text: str = "go") -> dict[str, Any]:
    """An input with one user message."""
    return {"messages": [HumanMessage(text)]}


def approve(count: int = 1) -> dict[str, Any]:
    """A resume value that approves everything."""
    return {"decisions": [{"type": "approve"}] * count}
