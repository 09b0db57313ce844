"""A session: one JavaScript heap, its programs, and the drivers that run the tools they call."""

from __future__ import annotations

from contextvars import ContextVar, Token

from chrysalid import _native
from chrysalid.driver import drive
from chrysalid.modules import IMPORT
from chrysalid.tools import Toolset, names
from chrysalid.turns import Bell, Turns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from chrysalid._native import CallRecord, Handle, Outcome, PendingCall, Step
    from chrysalid.events import Event
    from chrysalid.modules import Modules
    from chrysalid.tools import Effect, Function, Tool

__all__ = ["Session"]


class _Run:
    """A program that a driver runs. Tools, and tasks that they make, find it in their context."""

    __slots__ = ("is_over", "turns")

    def __init__(self, turns: Turns) -> None:
        self.turns = turns
        self.is_over = False


# The programs whose tools this context belongs to: another program of such a session would wait for its own end.
_within: ContextVar[tuple[_Run, ...]] = ContextVar("chrysalid_within", default=())


class Session:
    """One JavaScript heap with its programs, calls and record. Made by :meth:`Engine.session` and
    :meth:`Engine.restore`.

    ``run`` and ``arun`` run a program until it ends or waits for somebody. Programs that are asked for meanwhile
    queue; when the one ahead pauses, they end unrun with ``SessionPaused``. Below these is the step machine,
    ``start``, ``step`` and ``settle``, for a driver of one's own.

    Any thread may use it. What is asked from one thread while another one steps waits for the end of that step.
    """

    __slots__ = ("__weakref__", "_bell", "_modules", "_native", "_on_event", "_tools", "_turns")

    def __init__(
        self,
        native: _native.Session,
        tools: Toolset,
        modules: Modules | None = None,
        on_event: Callable[[Event], None] | None = None,
    ) -> None:
        self._native = native
        self._tools = tools
        self._modules = modules
        self._on_event = on_event
        self._turns = Turns()
        self._bell = Bell()

    # Running programs.

    def run(self, code: str) -> Outcome:
        """Runs a program with this thread: tools are called here, one after another.

        Async tools run at the same time, on an event loop that this thread has for as long as the program runs; where
        a loop runs in it already, they need ``arun``. Ctrl-C stops the program and is raised.
        """
        self._refuse_within()
        self._turns.take()
        run, token = self._enter()
        try:
            self._refuse_paused()
            self._native.start(code)
            return drive(self._native, self.tool, self._bell, self._teller)
        finally:
            self._leave(run, token)

    async def arun(self, code: str) -> Outcome:
        """Runs a program on the caller's event loop: tools run on it at the same time, in the caller's context.

        A cancelled task stops the program, and its tools.
        """
        from chrysalid.flight import drive_async

        self._refuse_within()
        await self._turns.take_async()
        run, token = self._enter()
        try:
            self._refuse_paused()
            self._native.start(code)
            return await drive_async(self._native, self.tool, self._bell, tell=self._teller)
        finally:
            self._leave(run, token)

    def resume(self) -> Outcome:
        """Goes on with the program, after decisions or a restore."""
        self._refuse_within()
        self._turns.take()
        run, token = self._enter()
        try:
            return drive(self._native, self.tool, self._bell, self._teller)
        finally:
            self._leave(run, token)

    async def aresume(self) -> Outcome:
        """As ``resume``, on the caller's event loop."""
        from chrysalid.flight import drive_async

        self._refuse_within()
        await self._turns.take_async()
        run, token = self._enter()
        try:
            return await drive_async(self._native, self.tool, self._bell, tell=self._teller)
        finally:
            self._leave(run, token)

    def interrupt(self) -> None:
        """Ends the program that runs or waits as ``cancelled``. From any thread; without a program it does nothing.

        A synchronous tool is not stopped: the program ends when it has returned.
        """
        if self._turns.taken or not self._native.is_idle:
            self._native.interrupt()
            self._bell.ring()

    def _refuse_within(self) -> None:
        for run in _within.get():
            if run.turns is self._turns and not run.is_over:
                raise _native.SessionBusy(
                    "a tool of this session asked for it while the program that called the tool runs"
                )

    def _refuse_paused(self) -> None:
        pending = [] if self._native.is_idle else self._native.pending
        if pending:
            waiting = ", ".join(f"{call.id} {call.name}" for call in pending)
            raise _native.SessionPaused(f"a program of this session waits for: {waiting}")

    def _enter(self) -> tuple[_Run, Token[tuple[_Run, ...]]]:
        run = _Run(self._turns)
        return run, _within.set((*_within.get(), run))

    def _leave(self, run: _Run, token: Token[tuple[_Run, ...]]) -> None:
        run.is_over = True
        self._turns.pass_on()
        try:
            _within.reset(token)
        except ValueError:
            # A coroutine that is thrown away ends in another context.
            return

    # Decisions.

    def approve(
        self, call_id: str, *, token: str | None = None, by: str | None = None, roles: str | Iterable[str] = ()
    ) -> None:
        """Lets a call run as shown. Of an unknown call: runs it again.

        Args:
            call_id: Id of the call, from ``pending``.
            token: What the reviewer was shown, ``PendingCall.token``: refused for any other argument, call or session.
            by: Who decides, for the record.
            roles: Roles that they have.
        """
        self._native.approve(call_id, token=token, by=by, roles=names(roles))

    def reject(
        self,
        call_id: str,
        reason: str | None = None,
        *,
        token: str | None = None,
        by: str | None = None,
        roles: str | Iterable[str] = (),
    ) -> None:
        """Does not run a call; the program gets ``ToolRejected`` with the reason. Of an unknown call: it was not
        done.
        """
        self._native.reject(call_id, reason, token=token, by=by, roles=names(roles))

    def respond(
        self,
        call_id: str,
        value: Any,
        *,
        token: str | None = None,
        by: str | None = None,
        roles: str | Iterable[str] = (),
    ) -> None:
        """Does not run a call; the program gets this value. Of an unknown call: it was done, with this value."""
        self._native.respond(call_id, value, token=token, by=by, roles=names(roles))

    def edit(
        self,
        call_id: str,
        arguments: Any,
        *,
        name: str | None = None,
        token: str | None = None,
        by: str | None = None,
        roles: str | Iterable[str] = (),
    ) -> None:
        """Runs a call with other arguments, or another tool by ``name``. Schema and rules check them again."""
        self._native.edit(call_id, arguments, name=name, token=token, by=by, roles=names(roles))

    def grant(self, terms: str, *, by: str | None = None, roles: str | Iterable[str] = ()) -> int:
        """Allows some calls beforehand; the grant's number. Calls that wait already are not affected.

        Args:
            terms: ``tools`` (a pattern or a list), ``when`` (default any argument), ``count``, ``lasts`` (default for
                ever) and
                ``scope`` (default ``"program"``, or ``"session"``) in TOML: ``tools = "mail.send", count = 4, lasts =
                "1h"``.
            by: Who grants, for the record.
            roles: Roles that they have.
        """
        return self._native.grant(terms, by=by, roles=names(roles))

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
        step = self._native.step(now)
        if self._on_event is not None:
            self._tell(step.events)
        return step

    @property
    def _teller(self) -> Callable[[list[Event]], None] | None:
        return None if self._on_event is None else self._tell

    def _tell(self, events: list[Event]) -> None:
        """A reader that fails never fails the program."""
        for event in events:
            try:
                if self._on_event is not None:
                    self._on_event(event)
            except Exception:
                import logging

                logging.getLogger(__name__).exception("on_event failed")

    def tool(self, name: str) -> Tool | Modules | None:
        """What serves calls with this name, by ``invoke``: the tool, and for ``$import`` the modules."""
        return self._modules if name == IMPORT else self._tools.get(name)

    def settle(self, call_id: str, value: Any) -> None:
        """Gives a call that runs, waits outside, or is unknown, its result."""
        self._native.settle(call_id, value)

    def fail(self, call_id: str, message: str, *, name: str = "ToolError", retryable: bool = False) -> None:
        """Fails such a call: the program gets an error with this name and message."""
        self._native.fail(call_id, message, name=name, retryable=retryable)

    def suspend(self, call_id: str) -> None:
        """Says that the tool of a call that runs waits for somebody itself. ``settle`` or ``fail`` answers later, also
        after a restore.
        """
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
    def taint(self) -> list[Effect]:
        """Effects that it has met: ``private``, ``untrusted``, ``acts``."""
        return self._native.taint

    @property
    def met(self) -> list[tuple[Effect, str]]:
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

    def meet(self, effects: Effect | Iterable[Effect], by: str) -> None:
        """Joins effects that the host knows to be in what the session was given, with where they came from."""
        self._native.meet(names(effects) or [], by)

    def handle_value(self, handle: Handle) -> Any:
        """What an opaque handle of this session stands for."""
        return self._native.handle_value(handle)

    def __repr__(self) -> str:
        return f"Session({self.id!r})"

    def __reduce__(self) -> Any:
        raise TypeError("a session cannot be pickled; take a snapshot")
