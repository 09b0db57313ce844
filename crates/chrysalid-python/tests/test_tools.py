"""Tools: schemas of Python functions, arguments on their way to parameters, failures on their way to programs."""

import enum
import functools
import json
import sys
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, NewType, NotRequired, Optional, Required, TypedDict, Union
from uuid import UUID

import pydantic
import pytest

import chrysalid
from chrysalid import CallContext, Tool, ToolError, Toolset, tool

if typing.TYPE_CHECKING:
    from somewhere import Unknown  # type: ignore[import-not-found]


class Color(enum.Enum):
    RED = "r"
    BLUE = "b"


class Person(TypedDict):
    name: str
    age: NotRequired[int]


class Loose(TypedDict, total=False):
    name: Required[str]
    nick: Annotated[str, "how friends say it"]


@dataclass
class Point:
    x: float
    y: float = 0
    tags: list[str] = field(default_factory=list)


@dataclass
class Node:
    value: int
    next: "Node | None" = None


class Tree(pydantic.BaseModel):
    value: int
    kids: list["Tree"] = []


class Mail(pydantic.BaseModel):
    to: str = pydantic.Field(description="address")
    at: datetime | None = None


class Pair(NamedTuple):
    a: int
    b: int


UserId = NewType("UserId", int)

SCHEMAS: list[tuple[Any, Any]] = [
    (str, {"type": "string"}),
    (int, {"type": "integer"}),
    (float, {"type": "number"}),
    (bool, {"type": "boolean"}),
    (None, {"type": "null"}),
    (Any, {}),
    (object, {}),
    (list, {"type": "array"}),
    (list[int], {"type": "array", "items": {"type": "integer"}}),
    (list[Any], {"type": "array", "items": {}}),
    (Sequence[str], {"type": "array", "items": {"type": "string"}}),
    (Iterable[str], {"type": "array", "items": {"type": "string"}}),
    (dict, {"type": "object"}),
    (dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
    (dict[int, str], {"type": "object", "additionalProperties": {"type": "string"}}),
    (Mapping[str, Any], {"type": "object", "additionalProperties": True}),
    (dict[tuple[int, int], str], {}),
    (tuple[int, ...], {"type": "array", "items": {"type": "integer"}}),
    (
        tuple[int, str],
        {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "minItems": 2, "maxItems": 2},
    ),
    (Optional[int], {"anyOf": [{"type": "integer"}, {"type": "null"}]}),  # noqa: UP045
    (int | None, {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
    (Union[int, str], {"anyOf": [{"type": "integer"}, {"type": "string"}]}),  # noqa: UP007
    (int | Any, {}),
    (bytes | None, {}),
    (Literal["a", 1, True], {"enum": ["a", 1, True]}),
    (Literal[Color.RED], {"enum": ["r"]}),
    (Color, {"enum": ["r", "b"]}),
    (Annotated[int, "how many"], {"type": "integer", "description": "how many"}),
    (Annotated[int, {"no": "hash"}], {"type": "integer"}),
    (Annotated[int, pydantic.Field(ge=1)], {"type": "integer", "minimum": 1}),
    (UserId, {"type": "integer"}),
    (UUID, {"type": "string", "format": "uuid"}),
    (date, {"type": "string", "format": "date"}),
    (Decimal, {"type": ["string", "number"]}),
    (Path, {"type": "string"}),
    (datetime, {"description": "a Date, or a text such as 2026-01-31T12:00:00Z"}),
    (bytes, {"description": "a Uint8Array"}),
    (set[int], {"description": "a Set or an array"}),
    (
        Person,
        {
            "type": "object",
            "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
            "required": ["name"],
        },
    ),
    (
        Loose,
        {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "nick": {"type": "string", "description": "how friends say it"},
            },
            "required": ["name"],
        },
    ),
    (
        Point,
        {
            "type": "object",
            "properties": {
                "x": {"type": "number"},
                "y": {"type": "number"},
                "tags": {"type": "array", "items": {"type": "string"}},
            },
            "required": ["x"],
        },
    ),
    (Callable[[int], int], {}),
]


@pytest.mark.parametrize(("hint", "schema"), SCHEMAS, ids=lambda part: str(part)[:40])
def test_schema_of_a_parameter(hint: Any, schema: Any) -> None:
    def takes(v: Any) -> None: ...

    takes.__annotations__["v"] = hint
    made = Tool(takes).input_schema
    assert made is not None
    assert made == {
        "type": "object",
        "properties": {"v": schema},
        "required": ["v"],
        "additionalProperties": False,
    }


def test_schema_of_a_pydantic_model() -> None:
    def send(mail: Mail) -> None: ...

    made = Tool(send).input_schema
    assert made is not None
    properties = made["properties"]["mail"]["properties"]
    assert properties["to"] == {"type": "string", "title": "To", "description": "address"}


def test_definitions_stand_where_references_look() -> None:
    def takes(trees: list[Tree], node: Node, more: dict[str, Tree]) -> None: ...

    made = Tool(takes).input_schema
    assert made is not None
    assert set(made["$defs"]) == {"Tree", "Node"}
    assert made["properties"]["node"] == {"$ref": "#/$defs/Node"}
    assert made["$defs"]["Node"]["properties"]["next"] == {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}]}


