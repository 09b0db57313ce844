"""The text that the model reads after an eval, and the same as data for user interfaces.

All program text is escaped, so that a program cannot forge a tag, and cut between characters.
"""

from __future__ import annotations

import json
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chrysalid import UNDEFINED, ChrysalidError, Description

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chrysalid import Outcome, ProgramError
    from chrysalid.langchain.options import Options

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


@dataclass(frozen=True)
class Report:
    """What came of a program."""

    outcome: Outcome
    logs: Sequence[Sequence[str]]
    """Level and text of each console line."""
    notes: Sequence[str]

    def text(self, options: Options) -> str:
        """The whole message."""
        limit = options.max_result_chars
        parts = []
        stdout = "\n".join(text for _, text in self.logs) if options.capture_console else ""
        if stdout:
            parts.append(f"<stdout>\n{escape(cut(stdout, limit))}\n</stdout>")
        if self.outcome.error is not None:
            found = self.outcome.error
            parts.append(error(error_type(found), _error_text(found, options.max_ptc_calls), limit))
        else:
            kind = ' kind="handle"' if isinstance(self.outcome.value, Description) else ""
            parts.append(f"<result{kind}>{escape(cut(self._value(), limit))}</result>")
        if self.notes:
            parts.append(f"<note>{escape(' '.join(self.notes))}</note>")
        return "\n".join(parts)

    def artifact(self, options: Options) -> dict[str, Any]:
        """The same as JSON for user interfaces: the message's `artifact`, which no model reads."""
        value, whole = self._json(options.max_result_chars)
        found = self.outcome.error
        return {
            "status": self.outcome.status,
            "value": value,
            "is_whole": whole,
            "logs": [{"level": level, "text": text} for level, text in self.logs],
            "error": None
            if found is None
            else {
                "type": error_type(found),
                "kind": found.kind,
                "message": cut(found.message, options.max_result_chars),
                "line": found.line,
            },
            "calls": [{"id": one.id, "name": one.name, "status": one.status} for one in self.outcome.calls],
            "notes": list(self.notes),
        }

    def _value(self) -> str:
        """A string as it is, anything else as a JavaScript literal."""
        value = self.outcome.value
        return value if type(value) is str else self.outcome.rendered or "undefined"

    def _json(self, limit: int) -> tuple[Any, bool]:
        """The value, and whether it is whole: not where it is large, or more than JSON can say."""
        if self.outcome.status != "done" or isinstance(self.outcome.value, Description):
            return None, False
        if self.outcome.value is UNDEFINED:
            return None, True
        try:
            text = self.outcome.json()
        except (ChrysalidError, ValueError):
            return None, False
        return (json.loads(text), True) if len(text) <= limit else (None, False)


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
    while keep > 0 and _is_inside(text, keep):
        keep -= 1
    return text[:keep] + _MARK.format(n=len(text) - keep)


_JOINER = "\u200d"


def _is_inside(text: str, at: int) -> bool:
    """Whether what a reader takes for one character goes on at a place."""
    before, after = text[at - 1], text[at]
    if _JOINER in (before, after) or unicodedata.category(after) in ("Mn", "Me", "Mc"):
        return True
    if "\U0001f3fb" <= after <= "\U0001f3ff":  # skin tones
        return True
    flags = 0
    while flags < at and "\U0001f1e6" <= text[at - 1 - flags] <= "\U0001f1ff":
        flags += 1
    return flags % 2 == 1 and "\U0001f1e6" <= after <= "\U0001f1ff"
