"""One call of the eval tool, from its code or from what an earlier process left, to its message or its pause.

A generator of operations (see `driver.py`): it decides, others do. It drives the session's step machine, so that each
call passes policy and approval there, and saves the session before effects and before it asks.
"""

from __future__ import annotations

import dataclasses
import time
from collections import deque
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast

from langchain_core.messages import ToolMessage
from langgraph.types import Command, Send

from chrysalid import ChrysalidError, ToolError, UnknownCall
from chrysalid.langchain import result
from chrysalid.langchain.decision import Decisions
from chrysalid.langchain.driver import Await, Begin, Operation, Sleep
from chrysalid.langchain.heap import BehindPause
from chrysalid.langchain.journal import BEAT
from chrysalid.langchain.values import plain

if TYPE_CHECKING:
    from chrysalid import Outcome, PendingCall, Session, Step
    from chrysalid.langchain.calls import Calls
    from chrysalid.langchain.driver import Job
    from chrysalid.langchain.heap import Heap
    from chrysalid.langchain.invocation import Ended
    from chrysalid.langchain.journal import Journal
    from chrysalid.langchain.options import Options
    from chrysalid.tools import Effect

T = TypeVar("T")
Steps = Generator[Operation, Any, T]


@dataclass(frozen=True)
class Place:
    """Where an eval stands in its agent."""

    call_id: str
    """The id of the model's call of the eval tool."""
    key: str
    """The id of the eval: the same in every process, and for no other call."""
    code: str


