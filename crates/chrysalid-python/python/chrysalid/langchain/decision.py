"""What waits for people in one eval: the questions, the one interrupt that puts them, the decisions applied."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from langgraph.errors import GraphInterrupt
from langgraph.types import interrupt

from chrysalid import ChrysalidError
from chrysalid.langchain import approval
from chrysalid.langchain.approval import Question, WrongDecisions
from chrysalid.langchain.detached import Answers
from chrysalid.langchain.driver import Operation

if TYPE_CHECKING:
    from chrysalid import PendingCall, Session
    from chrysalid.langchain.calls import Calls
    from chrysalid.langchain.journal import Journal

T = TypeVar("T")
Steps = Generator[Operation, Any, T]


class Decisions:
    """People's part in one eval."""

    session: Session

    def __init__(self, journal: Journal, calls: Calls) -> None:
        self._journal = journal
        self._calls = calls
        self.again: list[str] = []
        """Calls that wait outside of the session and are to be run again, with the answers that they got."""
        self._taken = 0
        """Answers that this execution got from LangGraph."""

    def questions(self) -> list[Question]:
        """What all calls that wait for people ask, in the order in which they were made."""
        return [question for call in self.session.pending if (question := self._question(call)) is not None]

    def _question(self, call: PendingCall) -> Question | None:
        if call.decided:
            return None
        row = self._journal.calls.get(call.id)
        shown = self._calls.shown(call)
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
            program = call.id.partition(".")[0]
            before = [one for one in self.session.calls if one.id.partition(".")[0] == program]
            name, description = self._calls.describe(call, before)
            return approval.gate_question(call.id, name, shown, description, call.allowed)
        decisions = ("approve", "respond", "reject")
        return approval.unknown_question(call.id, self._calls.tool_name(call.name), shown, decisions)

    def decide(self, questions: Sequence[Question], *, unseen: bool = False) -> Steps[None]:
        """Interrupt unless the answer is there, and do as it says."""
        answer = self._journal.answer
        if answer is None:
            answer = yield from self._interrupt(approval.request_of(questions), unseen=unseen)
        try:
            decided = approval.decisions_of(answer, questions)
            for question, decisions in decided:
                self._apply(question, decisions)
        except (WrongDecisions, ChrysalidError) as error:
            yield from self._journal.take(self._journal.used)
            if isinstance(error, WrongDecisions):
                raise
            raise WrongDecisions(str(error)) from error
        for question, decisions in decided:
            if question.kind == "nested":
                yield from self._answer_nested(question, decisions)

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

    def _apply(self, question: Question, decisions: Sequence[Mapping[str, Any]]) -> None:
        """Tell the session, which checks it; nothing of it lasts before the next image."""
        call = next((one for one in self.session.pending if one.id == question.call), None)
        if call is None or call.decided or question.kind == "nested":
            return
        (first,) = decisions
        match question.kind, first["type"]:
            case "gate" | "unknown", "approve" if call.status != "outside":
                self.session.approve(call.id)
            case "unknown", "approve":
                self.run_again(call.id)
            case _, "reject" if call.status == "outside":
                self.session.fail(call.id, str(first.get("message") or "rejected"), name="ToolRejected")
            case _, "reject":
                self.session.reject(call.id, first.get("message"))
            case _, "respond" if call.status == "outside":
                self.session.settle(call.id, first["message"])
            case _, "respond":
                self.session.respond(call.id, first["message"])
            case _, "edit":
                action = first["edited_action"]
                name = self._calls.program_name(action.get("name")) if action.get("name") else None
                arguments = self._calls.edited(name or call.name, action["args"])
                self.session.edit(call.id, arguments, name=None if name == call.name else name)

    def _answer_nested(self, question: Question, decisions: Sequence[Mapping[str, Any]]) -> Steps[None]:
        """Note the answers of a nested call; a crash behind that finds them noted."""
        row = self._journal.calls[question.call]
        if row["outcome"] == "paused":
            values = approval.answers_to(question, decisions)
            before = self._journal.answers(question.call)
            ids = [one["id"] for one in question.interrupts]
            answers = (
                Answers((*before.own, *values), before.by_id)
                if question.direct
                else Answers(before.own, dict(zip(ids, values, strict=True)))
            )
            yield from self._journal.answered(question.call, answers)
        self.run_again(question.call)

    def run_again(self, call: str) -> None:
        """Have a call that waits outside of the session run once more."""
        self._calls.repeat(call)
        if call not in self.again:
            self.again.append(call)
