"""JSON Schema of Python annotations, and the way back from arguments to parameters.

Plain annotations are read here, so that the package needs nothing else. Where an annotation is a pydantic model, or one that
only pydantic understands, pydantic is asked; it is imported only then.
"""

from __future__ import annotations

import dataclasses
import enum
import inspect
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from datetime import date, datetime
from decimal import Decimal
from pathlib import PurePath
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints
from uuid import UUID

from chrysalid.values import BigInt

Schema = dict[str, Any]

_PLAIN: dict[Any, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
    dict: {"type": "object"},
    list: {"type": "array"},
    tuple: {"type": "array"},
    Decimal: {"type": "string"},
    UUID: {"type": "string"},
}
# They cross as what JSON has no type for, so a schema cannot speak of them.
_UNSPOKEN: tuple[type, ...] = (bytes, bytearray, datetime, set, frozenset, BigInt, PurePath, date)


@dataclasses.dataclass(frozen=True, slots=True)
class Parameters:
    """The parameters of a function: their schema, and how an argument becomes them."""

    schema: Schema
    readers: dict[str, Callable[[Any], Any]]
    context: str | None = None
    positional: tuple[str, ...] = ()
    required: frozenset[str] = frozenset()

    @classmethod
    def of_nothing(cls) -> Parameters:
        """Those of a function that takes the argument as it is."""
        return cls({}, {})

    def bind(self, argument: Any, context: Any) -> tuple[list[Any], dict[str, Any]]:
        """The arguments and keywords for a call."""
        given: dict[str, Any] = dict(argument) if isinstance(argument, Mapping) else {}
        keywords = {name: self.readers[name](value) if name in self.readers else value for name, value in given.items()}
        if self.context is not None:
            keywords[self.context] = context
        return [keywords.pop(name) for name in self.positional if name in keywords], keywords


def parameters_of(function: Callable[..., Any], context: type) -> Parameters:
    """Reads a function. A parameter with the annotation ``context`` is left out of the schema."""
    hints = _hints(function)
    properties: dict[str, Schema] = {}
    readers: dict[str, Callable[[Any], Any]] = {}
    required: list[str] = []
    positional: list[str] = []
    context_name: str | None = None
    open_ended = False
    for parameter in inspect.signature(function).parameters.values():
        hint = hints.get(parameter.name, Any)
        if hint is context:
            context_name = parameter.name
            continue
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            open_ended = True
            continue
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            continue
        if parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
            positional.append(parameter.name)
        properties[parameter.name] = schema_of(hint)
        reader = reader_of(hint)
        if reader is not None:
            readers[parameter.name] = reader
        if parameter.default is inspect.Parameter.empty:
            required.append(parameter.name)
        elif isinstance(parameter.default, (str, int, float, bool)):
            properties[parameter.name] = {**properties[parameter.name], "default": parameter.default}
    schema: Schema = {"type": "object", "properties": properties, "required": required}
    if not open_ended:
        schema["additionalProperties"] = False
    definitions: dict[str, Any] = {}
    for name, inner in properties.items():
        properties[name] = _hoisted(inner, definitions)
    if definitions:
        schema["$defs"] = definitions
    return Parameters(schema, readers, context_name, tuple(positional), frozenset(required))


def schema_of_result(function: Callable[..., Any]) -> Schema | None:
    """The schema of what a function returns, if it says so."""
    hint = _hints(function).get("return", Any)
    if hint is Any:
        return None
    if get_origin(hint) in (typing.Awaitable, typing.Coroutine):
        hint = get_args(hint)[-1]
    schema = schema_of(hint)
    return schema or None


def schema_of(hint: Any) -> Schema:
    """The schema of an annotation; an empty one, which lets everything through, for what JSON has no type for."""
    if hint in (Any, inspect.Parameter.empty, object):
        return {}
    if isinstance(hint, str):
        return {}
    if hint in _PLAIN:
        return dict(_PLAIN[hint])
    origin = get_origin(hint)
    if origin is typing.Annotated:
        return _annotated(hint)
    if origin is not None:
        return _generic(origin, get_args(hint), hint)
    if isinstance(hint, type):
        return _class(hint)
    return _asked(hint)


