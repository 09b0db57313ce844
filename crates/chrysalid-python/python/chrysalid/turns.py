"""Whose turn it is in a session: programs run in the order in which they were asked for, from tasks and threads alike."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Turns:
    """A fair lock that tasks and threads may wait for side by side. An event loop is never blocked by it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._taken = False
        self._waiting: deque[Callable[[], bool]] = deque()

    def _take(self, wake: Callable[[], bool]) -> bool:
        with self._lock:
            if not self._taken:
                self._taken = True
                return True
            self._waiting.append(wake)
            return False

    def _pass_on(self) -> None:
        """To the first that still waits."""
        with self._lock:
            while self._waiting:
                if self._waiting.popleft()():
                    return
            self._taken = False

    @contextmanager
    def wait(self) -> Iterator[None]:
        """A turn of this thread."""
        ready = threading.Event()

        def wake() -> bool:
            ready.set()
            return True

        if not self._take(wake):
            try:
                ready.wait()
            except BaseException:
                self._forget(wake, ready.is_set())
                raise
        try:
            yield
        finally:
            self._pass_on()

    async def __aenter__(self) -> None:
        loop = asyncio.get_running_loop()
        ready: asyncio.Future[None] = loop.create_future()
        given = False

        def finish() -> None:
            if not ready.done():
                ready.set_result(None)

        def wake() -> bool:
            nonlocal given
            if ready.cancelled() or loop.is_closed():
                return False
            given = True
            loop.call_soon_threadsafe(finish)
            return True

        if self._take(wake):
            return
        try:
            await ready
        except BaseException:
            self._forget(wake, given)
            raise

    async def __aexit__(self, *_: object) -> None:
        self._pass_on()

    def _forget(self, wake: Callable[[], bool], given: bool) -> None:
        """Somebody does not want the turn any more, which may be theirs already."""
        with self._lock:
            if wake in self._waiting:
                self._waiting.remove(wake)
                return
        if given:
            self._pass_on()
