"""JSON Schema of Python annotations.

Plain annotations are read here, so that the package needs nothing else. Where an annotation is a pydantic model, or
one that only pydantic understands, pydantic is asked; it is imported only then.
"""

from __future__ import annotations

import enum
import inspect
import types
import typing
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import date, datetime, time, timedelta
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

__all__ = ["Schema", "Schemas", "is_dataclass", "standard_name"]

Schema = dict[str, Any]

_PLAIN: dict[type, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
    dict: {"type": "object"},
    list: {"type": "array"},
    tuple: {"type": "array"},
    date: {"type": "string", "format": "date"},
    time: {"type": "string", "format": "time"},
    timedelta: {"type": "number", "description": "seconds"},
    # They cross as what JSON has no type for, so a schema lets them through, and says in words what is meant.
    datetime: {"description": "a Date, or a text such as 2026-01-31T12:00:00Z"},
    bytes: {"description": "a Uint8Array"},
    bytearray: {"description": "a Uint8Array"},
    set: {"description": "a Set or an array"},
    frozenset: {"description": "a Set or an array"},
}
# By name, since whoever has such a type has imported it.
_NAMED: dict[str, Schema] = {
    "Decimal": {"type": ["string", "number"]},
    "UUID": {"type": "string", "format": "uuid"},
    "PurePath": {"type": "string"},
}
_QUALIFIERS = ("Required", "NotRequired", "ReadOnly")


class Schemas:
    """Reads annotations that belong to one schema, and keeps what they refer to."""

    def __init__(self, mode: Literal["validation", "serialization"] = "validation") -> None:
        self._mode = mode
        self.definitions: dict[str, Schema] = {}
        self._open: dict[type, str] = {}
        self._recursive: set[type] = set()

    def of(self, hint: Any) -> Schema:
        """The schema of an annotation; an empty one, which lets everything through, for what it cannot speak of."""
        if hint is Any or hint is object or hint is inspect.Parameter.empty or isinstance(hint, str):
            return {}
        if hint is None:
            return {"type": "null"}
        origin = get_origin(hint)
        if origin is typing.Annotated:
            return self._annotated(hint)
        if origin is not None:
            return self._generic(origin, get_args(hint), hint)
        if isinstance(hint, type):
            return self._class(hint)
        alias = (
            getattr(hint, "__value__", None) or getattr(hint, "__supertype__", None) or getattr(hint, "__bound__", None)
        )
        if alias is not None:
            return self.of(alias)
        return self._asked(hint)

    def whole(self, schema: Schema) -> Schema:
        """A schema with the definitions that it refers to."""
        return {**schema, "$defs": dict(self.definitions)} if self.definitions else schema

    def _annotated(self, hint: Any) -> Schema:
        inner, *notes = get_args(hint)
        texts = [note for note in notes if isinstance(note, str)]
        if len(texts) < len(notes):
            asked = self._asked(hint)
            return asked or self.of(inner)
        return {**self.of(inner), "description": texts[0]} if texts else self.of(inner)

    def _generic(self, origin: Any, arguments: tuple[Any, ...], hint: Any) -> Schema:
        if origin is Literal:
            return {"enum": [item.value if isinstance(item, enum.Enum) else item for item in arguments]}
        if origin is Union or origin is types.UnionType:
            members = [self.of(argument) for argument in arguments]
            return (
                {} if any("$ref" not in member and not _narrows(member) for member in members) else {"anyOf": members}
            )
        if getattr(origin, "_name", None) in _QUALIFIERS:
            return self.of(arguments[0])
        if origin is tuple:
            return self._tuple(arguments)
        if not isinstance(origin, type):
            return self.of(getattr(origin, "__value__", Any))
        if hasattr(origin, "model_json_schema") or is_dataclass(origin) or typing.is_typeddict(origin):
            return self._asked(hint) or self._class(origin)
        if issubclass(origin, Mapping):
            return self._mapping(arguments)
        if issubclass(origin, AbstractSet):
            return dict(_PLAIN[set])
        if issubclass(origin, (Sequence, Iterable)):
            return {"type": "array", "items": self.of(arguments[0])}
        return self._asked(hint)

    def _tuple(self, arguments: tuple[Any, ...]) -> Schema:
        if arguments[1:] == (...,):
            return {"type": "array", "items": self.of(arguments[0])}
        items = [self.of(argument) for argument in arguments]
        return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}

    def _mapping(self, arguments: tuple[Any, ...]) -> Schema:
        if not arguments or not (isinstance(arguments[0], type) and issubclass(arguments[0], (str, int))):
            return {"type": "object"} if not arguments else {}
        return {"type": "object", "additionalProperties": self.of(arguments[1]) or True}

    def _class(self, hint: type) -> Schema:
        if hint in _PLAIN:
            return dict(_PLAIN[hint])
        if issubclass(hint, enum.Enum):
            return {"enum": [member.value for member in hint]}
        if hasattr(hint, "model_json_schema"):
            by_alias = self._mode == "validation"
            return self._adopted(hint.model_json_schema(mode=self._mode, by_alias=by_alias))
        if typing.is_typeddict(hint) or is_dataclass(hint):
            return self._record(hint)
        named = standard_name(hint)
        if named is not None:
            return dict(_NAMED[named])
        for base in (bool, str, int, float, datetime, date, bytes, bytearray):
            if issubclass(hint, base):
                return dict(_PLAIN[base])
        if issubclass(hint, AbstractSet):
            return dict(_PLAIN[set])
        return self._asked(hint)

    def _record(self, hint: type) -> Schema:
        """The schema of a dataclass or a ``TypedDict``; one that holds itself is referred to by name."""
        if hint in self._open:
            self._recursive.add(hint)
            return {"$ref": f"#/$defs/{self._open[hint]}"}
        self._open[hint] = name = self._free_name(hint.__name__)
        try:
            schema = self._fields(hint)
        finally:
            del self._open[hint]
        if hint not in self._recursive:
            return schema
        self.definitions[name] = schema
        return {"$ref": f"#/$defs/{name}"}

    def _fields(self, hint: type) -> Schema:
        hints = _class_hints(hint)
        if is_dataclass(hint):
            import dataclasses

            missing = dataclasses.MISSING
            fields = [field for field in dataclasses.fields(hint) if field.init or self._mode == "serialization"]
            required = [
                field.name
                for field in fields
                if self._mode == "serialization" or (field.default is missing and field.default_factory is missing)
            ]
            hints = {field.name: hints.get(field.name, Any) for field in fields}
        else:
            required = [name for name, inner in hints.items() if _is_required(hint, name, inner)]
        properties = {name: self.of(inner) for name, inner in hints.items()}
        return {"type": "object", "properties": properties, "required": required}

    def _asked(self, hint: Any) -> Schema:
        """What pydantic says of an annotation, where it is installed and knows it."""
        try:
            from pydantic import TypeAdapter
            from pydantic.errors import PydanticUserError
        except ImportError:
            return {}
        try:
            return self._adopted(TypeAdapter(hint).json_schema(mode=self._mode))
        except (PydanticUserError, TypeError, NameError):
            return {}

    def _adopted(self, schema: Schema) -> Schema:
        """A schema made elsewhere: its definitions are kept with the others, under names that are free."""
        inner = schema.get("$defs")
        if not isinstance(inner, Mapping):
            return schema
        names = {}
        for name, definition in inner.items():
            known = self.definitions.get(name)
            names[name] = name if known is None or known == definition else self._free_name(name)
        for name, definition in inner.items():
            self.definitions[names[name]] = _renamed(definition, names)
        return typing.cast("Schema", _renamed({key: value for key, value in schema.items() if key != "$defs"}, names))

    def _free_name(self, name: str) -> str:
        taken = {*self.definitions, *self._open.values()}
        number = 1
        free = name
        while free in taken:
            number += 1
            free = f"{name}{number}"
        return free


