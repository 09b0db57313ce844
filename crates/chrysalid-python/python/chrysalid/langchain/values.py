"""Values on their way between Python tools and the program: what a tool gave, as plain data, and a call's arguments."""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from chrysalid import UNDEFINED, ToolError

_DEEPEST = 200
_LARGEST_INTEGER = 2**63 - 1


def plain(value: Any, depth: int = 0) -> Any:
    """`value` as data that the program, a row and JSON-minded savers all take.

    Models and dataclasses become objects, sets and tuples lists, anything else its text; so do integers beyond 64 bits,
    which savers cannot keep.
    """
    if depth > _DEEPEST:
        return str(value)
    if value is None or isinstance(value, (bool, float, str, bytes, dt.datetime)):
        return value
    if isinstance(value, enum.Enum):
        return plain(value.value, depth + 1)
    if isinstance(value, int):
        return int(value) if abs(value) <= _LARGEST_INTEGER else str(int(value))
    if isinstance(value, BaseModel):
        return plain(value.model_dump(), depth + 1)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name), depth + 1) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item, depth + 1) for item in value]
    return str(value)


def arguments_of(value: Any, name: str) -> dict[str, Any]:
    """The one object a tool takes; nothing at all is an empty one, and undefined properties are left out."""
    if value is None or value is UNDEFINED:
        return {}
    if not isinstance(value, Mapping):
        raise ToolError(f"{name} takes one object with named arguments, got {type(value).__name__}", name="TypeError")
    return {str(key): _defined(item) for key, item in value.items() if item is not UNDEFINED}


def _defined(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _defined(item) for key, item in value.items() if item is not UNDEFINED}
    if isinstance(value, list):
        return [None if item is UNDEFINED else _defined(item) for item in value]
    return value
