"""From what a program passes to what a Python function expects."""

from __future__ import annotations

import enum
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Union, get_args, get_origin, get_type_hints

from chrysalid.schema import is_dataclass, standard_name

__all__ = ["Reader", "reader_of"]

Reader = Callable[[Any], Any]


def reader_of(hint: Any) -> Reader | None:
    """What makes an argument into what an annotation says, where that is more than to take it as it is."""
    origin = get_origin(hint)
    arguments = get_args(hint)
    if origin is typing.Annotated:
        return reader_of(arguments[0])
    if origin is Union or origin is types.UnionType:
        return _of_union(arguments)
    if origin is tuple:
        return _of_tuple(arguments)
    if isinstance(origin, type):
        return _of_generic(origin, arguments, hint)
    if isinstance(hint, type):
        return _of_class(hint)
    alias = getattr(hint, "__value__", None) or getattr(hint, "__supertype__", None)
    return None if alias is None else reader_of(alias)


def _of_generic(origin: type, arguments: tuple[Any, ...], hint: Any) -> Reader | None:
    if hasattr(origin, "model_validate") or is_dataclass(origin):
        return _of_class(hint) if hasattr(hint, "model_validate") else _of_class(origin)
    if issubclass(origin, Mapping):
        return _of_mapping(arguments)
    if issubclass(origin, AbstractSet):
        items = _of_items(frozenset if origin is frozenset else set, arguments[0])
        return lambda value: items(_items(value))
    if issubclass(origin, (Sequence, Iterable)):
        return _of_items(list, arguments[0]) if reader_of(arguments[0]) is not None else None
    return None


def _of_items(made: Callable[[Any], Any], hint: Any) -> Reader:
    item = reader_of(hint)
    return made if item is None else lambda value: made([item(one) for one in value])


def _of_union(arguments: tuple[Any, ...]) -> Reader | None:
    """Takes a value as it is where one of the types is its own, else by the first that can read it."""
    readers = [reader for reader in map(reader_of, arguments) if reader is not None]
    if not readers:
        return None
    plain = tuple(hint for hint in arguments if isinstance(hint, type) and reader_of(hint) is None)

    def read(value: Any) -> Any:
        if isinstance(value, plain):
            return value
        refusal: Exception | None = None
        for reader in readers:
            try:
                return reader(value)
            except Exception as error:
                refusal = refusal or error
        raise refusal or TypeError("fits none of the types")

    return read


def _of_tuple(arguments: tuple[Any, ...]) -> Reader:
    if arguments[1:] == (...,):
        return _of_items(tuple, arguments[0])
    readers = [reader_of(argument) for argument in arguments]
    return lambda value: tuple(
        item if reader is None else reader(item) for reader, item in zip(readers, value, strict=True)
    )


def _of_mapping(arguments: tuple[Any, ...]) -> Reader | None:
    """Names of properties are texts, also where a function wants numbers."""
    if not arguments:
        return None
    key = int if arguments[0] is int else None
    value = reader_of(arguments[1])
    if key is None and value is None:
        return None
    return lambda given: {
        (name if key is None else key(name)): (item if value is None else value(item)) for name, item in given.items()
    }


def _of_class(hint: type) -> Reader | None:
    if hasattr(hint, "model_validate"):
        return typing.cast("Reader", hint.model_validate)
    if is_dataclass(hint):
        return _Record(hint)
    named = standard_name(hint)
    if named == "Decimal":
        # A number by its shortest digits, and not by all the binary ones.
        return lambda value: hint(repr(value) if isinstance(value, float) else value)
    if named is not None or issubclass(hint, enum.Enum):
        return hint
    return _PLAIN.get(hint)


class _Record:
    """Makes a dataclass of an object. Its annotations are read at the first use, so it may hold itself."""

    def __init__(self, kind: type) -> None:
        self._kind = kind
        self._readers: dict[str, Reader | None] | None = None

    def __call__(self, value: Any) -> Any:
        if isinstance(value, self._kind):
            return value
        if self._readers is None:
            hints = get_type_hints(self._kind, include_extras=True)
            self._readers = {name: reader_of(hint) for name, hint in hints.items()}
        read = {}
        for name, given in value.items():
            reader = self._readers.get(name)
            read[name] = given if reader is None else reader(given)
        return self._kind(**read)


def _float(value: Any) -> float:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    raise TypeError(f"is no number but a {type(value).__name__}")


def _int(value: Any) -> int:
    """A plain number, also of a ``BigInt`` and of a whole number that JavaScript does not count exactly."""
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    if whole and not isinstance(value, bool):
        return int(value)
    raise TypeError(f"is no whole number but a {type(value).__name__}")


def _datetime(value: Any) -> datetime:
    if isinstance(value, datetime):
        return value
    if isinstance(value, str):
        read = datetime.fromisoformat(value)
        return read if read.tzinfo is not None else read.replace(tzinfo=UTC)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return datetime.fromtimestamp(value / 1000, tz=UTC)
    raise TypeError(f"is no Date but a {type(value).__name__}")


def _date(value: Any) -> date:
    return value.date() if isinstance(value, datetime) else date.fromisoformat(value)


def _time(value: Any) -> time:
    return value.timetz() if isinstance(value, datetime) else time.fromisoformat(value)


def _timedelta(value: Any) -> timedelta:
    return timedelta(seconds=value)


def _bytes(value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    raise TypeError(f"is no Uint8Array but a {type(value).__name__}")


def _items(value: Any) -> Any:
    if isinstance(value, (list, set)):
        return value
    raise TypeError(f"is no Set but a {type(value).__name__}")


_PLAIN: dict[type, Reader] = {
    int: _int,
    float: _float,
    datetime: _datetime,
    date: _date,
    time: _time,
    timedelta: _timedelta,
    bytes: _bytes,
    bytearray: lambda value: bytearray(_bytes(value)),
    tuple: tuple,
    set: lambda value: set(_items(value)),
    frozenset: lambda value: frozenset(_items(value)),
}
