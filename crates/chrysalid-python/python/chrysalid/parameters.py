"""The parameters of a function: their schema, and how the one argument of a call becomes them."""

from __future__ import annotations

import functools
import inspect
import math
import types
import typing
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any, get_args, get_origin, get_type_hints

from chrysalid.failure import ToolError
from chrysalid.reading import Reader, reader_of
from chrysalid.schema import Schema, Schemas

__all__ = ["Parameters", "inner_function", "parameters_of", "schema_of_result"]

# Characters of a value that are shown in an error.
_LONGEST_SHOWN = 40
_EMPTY = inspect.Parameter.empty


class Parameters:
    """What a function takes."""

    __slots__ = ("_positional", "_readers", "context", "schema")

    def __init__(
        self,
        schema: Schema,
        readers: Mapping[str, Reader],
        context: str | None,
        positional: tuple[tuple[str, Any], ...],
    ) -> None:
        self.schema = schema
        self.context = context
        self._readers = dict(readers)
        self._positional = positional

    def bind(self, argument: Any, context: Callable[[], Any]) -> tuple[list[Any], dict[str, Any]]:
        """The arguments and keywords for a call."""
        if argument is not None and not isinstance(argument, dict):
            raise ToolError(f"takes one object, not {_kind(argument)}", name="ToolInputError")
        keywords: dict[str, Any] = dict(argument) if argument else {}
        for name, reader in self._readers.items():
            if name in keywords:
                keywords[name] = _read(reader, name, keywords[name])
        if self.context is not None:
            keywords[self.context] = context()
        places = []
        for name, default in self._positional:
            if name not in keywords and default is _EMPTY:
                break
            places.append(keywords.pop(name, default))
        return places, keywords


def _read(reader: Reader, name: str, value: Any) -> Any:
    try:
        return reader(value)
    except ToolError:
        raise
    except Exception as error:
        raise ToolError(f"{name}: {_refusal(error, value)}", name="ToolInputError") from error


def _refusal(error: Exception, value: Any) -> str:
    """Why a value does not fit. What pydantic found, in full."""
    errors = getattr(error, "errors", None)
    if callable(errors):
        found = [(".".join(map(str, each.get("loc", ()))), each.get("msg", "")) for each in errors()]
        return "; ".join(f"{place}: {text}" if place else text for place, text in found[:5])
    return f"{error} (got {_kind(value)})" if str(error) else f"does not fit {_kind(value)}"


def _kind(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST_SHOWN else f"a {type(value).__name__}"


def parameters_of(function: Callable[..., Any], context: type) -> Parameters:
    """Reads a function. A parameter with the annotation ``context`` is left out of the schema."""
    hints = _hints(function)
    schemas = Schemas()
    properties: dict[str, Schema] = {}
    readers: dict[str, Reader] = {}
    required: list[str] = []
    positional: list[tuple[str, Any]] = []
    context_name: str | None = None
    open_ended = False
    for name, parameter in inspect.signature(function).parameters.items():
        hint = hints.get(name, Any)
        if hint is context:
            context_name = name
        elif parameter.kind is inspect.Parameter.VAR_KEYWORD:
            open_ended = True
        elif parameter.kind is not inspect.Parameter.VAR_POSITIONAL:
            if parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
                positional.append((name, parameter.default))
            properties[name] = _property(schemas, hint, parameter.default)
            reader = reader_of(hint)
            if reader is not None:
                readers[name] = _or_none(reader) if parameter.default is None else reader
            if parameter.default is _EMPTY:
                required.append(name)
    schema: Schema = {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": open_ended,
    }
    return Parameters(schemas.whole(schema), readers, context_name, tuple(positional))


def _or_none(reader: Reader) -> Reader:
    return lambda value: None if value is None else reader(value)


def _property(schemas: Schemas, hint: Any, default: Any) -> Schema:
    schema = schemas.of(hint)
    if default is None and schema and hint is not None:
        # Whoever may leave it out may also say so.
        return schema if _takes_null(schema) else {"anyOf": [schema, {"type": "null"}]}
    is_plain = isinstance(default, (str, int, bool)) or (isinstance(default, float) and math.isfinite(default))
    if is_plain and type(default).__module__ == "builtins" and "$ref" not in schema:
        return {**schema, "default": default}
    return schema


def _takes_null(schema: Schema) -> bool:
    members = schema.get("anyOf", [schema])
    return any(not member or member.get("type") == "null" or None in member.get("enum", ()) for member in members)


def schema_of_result(function: Callable[..., Any]) -> Schema | None:
    """The schema of what a function returns, if it says so."""
    hint = _hints(function).get("return", Any)
    if get_origin(hint) in (Awaitable, Coroutine):
        hint = get_args(hint)[-1]
    schemas = Schemas("serialization")
    schema = schemas.of(hint)
    return schemas.whole(schema) if schema else None


def inner_function(function: Callable[..., Any]) -> Callable[..., Any]:
    """What has the name, the text and the annotations: the function of a method, a partial, or an object that is
    called.
    """
    while isinstance(function, functools.partial):
        function = function.func
    if isinstance(function, (types.FunctionType, types.MethodType, type)) or inspect.isbuiltin(function):
        return function
    # An object that is called, or a wrapper made in C.
    return function if hasattr(function, "__wrapped__") else type(function).__call__


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    """Its annotations. Those that name something unknown, such as an import for type checkers only, are left out."""
    inner = inner_function(function)
    if isinstance(inner, type):
        inner = inner.__init__  # type: ignore[misc]
    try:
        return get_type_hints(inner, include_extras=True)
    except Exception:
        return _known_hints(inspect.unwrap(inner))


def _known_hints(function: Callable[..., Any]) -> dict[str, Any]:
    names = dict(getattr(function, "__globals__", {}))
    code = getattr(function, "__code__", None)
    for name, cell in zip(getattr(code, "co_freevars", ()), getattr(function, "__closure__", None) or (), strict=False):
        try:
            names[name] = cell.cell_contents
        except ValueError:
            continue
    known = {}
    for name, hint in getattr(function, "__annotations__", {}).items():
        holder = types.SimpleNamespace(__annotations__={name: hint})
        try:
            known.update(typing.get_type_hints(holder, globalns=names, include_extras=True))
        except Exception:
            continue
    return known