def test_definitions_of_one_name_are_kept_apart() -> None:
    def other() -> Any:
        class Leaf(pydantic.BaseModel):
            text: str

        class Tree(pydantic.BaseModel):
            leaves: list[Leaf]
            kids: list["Tree"] = []

        return Tree

    def takes(a: Any, b: Any) -> None: ...

    takes.__annotations__.update(a=Tree, b=other())
    made = Tool(takes).input_schema
    assert made is not None
    assert set(made["$defs"]) == {"Tree", "Leaf", "Tree2"}
    assert made["properties"]["b"]["$ref"] == "#/$defs/Tree2"
    assert made["$defs"]["Tree2"]["properties"]["kids"]["items"] == {"$ref": "#/$defs/Tree2"}


def test_defaults() -> None:
    def takes(
        a: int,
        *,
        b: int = 3,
        c: str | None = None,
        d: int = None,  # type: ignore[assignment]  # noqa: RUF013
        e: float = float("inf"),
        f: list[int] = [],  # noqa: B006
        g: Color = Color.RED,
    ) -> None: ...

    made = Tool(takes).input_schema
    assert made is not None
    assert made["required"] == ["a"]
    assert made["properties"] == {
        "a": {"type": "integer"},
        "b": {"type": "integer", "default": 3},
        "c": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "d": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "e": {"type": "number"},
        "f": {"type": "array", "items": {"type": "integer"}},
        "g": {"enum": ["r", "b"]},
    }


def test_results() -> None:
    def gives() -> list[Point]: ...  # type: ignore[empty-body]

    async def later() -> dict[str, int]: ...  # type: ignore[empty-body]

    def promises() -> typing.Awaitable[int]: ...  # type: ignore[empty-body]

    def nothing() -> None: ...

    def unknown(): ...  # type: ignore[no-untyped-def]

    assert (Tool(gives).output_schema or {})["items"]["required"] == ["x", "y", "tags"]
    assert Tool(later).output_schema == {"type": "object", "additionalProperties": {"type": "integer"}}
    assert Tool(promises).output_schema == {"type": "integer"}
    assert Tool(nothing).output_schema == {"type": "null"}
    assert Tool(unknown).output_schema is None


