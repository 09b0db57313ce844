"""What happens in a session, as dicts that any log or stream takes."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

__all__ = ["Event"]


class Event(TypedDict):
    """Something that happened: what is there depends on ``type``.

    ======================================  ==========================================
    ``call_started``, ``call_waiting``,     ``id``, ``name``
    ``call_suspended``
    ``call_ended``                          ``id``, ``name``, ``status``
    ``line``                                ``level``, ``text``
    ``met``                                 ``effect``, ``by``: the call that brings it
    ``paused``                              ``pending``: how many calls wait
    ======================================  ==========================================
    """

    type: Literal["call_started", "call_waiting", "call_suspended", "call_ended", "line", "met", "paused"]
    id: NotRequired[str]
    name: NotRequired[str]
    status: NotRequired[str]
    level: NotRequired[Literal["log", "info", "debug", "warn", "error"]]
    text: NotRequired[str]
    effect: NotRequired[Literal["private", "untrusted", "acts"]]
    by: NotRequired[str]
    pending: NotRequired[int]
