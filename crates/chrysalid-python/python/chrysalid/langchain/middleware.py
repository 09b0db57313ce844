"""`CodeInterpreterMiddleware`: the eval tool, its prompt and its state, for `create_agent` and `create_deep_agent`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, NotRequired

from langchain.agents.middleware import (
    AgentMiddleware,
    AgentState,
    ExtendedModelResponse,
    ModelRequest,
    ModelResponse,
    TracePolicy,
    omit_payload,
)
from langchain.agents.middleware.types import PrivateStateAttr
from langchain.tools import ToolRuntime
from langchain_core.messages import SystemMessage
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.types import Command
from pydantic import BaseModel, Field

from chrysalid.langchain import private, prompt
from chrysalid.langchain.agent import Agent
from chrysalid.langchain.desk import OFFERED, Desk
from chrysalid.langchain.driver import adrive, drive
from chrysalid.langchain.heap import moved
from chrysalid.langchain.options import Clock, Mode, OnUnknown, Options
from chrysalid.langchain.toolbox import AT_ONE_TIME, exposed, task_tool

if TYPE_CHECKING:
    from langchain.agents.middleware import InterruptOnConfig
    from langgraph.checkpoint.base import BaseCheckpointSaver
    from langgraph.runtime import Runtime

    from chrysalid import Policy
    from chrysalid.langchain.modules import Modules
    from chrysalid.langchain.rows import Rows


class InterpreterState(AgentState[Any]):
    """What the interpreter keeps in the agent's state: small, and hidden from input, output and subagents."""

    chrysalid_heap: NotRequired[Annotated[dict[str, Any], PrivateStateAttr, moved]]
    chrysalid_offered: NotRequired[Annotated[list[str], PrivateStateAttr]]


class EvalInput(BaseModel):
    """The argument of the eval tool."""

    code: str = Field(description=prompt.code_description())


class EvalTool(StructuredTool):
    """The eval tool of one agent."""

    agent: Any = Field(default=None, exclude=True, repr=False)


