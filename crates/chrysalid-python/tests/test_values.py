"""Values between Python and programs: every row of the table in ``chrysalid.values``, both ways."""

import array
import collections
import dataclasses
import enum
import math
import threading
import types
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from pathlib import PurePosixPath
from typing import Any
from uuid import UUID

import pydantic
import pytest

import chrysalid
from chrysalid import UNDEFINED, BigInt, Description, JSError, Map, RegExp

FROM_PROGRAMS = [
    ("undefined", UNDEFINED),
    ("[, 1]", [UNDEFINED, 1]),
    ("({ a: undefined })", {"a": UNDEFINED}),
    ("null", None),
    ("true", True),
    ("false", False),
    ("0", 0),
    ("1.5", 1.5),
    ("-7", -7),
    ("2 ** 53 - 1", 2**53 - 1),
    ("-(2 ** 53 - 1)", -(2**53 - 1)),
    ("2 ** 53", 2.0**53),
    ("1e308", 1e308),
    ("Infinity", math.inf),
    ("-Infinity", -math.inf),
    ("5n", BigInt(5)),
    ("-(2n ** 200n)", BigInt(-(2**200))),
    ("0n", BigInt(0)),
    ("'a\\u0000b'", "a\0b"),
    ("'\\u{1F600}'", "\U0001f600"),
    ("'x\\ud800y'", "x\ufffdy"),
    ("new Uint8Array([0, 255])", b"\x00\xff"),
    ("new Uint8ClampedArray([1, 2])", b"\x01\x02"),
    ("new Uint8Array([3, 4]).buffer", b"\x03\x04"),
    ("new DataView(new Uint8Array([5]).buffer)", b"\x05"),
    ("new Int8Array([-1])", array.array("b", [-1])),
    ("new Int16Array([-2])", array.array("h", [-2])),
    ("new Uint16Array([3])", array.array("H", [3])),
    ("new Int32Array([-4])", array.array("i", [-4])),
    ("new Uint32Array([5])", array.array("I", [5])),
    ("new BigInt64Array([-6n])", array.array("q", [-6])),
    ("new BigUint64Array([7n])", array.array("Q", [7])),
    ("new Float32Array([0.5])", array.array("f", [0.5])),
    ("new Float64Array([0.1])", array.array("d", [0.1])),
    ("new Float16Array([0.5, 2])", [0.5, 2.0]),
    ("new Date(86400000)", datetime(1970, 1, 2, tzinfo=UTC)),
    ("new Date(-1)", datetime(1969, 12, 31, 23, 59, 59, 999000, tzinfo=UTC)),
    ("new Date(8.64e15)", 8.64e15),
    ("/a+/gi", RegExp("a+", "gi")),
    ("[1, [2]]", [1, [2]]),
    ("({ a: { b: 1 } })", {"a": {"b": 1}}),
    ("class Point { x = 1 } new Point()", {"x": 1}),
    ("new Map([['a', 1], [{ k: 1 }, 2]])", Map([("a", 1), ({"k": 1}, 2)])),
    ("new Set([1, 'a', null])", {1, "a", None}),
    ("new Set([{ a: 1 }])", [{"a": 1}]),
]


@pytest.mark.parametrize(("code", "expected"), FROM_PROGRAMS)
def test_from_a_program(session: chrysalid.Session, code: str, expected: Any) -> None:
    value = session.run(f"{code};" if code.startswith("class") else code).value
    assert value == expected
    assert type(value) is type(expected)


def test_kinds_of_numbers(session: chrysalid.Session) -> None:
    value = session.run("[1, 1.0, -0, 0.5, NaN]").value
    assert [type(number) for number in value] == [int, int, float, float, float]
    assert math.copysign(1, value[2]) == -1
    assert math.isnan(value[4])


def test_an_invalid_date_is_nan(session: chrysalid.Session) -> None:
    assert math.isnan(session.run("new Date(NaN)").value)


def test_errors_come_out_whole(session: chrysalid.Session) -> None:
    error = session.run("new RangeError('far', { cause: new TypeError('near') })").value
    assert isinstance(error, JSError)
    assert (error.name, error.message, str(error)) == ("RangeError", "far", "far")
    assert isinstance(error.cause, JSError)
    assert (error.cause.name, error.cause.message) == ("TypeError", "near")
    several = session.run("new AggregateError([new Error('one'), 2], 'all')").value
    assert [type(inner) for inner in several.errors] == [JSError, int]
    assert several.errors[0].message == "one"