def _annotated(hint: Any) -> Schema:
    inner, *notes = get_args(hint)
    texts = [note for note in notes if isinstance(note, str)]
    if len(texts) < len(notes):
        return _asked(hint) or schema_of(inner)
    schema = schema_of(inner)
    return {**schema, "description": texts[0]} if texts else schema


def _generic(origin: Any, arguments: tuple[Any, ...], hint: Any) -> Schema:
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in (Union, types.UnionType):
        members = [schema_of(argument) for argument in arguments]
        return {} if {} in members else {"anyOf": members}
    if origin is tuple:
        if len(arguments) == 2 and arguments[1] is ...:
            return {"type": "array", "items": schema_of(arguments[0])}
        items = [schema_of(argument) for argument in arguments]
        return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
    if isinstance(origin, type) and issubclass(origin, Mapping):
        if arguments and arguments[0] is not str:
            return {}
        return {"type": "object", "additionalProperties": schema_of(arguments[1]) or True}
    if isinstance(origin, type) and issubclass(origin, Set):
        return {}
    if isinstance(origin, type) and issubclass(origin, (Sequence, Iterable)):
        return {"type": "array", "items": schema_of(arguments[0])}
    return _asked(hint)


def _class(hint: type) -> Schema:
    if issubclass(hint, _UNSPOKEN):
        return {}
    if issubclass(hint, enum.Enum):
        return {"enum": [member.value for member in hint]}
    if hasattr(hint, "model_json_schema"):
        return typing.cast(Schema, hint.model_json_schema())
    if typing.is_typeddict(hint):
        return _fields(get_type_hints(hint), hint.__required_keys__)  # type: ignore[attr-defined]
    if dataclasses.is_dataclass(hint):
        hints = get_type_hints(hint)
        fields = dataclasses.fields(hint)
        missing = dataclasses.MISSING
        required = [field.name for field in fields if field.default is missing and field.default_factory is missing]
        return _fields({field.name: hints[field.name] for field in fields}, required)
    if issubclass(hint, (str, int, float)):
        return schema_of(next(base for base in (bool, str, int, float) if issubclass(hint, base)))
    return _asked(hint)


def _fields(hints: Mapping[str, Any], required: Iterable[str]) -> Schema:
    wanted = set(required)
    return {
        "type": "object",
        "properties": {name: schema_of(hint) for name, hint in hints.items()},
        "required": [name for name in hints if name in wanted],
    }


def _asked(hint: Any) -> Schema:
    """What pydantic says of an annotation, where it is installed and knows it."""
    try:
        from pydantic import TypeAdapter
        from pydantic.errors import PydanticUserError
    except ImportError:
        return {}
    try:
        return TypeAdapter(hint).json_schema()
    except (PydanticUserError, TypeError):
        return {}


def _hoisted(schema: Schema, definitions: dict[str, Any]) -> Schema:
    """A schema whose own definitions stand where its references look for them."""
    inner = schema.get("$defs")
    if isinstance(inner, Mapping):
        definitions.update(inner)
        return {key: value for key, value in schema.items() if key != "$defs"}
    return schema


def reader_of(hint: Any) -> Callable[[Any], Any] | None:
    """What makes an argument into what the function expects, where that is more than data."""
    origin = get_origin(hint)
    if origin is typing.Annotated:
        return reader_of(get_args(hint)[0])
    if origin in (Union, types.UnionType):
        inner = [argument for argument in get_args(hint) if argument is not type(None)]
        reader = reader_of(inner[0]) if len(inner) == 1 else None
        return None if reader is None else lambda value: None if value is None else reader(value)
    if origin in (list, Sequence, Iterable):
        reader = reader_of(get_args(hint)[0])
        return None if reader is None else lambda value: [reader(item) for item in value]
    if not isinstance(hint, type):
        return None
    if hasattr(hint, "model_validate"):
        return typing.cast("Callable[[Any], Any]", hint.model_validate)
    if dataclasses.is_dataclass(hint):
        return lambda value: hint(**value)
    if issubclass(hint, (enum.Enum, Decimal, UUID, PurePath)):
        return hint
    if hint is float:
        return lambda value: float(value) if isinstance(value, int) and not isinstance(value, bool) else value
    return None


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    target = function if inspect.isroutine(function) else getattr(function, "__call__", function)
    try:
        return get_type_hints(target, include_extras=True)
    except (NameError, TypeError):
        return dict(getattr(target, "__annotations__", {}))
