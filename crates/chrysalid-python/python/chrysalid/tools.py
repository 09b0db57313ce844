"""Tools: what a program may call, made of Python functions."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, overload

from chrysalid import _native
from chrysalid.schema import Parameters, parameters_of, schema_of_result

__all__ = ["CallContext", "Effect", "Tool", "ToolError", "Toolset", "tool"]

Effect = Literal["private", "untrusted", "acts"]
Decision = Literal["approve", "edit", "reject", "respond"]
Delivery = Literal["value", "handle", "declassified"]
Function = Callable[..., Any]
F = TypeVar("F", bound=Function)


class ToolError(Exception):
    """What a tool raises to tell the program why it failed: the message crosses as it is.

    Of any other exception the program sees the class and the first line of its message, without paths.
    """

    def __init__(self, message: str, *, name: str = "ToolError", retryable: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.name = name
        self.retryable = retryable


@dataclass(frozen=True, slots=True)
class CallContext:
    """What a tool may know about the call it serves: ask for it with a parameter of this type."""

    id: str
    """Id of the call, such as ``1.2``."""
    idempotency_key: str
    """The same for every attempt at this call, and for no other."""
    _call: _native.Call | None = None

    @property
    def cancelled(self) -> bool:
        """Whether the result is no longer wanted."""
        return self._call is not None and self._call.cancelled


class Tool:
    """A named function that programs may call as ``tools.<name>({…})``.

    Args:
        function: What runs, plain or async. Its parameters are the properties of the one object that a program passes.
            Without a function nothing here runs the call: it waits for ``settle``.
        name: Default the function's own. Dots make namespaces.
        description: For the model and for the person who approves. Default the docstring.
        input_schema: JSON Schema of the argument. Default made of the annotations.
        output_schema: JSON Schema of the result, for the model. Default made of the annotation.
        effects: What it does: ``private`` (reads sensitive data), ``untrusted`` (brings what an attacker may have written),
            ``acts`` (changes state or talks outward). An empty list says that it does none of these; ``None``, the default, says
            nothing. As soon as one tool of a session has effects, the rule of two holds, and one without counts as all three.
        approval: ``always`` asks a person before each call. Default ``never``: the policy decides alone.
        ask_when: Asks a person when it returns true for the argument, or raises.
        approval_decisions: What whoever decides may answer. Default everything.
        approval_role: Roles that whoever decides must have.
        approval_expiry: Seconds that a call waits for a person. Default for ever.
        timeout: Seconds that one call may run. Default as long as the program.
        max_calls: Calls per program.
        max_calls_per_session: Calls per session.
        concurrency: Calls at one time; the rest queue.
        idempotent: A second call with the same idempotency key does nothing new.
        deliver: How results reach the program: as a ``value``, as an opaque ``handle``, or ``declassified``.
        subagent: Each call spawns a subagent, for the budgets of those.
        is_global: A program calls it as ``name(…)`` and not under ``tools``.
        raw: The function gets the argument as it is, as its one parameter.
    """

    def __init__(
        self,
        function: Function | None = None,
        *,
        name: str | None = None,
        description: str | None = None,
        input_schema: Mapping[str, Any] | None = None,
        output_schema: Mapping[str, Any] | None = None,
        effects: Iterable[Effect] | None = None,
        approval: Literal["never", "always"] = "never",
        ask_when: Callable[[Any], bool] | None = None,
        approval_decisions: Iterable[Decision] | None = None,
        approval_role: str | Iterable[str] | None = None,
        approval_expiry: float | None = None,
        timeout: float | None = None,
        max_calls: int | None = None,
        max_calls_per_session: int | None = None,
        concurrency: int | None = None,
        idempotent: bool = False,
        deliver: Delivery = "value",
        subagent: bool = False,
        is_global: bool = False,
        raw: bool = False,
    ) -> None:
        if approval not in ("never", "always"):
            raise ValueError(f'approval is "never" or "always", not {approval!r}')
        if name is None:
            name = getattr(function, "__name__", None)
            if name is None or name == "<lambda>":
                raise ValueError("a tool needs a name: the function has none")
        self.function = function
        self.name = name
        self.description = inspect.getdoc(function) or "" if description is None else description
        self._parameters = parameters_of(function, CallContext) if function and not raw else Parameters.of_nothing()
        self._raw = raw
        if input_schema is None and function is not None and not raw:
            input_schema = self._parameters.schema
        if output_schema is None and function is not None:
            output_schema = schema_of_result(function)
        self.input_schema = None if input_schema is None else dict(input_schema)
        self.output_schema = None if output_schema is None else dict(output_schema)
        roles = [approval_role] if isinstance(approval_role, str) else approval_role
        self._capability = _native.Capability(
            name,
            runs=function is not None,
            description=self.description,
            input_schema=None if self.input_schema is None else json.dumps(self.input_schema),
            output_schema=None if self.output_schema is None else json.dumps(self.output_schema),
            effects=None if effects is None else list(effects),
            asks=approval == "always",
            ask_when=ask_when,
            decisions=None if approval_decisions is None else list(approval_decisions),
            roles=None if roles is None else list(roles),
            expiry=approval_expiry,
            timeout=timeout,
            max_calls=max_calls,
            max_calls_per_session=max_calls_per_session,
            concurrency=concurrency,
            idempotent=idempotent,
            deliver=deliver,
            subagent=subagent,
            is_global=is_global,
        )

    def invoke(self, call: _native.Call) -> Any | Awaitable[Any]:
        """Runs the function for a call: its result, or what is to be awaited for it."""
        if self.function is None:
            raise TypeError(f"tool {self.name!r} has no function")
        if self._raw:
            return self.function(call.arguments)
        context = CallContext(call.id, call.idempotency_key, call)
        arguments, keywords = self._parameters.bind(call.arguments, context)
        return self.function(*arguments, **keywords)

    def __repr__(self) -> str:
        return f"Tool({self.name!r})"


class Toolset:
    """Tools that were checked together; make it once and give it to many sessions."""

    def __init__(self, tools: Iterable[Tool | Function] = ()) -> None:
        made = [item if isinstance(item, Tool) else Tool(item) for item in tools]
        self._native = _native.Toolset([item._capability for item in made])
        self._by_name = {item.name: item for item in made}

    @classmethod
    def of(cls, tools: Toolset | Iterable[Tool | Function]) -> Toolset:
        """The tools as a set; a set as it is."""
        return tools if isinstance(tools, Toolset) else cls(tools)

    def get(self, name: str) -> Tool | None:
        """The tool with this name."""
        return self._by_name.get(name)

    def text(self, budget: int | None = None) -> str:
        """The tools in words for a model, with TypeScript signatures; a list where they take more characters."""
        return self._native.text(budget)

    def describe(self, name: str) -> str | None:
        """All about one tool."""
        return self._native.describe(name)

    def expression(self, name: str) -> str | None:
        """How a program writes the tool, such as ``tools.getWeather``."""
        return self._native.expression(name)

    def __iter__(self) -> Any:
        return iter(self._by_name.values())

    def __len__(self) -> int:
        return len(self._by_name)

    def __repr__(self) -> str:
        return f"Toolset({list(self._by_name)!r})"


@overload
def tool(function: F, /) -> Tool: ...
@overload
def tool(**options: Any) -> Callable[[Function], Tool]: ...
def tool(function: Function | None = None, /, **options: Any) -> Tool | Callable[[Function], Tool]:
    """Makes a tool of a function: ``@tool`` or ``@tool(effects=["acts"], approval="always")``."""
    if function is not None:
        return Tool(function)
    return lambda given: Tool(given, **options)


_PATH = re.compile(r"(?:[A-Za-z]:)?[\\/](?:[\w.~+-]+[\\/])+[\w.~+-]*")


def failure_of(error: BaseException) -> tuple[str, str, bool]:
    """What a program sees of an exception: message, name, whether a retry can help."""
    if isinstance(error, ToolError):
        return error.message, error.name, error.retryable
    lines = str(error).strip().splitlines()
    text = _PATH.sub("…", lines[0])[:500] if lines else ""
    kind = type(error).__name__
    if isinstance(error, (TimeoutError, ConnectionError)):
        return (f"{kind}: {text}" if text else kind), "ToolError", True
    return (f"{kind}: {text}" if text else kind), "ToolError", False