ARGUMENTS: list[tuple[Any, str, Any]] = [
    (float, "1", 1.0),
    (int, "2 ** 53 - 1", 2**53 - 1),
    (int, "2n ** 63n", 2**63),
    (str, "'x'", "x"),
    (Color, "'b'", Color.BLUE),
    (list[Color], "['b', 'r']", [Color.BLUE, Color.RED]),
    (Color | None, "null", None),
    (Point, "({ x: 1 })", Point(1.0)),
    (list[Point], "[{ x: 1, y: 2, tags: ['t'] }]", [Point(1.0, 2.0, ["t"])]),
    (dict[str, Point], "({ p: { x: 1 } })", {"p": Point(1.0)}),
    (dict[int, str], "({ 5: 'x' })", {5: "x"}),
    (Node, "({ value: 1, next: { value: 2 } })", Node(1, Node(2))),
    (Mail, "({ to: 'a' })", Mail(to="a")),
    (list[Mail], "[{ to: 'a' }]", [Mail(to="a")]),
    (Mail | None, "({ to: 'a', at: new Date(0) })", Mail(to="a", at=datetime(1970, 1, 1, tzinfo=UTC))),
    (Person, "({ name: 'n' })", {"name": "n"}),
    (datetime, "new Date(86400000)", datetime(1970, 1, 2, tzinfo=UTC)),
    (datetime, "'2020-01-02T03:04:05Z'", datetime(2020, 1, 2, 3, 4, 5, tzinfo=UTC)),
    (datetime, "'2020-01-02'", datetime(2020, 1, 2, tzinfo=UTC)),
    (datetime, "86400000", datetime(1970, 1, 2, tzinfo=UTC)),
    (date, "'2020-01-02'", date(2020, 1, 2)),
    (timedelta, "90", timedelta(seconds=90)),
    (Decimal, "'1.10'", Decimal("1.10")),
    (Decimal, "0.1", Decimal("0.1")),
    (UUID, "'00000000-0000-0000-0000-000000000001'", UUID(int=1)),
    (Path, "'a/b'", Path("a/b")),
    (bytes, "new Uint8Array([1])", b"\x01"),
    (bytearray, "new Uint8Array([1])", bytearray(b"\x01")),
    (set[int], "new Set([1])", {1}),
    (set[int], "[1, 1]", {1}),
    (frozenset[str], "['a']", frozenset(["a"])),
    (tuple[int, ...], "[1, 2]", (1, 2)),
    (tuple[int, Color], "[1, 'r']", (1, Color.RED)),
    (int, "1e300", int(1e300)),
    (float | Color, "'r'", Color.RED),
    (float | None, "null", None),
    (int | float, "1.5", 1.5),
    (int | str, "'5'", "5"),
    (int | bool, "true", True),
    (dict[str, int], "({ a: 2n ** 60n })", {"a": 2**60}),
    (int | Color, "5", 5),
    (int | Color, "'r'", Color.RED),
    (Annotated[float, "f"], "2", 2.0),
    (UserId, "3", 3),
    (Any, "({ a: undefined })", {"a": chrysalid.UNDEFINED}),
]


@pytest.mark.parametrize(("hint", "code", "expected"), ARGUMENTS, ids=lambda part: str(part)[:40])
def test_arguments_become_what_is_annotated(engine: chrysalid.Engine, hint: Any, code: str, expected: Any) -> None:
    seen = []

    def takes(v: Any) -> None:
        seen.append(v)

    takes.__annotations__["v"] = hint
    outcome = engine.session([takes]).run(f"await tools.takes({{ v: {code} }})")
    assert outcome.error is None, str(outcome.error)
    assert seen == [expected]
    assert type(seen[0]) is type(expected)


REFUSED: list[tuple[Any, str, str]] = [
    (int, "'x'", "takes"),
    (int, "1.5", "takes"),
    (Color, "'g'", "takes"),
    (list[int], "['x']", "takes"),
    (Point, "({ y: 1 })", "takes"),
    (bytes, "'text'", "v: is no Uint8Array but a str (got 'text')"),
    (datetime, "'soon'", "v: Invalid isoformat string: 'soon' (got 'soon')"),
    (datetime, "({})", "v: is no Date but a dict (got {})"),
    (set[int], "'text'", "v: is no Set but a str (got 'text')"),
    (UUID, "'x'", "v: badly formed hexadecimal UUID string (got 'x')"),
]


