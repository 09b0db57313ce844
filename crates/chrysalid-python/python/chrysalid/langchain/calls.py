"""The calls that one eval makes: what a program finds, how each call is run, and how it is shown to people."""

from __future__ import annotations

from collections import Counter
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
from chrysalid.langchain.driver import Do, Job, Operation
from chrysalid.langchain.events import Phase, Watched, label_of, send, short, subagent_id
from chrysalid.langchain.heap import POINTER
from chrysalid.langchain.invocation import Bench, Ended, Invocation
from chrysalid.langchain.modules import IMPORT, FindModule
from chrysalid.langchain.result import cut
from chrysalid.langchain.task import Task, Tree, as_programs_give, as_the_tool_takes, counting_tokens
from chrysalid.langchain.toolbox import TASK, Exposed, capability, labels_of, task_capability
from chrysalid.langchain.values import arguments_of, plain

if TYPE_CHECKING:
    from langchain.tools import ToolRuntime
    from langchain_core.callbacks import UsageMetadataCallbackHandler
    from langchain_core.runnables import RunnableConfig
    from langchain_core.tools import BaseTool

    from chrysalid import CallRecord, PendingCall, Session
    from chrysalid.langchain.agent import Agent
    from chrysalid.langchain.options import Options
    from chrysalid.langchain.thread import Thread

T = TypeVar("T")
Steps = Generator[Operation, Any, T]