def test_what_does_not_cross_is_described(session: chrysalid.Session) -> None:
    outcome = session.run("[() => 1, Symbol('s'), new WeakMap()]")
    assert all(type(item) is Description for item in outcome.value)
    assert not outcome.is_data
    assert not session.run("({ a: [new Map([[1, () => 1]])] })").is_data
    assert session.run("const o = { at: new Date(0) }; o.self = o; o").is_data
    assert "Function" in outcome.value[0]


def test_sharing_and_cycles_come_out(session: chrysalid.Session) -> None:
    shared = session.run("const one = { id: 1 }; ({ a: one, b: [one], m: new Map([['k', one]]) })").value
    assert shared["a"] == {"id": 1}
    assert shared["a"] is shared["b"][0] is shared["m"]["k"]
    circle = session.run("const o = { kids: [] }; o.self = o; o.kids.push(o); o").value
    assert circle["self"] is circle
    assert circle["kids"][0] is circle
    dated = session.run("const d = new Date(0), l = [1]; [d, l, d, l]").value
    assert dated[0] is dated[2]
    assert dated[1] is dated[3]


class Color(enum.Enum):
    RED = "r"


class Level(enum.IntEnum):
    LOW = 1


@dataclasses.dataclass
class Point:
    x: int
    y: list[int]


@dataclasses.dataclass(slots=True)
class Slotted:
    x: int


class Model(pydantic.BaseModel):
    name: str
    at: datetime | None = None
    inner: "Model | None" = None


TO_PROGRAMS = [
    (UNDEFINED, "v === undefined", True),
    (None, "v === null", True),
    (True, "v === true", True),
    (7, "v === 7", True),
    (-0.0, "Object.is(v, -0)", True),
    (math.nan, "Number.isNaN(v)", True),
    (2**53 - 1, "v === Number.MAX_SAFE_INTEGER", True),
    (2**53, "v === 2n ** 53n", True),
    (-(2**53), "v === -(2n ** 53n)", True),
    (2**63 + 1, "v === 2n ** 63n + 1n", True),
    (-(10**400), "v === -(10n ** 400n)", True),
    (BigInt(3), "v === 3n", True),
    (Level.LOW, "v === 1", True),
    ("a\0b", "v.length === 3 && v === 'a\\u0000b'", True),
    ("\ud800\0a", "v === '\\ufffd\\u0000a'", True),
    ("\ud83d\ude00", "v === '\\u{1F600}'", True),
    (b"\x00\xff", "v instanceof Uint8Array && v.join()", "0,255"),
    (bytearray(b"\x01"), "v instanceof Uint8Array && v.join()", "1"),
    (memoryview(b"\x02\x03"), "v instanceof Uint8Array && v.join()", "2,3"),
    (array.array("h", [-2, 3]), "v instanceof Int16Array && v.join()", "-2,3"),
    (array.array("d", [0.1]), "v instanceof Float64Array && v[0]", 0.1),
    (array.array("Q", [2**64 - 1]), "v instanceof BigUint64Array && v[0] === 2n ** 64n - 1n", True),
    (datetime(1970, 1, 2, tzinfo=UTC), "v instanceof Date && v.getTime()", 86400000),
    (datetime(1970, 1, 2), "v.getTime()", 86400000),
    (datetime(1970, 1, 1, tzinfo=timezone(timedelta(hours=2))), "v.getTime()", -7200000),
    (datetime(2020, 1, 1, microsecond=123999, tzinfo=UTC), "v.toISOString()", "2020-01-01T00:00:00.123Z"),
    (datetime(1969, 12, 31, 23, 59, 59, 999500, tzinfo=UTC), "v.getTime()", -1),
    (RegExp("a+", "g"), "v instanceof RegExp && String(v)", "/a+/g"),
    ([1, [2]], "JSON.stringify(v)", "[1,[2]]"),
    ((1, "a"), "Array.isArray(v) && JSON.stringify(v)", '[1,"a"]'),
    ({1}, "v instanceof Set && [...v].join()", "1"),
    (frozenset(["x"]), "v instanceof Set && [...v].join()", "x"),
    ({"a": {"b": None}}, "JSON.stringify(v)", '{"a":{"b":null}}'),
    ({5: "five", "a": 1}, "v[5] + v.a", "five1"),
    ({}, "JSON.stringify(v)", "{}"),
    ({1: "x", "1": "y"}, "v instanceof Map && v.get(1) + v.get('1')", "xy"),
    ({None: 1, 1.5: 2}, "v instanceof Map && v.get(null) + v.get(1.5)", 3),
    ({(1, 2): "t"}, "v instanceof Map && JSON.stringify([...v])", '[[[1,2],"t"]]'),
    ({True: 1}, "v instanceof Map && v.get(true)", 1),
    (Map([("k", 1)]), "v instanceof Map && v.get('k')", 1),
    (collections.OrderedDict(b=1, a=2), "Object.keys(v).join()", "b,a"),
    (collections.ChainMap({"a": 1}), "v.a", 1),
    (types.MappingProxyType({"a": 1}), "v.a", 1),
    (Point(1, [2]), "JSON.stringify(v)", '{"x":1,"y":[2]}'),
    (Slotted(4), "v.x", 4),
    (Model(name="n", inner=Model(name="i")), "v.inner.name + v.name + v.at", "innull"),
    (Color.RED, "v", "r"),
    (date(2020, 1, 2), "v", "2020-01-02"),
    (time(1, 2, 3), "v", "01:02:03"),
    (timedelta(minutes=1), "v", 60),
    (Decimal("1.10"), "v", "1.10"),
    (UUID(int=1), "v", "00000000-0000-0000-0000-000000000001"),
    (PurePosixPath("a/b"), "v", "a/b"),
    (KeyError("k"), "v instanceof Error && v.name", "KeyError"),
    (JSError("RangeError", "far"), "v instanceof RangeError && v.message", "far"),
]


