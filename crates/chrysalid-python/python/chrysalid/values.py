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
``Date``                             ``datetime`` in UTC; ``float`` of milliseconds where Python's years end, NaN if
invalid ``RegExp``                           ``RegExp`` array                                ``list`` plain object,
instance of a class    ``dict`` ``Map``                              ``Map`` ``Set``
``set``; ``list`` where an item cannot be hashed error                                ``JSError`` function, symbol,
promise            ``Description``, only in the value of a program opaque handle                        ``Handle``
===================================  ==============================================================

The other way the same holds, and also: an ``int`` that is not safe becomes a ``BigInt``; ``tuple`` an array;
``bytearray`` and ``memoryview`` a ``Uint8Array``; ``frozenset`` a ``Set``. Keys of a ``dict`` that are ``int`` become
names of properties, as in JSON; a ``dict`` with a key of another kind becomes a ``Map``. Dataclasses, pydantic models
and other mappings become plain objects; an ``Enum`` its value; ``date``, ``time``, ``Decimal``, ``UUID`` and paths
strings; ``timedelta`` seconds; arrays and numbers of numpy lists and numbers; any exception an error with the name of
its class. A ``datetime`` without a zone counts as UTC. What stands twice in a value is one thing on the other side,
and a cycle stays one. Anything else is refused with a ``TypeError`` that says where it stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

__all__ = ["UNDEFINED", "BigInt", "Description", "JSError", "Map", "RegExp", "Undefined"]


class Undefined:
    """The type of ``UNDEFINED``, JavaScript's ``undefined``. It is falsy, and there is one."""

    _only: Undefined | None = None

    def __new__(cls) -> Undefined:  # noqa: PYI034
        """The one there is."""
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

    __slots__ = ()

    def __repr__(self) -> str:
        return f"BigInt({self})"

    def __str__(self) -> str:
        try:
            return int.__repr__(self)
        except ValueError:
            # Longer than Python turns into decimal digits.
            return hex(self)


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
        super().__init__(name, message)
        self.name = name
        self.message = message
        self.stack: str | None = None
        self.details: str | None = None
        self.cause: Any = None
        self.errors: list[Any] | None = None

    def __str__(self) -> str:
        return self.message

    def __repr__(self) -> str:
        return f"JSError({self.name!r}, {self.message!r})"
