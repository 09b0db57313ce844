"""One call of a LangChain tool from code, run as the agent's own tool node would run it.

State, store, context, configuration and a call id are injected by LangGraph's public `ToolNode`, the agent's
`wrap_tool_call` hooks are applied around it, and what the tool really returned is kept beside the message that the node
makes of it: a program wants the value, not its text.
"""

from __future__ import annotations

import asyncio
import functools
import re
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from langchain_core.messages import BaseMessage, ToolMessage
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.errors import GraphBubbleUp, GraphInterrupt
from langgraph.prebuilt import ToolNode
from langgraph.types import Command

from chrysalid import ToolError
from chrysalid.langchain.values import plain

if TYPE_CHECKING:
    from langchain.agents.middleware import ToolCallRequest

    from chrysalid.langchain.agent import Agent, Answer, AsyncHandler, Handler
    from chrysalid.langchain.detached import Detached, Pause


@dataclass(frozen=True)
class Ended:
    """What became of a call."""

    call: str
    outcome: Literal["done", "failed", "paused"]
    value: Any = None
    message: str = ""
    name: str = "ToolError"
    commands: tuple[Command[Any], ...] = ()
    """State updates that the tool returned, without messages that answer the synthetic call."""
    writes: tuple[tuple[str, Any], ...] = ()
    """State writes that it made on its way, already sent."""
    pause: Pause | None = None


@dataclass
class _Seen:
    """What a call's tool returned and the text that the node made of it."""

    raw: list[Any] = field(default_factory=list)
    content: Any = None


_seen: ContextVar[_Seen | None] = ContextVar("chrysalid_seen", default=None)


class Bench:
    """The tools that programs may call, ready to run."""

    def __init__(self, agent: Agent, tools: Sequence[BaseTool]) -> None:
        self._node = ToolNode(
            [_recording(tool) for tool in tools],
            handle_tool_errors=False,
            wrap_tool_call=lambda request, execute: agent.wrap(request, _noting(execute)),
            awrap_tool_call=lambda request, execute: agent.awrap(request, _anoting(execute)),
        )

    def job(self, call: str, tool_call: Mapping[str, Any], run: Detached) -> Invocation:
        """A call that is ready to begin."""
        return Invocation(self._node, call, dict(tool_call), run)


class Invocation:
    """A `Job`: one run of one call."""

    def __init__(self, node: ToolNode, call: str, tool_call: dict[str, Any], run: Detached) -> None:
        self._node = node
        self._call = call
        self._tool_call = tool_call
        self._run = run

    def run(self) -> Ended:
        """Run it in this thread."""
        seen = _Seen()
        _seen.set(seen)
        try:
            answer = self._node.invoke([self._tool_call], self._run.config)
        except Exception as error:
            return self._failed(error)
        return self._answered(answer, seen)

    async def arun(self) -> Ended:
        """Run it on this event loop."""
        seen = _Seen()
        _seen.set(seen)
        try:
            answer = await self._node.ainvoke([self._tool_call], self._run.config)
        except Exception as error:
            return self._failed(error)
        return self._answered(answer, seen)

    def _answered(self, answer: Any, seen: _Seen) -> Ended:
        entries = answer.get("messages", []) if isinstance(answer, Mapping) else answer
        try:
            message, commands = _sort(entries)
        except Exception as error:
            return self._failed(error)
        writes = tuple(self._run.writes)
        if message is not None and message.status == "error":
            text = message.content if isinstance(message.content, str) else str(message.content)
            return Ended(self._call, "failed", message=text, commands=commands, writes=writes)
        value = None if message is None else message.content
        if message is not None and seen.raw and message.content == seen.content:
            value = _raw_value(seen.raw[-1], message)
        return Ended(self._call, "done", value=plain(value), commands=commands, writes=writes)

    def _failed(self, error: Exception) -> Ended:
        writes = tuple(self._run.writes)
        if isinstance(error, GraphInterrupt):
            return Ended(self._call, "paused", pause=self._run.pause(error))
        if isinstance(error, GraphBubbleUp):
            text = "this tool hands control to another agent, which code cannot do"
            return Ended(self._call, "failed", message=text, name="ToolUnavailable", writes=writes)
        if isinstance(error, ToolError):
            return Ended(self._call, "failed", message=str(error), name=error.name or "ToolError", writes=writes)
        return Ended(self._call, "failed", message=explain(error), writes=writes)


