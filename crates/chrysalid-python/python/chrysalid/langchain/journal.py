"""The rows of one eval: what was begun is on record before it begins, what was done before anything else happens.

Before each batch of calls the image is saved with those calls marked as started; after each call comes a small row with
its outcome. A process that finds an image but no row for one of its started calls knows that nobody can know. An image
has a version, and who saves one must first claim its number: of two processes that resume one thread, one goes on.
"""

from __future__ import annotations

import itertools
import os
import socket
import time
import uuid
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from langgraph.types import Command

from chrysalid.langchain.approval import Question
from chrysalid.langchain.detached import Answers
from chrysalid.langchain.driver import Do, Operation, Sleep

if TYPE_CHECKING:
    from chrysalid.langchain.invocation import Ended
    from chrysalid.langchain.rows import Row, Rows, Shelf

Steps = Generator[Operation, Any, None]

IMAGE = "image"
ASK = "ask"
_CALL = "call:"
_BEAT_ROW = "beat"
BEAT = 3.0
"""Seconds between two signs that a process is at work."""
_PATIENCE = 10.0
"""Seconds without a sign after which what a process claimed counts as left behind."""


class ProgramTaken(RuntimeError):
    """Another process goes on with this program. Nothing was done here; the thread is as that process leaves it."""


class Journal:
    """The rows of one eval."""

    def __init__(self, rows: Rows, shelf: Shelf, task: str, ready: Callable[[], Steps]) -> None:
        self._rows = rows
        self._shelf = shelf
        self._task = task
        self._ready = ready
        self._owner = uuid.uuid4().hex
        _working.add(self._owner)
        self._open = False
        self._slots: dict[str, int] = {}
        self._free: set[str] = set()
        self._order = itertools.count()
        self._beaten = 0.0
        self.version = 0
        self.image: Row | None = None
        self.calls: dict[str, Row] = {}
        """The last row of each call that still matters, by call id."""
        self.questions: list[Question] = []
        self.answer: Any = None
        self.used = 0
        """How many answers of this task were taken, over all processes."""

    def close(self) -> None:
        """Give up what it claimed and did not save."""
        _working.discard(self._owner)

    def load(self) -> Steps:
        """Read what an earlier run of this eval left.

        Raises:
            ProgramTaken: It is no earlier one: another process is at work on it.
        """
        rows = yield Do(self._rows.read, self._rows.aread, (self._shelf,))
        self._open = rows is not None
        rows = rows or {}
        self.image = rows.get(IMAGE)
        if self.image and not self.image["done"] and not self.image["paused"]:
            _refuse_if_at_work(rows)
        self.version = int(self.image["version"]) if self.image else 0
        for name, row in rows.items():
            if name.startswith(_CALL):
                self.calls[row["call"]] = row
                self._slots[row["call"]] = int(name.removeprefix(_CALL))
        self._order = itertools.count(1 + max((int(row["order"]) for row in self.calls.values()), default=-1))
        ask = rows.get(ASK)
        if ask and ask["task"] == self._task:
            self.used = int(ask["used"])
        if ask and ask["version"] == self.version:
            self.questions = [Question.from_row(row) for row in ask["questions"]]
            self.answer = ask["answer"]

    def save(self, image: bytes, header: Mapping[str, Any]) -> Steps:
        """Put a new image in the old one's place, unless another process did."""
        if self.version == 0:
            yield from self._ready()
        yield from self._opened()
        yield from self._claimed(self.version + 1)
        self.version += 1
        self.questions, self.answer = [], None
        by = self._signature()
        yield from self._write(IMAGE, {**header, "version": self.version, "done": False, "image": image, "by": by})
        self._beaten = by["at"]
        for call in self._free:
            self._slots.pop(call, None)
            self.calls.pop(call, None)
        self._free.clear()

    def beat(self) -> Steps:
        """Say from time to time that this process is at work: one that finds no such word for long takes over."""
        if self.version and time.time() - self._beaten > BEAT:
            self._beaten = time.time()
            yield from self._write(_BEAT_ROW, self._signature())

    def finish(self, row: Mapping[str, Any]) -> Steps:
        """Put what came of the eval in the image's place."""
        yield from self._opened()
        if self.version:
            yield from self._claimed(self.version + 1)
        self.version += 1
        self.image = {**row, "version": self.version, "done": True}
        yield from self._write(IMAGE, self.image)

    def record(self, ended: Ended, answers: Answers, met: Mapping[str, str]) -> Steps:
        """Note what became of a call, and the effects that a subagent brought."""
        yield from self._call_row(
            ended.call,
            outcome=ended.outcome,
            value=ended.value,
            message=ended.message,
            name=ended.name,
            commands=[_packed(command) for command in ended.commands],
            writes=[list(write) for write in ended.writes],
            answers=answers.row(),
            met=dict(met),
            pause=None
            if ended.pause is None
            else {"direct": ended.pause.direct, "interrupts": [dict(one) for one in ended.pause.interrupts]},
        )

    def answered(self, call: str, answers: Answers) -> Steps:
        """Note that a nested call is about to go on with these answers."""
        yield from self._call_row(call, outcome="answered", commands=[], writes=[], answers=answers.row(), pause=None)

    def answers(self, call: str) -> Answers:
        """What people have answered to a call so far."""
        row = self.calls.get(call)
        return Answers.from_row(row["answers"] if row else None)

    def settled(self, call: str) -> None:
        """The program has the call's outcome: with the next image its row is needed no more, unless for its updates."""
        row = self.calls.get(call)
        if row is not None and not row["commands"] and not row["writes"]:
            self._free.add(call)

    def ask(self, questions: Sequence[Question]) -> Steps:
        """Note what is about to be asked."""
        self.questions, self.answer = list(questions), None
        yield from self._ask_row()

    def take(self, used: int, answer: Any = None) -> Steps:
        """Note that answers were taken, before anything is done about them."""
        self.used, self.answer = used, answer
        yield from self._ask_row()

    def commands(self) -> list[Command[Any]]:
        """The state updates that calls returned, in the order in which they ended."""
        return [_unpacked(one) for row in self._by_order() for one in row["commands"]]

    def writes(self) -> list[tuple[str, Any]]:
        """The state writes that calls made on their way, in the same order."""
        return [(channel, value) for row in self._by_order() for channel, value in row["writes"]]

    def _by_order(self) -> list[Row]:
        return sorted(self.calls.values(), key=lambda row: int(row["order"]))

    def _call_row(self, call: str, **row: Any) -> Steps:
        slot = self._slots.setdefault(call, self._lowest_slot())
        self.calls[call] = {"call": call, "order": next(self._order), **row}
        yield from self._opened()
        yield from self._write(f"{_CALL}{slot}", self.calls[call])

    def _lowest_slot(self) -> int:
        taken = set(self._slots.values())
        return next(slot for slot in itertools.count() if slot not in taken)

    def _ask_row(self) -> Steps:
        yield from self._opened()
        row = {
            "version": self.version,
            "questions": [question.row() for question in self.questions],
            "answer": self.answer,
            "task": self._task,
            "used": self.used,
        }
        yield from self._write(ASK, row)

    def _opened(self) -> Steps:
        if not self._open:
            yield Do(self._rows.open, self._rows.aopen, (self._shelf,))
            self._open = True

    def _write(self, name: str, row: Mapping[str, Any]) -> Steps:
        yield Do(self._rows.write, self._rows.awrite, (self._shelf, name, row))

    def _claimed(self, version: int) -> Steps:
        yield from _claimed(self._rows, self._shelf, version, self._signature())

    def _signature(self) -> dict[str, Any]:
        return _signature(self._owner)


