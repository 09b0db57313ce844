"""The driver on the caller's event loop: tools run there as tasks, at the same time and in the caller's context."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Any

from chrysalid.driver import delay_until, fail, invoke, settle, stepped, stop

if TYPE_CHECKING:
    from collections.abc import Awaitable, Coroutine, Iterable

    from chrysalid import _native
    from chrysalid._native import Call, Outcome
    from chrysalid.driver import _Find, _Tell
    from chrysalid.turns import Bell

__all__ = ["drive_async"]

_EAGER = sys.version_info >= (3, 12)

# Seconds for which a program may keep the loop to itself.
_LONGEST_RUN = 0.005


async def drive_async(
    session: _native.Session,
    find: _Find,
    bell: Bell,
    begun: Iterable[tuple[Call, Awaitable[Any]]] = (),
    tell: _Tell | None = None,
) -> Outcome:
    """Runs the program until it ends or waits. Whatever ends the driver from outside stops the program.

    ``begun`` are calls that run already and are to be awaited. ``tell`` gets the events of each step.
    """
    flight = _Flight(session, find, bell)
    must_not_wait = False
    try:
        for call, awaitable in begun:
            flight.serve(call, awaitable)
        while True:
            step = stepped(session, tell)
            if step.outcome is not None:
                return step.outcome
            flight.drop_overdue()
            if step.kind == "start":
                flight.begin(step.calls)
            if step.kind == "wait":
                await flight.wait(step.wake_at)
            elif step.kind == "busy" or flight.lets_others_run():
                await asyncio.sleep(0)
    except GeneratorExit:
        # The coroutine was thrown away: nothing can be awaited any more.
        must_not_wait = True
        stop(session)
        raise
    except BaseException:
        stop(session)
        raise
    finally:
        flight.cancel()
        if not must_not_wait:
            await flight.land()


class _Flight:
    """The calls that run."""

    def __init__(self, session: _native.Session, find: _Find, bell: Bell) -> None:
        self._session = session
        self._find = find
        self._bell = bell
        self._loop = asyncio.get_running_loop()
        self._running: dict[asyncio.Task[None], Call] = {}
        # Those that may be over before they are answered.
        self._timed: dict[asyncio.Task[None], Call] = {}
        self._news: asyncio.Future[None] | None = None
        self._settled = False
        self._has_new_tasks = False
        self._last_pause = self._loop.time()

    def lets_others_run(self) -> bool:
        """Whether it is time for the rest of the loop: for tasks that have not begun, or since nobody else was there
        for long.
        """
        now = self._loop.time()
        if self._has_new_tasks or now - self._last_pause > _LONGEST_RUN:
            self._has_new_tasks = False
            self._last_pause = now
            return True
        return False

    def begin(self, calls: list[Call]) -> None:
        """Starts the tools of the calls. What they do before they first wait is done here."""
        for call in calls:
            if call.cancelled:
                continue
            awaitable = invoke(self._session, self._find, call)
            if awaitable is None:
                self._settled = True
            else:
                self.serve(call, awaitable)

    def serve(self, call: Call, awaitable: Awaitable[Any]) -> None:
        """Awaits the result of a call in a task of its own."""
        task = _task(self._loop, self._await(call, awaitable))
        if task.done():
            # It ran at once; only what is no Exception can be left in it.
            self._ended(task, call)
            return
        self._has_new_tasks = not _EAGER
        self._running[task] = call
        tool = self._find(call.name)
        if tool is not None and tool.timeout is not None:
            self._timed[task] = call
        task.add_done_callback(self._left)

    async def _await(self, call: Call, awaitable: Awaitable[Any]) -> None:
        try:
            result = await awaitable
        except Exception as error:
            fail(self._session, call.id, error)
        else:
            settle(self._session, call.id, result)
        self._tell()

    def _left(self, task: asyncio.Task[None]) -> None:
        call = self._running.pop(task, None)
        self._timed.pop(task, None)
        if call is not None:
            self._ended(task, call)

    def _ended(self, task: asyncio.Task[None], call: Call) -> None:
        if task.cancelled():
            if not call.cancelled:
                fail(self._session, call.id, asyncio.CancelledError("the tool was cancelled"))
        elif task.exception() is not None:
            # What is no Exception, such as SystemExit: the loop has it, and the program an answer.
            fail(self._session, call.id, RuntimeError("the tool ended the program of the host"))
        else:
            return
        self._tell()

    def _tell(self) -> None:
        self._settled = True
        if self._news is not None and not self._news.done():
            self._news.set_result(None)

    async def wait(self, wake_at: float | None) -> None:
        """Until a call has ended, the bell rings, or a time."""
        self._has_new_tasks = False
        if self._settled:
            self._settled = False
            return
        news = self._news = self._loop.create_future()
        self._bell.listener = self._ring
        timer = None
        try:
            if self._bell.heard():
                return
            if wake_at is not None:
                timer = self._loop.call_later(delay_until(wake_at), _wake, news)
            await news
        finally:
            self._last_pause = self._loop.time()
            self._bell.listener = None
            self._news = None
            self._settled = False
            if timer is not None:
                timer.cancel()

    def _ring(self) -> None:
        try:
            self._loop.call_soon_threadsafe(self._tell)
        except RuntimeError:
            # The loop is closed, and this driver gone with it.
            return

    def drop_overdue(self) -> None:
        """Cancels the tasks of calls whose time is over: the program has its answer."""
        for task, call in list(self._timed.items()):
            if call.cancelled:
                task.cancel()

    def cancel(self) -> None:
        """Ends what still runs."""
        if self._loop.is_closed():
            return
        for task in self._running:
            task.cancel()

    async def land(self) -> None:
        """Waits for what was cancelled."""
        if self._running:
            await asyncio.gather(*self._running, return_exceptions=True)


def _wake(news: asyncio.Future[None]) -> None:
    if not news.done():
        news.set_result(None)


def _task(loop: asyncio.AbstractEventLoop, coroutine: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
    """A task of the loop; where Python can, and the loop has no tasks of its own kind, it runs up to its first wait at
    once.
    """
    if sys.version_info >= (3, 12) and loop.get_task_factory() is None:
        return asyncio.Task(coroutine, loop=loop, eager_start=True)
    return loop.create_task(coroutine)