@pytest.mark.parametrize(("value", "expression", "expected"), TO_PROGRAMS, ids=lambda part: repr(part)[:40])
def test_to_a_program(seen: Any, value: Any, expression: str, expected: Any) -> None:
    assert seen(value, expression) == expected


ROUND = [None, True, 1, 1.5, "text", b"bytes", [1, [2]], {"a": 1}, {1, 2}, BigInt(2**70), Map([(1, "a"), (None, 2)])]


@pytest.mark.parametrize("value", [*ROUND, datetime(2020, 2, 3, 4, 5, tzinfo=UTC), RegExp("x", "g"), UNDEFINED])
def test_there_and_back(passed: Any, value: Any) -> None:
    back = passed(value)
    assert back == value
    assert type(back) is type(value)


def test_m25_python_values_that_a_tool_may_return(seen: Any) -> None:
    given = {
        "d": datetime(2020, 1, 2, tzinfo=UTC),
        "x": Decimal("1.10"),
        "u": UUID(int=2),
        "s": {1, 2},
        "t": (1, "a"),
        "e": Color.RED,
        "b": b"\x00",
        "m": Model(name="m"),
        "dc": Point(1, []),
        "n": math.nan,
        5: "intkey",
    }
    expression = """[v.d.toISOString(), v.x, v.u, [...v.s], v.t, v.e, [...v.b], v.m, v.dc, Number.isNaN(v.n), v[5]]"""
    assert seen(given, expression) == [
        "2020-01-02T00:00:00.000Z",
        "1.10",
        "00000000-0000-0000-0000-000000000002",
        [1, 2],
        [1, "a"],
        "r",
        [0],
        {"name": "m", "at": None, "inner": None},
        {"x": 1, "y": []},
        True,
        "intkey",
    ]


def test_m25_an_unknown_type_is_refused_with_its_place(passed: Any) -> None:
    with pytest.raises(ValueError, match=r"result\.a\[1\]\.b: a value of type _thread\.lock does not cross"):
        passed({"a": [0, {"b": threading.Lock()}]})


def test_m12_a_lone_surrogate_is_one_replacement_character(seen: Any) -> None:
    assert seen("\ud800\0a", "[v.length, v]") == [3, "\ufffd\0a"]
    assert seen({"\ud800": 1}, "Object.keys(v)") == ["\ufffd"]


