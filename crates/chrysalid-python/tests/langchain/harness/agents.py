"""Agents from plain data, so that a step in another process can build the same one.

{"script": {...},             what its model answers (`model.ScriptedModel`)
 "tools": ["pay", ...],       names out of `tools.ALL`
 "interpreter": {...},        options of `CodeInterpreterMiddleware`; None or absent: without it
 "interrupt_on": {...},       as deepagents and LangChain take it
 "subagents": [{"name", ...}] the same again, each; one that has subagents of its own is compiled
 "kind": "deep" | "plain",    `create_deep_agent` (the default) or `create_agent`
 "middleware": ["block"],     names out of `MIDDLEWARE`
 "response_format": {...}}    a JSON schema
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Annotated, Any, NotRequired

from deepagents import create_deep_agent
from langchain.agents import create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
    AgentState,
    HumanInTheLoopMiddleware,
)
from langchain_core.messages import ToolMessage

from .effects import effect
from .interpreter import interpreter
from .model import ScriptedModel
from .tools import ALL

Spec = dict[str, Any]


class Notes(AgentState[Any]):
    """A state with notes that tools add to."""

    notes: NotRequired[Annotated[list[str], operator.add]]


class KeepNotes(AgentMiddleware[Any, Any, Any]):
    """Gives the agent's state its notes."""

    state_schema = Notes


class Block(AgentMiddleware[Any, Any, Any]):
    """Writes down each tool call that it sees; refuses cards, and shouts what `look` gives."""

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        refused = self._refusal(request)
        return refused if refused is not None else self._shout(request, handler(request))

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        refused = self._refusal(request)
        return refused if refused is not None else self._shout(request, await handler(request))

    def _refusal(self, request: Any) -> ToolMessage | None:
        call = request.tool_call
        effect(f"seen {call['name']} {call['args']} {bool(call['id'])}")
        if "card" in str(call["args"]) and call["name"] != "eval":
            return ToolMessage(content="cards are not sent", tool_call_id=call["id"], name=call["name"], status="error")
        return None

    def _shout(self, request: Any, result: Any) -> Any:
        if request.tool_call["name"] == "look" and isinstance(result, ToolMessage):
            return result.model_copy(update={"content": str(result.content).upper()})
        return result


MIDDLEWARE: dict[str, Callable[[], AgentMiddleware[Any, Any, Any]]] = {"notes": KeepNotes, "block": Block}

PREDICATES: dict[str, Callable[[Any], bool]] = {
    "amount > 100": lambda request: request.tool_call["args"]["amount"] > 100,
    "fails": lambda request: request.tool_call["args"]["no such argument"],
}
"""What `when` of an `interrupt_on` entry may name."""


def build(spec: Spec, checkpointer: Any = None, **more: Any) -> Any:
    """The agent of a description."""
    tools = [ALL[name] for name in spec.get("tools", ())]
    middleware = [MIDDLEWARE[name]() for name in spec.get("middleware", ())]
    if spec.get("interpreter") is not None:
        middleware.append(interpreter(**_options(spec["interpreter"])))
    interrupt_on = _interrupt_on(spec.get("interrupt_on"))
    if spec.get("response_format"):
        more["response_format"] = spec["response_format"]
    if spec.get("kind") == "plain":
        if interrupt_on:
            mode = spec.get("interrupt_mode", "batched")
            middleware.append(HumanInTheLoopMiddleware(interrupt_on, interrupt_mode=mode))
        return create_agent(_model(spec), tools, middleware=middleware, checkpointer=checkpointer, **more)
    subagents = [_subagent(each) for each in spec.get("subagents", ())]
    return create_deep_agent(
        _model(spec),
        tools,
        middleware=middleware,
        subagents=subagents,
        interrupt_on=interrupt_on,
        checkpointer=checkpointer,
        **more,
    )


def _model(spec: Spec) -> ScriptedModel:
    name = spec.get("name", "main")
    return ScriptedModel(
        script=spec["script"], agent=name, effect_at_start=f"run {name}" if spec.get("count_runs") else None
    )


def _subagent(spec: Spec) -> Any:
    head = {"name": spec["name"], "description": f"The subagent {spec['name']}."}
    if spec.get("subagents") or spec.get("compiled"):
        return {**head, "runnable": build(spec)}
    middleware = [MIDDLEWARE[name]() for name in spec.get("middleware", ())]
    if spec.get("interpreter") is not None:
        middleware.append(interpreter(**_options(spec["interpreter"])))
    declared = {
        **head,
        "system_prompt": f"You are {spec['name']}.",
        "model": _model(spec),
        "tools": [ALL[name] for name in spec.get("tools", ())],
        "middleware": middleware,
    }
    if "interrupt_on" in spec:
        declared["interrupt_on"] = _interrupt_on(spec["interrupt_on"])
    if spec.get("response_format"):
        declared["response_format"] = spec["response_format"]
    return declared


def _options(options: dict[str, Any]) -> dict[str, Any]:
    """Policies are written as their text, since only data can be handed to another process."""
    if "interrupt_on" in options:
        options = {**options, "interrupt_on": _interrupt_on(options["interrupt_on"])}
    if isinstance(options.get("policy"), str):
        from chrysalid import Policy

        options = {**options, "policy": Policy.parse(options["policy"])}
    return options


def _interrupt_on(entries: dict[str, Any] | None) -> dict[str, Any] | None:
    if entries is None:
        return None
    return {
        name: {**entry, "when": PREDICATES[entry["when"]]} if isinstance(entry, dict) and "when" in entry else entry
        for name, entry in entries.items()
    }
