"""`task()`: what a program may ask of a subagent, how many it may start, and the result in its hands."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from langchain.agents.structured_output import AutoStrategy
from langchain_core.callbacks import BaseCallbackManager, UsageMetadataCallbackHandler

from chrysalid import ToolError

try:
    from deepagents.middleware.subagents import SUBAGENT_RESPONSE_FORMAT_CONFIG_KEY as _RESPONSE_FORMAT
except ImportError:  # agents without Deep Agents have no task tool
    _RESPONSE_FORMAT = "__deepagents_subagent_response_format"

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

TREE = "__chrysalid_tree"
_SCHEMA_BYTES = 4096
_SCHEMA_DEPTH = 5
_SCHEMA_PROPERTIES = 32
_SCHEMA_TITLE = "subagent_response"
_KEYS = {"description", "subagentType", "label", "responseSchema"}


_NAMES = {"subagentType": "subagent_type", "responseSchema": "response_schema"}


def as_the_tool_takes(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The argument of `task()` with the names of Deep Agents' own tool, as people know them from direct calls."""
    return {_NAMES.get(key, key): value for key, value in arguments.items()}


def as_programs_give(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The other way."""
    back = {tool: program for program, tool in _NAMES.items()}
    return {back.get(key, key): value for key, value in arguments.items()}


@dataclass(frozen=True)
class Task:
    """A checked request for a subagent."""

    description: str
    subagent_type: str
    label: str | None
    response_schema: Mapping[str, Any] | None

    @classmethod
    def of(cls, arguments: Mapping[str, Any], known: frozenset[str] | None) -> Task:
        """Check what a program gave.

        Raises:
            ToolError: A `TypeError` or `RangeError` for the program that says what to give instead.
        """
        unknown = sorted(set(arguments) - _KEYS)
        if unknown:
            raise ToolError(f"task() does not take {', '.join(unknown)}; it takes {_LIST}", name="TypeError")
        description = _text(arguments, "description")
        subagent_type = _text(arguments, "subagentType")
        if known is not None and subagent_type not in known:
            raise ToolError(
                f"task() knows no subagent {subagent_type!r}; known are {', '.join(sorted(known)) or 'none'}",
                name="TypeError",
            )
        label = arguments.get("label")
        if label is not None and not isinstance(label, str):
            raise ToolError("task() label must be a string", name="TypeError")
        schema = arguments.get("responseSchema")
        if schema is not None:
            _check_schema(schema)
        return cls(description, subagent_type, label, schema)

    @property
    def arguments(self) -> dict[str, Any]:
        """As Deep Agents' own `task` tool takes them."""
        return {"description": self.description, "subagent_type": self.subagent_type}

    @property
    def payload(self) -> dict[str, Any]:
        """All that was asked for."""
        return {**self.arguments, "label": self.label, "response_schema": self.response_schema}

    def result(self, value: Any) -> Any:
        """The subagent's answer: parsed when a schema was given."""
        if self.response_schema is None or not isinstance(value, str):
            return value
        try:
            return json.loads(value)
        except json.JSONDecodeError:
            return value

    def configurable(self, tree: Tree) -> dict[str, Any]:
        """What the subagent's run is to find in its configuration."""
        extra: dict[str, Any] = {TREE: tree}
        if self.response_schema is not None:
            titled = {**self.response_schema}
            titled["title"] = str(titled.get("title") or "").strip() or _SCHEMA_TITLE
            extra[_RESPONSE_FORMAT] = AutoStrategy(titled)
        return extra


_LIST = "description, subagentType, label and responseSchema"


def _text(arguments: Mapping[str, Any], key: str) -> str:
    value = arguments.get(key)
    if not isinstance(value, str) or not value.strip():
        raise ToolError(f"task() needs {key}, a string that is not empty", name="TypeError")
    return value


def _check_schema(schema: Any) -> None:
    if not isinstance(schema, Mapping):
        raise ToolError("task() responseSchema must be a JSON Schema object", name="TypeError")
    size = len(json.dumps(schema, default=str).encode())
    if size > _SCHEMA_BYTES:
        raise ToolError(f"task() responseSchema has {size} bytes, at most {_SCHEMA_BYTES} are taken", name="RangeError")
    properties = _count(schema, 0)
    if properties > _SCHEMA_PROPERTIES:
        raise ToolError(
            f"task() responseSchema has {properties} properties, at most {_SCHEMA_PROPERTIES} are taken",
            name="RangeError",
        )


def _count(node: Any, depth: int) -> int:
    if depth > _SCHEMA_DEPTH:
        raise ToolError(f"task() responseSchema is nested deeper than {_SCHEMA_DEPTH} levels", name="RangeError")
    if not isinstance(node, Mapping):
        return 0
    properties = node.get("properties")
    inner = list(properties.values()) if isinstance(properties, Mapping) else []
    own = len(inner)
    return own + sum(_count(one, depth + 1) for one in [*inner, *([node["items"]] if "items" in node else [])])


class Tree:
    """The subagents that one run of the agent has started, and those that they started.

    Limits are those of the agent that counts and of all above it, the strictest of each.
    """

    def __init__(self, per_run: int, deepest: int, spawned: int = 0) -> None:
        self.depth = 0
        self.parent: str | None = None
        self.met: Mapping[str, str] = {}
        """What the programs above had met when they dispatched this agent."""
        self.brought: dict[str, str] = {}
        """What the programs of this agent have met since."""
        self._per_run = per_run
        self._deepest = deepest
        self._shared = _Spawned(spawned)

    def bounded(self, per_run: int, deepest: int) -> Tree:
        """The same place in the tree with the limits of the agent there."""
        here = self._at(self.depth, self.parent, min(per_run, self._per_run), min(deepest, self._deepest))
        here.brought = self.brought
        return here

    def child(self, parent: str, met: Mapping[str, str]) -> Tree:
        """The same tree, one level down, in the subagent with this id, which is told what its parent has met."""
        child = self._at(self.depth + 1, parent, self._per_run, self._deepest)
        child.met = dict(met)
        return child

    def _at(self, depth: int, parent: str | None, per_run: int, deepest: int) -> Tree:
        made = Tree(per_run, deepest)
        made.depth, made.parent, made.met, made._shared = depth, parent, self.met, self._shared
        return made

    @property
    def spawned(self) -> int:
        """How many were started in the whole tree."""
        return self._shared.count

    def at_least(self, spawned: int) -> None:
        """Remember what another process counted."""
        self._shared.raise_to(spawned)

    def spawn(self, in_eval: int, per_eval: int) -> None:
        """Count one more.

        Raises:
            ToolError: A `SubagentLimitExceeded` for the program; nothing was counted.
        """
        if self.depth >= self._deepest:
            raise _exceeded(f"subagents may be nested {self._deepest} deep")
        if in_eval >= per_eval:
            raise _exceeded(f"one program may start {per_eval} subagents")
        if not self._shared.take(self._per_run):
            raise _exceeded(f"one run may start {self._per_run} subagents, those of subagents included")


class _Spawned:
    def __init__(self, count: int) -> None:
        self.count = count
        self._lock = threading.Lock()

    def take(self, most: int) -> bool:
        with self._lock:
            if self.count >= most:
                return False
            self.count += 1
            return True

    def raise_to(self, count: int) -> None:
        with self._lock:
            self.count = max(self.count, count)


def _exceeded(rule: str) -> ToolError:
    return ToolError(f"{rule}; this one was not started", name="SubagentLimitExceeded")


def tree_of(config: RunnableConfig) -> Tree | None:
    """The tree that a subagent runs in; None in the outermost agent."""
    found = config.get("configurable", {}).get(TREE)
    return found if isinstance(found, Tree) else None


def counting_tokens(config: RunnableConfig) -> tuple[RunnableConfig, UsageMetadataCallbackHandler]:
    """The configuration with a handler that adds up the tokens of all models below it."""
    handler = UsageMetadataCallbackHandler()
    callbacks = config.get("callbacks")
    if isinstance(callbacks, BaseCallbackManager):
        manager = callbacks.copy()
        manager.add_handler(handler, inherit=True)
        return {**config, "callbacks": manager}, handler
    return {**config, "callbacks": [*(callbacks or []), handler]}, handler