@pytest.mark.parametrize(("hint", "code", "message"), REFUSED, ids=lambda part: str(part)[:40])
def test_arguments_that_do_not_fit(engine: chrysalid.Engine, hint: Any, code: str, message: str) -> None:
    seen = []

    def takes(v: Any) -> None:
        seen.append(v)

    takes.__annotations__["v"] = hint
    outcome = engine.session([takes]).run(f"await tools.takes({{ v: {code} }})")
    assert outcome.error is not None
    assert outcome.error.name == "ToolInputError"
    assert message in outcome.error.message
    assert seen == []


class Strict(pydantic.BaseModel):
    name: str

    @pydantic.field_validator("name")
    @classmethod
    def short(cls, name: str) -> str:
        if len(name) > 3:
            raise ValueError("longer than 3")
        return name


def test_what_pydantic_refuses_is_told(engine: chrysalid.Engine) -> None:
    def takes(v: Strict) -> None: ...

    error = engine.session([takes]).run("await tools.takes({ v: { name: 'long name' } })").error
    assert error is not None
    assert (error.name, error.message) == ("ToolInputError", "v: name: Value error, longer than 3")


def test_kinds_of_parameters(engine: chrysalid.Engine) -> None:
    def places(a: int, b: int = 2, /, c: int = 3, *rest: int, d: int = 4, **more: Any) -> Any:
        return [a, b, c, rest, d, more]

    session = engine.session([places])
    assert session.run("await tools.places({ a: 1 })").value == [1, 2, 3, [], 4, {}]
    assert session.run("await tools.places({ a: 1, c: 7, d: 8, e: 9 })").value == [1, 2, 7, [], 8, {"e": 9}]
    assert session.run("await tools.places({ a: 1, b: 5 })").value == [1, 5, 3, [], 4, {}]


def test_unknown_parameters_are_refused(engine: chrysalid.Engine) -> None:
    def takes(a: int = 0) -> int:
        return a

    session = engine.session([takes])
    assert session.run("await tools.takes({})").value == 0
    assert session.run("await tools.takes()").value == 0
    error = session.run("await tools.takes({ aa: 1 })").error
    assert error is not None
    assert error.name == "ToolInputError"
    error = session.run("await tools.takes(5)").error
    assert error is not None
    assert error.name == "ToolInputError"


class Service:
    def __init__(self, base: int) -> None:
        self.base = base

    def add(self, n: int) -> int:
        """Adds to the base."""
        return self.base + n

    @classmethod
    def make(cls, n: int) -> int:
        return n

    @staticmethod
    def double(n: int) -> int:
        return n * 2


class Adder:
    """Adds three."""

    def __call__(self, n: int) -> int:
        return n + 3


class AsyncAdder:
    async def __call__(self, n: int) -> int:
        """Adds four."""
        return n + 4


