"""Whose turn it is in a session: programs run in the order in which they were asked for, from tasks and threads
alike.
"""

from __future__ import annotations

from _thread import RLock, allocate_lock
from collections import deque

TYPE_CHECKING = False
if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

__all__ = ["Bell", "Turns"]


class Turns:
    """A fair lock that tasks and threads may wait for side by side. An event loop is never blocked by it."""

    __slots__ = ("_lock", "_taken", "_waiting")

    def __init__(self) -> None:
        # A coroutine that is thrown away may pass its turn on from within any allocation.
        self._lock = RLock()
        self._taken = False
        self._waiting: deque[Callable[[], bool]] = deque()

    @property
    def taken(self) -> bool:
        """Whether it is somebody's turn."""
        return self._taken

    def take(self) -> None:
        """Waits with this thread. Whoever has the turn must pass it on."""
        if self._try(None):
            return
        ready = allocate_lock()
        ready.acquire()
        given = False

        def wake() -> bool:
            nonlocal given
            given = True
            ready.release()
            return True

        try:
            if not self._try(wake):
                ready.acquire()
        except BaseException:
            self._forget(wake, given)
            raise

    async def take_async(self) -> None:
        """Waits with this task."""
        if self._try(None):
            return
        import asyncio

        loop = asyncio.get_running_loop()
        ready: asyncio.Future[None] = loop.create_future()
        given = False

        def finish() -> None:
            if not ready.done():
                ready.set_result(None)

        def wake() -> bool:
            nonlocal given
            if ready.cancelled():
                return False
            given = True
            try:
                loop.call_soon_threadsafe(finish)
            except RuntimeError:
                # Its loop is closed: nobody waits there any more.
                given = False
                return False
            return True

        if self._try(wake):
            return
        try:
            await ready
        except BaseException:
            self._forget(wake, given)
            raise

    def pass_on(self) -> None:
        """To the first that still waits."""
        with self._lock:
            while self._waiting:
                if self._waiting.popleft()():
                    return
            self._taken = False

    def _try(self, wake: Callable[[], bool] | None) -> bool:
        with self._lock:
            if not self._taken:
                self._taken = True
                return True
            if wake is not None:
                self._waiting.append(wake)
            return False

    def _forget(self, wake: Callable[[], bool], given: bool) -> None:
        """Somebody does not want the turn any more, which may be theirs already."""
        with self._lock:
            if wake in self._waiting:
                self._waiting.remove(wake)
                return
        if given:
            self.pass_on()


class Bell:
    """Wakes the driver that waits, from any thread. A ring while nobody waits is heard by the next wait."""

    __slots__ = ("_rung", "listener")

    def __init__(self) -> None:
        self._rung = False
        self.listener: Callable[[], None] | None = None

    def ring(self) -> None:
        """Ends the wait, or the next one."""
        self._rung = True
        listener = self.listener
        if listener is not None:
            listener()

    def heard(self) -> bool:
        """Whether it has rung since it was last asked."""
        rung, self._rung = self._rung, False
        return rung

    def wait(self, seconds: float) -> None:
        """Waits with this thread for a ring, so long at most."""
        ring = allocate_lock()
        ring.acquire()

        def listen() -> None:
            # Two may ring at once; a lock is released once.
            if ring.locked():
                try:
                    ring.release()
                except RuntimeError:
                    return

        self.listener = listen
        try:
            if not self.heard():
                ring.acquire(timeout=seconds)
                self._rung = False
        finally:
            self.listener = None
