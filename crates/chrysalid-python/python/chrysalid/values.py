"""Values that cross between Python and programs.

===================================  ==============================================================
JavaScript                           Python
===================================  ==============================================================
``undefined``, a hole in an array    ``UNDEFINED``
``null``                             ``None``
``true``, ``false``                  ``bool``
number                               ``int`` where it is whole and safe (up to 2**53 - 1), else ``float``
``BigInt``                           ``BigInt``, which is an ``int``
string                               ``str``
``Uint8Array``, ``ArrayBuffer``,     ``bytes``
``Uint8ClampedArray``, ``DataView``
other typed arrays                   ``array.array``; ``Float16Array`` a ``list`` of ``float``
``Date``                             ``datetime`` in UTC; ``float`` of milliseconds where Python's years end, NaN if invalid
``RegExp``                           ``RegExp``
array                                ``list``
plain object, instance of a class    ``dict``
``Map``                              ``Map``
``Set``                              ``set``; ``list`` where an item cannot be hashed
error                                ``JSError``
function, symbol, promise            ``Description``, only in the value of a program
opaque handle                        ``Handle``
===================================  ==============================================================

The other way the same holds, and also: an ``int`` that is not safe becomes a ``BigInt``; ``tuple`` an array;
``bytearray`` and ``memoryview`` a ``Uint8Array``; ``frozenset`` a ``Set``; a ``dict`` with a key that is no ``str`` a
``Map``; dataclasses, pydantic models and other mappings plain objects; an ``Enum`` its value; ``date``, ``time``,
``Decimal``, ``UUID`` and paths strings; any exception an error with the name of its class. A ``datetime`` without a zone
counts as UTC. What stands twice in a value is one thing on the other side, and a cycle stays one.
"""

from __future__ import annotations

import array
import dataclasses
import enum
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from pathlib import PurePath
from typing import Any, Final, NamedTuple
from uuid import UUID

__all__ = ["UNDEFINED", "BigInt", "Description", "JSError", "Map", "RegExp", "Undefined"]


class Undefined:
    """The type of ``UNDEFINED``, JavaScript's ``undefined``. It is falsy, and there is one."""

    _only: Undefined | None = None

    def __new__(cls) -> Undefined:
        if cls._only is None:
            cls._only = super().__new__(cls)
        return cls._only

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "UNDEFINED"

    def __reduce__(self) -> str:
        return "UNDEFINED"


UNDEFINED: Final = Undefined()


class BigInt(int):
    """A JavaScript ``BigInt``; goes back as one, whatever its size."""

    def __repr__(self) -> str:
        return f"BigInt({int(self)})"


class Description(str):
    """A short text in place of something that does not cross, such as a function."""

    __slots__ = ()


class RegExp(NamedTuple):
    """A regular expression as its two texts."""

    source: str
    flags: str = ""


class Map:
    """A JavaScript ``Map``: pairs in order, with keys of any kind."""

    __slots__ = ("pairs",)

    def __init__(self, pairs: Iterable[tuple[Any, Any]] | Mapping[Any, Any] = ()) -> None:
        given = pairs.items() if isinstance(pairs, Mapping) else pairs
        self.pairs: list[tuple[Any, Any]] = list(given)

    def __getitem__(self, key: Any) -> Any:
        for known, value in self.pairs:
            if known is key or known == key:
                return value
        raise KeyError(key)

    def get(self, key: Any, default: Any = None) -> Any:
        """The value of a key, or the default."""
        try:
            return self[key]
        except KeyError:
            return default

    def __contains__(self, key: object) -> bool:
        return any(known is key or known == key for known, _ in self.pairs)

    def __iter__(self) -> Iterator[Any]:
        return (key for key, _ in self.pairs)

    def __len__(self) -> int:
        return len(self.pairs)

    def items(self) -> list[tuple[Any, Any]]:
        """The pairs, in order."""
        return list(self.pairs)

    def dict(self) -> dict[Any, Any]:
        """A ``dict`` of the same pairs, where every key can be hashed."""
        return dict(self.pairs)

    def __eq__(self, other: object) -> bool:
        return self.pairs == other.pairs if isinstance(other, Map) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Map({self.pairs!r})"


class JSError(Exception):
    """A JavaScript error as a value: what a program returned or threw. Never raised by the package."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name
        self.message = message
        self.stack: str | None = None
        self.details: str | None = None
        self.cause: Any = None
        self.errors: list[Any] | None = None

    def __repr__(self) -> str:
        return f"JSError({self.name!r}, {self.message!r})"


# What follows is called from `_native`.

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=timezone.utc)
_CODES: Final = {
    "Int8Array": "b",
    "Int16Array": "h",
    "Uint16Array": "H",
    "Int32Array": "i",
    "Uint32Array": "I",
    "BigInt64Array": "q",
    "BigUint64Array": "Q",
    "Float32Array": "f",
    "Float64Array": "d",
}
_NAMES: Final = {code: name for name, code in _CODES.items()} | {"B": "Uint8Array"}


def _date(millis: float) -> datetime | float:
    try:
        return _EPOCH + timedelta(milliseconds=millis)
    except (OverflowError, ValueError):
        return millis


def _typed_array(name: str, data: bytes) -> array.array[Any] | list[float]:
    if name == "Float16Array":
        return memoryview(data).cast("e").tolist()  # type: ignore[no-any-return, call-overload]
    made: array.array[Any] = array.array(_CODES[name])
    made.frombytes(data)
    return made


def _simplify(value: Any) -> tuple[str, Any]:
    """What crosses in the place of a value: ``date`` in milliseconds, the name of a typed array with its bytes, ``value``
    for a thing that stays one thing where it stands twice, ``same`` for one that does not."""
    match value:
        case datetime():
            aware = value if value.tzinfo is not None else value.replace(tzinfo=timezone.utc)
            return "date", (aware - _EPOCH) / timedelta(milliseconds=1)
        case array.array() if value.typecode in _NAMES:
            return _NAMES[value.typecode], value.tobytes()
        case array.array():
            return "same", value.tolist()
        case memoryview():
            return "same", value.tobytes()
        case enum.Enum():
            return "same", value.value
        case date() | time():
            return "same", value.isoformat()
        case timedelta():
            return "same", value.total_seconds()
        case Decimal() | UUID() | PurePath():
            return "same", str(value)
        case type():
            pass
        case Mapping():
            return "value", dict(value)
        case _ if dataclasses.is_dataclass(value):
            return "value", {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        case _ if hasattr(value, "model_dump"):
            return "value", value.model_dump()
        case _ if hasattr(value, "tolist"):
            return "same", value.tolist()
        case _ if hasattr(value, "__index__"):
            return "same", int(value)
    kind = type(value)
    raise TypeError(f"a value of type {kind.__module__}.{kind.__qualname__} does not cross to a program")