def wraps(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def inner(*arguments: Any, **keywords: Any) -> Any:
        return function(*arguments, **keywords)

    return inner


def test_what_can_be_a_tool(engine: chrysalid.Engine) -> None:
    def add(a: int, n: int) -> int:
        """Adds two numbers."""
        return a + n

    @wraps
    def wrapped(n: int) -> int:
        """Wrapped."""
        return n

    partial = functools.partial(add, 1)
    tools: list[Any] = [
        Service(10).add,
        Service.make,
        Service.double,
        Tool(partial, name="partial"),
        Tool(functools.partial(add, a=2), name="keyword"),
        Tool(Adder(), name="adder"),
        Tool(AsyncAdder(), name="later"),
        Tool(lambda n: n * 3, name="triple"),
        wrapped,
    ]
    toolset = Toolset(tools)
    session = engine.session(toolset)
    code = """[
        await tools.add({ n: 1 }), await tools.make({ n: 2 }), await tools.double({ n: 2 }),
        await tools.partial({ n: 5 }), await tools.keyword({ n: 5 }), await tools.adder({ n: 1 }),
        await tools.later({ n: 1 }), await tools.triple({ n: 2 }), await tools.wrapped({ n: 6 }),
    ]"""
    assert session.run(code).value == [11, 2, 4, 6, 7, 4, 5, 6, 6]
    described = {item.name: item.description for item in toolset}
    assert described == {
        "add": "Adds to the base.",
        "make": "",
        "double": "",
        "partial": "Adds two numbers.",
        "keyword": "Adds two numbers.",
        "adder": "Adds three.",
        "later": "Adds four.",
        "triple": "",
        "wrapped": "Wrapped.",
    }
    for name in ("adder", "later", "partial", "wrapped"):
        made = toolset.get(name)
        assert made is not None
        assert made.input_schema == {
            "type": "object",
            "properties": {"n": {"type": "integer"}},
            "required": ["n"],
            "additionalProperties": False,
        }
    assert Tool(partial).name == "add"


def test_what_cannot_be_a_tool(engine: chrysalid.Engine) -> None:
    with pytest.raises(ValueError, match="a tool needs a name: the function has none"):
        Tool(lambda: 1)
    with pytest.raises(ValueError, match="a tool needs a name: the function has none"):
        Tool(Adder())
    with pytest.raises(ValueError, match="a tool needs a name: the function has none"):
        Tool()
    with pytest.raises(TypeError, match="a tool is made of a function, not of 5"):
        Tool(5, name="five")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match='approval is "never" or "always", not \'sometimes\''):
        Tool(name="t", approval="sometimes")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match='effect "sends" is none of "private", "untrusted", "acts"'):
        Tool(name="t", effects=["sends"])  # type: ignore[list-item]
    with pytest.raises(ValueError, match='deliver is "value", "handle" or "declassified", not "pointer"'):
        Tool(name="t", deliver="pointer")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match='decision "maybe" is none of "approve"'):
        Tool(name="t", approval_decisions=["maybe"])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="timeout of -1 seconds"):
        Tool(name="t", timeout=-1)
    with pytest.raises(TypeError, match="ask_when is a function of the argument, not 'big'"):
        Tool(name="t", ask_when="big")  # type: ignore[arg-type]

    async def later(argument: Any) -> bool:
        return True

    with pytest.raises(TypeError, match=r"ask_when is .* cannot be async"):
        Tool(name="t", ask_when=later)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="tools are a list, not <function"):
        engine.session(wraps)  # type: ignore[arg-type]
    with pytest.raises(chrysalid.CapabilityError):
        Toolset([Tool(name="same"), Tool(name="same")])
    with pytest.raises(chrysalid.CapabilityError):
        Toolset([Tool(name="")])


def test_schemas_that_are_no_schemas() -> None:
    with pytest.raises(ValueError, match="the input schema of tool 't' is no JSON: Out of range float"):
        Tool(name="t", input_schema={"minimum": float("nan")})
    circle: dict[str, Any] = {}
    circle["properties"] = circle
    with pytest.raises(ValueError, match="the output schema of tool 't' is no JSON: Circular reference"):
        Tool(name="t", output_schema=circle)
    with pytest.raises(ValueError, match="is no JSON: Object of type object"):
        Tool(name="t", input_schema={"default": object()})
    with pytest.raises(chrysalid.CapabilityError):
        Toolset([Tool(name="t", input_schema={"type": "objekt"})])


def test_one_name_is_not_its_letters(engine: chrysalid.Engine) -> None:
    made = Tool(name="t", effects="acts", approval_decisions="approve", approval_role="lead", approval="always")  # type: ignore[arg-type]
    session = engine.session([made])
    pending = session.run("await tools.t({})").pending[0]
    assert (pending.effects, pending.allowed, pending.roles) == (["acts"], ["approve"], ["lead"])
    with pytest.raises(chrysalid.DecisionNotAllowed):
        session.approve(pending.id)
    session.approve(pending.id, roles="lead")


def test_decorator(engine: chrysalid.Engine) -> None:
    @tool
    def plain(n: int) -> int:
        """Plain."""
        return n

    @tool(name="other", approval="always")
    def named(n: int) -> int:
        return n

    assert isinstance(plain, Tool)
    assert (plain.name, plain.description, named.name) == ("plain", "Plain.", "other")
    assert plain(4) == 4
    assert named(n=5) == 5
    assert engine.session([plain, named]).run("await tools.plain({ n: 1 })").value == 1
    with pytest.raises(TypeError, match="has no function"):
        Tool(name="t")()
    assert set(typing.get_type_hints(chrysalid.tools.ToolOptions)) == {
        name for name in Tool.__init__.__annotations__ if name not in ("function", "return")
    }


