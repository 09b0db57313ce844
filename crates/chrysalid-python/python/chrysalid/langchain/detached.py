"""A nested call with interrupts, answers and checkpoints of its own: a tool that asks a person, or a subagent.

The namespace is derived from the eval and the call alone. A subagent that paused is found again under it by any
process, and one that had finished is not run again.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from chrysalid.langchain import private

if TYPE_CHECKING:
    from collections.abc import Mapping

    from langchain_core.runnables import RunnableConfig
    from langgraph.errors import GraphInterrupt

_IDS = uuid.UUID("0d3b7c0a-9f5e-5c1b-8a63-6a9b5b1f2e77")


@dataclass(frozen=True)
class Answers:
    """What people have answered to a nested call so far."""

    own: tuple[Any, ...] = ()
    """To the tool's own `interrupt()` calls, in order."""
    by_id: Mapping[str, Any] = field(default_factory=dict)
    """To interrupts of graphs that the call runs."""

    def row(self) -> dict[str, Any]:
        """As a row keeps it."""
        return {"own": list(self.own), "by_id": dict(self.by_id)}

    @classmethod
    def from_row(cls, row: Mapping[str, Any] | None) -> Answers:
        """The other way."""
        return cls(tuple(row["own"]), dict(row["by_id"])) if row else cls()


@dataclass(frozen=True)
class Pause:
    """A nested call that waits for people."""

    direct: bool
    """Whether the tool itself asked, rather than a graph that it runs."""
    interrupts: tuple[Mapping[str, Any], ...]
    """`id`, `value` and `schema` of each question."""


class Detached:
    """One run of a nested call."""

    def __init__(
        self,
        config: RunnableConfig,
        namespace: str,
        answers: Answers,
        extra: Mapping[str, Any],
    ) -> None:
        self.writes: list[tuple[str, Any]] = []
        self._answers = answers
        self._asked = private.Counter()
        self.config = private.detached(
            config,
            namespace,
            answers=answers.own,
            answers_by_id=answers.by_id,
            counter=self._asked,
            on_write=lambda channel, value: self.writes.append((channel, value)),
            extra=extra,
        )

    def pause(self, interrupt: GraphInterrupt) -> Pause:
        """What the call asks. A tool that used up its answers asks itself; else a graph inside of it does."""
        questions = interrupt.args[0] if interrupt.args else ()
        return Pause(
            direct=self._asked.value > len(self._answers.own),
            interrupts=tuple(
                {"id": one.id, "value": one.value, "schema": getattr(one, "response_schema", None)} for one in questions
            ),
        )


def namespace_of(eval_namespace: str, eval_key: str, call_id: str) -> str:
    """The checkpoint namespace of a nested call: beside the eval's task, whose own name changes with `update_state`."""
    own = f"chrysalid_call:{uuid.uuid5(_IDS, f'{eval_key}/{call_id}')}"
    return f"{eval_namespace}|{own}" if eval_namespace else own
