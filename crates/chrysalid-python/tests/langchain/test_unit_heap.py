"""Where variables last: modes, limits, forks, keys, and what the model is told when they are gone."""

from __future__ import annotations

import sqlite3
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.tools import tool
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver

from chrysalid.langchain import CodeInterpreterMiddleware
from scripted import ScriptedModel, texts, thread, user

TWICE = [["var n = (globalThis.n ?? 0) + 1; n", "n += 1; n"], ["typeof n === 'undefined' ? 'gone' : n"]]
MAGIC = b"\x89CHRY"


def agent(script: Any, saver: Any, **options: Any) -> Any:
    return create_agent(
        ScriptedModel(script=script), [], middleware=[CodeInterpreterMiddleware(**options)], checkpointer=saver
    )


@pytest.mark.parametrize(
    ("mode", "second", "third"), [("thread", "2", "2"), ("turn", "2", "gone"), ("call", None, "gone")]
)
def test_how_long_variables_last(mode: Any, second: str | None, third: str) -> None:
    saver = InMemorySaver()
    agent(TWICE, saver, mode=mode).invoke(user(), thread())
    result = texts(agent(TWICE, saver, mode=mode).invoke(user("again"), thread()))
    assert result[0] == "<result>1</result>"
    if second is None:
        assert result[1].startswith('<error type="ReferenceError">n is not defined')
    else:
        assert result[1] == f"<result>{second}</result>"
    assert result[2] == f"<result>{third}</result>"


def test_threads_do_not_share() -> None:
    made = agent(TWICE, InMemorySaver())
    assert texts(made.invoke(user(), thread("1"))) == texts(made.invoke(user(), thread("2")))


def test_without_a_checkpointer_variables_last_for_the_run() -> None:
    made = agent(TWICE, None)
    for _ in range(2):
        assert texts(made.invoke(user())) == ["<result>1</result>", "<result>2</result>"]


def test_time_travel_takes_the_heap_along() -> None:
    saver = InMemorySaver()
    made = agent([["let log = ['a']; log"], ["log.push('b'); log"], ["log.push('c'); log"]], saver)
    made.invoke(user("1"), thread())
    after_first = made.get_state(thread()).config
    assert texts(made.invoke(user("2"), thread()))[-1] == "<result>[ 'a', 'b' ]</result>"
    assert texts(made.invoke(user("other 2"), after_first))[-1] == "<result>[ 'a', 'b' ]</result>"
    assert texts(made.invoke(user("3"), thread()))[-1] == "<result>[ 'a', 'b', 'c' ]</result>"


def test_a_heap_that_is_too_large_is_dropped_with_a_note() -> None:
    script = [["let big = [...Array(50000).keys()].map(i => Math.random()); big.length", "typeof big"]]
    first, second = texts(agent(script, InMemorySaver(), max_snapshot_bytes=1000).invoke(user(), thread()))
    assert first.startswith("<result>50000</result>\n<note>All variables are gone: the heap took ")
    assert first.endswith(" bytes, and at most 1000 are kept.</note>")
    assert second.startswith("<result>undefined</result>\n<note>Variables of earlier evals are gone: the heap took ")


def test_another_key_means_a_fresh_heap_and_a_note_and_an_old_key_still_opens() -> None:
    script = [["let a = 1; a"], ["typeof a"], ["typeof a"]]
    saver = InMemorySaver()
    agent(script, saver, snapshot_signing_key="one").invoke(user(), thread())
    rotated = agent(script, saver, snapshot_signing_key="two", old_snapshot_keys=["one"])
    assert texts(rotated.invoke(user("2"), thread()))[-1] == "<result>number</result>"
    other = texts(agent(script, saver, snapshot_signing_key="three").invoke(user("3"), thread()))[-1]
    assert other.startswith(
        "<result>undefined</result>\n<note>Variables of earlier evals are gone: their heap cannot be"
    )


def test_an_erased_heap_is_told() -> None:
    saver = InMemorySaver()
    script = [["let a = 1; a"], ["typeof a"]]
    agent(script, saver).invoke(user(), thread())
    for key in [key for key in saver.writes if "chrysalid:" in key[1]]:
        del saver.writes[key]
    assert texts(agent(script, saver).invoke(user("2"), thread()))[-1] == (
        "<result>undefined</result>\n<note>Variables of earlier evals are gone: their heap was erased.</note>"
    )


def test_a_program_that_runs_out_of_memory_resets_to_before_it_and_says_so() -> None:
    script = [["let kept = 7; kept", "let all = []; for (;;) all.push(new Array(1000).fill(0))", "kept"]]
    first, second, third = texts(agent(script, InMemorySaver(), memory_limit=16 << 20).invoke(user(), thread()))
    assert (first, third) == ("<result>7</result>", "<result>7</result>")
    assert second.startswith('<error type="OutOfMemory">')
    assert "the session is back at what it was before this program" in second


def everything(saver: BaseCheckpointSaver[Any], made: Any) -> str:
    """All that a user of the thread sees."""
    states = [*made.get_state_history(thread()), made.get_state(thread(), subgraphs=True)]
    return repr([(one.values, one.tasks, one.metadata, one.interrupts) for one in states])


def test_images_are_small_sealed_and_nowhere_to_be_seen(tmp_path: Any) -> None:
    saver = SqliteSaver(sqlite3.connect(tmp_path / "db", check_same_thread=False))
    secret = "open sesame, said the forty thieves"

    @tool
    def look() -> str:
        """Looks."""
        return "seen"

    made = create_agent(
        ScriptedModel(script=[[f"let secret = '{secret}'.toUpperCase(); await tools.look()", "secret.length"]]),
        [look],
        middleware=[CodeInterpreterMiddleware(ptc=["look"])],
        checkpointer=saver,
    )
    chunks = list(
        made.stream(user(), thread(), stream_mode=["values", "updates", "debug", "tasks", "checkpoints", "custom"])
    )
    seen = everything(saver, made) + repr(chunks)
    assert secret in seen
    assert secret.upper() not in seen
    assert repr(MAGIC)[2:-1] not in seen
    saver.conn.execute("pragma wal_checkpoint(truncate)")
    stored = (tmp_path / "db").read_bytes()
    assert MAGIC in stored
    assert secret.upper().encode() not in stored
    images = [row for (row,) in saver.conn.execute("select value from writes") if MAGIC in row]
    assert len(images) == 2
    assert max(map(len, images)) < 16_000


def test_heaps_of_a_turn_that_is_over_are_erased() -> None:
    saver = InMemorySaver()
    made = agent([["let a = 1; a", "a += 1; a"], ["typeof a"]], saver, mode="turn")
    made.invoke(user(), thread())
    assert len(images(saver)) == 2
    assert texts(made.invoke(user("next"), thread()))[-1] == "<result>undefined</result>"
    assert len(images(saver)) == 1


def images(saver: InMemorySaver) -> list[bytes]:
    return [value for writes in saver.writes.values() for _, _, (_, value), _ in writes.values() if MAGIC in value]