def test_a_tool_may_know_its_call(engine: chrysalid.Engine) -> None:
    def who(n: int, call: CallContext) -> Any:
        return [n, call.id, call.name, call.idempotency_key, call.cancelled]

    made = Tool(who)
    assert made.input_schema is not None
    assert list(made.input_schema["properties"]) == ["n"]
    first, second = engine.session([made]).run("[await tools.who({ n: 1 }), await tools.who({ n: 1 })]").value
    assert (first[:3], second[:3]) == ([1, "1.1", "who"], [1, "1.2", "who"])
    assert len(first[3]) == 64
    assert first[3] != second[3]


def test_annotations_that_name_something_unknown(engine: chrysalid.Engine) -> None:
    class Local(pydantic.BaseModel):
        n: int

    def takes(a: "Unknown", b: "int", c: "CallContext", d: "Local") -> "Unknown":
        assert isinstance(d, Local)
        return [a, b, c.id]

    made = Tool(takes)
    assert made.input_schema is not None
    assert made.input_schema["properties"]["a"] == {}
    assert made.input_schema["properties"]["b"] == {"type": "integer"}
    assert made.input_schema["properties"]["d"]["properties"]["n"]["type"] == "integer"
    value = engine.session([made]).run("await tools.takes({ a: 'x', b: 2, d: { n: 1 } })").value
    assert value == ["x", 2, "1.1"]


def test_raw(engine: chrysalid.Engine) -> None:
    session = engine.session([Tool(lambda argument: [argument], name="take", raw=True)])
    assert session.run("await tools.take({ a: 1 })").value == [{"a": 1}]
    assert session.run("await tools.take(5)").value == [5]
    assert session.run("await tools.take()").value == [{}]


def test_an_own_schema(engine: chrysalid.Engine) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 3}}, "required": ["n"]}
    session = engine.session([Tool(lambda n: n, name="take", input_schema=schema)])
    assert session.run("await tools.take({ n: 3 })").value == 3
    error = session.run("await tools.take({ n: 2 })").error
    assert error is not None
    assert error.name == "ToolInputError"


def fails(error: BaseException) -> Callable[[], None]:
    def fail() -> None:
        raise error

    return fail


