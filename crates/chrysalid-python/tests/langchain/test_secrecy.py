"""Snapshots are for nobody's eyes: not in states, histories, streams, callbacks; and sealed where they are kept."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from harness import leaks
from harness.script import evaluate, program
from harness.thread import APPROVE, Thread, decisions
from langgraph.checkpoint.sqlite import SqliteSaver

New = Callable[..., Thread]
SAVERS = ["memory:", "sqlite", "sqlite+async", "postgres", "postgres+async"]

# A megabyte that does not compress, so that size alone would tell.
NOISE = """
    const noise = new Uint8Array(1 << 20);
    for (let n = 0, x = 1; n < noise.length; n++) { x ^= x << 13; x ^= x >>> 17; x ^= x << 5; noise[n] = x >>> 11 }
    const marker = ["the secret", "of this heap"].join(" ");
"""


@pytest.mark.parametrize("saver", SAVERS, indirect=True)
def test_s07_no_image_is_ever_shown(thread: New, saver: str) -> None:
    code = NOISE + "await tools.payGated({amount: 1}); await tools.payGated({amount: 2}); noise.length"
    run = thread(program(code, "noise.length", tools=["pay_gated"]), saver)
    reports = [run.send(), run.resume(decisions(APPROVE)), run.resume(decisions(APPROVE)), run.look()]
    assert reports[2].result("e2") == "<result>1048576</result>"
    for report in reports:
        assert report.leaks == []
        assert {place: size for place, size in report.largest.items() if size > 20_000} == {}
        assert report.state_bytes < 8_000
        assert report.history > 0


def test_s07_an_image_inside_of_a_subagent_is_not_shown(thread: New) -> None:
    sub = {
        "name": "sub",
        "script": {"*": [[evaluate(NOISE + "await tools.payGated({amount: 1}); 1", "s1")], "sub done"]},
        "tools": ["pay_gated"],
        "interpreter": {"ptc": ["pay_gated"]},
    }
    run = thread(program('await task({description: "x", subagentType: "sub"})', tools=["pay_gated"], subagents=[sub]))
    for report in (run.send(), run.resume(decisions(APPROVE))):
        assert report.leaks == []
        assert {place: size for place, size in report.largest.items() if size > 20_000} == {}
    assert run.effects == ["pay 1"]


def test_images_are_sealed_where_they_are_kept(thread: New) -> None:
    run = thread(program(NOISE + "await tools.payGated({amount: 1}); 1", tools=["pay_gated"]))
    run.send()
    assert leaks.MAGIC in _stored(run.folder)
    assert b"the secret of this heap" not in _stored(run.folder)


@pytest.mark.parametrize("mode", ["thread", "turn", "call"])
def test_images_do_not_pile_up(thread: New, mode: str) -> None:
    later = "1" if mode == "call" else "await tools.payGated({amount: 1}); noise.length"
    codes = [NOISE + "1", later, later, later, later]
    run = thread(program(*codes, tools=["pay_gated"], options={"mode": mode}))
    report = run.send()
    while report.interrupts:
        report = run.resume(decisions(APPROVE))
    kept = _images(run.folder)
    assert kept <= {"thread": 5, "turn": 5, "call": 0}[mode]


def test_images_of_ended_turns_go_in_mode_turn(thread: New) -> None:
    agent = program(NOISE + "1", "noise.length", tools=["pay_gated"], options={"mode": "turn"})
    agent["script"]["again"] = [[evaluate("typeof noise", "e3")]]
    run = thread(agent)
    run.send()
    assert run.send("again").result("e3") == "<result>undefined</result>"
    assert _images(run.folder) <= 1


@pytest.mark.parametrize("paused", [True, False], ids=["paused", "over"])
def test_deleting_a_thread_leaves_nothing(thread: New, paused: bool) -> None:
    run = thread(program(NOISE + "await tools.payGated({amount: 1}); 1", tools=["pay_gated"]))
    run.send()
    if not paused:
        run.resume(decisions(APPROVE))
    with SqliteSaver.from_conn_string(str(run.folder / "checkpoints.db")) as saver:
        saver.delete_thread(run.name)
    with contextlib.closing(sqlite3.connect(run.folder / "checkpoints.db")) as database:
        assert database.execute("select count(*) from writes").fetchone() == (0,)
        assert database.execute("select count(*) from checkpoints").fetchone() == (0,)


def _images(folder: Path) -> int:
    with contextlib.closing(sqlite3.connect(folder / "checkpoints.db")) as database:
        rows = [
            row[0] for row in database.execute("select value from writes union all select checkpoint from checkpoints")
        ]
    return sum(leaks.MAGIC in bytes(row) for row in rows if row is not None)


def _stored(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.glob("checkpoints.db*"))


def test_the_image_of_a_program_that_ended_in_mode_call_is_gone(thread: New) -> None:
    run = thread(program(NOISE + "await tools.payGated({amount: 1}); 1", tools=["pay_gated"], options={"mode": "call"}))
    run.send()
    assert _images(run.folder) == 1
    run.resume(decisions(APPROVE))
    assert _images(run.folder) == 0


def test_another_key_gives_a_fresh_heap_and_says_so(thread: New) -> None:
    agent = program("globalThis.kept = 1", tools=["pay_gated"], options={"snapshot_signing_key": "first"})
    agent["script"]["again"] = [[evaluate("typeof kept", "e2")]]
    run = thread(agent)
    run.send()
    run.agent = {**agent, "interpreter": {**agent["interpreter"], "snapshot_signing_key": "second"}}
    text = run.send("again").result("e2")
    assert "<result>undefined</result>" in text
    assert "<note>Variables of earlier evals are gone" in text


def test_an_old_key_still_opens(thread: New) -> None:
    agent = program("globalThis.kept = 1", tools=["pay_gated"], options={"snapshot_signing_key": "first"})
    agent["script"]["again"] = [[evaluate("typeof kept", "e2")]]
    run = thread(agent)
    run.send()
    run.agent = {
        **agent,
        "interpreter": {**agent["interpreter"], "snapshot_signing_key": "second", "old_snapshot_keys": ["first"]},
    }
    assert run.send("again").result("e2") == "<result>number</result>"


def test_s08_a_heap_that_is_too_large_is_dropped_and_the_model_is_told(thread: New) -> None:
    code = NOISE.replace("const noise", "globalThis.noise") + "0"
    run = thread(program(code, "typeof noise", tools=["pay_gated"], options={"max_snapshot_bytes": 200_000}))
    report = run.send()
    first, second = report.result("e1"), report.result("e2")
    assert "<result>0</result>" in first
    assert "<note>" in first
    assert "200,000" in first or "200000" in first
    assert "<result>undefined</result>" in second
    assert "<note>Variables of earlier evals are gone" in second
