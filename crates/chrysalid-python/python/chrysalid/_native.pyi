"""The native half of ``chrysalid``. Users import from ``chrysalid``."""

import os
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal, TypeAlias, final

from chrysalid.events import Event

_Effect: TypeAlias = Literal["private", "untrusted", "acts"]
_Decision: TypeAlias = Literal["approve", "edit", "reject", "respond"]

__all__ = [
    "AlreadyDecided",
    "ApprovalExpired",
    "BadSeal",
    "BrokenChain",
    "Busy",
    "Call",
    "CallRecord",
    "Capability",
    "CapabilityError",
    "ChrysalidError",
    "ConfigError",
    "Corrupt",
    "DecisionNotAllowed",
    "Engine",
    "GuestError",
    "Handle",
    "Inspection",
    "InternalError",
    "InvalidArguments",
    "IoError",
    "Key",
    "Limits",
    "LogLine",
    "MissingCapability",
    "NoKey",
    "NotASnapshot",
    "NotRunning",
    "NotWaiting",
    "OtherContext",
    "OtherVersion",
    "Outcome",
    "PendingCall",
    "Policy",
    "ProgramError",
    "Session",
    "SessionBusy",
    "SessionLost",
    "SessionPaused",
    "SourceTooLarge",
    "StaleArguments",
    "Step",
    "TooLarge",
    "Toolset",
    "UnknownCall",
    "UnknownGuest",
    "UnknownKey",
    "ValueRefused",
    "__version__",
    "precompile",
]
__version__: str

@final
class Call:
    """A call that may run now. Whoever steps the session begins it, and settles it by its id."""

    @property
    def id(self) -> str:
        """Its id, such as ``1.2``: the second call of the first program."""
    @property
    def name(self) -> str:
        """Name of its tool; ``$import`` for a module that is fetched."""
    @property
    def arguments(self) -> Any:
        """Its argument, as checked by schema and policy."""
    @property
    def idempotency_key(self) -> str:
        """The same for every attempt at this call, and for no other: 64 hexadecimal characters."""
    @property
    def cancelled(self) -> bool:
        """Whether its result is no longer wanted."""

@final
class CallRecord:
    """One line of the record of a session's calls."""

    @property
    def id(self) -> str:
        """Its id."""
    @property
    def name(self) -> str:
        """Name of its tool."""
    @property
    def status(
        self,
    ) -> Literal[
        "queued", "waiting", "outside", "started", "completed", "failed", "denied", "rejected", "abandoned", "unknown"
    ]:
        """Where it stands: ``queued``, ``waiting``, ``outside``, ``started``, ``completed``, ``failed``, ``denied``,
        ``rejected``, ``abandoned`` or ``unknown``."""
    @property
    def duration(self) -> float | None:
        """How long it ran, in seconds, once it has ended."""
    @property
    def line(self) -> int | None:
        """Line of the program in which it was made, from 1, if that is known."""
    @property
    def called_as(self) -> str | None:
        """The tool that the program called, where a person put another one in its place."""
    @property
    def edited(self) -> Any:
        """The arguments that a person put in place of the program's."""
    @property
    def decision(self) -> _Decision | None:
        """What a person decided: ``approve``, ``edit``, ``reject`` or ``respond``."""
    @property
    def decided_by(self) -> str | None:
        """Who decided, as the host said."""

@final
class Capability:
    """One capability: name, contract, effects, limits."""

    def __new__(
        cls,
        name: str,
        *,
        runs: bool,
        description: str = "",
        input_schema: str | None = None,
        output_schema: str | None = None,
        effects: Sequence[str] | None = None,
        asks: bool = False,
        ask_when: Callable[[Any], bool] | None = None,
        decisions: Sequence[str] | None = None,
        roles: Sequence[str] | None = None,
        expiry: float | None = None,
        timeout: float | None = None,
        max_calls: int | None = None,
        max_calls_per_session: int | None = None,
        concurrency: int | None = None,
        idempotent: bool = False,
        deliver: str = "value",
        subagent: bool = False,
        is_global: bool = False,
    ) -> Capability: ...
    @property
    def name(self) -> str:
        """Its name."""

