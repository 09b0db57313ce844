"""Tools: what a program may call, made of Python functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict, overload

from chrysalid import _native
from chrysalid.failure import ToolError

if TYPE_CHECKING:
    from collections.abc import Awaitable
    from typing import Unpack

    from chrysalid.parameters import Parameters

__all__ = [
    "CallContext",
    "Decision",
    "Delivery",
    "Effect",
    "Function",
    "Tool",
    "ToolError",
    "ToolOptions",
    "Toolset",
    "tool",
]

# Written as unions, which stubtest can compare.
Effect: TypeAlias = Literal["private"] | Literal["untrusted"] | Literal["acts"]  # noqa: PYI030
Decision: TypeAlias = Literal["approve"] | Literal["edit"] | Literal["reject"] | Literal["respond"]  # noqa: PYI030
Delivery: TypeAlias = Literal["value"] | Literal["handle"] | Literal["declassified"]  # noqa: PYI030
Function: TypeAlias = Callable[..., Any]


# Of the code of an async function; `inspect` has the name.
_IS_COROUTINE = 0x80


class CallContext:
    """What a tool may know about the call it serves: ask for it with a parameter of this type."""

    __slots__ = ("_call", "id", "idempotency_key", "name")

    id: str
    """Id of the call, such as ``1.2``."""
    name: str
    """Name of the tool."""
    idempotency_key: str
    """The same for every attempt at this call, and for no other: 64 hexadecimal characters."""

    def __init__(self, id: str, idempotency_key: str, *, name: str = "", call: _native.Call | None = None) -> None:
        self.id = id
        self.name = name
        self.idempotency_key = idempotency_key
        self._call = call

    @property
    def cancelled(self) -> bool:
        """Whether the result is no longer wanted."""
        return self._call is not None and self._call.cancelled

    def __repr__(self) -> str:
        return f"CallContext({self.id!r}, {self.name!r})"


class ToolOptions(TypedDict, total=False):
    """The options of :class:`Tool`."""

    name: str | None
    description: str | None
    input_schema: Mapping[str, Any] | None
    output_schema: Mapping[str, Any] | None
    effects: Iterable[Effect] | None
    approval: Literal["never", "always"]
    ask_when: Callable[[Any], bool] | None
    approval_decisions: Iterable[Decision] | None
    approval_role: str | Iterable[str] | None
    approval_expiry: float | None
    timeout: float | None
    max_calls: int | None
    max_calls_per_session: int | None
    concurrency: int | None
    idempotent: bool
    deliver: Delivery
    subagent: bool
    is_global: bool
    raw: bool


class Tool:
    """A named function that programs may call as ``tools.<name>({…})``.

    Args:
        function: What runs, plain or async. Its parameters are the properties of the one object that a program passes.
            Without a function nothing here runs the call: it waits for ``settle``.
        name: Default the function's own. Dots make namespaces.
        description: For the model and for the person who approves. Default the docstring.
        input_schema: JSON Schema of the argument. Default made of the annotations.
        output_schema: JSON Schema of the result, for the model. Default made of the annotation.
        effects: What it does: ``private`` (reads sensitive data), ``untrusted`` (brings what an attacker may have
            written),
            ``acts`` (changes state or talks outward). An empty list says that it does none of these; ``None``, the
            default, says nothing. As soon as one tool of a session has effects, the rule of two holds, and one without
            counts as all three.
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
        if function is not None and not callable(function):
            raise TypeError(f"a tool is made of a function, not of {function!r}")
        if approval not in ("never", "always"):
            raise ValueError(f'approval is "never" or "always", not {approval!r}')
        self.function = function
        self.name = _name_of(function) if name is None else name
        self.description = _description_of(function) if description is None else description
        self.timeout = timeout
        self._predicate = None if ask_when is None else _Predicate(ask_when)
        self._parameters: Parameters | None = None
        if function is not None and not raw:
            from chrysalid.parameters import parameters_of

            self._parameters = parameters_of(function, CallContext)
            input_schema = self._parameters.schema if input_schema is None else input_schema
        if function is not None and output_schema is None:
            from chrysalid.parameters import schema_of_result

            output_schema = schema_of_result(function)
        self.input_schema = None if input_schema is None else dict(input_schema)
        self.output_schema = None if output_schema is None else dict(output_schema)
        self._capability = _native.Capability(
            self.name,
            runs=function is not None,
            description=self.description,
            input_schema=_json(self.name, "input", self.input_schema),
            output_schema=_json(self.name, "output", self.output_schema),
            effects=names(effects),
            asks=approval == "always",
            ask_when=self._predicate,
            decisions=names(approval_decisions),
            roles=names(approval_role),
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
        if self._parameters is None:
            return self.function(call.arguments)

        def context() -> CallContext:
            return CallContext(call.id, call.idempotency_key, name=call.name, call=call)

        arguments, keywords = self._parameters.bind(call.arguments, context)
        return self.function(*arguments, **keywords)

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """Calls the function, as if it were no tool."""
        if self.function is None:
            raise TypeError(f"tool {self.name!r} has no function")
        return self.function(*arguments, **keywords)

    def __repr__(self) -> str:
        return f"Tool({self.name!r})"


class _Predicate:
    """Whether a person is asked. The engine holds it weakly, so that it goes with its tool."""

    __slots__ = ("__weakref__", "_asks")

    def __init__(self, asks: Callable[[Any], bool]) -> None:
        if not callable(asks):
            raise TypeError(f"ask_when is a function of the argument, not {asks!r}")
        code = getattr(asks, "__code__", None)
        if code is not None and code.co_flags & _IS_COROUTINE:
            raise TypeError("ask_when is asked between two steps of a program, and cannot be async")
        self._asks = asks

    def __call__(self, argument: Any) -> bool:
        return bool(self._asks(argument))


def names(given: str | Iterable[str] | None) -> list[str] | None:
    """A list of names; one name stands for itself, and not for its letters."""
    if given is None:
        return None
    return [given] if isinstance(given, str) else list(given)


def _name_of(function: Function | None) -> str:
    if function is not None:
        from chrysalid.parameters import inner_function

        name = getattr(function, "__name__", None) or getattr(inner_function(function), "__name__", None)
        if isinstance(name, str) and name not in ("<lambda>", "__call__"):
            return name
    raise ValueError("a tool needs a name: the function has none")


def _description_of(function: Function | None) -> str:
    if function is None:
        return ""
    import inspect

    from chrysalid.parameters import inner_function

    inner = inner_function(function)
    if inspect.isroutine(function) or inner is not type(function).__call__:
        return inspect.getdoc(inner) or ""
    # An object that is called: what its method says, or else its class.
    return inspect.cleandoc(inner.__doc__ or type(function).__doc__ or "")


def _json(name: str, which: str, schema: Mapping[str, Any] | None) -> str | None:
    if schema is None:
        return None
    import json

    try:
        return json.dumps(schema, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"the {which} schema of tool {name!r} is no JSON: {error}") from None


class Toolset:
    """Tools that were checked together; make it once and give it to many sessions."""

    __slots__ = ("_by_name", "_native")

    def __init__(self, tools: Iterable[Tool | Function] = ()) -> None:
        if not hasattr(tools, "__iter__"):
            raise TypeError(f"tools are a list, not {tools!r}")
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

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._by_name.values())

    def __len__(self) -> int:
        return len(self._by_name)

    def __repr__(self) -> str:
        return f"Toolset({list(self._by_name)!r})"


@overload
def tool(function: Function, /) -> Tool: ...
@overload
def tool(function: None = None, /, **options: Unpack[ToolOptions]) -> Callable[[Function], Tool]: ...
def tool(function: Function | None = None, /, **options: Unpack[ToolOptions]) -> Tool | Callable[[Function], Tool]:
    """Makes a tool of a function: ``@tool`` or ``@tool(effects=["acts"], approval="always")``.

    The options are those of :class:`Tool`. The tool can still be called as the function was.
    """
    if function is not None:
        return Tool(function, **options)
    return lambda given: Tool(given, **options)
