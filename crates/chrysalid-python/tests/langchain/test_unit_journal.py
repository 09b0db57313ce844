"""Rows: what a crash at any write leaves, claims, and the savers that hold them."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from deepagents import create_deep_agent
from langchain.agents import create_agent
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.types import Command

from chrysalid.langchain import CodeInterpreterMiddleware, ProgramTaken, Shelf
from chrysalid.langchain.rows import ProcessRows, Row, SaverRows
from scripted import ScriptedModel, approve, texts, thread, user

CODE = """
    const a = await tools.look({what: 'a'});
    const [b, c] = await Promise.all([tools.pay({amount: 1}), tools.look({what: 'c'})]);
    const d = await tools.look({what: 'd'});
    [a, b, c, d].join(' ')
"""


class Crash(BaseException):
    """The process dies here."""


class CrashingRows(SaverRows):
    """Dies at the n-th write, before or after it reached the saver."""

    def __init__(self, saver: Any, at: int, *, after: bool) -> None:
        super().__init__(saver)
        self.at = at
        self.after = after
        self.writes = 0

    def write(self, shelf: Shelf, name: str, row: Row) -> None:
        self.writes += 1
        if self.writes == self.at and not self.after:
            raise Crash
        super().write(shelf, name, row)
        if self.writes == self.at and self.after:
            raise Crash


class World:
    """Effects, and agents over them."""

    def __init__(self) -> None:
        self.effects: list[str] = []
        self.saver = InMemorySaver()

        @tool
        def look(what: str) -> str:
            """Looks."""
            self.effects.append(f"look {what}")
            return what

        @tool
        def pay(amount: int) -> str:
            """Pays."""
            self.effects.append(f"pay {amount}")
            return f"paid {amount}"

        self.tools = [look, pay]

    def agent(self, **options: Any) -> Any:
        return create_deep_agent(
            ScriptedModel(script=[[CODE]]),
            self.tools,
            middleware=[CodeInterpreterMiddleware(ptc=["look", "pay"], **options)],
            interrupt_on={"pay": True},
            checkpointer=options.get("checkpointer", self.saver),
        )

    def to_the_end(self) -> tuple[list[str], list[str]]:
        """Go on in fresh agents and approve payments; what else is asked is answered as done. The texts, and what was
        asked about calls of which nobody knows."""
        unknown: list[str] = []
        result = self.agent().invoke(None, thread())
        while "__interrupt__" in result:
            requests = result["__interrupt__"][0].value["action_requests"]
            decisions = []
            for one in requests:
                if "is not known" in one["description"]:
                    name = f"{one['name']} {next(iter(one['args'].values()))}"
                    unknown.append(name)
                    value = one["args"].get("what", "paid 1")
                    decisions.append(
                        {"type": "respond", "message": value} if name in self.effects else {"type": "approve"}
                    )
                else:
                    decisions.append({"type": "approve"})
            result = self.agent().invoke(Command(resume={"decisions": decisions}), thread())
        return texts(result), unknown


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("at", range(1, 40))
def test_a_crash_at_any_write_runs_nothing_twice(at: int, after: bool) -> None:
    world = World()
    rows = CrashingRows(world.saver, at, after=after)
    agent = world.agent(rows=rows)
    try:
        agent.invoke(user(), thread())
        agent.invoke(Command(resume=approve()), thread())
    except Crash:
        shown, unknown = world.to_the_end()
        assert len(unknown) <= 2
    else:
        shown = texts(agent.get_state(thread()).values)
        assert rows.writes < at
    assert shown == ["<result>a paid 1 c d</result>"]
    assert Counter(world.effects) == Counter(["look a", "look c", "look d", "pay 1"])


def test_an_unknown_call_can_fail_by_option_and_an_idempotent_tool_is_run_again() -> None:
    world = World()
    agent = world.agent(rows=CrashingRows(world.saver, 2, after=False))
    with pytest.raises(Crash):
        agent.invoke(user(), thread())
    assert world.effects == ["look a"]
    [text] = texts(world.agent(on_unknown="fail").invoke(None, thread()))
    assert text.startswith('<error type="OutcomeUnknown">the process ended while this call was under way')

    world = World()
    world.tools[0].metadata = {"chrysalid": {"idempotent": True}}
    agent = world.agent(rows=CrashingRows(world.saver, 2, after=False))
    with pytest.raises(Crash):
        agent.invoke(user(), thread())
    world.agent().invoke(None, thread())
    assert world.effects[:2] == ["look a", "look a"]


def test_of_two_that_resume_at_once_one_goes_on() -> None:
    world = World()
    world.agent().invoke(user(), thread())
    meeting = threading.Barrier(2, timeout=30)

    class Meeting(SaverRows):
        """Both have read the question before either claims to go on."""

        def claim(self, shelf: Shelf, name: str, row: Row) -> Row:
            if name == "claim:4.0":
                meeting.wait()
            return super().claim(shelf, name, row)

    ended: list[Any] = []

    def resume() -> None:
        try:
            ended.append(texts(world.agent(rows=Meeting(world.saver)).invoke(Command(resume=approve()), thread())))
        except ProgramTaken as error:
            ended.append(error)

    both = [threading.Thread(target=resume) for _ in range(2)]
    for one in both:
        one.start()
    for one in both:
        one.join()
    assert Counter(type(one).__name__ for one in ended) == Counter(["list", "ProgramTaken"])
    assert Counter(world.effects)["pay 1"] == 1


def rows_of(kind: str, folder: Path) -> Any:
    if kind == "process":
        return ProcessRows()
    if kind == "memory":
        return SaverRows(InMemorySaver())
    return SaverRows(SqliteSaver(sqlite3.connect(folder / "db", check_same_thread=False)))


SHELF = Shelf("t", "k")


@pytest.mark.parametrize("kind", ["process", "memory", "sqlite"])
def test_rows_are_replaced_and_claims_are_not(kind: str, tmp_path: Path) -> None:
    rows = rows_of(kind, tmp_path)
    assert rows.read(SHELF) is None
    rows.open(SHELF)
    assert rows.read(SHELF) == {}
    rows.write(SHELF, "image", {"image": b"1", "n": 1})
    rows.open(SHELF)
    rows.write(SHELF, "image", {"image": b"2", "n": 2})
    rows.write(SHELF, "call:0", {"value": {"a": [1, None, "x"]}})
    assert rows.claim(SHELF, "claim:1", {"owner": "a"}) == {"owner": "a"}
    assert rows.claim(SHELF, "claim:1", {"owner": "b"}) == {"owner": "a"}
    assert rows.read(SHELF) == {
        "image": {"image": b"2", "n": 2},
        "call:0": {"value": {"a": [1, None, "x"]}},
        "claim:1": {"owner": "a"},
    }
    assert rows.read(Shelf("t", "other")) is None
    assert rows.read(Shelf("other", "k")) is None


def test_rows_on_the_async_path(tmp_path: Path) -> None:
    async def main() -> None:
        async with AsyncSqliteSaver.from_conn_string(str(tmp_path / "db")) as saver:
            rows = SaverRows(saver)
            assert await rows.aread(SHELF) is None
            await rows.aopen(SHELF)
            await rows.awrite(SHELF, "image", {"n": 1})
            await rows.awrite(SHELF, "image", {"n": 2})
            assert await rows.aclaim(SHELF, "claim:1", {"owner": "a"}) == {"owner": "a"}
            assert await rows.aclaim(SHELF, "claim:1", {"owner": "b"}) == {"owner": "a"}
            assert await rows.aread(SHELF) == {"image": {"n": 2}, "claim:1": {"owner": "a"}}

    asyncio.run(main())


def test_deleting_the_thread_deletes_the_rows() -> None:
    saver = InMemorySaver()
    rows = SaverRows(saver)
    rows.open(SHELF)
    rows.write(SHELF, "image", {"n": 1})
    saver.delete_thread("t")
    assert rows.read(SHELF) is None


def test_the_oldest_shelves_of_a_process_are_forgotten() -> None:
    rows = ProcessRows(shelves=2)
    for key in "abc":
        rows.open(Shelf("t", key))
    assert [rows.read(Shelf("t", key)) for key in "abc"] == [None, {}, {}]


def test_rows_of_many_calls_take_few_slots() -> None:
    saver = InMemorySaver()
    world = World()
    agent = create_agent(
        ScriptedModel(script=[["for (let i = 0; i < 50; i++) await tools.look({what: 'w' + i})"]]),
        world.tools,
        middleware=[CodeInterpreterMiddleware(ptc=["look"])],
        checkpointer=saver,
    )
    agent.invoke(user(), thread())
    [shelf] = [key for key in saver.writes if key[1].startswith("chrysalid:")]
    names = [saver.serde.loads_typed(value)["name"] for _, _, value, _ in saver.writes[shelf].values()]
    assert [name for name in names if name.startswith("call:")] == ["call:0"]
    assert len(world.effects) == 50


class Held:
    """An agent in the middle of a call: the call waits until it is let go."""

    def __init__(self) -> None:
        self.saver = InMemorySaver()
        self.began = threading.Event()
        self.go = threading.Event()
        self.effects: list[str] = []
        self.ended: list[Any] = []

        @tool
        def hold() -> str:
            """Holds."""
            self.effects.append("begun")
            self.began.set()
            assert self.go.wait(60)
            self.effects.append("ended")
            return "held"

        @tool
        def after() -> str:
            """Comes after."""
            self.effects.append("after")
            return "after"

        self.tools = [hold, after]
        self.thread = threading.Thread(target=self._run)

    def agent(self) -> Any:
        return create_agent(
            ScriptedModel(script=[["await tools.hold() + await tools.after()"], []]),
            self.tools,
            middleware=[CodeInterpreterMiddleware(ptc=["hold", "after"])],
            checkpointer=self.saver,
        )

    def _run(self) -> None:
        try:
            self.ended.append(texts(self.agent().invoke(user(), thread(), durability="sync")))
        except ProgramTaken as error:
            self.ended.append(error)

    def __enter__(self) -> Held:
        self.thread.start()
        assert self.began.wait(60)
        return self

    def __exit__(self, *_: Any) -> None:
        self.go.set()
        self.thread.join()

    def signed(self, **changes: Any) -> None:
        """As if another process had saved the image."""
        rows = SaverRows(self.saver)
        (name,) = {key[1] for key in self.saver.writes if key[1].startswith("chrysalid:")}
        shelf = Shelf("1", name.removeprefix("chrysalid:"))
        image = (rows.read(shelf) or {})["image"]
        rows.write(shelf, "image", {**image, "by": {**image["by"], **changes}})


def test_a_program_that_somebody_is_at_work_on_is_not_taken_over() -> None:
    with Held() as held:
        with pytest.raises(ProgramTaken, match="is at work on this program; nothing was done here"):
            held.agent().invoke(None, thread())
        held.go.set()
    assert held.ended == [["<result>heldafter</result>"]]
    assert held.effects == ["begun", "ended", "after"]


@pytest.mark.parametrize(
    ("changes", "taken"),
    [
        ({"host": "elsewhere"}, True),
        ({"host": "elsewhere", "at": 0.0}, False),
        ({"process": 2**22 + 1}, False),
        ({"process": os.getppid()}, True),
        ({"process": os.getppid(), "at": 0.0}, False),
    ],
)
def test_who_counts_as_at_work(changes: dict[str, Any], taken: bool) -> None:
    with Held() as held:
        held.signed(**changes)
        if taken:
            with pytest.raises(ProgramTaken):
                held.agent().invoke(None, thread())
        else:
            result = held.agent().invoke(None, thread())
            assert "is not known" in result["__interrupt__"][0].value["action_requests"][0]["description"]
        held.go.set()
    assert held.effects.count("after") == (1 if taken else 0)
    assert isinstance(held.ended[0], ProgramTaken) is not taken


def test_a_process_at_work_says_so_from_time_to_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chrysalid.langchain.journal.BEAT", 0.05)
    monkeypatch.setattr("chrysalid.langchain.evaluation.BEAT", 0.05)
    beats: list[float] = []
    enough = threading.Event()

    class Beating(SaverRows):
        def write(self, shelf: Shelf, name: str, row: Row) -> None:
            super().write(shelf, name, row)
            if name == "beat":
                beats.append(row["at"])
                if len(beats) == 3:
                    enough.set()

    @tool
    def wait() -> str:
        """Waits for three beats."""
        assert enough.wait(60)
        return "done"

    saver = InMemorySaver()
    agent = create_agent(
        ScriptedModel(script=[["await tools.wait()"]]),
        [wait],
        middleware=[CodeInterpreterMiddleware(ptc=["wait"], rows=Beating(saver))],
        checkpointer=saver,
    )
    assert texts(agent.invoke(user(), thread())) == ["<result>done</result>"]
    assert beats == sorted(beats)


def test_a_new_message_stops_a_program_that_another_process_is_at_work_on() -> None:
    with Held() as held:
        result = held.agent().invoke(user("stop"), thread())
        assert texts(result) == [
            '<error type="Cancelled">withdrawn by a new user message before it ended; its variables are as they were '
            "before it\n- hold (1.1): begun; whether it was done is not known</error>"
        ]
        held.go.set()
    assert [type(one) for one in held.ended] == [ProgramTaken]
    assert held.effects == ["begun", "ended"]