@final
class Engine:
    """What sessions share: compiled guest, limits, policy, keys."""

    def __new__(
        cls,
        *,
        limits: Limits | None = None,
        policy: Policy | None = None,
        key: Key | None = None,
        old_keys: Sequence[Key] | None = None,
        checkpoint: bool = True,
        pool_slots: int = 0,
        max_memory: int | None = None,
        cache_folder: str | os.PathLike[str] | None = None,
        no_cache: bool = False,
        precompiled: str | os.PathLike[str] | None = None,
    ) -> Engine: ...
    def session(
        self,
        tools: Toolset,
        *,
        limits: Limits | None = None,
        clock: float | None = None,
        seed: int | None = None,
        context: bytes | None = None,
        park_after: float | None = None,
        approve_program: bool = False,
        depth: int = 0,
        modules: Sequence[str] | None = None,
        ledger: str | None = None,
        events: bool = False,
    ) -> Session:
        """A fresh session."""
    def restore(
        self,
        data: bytes,
        tools: Toolset,
        *,
        fork: bool = False,
        limits: Limits | None = None,
        clock: float | None = None,
        seed: int | None = None,
        context: bytes | None = None,
        park_after: float | None = None,
        approve_program: bool = False,
        depth: int = 0,
        modules: Sequence[str] | None = None,
        ledger: str | None = None,
        events: bool = False,
    ) -> Session:
        """A session from a snapshot."""
    def inspect(self, data: bytes) -> Inspection:
        """What a snapshot tells about itself."""
    def guest(self) -> bytes:
        """The guest that its snapshots belong to, as WebAssembly: what a later release needs to go on with them."""

@final
class Handle:
    """A value that the host keeps and the program cannot read."""

    @property
    def id(self) -> int:
        """Which of its session, from 1."""
    @property
    def name(self) -> str:
        """Name of the tool that the value came from."""
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Inspection:
    """What a snapshot tells about itself: with its key all but values, without it the clear fields."""

    @property
    def size(self) -> int:
        """Size of the snapshot, in bytes."""
    @property
    def key(self) -> str:
        """Id of the key that sealed it."""
    @property
    def guest_is_known(self) -> bool:
        """Whether this engine has the guest build that it belongs to."""
    @property
    def paused(self) -> bool | None:
        """Whether a program waits; ``None`` when the key is not here."""
    @property
    def taint(self) -> list[_Effect] | None:
        """Effects met; ``None`` when the key is not here."""

@final
class Key:
    """A key that seals snapshots: 32 random bytes."""

    @staticmethod
    def generate() -> Key:
        """A new key from the system's randomness."""
    @staticmethod
    def from_text(text: str) -> Key:
        """The key of 64 hexadecimal characters, or of base64 of 32 bytes."""
    @staticmethod
    def from_bytes(data: bytes) -> Key:
        """The key of 32 bytes, which must be random, not derived from a passphrase."""
    @property
    def id(self) -> str:
        """Its public name, in hexadecimal."""
    def to_text(self) -> str:
        """The key as 64 hexadecimal characters: a secret."""