class Evaluation:
    """One eval."""

    def __init__(self, options: Options, place: Place, journal: Journal, heap: Heap, calls: Calls) -> None:
        self._options = options
        self._place = place
        self._journal = journal
        self._heap = heap
        self._calls = calls
        self._session: Session
        self._notes: list[str] = []
        self._logs: list[list[str]] = []
        """Level and text of the lines printed before a pause."""
        self._flying: set[str] = set()
        """Calls that run, and subagents that wait for one of those that run."""
        self._subagents: set[str] = set()
        self._queue: deque[tuple[str, Job]] = deque()
        self._decisions = Decisions(journal, calls)

    def run(self) -> Steps[Command[Any]]:
        """The whole eval.

        Raises:
            GraphInterrupt: It waits for people.
            WrongDecisions: Their answer does not fit; they can answer again.
            ProgramTaken: Another process goes on with it.
        """
        yield from self._journal.load()
        image = self._journal.image
        if image is not None and image["done"]:
            self._calls.send(self._journal.writes())
            return self._message(image)
        if image is None:
            try:
                self._session = yield from self._heap.begin(self._notes)
            except BehindPause as error:
                return self._message(self._not_run(error))
            self._session.start(self._place.code)
        else:
            self._session = self._heap.restore(image["image"])
            self._notes = list(image["notes"])
            self._logs = [list(line) for line in image["logs"]]
            self._calls.go_on(image["spawned"], image["spawned_here"])
            self._calls.send(self._journal.writes())
        self._decisions.session = self._calls.session = self._session
        if image is not None:
            yield from self._take_up()
        outcome = yield from self._to_the_end()
        return (yield from self._finish(outcome))

    # ------------------------------------------------------------------------------------------ from another process

    def _take_up(self) -> Steps[None]:
        """Bring the session to where the rows say that the world is."""
        for call in self._session.pending:
            row = self._journal.calls.get(call.id)
            outcome = row["outcome"] if row else None
            if row is not None and outcome in ("done", "failed"):
                self._settle_from(row)
            elif outcome == "paused" or call.status == "waiting":
                continue
            elif self._calls.may_repeat(call.name):
                self._run_again(call)
            elif call.status == "unknown" and self._options.on_unknown == "fail":
                self._session.fail(call.id, _UNKNOWN, name="OutcomeUnknown")
        if self._journal.questions:
            yield from self._decisions.decide(self._journal.questions)

    def _meet(self, met: Mapping[str, str]) -> None:
        for effect, by in met.items():
            self._session.meet([cast("Effect", effect)], by)

    def _settle_from(self, row: Mapping[str, Any]) -> None:
        self._meet(row["met"])
        if row["outcome"] == "done":
            self._session.settle(row["call"], row["value"])
        else:
            self._session.fail(row["call"], row["message"], name=row["name"])
        self._journal.settled(row["call"])

    def _run_again(self, call: PendingCall) -> None:
        if call.status == "unknown":
            self._calls.repeat(call.id)
            self._session.approve(call.id)
        else:
            self._decisions.run_again(call.id)

    # ----------------------------------------------------------------------------------------------------- the program

    def _to_the_end(self) -> Steps[Outcome]:
        while True:
            yield from self._begin_again()
            yield from self._journal.beat()
            step = self._session.step()
            self._tell(step)
            match step.kind:
                case "start":
                    yield from self._begin(step)
                case "wait":
                    yield from self._await(step.wake_at)
                case "busy":
                    yield Sleep()
                case "paused":
                    yield from self._pause(step)
                case _ if step.outcome is not None:
                    return step.outcome

    def _pause(self, step: Step) -> Steps[None]:
        questions = [] if self._flying else self._decisions.questions()
        if not questions:
            yield from self._await(step.wake_at)
            return
        yield from self._save(paused=True)
        yield from self._journal.ask(questions)
        yield from self._decisions.decide(questions, unseen=True)

    def _tell(self, step: Step) -> None:
        """Show console lines as they come, and keep them for the model."""
        for event in step.events:
            if event["type"] == "line":
                self._calls.printed(event["level"], event["text"])
        left = self._options.max_result_chars - sum(len(text) for _, text in self._logs)
        for line in step.outcome.logs if step.outcome is not None else ():
            if left >= 0:  # one line more than the model gets, so that the cut shows
                self._logs.append([line.level, line.text])
            left -= len(line.text)

    def _await(self, until: float | None) -> Steps[None]:
        if until is None and not self._flying:
            raise RuntimeError("the program waits, and for nothing that this knows of")
        beat = time.time() + BEAT
        for ended in (yield Await(beat if until is None else min(until, beat))):
            yield from self._take(ended)
        while self._queue and len(self._subagents) < self._options.max_subagent_concurrency:
            yield from self._launch(*self._queue.popleft())

    def _begin(self, step: Step) -> Steps[None]:
        yield from self._save()
        for call in step.calls:
            answers = yield from self._calls.still_asked(call.id, self._journal.answers(call.id))
            try:
                job = self._calls.prepare(call.id, call.name, call.arguments, answers)
            except ToolError as error:
                self._session.fail(call.id, error.message, name=error.name)
                continue
            yield from self._launch(call.id, job)

    def _begin_again(self) -> Steps[None]:
        if not self._decisions.again:
            return
        yield from self._save()
        again, self._decisions.again = self._decisions.again, []
        calls = {call.id: call for call in self._session.pending}
        for call_id in again:
            call = calls[call_id]
            answers = yield from self._calls.still_asked(call_id, self._journal.answers(call_id))
            yield from self._launch(call_id, self._calls.prepare(call_id, call.name, call.arguments, answers))

    def _launch(self, call: str, job: Job) -> Steps[None]:
        """Begin a call, or have it wait while as many subagents run as may."""
        self._flying.add(call)
        if self._calls.is_task(call):
            if len(self._subagents) >= self._options.max_subagent_concurrency:
                self._queue.append((call, job))
                self._calls.announce(call, "queued")
                return
            self._subagents.add(call)
        self._calls.announce(call, "start")
        yield Begin(job)

    def _take(self, ended: Ended) -> Steps[None]:
        self._flying.discard(ended.call)
        self._subagents.discard(ended.call)
        ended = self._calls.ended(ended)
        met = yield from self._calls.brought(ended.call)
        yield from self._journal.record(ended, self._journal.answers(ended.call), met)
        self._meet(met)
        try:
            match ended.outcome:
                case "done":
                    self._session.settle(ended.call, ended.value)
                    self._tell_of_edit(ended)
                case "failed":
                    self._session.fail(ended.call, ended.message, name=ended.name)
                case "paused":
                    if not any(call.id == ended.call for call in self._session.pending):
                        self._session.suspend(ended.call)
                    return
        except UnknownCall:
            pass  # its program was stopped, or it ran out of time: the record says so
        except ChrysalidError as error:
            self._session.fail(ended.call, f"the result does not reach the program: {error}", name="ResultTooLarge")
        self._journal.settled(ended.call)

    def _tell_of_edit(self, ended: Ended) -> None:
        """The engine marks results that are objects; of others the model is told beside the result."""
        record = next((call for call in self._session.calls if call.id == ended.call), None)
        if record is not None and record.edited is not None and not isinstance(ended.value, dict):
            name = self._calls.tool_name(record.name)
            called = self._calls.tool_name(record.called_as or record.name)
            self._notes.append(f"A person edited the call of {called}: what ran is {name} with {plain(record.edited)}.")

    def _save(self, *, paused: bool = False) -> Steps[None]:
        header = {
            "paused": paused,
            "notes": self._notes,
            "logs": self._logs,
            "record": self._record(),
            "met": self._met(),
            **self._calls.counts(),
        }
        yield from self._journal.save(self._session.snapshot(), header)

    def _met(self) -> dict[str, str]:
        """Each effect that the session has met, with what brought it."""
        return dict(reversed(self._session.met))

    def _record(self) -> list[list[str]]:
        """Id, name and status of this program's calls, for whoever has to tell of it without opening the image."""
        calls = self._session.calls
        program = calls[-1].id.partition(".")[0] if calls else ""
        return [
            [call.id, self._calls.tool_name(call.name), call.status]
            for call in calls
            if call.id.partition(".")[0] == program
        ]

    # -------------------------------------------------------------------------------------------------------------- end

    def _finish(self, outcome: Outcome) -> Steps[Command[Any]]:
        left, image = self._heap.keep(self._session, outcome)
        notes = [*self._notes, *outcome.notes]
        if left is not None and left.gone:
            notes.append(f"All variables are gone: {left.gone}.")
        self._calls.bring(self._met())
        report = result.Report(outcome, self._logs, notes)
        row = {
            "text": report.text(self._options),
            "artifact": report.artifact(self._options),
            "failed": outcome.error is not None,
            "left": dataclasses.asdict(left) if left is not None else None,
            "before": self._heap.before,
            "met": self._met(),
            "image": image,
            **self._calls.counts(),
        }
        yield from self._journal.finish(row)
        return self._message(row)

    def _not_run(self, why: BehindPause) -> Mapping[str, Any]:
        text = f"not run: {why}; run it again once that one has ended"
        text = result.error("SessionPaused", text, self._options.max_result_chars)
        return {"text": text, "artifact": None, "failed": True, "left": None, "met": {}, "spawned_more": 0}

    def _message(self, row: Mapping[str, Any]) -> Command[Any]:
        message = ToolMessage(
            row["text"],
            name=self._options.tool_name,
            tool_call_id=self._place.call_id,
            artifact=row["artifact"],
            status="error" if row["failed"] else "success",
        )
        update = {"messages": [message], **self._heap.update(row["left"], row["spawned_more"], row["met"])}
        return self._with_updates_of_calls(update)

    def _with_updates_of_calls(self, update: dict[str, Any]) -> Command[Any]:
        """One command for all: state writes go to their channels, messages come behind the answer to the model."""
        goto: list[Any] = []
        writes: list[tuple[str, Any]] = []
        for command in self._journal.commands():
            goto += [command.goto] if isinstance(command.goto, str | Send) else command.goto
            for key, value in (command.update or {}).items():
                if key == "messages":
                    update["messages"] += value
                else:
                    writes.append((key, value))
        self._calls.send(_last_of_each(writes, self._calls.single_value_keys()))
        return Command(update=update, goto=goto)


_UNKNOWN = "the process ended while this call was under way; whether it was done is not known"


def _last_of_each(writes: Sequence[tuple[str, Any]], keys: frozenset[str]) -> list[tuple[str, Any]]:
    """The same writes, of these keys only the last: they take one in a step."""
    last = {key: index for index, (key, _) in enumerate(writes)}
    return [(key, value) for index, (key, value) in enumerate(writes) if key not in keys or last[key] == index]
