"""Events of a program on the `custom` stream, for interfaces that show it at work: subagents, calls, console lines.

`id` is derived from the eval, the call and its payload: a program that goes on in another process emits the same one,
so a reader updates the entry of an id and never adds a second one. Readers leave out phases that they do not know.
"""

from __future__ import annotations

import hashlib
import json
import logging
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NotRequired, TypedDict

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_logger = logging.getLogger(__name__)

Phase = Literal["queued", "start", "paused", "resumed", "complete", "error"]

_LABEL_CHARS = 120
_DERIVED_LABEL_CHARS = 60
_DESCRIPTION_CHARS = 200


class SubagentEvent(TypedDict):
    """One step in the life of a subagent."""

    type: Literal["subagent"]
    phase: Phase
    id: str
    eval_id: str
    subagent_type: str
    label: str
    description: str
    depth: int
    """1 for a subagent of the agent itself, 2 for one that such a subagent's program started."""
    parent_id: NotRequired[str]
    """The `id` of the subagent whose program started this one."""
    duration_ms: NotRequired[int]
    error: NotRequired[str]
    usage: NotRequired[Mapping[str, Any]]
    """Tokens by model, of all model calls of the subagent."""


class CallEvent(TypedDict):
    """One step in the life of a call of a tool."""

    type: Literal["call"]
    phase: Phase
    id: str
    eval_id: str
    name: str
    duration_ms: NotRequired[int]
    error: NotRequired[str]


class ConsoleEvent(TypedDict):
    """A line that a program printed."""

    type: Literal["console"]
    eval_id: str
    level: str
    text: str


@dataclass
class Watched:
    """One subagent or call, as its events name it."""

    write: Callable[[Any], None]
    kind: Literal["subagent", "call"]
    identity: Mapping[str, Any]
    began: float = 0.0

    def emit(self, phase: Phase, **more: Any) -> None:
        """Send an event."""
        if phase in ("start", "resumed"):
            self.began = time.monotonic()
        if phase in ("complete", "error"):
            more["duration_ms"] = int((time.monotonic() - self.began) * 1000) if self.began else 0
        send(self.write, {"type": self.kind, "phase": phase, **self.identity, **more})


def send(write: Callable[[Any], None], event: Mapping[str, Any]) -> None:
    """Send an event. A failing reader never fails the program."""
    try:
        write(event)
    except Exception:
        _logger.debug("an event was not taken", exc_info=True)


def subagent_id(eval_id: str, call: str, payload: Mapping[str, Any]) -> str:
    """The same for the same call of the same eval, in any process."""
    text = json.dumps([eval_id, call, payload], sort_keys=True, default=str)
    return f"task_{hashlib.sha256(text.encode()).hexdigest()[:32]}"


def label_of(label: str | None, description: str) -> str:
    """The given label, else the beginning of the description, on one line."""
    given = " ".join((label or "").split())
    return given[:_LABEL_CHARS] if given else " ".join(description.split())[:_DERIVED_LABEL_CHARS]


def short(description: str) -> str:
    """As much of a description as an event carries."""
    return description[:_DESCRIPTION_CHARS]
