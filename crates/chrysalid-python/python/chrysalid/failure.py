"""What a program sees of a tool that failed."""

from __future__ import annotations

__all__ = ["ToolError", "failure_of"]

_LONGEST = 500


class ToolError(Exception):
    """What a tool raises to tell the program why it failed: the message crosses as it is.

    Of any other exception the program sees the class and the first line of its message, without paths.

    Args:
        message: For the program.
        name: The error's ``name`` there.
        retryable: Whether the same call may succeed later.
    """

    def __init__(self, message: str, *, name: str = "ToolError", retryable: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.name = name
        self.retryable = retryable


def failure_of(error: BaseException) -> tuple[str, str, bool]:
    """What a program sees of an exception: message, name, whether a retry can help."""
    if isinstance(error, ToolError):
        return str(error.message), str(error.name), bool(error.retryable)
    kind = type(error).__name__
    text = _told(error)
    retryable = isinstance(error, (TimeoutError, ConnectionError))
    return (f"{kind}: {text}" if text else kind), "ToolError", retryable


def _told(error: BaseException) -> str:
    """The first line of its message, without paths."""
    if isinstance(error, OSError) and error.strerror:
        # The message also holds the file's name.
        return str(error.strerror)[:_LONGEST]
    try:
        lines = str(error).strip().splitlines()
    except Exception:
        # A class of the tool's, whose text cannot be made.
        return ""
    return _without_paths(lines[0])[:_LONGEST] if lines else ""


def _without_paths(text: str) -> str:
    if "/" not in text and "\\" not in text:
        return text
    import re

    quoted = r"""(?P<quote>['"`])(?:file:|[A-Za-z]:|~|\.{0,2})[\\/].*?(?P=quote)"""
    # Neither within a word, as in `and/or`, nor after the colon of a web address.
    bare = r"""file:[^\s'"]*|(?<![\w:/\\])(?:[A-Za-z]:[\\/]+|~[\\/]|\.{0,2}[\\/]+)(?:[\w.~+@-]+[\\/]+)*[\w.~+@-]+"""
    return re.sub(f"{quoted}|{bare}", "…", text)