def standard_name(hint: type) -> str | None:
    """``Decimal``, ``UUID`` or ``PurePath``, if the type is one of these or made of one."""
    for base in hint.__mro__:
        if base.__name__ in _NAMED and base.__module__.split(".")[0] in ("decimal", "uuid", "pathlib"):
            return base.__name__
    return None


def is_dataclass(hint: type) -> bool:
    """Whether a class is a dataclass."""
    return isinstance(getattr(hint, "__dataclass_fields__", None), dict)


def _narrows(schema: Schema) -> bool:
    """Whether a schema refuses anything."""
    return any(key not in ("description", "title", "default") for key in schema)


def _is_required(hint: Any, name: str, inner: Any) -> bool:
    """Whether a ``TypedDict`` must have a key; annotations that are texts hide it from the class itself."""
    qualifier = getattr(get_origin(inner), "_name", None)
    if qualifier in ("Required", "NotRequired"):
        return bool(qualifier == "Required")
    return bool(name in hint.__required_keys__)


def _class_hints(hint: type) -> dict[str, Any]:
    try:
        return get_type_hints(hint, include_extras=True)
    except (NameError, TypeError):
        return dict(getattr(hint, "__annotations__", {}))


def _renamed(schema: Any, names: Mapping[str, str]) -> Any:
    """A schema that refers to definitions by their new names."""
    if isinstance(schema, list):
        return [_renamed(item, names) for item in schema]
    if not isinstance(schema, dict):
        return schema
    renamed = {key: _renamed(value, names) for key, value in schema.items()}
    target = renamed.get("$ref")
    prefix = "#/$defs/"
    if isinstance(target, str) and target.startswith(prefix):
        renamed["$ref"] = prefix + names.get(target[len(prefix) :], target[len(prefix) :])
    return renamed
