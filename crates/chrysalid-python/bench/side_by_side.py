"""Runs the same agents on langchain-quickjs and on chrysalid, and prints what came of it as a Markdown table.

    python bench/side_by_side.py [--memory] [NAME...]

`NAME` is R1 to R12; without one all run but R8, which takes gigabytes and a minute in the released interpreter and wants
`--memory`. Each step runs in a process of its own on LangGraph's asynchronous SQLite checkpointer, each pause is answered
with approvals from a new process, and the model is a script: no network is needed.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "langchain"))

from harness import scenarios
from harness.agents import Spec
from harness.thread import APPROVE, Report, Thread, decisions, stop_forge

INTERPRETERS = {"langchain_quickjs": "langchain-quickjs", "chrysalid.langchain": "chrysalid"}
MOST_PAUSES = 5
SHOWN = 110


@dataclasses.dataclass(frozen=True)
class Scenario:
    """One of the measured faults, as an agent that shows it."""

    name: str
    what: str
    agent: Callable[[], Spec]
    told: Callable[[Thread, Report], str] = lambda _, report: _told(report)
    keep_agent: bool = False
    expensive: bool = False


SCENARIOS = [
    Scenario(
        "R1",
        "an effect, then a subagent that needs approval; same process",
        scenarios.charge_then_mail,
        keep_agent=True,
    ),
    Scenario("R2", "the same, approved from a new process", scenarios.charge_then_mail),
    Scenario("R3", "variables of an earlier eval, approved from a new process", scenarios.variables_of_an_earlier_eval),
    Scenario("R4", "a tool in `interrupt_on`, called from code", scenarios.gated_call_from_code),
    Scenario("R5", "`try`/`catch` round a call that needs approval", scenarios.caught_approval),
    Scenario("R6", "two calls at once that need approval", scenarios.two_at_once),
    Scenario("R7", "300 `task()` in one program, call budget 2", lambda: scenarios.many_subagents(max_ptc_calls=2)),
    Scenario(
        "R8", "arrays for ever, 64 MiB and 5 s allowed", lambda: scenarios.memory_hog(scenarios.ARRAYS), expensive=True
    ),
    Scenario(
        "R8",
        "strings for ever, 64 MiB and 5 s allowed",
        lambda: scenarios.memory_hog(scenarios.STRINGS),
        expensive=True,
    ),
    Scenario("R9", "`function f() { f() }; f()`", scenarios.deep_recursion),
    Scenario(
        "R10",
        "`Date.now()`, `Math.random()`, and what the prompt says",
        scenarios.clock_and_random,
        lambda *ran: _clock(*ran),
    ),
    Scenario("R11", "an unknown `subagentType`", scenarios.unknown_subagent),
    Scenario("R12", "a few variables kept for the next turn", scenarios.some_state),
]


@dataclasses.dataclass
class Row:
    """What came of a scenario on one interpreter."""

    effects: list[str]
    asked: list[int]
    """Action requests, pause by pause."""
    told: str
    state_bytes: int
    database_bytes: int
    seconds: float
    peak_bytes: int


def run(scenario: Scenario, interpreter: str) -> Row:
    """Sends the message and approves whatever is asked, each from a new process."""
    with tempfile.TemporaryDirectory() as folder, _environment(CHRYSALID_TEST_INTERPRETER=interpreter):
        saver = "memory:" if scenario.keep_agent else "sqlite+async"
        thread = Thread(Path(folder), scenario.agent(), saver, keep_agent=scenario.keep_agent)
        process = "exec" if scenario.expensive else "fork"
        report = thread.send(process=process)
        reports, asked = [report], []
        while report.interrupts and len(reports) <= MOST_PAUSES:
            asked.append(len(report.requests))
            # By id: the released one may ask in several interrupts.
            answers = {
                each["id"]: decisions(*[APPROVE] * len(each["value"]["action_requests"])) for each in report.interrupts
            }
            report = thread.resume(answers, process=process)
            reports.append(report)
        database = sum(path.stat().st_size for path in Path(folder).glob("checkpoints.db*"))
        return Row(
            thread.effects, asked, scenario.told(thread, report), report.state_bytes, database,
            sum(each.seconds for each in reports), max(each.peak_bytes for each in reports),
        )  # fmt: skip


@contextlib.contextmanager
def _environment(**values: str):
    before = dict(os.environ)
    os.environ.update(values)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _told(report: Report) -> str:
    """What the model was told last about a program, or how the agent's run ended."""
    if report.error is not None:
        return f"the run failed: {report.error}"
    texts = [each["text"] for each in report.messages if each["type"] == "tool"]
    return str(texts[0 if "<error" in texts[0] else -1]) if texts else "nothing"


def _clock(thread: Thread, report: Report) -> str:
    """The readings, and the line of the prompt about them."""
    lines = [line for line in thread.sent[0]["system"].splitlines() if "clock" in line or "Math.random" in line]
    return f"{_told(report)[8:22]}…; prompt: {' '.join(lines)}"


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--memory", action="store_true", help="also R8")
    arguments = parser.parse_args()
    print(
        "| | what was done | interpreter | effects | approvals asked, by pause | the model was told | state | database | time | memory |"
    )
    print("|---|---|---|---|---:|---|---:|---:|---:|---:|")
    for scenario in SCENARIOS:
        wanted = scenario.name in arguments.names if arguments.names else arguments.memory or not scenario.expensive
        if wanted:
            for interpreter in INTERPRETERS:
                print(_line(scenario, interpreter, run(scenario, interpreter)), flush=True)
    stop_forge()


def _line(scenario: Scenario, interpreter: str, row: Row) -> str:
    effects = ", ".join(f"{effect} ×{count}" if count > 1 else effect for effect, count in Counter(row.effects).items())
    memory = f"{row.peak_bytes >> 20} MiB" if scenario.expensive else ""
    cells = [
        scenario.name, scenario.what, _label(interpreter), effects or "none", " + ".join(map(str, row.asked)) or "0", f"`{_short(row.told)}`",
        f"{row.state_bytes:,} B", f"{row.database_bytes >> 10:,} KiB" if row.database_bytes else "", f"{row.seconds:.1f} s", memory,
    ]  # fmt: skip
    return "| " + " | ".join(cells) + " |"


def _label(interpreter: str) -> str:
    package = INTERPRETERS[interpreter]
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return package


def _short(text: str) -> str:
    line = " ".join(text.split()).replace("|", "\\|").replace("`", "'")
    return line if len(line) <= SHOWN else f"{line[:SHOWN]}…"


if __name__ == "__main__":
    main()