@final
class Limits:
    """What programs may use. Every bound that is not given keeps its default; sizes are bytes, times are seconds."""

    def __new__(
        cls,
        *,
        memory: int | None = None,
        cpu_time: float | None = None,
        wall_time: float | None = None,
        calls: int | None = None,
        calls_in_flight: int | None = None,
        argument_size: int | None = None,
        call_result_size: int | None = None,
        value_depth: int | None = None,
        value_nodes: int | None = None,
        console_size: int | None = None,
        result_size: int | None = None,
        source_size: int | None = None,
        pending_approvals: int | None = None,
        host_memory: int | None = None,
        snapshot_size: int | None = None,
        session_calls: int | None = None,
        session_bytes: int | None = None,
        session_spawns: int | None = None,
        session_wall_time: float | None = None,
        spawns: int | None = None,
        depth: int | None = None,
        when_spent: Literal["fail", "ask"] | None = None,
        declassified_bits: int | None = None,
    ) -> Limits: ...
    @property
    def memory(self) -> int:
        """Linear memory of the guest, in bytes."""
    @property
    def cpu_time(self) -> float:
        """CPU time of a program, in seconds."""
    @property
    def wall_time(self) -> float | None:
        """Wall clock of a program outside pauses, in seconds; ``None`` is no bound."""
    @property
    def calls(self) -> int:
        """Calls per program."""
    @property
    def calls_in_flight(self) -> int:
        """Calls that run at one time; the rest queue."""
    @property
    def argument_size(self) -> int:
        """Arguments of one call, in bytes."""
    @property
    def call_result_size(self) -> int:
        """Result of one call, in bytes."""
    @property
    def value_depth(self) -> int:
        """Levels of nesting of a value."""
    @property
    def value_nodes(self) -> int:
        """Parts of a value."""
    @property
    def console_size(self) -> int:
        """Console output of a program, in bytes."""
    @property
    def result_size(self) -> int:
        """Value of a program, in bytes."""
    @property
    def source_size(self) -> int:
        """Source text of a program, in bytes."""
    @property
    def pending_approvals(self) -> int:
        """Calls that wait for a person at one time."""
    @property
    def host_memory(self) -> int:
        """What the host keeps on behalf of a session, in bytes."""
    @property
    def snapshot_size(self) -> int | None:
        """A snapshot, in bytes; ``None`` is no bound of its own."""
    @property
    def session_calls(self) -> int | None:
        """Calls of the session."""
    @property
    def session_bytes(self) -> int | None:
        """Arguments and results of the session's calls, in bytes."""
    @property
    def session_spawns(self) -> int | None:
        """Subagents of the session."""
    @property
    def session_wall_time(self) -> float | None:
        """Wall clock of all programs of the session together, in seconds."""
    @property
    def spawns(self) -> int | None:
        """Subagents of a program."""
    @property
    def depth(self) -> int | None:
        """How deep subagents may be nested."""
    @property
    def when_spent(self) -> Literal["fail", "ask"]:
        """What a call gets when a budget is spent: ``fail`` or ``ask``."""
    @property
    def declassified_bits(self) -> int:
        """Bits that declassified results may tell in one session."""

@final
class LogLine:
    """One line of the console."""

    @property
    def level(self) -> Literal["log", "info", "debug", "warn", "error"]:
        """Which method wrote it: ``log``, ``info``, ``debug``, ``warn`` or ``error``."""
    @property
    def text(self) -> str:
        """The text, its arguments joined by spaces."""
    def __eq__(self, value: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]

@final
class Outcome:
    """How a program ended, or what it waits for."""

    @property
    def status(self) -> Literal["done", "failed", "paused"]:
        """``done``, ``failed`` or ``paused``."""
    @property
    def value(self) -> Any:
        """The program's value; ``UNDEFINED`` where it has none, is not done, or failed."""
    @property
    def rendered(self) -> str:
        """The value as a JavaScript literal, bounded; empty where there is none."""
    @property
    def is_data(self) -> bool:
        """Whether the value is data through and through, and not in part a function or something else that does not
        cross."""
    @property
    def logs(self) -> list[LogLine]:
        """Console lines since the program began or was last paused."""
    @property
    def error(self) -> ProgramError | None:
        """How it failed."""
    @property
    def pending(self) -> list[PendingCall]:
        """Calls that wait, in the order they were made."""
    @property
    def calls(self) -> list[CallRecord]:
        """The calls of the program so far."""
    @property
    def notes(self) -> list[str]:
        """What the program's author should know."""
    @property
    def heap(self) -> Literal["intact", "reset", "lost"]:
        """What became of the heap: ``intact``, ``reset`` or ``lost``."""
    @property
    def value_name(self) -> str | None:
        """The name under which the session still holds the value, if the program's last statement is one."""
    @property
    def wake_at(self) -> float | None:
        """When the program goes on even if nobody answers, in seconds since 1970."""
    def report(self, budget: int = 8000) -> str:
        """A text for a language model, of at most so many characters."""
    def json(self) -> str:
        """The value as JSON. Raises ``ValueRefused`` where it has no JSON form, as a cycle has none."""

