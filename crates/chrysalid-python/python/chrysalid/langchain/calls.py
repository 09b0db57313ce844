"""The calls that one eval makes: what a program finds, how each call is run, and how it is shown to people."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from langchain.agents.middleware import ToolCallRequest
from langgraph.runtime import get_runtime

from chrysalid import Toolset
from chrysalid.langchain import private
from chrysalid.langchain.agent import DESCRIPTION_PREFIX, Gate
from chrysalid.langchain.approval import WrongDecisions
from chrysalid.langchain.detached import Answers, Detached, namespace_of
from chrysalid.langchain.driver import Do, Operation
from chrysalid.langchain.events import Watched, label_of, short, subagent_id
from chrysalid.langchain.invocation import Bench, Ended, Invocation
from chrysalid.langchain.task import Task, Tree, counting_tokens
from chrysalid.langchain.toolbox import TASK, Exposed, capability, labels_of, task_capability
from chrysalid.langchain.values import arguments_of, plain

if TYPE_CHECKING:
    from langchain.tools import ToolRuntime
    from langchain_core.callbacks import UsageMetadataCallbackHandler
    from langchain_core.runnables import RunnableConfig
    from langchain_core.tools import BaseTool

    from chrysalid import PendingCall
    from chrysalid.langchain.agent import Agent
    from chrysalid.langchain.options import Options
    from chrysalid.langchain.thread import Thread

T = TypeVar("T")
Steps = Generator[Operation, Any, T]


class Calls:
    """The calls of one eval."""

    def __init__(
        self,
        options: Options,
        agent: Agent,
        exposed: Sequence[Exposed],
        task: BaseTool | None,
        runtime: ToolRuntime[Any, Any],
        config: RunnableConfig,
        thread: Thread,
        key: str,
        tree: Tree,
    ) -> None:
        self._options = options
        self._agent = agent
        self._by_name = {one.name: one for one in exposed}
        self._task = task
        self._runtime = runtime
        self._config = config
        self._thread = thread
        self._key = key
        self._eval_id = runtime.tool_call_id or ""
        self._tree = tree
        self._spawned_before = tree.spawned
        self._spawned_here = 0
        self._counted: set[str] = set()
        self._tasks: dict[str, tuple[Task, Watched, UsageMetadataCallbackHandler]] = {}
        self._bench = Bench(agent, [*(one.tool for one in exposed), *([task] if task is not None else [])])

    @property
    def toolset(self) -> Toolset:
        """All of them as the session knows them."""
        made = [capability(one, gate, self._asks(gate, one.tool)) for one, gate in self._gated()]
        if self._task is not None:
            gate = self._agent.gates.get(TASK)
            made.append(
                task_capability(gate, self._asks(gate, self._task), concurrency=self._options.max_subagent_concurrency)
            )
        return Toolset(made)

    def _gated(self) -> list[tuple[Exposed, Gate | None]]:
        return [(one, self._agent.gates.get(one.tool.name)) for one in self._by_name.values()]

    def _asks(self, gate: Gate | None, tool: BaseTool) -> Callable[[Any], bool] | None:
        if gate is None or gate.when is None:
            return None
        when = gate.when

        def asks(arguments: Any) -> bool:
            call = {"name": tool.name, "args": arguments_of(arguments, tool.name), "id": self._eval_id}
            request = ToolCallRequest(
                tool_call={**call, "type": "tool_call"},  # type: ignore[typeddict-item]
                tool=tool,
                state=self._runtime.state,
                runtime=self._runtime,
            )
            return bool(when(request))

        return asks

    # --------------------------------------------------------------------------------------------------------- running

    def prepare(self, call: str, name: str, arguments: Any, answers: Answers) -> Invocation:
        """A call that is ready to begin.

        Raises:
            ToolError: The program gave something that cannot be run.
        """
        if name == TASK and self._task is not None:
            return self._prepare_task(call, arguments, answers)
        one = self._by_name[name]
        given = arguments_of(arguments, f"tools.{name}")
        call_id = f"{self._eval_id}:{call}:{self._key[:16]}"
        return self._job(call, one.tool, given, call_id, answers, {}, self._config)

    def _prepare_task(self, call: str, arguments: Any, answers: Answers) -> Invocation:
        assert self._task is not None
        task = Task.of(arguments_of(arguments, "task()"), self._agent.subagents)
        again = call in self._counted
        if not again:
            self._tree.spawn(
                self._spawned_here,
                per_eval=self._options.max_subagents_per_eval,
                per_run=self._options.max_subagents_per_run,
                depth=self._options.max_depth,
            )
            self._counted.add(call)
            self._spawned_here += 1
        config, usage = counting_tokens(self._config)
        watched = self._watched(call, task)
        self._tasks[call] = (task, watched, usage)
        watched.emit("resumed" if again else "start")
        extra = task.configurable(self._tree, watched.identity["id"])
        return self._job(call, self._task, task.arguments, watched.identity["id"], answers, extra, config)

    def _watched(self, call: str, task: Task) -> Watched:
        identity: dict[str, Any] = {
            "id": subagent_id(self._eval_id + self._key, call, task.payload),
            "eval_id": self._eval_id,
            "subagent_type": task.subagent_type,
            "label": label_of(task.label, task.description),
            "description": short(task.description),
            "depth": self._tree.depth + 1,
        }
        if self._tree.parent is not None:
            identity["parent_id"] = self._tree.parent
        return Watched(self._runtime.stream_writer, identity)

    def _job(
        self,
        call: str,
        tool: BaseTool,
        arguments: Mapping[str, Any],
        call_id: str,
        answers: Answers,
        extra: Mapping[str, Any],
        config: RunnableConfig,
    ) -> Invocation:
        run = Detached(config, self._namespace(call), answers, extra)
        made = {"name": tool.name, "args": dict(arguments), "id": call_id, "type": "tool_call"}
        return self._bench.job(call, made, run)

    def _namespace(self, call: str) -> str:
        return namespace_of(self._thread.namespace, self._key, call)

    def ended(self, ended: Ended) -> Ended:
        """The outcome as the program gets it."""
        if ended.call not in self._tasks:
            return ended
        task, watched, usage = self._tasks[ended.call]
        tokens = {"usage": plain(usage.usage_metadata)} if usage.usage_metadata else {}
        match ended.outcome:
            case "done":
                watched.emit("complete", **tokens)
                return replace(ended, value=task.result(ended.value))
            case "failed":
                watched.emit("error", error=ended.message, **tokens)
            case _:
                watched.emit("paused", **tokens)
        return ended

    def still_asked(self, call: str, answers: Answers) -> Steps[Answers]:
        """Answers without those that the nested graph has taken already: it would take them for its next question."""
        if not answers.by_id:
            return answers
        asked = yield Do(self._thread.asked_in, self._thread.aasked_in, (self._namespace(call),))
        return Answers(answers.own, {key: value for key, value in answers.by_id.items() if key in asked})

    def may_repeat(self, name: str) -> bool:
        """Whether a call that may have been done can be run again: a subagent goes on where it was."""
        return name == TASK or (name in self._by_name and bool(labels_of(self._by_name[name].tool).get("idempotent")))

    def repeat(self, call: str) -> None:
        """Say that a call was counted before."""
        self._counted.add(call)

    # --------------------------------------------------------------------------------------------------------- counting

    def counts(self) -> dict[str, int]:
        """Subagents so far: of the run, of this program, of this program and all below it."""
        more = self._tree.spawned - self._spawned_before
        return {"spawned": self._tree.spawned, "spawned_here": self._spawned_here, "spawned_more": more}

    def go_on(self, spawned: int, spawned_here: int) -> None:
        """Count on from what another process counted."""
        self._tree.at_least(spawned)
        self._spawned_here = spawned_here

    # ----------------------------------------------------------------------------------------------------------- state

    def send(self, writes: Sequence[tuple[str, Any]]) -> None:
        """Repeat the state writes of calls that were done in an earlier execution, which lost them when it paused."""
        if writes:
            private.send(self._config, writes)

    def single_value_keys(self) -> frozenset[str]:
        """State keys that take one write in a step."""
        return private.single_value_keys(self._config)

    def forget_answer(self) -> Steps[None]:
        """Clear the plain resume value that LangGraph keeps."""
        if self._thread.is_kept:
            yield Do(self._thread.forget_answer, self._thread.aforget_answer)

    # ---------------------------------------------------------------------------------------------------------- showing

    def tool_name(self, name: str) -> str:
        """The tool's own name."""
        return self._by_name[name].tool.name if name in self._by_name else name

    def program_name(self, name: str) -> str:
        """The name that the program has for a tool.

        Raises:
            WrongDecisions: It has none.
        """
        for one in self._by_name.values():
            if name in (one.tool.name, one.name):
                return one.name
        if name == TASK and self._task is not None:
            return TASK
        raise WrongDecisions(f"the program has no tool {name!r}")

    def path(self, name: str, arguments: Any) -> str:
        """Where a nested question comes from, for whoever decides."""
        if name != TASK:
            return ""
        kind = arguments.get("subagentType") if isinstance(arguments, Mapping) else None
        return f"subagent {kind}"

    def describe(self, call: PendingCall) -> tuple[str, str]:
        """The name and the description of a call that waits for approval."""
        name = self.tool_name(call.name)
        gate = self._agent.gates.get(name)
        shown = plain(call.arguments)
        described = gate.description if gate is not None else None
        if isinstance(described, str):
            return name, described
        if described is not None:
            made = {"name": name, "args": shown, "id": self._eval_id, "type": "tool_call"}
            return name, described(made, self._runtime.state, get_runtime())
        prefix = gate.prefix if gate is not None else DESCRIPTION_PREFIX
        reasons = [reason for reason in call.reasons if reason != _ASKS_EACH_TIME]
        lines = [f"{prefix}\n\nTool: {name}\nArgs: {shown}"]
        if call.line is not None:
            lines.append(f"Called by code, line {call.line}")
        return name, "\n".join([*lines, *(f"Reason: {reason}" for reason in reasons)])


_ASKS_EACH_TIME = "asks each time"
