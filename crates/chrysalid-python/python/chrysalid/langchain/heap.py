"""The JavaScript heap of an eval: where it comes from, and where it is left for the next one.

State holds a pointer only: the key of the eval that left the heap last. Forks and time travel follow by themselves, and
no image passes through state.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast

from langgraph.errors import GraphInterrupt

from chrysalid import ChrysalidError
from chrysalid.langchain.driver import Do, Operation, Sleep
from chrysalid.langchain.rows import Shelf

if TYPE_CHECKING:
    from chrysalid import Engine, Outcome, Session, Toolset
    from chrysalid.langchain.line import Group, Line
    from chrysalid.langchain.options import Options
    from chrysalid.langchain.rows import Row, Rows
    from chrysalid.tools import Effect

T = TypeVar("T")
Steps = Generator[Operation, Any, T]

POINTER = "chrysalid_heap"
_TICK = 0.005
_PATIENCE = 2.0
"""Seconds that an eval waits for one before it to begin: they begin together, unless something keeps one back."""


class BehindPause(Exception):
    """An eval before this one, in the same message, waits for people."""

    def __init__(self, call_id: str, tools: Sequence[str]) -> None:
        super().__init__(f"eval {call_id} before it waits for approval of {', '.join(tools) or 'a call'}")


@dataclass(frozen=True)
class Earlier:
    """An eval that the same message calls before."""

    call_id: str
    key: str


@dataclass(frozen=True)
class Left:
    """What an eval leaves to the next one."""

    heap: str = ""
    """The key of the eval that left the heap; empty for none."""
    gone: str = ""
    """Why there is none where there was one."""

    @classmethod
    def of(cls, pointer: Mapping[str, Any] | None) -> Left:
        """As the agent's state keeps it."""
        return cls(str((pointer or {}).get("heap", "")), str((pointer or {}).get("gone", "")))


def moved(old: Mapping[str, Any] | None, new: Mapping[str, Any]) -> dict[str, Any]:
    """The reducer of the pointer: several evals of one message each say what they changed."""
    before = old or {}
    spawned = 0 if new.get("new_turn") else int(before.get("spawned", 0))
    return {
        "heap": new.get("heap", before.get("heap", "")),
        "gone": new["gone"] if "heap" in new else before.get("gone", ""),
        "spawned": spawned + int(new.get("spawned", 0)),
        "met": {**new.get("met", {}), **before.get("met", {})},
    }


class Heap:
    """The heap of one eval."""

    def __init__(
        self,
        *,
        options: Options,
        engine: Engine,
        tools: Toolset,
        rows: Rows,
        shelf: Shelf,
        pointer: Left,
        met: Mapping[str, str],
        line: Line,
        group: Group,
        earlier: Sequence[Earlier],
    ) -> None:
        self._options = options
        self._engine = engine
        self._rows = rows
        self._shelf = shelf
        self._pointer = pointer
        self._met = met
        self._line = line
        self._group = group
        self._earlier = earlier
        self._tools = tools
        self._before = ""
        fixed = options.clock == "none"
        self._settings: dict[str, Any] = {
            "limits": options.limits,
            "context": f"langchain:{shelf.thread_id}".encode(),
            "park_after": _NEVER,
            "modules": options.modules,
            "events": True,
            "clock": 0.0 if fixed else None,
            "seed": 0 if fixed else None,
        }

    def begin(self, notes: list[str]) -> Steps[Session]:
        """The session for a program that begins: as the eval before it left it, or fresh.

        What the agent's programs have met so far is in its conversation, whatever became of their heaps.
        """
        session = yield from self._opened(notes)
        for effect, by in self._met.items():
            session.meet([cast("Effect", effect)], by)
        return session

    def _opened(self, notes: list[str]) -> Steps[Session]:
        if self._options.mode == "call":
            return self._fresh()
        left = yield from self._left_by_those_before()
        self._before = left.heap
        if left.gone:
            notes.append(f"Variables of earlier evals are gone: {left.gone}.")
        if not left.heap:
            return self._fresh()
        image = (yield from self._rows_under(left.heap)).get("image", {}).get("image")
        if image is None:
            notes.append("Variables of earlier evals are gone: their heap was erased.")
            return self._fresh()
        try:
            return self._engine.restore(image, self._tools, fork=True, **self._settings)
        except ChrysalidError as error:
            notes.append(f"Variables of earlier evals are gone: their heap cannot be opened ({error}).")
            return self._fresh()

    def restore(self, image: bytes) -> Session:
        """The session of a program that had begun.

        Raises:
            ChrysalidError: It cannot be opened here: another key, guest or set of tools. The pause stays as it is.
        """
        return self._engine.restore(image, self._tools, **self._settings)

    def keep(self, session: Session, outcome: Outcome) -> tuple[Left | None, bytes | None]:
        """Where the next eval finds the heap, and its image; None for where changes nothing."""
        if self._options.mode == "call":
            return None, None
        if session.is_lost or outcome.heap == "lost":
            return Left("", "the sandbox had to be abandoned"), None
        try:
            image = session.snapshot()
        except ChrysalidError as error:
            return Left("", f"the heap cannot be kept ({error})"), None
        if len(image) > self._options.snapshot_bytes:
            most = self._options.snapshot_bytes
            return Left("", f"the heap took {len(image)} bytes, and at most {most} are kept"), None
        return Left(self._shelf.key), image

    def update(self, left: Mapping[str, str] | None, spawned: int, met: Mapping[str, str]) -> dict[str, Any]:
        """The update of the agent's state."""
        change: dict[str, Any] = dict(left or {})
        if met.keys() - self._met.keys():
            change["met"] = dict(met)
        if spawned:
            change["spawned"] = spawned
        return {POINTER: change} if change else {}

    def _fresh(self) -> Session:
        return self._engine.session(self._tools, **self._settings)

    @property
    def before(self) -> str:
        """The key of the heap that this one comes after."""
        return self._before

    def _rows_under(self, key: str) -> Steps[Mapping[str, Row]]:
        found = yield Do(self._rows.read, self._rows.aread, (Shelf(self._shelf.thread_id, key),))
        return found or {}

    def _left_by_those_before(self) -> Steps[Left]:
        left = self._pointer
        for one in self._earlier:
            changed = yield from self._left_by(one)
            left = changed or left
        return left

    def _left_by(self, one: Earlier) -> Steps[Left | None]:
        """Wait for an eval of the same message. None when it changed nothing, or never began."""
        waited = 0.0
        while True:
            state = self._line.state(self._group, one.call_id)
            if state == "paused":
                if self._options.wait_behind_pause:
                    raise GraphInterrupt(())
                rows = yield from self._rows_under(one.key)
                asked = rows.get("ask", {}).get("questions", [])
                raise BehindPause(one.call_id, [action["name"] for one in asked for action in one["actions"]])
            if state != "running":
                image = (yield from self._rows_under(one.key)).get("image")
                if image is not None and image["done"]:
                    return Left(**image["left"]) if image["left"] else None
                if waited > _PATIENCE or state == "done":
                    return None
                waited += _TICK
            yield Sleep(_TICK)


_NEVER = 10.0**9
"""Seconds after which a timer would pause a program: an agent waits for its program's timers."""
