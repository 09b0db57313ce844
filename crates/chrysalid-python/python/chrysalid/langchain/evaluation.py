"""One call of the eval tool, from its code or from what an earlier process left, to its message or its pause.

A generator of operations (see `driver.py`): it decides, others do. It drives the session's step machine, so that each
call passes policy and approval there, and saves the session before effects and before it asks.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from langchain_core.messages import ToolMessage
from langgraph.errors import GraphInterrupt
from langgraph.types import Command, Send, interrupt

from chrysalid import ChrysalidError, ToolError, UnknownCall
from chrysalid.langchain import approval, result
from chrysalid.langchain.approval import Question, WrongDecisions
from chrysalid.langchain.detached import Answers
from chrysalid.langchain.driver import Await, Begin, Operation, Sleep
from chrysalid.langchain.heap import BehindPause
from chrysalid.langchain.journal import Journal
from chrysalid.langchain.values import plain

if TYPE_CHECKING:
    from chrysalid import Outcome, PendingCall, Session, Step
    from chrysalid.langchain.calls import Calls
    from chrysalid.langchain.heap import Heap
    from chrysalid.langchain.invocation import Ended
    from chrysalid.langchain.options import Options

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
        self._flying: set[str] = set()
        self._again: list[str] = []
        """Calls that wait outside of the session and are to be run again with their answers."""
        self._taken = 0
        """Answers that this execution got from LangGraph."""

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
            except BehindPause:
                return self._message(self._not_run())
            self._session.start(self._place.code)
        else:
            self._session = self._heap.restore(image["image"])
            self._notes = list(image["notes"])
            self._calls.go_on(image["spawned"], image["spawned_here"])
            self._calls.send(self._journal.writes())
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
            yield from self._decide(self._journal.questions)

    def _settle_from(self, row: Mapping[str, Any]) -> None:
        if row["outcome"] == "done":
            self._session.settle(row["call"], row["value"])
        else:
            self._session.fail(row["call"], row["message"], name=row["name"])
        self._journal.settled(row["call"])

    def _run_again(self, call: PendingCall) -> None:
        self._calls.repeat(call.id)
        if call.status == "unknown":
            self._session.approve(call.id)
        else:
            self._again.append(call.id)

    # ----------------------------------------------------------------------------------------------------- the program

    def _to_the_end(self) -> Steps[Outcome]:
        while True:
            yield from self._begin_again()
            step = self._session.step()
            match step.kind:
                case "start":
                    yield from self._begin(step)
                case "wait":
                    yield from self._await(step.wake_at)
                case "busy":
                    yield Sleep()
                case "paused" if self._flying or step.wake_at is not None and not self._questions():
                    yield from self._await(step.wake_at)
                case "paused":
                    yield from self._ask()
                case _:
                    assert step.outcome is not None
                    return step.outcome

    def _await(self, until: float | None) -> Steps[None]:
        for ended in (yield Await(until)):
            yield from self._take(ended)

    def _begin(self, step: Step) -> Steps[None]:
        yield from self._save()
        for call in step.calls:
            answers = yield from self._calls.still_asked(call.id, self._answers(call.id))
            try:
                job = self._calls.prepare(call.id, call.name, call.arguments, answers)
            except ToolError as error:
                self._session.fail(call.id, error.message, name=error.name)
                continue
            self._flying.add(call.id)
            yield Begin(job)

    def _begin_again(self) -> Steps[None]:
        if not self._again:
            return
        yield from self._save()
        again, self._again = self._again, []
        calls = {call.id: call for call in self._session.pending}
        for call_id in again:
            call = calls[call_id]
            answers = yield from self._calls.still_asked(call_id, self._answers(call_id))
            self._flying.add(call_id)
            yield Begin(self._calls.prepare(call_id, call.name, call.arguments, answers))

    def _answers(self, call_id: str) -> Answers:
        row = self._journal.calls.get(call_id)
        return Answers.from_row(row["answers"] if row else None)

    def _take(self, ended: Ended) -> Steps[None]:
        self._flying.discard(ended.call)
        ended = self._calls.ended(ended)
        yield from self._journal.record(ended, self._answers(ended.call))
        try:
            match ended.outcome:
                case "done":
                    self._session.settle(ended.call, ended.value)
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

    def _save(self, *, paused: bool = False) -> Steps[None]:
        header = {"paused": paused, "notes": self._notes, "record": self._record(), **self._calls.counts()}
        yield from self._journal.save(self._session.snapshot(), header)

    def _record(self) -> list[list[str]]:
        """Id, name and status of this program's calls, for whoever has to tell of it without opening the image."""
        calls = self._session.calls
        program = calls[-1].id.partition(".")[0] if calls else ""
        return [
            [call.id, self._calls.tool_name(call.name), call.status]
            for call in calls
            if call.id.partition(".")[0] == program
        ]

    # --------------------------------------------------------------------------------------------------------- approval

    def _questions(self) -> list[Question]:
        return [question for call in self._session.pending if (question := self._question(call)) is not None]

    def _question(self, call: PendingCall) -> Question | None:
        if call.decided:
            return None
        row = self._journal.calls.get(call.id)
        shown = plain(call.arguments)
        if row is not None and row["outcome"] == "paused":
            pause = row["pause"]
            return approval.nested_question(
                call.id,
                self._calls.tool_name(call.name),
                shown,
                pause["interrupts"],
                direct=pause["direct"],
                path=self._calls.path(call.name, call.arguments),
            )
        if call.status == "waiting":
            name, description = self._calls.describe(call)
            return approval.gate_question(call.id, name, shown, description, call.allowed)
        decisions = ("approve", "respond", "reject")
        return approval.unknown_question(call.id, self._calls.tool_name(call.name), shown, decisions)

    def _ask(self) -> Steps[None]:
        questions = self._questions()
        yield from self._save(paused=True)
        yield from self._journal.ask(questions)
        yield from self._decide(questions, unseen=True)

    def _decide(self, questions: Sequence[Question], *, unseen: bool = False) -> Steps[None]:
        """Interrupt unless the answer is there, and do as it says."""
        answer = self._journal.answer
        if answer is None:
            answer = yield from self._interrupt(approval.request_of(questions), unseen=unseen)
        try:
            for question, decisions in approval.decisions_of(answer, questions):
                yield from self._apply(question, decisions)
        except (WrongDecisions, ChrysalidError) as error:
            yield from self._journal.take(self._journal.used)
            if isinstance(error, WrongDecisions):
                raise
            raise WrongDecisions(str(error)) from error

    def _interrupt(self, request: Mapping[str, Any], *, unseen: bool) -> Steps[Any]:
        """LangGraph matches answers by position in a task: those of earlier pauses come first.

        An answer that is there before anybody saw the question was meant for a sibling, and is passed over.
        """
        while True:
            try:
                answer = interrupt(request)
            except GraphInterrupt:
                if self._taken < self._journal.used:
                    yield from self._journal.take(self._taken)
                raise
            self._taken += 1
            if self._taken > self._journal.used and not unseen:
                break
            self._journal.used = max(self._journal.used, self._taken)
        yield from self._journal.take(self._taken, answer)
        yield from self._calls.forget_answer()
        return answer

    def _apply(self, question: Question, decisions: Sequence[Mapping[str, Any]]) -> Steps[None]:
        call = next((one for one in self._session.pending if one.id == question.call), None)
        if call is None or call.decided:
            return
        first = decisions[0]
        match question.kind, first["type"]:
            case "nested", _:
                yield from self._answer_nested(question, decisions)
            case "gate" | "unknown", "approve" if call.status != "outside":
                self._session.approve(call.id)
            case "unknown", "approve":
                self._again.append(call.id)
            case _, "reject" if call.status == "outside":
                self._session.fail(call.id, str(first.get("message") or "rejected"), name="ToolRejected")
            case _, "reject":
                self._session.reject(call.id, first.get("message"))
            case _, "respond" if call.status == "outside":
                self._session.settle(call.id, first["message"])
            case _, "respond":
                self._session.respond(call.id, first["message"])
            case _, "edit":
                action = first["edited_action"]
                name = self._calls.program_name(action.get("name")) if action.get("name") else None
                self._session.edit(call.id, dict(action["args"]), name=None if name == call.name else name)

    def _answer_nested(self, question: Question, decisions: Sequence[Mapping[str, Any]]) -> Steps[None]:
        values = approval.answers_to(question, decisions)
        before = self._answers(question.call)
        if question.direct:
            answers = Answers((*before.own, *values), before.by_id)
        else:
            ids = [one["id"] for one in question.interrupts]
            answers = Answers(before.own, dict(zip(ids, values, strict=True)))
        yield from self._journal.answered(question.call, answers)
        self._calls.repeat(question.call)
        self._again.append(question.call)

    # -------------------------------------------------------------------------------------------------------------- end

    def _finish(self, outcome: Outcome) -> Steps[Command[Any]]:
        heap, kept = self._heap.keep(self._session, outcome, self._notes)
        notes = [*self._notes, *outcome.notes]
        text = result.render(
            outcome,
            limit=self._options.max_result_chars,
            console=self._options.capture_console,
            notes=notes,
            budget=self._options.max_ptc_calls,
        )
        row = {
            "text": text,
            "artifact": result.artifact(outcome, notes, self._options.max_result_chars),
            "failed": outcome.error is not None,
            "heap": heap,
            "image": kept,
            **self._calls.counts(),
        }
        yield from self._journal.finish(row)
        return self._message(row)

    def _not_run(self) -> Mapping[str, Any]:
        text = (
            "not run: an eval before this one in the same message waits for approval; "
            "run it again once that one has ended"
        )
        text = result.error("SessionPaused", text, self._options.max_result_chars)
        return {"text": text, "artifact": None, "failed": True, "heap": None, "spawned_more": 0}

    def _message(self, row: Mapping[str, Any]) -> Command[Any]:
        message = ToolMessage(
            row["text"],
            name=self._options.tool_name,
            tool_call_id=self._place.call_id,
            artifact=row["artifact"],
            status="error" if row["failed"] else "success",
        )
        update = {"messages": [message], **self._heap.update(row["heap"], row["spawned_more"])}
        return self._with_updates_of_calls(update)

    def _with_updates_of_calls(self, update: dict[str, Any]) -> Command[Any]:
        """One command for all: state writes go to their channels, messages come behind the one that answers the model."""
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
