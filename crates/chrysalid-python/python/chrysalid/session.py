"""A session: one JavaScript heap, its programs, and the drivers that run the tools they call."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from chrysalid import _native
from chrysalid._native import CallRecord, Handle, Outcome, PendingCall, SessionBusy, SessionPaused, Step
from chrysalid.driver import drive, drive_async
from chrysalid.tools import Function, Tool, Toolset
from chrysalid.turns import Turns

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Session"]

# The sessions whose tool is running in this context: a program of one of them would wait for itself.
_serving: ContextVar[frozenset[int]] = ContextVar("chrysalid_serving", default=frozenset())


class Session:
    """One JavaScript heap with its programs, calls and record. Made by :meth:`Engine.session` and :meth:`Engine.restore`.

    ``run`` and ``arun`` run a program until it ends or waits for somebody. Programs that are asked for meanwhile queue; when
    the one ahead pauses, they end unrun with ``SessionPaused``. Below these is the step machine, ``start``, ``step`` and
    ``settle``, for a driver of one's own.
    """

    def __init__(self, native: _native.Session, tools: Toolset) -> None:
        self._native = native
        self._tools = tools
        self._turns = Turns()

    # Running programs.

    def run(self, code: str) -> Outcome:
        """Runs a program with this thread: tools are called here, one after another.

        An async tool needs ``arun``. Ctrl-C stops the program and is raised.
        """
        self._not_within()
        with self._turns.wait(), self._serving():
            self._free()
            self._native.start(code)
            return drive(self._native, self._tools)

    async def arun(self, code: str) -> Outcome:
        """Runs a program on the caller's event loop: tools run on it at the same time, in the caller's context.

        A cancelled task stops the program.
        """
        self._not_within()
        async with self._turns:
            with self._serving():
                self._free()
                self._native.start(code)
                return await drive_async(self._native, self._tools)

    def resume(self) -> Outcome:
        """Goes on with the program, after decisions or a restore."""
        self._not_within()
        with self._turns.wait(), self._serving():
            return drive(self._native, self._tools)

    async def aresume(self) -> Outcome:
        """As ``resume``, on the caller's event loop."""
        self._not_within()
        async with self._turns:
            with self._serving():
                return await drive_async(self._native, self._tools)

    def _not_within(self) -> None:
        if id(self) in _serving.get():
            raise SessionBusy("a tool of this session asked for it while the program that called the tool runs")

    def _free(self) -> None:
        pending = [] if self._native.is_idle else self._native.pending
        if pending:
            names = ", ".join(f"{call.id} {call.name}" for call in pending)
            raise SessionPaused(f"a program of this session waits for: {names}")

    @contextmanager
    def _serving(self) -> Iterator[None]:
        token = _serving.set(_serving.get() | {id(self)})
        try:
            yield
        finally:
            _serving.reset(token)

    def interrupt(self) -> None:
        """Ends the program as ``cancelled``. From any thread."""
        self._native.interrupt()

    # Decisions.

    def approve(
        self, call_id: str, *, token: str | None = None, by: str | None = None, roles: Iterable[str] = ()
    ) -> None:
        """Lets a call run as shown. Of an unknown call: runs it again.

        Args:
            call_id: Id of the call, from ``pending``.
            token: What the reviewer was shown, ``PendingCall.token``: refused for any other argument, call or session.
            by: Who decides, for the record.
            roles: Roles that they have.
        """
        self._native.approve(call_id, token=token, by=by, roles=list(roles))

    def reject(
        self,
        call_id: str,
        reason: str | None = None,
        *,
        token: str | None = None,
        by: str | None = None,
        roles: Iterable[str] = (),
    ) -> None:
        """Does not run a call; the program gets ``ToolRejected`` with the reason. Of an unknown call: it was not done."""
        self._native.reject(call_id, reason, token=token, by=by, roles=list(roles))

    def respond(
        self,
        call_id: str,
        value: Any,
        *,
        token: str | None = None,
        by: str | None = None,
        roles: Iterable[str] = (),
    ) -> None:
        """Does not run a call; the program gets this value. Of an unknown call: it was done, with this value."""
        self._native.respond(call_id, value, token=token, by=by, roles=list(roles))

    def edit(
        self,
        call_id: str,
        arguments: Any,
        *,
        name: str | None = None,
        token: str | None = None,
        by: str | None = None,
        roles: Iterable[str] = (),
    ) -> None:
        """Runs a call with other arguments, or another tool by ``name``. Schema and rules check them again."""
        self._native.edit(call_id, arguments, name=name, token=token, by=by, roles=list(roles))

    def grant(self, terms: str, *, by: str | None = None, roles: Iterable[str] = ()) -> int:
        """Allows some calls beforehand; the grant's number. The form is that of the policy's page."""
        return self._native.grant(terms, by=by, roles=list(roles))

    def raise_budget(
        self, *, calls: int | None = None, bytes: int | None = None, spawns: int | None = None, by: str | None = None
    ) -> None:
        """Adds to the budget of the session."""
        self._native.raise_budget(calls=calls, bytes=bytes, spawns=spawns, by=by)

    # The step machine.

    def start(self, code: str) -> None:
        """Begins a program. Nothing of it runs before the next step."""
        self._native.start(code)

    def step(self, now: float | None = None) -> Step:
        """Runs the guest until it needs something, for about 10 ms at most, with the GIL released."""
        return self._native.step(now)

    def settle(self, call_id: str, value: Any) -> None:
        """Gives a call that runs, waits outside, or is unknown, its result."""
        self._native.settle(call_id, value)

    def fail(self, call_id: str, message: str, *, name: str = "ToolError", retryable: bool = False) -> None:
        """Fails such a call: the program gets an error with this name and message."""
        self._native.fail(call_id, message, name=name, retryable=retryable)

    def suspend(self, call_id: str) -> None:
        """Says that the tool of a call that runs waits for somebody itself. ``settle`` or ``fail`` answers later, also after a
        restore."""
        self._native.suspend(call_id)

    # State.

    def snapshot(self) -> bytes:
        """Its whole state as bytes, idle or paused, sealed with the engine's key."""
        return self._native.snapshot()

    @property
    def id(self) -> str:
        """Its id. A fork has another one."""
        return self._native.id

    @property
    def is_idle(self) -> bool:
        """Whether no program runs or waits."""
        return self._native.is_idle

    @property
    def is_lost(self) -> bool:
        """Whether its heap is gone."""
        return self._native.is_lost

    @property
    def pending(self) -> list[PendingCall]:
        """Calls that wait for a person or something outside, in the order they were made."""
        return self._native.pending

    @property
    def calls(self) -> list[CallRecord]:
        """The record of its calls."""
        return self._native.calls

    @property
    def source(self) -> str | None:
        """Source of the program that runs or waits."""
        return self._native.source

    @property
    def taint(self) -> list[str]:
        """Effects that it has met: ``private``, ``untrusted``, ``acts``."""
        return self._native.taint

    @property
    def met(self) -> list[tuple[str, str]]:
        """Each effect with the call that brought it."""
        return self._native.met

    @property
    def ledger(self) -> str:
        """What it has met and used, as JSON: kept beside snapshots, it keeps an older one from lowering anything."""
        return self._native.ledger

    @property
    def cpu_time(self) -> float:
        """CPU time of the program that runs, or of the latest one, in seconds."""
        return self._native.cpu_time

    @property
    def tools(self) -> Toolset:
        """Its tools."""
        return self._tools

    @tools.setter
    def tools(self, tools: Toolset | Iterable[Tool | Function]) -> None:
        self._tools = Toolset.of(tools)
        self._native.set_tools(self._tools._native)

    def meet(self, effects: Iterable[str], by: str) -> None:
        """Joins effects that the host knows to be in what the session was given, with where they came from."""
        self._native.meet(list(effects), by)

    def handle_value(self, handle: Handle) -> Any:
        """What an opaque handle of this session stands for."""
        return self._native.handle_value(handle)

    def __repr__(self) -> str:
        return f"Session({self.id!r})"