def test_sharing_and_cycles_go_in(seen: Any) -> None:
    shared = [1]
    assert seen({"a": shared, "b": {"c": shared}}, "v.a === v.b.c") is True
    circle: dict[str, Any] = {}
    circle["self"] = circle
    assert seen(circle, "v.self === v") is True
    point = Point(1, [])
    assert seen([point, point], "v[0] === v[1]") is True
    loop: list[Any] = []
    loop.append(Map([("k", loop)]))
    assert seen(loop, "v[0].get('k') === v") is True
    error = ValueError("x")
    assert seen([error, error], "v[0] === v[1]") is True


def test_equal_things_are_not_shared(seen: Any) -> None:
    assert seen([[1], [1]], "v[0] === v[1]") is False
    assert seen([(1,), (1,), (2,)], "v[0] === v[1]") is False


def test_references_count_every_kind_of_thing(seen: Any) -> None:
    last = {"last": 1}
    kinds = [b"x", bytearray(b"x"), (1,), {1}, frozenset([2]), datetime(2020, 1, 1), RegExp("a"), array.array("b", [1])]
    kinds += [Map([(1, 2)]), Point(1, [2]), ValueError("v"), {1.5: 2}, Model(name="m"), date(2020, 1, 1), Level.LOW]
    assert seen([*kinds, last, last], "v.at(-1) === v.at(-2) && v.at(-1).last") == 1


def test_temporaries_are_not_taken_for_each_other(seen: Any) -> None:
    class Fresh(Map):
        @property
        def pairs(self) -> Any:
            return ((number, [number]) for number in range(100))

        @pairs.setter
        def pairs(self, given: Any) -> None:
            pass

    assert seen(Fresh(), "[...v.values()].every((item, index) => item[0] === index)") is True


def test_depth_is_bounded_both_ways(engine: chrysalid.Engine, passed: Any) -> None:
    def nested(levels: int) -> Any:
        value: Any = []
        for _ in range(levels):
            value = [value]
        return value

    assert passed(nested(400)) == nested(400)
    with pytest.raises(ValueError, match=r"nested deeper than 512 levels"):
        passed(nested(600))
    session = engine.session()
    code = "let x = 1; for (let i = 0; i < 600; i++) x = [x]; x"
    assert session.run(code).status == "done"


def test_m13_deep_values_ten_times(engine: chrysalid.Engine) -> None:
    deep: Any = {}
    for _ in range(100_000):
        deep = {"x": deep}

    def give() -> Any:
        return deep

    def take(v: Any) -> int:
        return 1

    session = engine.session([give, take])
    for _ in range(10):
        outcome = session.run("await tools.give({})")
        assert outcome.status == "failed"
        assert "nested deeper than 512 levels" in str(outcome.error)
        outcome = session.run("{ let x = {}; for (let i = 0; i < 100000; i++) x = { x }; await tools.take({ v: x }) }")
        assert outcome.status == "failed"
        assert session.run("1 + 1").value == 2
    while deep:
        deep = deep["x"]


class Liar:
    __class__ = dict  # type: ignore[assignment]


class Raises(pydantic.BaseModel):
    def model_dump(self, **_: Any) -> Any:
        raise RuntimeError("no dump in /home/me/secret.py")


class Selfish:
    def tolist(self) -> Any:
        return self


class BadMapping(collections.abc.Mapping[str, int]):
    def __getitem__(self, key: str) -> int:
        raise LookupError("hm")

    def __iter__(self) -> Any:
        return iter(["a"])

    def __len__(self) -> int:
        return 1


class Grows:
    """Changes the dict that holds it while it is read."""

    def __init__(self, holder: Any) -> None:
        self.holder = holder

    def tolist(self) -> list[int]:
        self.holder[len(self.holder)] = 1
        return []


class BadText(Exception):
    def __str__(self) -> str:
        raise ValueError("no text")


class Awkward(Exception):
    def __init__(self, one: int, two: int) -> None:
        super().__init__(one, two)


class RaisesAwkward:
    def tolist(self) -> Any:
        raise Awkward(1, 2)


