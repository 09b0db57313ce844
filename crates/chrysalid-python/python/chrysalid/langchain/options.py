"""The options of `CodeInterpreterMiddleware`, checked once when it is constructed."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from langchain_core.tools import BaseTool

from chrysalid import Key, Limits
from chrysalid.langchain.toolbox import AT_ONE_TIME

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from chrysalid import Policy
    from chrysalid.langchain.modules import Modules

Mode = Literal["thread", "turn", "call"]
Clock = Literal["real", "none"]
OnUnknown = Literal["ask", "fail"]

_MIB = 1024 * 1024
_LABEL = b"chrysalid.langchain snapshot key 1\0"


@dataclass(frozen=True, kw_only=True)
class Options:
    """See `CodeInterpreterMiddleware` for what each means."""

    memory_limit: int = 64 * _MIB
    timeout: float | None = 5.0
    wall_timeout: float | None = None
    max_ptc_calls: int | None = 256
    tool_name: str = "eval"
    max_result_chars: int = 4000
    capture_console: bool = True
    subagents: bool = True
    max_subagent_concurrency: int = 32
    max_subagents_per_eval: int = 128
    max_subagents_per_run: int = 256
    max_depth: int = 4
    ptc: Sequence[str | BaseTool] | None = None
    mode: Mode = "thread"
    max_snapshot_bytes: int | None = None
    snapshot_signing_key: str | bytes | None = None
    old_snapshot_keys: Sequence[str | bytes] = ()
    interrupt_on: Mapping[str, Any] | None = None
    policy: Policy | None = None
    modules: Modules | None = None
    clock: Clock = "real"
    on_unknown: OnUnknown = "ask"
    wait_behind_pause: bool = False

    def __post_init__(self) -> None:
        _whole("memory_limit", self.memory_limit)
        for name in ("timeout", "wall_timeout"):
            if getattr(self, name) is not None:
                _positive(name, getattr(self, name))
        if self.max_ptc_calls is not None:
            _whole("max_ptc_calls", self.max_ptc_calls)
        _whole("max_result_chars", self.max_result_chars)
        for name in ("max_subagent_concurrency", "max_subagents_per_eval", "max_subagents_per_run", "max_depth"):
            _whole(name, getattr(self, name))
        if self.max_snapshot_bytes is not None:
            _whole("max_snapshot_bytes", self.max_snapshot_bytes)
        if type(self.tool_name) is not str or not self.tool_name:
            raise ValueError(f"tool_name must be a name, got {self.tool_name!r}")
        _one_of("mode", self.mode, ("thread", "turn", "call"))
        _one_of("clock", self.clock, ("real", "none"))
        _one_of("on_unknown", self.on_unknown, ("ask", "fail"))
        _check_ptc(self.ptc)
        for secret in self._secrets():
            if not secret:
                raise ValueError("snapshot_signing_key must not be empty")

    @property
    def snapshot_bytes(self) -> int:
        """How large a heap is kept between evals."""
        return self.memory_limit if self.max_snapshot_bytes is None else self.max_snapshot_bytes

    @property
    def key(self) -> Key | None:
        """The key that seals images; None leaves the choice to the engine."""
        return None if self.snapshot_signing_key is None else _key(self.snapshot_signing_key)

    @property
    def old_keys(self) -> list[Key]:
        """Keys that only open."""
        return [_key(secret) for secret in self.old_snapshot_keys]

    @property
    def limits(self) -> Limits:
        """The bounds of one program."""
        return Limits(
            memory=self.memory_limit,
            cpu_time=self.timeout if self.timeout is not None else _NO_TIME_LIMIT,
            wall_time=self.wall_timeout,
            calls=self.max_ptc_calls if self.max_ptc_calls is not None else _NO_CALL_LIMIT,
            calls_in_flight=AT_ONE_TIME + self.max_subagents_per_eval,
            snapshot_size=max(self.memory_limit, self.snapshot_bytes),
        )

    def _secrets(self) -> list[str | bytes]:
        own = [] if self.snapshot_signing_key is None else [self.snapshot_signing_key]
        return [*own, *self.old_snapshot_keys]


_NO_CALL_LIMIT = 2**31 - 1
_NO_TIME_LIMIT = 10.0**9


def _key(secret: str | bytes) -> Key:
    data = secret.encode() if isinstance(secret, str) else secret
    return Key.from_bytes(hashlib.sha256(_LABEL + data).digest())


def _whole(name: str, value: object) -> None:
    if type(value) is not int or value < 1:
        raise ValueError(f"{name} must be a whole number of at least 1, got {value!r}")


def _positive(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0:
        raise ValueError(f"{name} must be a positive number of seconds, got {value!r}")


def _one_of(name: str, value: object, known: Sequence[str]) -> None:
    if value not in known:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, known))}, got {value!r}")


def _check_ptc(ptc: object) -> None:
    if ptc is None:
        return
    if not isinstance(ptc, list | tuple):
        raise TypeError(f"ptc must be None or a list of tool names and tools, got {type(ptc).__name__}")
    for entry in ptc:
        if not isinstance(entry, str | BaseTool):
            raise TypeError(f"ptc takes tool names and tools, got {type(entry).__name__}")
        if (entry if isinstance(entry, str) else entry.name) == "task":
            raise ValueError(
                "ptc must not name 'task': subagents are the global task() of the program, which also takes "
                "label and responseSchema; remove 'task' from ptc"
            )
