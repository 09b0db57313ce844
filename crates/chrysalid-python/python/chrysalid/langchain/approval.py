"""One interrupt for all that waits for a person: the request in the standard form, and its decisions handed back.

A question covers one or more action requests in a row. Those of a nested tool or subagent that asks in the same form
are taken over as they are, and their slice of the decisions is handed back to it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from chrysalid.langchain.agent import ALL_DECISIONS
from chrysalid.langchain.result import cut

_SHOWN_CHARS = 2000
Kind = Literal["gate", "unknown", "nested"]


class WrongDecisions(ValueError):
    """A resume value that does not fit the request. Nothing was done; the same interrupt can be answered again."""


@dataclass(frozen=True)
class Question:
    """What one pending call asks."""

    call: str
    kind: Kind
    actions: tuple[Mapping[str, Any], ...]
    reviews: tuple[Mapping[str, Any], ...]
    interrupts: tuple[Mapping[str, Any], ...] = ()
    """Of a nested call: `id`, form and number of action requests of each of its own interrupts."""
    direct: bool = False

    def row(self) -> dict[str, Any]:
        """As a row keeps it."""
        return {
            "call": self.call,
            "kind": self.kind,
            "actions": [dict(one) for one in self.actions],
            "reviews": [dict(one) for one in self.reviews],
            "interrupts": [dict(one) for one in self.interrupts],
            "direct": self.direct,
        }

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Question:
        """The other way."""
        return cls(
            row["call"],
            row["kind"],
            tuple(row["actions"]),
            tuple(row["reviews"]),
            tuple(row["interrupts"]),
            bool(row["direct"]),
        )


def gate_question(call: str, name: str, arguments: Any, description: str, decisions: Sequence[str]) -> Question:
    """A call that may not begin before somebody decides."""
    return Question(call, "gate", (_action(name, arguments, description),), (_review(name, decisions),))


def unknown_question(call: str, name: str, arguments: Any, decisions: Sequence[str]) -> Question:
    """A call that was under way when its process ended."""
    description = (
        "The process ended while this call was under way: whether it was done is not known.\n"
        "approve runs it again, respond says that it was done and gives its answer, reject says that it failed.\n\n"
        f"Tool: {name}\nArgs: {cut(str(arguments), _SHOWN_CHARS)}"
    )
    return Question(call, "unknown", (_action(name, arguments, description),), (_review(name, decisions),))


def nested_question(
    call: str, name: str, arguments: Any, interrupts: Sequence[Mapping[str, Any]], *, direct: bool, path: str
) -> Question:
    """A tool that asks somebody itself, or a subagent that waits for approvals of its own."""
    actions: list[Mapping[str, Any]] = []
    reviews: list[Mapping[str, Any]] = []
    kept: list[Mapping[str, Any]] = []
    for interrupt in interrupts:
        form, more_actions, more_reviews = _take_over(name, arguments, interrupt, path)
        kept.append({"id": interrupt["id"], "form": form, "count": len(more_actions)})
        actions += more_actions
        reviews += more_reviews
    return Question(call, "nested", tuple(actions), tuple(reviews), tuple(kept), direct)


def _take_over(
    name: str, arguments: Any, interrupt: Mapping[str, Any], path: str
) -> tuple[str, list[Mapping[str, Any]], list[Mapping[str, Any]]]:
    value = interrupt["value"]
    if isinstance(value, Mapping) and "action_requests" in value and "review_configs" in value:
        actions: list[Mapping[str, Any]] = [
            {**action, "description": _in(path, action.get("description", ""))} for action in value["action_requests"]
        ]
        return "batched", actions, list(value["review_configs"])
    if isinstance(value, Mapping) and value.get("type") == "tool_approval":
        action = _action(value["name"], value["args"], _in(path, value.get("description", "")))
        return "per_call", [action], [_review(value["name"], _decisions_in(interrupt.get("schema")))]
    text = value if isinstance(value, str) else json.dumps(value, default=str, ensure_ascii=False)
    return "value", [_action(name, arguments, _in(path, text))], [_review(name, ("respond",))]


def _in(path: str, description: str) -> str:
    return f"In {path}: {description}" if path else description


def _decisions_in(schema: Any) -> Sequence[str]:
    """The decisions that a per-call approval allows, which it says in its answer's JSON schema only."""
    text = json.dumps(schema, default=str) if schema else ""
    found = [decision for decision in ALL_DECISIONS if f'"{decision}"' in text]
    return found or ALL_DECISIONS


def _action(name: str, arguments: Any, description: str) -> dict[str, Any]:
    return {"name": name, "args": arguments, "description": description}


def _review(name: str, decisions: Sequence[str]) -> dict[str, Any]:
    return {"action_name": name, "allowed_decisions": list(decisions)}


def request_of(questions: Sequence[Question]) -> dict[str, Any]:
    """The value of the interrupt."""
    return {
        "action_requests": [dict(action) for question in questions for action in question.actions],
        "review_configs": [dict(review) for question in questions for review in question.reviews],
    }


def decisions_of(answer: Any, questions: Sequence[Question]) -> list[tuple[Question, list[Mapping[str, Any]]]]:
    """Each question with its decisions. A decision of None leaves its question open: it is asked again.

    Raises:
        WrongDecisions: Too few or too many, or one that its request does not allow.
    """
    given = answer.get("decisions") if isinstance(answer, Mapping) else None
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise WrongDecisions(f"expected {{'decisions': [...]}}, got {answer!r}")
    expected = sum(len(question.actions) for question in questions)
    if len(given) != expected:
        raise WrongDecisions(f"number of decisions ({len(given)}) does not match number of pending calls ({expected})")
    decided = []
    start = 0
    for question in questions:
        own = list(given[start : start + len(question.actions)])
        start += len(question.actions)
        for decision, review in zip(own, question.reviews, strict=True):
            if decision is not None:
                _check(decision, review)
        if all(decision is not None for decision in own):
            decided.append((question, own))
    return decided


def _check(decision: Any, review: Mapping[str, Any]) -> None:
    kind = decision.get("type") if isinstance(decision, Mapping) else None
    if kind not in review["allowed_decisions"]:
        raise WrongDecisions(
            f"decision {kind!r} is not allowed for {review['action_name']}, "
            f"expected one of {', '.join(review['allowed_decisions'])}"
        )
    if kind == "edit":
        action = decision.get("edited_action")
        if not isinstance(action, Mapping) or not isinstance(action.get("args"), Mapping):
            raise WrongDecisions(f"edit of {review['action_name']} needs edited_action with name and args")
    if kind == "respond" and "message" not in decision:
        raise WrongDecisions(f"respond to {review['action_name']} needs a message")


def answers_to(question: Question, decisions: Sequence[Mapping[str, Any]]) -> list[Any]:
    """The values that a nested call's own interrupts are answered with."""
    values: list[Any] = []
    start = 0
    for interrupt in question.interrupts:
        own = list(decisions[start : start + interrupt["count"]])
        start += interrupt["count"]
        match interrupt["form"]:
            case "batched":
                values.append({"decisions": own})
            case "per_call":
                values.append(own[0])
            case _:
                values.append(own[0]["message"])
    return values
