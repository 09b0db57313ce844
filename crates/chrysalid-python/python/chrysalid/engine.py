"""The engine: what the sessions of a process share."""

from __future__ import annotations

import os

from chrysalid import _native
from chrysalid.modules import Modules
from chrysalid.session import Session
from chrysalid.tools import Toolset

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from chrysalid._native import Inspection, Key, Limits, Policy
    from chrysalid.events import Event
    from chrysalid.modules import _Find
    from chrysalid.tools import Function, Tool

__all__ = ["Engine"]

_PRECOMPILED = os.path.join(os.path.dirname(__file__), "guest.cwasm")


class Engine:
    """What sessions share: compiled guest, limits, policy, keys. Make one and keep it; any thread may use it, and it
    works on after ``os.fork()``.

    Args:
        limits: Bounds of its sessions.
        policy: Rules for calls. Default none but the rule of two, which holds as soon as one tool declares effects.
        key: What seals snapshots. Default ``CHRYSALID_KEY``, then the file ``CHRYSALID_KEY_FILE``, then
            ``chrysalid/key`` in
            the user's state folder, made at first use.
        old_keys: Keys that open older snapshots.
        checkpoint: Keeps a copy of a session's heap before each program, to go back to when the sandbox had to stop it
            in the
            middle. Default yes.
        pool_slots: Sessions whose memory is reserved beforehand: 4.2 GB of address space each, and no memory until they
            are used. A session beyond them, or where that much address space cannot be had, takes some 100 µs more to
            make. Default 32.
        max_memory: The most memory that any session may have, in bytes. Default 256 MiB.
        cache_folder: Where compiled guests are kept. Default ``chrysalid`` in the user's cache folder.
    """

    def __init__(
        self,
        *,
        limits: Limits | None = None,
        policy: Policy | None = None,
        key: Key | None = None,
        old_keys: Sequence[Key] = (),
        checkpoint: bool = True,
        pool_slots: int = 32,
        max_memory: int | None = None,
        cache_folder: str | os.PathLike[str] | None = None,
    ) -> None:
        self._native = _native.Engine(
            limits=limits,
            policy=policy,
            key=key,
            old_keys=list(old_keys),
            checkpoint=checkpoint,
            pool_slots=pool_slots,
            max_memory=max_memory,
            cache_folder=None if cache_folder is None else os.fspath(cache_folder),
            precompiled=_PRECOMPILED,
        )

    def session(
        self,
        tools: Toolset | Iterable[Tool | Function] = (),
        *,
        limits: Limits | None = None,
        clock: float | None = None,
        seed: int | None = None,
        context: bytes = b"",
        park_after: float | None = None,
        approve_program: bool = False,
        depth: int = 0,
        modules: Modules | Mapping[str, str] | _Find | None = None,
        ledger: str | None = None,
        on_event: Callable[[Event], None] | None = None,
        events: bool = False,
    ) -> Session:
        """A fresh session.

        Args:
            tools: What its programs may call.
            limits: Bounds in place of the engine's.
            clock: What the program's clock always shows, in seconds since 1970. Default the host's time.
            seed: Makes random numbers the same in each run. Default the host's.
            context: Bound to snapshots: tenant, run, whatever must not be mixed up.
            park_after: Timers later than so many seconds pause the program. Default 30.
            approve_program: A person is asked about each program before any of it runs.
            depth: How many subagents deep this session is.
            modules: What programs may import: sources by key, or a function that finds them.
            ledger: What the run is known to have met and used: see ``Session.ledger``.
            on_event: Told of calls, console lines and pauses after each step in which there were some.
            events: Gives them to whoever steps the session, as ``Step.events``.
        """
        toolset = Toolset.of(tools)
        found = None if modules is None else Modules.of(modules)
        native = self._native.session(
            toolset._native,
            limits=limits,
            clock=clock,
            seed=seed,
            context=context,
            park_after=park_after,
            approve_program=approve_program,
            depth=depth,
            modules=None if found is None else found.names,
            ledger=ledger,
            events=events or on_event is not None,
        )
        return Session(native, toolset, found, on_event)

    def restore(
        self,
        data: bytes,
        tools: Toolset | Iterable[Tool | Function] = (),
        *,
        fork: bool = False,
        limits: Limits | None = None,
        clock: float | None = None,
        seed: int | None = None,
        context: bytes = b"",
        park_after: float | None = None,
        approve_program: bool = False,
        depth: int = 0,
        modules: Modules | Mapping[str, str] | _Find | None = None,
        ledger: str | None = None,
        on_event: Callable[[Event], None] | None = None,
        events: bool = False,
    ) -> Session:
        """A session from a snapshot, to go on with it, or beside the original with ``fork``. Tools are looked up by
        name.

        Whoever keeps the bytes sees to it that they are gone on with once.
        """
        toolset = Toolset.of(tools)
        found = None if modules is None else Modules.of(modules)
        native = self._native.restore(
            data,
            toolset._native,
            fork=fork,
            limits=limits,
            clock=clock,
            seed=seed,
            context=context,
            park_after=park_after,
            approve_program=approve_program,
            depth=depth,
            modules=None if found is None else found.names,
            ledger=ledger,
            events=events or on_event is not None,
        )
        return Session(native, toolset, found, on_event)

    def inspect(self, data: bytes) -> Inspection:
        """What a snapshot tells about itself."""
        return self._native.inspect(data)

    def guest(self) -> bytes:
        """The guest build that its snapshots belong to, as WebAssembly."""
        return self._native.guest()

    def __repr__(self) -> str:
        return repr(self._native)

    def __reduce__(self) -> Any:
        raise TypeError("an engine cannot be pickled; snapshots of its sessions are bytes")