class Custom(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no")


FAILURES: list[tuple[BaseException, tuple[str, str]]] = [
    (ToolError("no such user"), ("ToolError", "no such user")),
    (ToolError("later", name="Throttled", retryable=True), ("Throttled", "later")),
    (ToolError("in /etc/passwd it is"), ("ToolError", "in /etc/passwd it is")),
    (ValueError("bad value"), ("ToolError", "ValueError: bad value")),
    (KeyError("name"), ("ToolError", "KeyError: 'name'")),
    (ValueError(), ("ToolError", "ValueError")),
    (ValueError("first\nsecond /root/x/y"), ("ToolError", "ValueError: first")),
    (
        FileNotFoundError(2, "No such file or directory", "/root/secret.txt"),
        ("ToolError", "FileNotFoundError: No such file or directory"),
    ),
    (ValueError("cannot read /home/me/.ssh/id_rsa now"), ("ToolError", "ValueError: cannot read … now")),
    (ValueError("cannot read '/home/my documents/a.txt' now"), ("ToolError", "ValueError: cannot read … now")),
    (ValueError(r"in C:\Users\me\x.txt: hm"), ("ToolError", "ValueError: in …: hm")),
    (ValueError("at file:///etc/passwd."), ("ToolError", "ValueError: at …")),
    (ValueError("see /secret"), ("ToolError", "ValueError: see …")),
    (ValueError("see ~/x and ../y/z and ./k"), ("ToolError", "ValueError: see … and … and …")),
    (
        ValueError("GET https://api.example.com/v1/users failed"),
        ("ToolError", "ValueError: GET https://api.example.com/v1/users failed"),
    ),
    (ValueError("and/or 1/2 a / b"), ("ToolError", "ValueError: and/or 1/2 a / b")),
    (ValueError("x" * 1000), ("ToolError", "ValueError: " + "x" * 500)),
    (Custom(), ("ToolError", "Custom")),
    (ConnectionResetError("gone"), ("ToolError", "ConnectionResetError: gone")),
]


@pytest.mark.parametrize(("error", "expected"), FAILURES, ids=lambda part: repr(part)[:40])
def test_failures(engine: chrysalid.Engine, error: BaseException, expected: tuple[str, str]) -> None:
    session = engine.session([Tool(fails(error), name="go")])
    code = "let seen; try { await tools.go({}) } catch (error) { seen = [error.name, error.message] } seen"
    assert session.run(code).value == list(expected)


def test_an_endless_message_is_no_endless_search(engine: chrysalid.Engine) -> None:
    session = engine.session([Tool(fails(ValueError("/a" * 200_000 + "'" * 100_000)), name="go")])
    outcome = session.run("await tools.go({})")
    assert outcome.error is not None
    assert len(outcome.error.message) < 600


def test_a_retryable_failure_says_so(engine: chrysalid.Engine) -> None:
    session = engine.session([Tool(fails(TimeoutError("late")), name="late"), Tool(fails(ValueError("no")), name="no")])
    code = """const seen = [];
    for (const call of [tools.late, tools.no]) try { await call({}) } catch (error) { seen.push(error.retryable) }
    seen"""
    assert session.run(code).value == [True, False]


def test_toolset() -> None:
    def get_weather(city: Annotated[str, "name of the city"]) -> str:
        """The weather of a city."""
        return "fine"

    toolset = Toolset([get_weather, Tool(name="mail.send", description="Sends.", is_global=False)])
    assert len(toolset) == 2
    assert [item.name for item in toolset] == ["get_weather", "mail.send"]
    assert "mail.send" in toolset
    assert "mail" not in toolset
    assert toolset.get("none") is None
    assert Toolset.of(toolset) is toolset
    text = toolset.text()
    assert "getWeather" in text or "get_weather" in text
    assert "The weather of a city." in text
    assert toolset.expression("mail.send") == "tools.mail.send"
    assert toolset.expression("none") is None
    description = toolset.describe("get_weather")
    assert description is not None
    assert "name of the city" in description
    assert toolset.text(60).startswith("There are 2 tools, too many to show in full.")


def test_global_tools(engine: chrysalid.Engine) -> None:
    def task(description: str) -> str:
        return f"did {description}"

    session = engine.session([Tool(task, is_global=True)])
    assert session.run("await task({ description: 'x' })").value == "did x"
    assert session.run("Object.keys(tools)").value == []
    for code in ("task = 1", "globalThis.task = 1", "delete globalThis.task", "task.x = 1", "'use strict'; task = 1"):
        session.run(code)
        assert session.run("await task({ description: 'y' })").value == "did y", code
    assert session.run("Object.isFrozen(task)").value is True


@pytest.mark.parametrize(
    "name", ["Array", "eval", "delete", "undefined", "globalThis", "tools", "await", "console", "a-b", "a.b"]
)
def test_names_that_a_global_cannot_have(name: str) -> None:
    with pytest.raises(chrysalid.CapabilityError):
        Toolset([Tool(name=name, is_global=True)])


def test_the_schema_is_not_the_callers_own() -> None:
    schema: dict[str, Any] = {"type": "object"}
    made = Tool(name="t", input_schema=schema)
    schema["type"] = "string"
    assert made.input_schema == {"type": "object"}
    assert json.dumps(made.input_schema)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="the statement is newer")
def test_type_statement() -> None:
    names: dict[str, Any] = {}
    exec("type Number = int | None\ndef takes(v: Number) -> None: ...", names)
    made = Tool(names["takes"]).input_schema
    assert made is not None
    assert made["properties"]["v"] == {"anyOf": [{"type": "integer"}, {"type": "null"}]}
