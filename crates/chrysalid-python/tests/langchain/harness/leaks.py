"""Looks for a snapshot in things that other people get to see."""

from __future__ import annotations

import base64
import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

MAGIC = b"\x89CHRY\r\n\x1a"
"""The first bytes of every snapshot."""

TEXTS = (
    MAGIC.hex(),
    repr(MAGIC)[2:-1],
    *(base64.b64encode(bytes(shift) + MAGIC)[4 if shift else 0 : 10].decode() for shift in range(3)),
)
"""How they look in a text: hexadecimal, escaped, and Base64 at each of its three alignments."""


def has_image(value: Any) -> bool:
    """Whether a snapshot is anywhere inside."""
    return any(
        MAGIC in leaf if isinstance(leaf, bytes) else any(text in leaf for text in TEXTS) for leaf in leaves(value)
    )


def largest(value: Any) -> int:
    """The length of the largest text or byte string inside."""
    return max((len(leaf) for leaf in leaves(value)), default=0)


def leaves(value: Any, seen: set[int] | None = None) -> Iterator[bytes | str]:
    """All texts and byte strings inside a value, through containers and the attributes of objects."""
    seen = set() if seen is None else seen
    if isinstance(value, str):
        yield value
    elif isinstance(value, (bytes, bytearray, memoryview)):
        yield bytes(value)
    elif value is None or isinstance(value, (bool, int, float, type)) or callable(value) or id(value) in seen:
        return
    else:
        seen.add(id(value))
        for part in _parts(value):
            yield from leaves(part, seen)


def _parts(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        for key, part in list(value.items()):
            # LangGraph's own configuration carries the live saver and runtime, which are nothing that is shown.
            if not (isinstance(key, str) and key.startswith("__pregel")):
                yield key
                yield part
    elif isinstance(value, (list, tuple, set, frozenset)):
        yield from list(value)
    elif isinstance(value, BaseException):
        yield from value.args
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield getattr(value, field.name, None)
    elif hasattr(value, "model_fields_set"):
        yield dict(value)
    else:
        yield repr(value)
