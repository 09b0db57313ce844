"""Where an eval keeps what must outlive the process: its image, its question, one row a call.

One shelf a call of the eval tool. `Rows` is the whole interface, so that another store can hold them; `SaverRows` puts
them into the user's own checkpointer. A shelf is a checkpoint in a namespace of its own, written to the saver directly:
nothing passes through a state channel, so nothing shows in state, history, streams or callbacks, and
`delete_thread` takes it along.
"""

from __future__ import annotations

import threading
import uuid
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from langgraph.checkpoint.base import empty_checkpoint

from chrysalid.langchain import private

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple

Row = Mapping[str, Any]

_FORMAT = 1
_CLAIM_CHANNEL = "chrysalid_claim"
_IDS = uuid.UUID("6b0f6c1e-5f0e-5d0a-9f43-2f1d2b8f4c11")


@dataclass(frozen=True)
class Shelf:
    """The rows of one call of the eval tool."""

    thread_id: str
    key: str


class Rows(Protocol):
    """A place for rows. Every write is durable when it returns."""

    def read(self, shelf: Shelf) -> dict[str, Row] | None:
        """All rows and claims of a shelf by name; None when it was never opened."""

    def open(self, shelf: Shelf) -> None:
        """Make the shelf. Doing it twice changes nothing."""

    def write(self, shelf: Shelf, name: str, row: Row) -> None:
        """Put a row, in place of an older one of that name."""

    def claim(self, shelf: Shelf, name: str, row: Row) -> Row:
        """Put a row unless one of that name is there; return the one that is there afterwards."""

    async def aread(self, shelf: Shelf) -> dict[str, Row] | None:
        """As `read`."""

    async def aopen(self, shelf: Shelf) -> None:
        """As `open`."""

    async def awrite(self, shelf: Shelf, name: str, row: Row) -> None:
        """As `write`."""

    async def aclaim(self, shelf: Shelf, name: str, row: Row) -> Row:
        """As `claim`."""


class SaverRows:
    """Rows in a LangGraph checkpointer.

    A row is a write on a channel that savers replace in place; a claim is one on an ordinary channel, where the first
    write of a task id stays.
    """

    def __init__(self, saver: BaseCheckpointSaver[Any]) -> None:
        self._saver = saver

    def read(self, shelf: Shelf) -> dict[str, Row] | None:
        return _rows(self._saver.get_tuple(_config(shelf)))

    async def aread(self, shelf: Shelf) -> dict[str, Row] | None:
        return _rows(await self._saver.aget_tuple(_config(shelf)))

    def open(self, shelf: Shelf) -> None:
        self._saver.put(_parent(shelf), {**empty_checkpoint(), "id": _checkpoint_id(shelf)}, _METADATA, {})

    async def aopen(self, shelf: Shelf) -> None:
        await self._saver.aput(_parent(shelf), {**empty_checkpoint(), "id": _checkpoint_id(shelf)}, _METADATA, {})

    def write(self, shelf: Shelf, name: str, row: Row) -> None:
        self._saver.put_writes(_config(shelf), [(private.ROW_CHANNEL, _pack(name, row))], _row_id(shelf, name))

    async def awrite(self, shelf: Shelf, name: str, row: Row) -> None:
        await self._saver.aput_writes(_config(shelf), [(private.ROW_CHANNEL, _pack(name, row))], _row_id(shelf, name))

    def claim(self, shelf: Shelf, name: str, row: Row) -> Row:
        self._saver.put_writes(_config(shelf), [(_CLAIM_CHANNEL, _pack(name, row))], _row_id(shelf, name))
        return (self.read(shelf) or {}).get(name, row)

    async def aclaim(self, shelf: Shelf, name: str, row: Row) -> Row:
        await self._saver.aput_writes(_config(shelf), [(_CLAIM_CHANNEL, _pack(name, row))], _row_id(shelf, name))
        return (await self.aread(shelf) or {}).get(name, row)


_METADATA: Any = {"source": "input", "step": -1, "parents": {}}


def _parent(shelf: Shelf) -> RunnableConfig:
    return {"configurable": {"thread_id": shelf.thread_id, "checkpoint_ns": _namespace(shelf)}}


def _config(shelf: Shelf) -> RunnableConfig:
    return {
        "configurable": {
            "thread_id": shelf.thread_id,
            "checkpoint_ns": _namespace(shelf),
            "checkpoint_id": _checkpoint_id(shelf),
        }
    }


def _namespace(shelf: Shelf) -> str:
    return f"chrysalid:{shelf.key}"


def _checkpoint_id(shelf: Shelf) -> str:
    """Derived, so that two processes that open a shelf at once open the same one."""
    return str(uuid.uuid5(_IDS, shelf.key))


def _row_id(shelf: Shelf, name: str) -> str:
    return str(uuid.uuid5(_IDS, f"{shelf.key}/{name}"))


def _pack(name: str, row: Row) -> dict[str, Any]:
    return {"chrysalid": _FORMAT, "name": name, "row": dict(row)}


def _rows(found: CheckpointTuple | None) -> dict[str, Row] | None:
    if found is None:
        return None
    return {
        value["name"]: value["row"]
        for _, channel, value in found.pending_writes or []
        if channel in (private.ROW_CHANNEL, _CLAIM_CHANNEL)
        and isinstance(value, dict)
        and value.get("chrysalid") == _FORMAT
    }


class ProcessRows:
    """Rows in this process, for an agent without a checkpointer: heaps last as long as the process."""

    def __init__(self, shelves: int = 64) -> None:
        self._shelves: OrderedDict[Shelf, dict[str, Row]] = OrderedDict()
        self._most = shelves
        self._lock = threading.Lock()

    def read(self, shelf: Shelf) -> dict[str, Row] | None:
        with self._lock:
            rows = self._shelves.get(shelf)
            return None if rows is None else dict(rows)

    def open(self, shelf: Shelf) -> None:
        with self._lock:
            self._shelves.setdefault(shelf, {})
            self._shelves.move_to_end(shelf)
            while len(self._shelves) > self._most:
                self._shelves.popitem(last=False)

    def write(self, shelf: Shelf, name: str, row: Row) -> None:
        with self._lock:
            self._shelves.setdefault(shelf, {})[name] = row

    def claim(self, shelf: Shelf, name: str, row: Row) -> Row:
        with self._lock:
            return self._shelves.setdefault(shelf, {}).setdefault(name, row)

    async def aread(self, shelf: Shelf) -> dict[str, Row] | None:
        return self.read(shelf)

    async def aopen(self, shelf: Shelf) -> None:
        self.open(shelf)

    async def awrite(self, shelf: Shelf, name: str, row: Row) -> None:
        self.write(shelf, name, row)

    async def aclaim(self, shelf: Shelf, name: str, row: Row) -> Row:
        return self.claim(shelf, name, row)