HOSTILE = [
    (object(), "a value of type object does not cross"),
    (Liar(), "a value of type test_values.Liar does not cross"),
    (Raises(), "RuntimeError: no dump in …"),
    (Selfish(), "nested deeper than 512"),
    (BadMapping(), "LookupError: hm"),
    ((number for number in range(3)), "a value of type generator does not cross"),
    (range(3), "a value of type range does not cross"),
    (1j, "a value of type complex does not cross"),
    (int, "a value of type type does not cross"),
    (print, "does not cross"),
    ([1, RaisesAwkward()], "Awkward: (1, 2)"),
    (BadText(), "program: no text"),
    (Map([(1,)]), "expected tuple of length 2"),  # type: ignore[list-item]
]


@pytest.mark.parametrize(("value", "message"), HOSTILE, ids=lambda part: type(part).__name__)
def test_hostile_objects_fail_the_call_alone(engine: chrysalid.Engine, value: Any, message: str) -> None:
    def give() -> Any:
        return value

    session = engine.session([give])
    outcome = session.run("let text; try { await tools.give({}) } catch (error) { text = error.message } text")
    assert message in outcome.value
    assert session.run("1 + 1").value == 2


def test_a_container_that_changes_while_it_is_read(seen: Any) -> None:
    growing: dict[Any, Any] = {}
    growing.update(a=Grows(growing), b=1)
    assert seen(growing, "v.b") == 1
    growing_list: list[Any] = []

    class Appends:
        def tolist(self) -> list[int]:
            if len(growing_list) < 10:
                growing_list.append(1)
            return []

    growing_list.append(Appends())
    assert seen(growing_list, "v.length >= 1") is True


def test_an_error_of_a_property_has_its_place_as_a_note(session: chrysalid.Session, engine: chrysalid.Engine) -> None:
    stepped = engine.session([chrysalid.Tool(name="out")])
    stepped.run("await tools.out({})")
    with pytest.raises(LookupError, match="hm") as caught:
        stepped.settle(stepped.pending[0].id, {"list": [BadMapping()]})
    assert caught.value.__notes__ == ["raised by result.list[0]"]


def test_a_huge_value_is_refused_and_not_a_crash(engine: chrysalid.Engine) -> None:
    def give(n: int) -> Any:
        return list(range(n))

    session = engine.session([give])
    outcome = session.run("await tools.give({ n: 1500000 })")
    assert outcome.status == "failed"
    assert session.run("(await tools.give({ n: 1000 })).length").value == 1000


def test_m09_a_diamond_chain_is_small(session: chrysalid.Session, seen: Any) -> None:
    value = session.run("let d = { leaf: 1 }; for (let i = 0; i < 30; i++) d = { l: d, r: d }; d").value
    assert value["l"] is value["r"]
    chain: Any = {"leaf": 1}
    for _ in range(30):
        chain = {"l": chain, "r": chain}
    assert seen(chain, "v.l === v.r") is True


def test_big_int() -> None:
    big = BigInt(7)
    assert big == 7
    assert (repr(big), str(big), f"{big}") == ("BigInt(7)", "7", "7")
    assert repr(BigInt(16**6000)).startswith("BigInt(0x1000")
    assert isinstance(big + 1, int)


def test_map() -> None:
    pairs = Map([("a", 1), ([1], 2)])
    assert pairs["a"] == 1
    assert pairs[[1]] == 2
    assert pairs.get("b", 3) == 3
    assert "a" in pairs
    assert "b" not in pairs
    assert list(pairs) == ["a", [1]]
    assert len(pairs) == 2
    assert Map({"x": 1}).dict() == {"x": 1}
    with pytest.raises(KeyError):
        pairs["b"]


def test_undefined() -> None:
    assert not UNDEFINED
    assert type(UNDEFINED)() is UNDEFINED
    assert repr(UNDEFINED) == "UNDEFINED"


def test_values_pickle_and_copy() -> None:
    import copy
    import pickle

    error = JSError("RangeError", "far")
    error.stack = "at 1:1"
    for value in (UNDEFINED, BigInt(5), Map([(1, 2)]), RegExp("a", "g"), Description("f")):
        assert pickle.loads(pickle.dumps(value)) == value
        assert copy.deepcopy(value) == value
    again = pickle.loads(pickle.dumps(error))
    assert (again.name, again.message, again.stack) == ("RangeError", "far", "at 1:1")
    failure = pickle.loads(pickle.dumps(chrysalid.ToolError("m", name="N", retryable=True)))
    assert (failure.message, failure.name, failure.retryable) == ("m", "N", True)