@final
class PendingCall:
    """A call that waits for a person or for something outside: all that whoever decides should see."""

    @property
    def id(self) -> str:
        """Its id."""
    @property
    def name(self) -> str:
        """Name of its tool."""
    @property
    def path(self) -> str:
        """How the program reaches it, such as ``tools.sendMail``."""
    @property
    def arguments(self) -> Any:
        """Its argument, exactly as it would run."""
    @property
    def reasons(self) -> list[str]:
        """Why a person is asked."""
    @property
    def status(self) -> Literal["waiting", "outside", "unknown"]:
        """``waiting`` for a person, ``outside`` for an answer from elsewhere, or ``unknown``: begun, and whether it
        was done is not known."""
    @property
    def token(self) -> str:
        """What a decision about it can be bound to: session, call, tool and argument, in hexadecimal."""
    @property
    def digest(self) -> str:
        """SHA-256 over its argument, in hexadecimal."""
    @property
    def allowed(self) -> list[_Decision]:
        """Decisions that are accepted: ``approve``, ``edit``, ``reject``, ``respond``."""
    @property
    def roles(self) -> list[str]:
        """Roles that whoever decides must have, every one."""
    @property
    def effects(self) -> list[_Effect]:
        """What it does: ``private``, ``untrusted``, ``acts``."""
    @property
    def line(self) -> int | None:
        """Line of the program in which it was made, from 1, if that is known."""
    @property
    def column(self) -> int | None:
        """Column, from 1, in code points."""
    @property
    def policy(self) -> str | None:
        """Version of the policy that asked, if there is one."""
    @property
    def requested_at(self) -> float:
        """When the request was made, in seconds since 1970."""
    @property
    def expires_at(self) -> float | None:
        """When a decision is no longer carried out, in seconds since 1970."""
    @property
    def decided(self) -> bool:
        """Whether an answer is stored, and takes effect at the next step."""

@final
class Policy:
    """What is allowed, asked about and denied: rules in TOML with their examples, and the rule of two."""

    @staticmethod
    def parse(text: str) -> Policy:
        """Reads rules. A fault in them is a ``ValueError`` that names line and column."""
    @staticmethod
    def load(path: str | os.PathLike[str]) -> Policy:
        """Reads rules from a file."""
    @staticmethod
    def rule_of_two(mode: Literal["on", "strict", "off"]) -> Policy:
        """No rules but the rule of two: ``on``, ``strict`` or ``off``."""
    @property
    def version(self) -> str:
        """Names these rules in records, so that a change of them shows."""

@final
class ProgramError:
    """How a program failed. Data, not an exception of the host."""

    @property
    def kind(self) -> str:
        """What kind of failure it is, such as ``exception``, ``timeout`` or ``out_of_memory``."""
    @property
    def name(self) -> str:
        """Name of the error, such as ``TypeError``, or of the limit, such as ``Timeout``."""
    @property
    def message(self) -> str:
        """Its message."""
    @property
    def stack(self) -> str:
        """Where it was thrown, in lines of the program; empty when not known."""
    @property
    def hint(self) -> str | None:
        """What may help whoever wrote the program."""
    @property
    def line(self) -> int | None:
        """Line, from 1."""
    @property
    def column(self) -> int | None:
        """Column, from 1, in code points."""
    @property
    def value(self) -> Any:
        """The thrown value, where there was one."""