def _sort(entries: Any) -> tuple[ToolMessage | None, tuple[Command[Any], ...]]:
    """The message that answers the call, and the state updates beside it."""
    message: ToolMessage | None = None
    commands: list[Command[Any]] = []
    for entry in _flat(entries):
        if isinstance(entry, ToolMessage):
            message = entry
        elif isinstance(entry, Command):
            found, command = _without_answer(entry)
            message = found or message
            if command is not None:
                commands.append(command)
    return message, tuple(commands)


def _flat(entries: Any) -> list[Any]:
    flat: list[Any] = []
    for entry in entries if isinstance(entries, list) else [entries]:
        if isinstance(entry, Mapping):
            flat += entry.get("messages", [])
        elif isinstance(entry, list):
            flat += _flat(entry)
        else:
            flat.append(entry)
    return flat


def _without_answer(command: Command[Any]) -> tuple[ToolMessage | None, Command[Any] | None]:
    """Split the answer to the synthetic call off: no message of the model asked for it."""
    if command.graph is not None:
        raise ToolError("this tool hands control to another agent, which code cannot do", name="ToolUnavailable")
    if not isinstance(command.update, Mapping):
        return None, command
    update = dict(command.update)
    messages = update.pop("messages", [])
    messages = messages if isinstance(messages, list) else [messages]
    kept = [one for one in messages if not isinstance(one, ToolMessage)]
    answers = [one for one in messages if isinstance(one, ToolMessage)]
    if kept and any(isinstance(one, BaseMessage) for one in kept):
        update["messages"] = kept
    rest = replace(command, update=update)
    nothing = not update and not rest.goto and rest.resume is None
    return (answers[-1] if answers else None), (None if nothing else rest)


def _raw_value(raw: Any, message: ToolMessage) -> Any:
    if isinstance(raw, ToolMessage | Command) or (isinstance(raw, list) and any(_is_answer(one) for one in raw)):
        return message.content
    return raw


def _is_answer(value: Any) -> bool:
    return isinstance(value, ToolMessage | Command)


def explain(error: BaseException) -> str:
    """A tool's failure for the program: what it was, without where this machine keeps its files."""
    text = _PATH.sub("…", str(error)).strip()
    text = text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
    kind = type(error).__name__
    return f"{kind}: {text}" if text else kind


_PATH = re.compile(r"(?<![\w.:/\\])(?:[A-Za-z]:)?[\\/](?:[\w.~+@-]+[\\/])+[\w.~+@-]*")
_LONGEST = 1000


def _noting(execute: Handler) -> Handler:
    def run(request: ToolCallRequest) -> Answer:
        return _note(execute(request))

    return run


def _anoting(execute: AsyncHandler) -> AsyncHandler:
    async def run(request: ToolCallRequest) -> Answer:
        return _note(await execute(request))

    return run


def _note(answer: Answer) -> Answer:
    seen = _seen.get()
    if seen is not None and isinstance(answer, ToolMessage):
        seen.content = answer.content
    return answer


def _recording(tool: BaseTool) -> BaseTool:
    """A copy of a tool that notes what its implementation returns, before the node turns it into text."""
    copy = tool.model_copy()
    pair = tool.response_format == "content_and_artifact"

    def note(value: Any) -> Any:
        seen = _seen.get()
        if seen is not None:
            seen.raw.append(value[0] if pair and isinstance(value, tuple) and value else value)
        return value

    run, arun = tool._run, tool._arun
    only_async = isinstance(tool, StructuredTool) and tool.func is None

    @functools.wraps(run)
    def noting_run(*args: Any, **kwargs: Any) -> Any:
        if only_async:  # and its agent is run synchronously
            return note(asyncio.run(arun(*args, **kwargs)))
        return note(run(*args, **kwargs))

    @functools.wraps(arun)
    async def noting_arun(*args: Any, **kwargs: Any) -> Any:
        return note(await arun(*args, **kwargs))

    copy.__dict__["_run"] = noting_run
    copy.__dict__["_arun"] = noting_arun
    return copy