class Calls:
    """The calls of one eval."""

    session: Session

    def __init__(
        self,
        *,
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
        self._again: set[str] = set()
        self._watched: dict[str, Watched] = {}
        self._tasks: dict[str, tuple[Task, UsageMetadataCallbackHandler]] = {}
        self._trees: dict[str, Tree] = {}
        self._bench = Bench(agent, [*(one.tool for one in exposed), *([task] if task is not None else [])])

    @property
    def met_above(self) -> Mapping[str, str]:
        """What the programs of the agents above had met when they dispatched this one."""
        return self._tree.met

    @property
    def toolset(self) -> Toolset:
        """All of them as the session knows them."""
        made = [capability(one, gate, self._asks(gate, one.tool)) for one, gate in self._gated()]
        if self._task is not None:
            gate = self._agent.gates.get(TASK)
            made.append(task_capability(gate, self._asks(gate, self._task)))
        return Toolset(made)

    def _gated(self) -> list[tuple[Exposed, Gate | None]]:
        return [(one, self._agent.gates.get(one.tool.name)) for one in self._by_name.values()]

    def _asks(self, gate: Gate | None, tool: BaseTool) -> Callable[[Any], bool] | None:
        if gate is None or gate.when is None:
            return None
        when = gate.when

        def asks(arguments: Any) -> bool:
            call = {"name": tool.name, "args": self._shown(tool.name, arguments), "id": self._eval_id}
            request = ToolCallRequest(
                tool_call={**call, **_CALL},  # type: ignore[typeddict-item]
                tool=tool,
                state=self._runtime.state,
                runtime=self._runtime,
            )
            return bool(when(request))

        return asks

    # --------------------------------------------------------------------------------------------------------- running

    def prepare(self, call: str, name: str, arguments: Any, answers: Answers) -> Job:
        """A call that is ready to begin.

        Raises:
            ToolError: The program gave something that cannot be run.
        """
        if name == TASK and self._task is not None:
            return self._prepare_task(self._task, call, arguments, answers)
        if name == IMPORT:
            return FindModule(call, self._options.modules or {}, arguments["key"])
        one = self._by_name[name]
        given = arguments_of(arguments, f"tools.{name}")
        call_id = f"{self._eval_id}:{call}:{self._key[:16]}"
        identity = {"id": call_id, "eval_id": self._eval_id, "name": one.tool.name}
        self._watched[call] = Watched(self._runtime.stream_writer, "call", identity)
        run = Detached(self._config, self._namespace(call), answers, {})
        return self._bench.job(call, {"name": one.tool.name, "args": given, "id": call_id, **_CALL}, run)

    def _prepare_task(self, tool: BaseTool, call: str, arguments: Any, answers: Answers) -> Invocation:
        task = Task.of(arguments_of(arguments, "task()"), self._agent.subagents)
        if call not in self._again:
            self._tree.spawn(self._spawned_here, self._options.max_subagents_per_eval)
            self._spawned_here += 1
        config, usage = counting_tokens(self._config)
        own_id = subagent_id(self._eval_id + self._key, call, task.payload)
        self._tasks[call] = (task, usage)
        self._watched[call] = self._subagent(own_id, task)
        self._trees[call] = self._tree.child(own_id, dict(reversed(self.session.met)))
        extra = task.configurable(self._trees[call])
        run = Detached(config, self._namespace(call), answers, extra)
        return self._bench.job(call, {"name": tool.name, "args": task.arguments, "id": own_id, **_CALL}, run)

    def _subagent(self, own_id: str, task: Task) -> Watched:
        identity: dict[str, Any] = {
            "id": own_id,
            "eval_id": self._eval_id,
            "subagent_type": task.subagent_type,
            "label": label_of(task.label, task.description),
            "description": short(task.description),
            "depth": self._tree.depth + 1,
        }
        if self._tree.parent is not None:
            identity["parent_id"] = self._tree.parent
        return Watched(self._runtime.stream_writer, "subagent", identity)

    def is_task(self, call: str) -> bool:
        """Whether a prepared call is a subagent."""
        return call in self._tasks

    def announce(self, call: str, phase: Phase) -> None:
        """Tell watchers what is about to happen to a prepared call."""
        if call in self._watched:
            self._watched[call].emit("resumed" if phase == "start" and call in self._again else phase)

    def _namespace(self, call: str) -> str:
        return namespace_of(self._thread.namespace, self._key, call)

    def ended(self, ended: Ended) -> Ended:
        """The outcome as the program gets it."""
        task, usage = self._tasks.get(ended.call, (None, None))
        more: dict[str, Any] = {"error": ended.message} if ended.outcome == "failed" else {}
        if usage is not None and usage.usage_metadata:
            more["usage"] = plain(usage.usage_metadata)
        if ended.call in self._watched:
            self._watched[ended.call].emit(_PHASES[ended.outcome], **more)
        if task is not None and ended.outcome == "done":
            return replace(ended, value=task.result(ended.value))
        return ended

    def brought(self, call: str) -> Steps[dict[str, str]]:
        """The effects that a subagent's programs met, in this process and before."""
        if call not in self._trees:
            return {}
        where = (self._namespace(call), POINTER)
        pointer = yield Do(self._thread.left_in, self._thread.aleft_in, where)
        return {**((pointer or {}).get("met") or {}), **self._trees[call].brought}

    def bring(self, met: Mapping[str, str]) -> None:
        """Tell the program that dispatched this agent what this one has met."""
        self._tree.brought.update(met)

    def printed(self, level: str, text: str) -> None:
        """Tell watchers of a console line."""
        send(self._runtime.stream_writer, {"type": "console", "eval_id": self._eval_id, "level": level, "text": text})

    def still_asked(self, call: str, answers: Answers) -> Steps[Answers]:
        """Answers without those that the nested graph has taken already: it would take them for its next question."""
        if not answers.by_id:
            return answers
        asked = yield Do(self._thread.asked_in, self._thread.aasked_in, (self._namespace(call),))
        if asked is None:
            return answers
        return Answers(answers.own, {key: value for key, value in answers.by_id.items() if key in asked})

    def may_repeat(self, name: str) -> bool:
        """Whether a call that may have been done can be run again: a subagent goes on where it was."""
        if name in (TASK, IMPORT):
            return True
        return name in self._by_name and bool(labels_of(self._by_name[name].tool).get("idempotent"))

    def repeat(self, call: str) -> None:
        """Say that a call had begun before."""
        self._again.add(call)

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

    def shown(self, call: PendingCall) -> Any:
        """The argument of a call as people see it."""
        return plain(self._shown(self.tool_name(call.name), call.arguments))

    def _shown(self, tool: str, arguments: Any) -> Any:
        given = arguments_of(arguments, tool)
        return as_the_tool_takes(given) if tool == TASK else given

    def edited(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The argument that a person gave, as the session takes it."""
        return as_programs_give(arguments) if name == TASK else dict(arguments)

    def path(self, name: str, arguments: Any) -> str:
        """Where a nested question comes from, for whoever decides."""
        if name != TASK:
            return ""
        kind = arguments.get("subagentType") if isinstance(arguments, Mapping) else None
        return f"subagent {kind}"

    def describe(self, call: PendingCall, before: Sequence[CallRecord]) -> tuple[str, str]:
        """The name and the description of a call that waits for approval."""
        name = self.tool_name(call.name)
        gate = self._agent.gates.get(name)
        shown = self.shown(call)
        described = gate.description if gate is not None else None
        if isinstance(described, str):
            return name, described
        if described is not None:
            made = {"name": name, "args": shown, "id": self._eval_id, **_CALL}
            return name, described(made, self._runtime.state, get_runtime())
        prefix = gate.prefix if gate is not None else DESCRIPTION_PREFIX
        reasons = [reason for reason in call.reasons if reason != _ASKS_EACH_TIME]
        lines = [f"{prefix}\n\nTool: {name}\nArgs: {cut(str(shown), _SHOWN_CHARS)}"]
        if call.line is not None:
            lines.append(f"Called by code, line {call.line}, column {call.column}")
        made = Counter(self.tool_name(one.name) for one in before if one.status == "completed")
        if made:
            lines.append(f"Calls before it: {', '.join(f'{tool} ×{count}' for tool, count in made.items())}")  # noqa: RUF001
        return name, "\n".join([*lines, *(f"Reason: {reason}" for reason in reasons)])


_CALL = {"type": "tool_call"}
_PHASES: dict[str, Phase] = {"done": "complete", "failed": "error", "paused": "paused"}
_SHOWN_CHARS = 2000
_ASKS_EACH_TIME = "asks each time"
