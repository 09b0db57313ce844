"""A LangGraph thread that is driven step by step, each step in a process of its own."""

from __future__ import annotations

import dataclasses
import json
import os
import select
import signal
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any, Literal

from langgraph.checkpoint.memory import InMemorySaver

from . import effects, model, savers, step
from .agents import Spec, build

FOLDER = Path(__file__).parent.parent
SECONDS = 120

APPROVE = {"type": "approve"}
REJECT = {"type": "reject", "message": "no"}


def decisions(*each: dict[str, Any]) -> dict[str, Any]:
    """The answer to one interrupt, in the form of LangChain's human-in-the-loop middleware."""
    return {"decisions": list(each)}


def respond(text: str) -> dict[str, Any]:
    """A person's answer in place of the tool's."""
    return {"type": "respond", "message": text}


def edit(name: str, **arguments: Any) -> dict[str, Any]:
    """A person's call in place of the program's."""
    return {"type": "edit", "edited_action": {"name": name, "args": arguments}}


@dataclasses.dataclass(frozen=True)
class Report:
    """What a step left behind, as a client of the graph sees it."""

    error: str | None = None
    interrupts: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    next: list[str] = dataclasses.field(default_factory=list)
    messages: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    values: dict[str, Any] = dataclasses.field(default_factory=dict)
    keys: list[str] = dataclasses.field(default_factory=list)
    state_bytes: int = 0
    history: int = 0
    leaks: list[str] = dataclasses.field(default_factory=list)
    largest: dict[str, int] = dataclasses.field(default_factory=dict)
    events: list[Any] = dataclasses.field(default_factory=list)
    runs: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    seconds: float = 0.0
    peak_bytes: int = 0
    killed: bool = False

    @property
    def requests(self) -> list[tuple[str, dict[str, Any]]]:
        """Names and arguments of all action requests, interrupt by interrupt."""
        return [(each["name"], each["args"]) for pause in self.interrupts for each in pause["value"]["action_requests"]]

    @property
    def allowed(self) -> list[list[str]]:
        """The decisions that each action request allows."""
        return [each["allowed_decisions"] for pause in self.interrupts for each in pause["value"]["review_configs"]]

    def result(self, tool_call: str) -> str:
        """The text of the one answer that a tool call got."""
        (text,) = [each["text"] for each in self.messages if each["type"] == "tool" and each["id"] == tool_call]
        return str(text)

    def artifact(self, tool_call: str) -> dict[str, Any]:
        """The structured content beside that text."""
        (found,) = [each["artifact"] for each in self.messages if each["type"] == "tool" and each["id"] == tool_call]
        return dict(found)

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to do."""
        return not self.next and not self.interrupts and self.error is None

    @property
    def final(self) -> str:
        """The text of the last message."""
        return str(self.messages[-1]["text"])


class Thread:
    """An agent and the thread that it runs on.

    `saver` is a URL of `savers`, or `memory:`, where all steps run in this process, each with a new agent, or with
    `keep_agent` all with the same.
    """

    def __init__(
        self, folder: Path, agent: Spec, saver: str = "sqlite", durability: str | None = None, keep_agent: bool = False
    ) -> None:
        self.folder = folder
        self.agent = agent
        self.saver = f"{saver}:{folder / 'checkpoints.db'}" if saver in ("sqlite", "sqlite+async") else saver
        self.durability = durability
        self.name = f"thread-{uuid.uuid4().hex[:12]}"
        self._memory = InMemorySaver()
        self.agent_object = build(agent, self._memory) if keep_agent else None
        self._steps = 0

    @property
    def effects(self) -> list[str]:
        """All effects of all processes so far."""
        return effects.written(self.folder / "effects")

    @property
    def sent(self) -> list[dict[str, Any]]:
        """All that the models were sent so far."""
        path = self.folder / "sent"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def send(self, text: str = "go", **how: Any) -> Report:
        """A message of the user."""
        return self.step({"operation": "send", "text": text}, **how)

    def resume(self, value: Any, **how: Any) -> Report:
        """An answer to the interrupts: of one, or by their ids."""
        return self.step({"operation": "resume", "value": value}, **how)

    def go_on(self, **how: Any) -> Report:
        """Runs on without an answer, as after a crash."""
        return self.step({"operation": "go_on"}, **how)

    def update(self, values: dict[str, Any], as_node: str | None = None, **how: Any) -> Report:
        """`update_state`."""
        return self.step({"operation": "update", "values": values, "as_node": as_node}, **how)

    def look(self, **how: Any) -> Report:
        """Only reads the state."""
        return self.step({"operation": "look"}, **how)

    def step(
        self,
        operation: dict[str, Any],
        *,
        kill: str | None = None,
        kill_at_write: int = 0,
        process: Literal["fork", "exec"] = "fork",
    ) -> Report:
        """One step in a new process, which may be told to die on its way. `exec` starts a fresh Python."""
        environment = self._environment(kill, kill_at_write)
        request, errors = self._request(operation)
        if self.saver == "memory:":
            return self._in_this_process(json.loads(request.read_text()), environment)
        if process == "exec":
            return self._finish(self.start(operation, kill=kill, prepared=request))
        status = _forge.run(request, environment, errors)
        return self._report(request, status, errors)

    def start(self, operation: dict[str, Any], *, kill: str | None = None, prepared: Path | None = None) -> Running:
        """Starts a step in a fresh Python and does not wait for it: for two at once."""
        request = prepared or self._request(operation)[0]
        errors = request.with_suffix(".errors")
        with errors.open("w") as out:
            process = subprocess.Popen(
                [sys.executable, "-W", "ignore", "-m", "harness.step", str(request)],
                cwd=FOLDER, env=self._environment(kill, 0), stdin=subprocess.DEVNULL, stdout=out, stderr=out,
            )  # fmt: skip
        return Running(process, request, errors)

    def finish(self, running: Running) -> Report:
        """Waits for a step that was started."""
        return self._finish(running)

    def _finish(self, running: Running) -> Report:
        try:
            status = running.process.wait(SECONDS)
        finally:
            running.process.kill()
        return self._report(running.request, status, running.errors)

    def _request(self, operation: dict[str, Any]) -> tuple[Path, Path]:
        self._steps += 1
        request = self.folder / f"step-{self._steps}.json"
        settings = {"agent": self.agent, "saver": self.saver, "thread": self.name, "durability": self.durability}
        request.write_text(json.dumps({**settings, **operation, "report": str(request.with_suffix(".report"))}))
        return request, request.with_suffix(".errors")

    def _environment(self, kill: str | None, kill_at_write: int) -> dict[str, str]:
        # The key lies beside the database, as it would for the processes of one service.
        own = {
            effects.FILE: str(self.folder / "effects"),
            model.SENT: str(self.folder / "sent"),
            "XDG_STATE_HOME": str(self.folder / "state"),
            "LANGSMITH_TRACING": "false",
            "PYTHONPATH": os.pathsep.join([str(FOLDER), *filter(None, [os.environ.get("PYTHONPATH")])]),
        }
        if kill is not None:
            own[effects.KILL] = kill
        if kill_at_write:
            own[savers.KILL_AT_WRITE] = str(kill_at_write)
        return {**os.environ, **own}

    def _report(self, request: Path, status: int, errors: Path) -> Report:
        if status == -signal.SIGKILL:
            return Report(killed=True)
        if status != 0:
            raise AssertionError(f"the step ended with status {status}:\n{errors.read_text()[-4000:]}")
        return Report(**json.loads(request.with_suffix(".report").read_text()))

    def _in_this_process(self, request: dict[str, Any], environment: dict[str, str]) -> Report:
        before = dict(os.environ)
        os.environ.update(environment)
        try:
            return Report(**json.loads(json.dumps(step.run(request, self._memory, self.agent_object))))
        finally:
            os.environ.clear()
            os.environ.update(before)


@dataclasses.dataclass
class Running:
    """A step that runs in a process of its own."""

    process: subprocess.Popen[bytes]
    request: Path
    errors: Path


class _Forge:
    """The process that forks the steps; started at first use."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def run(self, request: Path, environment: dict[str, str], errors: Path) -> int:
        process = self._started(environment)
        assert process.stdin is not None
        job = {"request": str(request), "environment": environment, "errors": str(errors)}
        process.stdin.write(json.dumps(job) + "\n")
        process.stdin.flush()
        pid = self._answer(process)["pid"]
        answer = self._answer(process, SECONDS)
        if answer is None:
            os.kill(pid, signal.SIGKILL)
            self._answer(process)
            raise AssertionError(f"the step took longer than {SECONDS} s:\n{errors.read_text()[-4000:]}")
        return int(answer["status"])

    def _started(self, environment: dict[str, str]) -> subprocess.Popen[str]:
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                [sys.executable, "-W", "ignore", "-m", "harness.forge"],
                cwd=FOLDER, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            )  # fmt: skip
        return self._process

    def _answer(self, process: subprocess.Popen[str], seconds: float | None = None) -> Any:
        assert process.stdout is not None
        if not select.select([process.stdout], [], [], seconds)[0]:
            return None
        return json.loads(process.stdout.readline())

    def stop(self) -> None:
        """Ends it; a later step starts another."""
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
            self._process.wait(SECONDS)
            self._process = None


_forge = _Forge()


def stop_forge() -> None:
    """Ends the process that forks the steps."""
    _forge.stop()
