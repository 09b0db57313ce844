"""What an evaluation asks to be done, and the two loops that do it: in threads, or on the caller's event loop.

An evaluation is a generator that runs no tool and waits for nothing itself. It yields these operations and is sent
their results, so that the sync and the async path are one and the same logic.
"""

from __future__ import annotations

import asyncio
import contextvars
import queue
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator

Result = TypeVar("Result")


class Job(Protocol):
    """A nested call that can be run; what becomes of it is the result, it raises nothing."""

    def run(self) -> Any:
        """Run it in this thread."""

    async def arun(self) -> Any:
        """Run it on this event loop."""


@dataclass(frozen=True)
class Do:
    """Call one of a pair of functions."""

    function: Callable[..., Any]
    coroutine: Callable[..., Awaitable[Any]]
    arguments: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Begin:
    """Start a job without waiting for it."""

    job: Job


@dataclass(frozen=True)
class Await:
    """Wait until a job ends or the time comes (seconds since 1970); gives the results of all that ended."""

    until: float | None = None


@dataclass(frozen=True)
class Sleep:
    """Let others run for so many seconds."""

    seconds: float = 0.0


Operation = Do | Begin | Await | Sleep


def drive(program: Generator[Operation, Any, Result], threads: int) -> Result:
    """Run a program to its end in this thread, its jobs in up to `threads` others."""
    ended: queue.SimpleQueue[Any] = queue.SimpleQueue()
    pool = ThreadPoolExecutor(max_workers=threads, thread_name_prefix="chrysalid-call")

    def run(job: Job) -> None:
        try:
            ended.put(job.run())
        except BaseException as error:
            ended.put(error)
            raise

    def perform(operation: Operation) -> Any:
        match operation:
            case Do(function, _, arguments):
                return function(*arguments)
            case Begin(job):
                pool.submit(contextvars.copy_context().run, run, job)
            case Await(until):
                return _drain(ended, until)
            case Sleep(seconds):
                time.sleep(seconds)
        return None

    try:
        sent: Any = None
        while True:
            sent = perform(program.send(sent))
    except StopIteration as end:
        result: Result = end.value
        return result
    finally:
        # A call that outlives its program (a timeout) cannot be stopped in a thread, only left behind.
        pool.shutdown(wait=False, cancel_futures=True)
        program.close()


def _drain(ended: queue.SimpleQueue[Any], until: float | None) -> list[Any]:
    found: list[Any] = []
    try:
        found.append(ended.get(timeout=_seconds_to(until)))
        while True:
            found.append(ended.get_nowait())
    except queue.Empty:
        pass
    for one in found:
        if isinstance(one, BaseException):
            raise one
    return found


_LONGEST_WAIT = 3600.0


def _seconds_to(until: float | None) -> float:
    """How long to wait at most before the session is asked again."""
    return _LONGEST_WAIT if until is None else min(max(0.0, until - time.time()), _LONGEST_WAIT)


async def adrive(program: Generator[Operation, Any, Result]) -> Result:
    """Run a program to its end on this event loop, its jobs as tasks."""
    running: set[asyncio.Task[Any]] = set()

    async def perform(operation: Operation) -> Any:
        match operation:
            case Do(_, coroutine, arguments):
                return await coroutine(*arguments)
            case Begin(job):
                running.add(asyncio.create_task(job.arun()))
            case Await(until):
                return await _first(running, until)
            case Sleep(seconds):
                await asyncio.sleep(seconds)
        return None

    try:
        sent: Any = None
        while True:
            sent = await perform(program.send(sent))
    except StopIteration as end:
        result: Result = end.value
        return result
    finally:
        for task in running:
            task.cancel()
        if running:
            await asyncio.gather(*running, return_exceptions=True)
        program.close()


async def _first(running: set[asyncio.Task[Any]], until: float | None) -> list[Any]:
    seconds = _seconds_to(until)
    if not running:
        await asyncio.sleep(seconds)
        return []
    done, _ = await asyncio.wait(running, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    running.difference_update(done)
    return [task.result() for task in done]
