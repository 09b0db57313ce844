"""How the rarer values cross. Called from ``_native``, and imported only when such a value is met.

What no program of the process has imported yet, such as ``decimal``, no value can be of: it is looked up where it
would be.
"""

from __future__ import annotations

import array
import struct
import sys
from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)
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
# Those that cross as their text.
_TEXTS: Final = (("decimal", "Decimal"), ("uuid", "UUID"), ("pathlib", "PurePath"))


def date_of(millis: float) -> datetime | float:
    """The time so many milliseconds after 1970; the number where Python's years end."""
    try:
        return _EPOCH + timedelta(milliseconds=millis)
    except (OverflowError, ValueError):
        return millis


def typed_array(name: str, data: bytes) -> array.array[Any] | list[float]:
    """The numbers of a typed array."""
    if name == "Float16Array":
        return list(struct.unpack(f"<{len(data) // 2}e", data))
    made: array.array[Any] = array.array(_CODES[name])
    made.frombytes(data)
    return made


def simplify(value: Any) -> tuple[str, Any] | None:
    """What crosses in the place of a value: ``date`` in milliseconds, the name of a typed array with its bytes,
    ``value`` for a thing that stays one thing where it stands twice, ``same`` for one that does not. ``None`` if
    nothing does.

    The type decides, and not what an object says its class is.
    """
    kind = type(value)
    if issubclass(kind, datetime):
        aware = value if value.tzinfo is not None else value.replace(tzinfo=UTC)
        return "date", float((aware - _EPOCH) // _MILLISECOND)
    if issubclass(kind, array.array):
        name = _NAMES.get(value.typecode)
        return ("same", value.tolist()) if name is None else (name, value.tobytes())
    if issubclass(kind, memoryview):
        return "same", value.tobytes()
    if _is(kind, "enum", "Enum"):
        return "same", value.value
    if issubclass(kind, (date, time)):
        return "same", value.isoformat()
    if issubclass(kind, timedelta):
        return "same", value.total_seconds()
    if any(_is(kind, module, name) for module, name in _TEXTS):
        return "same", str(value)
    if issubclass(kind, type):
        return None
    if issubclass(kind, Mapping):
        return "value", dict(value)
    return _record(kind, value)


def _record(kind: type, value: Any) -> tuple[str, Any] | None:
    if hasattr(kind, "model_dump"):
        return "value", value.model_dump()
    fields = getattr(kind, "__dataclass_fields__", None)
    if isinstance(fields, dict):
        import dataclasses

        return "value", {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if hasattr(kind, "tolist"):
        return "same", value.tolist()
    if hasattr(kind, "__index__"):
        return "same", value.__index__()
    return None


def _is(kind: type, module: str, name: str) -> bool:
    there = sys.modules.get(module)
    wanted = getattr(there, name, None)
    return isinstance(wanted, type) and issubclass(kind, wanted)
