"""The driver that has one thread: a loop over ``step`` and ``settle`` that calls the tools of a program one after
another.

No thread is made. Whatever ends the driver from outside, such as Ctrl-C, stops the program before it is passed on.
"""

from __future__ import annotations

import time

from chrysalid import _native
from chrysalid.failure import ToolError, failure_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import Any, TypeAlias

    from chrysalid._native import Call, Outcome, Step
    from chrysalid.events import Event
    from chrysalid.modules import Modules
    from chrysalid.tools import Tool
    from chrysalid.turns import Bell

    _Find: TypeAlias = Callable[[str], Tool | Modules | None]
    _Tell: TypeAlias = Callable[[list[Event]], None]

__all__ = ["delay_until", "drive", "fail", "invoke", "settle", "stepped", "stop"]

# The longest wait before the clock is looked at again.
_LONGEST_WAIT = 60.0


def drive(session: _native.Session, find: _Find, bell: Bell, tell: _Tell | None = None) -> Outcome:
    """Runs the program until it ends or waits, calling tools with this thread.

    ``tell`` gets the events of each step.
    """
    try:
        while True:
            step = stepped(session, tell)
            if step.outcome is not None:
                return step.outcome
            if step.kind == "start":
                begun = _serve(session, find, step.calls)
                if begun:
                    return _drive_on_own_loop(session, find, bell, begun, tell)
            elif step.kind == "wait":
                bell.wait(delay_until(step.wake_at))
    except BaseException:
        stop(session)
        raise


def stepped(session: _native.Session, tell: _Tell | None) -> Step:
    """The next step, of whose events somebody is told."""
    step = session.step()
    if tell is not None:
        tell(step.events)
    return step


def _serve(session: _native.Session, find: _Find, calls: list[Call]) -> list[tuple[Call, Awaitable[Any]]]:
    """Runs the calls; those that must be awaited are handed back."""
    begun: list[tuple[Call, Awaitable[Any]]] = []
    for call in calls:
        if call.cancelled:
            continue
        try:
            awaitable = invoke(session, find, call)
            if awaitable is not None:
                if _has_loop():
                    _close(awaitable)
                    raise TypeError(f"tool {call.name!r} is async, and an event loop runs in this thread: use arun")
                begun.append((call, awaitable))
        except Exception as error:
            fail(session, call.id, error)
        except BaseException:
            for _, awaitable in begun:
                _close(awaitable)
            raise
    return begun


def _has_loop() -> bool:
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _close(awaitable: Any) -> None:
    close = getattr(awaitable, "close", None)
    if close is not None:
        close()


def _drive_on_own_loop(
    session: _native.Session,
    find: _Find,
    bell: Bell,
    begun: list[tuple[Call, Awaitable[Any]]],
    tell: _Tell | None,
) -> Outcome:
    """Goes on with an event loop in this thread, since a tool of the program needs one."""
    import asyncio
    import contextvars

    from chrysalid.flight import drive_async

    with asyncio.Runner() as runner:
        return runner.run(drive_async(session, find, bell, begun, tell=tell), context=contextvars.copy_context())


def invoke(session: _native.Session, find: _Find, call: Call) -> Awaitable[Any] | None:
    """Runs the tool of a call and settles it, or gives what is to be awaited for its result."""
    tool = find(call.name)
    if tool is None:
        fail(session, call.id, LookupError(f"{call.name} is not available"))
        return None
    try:
        result = tool.invoke(call)
    except Exception as error:
        fail(session, call.id, error)
        return None
    if hasattr(type(result), "__await__"):
        awaitable: Awaitable[Any] = result
        return awaitable
    settle(session, call.id, result)
    return None


def settle(session: _native.Session, call_id: str, result: Any) -> None:
    """Gives the result; one that does not cross is the tool's failure, and a late one nobody's business."""
    try:
        session.settle(call_id, result)
    except (_native.AlreadyDecided, _native.UnknownCall):
        pass
    except Exception as error:
        text = failure_of(error)[0].removeprefix("TypeError: ").removeprefix("ValueError: ")
        fail(session, call_id, ToolError(f"the result cannot be passed to the program: {text}"))


def fail(session: _native.Session, call_id: str, error: BaseException) -> None:
    """Fails the call as the program may know; nobody is interested in a late failure."""
    message, name, retryable = failure_of(error)
    try:
        session.fail(call_id, message, name=name, retryable=retryable)
    except (_native.AlreadyDecided, _native.UnknownCall):
        pass


def stop(session: _native.Session) -> None:
    """Ends the program, so that the next one may start."""
    try:
        if session.is_idle:
            # It has ended already: the interrupt would hit the next one.
            return
        session.interrupt()
        while session.step().outcome is None:
            pass
    except _native.ChrysalidError:
        pass


def delay_until(wake_at: float | None) -> float:
    """How long to wait for a time at most, in seconds."""
    left = _LONGEST_WAIT if wake_at is None else wake_at - time.time()
    return min(max(left, 0.0), _LONGEST_WAIT)
