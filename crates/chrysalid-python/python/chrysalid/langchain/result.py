"""The text that the model reads after an eval, and the same as data for user interfaces.

All program text is escaped, so that a program cannot forge a tag, and cut between characters.
"""

from __future__ import annotations

import json
import unicodedata
from typing import TYPE_CHECKING, Any

from chrysalid import UNDEFINED, Description
from chrysalid.langchain.values import plain

if TYPE_CHECKING:
    from chrysalid import Outcome, ProgramError

_MARK = "… [truncated {n} chars]"
_TYPES = {
    "timeout": "Timeout",
    "wall_timeout": "Timeout",
    "out_of_memory": "OutOfMemory",
    "deadlock": "Deadlock",
    "cancelled": "Cancelled",
    "result_too_large": "ResultTooLarge",
    "trap": "Crashed",
}
_NAMES = {"CallBudgetExceeded": "PTCCallBudgetExceeded"}


def render(outcome: Outcome, *, limit: int, console: bool, notes: list[str], budget: int | None) -> str:
    """The whole message."""
    parts = []
    stdout = "\n".join(line.text for line in outcome.logs) if console else ""
    if stdout:
        parts.append(f"<stdout>\n{escape(cut(stdout, limit))}\n</stdout>")
    if outcome.error is not None:
        parts.append(error(error_type(outcome.error), _error_text(outcome.error, budget), limit))
    else:
        kind = ' kind="handle"' if isinstance(outcome.value, Description) else ""
        parts.append(f"<result{kind}>{escape(cut(value_text(outcome), limit))}</result>")
    if notes:
        parts.append(f"<note>{escape(' '.join(notes))}</note>")
    return "\n".join(parts)


def value_text(outcome: Outcome) -> str:
    """A string as it is, anything else as a JavaScript literal."""
    if type(outcome.value) is str:
        return outcome.value
    return outcome.rendered or "undefined"


def error(kind: str, text: str, limit: int) -> str:
    """An error element."""
    return f'<error type="{escape(kind, quote=True)}">{escape(cut(text, limit))}</error>'


def error_type(found: ProgramError) -> str:
    """The name a program's error goes by: JavaScript's own as they are, the host's by this table."""
    if found.kind in _TYPES:
        return _TYPES[found.kind]
    name = found.name or "Error"
    return _NAMES.get(name, name)


def _error_text(found: ProgramError, budget: int | None) -> str:
    message = found.message
    if found.name == "CallBudgetExceeded" and budget is not None:
        message = f"{message} (limit={budget}, attempted={budget + 1}, function={message.partition(':')[0]})"
    lines = [message]
    if found.stack:
        lines.append(found.stack.rstrip())
    if found.hint:
        lines.append(found.hint)
    return "\n".join(lines)


def escape(text: str, *, quote: bool = False) -> str:
    """Text that cannot end or open an element."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return text.replace('"', "&quot;") if quote else text


def cut(text: str, limit: int) -> str:
    """At most `limit` characters, the mark included, never between a letter and what combines with it."""
    if len(text) <= limit:
        return text
    keep = limit
    while True:
        mark = _MARK.format(n=len(text) - keep)
        fitting = max(0, limit - len(mark))
        if fitting >= keep:
            break
        keep = fitting
    while keep > 0 and _joins(text[keep]):
        keep -= 1
    return text[:keep] + _MARK.format(n=len(text) - keep)


def _joins(character: str) -> bool:
    """Whether a character belongs to the one before it: combining marks, variation selectors, joiners."""
    return unicodedata.category(character) in ("Mn", "Me", "Mc") or character in "\u200d\ufe0e\ufe0f"


def artifact(outcome: Outcome, notes: list[str], limit: int) -> dict[str, Any]:
    """The same for programs: the message's `artifact`, which no model reads."""
    value = None if outcome.value is UNDEFINED else plain(outcome.value)
    fits = not isinstance(outcome.value, Description) and len(json.dumps(value, default=str)) <= limit
    found = outcome.error
    return {
        "status": outcome.status,
        "value": value if fits else None,
        "is_whole": fits,
        "logs": [{"level": line.level, "text": line.text} for line in _bounded(outcome.logs, limit)],
        "error": None
        if found is None
        else {"type": error_type(found), "kind": found.kind, "message": cut(found.message, limit), "line": found.line},
        "calls": [{"id": one.id, "name": one.name, "status": one.status} for one in outcome.calls],
        "notes": list(notes),
    }


def _bounded(logs: Any, limit: int) -> list[Any]:
    kept = []
    for line in logs:
        limit -= len(line.text)
        if limit < 0:
            break
        kept.append(line)
    return kept
