"""A chat model that follows a script and writes down what it was sent.

It keeps nothing between calls: the reply follows from the last human message and from how many answers came after it. So
a new process, with a new model, goes on where the last one stopped.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.utils.function_calling import convert_to_openai_tool

from .effects import effect

SENT = "HARNESS_SENT"
LAST_TOOL = "$last tool"
"""A reply that stands for the text of the latest tool message."""

Reply = str | list[dict[str, Any]]
"""A text, or calls of tools: `{"name", "args", "id"}`."""


class ScriptedModel(BaseChatModel):
    """Answers a human message by the list of replies under its text, or under `*`."""

    script: Mapping[str, Sequence[Reply]]
    agent: str = "main"
    effect_at_start: str | None = None
    """Written as an effect when a human message is first answered: counts how often an agent ran."""
    bound: Sequence[dict[str, Any]] = ()

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **_options: Any) -> ScriptedModel:
        """A model that knows these tools."""
        return self.model_copy(update={"bound": [convert_to_openai_tool(tool) for tool in tools]})

    def _generate(self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **_: Any) -> ChatResult:
        self._write_down(messages)
        last = max(place for place, message in enumerate(messages) if isinstance(message, HumanMessage))
        answered = sum(isinstance(message, AIMessage) for message in messages[last:])
        if answered == 0 and self.effect_at_start is not None:
            effect(self.effect_at_start)
        text = messages[last].text
        replies = self.script.get(text, self.script.get("*", ()))
        reply = replies[answered] if answered < len(replies) else "end"
        if reply == LAST_TOOL:
            reply = next(message.text for message in reversed(messages) if isinstance(message, ToolMessage))
        return ChatResult(generations=[ChatGeneration(message=self._message(reply))])

    def _message(self, reply: Reply) -> AIMessage:
        told: dict[str, Any] = {
            "response_metadata": {"model_name": "scripted"},
            "usage_metadata": {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15},
        }
        if isinstance(reply, str):
            return AIMessage(content=reply, **told)
        calls = [{"name": self._tool_name(call["name"]), "args": call["args"], "id": call["id"]} for call in reply]
        return AIMessage(content="", tool_calls=[{**call, "type": "tool_call"} for call in calls], **told)

    def _tool_name(self, name: str) -> str:
        """`$structured` stands for the tool that LangChain makes of a response schema, which is bound last."""
        return str(self.bound[-1]["function"]["name"]) if name == "$structured" else name

    def _write_down(self, messages: list[BaseMessage]) -> None:
        path = os.environ.get(SENT)
        if path is None:
            return
        line = {
            "agent": self.agent,
            "system": "\n".join(message.text for message in messages if isinstance(message, SystemMessage)),
            "messages": [
                (message.type, message.text) for message in messages if not isinstance(message, SystemMessage)
            ],
            "tools": {tool["function"]["name"]: tool["function"] for tool in self.bound},
        }
        with open(path, "a") as file:
            file.write(json.dumps(line) + "\n")
