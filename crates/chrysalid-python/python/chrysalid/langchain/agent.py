"""What the agent around the interpreter has: its other middleware, which calls it gates, how it wraps tool calls."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from langchain.agents.middleware import AgentMiddleware, HumanInTheLoopMiddleware
from langchain_core.messages import ToolMessage
from langgraph.types import Command

if TYPE_CHECKING:
    from langchain.agents.middleware import ToolCallRequest

Answer = ToolMessage | Command[Any]
Handler = Callable[["ToolCallRequest"], Answer]
AsyncHandler = Callable[["ToolCallRequest"], Awaitable[Answer]]

Decision = Literal["approve", "edit", "reject", "respond"]
ALL_DECISIONS: tuple[Decision, ...] = ("approve", "edit", "reject", "respond")
DESCRIPTION_PREFIX = "Tool execution requires approval"


@dataclass(frozen=True)
class Gate:
    """One entry of `interrupt_on`: calls of a tool that a person decides."""

    decisions: tuple[Decision, ...] = ALL_DECISIONS
    description: str | Callable[..., str] | None = None
    when: Callable[[Any], bool] | None = None
    prefix: str = DESCRIPTION_PREFIX

    @classmethod
    def of(cls, entry: Any, tool: str, prefix: str = DESCRIPTION_PREFIX) -> Gate | None:
        """From the form that `interrupt_on` takes; False is no gate."""
        if entry is False:
            return None
        if entry is True:
            return cls(prefix=prefix)
        decisions = entry.get("allowed_decisions") if isinstance(entry, Mapping) else None
        if not decisions or not set(decisions) <= set(ALL_DECISIONS):
            raise ValueError(
                f"interrupt_on[{tool!r}] must be True, False or name allowed_decisions out of "
                f"{', '.join(ALL_DECISIONS)}, got {entry!r}"
            )
        return cls(tuple(decisions), entry.get("description"), entry.get("when"), prefix)


@dataclass(frozen=True)
class Agent:
    """The agent that a tool was made for."""

    gates: Mapping[str, Gate] = field(default_factory=dict)
    wrapping: tuple[AgentMiddleware[Any, Any, Any], ...] = ()
    """Middleware whose tool call hooks also hold for calls made from code, outermost first."""
    subagents: frozenset[str] | None = None
    """The names that `task()` takes; None when nothing tells."""

    @classmethod
    def of(
        cls,
        middleware: Sequence[AgentMiddleware[Any, Any, Any]],
        interrupt_on: Mapping[str, Any] | None,
        own: type[AgentMiddleware[Any, Any, Any]],
    ) -> Agent:
        """Learn from the agent's middleware; entries of `interrupt_on` come before those found there."""
        gates: dict[str, Gate | None] = {}
        subagents: frozenset[str] | None = None
        for one in middleware:
            if isinstance(one, HumanInTheLoopMiddleware):
                for tool, entry in one.interrupt_on.items():
                    gates[tool] = Gate.of(entry, tool, one.description_prefix)
            names = getattr(one, "subagent_names", None)
            if isinstance(names, frozenset):
                subagents = names if subagents is None else subagents | names
        for tool, entry in (interrupt_on or {}).items():
            gates[tool] = Gate.of(entry, tool)
        return cls(
            gates={tool: gate for tool, gate in gates.items() if gate is not None},
            wrapping=tuple(one for one in middleware if _wraps(one) and not isinstance(one, own)),
            subagents=subagents,
        )

    def wrap(self, request: ToolCallRequest, innermost: Handler) -> Answer:
        """Run a call inside of the agent's `wrap_tool_call` hooks."""
        handler = innermost
        for one in reversed(self._hooks_for(request)):
            handler = _outer(one.wrap_tool_call, handler)
        return handler(request)

    async def awrap(self, request: ToolCallRequest, innermost: AsyncHandler) -> Answer:
        """As `wrap`, with the `awrap_tool_call` hooks."""
        handler = innermost
        for one in reversed(self._hooks_for(request)):
            handler = _aouter(one.awrap_tool_call, handler)
        return await handler(request)

    def _hooks_for(self, request: ToolCallRequest) -> list[AgentMiddleware[Any, Any, Any]]:
        return [one for one in self.wrapping if not _only_shortens(one, request.tool_call["name"])]


def _wraps(one: AgentMiddleware[Any, Any, Any]) -> bool:
    """Whether it has tool call hooks. The approvals of `HumanInTheLoopMiddleware` are the session's part."""
    kind = type(one)
    return not isinstance(one, HumanInTheLoopMiddleware) and (
        kind.wrap_tool_call is not AgentMiddleware.wrap_tool_call
        or kind.awrap_tool_call is not AgentMiddleware.awrap_tool_call
    )


def _only_shortens(one: AgentMiddleware[Any, Any, Any], tool: str) -> bool:
    """The file middleware moves large results out of the model's context; a program wants them whole."""
    return one.name == "FilesystemMiddleware" and all(own.name != tool for own in getattr(one, "tools", ()))


def _outer(hook: Callable[..., Answer], inner: Handler) -> Handler:
    return lambda request: hook(request, inner)


def _aouter(hook: Callable[..., Awaitable[Answer]], inner: AsyncHandler) -> AsyncHandler:
    async def call(request: ToolCallRequest) -> Answer:
        return await hook(request, inner)

    return call
