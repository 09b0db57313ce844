"""Every touch of a name that LangGraph and LangChain do not document, and nothing else.

Each has a public way first: `checkpointer=` for the saver, `interrupt_on=` and `middleware=` for the agent's own list.
`check()` runs when the middleware is constructed, so that a version without one of these names is refused there and not
at the first pause.
"""

from __future__ import annotations

import itertools
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from langgraph.checkpoint.base import WRITES_IDX_MAP

if TYPE_CHECKING:
    from types import FrameType

    from langchain.agents.middleware import AgentMiddleware
    from langchain_core.runnables import RunnableConfig
    from langgraph.checkpoint.base import BaseCheckpointSaver

try:
    from langgraph._internal._constants import (
        CONFIG_KEY_CHECKPOINT_MAP,
        CONFIG_KEY_CHECKPOINT_NS,
        CONFIG_KEY_CHECKPOINTER,
        CONFIG_KEY_DURABILITY,
        CONFIG_KEY_READ,
        CONFIG_KEY_RESUME_MAP,
        CONFIG_KEY_RESUMING,
        CONFIG_KEY_SCRATCHPAD,
        CONFIG_KEY_SEND,
        INTERRUPT,
        NULL_TASK_ID,
        RESUME,
    )
    from langgraph._internal._scratchpad import PregelScratchpad

    _missing = ""
except ImportError as error:  # pragma: no cover - needs another LangGraph
    _missing = str(error)

ROW_CHANNEL = "__scheduled__"
"""A channel whose writes every saver replaces in place, and which LangGraph itself does not use."""

_PACKAGES = ("langgraph", "langgraph-checkpoint", "langchain", "langchain-core", "deepagents")


class UnsupportedVersion(RuntimeError):
    """The installed LangGraph or LangChain lacks something that durable approvals rest on."""

    def __init__(self, what: str) -> None:
        super().__init__(f"chrysalid.langchain cannot work with these packages: {what} ({_installed()})")


def _installed() -> str:
    found = []
    for package in _PACKAGES:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    return ", ".join(found)


def check() -> None:
    """Raise `UnsupportedVersion` unless every name used below is there."""
    if _missing:
        raise UnsupportedVersion(_missing)
    if ROW_CHANNEL not in WRITES_IDX_MAP:
        raise UnsupportedVersion(f"savers keep no replaceable write {ROW_CHANNEL!r}")
    fields = getattr(PregelScratchpad, "__dataclass_fields__", {})
    needed = {"step", "stop", "call_counter", "interrupt_counter", "get_null_resume", "resume", "subgraph_counter"}
    if not needed <= set(fields):
        raise UnsupportedVersion(f"the task scratchpad has the fields {sorted(fields)}, expected {sorted(needed)}")


def saver_of(config: RunnableConfig) -> BaseCheckpointSaver[Any] | None:
    """The checkpointer of the graph that runs."""
    saver = config.get("configurable", {}).get(CONFIG_KEY_CHECKPOINTER)
    return saver if hasattr(saver, "put_writes") else None


def checkpoint_may_come_late(config: RunnableConfig) -> bool:
    """Whether LangGraph may still be writing the checkpoint of the step that runs."""
    return bool(config.get("configurable", {}).get(CONFIG_KEY_DURABILITY, "async") == "async")


def root_checkpoint(config: RunnableConfig, here: str) -> str:
    """The id of the outermost graph's checkpoint, where a plain `Command(resume=...)` is kept."""
    return str(config.get("configurable", {}).get(CONFIG_KEY_CHECKPOINT_MAP, {}).get("", here))


def forget_answer() -> tuple[list[tuple[str, Any]], str]:
    """Writes and task id that clear a plain resume value.

    LangGraph leaves an answered `Command(resume=...)` in the saver: a later `invoke(None)` would answer the next
    interrupt with it, an approval that nobody gave.
    """
    return [(RESUME, None)], NULL_TASK_ID