@final
class Session:
    """One JavaScript heap with its programs, calls and record."""

    @property
    def id(self) -> str:
        """Its id, in hexadecimal. A fork has another one."""
    @property
    def is_idle(self) -> bool:
        """Whether no program runs or waits, and another may start."""
    @property
    def is_lost(self) -> bool:
        """Whether its heap is gone."""
    @property
    def taint(self) -> list[_Effect]:
        """Effects that it has met: ``private``, ``untrusted``, ``acts``."""
    @property
    def met(self) -> list[tuple[_Effect, str]]:
        """Which call brought each effect: pairs of both."""
    @property
    def pending(self) -> list[PendingCall]:
        """Calls that wait for a person or something outside."""
    @property
    def calls(self) -> list[CallRecord]:
        """The record of the session's calls."""
    @property
    def source(self) -> str | None:
        """Source of the program that runs or waits."""
    @property
    def cpu_time(self) -> float:
        """CPU time of the program that runs, or else of the latest one, in seconds."""
    @property
    def ledger(self) -> str:
        """What it has met and used so far, as JSON: for ``ledger=`` of a later restore."""
    def start(self, code: str) -> None:
        """Begins a program. Nothing of it runs before the next step."""
    def step(self, now: float | None = None) -> Step:
        """Runs the guest until it needs something, for one slice at most, with the GIL released."""
    def settle(self, call_id: str, value: Any) -> None:
        """Gives a call that runs, waits outside, or is unknown, its result."""
    def fail(self, call_id: str, message: str, *, name: str = "ToolError", retryable: bool = False) -> None:
        """Fails such a call: the program gets an error with this name and message."""
    def suspend(self, call_id: str) -> None:
        """Says that the tool of a call that runs waits for somebody itself: the program may pause, and ``settle`` or
        ``fail`` answers later, after a restore as well."""
    def approve(
        self, call_id: str, *, token: str | None = None, by: str | None = None, roles: Sequence[str] | None = None
    ) -> None:
        """Runs the call as shown. For an unknown call: runs it again."""
    def reject(
        self,
        call_id: str,
        reason: str | None = None,
        *,
        token: str | None = None,
        by: str | None = None,
        roles: Sequence[str] | None = None,
    ) -> None:
        """Does not run the call; the program gets ``ToolRejected`` with the reason."""
    def respond(
        self,
        call_id: str,
        value: Any,
        *,
        token: str | None = None,
        by: str | None = None,
        roles: Sequence[str] | None = None,
    ) -> None:
        """Does not run the call; the program gets this value."""
    def edit(
        self,
        call_id: str,
        arguments: Any,
        *,
        name: str | None = None,
        token: str | None = None,
        by: str | None = None,
        roles: Sequence[str] | None = None,
    ) -> None:
        """Runs the call with other arguments, or with another tool, which schema and rules check again."""
    def grant(self, terms: str, *, by: str | None = None, roles: Sequence[str] | None = None) -> int:
        """Allows some calls beforehand, as ``tools = "mail.send", count = 20, lasts = "1h"``; the grant's number."""
    def raise_budget(
        self, *, calls: int | None = None, bytes: int | None = None, spawns: int | None = None, by: str | None = None
    ) -> None:
        """Adds to the budget of the session."""
    def meet(self, effects: Sequence[str], by: str) -> None:
        """Joins effects that the host knows the session's content to have, with where they came from."""
    def set_tools(self, tools: Toolset) -> None:
        """Gives it another set of tools."""
    def handle_value(self, handle: Handle) -> Any:
        """What a handle stands for; ``None`` if this session has no such handle."""
    def snapshot(self) -> bytes:
        """Its whole state as bytes, sealed with the engine's key. Runs no code."""
    def interrupt(self) -> None:
        """Ends the program as ``cancelled`` at its next step. From any thread."""

