"""Which of the agent's tools a program finds under `tools`, under which names, and what the session knows of each."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

from langchain_core.tools import BaseTool
from pydantic import BaseModel, TypeAdapter

from chrysalid import Tool

if TYPE_CHECKING:
    from chrysalid.langchain.agent import Gate

TASK = "task"
_SEPARATED = re.compile(r"[-_]([a-z])")
_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*", re.ASCII)
_TASK_FIELDS = {"description", "subagent_type"}
AT_ONE_TIME = 32
"""Calls of one tool that run at one time, unless its label says otherwise."""
_LABELS = {
    "effects",
    "approval",
    "approval_decisions",
    "approval_role",
    "approval_expiry",
    "timeout",
    "max_calls",
    "max_calls_per_session",
    "concurrency",
    "idempotent",
    "deliver",
}


@dataclass(frozen=True)
class Exposed:
    """A tool that programs may call."""

    tool: BaseTool
    name: str
    """As the program writes it: `tools.<name>`."""


def program_name(name: str) -> str:
    """`send_email` and `send-email` as `sendEmail`. A name that is no identifier after that stays as it is."""
    made = _SEPARATED.sub(lambda found: found[1].upper(), name)
    return made if _IDENTIFIER.fullmatch(made) else name


def exposed(ptc: Sequence[str | BaseTool] | None, available: Iterable[Any], own: str) -> list[Exposed]:
    """The tools of the `ptc` list, in its order; a name that the agent does not have is left out.

    Raises:
        ValueError: Two of them have the same name in the program.
    """
    by_name = {tool.name: tool for tool in available if isinstance(tool, BaseTool)}
    chosen: dict[str, BaseTool] = {}
    for entry in ptc or ():
        tool = by_name.get(entry) if isinstance(entry, str) else entry
        if tool is not None and tool.name != own:
            chosen.setdefault(tool.name, tool)
    names: dict[str, str] = {}
    for name in chosen:
        other = names.setdefault(program_name(name), name)
        if other != name:
            raise ValueError(f"tools {other!r} and {name!r} would both be tools.{program_name(name)}; rename one")
    return [Exposed(tool, program_name(name)) for name, tool in chosen.items()]


def task_tool(available: Iterable[Any]) -> BaseTool | None:
    """The tool of Deep Agents that runs subagents."""
    for tool in available:
        if isinstance(tool, BaseTool) and tool.name == TASK and set(tool.args) >= _TASK_FIELDS:
            return tool
    return None


def labels_of(tool: BaseTool) -> dict[str, Any]:
    """What the tool's `metadata["chrysalid"]` says for the session: effects, approval, limits.

    Raises:
        ValueError: It holds a word that means nothing.
    """
    found = (tool.metadata or {}).get("chrysalid") or {}
    if not isinstance(found, Mapping) or not set(found) <= _LABELS:
        raise ValueError(
            f"metadata['chrysalid'] of tool {tool.name!r} takes {', '.join(sorted(_LABELS))}, got {found!r}"
        )
    return dict(found)


def capability(
    one: Exposed, gate: Gate | None, asks: Callable[[Any], bool] | None, *, with_result: bool = False
) -> Tool:
    """The tool as the session knows it. A gate makes the session pause before the call, which no program can notice."""
    labels = {"concurrency": AT_ONE_TIME, **labels_of(one.tool)}
    if gate is not None:
        labels["approval_decisions"] = gate.decisions
        if asks is None:
            labels["approval"] = "always"
        else:
            labels["ask_when"] = asks
    return Tool(
        run_by_the_middleware,
        raw=True,
        name=one.name,
        description=one.tool.description,
        input_schema=input_schema(one.tool),
        output_schema=output_schema(one.tool) if with_result else None,
        **labels,
    )


def task_capability(gate: Gate | None, asks: Callable[[Any], bool] | None) -> Tool:
    """`task()`, a frozen global of the program."""
    return Tool(
        run_by_the_middleware,
        raw=True,
        name=TASK,
        description="Run a subagent.",
        approval="always" if gate is not None and asks is None else "never",
        ask_when=asks,
        approval_decisions=None if gate is None else gate.decisions,
        subagent=True,
        is_global=True,
    )


def run_by_the_middleware(*_: Any, **__: Any) -> Any:
    """Never called: the middleware drives the step machine and runs the calls itself."""
    raise RuntimeError("this tool is run by the middleware")


def input_schema(tool: BaseTool) -> dict[str, Any]:
    """The JSON schema of the arguments that a caller gives."""
    schema = tool.tool_call_schema
    if isinstance(schema, dict):
        found = {key: value for key, value in schema.items() if key != "description"}
    elif issubclass(schema, BaseModel):
        found = schema.model_json_schema()
    else:
        found = schema.schema()
    return {"type": "object", **found}


def output_schema(tool: BaseTool) -> dict[str, Any] | None:
    """The JSON schema of the result, from the implementation's return annotation; None when it says nothing."""
    function = getattr(tool, "func", None) or getattr(tool, "coroutine", None) or type(tool)._run
    try:
        result = get_type_hints(function).get("return", Any)
        if tool.response_format == "content_and_artifact" and get_origin(result) is tuple:
            result = get_args(result)[0]
        if result is Any or "Command" in str(result) or "ToolMessage" in str(result):
            return None
        return TypeAdapter(result).json_schema(mode="serialization")
    except Exception:
        return None
