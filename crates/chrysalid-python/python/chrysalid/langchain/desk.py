"""Where evals are taken in: from a tool call's runtime to an `Evaluation`, and from a new turn to what it changes."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Generator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.runnables import ensure_config
from langgraph.errors import GraphInterrupt
from langgraph.runtime import get_runtime

from chrysalid import Engine
from chrysalid.langchain import cancel, private
from chrysalid.langchain.calls import Calls
from chrysalid.langchain.driver import Do, Operation
from chrysalid.langchain.evaluation import Evaluation, Place
from chrysalid.langchain.heap import POINTER, Earlier, Heap, Left
from chrysalid.langchain.journal import Journal, until_saved
from chrysalid.langchain.line import Line
from chrysalid.langchain.rows import ProcessRows, Rows, SaverRows, Shelf
from chrysalid.langchain.task import Tree, tree_of
from chrysalid.langchain.thread import Thread
from chrysalid.langchain.toolbox import exposed, task_tool

if TYPE_CHECKING:
    from langchain.tools import ToolRuntime
    from langchain_core.runnables import RunnableConfig
    from langgraph.checkpoint.base import BaseCheckpointSaver
    from langgraph.runtime import Runtime
    from langgraph.types import Command

    from chrysalid.langchain.agent import Agent
    from chrysalid.langchain.options import Options

T = TypeVar("T")
Steps = Generator[Operation, Any, T]

OFFERED = "chrysalid_offered"
"""The state key with the names of the tools that the model was last offered."""

_engines: dict[Any, Engine] = {}
_engines_lock = threading.Lock()


class Desk:
    """What the evals of one middleware share."""

    def __init__(self, options: Options, checkpointer: BaseCheckpointSaver[Any] | None, rows: Rows | None) -> None:
        self._options = options
        self._checkpointer = checkpointer
        self._rows = rows
        self._process_rows = ProcessRows()
        self._line = Line()

    def evaluate(self, agent: Agent | None, code: str, runtime: ToolRuntime[Any, Any]) -> Steps[Command[Any]]:
        """One call of the eval tool.

        Raises:
            UnsupportedVersion: The agent around it is not known, and with it which calls need approval.
        """
        if agent is None:
            raise private.UnsupportedVersion(
                "the agent was not built by create_agent; pass interrupt_on= (at least {}) and middleware= to "
                "CodeInterpreterMiddleware"
            )
        config = ensure_config()
        thread = self._thread(config, runtime)
        message = _message_with(runtime.state, runtime.tool_call_id)
        call_id = runtime.tool_call_id or ""
        key = self._key(thread, message, call_id, code)
        calls = self._calls(agent, runtime, config, thread, key)
        group = (thread.id, thread.namespace, message.id if message else "", getattr(get_runtime(), "control", None))
        pointer = _get(runtime.state, POINTER) or {}
        heap = Heap(
            options=self._options,
            engine=self._engine(),
            tools=calls.toolset,
            rows=self._rows_of(thread),
            shelf=Shelf(thread.id, key),
            pointer=Left.of(pointer),
            met={**calls.met_above, **pointer.get("met", {})},
            line=self._line,
            group=group,
            earlier=self._earlier(thread, message, runtime.state, call_id),
        )
        journal = Journal(self._rows_of(thread), Shelf(thread.id, key), thread.task_id, lambda: _ready(thread))
        evaluation = Evaluation(self._options, Place(call_id, key, code), journal, heap, calls)
        self._line.put(group, call_id, "running")
        state: Any = "done"
        try:
            return (yield from evaluation.run())
        except GraphInterrupt:
            state = "paused"
            raise
        finally:
            self._line.put(group, call_id, state)
            journal.close()

    def new_turn(self, state: Any, runtime: Runtime[Any]) -> Steps[dict[str, Any] | None]:
        """What a new user message changes in the state."""
        config = ensure_config()
        thread = self._thread(config, runtime)
        update: dict[str, Any] = {}
        pointer = _get(state, POINTER) or {}
        if self._options.mode == "turn" and (pointer.get("heap") or pointer.get("gone")):
            yield from self._erase(thread, str(pointer.get("heap", "")))
            update[POINTER] = {"new_turn": True, "heap": "", "gone": ""}
        elif pointer.get("spawned"):
            update[POINTER] = {"new_turn": True}
        if thread.is_kept or self._rows is not None:
            messages, met = yield from cancel.withdrawn(
                _get(state, "messages") or [],
                tool_name=self._options.tool_name,
                rows=self._rows_of(thread),
                shelf_of=lambda message, call: Shelf(
                    thread.id, self._key(thread, message, call["id"], call["args"].get("code", ""))
                ),
                limit=self._options.max_result_chars,
            )
            if messages:
                update["messages"] = messages
            if met:
                update[POINTER] = {**update.get(POINTER, {}), "met": met}
        return update or None

    def _erase(self, thread: Thread, key: str) -> Steps[None]:
        """Drop the heaps of a turn that is over, from the last one back."""
        rows = self._rows_of(thread)
        while key:
            shelf = Shelf(thread.id, key)
            image = ((yield Do(rows.read, rows.aread, (shelf,))) or {}).get("image")
            if image is None or image.get("image") is None:
                return
            yield Do(rows.write, rows.awrite, (shelf, "image", {**image, "image": None}))
            key = str(image.get("before", ""))

    def _thread(self, config: RunnableConfig, runtime: Any) -> Thread:
        return Thread(config, runtime.execution_info, self._checkpointer or private.saver_of(config))

    def _rows_of(self, thread: Thread) -> Rows:
        if self._rows is not None:
            return self._rows
        return SaverRows(thread.saver) if thread.saver is not None else self._process_rows

    def _key(self, thread: Thread, message: AIMessage | None, call_id: str, code: str) -> str:
        """The same for one call of the model in any process. Without a checkpointer it holds for the process's run."""
        run = "" if thread.is_kept or self._rows is not None else thread.task_id
        parts = [thread.namespace, message.id if message else "", call_id, code, run]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]

    def _calls(
        self, agent: Agent, runtime: ToolRuntime[Any, Any], config: RunnableConfig, thread: Thread, key: str
    ) -> Calls:
        offered = _get(runtime.state, OFFERED)
        available = [tool for tool in runtime.tools if offered is None or tool.name in offered]
        found = exposed(self._options.ptc, available, self._options.tool_name)
        task = task_tool(available) if self._options.subagents else None
        spawned = int((_get(runtime.state, POINTER) or {}).get("spawned", 0))
        bounds = (self._options.max_subagents_per_run, self._options.max_depth)
        above = tree_of(config)
        tree = above.bounded(*bounds) if above is not None else Tree(*bounds, spawned)
        return Calls(
            options=self._options,
            agent=agent,
            exposed=found,
            task=task,
            runtime=runtime,
            config=config,
            thread=thread,
            key=key,
            tree=tree,
        )

    def _earlier(self, thread: Thread, message: AIMessage | None, state: Any, call_id: str) -> list[Earlier]:
        """Evals that the message calls before this one, without those that a person has answered for."""
        answered = {one.tool_call_id for one in _get(state, "messages") or [] if isinstance(one, ToolMessage)}
        found: list[Earlier] = []
        for call in message.tool_calls if message else ():
            if call["id"] == call_id:
                break
            if call["name"] == self._options.tool_name and call["id"] and call["id"] not in answered:
                found.append(
                    Earlier(call["id"], self._key(thread, message, call["id"], str(call["args"].get("code", ""))))
                )
        return found

    def _engine(self) -> Engine:
        options = self._options
        kind = (
            options.snapshot_signing_key,
            tuple(options.old_snapshot_keys),
            options.policy,
            max(options.memory_limit, _MAX_MEMORY),
        )
        with _engines_lock:
            if kind not in _engines:
                _engines[kind] = Engine(
                    policy=options.policy,
                    key=options.key,
                    old_keys=options.old_keys,
                    max_memory=max(options.memory_limit, _MAX_MEMORY),
                )
            return _engines[kind]


_MAX_MEMORY = 256 * 1024 * 1024


def _get(state: Any, key: str) -> Any:
    return state.get(key) if isinstance(state, Mapping) else getattr(state, key, None)


def _message_with(state: Any, call_id: str | None) -> AIMessage | None:
    """The model's message that holds a call."""
    messages: Sequence[Any] = state if isinstance(state, list) else _get(state, "messages") or []
    for message in reversed(messages):
        if isinstance(message, AIMessage) and any(call["id"] == call_id for call in message.tool_calls):
            return message
    return None


def _ready(thread: Thread) -> Generator[Operation, Any, None]:
    if thread.checkpoint_comes_late:
        yield from until_saved(Do(thread.checkpoint, thread.acheckpoint))