def pending_interrupts(writes: Sequence[tuple[str, str, Any]]) -> set[str]:
    """The ids of the interrupts that a checkpoint waits for."""
    return {
        interrupt.id
        for _, channel, value in writes
        if channel == INTERRUPT
        for interrupt in (value if isinstance(value, Sequence) else (value,))
    }


def namespaces_of_graphs(namespace: str) -> Iterator[str]:
    """Where the graphs that one task runs keep their checkpoints, in the order in which it runs them."""
    yield namespace
    for count in itertools.count(1):
        yield f"{namespace}|{count}"


def detached(
    config: RunnableConfig,
    namespace: str,
    *,
    answers: Sequence[Any],
    answers_by_id: Mapping[str, Any],
    counter: Callable[[], int],
    on_write: Callable[[str, Any], None],
    extra: Mapping[str, Any],
) -> RunnableConfig:
    """A configuration in which a nested call has interrupts, answers and checkpoints of its own.

    Without it a tool that interrupts would be matched by position among all interrupts of the eval's task, and the n-th
    nested graph would take the n-th history, also after a restart that skips finished ones. State writes still reach
    the agent's graph, and `on_write` hears of them, since a task that pauses loses its writes.
    """
    configurable = config.get("configurable", {})
    outer = configurable[CONFIG_KEY_SCRATCHPAD]
    send = configurable[CONFIG_KEY_SEND]

    def forward(writes: Sequence[tuple[str, Any]]) -> None:
        kept = [write for write in writes if write[0] != RESUME]
        for channel, value in kept:
            on_write(channel, value)
        if kept:
            send(kept)

    scratchpad = PregelScratchpad(
        step=outer.step,
        stop=outer.stop,
        call_counter=Counter(),
        interrupt_counter=counter,
        get_null_resume=_no_answer,
        resume=list(answers),
        subgraph_counter=Counter(),
    )
    own = {
        CONFIG_KEY_SCRATCHPAD: scratchpad,
        CONFIG_KEY_SEND: forward,
        CONFIG_KEY_CHECKPOINT_NS: namespace,
        CONFIG_KEY_RESUME_MAP: dict(answers_by_id) or None,
        CONFIG_KEY_RESUMING: True,
    }
    return {**config, "configurable": {**configurable, **own, **extra}}


def _no_answer(consume: bool = False) -> None:
    """In place of the plain resume value, which is the eval's own."""


class Counter:
    """Counts from zero; `value` is how often it was asked."""

    def __init__(self) -> None:
        self.value = 0
        self._lock = threading.Lock()

    def __call__(self) -> int:
        """The next number."""
        with self._lock:
            self.value += 1
            return self.value - 1


def send(config: RunnableConfig, writes: Sequence[tuple[str, Any]]) -> None:
    """Write to state channels of the running task, as LangGraph's own message and UI helpers do."""
    config["configurable"][CONFIG_KEY_SEND](list(writes))


def single_value_keys(config: RunnableConfig) -> frozenset[str]:
    """State keys without a reducer, which take one write in a step."""
    from langgraph.channels import LastValue

    read = config.get("configurable", {}).get(CONFIG_KEY_READ)
    arguments: tuple[Any, ...] = getattr(read, "args", ())
    channels = arguments[1] if len(arguments) > 1 and isinstance(arguments[1], Mapping) else {}
    return frozenset(name for name, channel in channels.items() if isinstance(channel, LastValue))


def middleware_of_the_agent_being_built() -> list[AgentMiddleware[Any, Any, Any]] | None:
    """All middleware of the agent that `create_agent` is putting together further up the stack, or None outside of it.

    `create_agent` asks each middleware for its `tools` and tells it nothing else, so its frame is the only place where
    one can learn of the others.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name == "create_agent" and frame.f_globals.get("__name__") == "langchain.agents.factory":
            found = frame.f_locals.get("middleware")
            if not isinstance(found, Sequence):
                raise UnsupportedVersion(
                    "create_agent keeps its middleware elsewhere; pass interrupt_on= and middleware= to "
                    "CodeInterpreterMiddleware"
                )
            return list(found)
        frame = frame.f_back
    return None
