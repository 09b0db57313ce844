"""The blocks in the system prompt: what they say is so."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from harness.script import program, worker
from harness.thread import Thread

New = Callable[..., Thread]


def _prompt(thread: New, options: dict[str, Any] | None = None, **spec: Any) -> str:
    run = thread(program("1", tools=spec.pop("tools", ["echo", "give"]), options=options, **spec), "memory:")
    run.send()
    return str(run.sent[0]["system"])


def test_w04_limits_and_persistence_are_those_of_the_configuration(thread: New) -> None:
    plain = _prompt(thread)
    other = _prompt(
        thread,
        {"memory_limit": 32 << 20, "timeout": 2.5, "max_ptc_calls": 17, "max_result_chars": 1234, "mode": "call"},
    )
    for text in ("64 MiB", "5 s", "256", "4000"):
        assert text in plain
    for text in ("32 MiB", "2.5 s", "17", "1234"):
        assert text in other
        assert text not in plain
    assert _prompt(thread, {"mode": "turn"}) != plain


def test_subagents_are_named_only_when_there_are_some(thread: New) -> None:
    with_some = _prompt(
        thread, subagents=[worker("mailer", "x")], options={"max_subagent_concurrency": 7, "max_subagents_per_eval": 19}
    )
    for text in ("task(", "subagentType", "responseSchema", "mailer", "7", "19"):
        assert text in with_some
    assert "subagentType" not in _prompt(thread, kind="plain")


def test_signatures_have_arguments_and_results(thread: New) -> None:
    text = _prompt(thread, tools=["charge", "pay", "look"])
    assert re.search(r"charge\(.*amount: number.*\): Promise<string>", text)
    assert re.search(r"pay\(.*amount: number", text)
    assert "Charges the customer's card." in text


@pytest.mark.parametrize("kind", ["deep", "plain"])
def test_the_bytes_are_stable(thread: New, kind: str) -> None:
    spec = {"tools": ["echo", "give", "look", "pay"], "kind": kind}
    first = _prompt(thread, **spec)
    assert first == _prompt(thread, **spec)
    run = thread(program("1", "2", tools=spec["tools"], kind=kind), "memory:")
    run.send()
    assert len({sent["system"] for sent in run.sent}) == 1


def test_w04_every_sample_runs(thread: New) -> None:
    subagents = [worker("general-purpose", [{"name": "$structured", "id": "s1", "args": {"names": ["f"]}}])]
    text = _prompt(thread, subagents=subagents)
    samples = re.findall(r"```(?:js|javascript)\n(.*?)```", text, re.DOTALL)
    assert samples
    # Names that a sample uses and a conversation would have given.
    given = 'globalThis.files = ["a.ts"];'
    report = thread(
        program(*[given + sample for sample in samples], tools=["echo", "give"], subagents=subagents), "memory:"
    ).send()
    results = [report.result(f"e{number}") for number in range(1, len(samples) + 1)]
    assert [result for result in results if result.startswith("<error")] == []


def test_w04_what_it_says_of_globals_is_so(answers: Callable[..., list[str]], thread: New) -> None:
    text = _prompt(thread)
    absent = [name for name in ("fetch", "require", "process", "setTimeout", "console", "URL") if f"`{name}`" in text]
    found = answers(*[f"typeof {name}" for name in absent])
    assert found == ["<result>undefined</result>"] * len(absent)


def test_no_claim_of_another_interpreter(thread: New) -> None:
    text = _prompt(thread)
    for wrong in ("PTC", "QuickJS", "REPL"):
        assert wrong not in text