@final
class Step:
    """What the machine needs from whoever steps it."""

    @property
    def kind(self) -> Literal["start", "wait", "busy", "paused", "ended"]:
        """``start``: begin ``calls``, and step again. ``wait``: settle a call, or step at ``wake_at``. ``busy``: a
        slice of time is over, step again. ``paused``, ``ended``: see ``outcome``."""
    @property
    def calls(self) -> list[Call]:
        """Calls to begin."""
    @property
    def wake_at(self) -> float | None:
        """When to step again even if nothing happens, in seconds since 1970."""
    @property
    def outcome(self) -> Outcome | None:
        """How the program ended, or what it waits for."""
    @property
    def events(self) -> list[Event]:
        """What happened since the step before, where the session was made with ``events``."""

@final
class Toolset:
    """Capabilities that have been checked together, for any number of sessions."""

    def __new__(cls, capabilities: Sequence[Capability]) -> Toolset: ...
    def text(self, budget: int | None = None) -> str:
        """The tools in words for a model, with TypeScript signatures; at most so many characters."""
    def describe(self, name: str) -> str | None:
        """All about one tool."""
    def expression(self, name: str) -> str | None:
        """How a program writes the tool, such as ``tools.getWeather``; by its name."""

def precompile() -> bytes:
    """The guest compiled for every machine of this architecture, for the file that a wheel carries."""

class ChrysalidError(Exception):
    """An error of the host: ``code`` says which, in a stable form. How a program failed is no exception."""

    code: ClassVar[str]

class AlreadyDecided(ChrysalidError):
    """An error with the code ``already_decided``."""

class ApprovalExpired(ChrysalidError):
    """An error with the code ``approval_expired``."""

class BadSeal(ChrysalidError):
    """An error with the code ``bad_seal``."""

class BrokenChain(ChrysalidError):
    """An error with the code ``broken_chain``."""

class Busy(ChrysalidError):
    """An error with the code ``busy``."""

class CapabilityError(ChrysalidError):
    """An error with the code ``capability``."""

class ConfigError(ChrysalidError):
    """An error with the code ``config``."""

class Corrupt(ChrysalidError):
    """An error with the code ``corrupt``."""

class DecisionNotAllowed(ChrysalidError):
    """An error with the code ``decision_not_allowed``."""

class GuestError(ChrysalidError):
    """An error with the code ``guest``."""

class InternalError(ChrysalidError):
    """An error with the code ``internal``."""

class InvalidArguments(ChrysalidError):
    """An error with the code ``invalid_arguments``."""

class IoError(ChrysalidError):
    """An error with the code ``io``."""

class MissingCapability(ChrysalidError):
    """An error with the code ``missing_capability``."""

class NoKey(ChrysalidError):
    """An error with the code ``no_key``."""

class NotASnapshot(ChrysalidError):
    """An error with the code ``not_a_snapshot``."""

class NotRunning(ChrysalidError):
    """An error with the code ``not_running``."""

class NotWaiting(ChrysalidError):
    """An error with the code ``not_waiting``."""

class OtherContext(ChrysalidError):
    """An error with the code ``other_context``."""

class OtherVersion(ChrysalidError):
    """An error with the code ``other_version``."""

class SessionBusy(ChrysalidError):
    """An error with the code ``session_busy``."""

class SessionLost(ChrysalidError):
    """An error with the code ``session_lost``."""

class SessionPaused(ChrysalidError):
    """An error with the code ``session_paused``."""

class SourceTooLarge(ChrysalidError):
    """An error with the code ``source_too_large``."""

class StaleArguments(ChrysalidError):
    """An error with the code ``stale_arguments``."""

class TooLarge(ChrysalidError):
    """An error with the code ``too_large``."""

class UnknownCall(ChrysalidError):
    """An error with the code ``unknown_call``."""

class UnknownGuest(ChrysalidError):
    """An error with the code ``unknown_guest``."""

class UnknownKey(ChrysalidError):
    """An error with the code ``unknown_key``."""

class ValueRefused(ChrysalidError):
    """An error with the code ``value``."""
