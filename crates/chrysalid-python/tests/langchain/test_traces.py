"""Traces and streams: what a program does shows under its eval, while it runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from harness.script import program, worker
from harness.thread import Report, Thread

New = Callable[..., Thread]


def _ancestors(report: Report, run: dict[str, Any]) -> list[str | None]:
    by_id = {each["id"]: each for each in report.runs}
    names = []
    while run["parent"] in by_id:
        run = by_id[run["parent"]]
        names.append(run["name"])
    return names


@pytest.mark.parametrize("saver", ["sqlite", "sqlite+async"], indirect=True)
def test_w01_inner_calls_are_children_of_the_eval(thread: New, saver: str) -> None:
    code = """
        await tools.echo({v: 1});
        await tools.fail({msg: "x"}).catch(() => 0);
        await task({description: "say hi", subagentType: "worker"})
    """
    run = thread(program(code, tools=["echo", "fail"], subagents=[worker("worker", "hi")]), saver)
    report = run.send()
    tools = {each["name"]: each for each in report.runs if each["kind"] == "tool"}
    assert set(tools) == {"eval", "echo", "fail", "task"}
    assert "'v': 1" in tools["echo"]["input"]
    for name in ("echo", "fail", "task"):
        assert "eval" in _ancestors(report, tools[name])
        assert tools[name]["thread"] == run.name
    assert tools["echo"]["end"] == "done"
    assert tools["fail"]["end"] == "ValueError"
    models = [each for each in report.runs if each["kind"] == "model"]
    inner = [each for each in models if "eval" in _ancestors(report, each)]
    assert len(models) == 3
    assert len(inner) == 1
    assert inner[0]["end"] == "done"


@pytest.mark.parametrize("saver", ["sqlite", "sqlite+async"], indirect=True)
def test_w02_calls_and_lines_stream_while_the_program_runs(thread: New, saver: str) -> None:
    code = 'for (let i = 0; i < 3; i++) { console.log("step " + i); await tools.slow({ms: 100, v: i}); }'
    report = thread(program(code, tools=["slow"], kind="plain"), saver).send()
    shown = []
    for event in report.events:
        if event.get("type") == "console":
            shown.append(event["text"])
        elif event.get("type") == "call":
            shown.append(f"{event['name']} {event['phase']}")
    assert shown == [each for n in range(3) for each in (f"step {n}", "slow start", "slow complete")]