def withdraw(rows: Rows, shelf: Shelf, version: int, row: Mapping[str, Any]) -> Steps:
    """Put what is told of a program in its image's place: a process that is at work on it stops at its next image.

    Raises:
        ProgramTaken: It is just saving the next image.
    """
    yield from _claimed(rows, shelf, version + 1, _signature(uuid.uuid4().hex))
    yield Do(rows.write, rows.awrite, (shelf, IMAGE, {**row, "version": version + 1, "done": True}))


def _signature(owner: str) -> dict[str, Any]:
    return {"owner": owner, "host": socket.gethostname(), "process": os.getpid(), "at": time.time()}


def _claimed(rows: Rows, shelf: Shelf, version: int, mine: Mapping[str, Any]) -> Steps:
    for attempt in itertools.count():
        found = yield Do(rows.claim, rows.aclaim, (shelf, f"claim:{version}.{attempt}", mine))
        if found["owner"] == mine["owner"]:
            return
        image = ((yield Do(rows.read, rows.aread, (shelf,))) or {}).get(IMAGE)
        if _is_at_work(found) or (image is not None and int(image["version"]) >= version):
            raise ProgramTaken(_taken_by(found))


def _refuse_if_at_work(rows: Mapping[str, Row]) -> None:
    by = rows[IMAGE]["by"]
    beat = rows.get(_BEAT_ROW)
    latest = beat if beat and beat["owner"] == by["owner"] else by
    if _is_at_work(latest):
        raise ProgramTaken(_taken_by(latest))


def _taken_by(who: Mapping[str, Any]) -> str:
    return f"process {who['process']} on {who['host']} is at work on this program; nothing was done here"


_working: set[str] = set()
"""The owners of this process that are at work."""


def _is_at_work(who: Mapping[str, Any]) -> bool:
    """Whether whoever signed is still there: here that is known, elsewhere it shows in how long ago it was."""
    if who["host"] == socket.gethostname():
        if who["process"] == os.getpid():
            return who["owner"] in _working
        if not _is_alive(int(who["process"])):
            return False
    return time.time() - float(who["at"]) < _PATIENCE


def _is_alive(process: int) -> bool:
    if os.name == "nt":  # a signal of 0 is none there
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # somebody else's
        return True
    return True


def _packed(command: Command[Any]) -> dict[str, Any]:
    return {"update": command.update, "goto": command.goto}


def _unpacked(row: Mapping[str, Any]) -> Command[Any]:
    return Command(update=row["update"], goto=row["goto"] or ())


def until_saved(read: Do, seconds: float = 5.0) -> Steps:
    """Wait until LangGraph has written the checkpoint of the running step.

    Before that a crash would take the thread back behind the model's message, and the effect could not be told from one
    that never happened.
    """
    until = time.monotonic() + seconds
    while (yield read) is None and time.monotonic() < until:
        yield Sleep(0.002)
