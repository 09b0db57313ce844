"""The drivers: loops over ``step`` and ``settle`` that run the tools a program calls.

The synchronous one calls tools one after another with the caller's thread; the other one runs them as tasks of the caller's
event loop, in the caller's context. No thread is made. Whatever ends a driver from outside, Ctrl-C or a cancelled task, stops
the program before it is passed on.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from typing import Any

from chrysalid import _native
from chrysalid._native import Call, Outcome, Step
from chrysalid.tools import Toolset, failure_of

# How long a synchronous wait sleeps at a time, so that an interrupt from another thread is seen.
_PATIENCE = 0.05


def drive(session: _native.Session, tools: Toolset) -> Outcome:
    """Runs the program until it ends or waits, calling tools with this thread."""
    try:
        while True:
            step = session.step()
            if step.kind == "start":
                for call in step.calls:
                    if not call.cancelled:
                        _serve(session, tools, call)
            elif step.outcome is not None:
                return step.outcome
            elif step.kind == "wait":
                _sleep_until(step.wake_at)
    except BaseException:
        _stop(session)
        raise


def _serve(session: _native.Session, tools: Toolset, call: Call) -> None:
    tool = tools.get(call.name)
    try:
        if tool is None:
            raise LookupError(f"{call.name} is not available")
        result = tool.invoke(call)
        if inspect.isawaitable(result):
            _close(result)
            raise TypeError(f"tool {call.name!r} is async: run the program with arun")
    except Exception as error:
        _fail(session, call.id, error)
    else:
        _settle(session, call.id, result)


def _close(awaitable: Any) -> None:
    close = getattr(awaitable, "close", None)
    if close is not None:
        close()


def _sleep_until(wake_at: float | None) -> None:
    left = _PATIENCE if wake_at is None else wake_at - time.time()
    time.sleep(min(max(left, 0.0), _PATIENCE))


async def drive_async(session: _native.Session, tools: Toolset) -> Outcome:
    """Runs the program until it ends or waits, its tools as tasks of the running loop."""
    flight = _Flight(session, tools)
    try:
        while True:
            step = session.step()
            if step.kind == "start":
                flight.begin(step)
            elif step.outcome is not None:
                return step.outcome
            elif step.kind == "wait":
                await flight.wait(step.wake_at)
            else:
                # Another slice; others on the loop come in between.
                await asyncio.sleep(0)
            flight.drop_unwanted()
    except BaseException:
        _stop(session)
        raise
    finally:
        await flight.land()


class _Flight:
    """The calls that run."""

    def __init__(self, session: _native.Session, tools: Toolset) -> None:
        self._session = session
        self._tools = tools
        self._loop = asyncio.get_running_loop()
        self._running: dict[asyncio.Task[None], Call] = {}
        self._news: asyncio.Future[None] | None = None
        self._settled = False

    def begin(self, step: Step) -> None:
        for call in step.calls:
            tool = self._tools.get(call.name)
            try:
                if tool is None:
                    raise LookupError(f"{call.name} is not available")
                result = tool.invoke(call)
            except Exception as error:
                _fail(self._session, call.id, error)
                self._settled = True
                continue
            if inspect.isawaitable(result):
                task = self._loop.create_task(self._serve(call, result))
                self._running[task] = call
                task.add_done_callback(self._ended)
            else:
                _settle(self._session, call.id, result)
                self._settled = True

    async def _serve(self, call: Call, awaitable: Any) -> None:
        try:
            result = await awaitable
        except Exception as error:
            _fail(self._session, call.id, error)
        else:
            _settle(self._session, call.id, result)

    def _ended(self, task: asyncio.Task[None]) -> None:
        call = self._running.pop(task, None)
        if task.cancelled() and call is not None and not call.cancelled:
            _fail(self._session, call.id, asyncio.CancelledError("the tool was cancelled"))
        elif not task.cancelled() and task.exception() is not None and call is not None:
            # What is no Exception, such as SystemExit: the loop has it, and the program an answer.
            _fail(self._session, call.id, RuntimeError("the tool ended the program of the host"))
        self._settled = True
        if self._news is not None and not self._news.done():
            self._news.set_result(None)

    async def wait(self, wake_at: float | None) -> None:
        """Until a call has ended, or a time."""
        if self._settled:
            self._settled = False
            return
        self._news = self._loop.create_future()
        timer = None
        if wake_at is not None or not self._running:
            delay = _PATIENCE if wake_at is None else max(wake_at - time.time(), 0.0)
            timer = self._loop.call_later(delay, _wake, self._news)
        try:
            await self._news
        finally:
            self._news = None
            self._settled = False
            if timer is not None:
                timer.cancel()

    def drop_unwanted(self) -> None:
        """Cancels the tasks of calls whose result nobody waits for: timed out, or stopped."""
        for task, call in list(self._running.items()):
            if call.cancelled:
                task.cancel()

    async def land(self) -> None:
        """Ends what still runs, and waits for it."""
        left = list(self._running)
        for task in left:
            task.cancel()
        if left:
            await asyncio.gather(*left, return_exceptions=True)


def _wake(news: asyncio.Future[None]) -> None:
    if not news.done():
        news.set_result(None)


def _settle(session: _native.Session, call_id: str, result: Any) -> None:
    """Gives the result; one that does not cross is the tool's failure, and a late one nobody's business."""
    try:
        session.settle(call_id, result)
    except (TypeError, ValueError) as error:
        _fail(session, call_id, TypeError(f"the result cannot be passed to the program: {error}"))
    except (_native.AlreadyDecided, _native.UnknownCall):
        pass


def _fail(session: _native.Session, call_id: str, error: BaseException) -> None:
    message, name, retryable = failure_of(error)
    try:
        session.fail(call_id, message, name=name, retryable=retryable)
    except (_native.AlreadyDecided, _native.UnknownCall):
        pass


def _stop(session: _native.Session) -> None:
    """Ends the program, so that the next one may start."""
    session.interrupt()
    try:
        while session.step().outcome is None:
            pass
    except _native.ChrysalidError:
        pass
