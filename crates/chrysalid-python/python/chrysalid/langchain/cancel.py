"""A new user message while a program waits: the question is withdrawn, and the model is told what was done.

LangGraph drops the paused step, and Deep Agents has by then answered its calls with a text that nothing was recorded.
The rows know better.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, RemoveMessage, ToolMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from chrysalid.langchain.driver import Do, Operation
from chrysalid.langchain.journal import withdraw
from chrysalid.langchain.result import cut, error

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence

    from chrysalid.langchain.rows import Row, Rows, Shelf

_RESULT_CHARS = 200
_PATCHED = ("no result was recorded", "another message came in before it could be completed")
"""What Deep Agents' own answer to a call that was dropped says, by version."""


def withdrawn(
    messages: Sequence[AnyMessage],
    *,
    tool_name: str,
    rows: Rows,
    shelf_of: Callable[[AIMessage, Mapping[str, Any]], Shelf],
    limit: int,
) -> Generator[Operation, Any, tuple[list[BaseMessage] | None, dict[str, str]]]:
    """The messages as they are to be, or None when they are right, and what withdrawn programs had met."""
    answers = {one.tool_call_id: one for one in messages if isinstance(one, ToolMessage)}
    last = next((one for one in reversed(messages) if isinstance(one, AIMessage) and one.tool_calls), None)
    told: dict[str, ToolMessage] = {}
    met: dict[str, str] = {}
    if last is None:
        return None, met
    for call in last.tool_calls:
        answer = answers.get(call["id"] or "")
        if call["name"] != tool_name or not call["id"] or (answer is not None and answer.artifact is not None):
            continue
        shelf = shelf_of(last, call)
        found = yield Do(rows.read, rows.aread, (shelf,))
        image = (found or {}).get("image")
        if image is None or found is None or not _is_lost(answer, image):
            continue
        met.update(image["met"])
        if image["done"]:
            text, status, artifact = image["text"], "error" if image["failed"] else "success", image["artifact"]
        else:
            text, status, artifact = _text(found, limit), "error", {"status": "cancelled"}
            row = {**_ended(image), "text": text, "artifact": artifact}
            yield from withdraw(rows, shelf, int(image["version"]), row)
        told[call["id"]] = ToolMessage(
            text,
            name=tool_name,
            tool_call_id=call["id"],
            status=status,
            artifact=artifact,
            id=answer.id if answer is not None else None,
        )
    return (_put(messages, told) if told else None), met


def _is_lost(answer: ToolMessage | None, image: Row) -> bool:
    """Whether what the eval has to tell is not in the messages. An answer that other middleware changed stays so."""
    if answer is None or not image["done"]:
        return True
    patched = any(words in str(answer.content) for words in _PATCHED)
    return patched or (answer.status == "error" and not image["failed"])


def _ended(image: Row) -> dict[str, Any]:
    return {
        "failed": True,
        "left": None,
        "met": image["met"],
        "image": None,
        "spawned": image["spawned"],
        "spawned_here": image["spawned_here"],
        "spawned_more": image["spawned_more"],
    }


def _text(rows: Mapping[str, Row], limit: int) -> str:
    ended = {row["call"]: row for name, row in rows.items() if name.startswith("call:")}
    lines = ["withdrawn by a new user message before it ended; its variables are as they were before it"]
    lines += [
        f"- {name} ({call}): {_became(status, ended.get(call))}" for call, name, status in rows["image"]["record"]
    ]
    return error("Cancelled", "\n".join(lines), limit)


def _became(status: str, row: Row | None) -> str:
    if row is not None and row["outcome"] == "done":
        return f"done, result {cut(repr(row['value']), _RESULT_CHARS)}"
    if row is not None and row["outcome"] == "failed":
        return f"failed: {cut(row['message'], _RESULT_CHARS)}"
    match status:
        case "completed":
            return "done"
        case "started" | "unknown":
            return "begun; whether it was done is not known"
        case "waiting" | "queued":
            return "not made"
        case "outside":
            return "begun, and was waiting for an answer itself"
        case other:
            return other


def _put(messages: Sequence[AnyMessage], told: dict[str, ToolMessage]) -> list[BaseMessage]:
    """Answers in the place of those that are there; missing ones right behind their message."""
    if all(one.id for one in told.values()):
        return list(told.values())
    rebuilt: list[BaseMessage] = [RemoveMessage(id=REMOVE_ALL_MESSAGES)]
    for message in messages:
        if isinstance(message, ToolMessage) and message.tool_call_id in told:
            continue
        rebuilt.append(message)
        if isinstance(message, AIMessage):
            rebuilt += [told[call["id"]] for call in message.tool_calls if call["id"] and call["id"] in told]
    return rebuilt