class CodeInterpreterMiddleware(AgentMiddleware[InterpreterState, Any, Any]):
    """A JavaScript interpreter for an agent, whose programs wait for people without losing their place.

    Programs call the agent's tools as `await tools.<name>({...})` and its subagents as `await task({...})`. Every such
    call obeys `interrupt_on`, the policy and the agent's `wrap_tool_call` middleware. At a pause the program is saved
    through the agent's own checkpointer, and goes on from there in any process, with nothing run twice.

    Args:
        memory_limit: Bytes of a program's heap. Default 64 MiB.
        timeout: Seconds of computing per program; waiting for calls is not counted. Default 5; None for no bound.
        wall_timeout: Seconds per program in all, pauses for people excepted. Default no bound.
        max_ptc_calls: Calls per program, subagents included. Default 256; None for no bound.
        tool_name: Name of the tool. Default `eval`.
        max_result_chars: Characters of result and of console output that the model gets. Default 4000.
        capture_console: Whether the model gets console output. Default yes.
        subagents: Whether programs find `task()` when the agent has subagents. Default yes.
        max_subagent_concurrency: Subagents of one program at a time; the rest wait. Default 32.
        max_subagents_per_eval: Subagents that one program may start. Default 128.
        max_subagents_per_run: Subagents between two user messages, those of subagents included. Default 256.
        max_depth: How deep subagents' programs may start subagents in turn. Default 4.
        ptc: Tools for programs: names of the agent's tools, or tools. Default none. A tool's
            `metadata={"chrysalid": {...}}` says more of it: `effects`, `approval`, `idempotent`, `timeout`, ….
        mode: How long variables last: `thread` (default), `turn` or `call`.
        max_snapshot_bytes: A larger heap is not kept between evals, and the model is told. Default the memory limit.
        snapshot_signing_key: Secret that snapshots are encrypted with. Default the engine's: `CHRYSALID_KEY`,
            `CHRYSALID_KEY_FILE`, or a key file of the user. All processes that share threads need the same.
        old_snapshot_keys: Secrets that only open, for rotation.
        interrupt_on: As for `HumanInTheLoopMiddleware`: calls that wait for a person. Entries of the agent's own
            `interrupt_on` hold anyway; one given here comes before them.
        policy: Rules for all calls of programs, see `chrysalid.Policy`. They name tools as programs do.
        modules: What programs may `import`: sources by key, or a function, plain or async, that finds the source of a
            key. Default nothing.
        clock: `real` (default), or `none`: `Date.now()` is 0 and `Math.random()` the same in every run.
        on_unknown: What happens to a call that was under way when its process died: `ask` (default) a person, or
            `fail`.
        wait_behind_pause: Whether an eval behind one that waits for people, in one message, runs after it. Default it
            is answered with `SessionPaused`.
        checkpointer: Where to keep programs, instead of the agent's own checkpointer.
        rows: A store of another kind for them.
        middleware: The agent's other middleware, for graphs that are not built by `create_agent`.

    Raises:
        ValueError: An option has a value that means nothing.
        TypeError: `ptc` is no list.
        UnsupportedVersion: The installed LangGraph lacks what durable approvals rest on.

    Example:
        ```python
        from chrysalid.langchain import CodeInterpreterMiddleware
        from deepagents import create_deep_agent

        agent = create_deep_agent(
            model="claude-sonnet-4-6",
            tools=[send_email],
            interrupt_on={"send_email": True},
            middleware=[CodeInterpreterMiddleware(ptc=["send_email"])],
            checkpointer=checkpointer,
        )
        ```
    """

    trace_policy = TracePolicy(process_inputs=omit_payload)
    state_schema = InterpreterState

    def __init__(
        self,
        *,
        memory_limit: int = Options.memory_limit,
        timeout: float | None = Options.timeout,
        wall_timeout: float | None = None,
        max_ptc_calls: int | None = Options.max_ptc_calls,
        tool_name: str = Options.tool_name,
        max_result_chars: int = Options.max_result_chars,
        capture_console: bool = True,
        subagents: bool = True,
        max_subagent_concurrency: int = Options.max_subagent_concurrency,
        max_subagents_per_eval: int = Options.max_subagents_per_eval,
        max_subagents_per_run: int = Options.max_subagents_per_run,
        max_depth: int = Options.max_depth,
        ptc: Sequence[str | BaseTool] | None = None,
        mode: Mode | None = None,
        max_snapshot_bytes: int | None = None,
        snapshot_signing_key: str | bytes | None = None,
        old_snapshot_keys: Sequence[str | bytes] = (),
        interrupt_on: Mapping[str, bool | InterruptOnConfig] | None = None,
        policy: Policy | None = None,
        modules: Modules | None = None,
        clock: Clock = Options.clock,
        on_unknown: OnUnknown = Options.on_unknown,
        wait_behind_pause: bool = False,
        checkpointer: BaseCheckpointSaver[Any] | None = None,
        rows: Rows | None = None,
        middleware: Sequence[AgentMiddleware[Any, Any, Any]] | None = None,
    ) -> None:
        super().__init__()
        private.check()
        self._options = Options(
            memory_limit=memory_limit,
            timeout=timeout,
            wall_timeout=wall_timeout,
            max_ptc_calls=max_ptc_calls,
            tool_name=tool_name,
            max_result_chars=max_result_chars,
            capture_console=capture_console,
            subagents=subagents,
            max_subagent_concurrency=max_subagent_concurrency,
            max_subagents_per_eval=max_subagents_per_eval,
            max_subagents_per_run=max_subagents_per_run,
            max_depth=max_depth,
            ptc=ptc,
            mode=mode or Options.mode,
            max_snapshot_bytes=max_snapshot_bytes,
            snapshot_signing_key=snapshot_signing_key,
            old_snapshot_keys=tuple(old_snapshot_keys),
            interrupt_on=interrupt_on,
            policy=policy,
            modules=modules,
            clock=clock,
            on_unknown=on_unknown,
            wait_behind_pause=wait_behind_pause,
        )
        self._desk = Desk(self._options, checkpointer, rows)
        self._middleware = middleware

    @property
    def tools(self) -> list[BaseTool]:  # type: ignore[override]
        """The eval tool, made for the agent that is being built: it learns of the other middleware then."""
        return [self._tool(self._agent())]

    def _agent(self) -> Agent | None:
        found = self._middleware
        if found is None:
            found = private.middleware_of_the_agent_being_built()
        if found is None:
            if self._options.interrupt_on is None:
                return None
            found = []
        return Agent.of(found, self._options.interrupt_on, CodeInterpreterMiddleware)

    def _tool(self, agent: Agent | None) -> EvalTool:
        def evaluate(code: str, runtime: ToolRuntime[Any, Any]) -> Command[Any]:
            threads = AT_ONE_TIME + self._options.max_subagent_concurrency
            return drive(self._desk.evaluate(agent, code, runtime), threads)

        async def aevaluate(code: str, runtime: ToolRuntime[Any, Any]) -> Command[Any]:
            return await adrive(self._desk.evaluate(agent, code, runtime))

        return EvalTool(
            name=self._options.tool_name,
            description=prompt.tool_description(self._options),
            func=evaluate,
            coroutine=aevaluate,
            args_schema=EvalInput,
            metadata={"ls_code_input_language": "javascript"},
            agent=agent,
        )

    def before_agent(self, state: InterpreterState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """A new user message: withdraw what waits, and begin to count anew."""
        return drive(self._desk.new_turn(state, runtime), 1)

    async def abefore_agent(self, state: InterpreterState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """As `before_agent`."""
        return await adrive(self._desk.new_turn(state, runtime))

    def wrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], ModelResponse[Any]],
    ) -> ModelResponse[Any] | ExtendedModelResponse[Any]:
        """Tell the model of the interpreter, and note which tools it was offered."""
        told, offered = self._told(request)
        return _noting(handler(told), offered, request)

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any] | ExtendedModelResponse[Any]:
        """As `wrap_model_call`."""
        told, offered = self._told(request)
        return _noting(await handler(told), offered, request)

    def _told(self, request: ModelRequest[Any]) -> tuple[ModelRequest[Any], list[str]]:
        """Programs may call what the model may: other middleware can have taken tools out of the request."""
        tools = [tool for tool in request.tools if isinstance(tool, BaseTool)]
        own = next(
            (tool for tool in tools if isinstance(tool, EvalTool) and tool.name == self._options.tool_name), None
        )
        offered = sorted(tool.name for tool in tools)
        if own is None:
            return request, offered
        text = prompt.system_prompt(
            self._options,
            own.agent or Agent(),
            exposed(self._options.ptc, tools, self._options.tool_name),
            subagents=self._options.subagents and task_tool(tools) is not None,
        )
        return request.override(system_message=_extended(request.system_message, text)), offered


def _extended(message: SystemMessage | None, text: str) -> SystemMessage:
    if message is None:
        return SystemMessage(text)
    return SystemMessage(content_blocks=[*message.content_blocks, {"type": "text", "text": f"\n\n{text}"}])


def _noting(
    response: ModelResponse[Any], offered: list[str], request: ModelRequest[Any]
) -> ModelResponse[Any] | ExtendedModelResponse[Any]:
    if request.state.get(OFFERED) == offered:
        return response
    return ExtendedModelResponse(response, Command(update={OFFERED: offered}))
