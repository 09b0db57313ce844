"""Calls of tools from code: what is injected, what comes back, what the agent's other middleware does to them."""

from __future__ import annotations

import asyncio
import operator
from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from deepagents import create_deep_agent
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, AgentState, ToolRetryMiddleware
from langchain.tools import InjectedState, InjectedStore, ToolRuntime
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import InjectedToolCallId, StructuredTool, ToolException, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command
from pydantic import BaseModel

from chrysalid.langchain import CodeInterpreterMiddleware
from scripted import ScriptedModel, approve, texts, thread, user


def run(code: str, tools: list[Any], **options: Any) -> list[str]:
    """The text of one eval with these tools, on both paths."""
    extra = options.pop("agent", {})

    def agent() -> Any:
        middleware = [
            *extra.get("middleware", []),
            CodeInterpreterMiddleware(ptc=[one.name for one in tools], **options),
        ]
        rest = {key: value for key, value in extra.items() if key != "middleware"}
        return create_agent(ScriptedModel(script=[[code]]), tools, middleware=middleware, **rest)

    sync = texts(agent().invoke(user()))
    assert texts(asyncio.run(agent().ainvoke(user()))) == sync
    return sync


class Point(BaseModel):
    x: int
    y: int


@tool
def native(kind: str) -> Any:
    """Gives a value of a kind."""
    return {
        "text": "a",
        "number": 1.5,
        "list": [1, "b", None],
        "object": {"a": {"b": 1}},
        "none": None,
        "model": Point(x=1, y=2),
        "message": ToolMessage("said", tool_call_id="x"),
    }[kind]


@pytest.mark.parametrize(
    ("kind", "shown"),
    [
        ("text", "a"),
        ("number", "1.5"),
        ("list", "[ 1, 'b', null ]"),
        ("object", "{ a: { b: 1 } }"),
        ("none", "null"),
        ("model", "{ x: 1, y: 2 }"),
        ("message", "said"),
    ],
)
def test_results_are_native_values(kind: str, shown: str) -> None:
    assert run(f"await tools.native({{kind: '{kind}'}})", [native]) == [f"<result>{shown}</result>"]


def test_undefined_properties_are_dropped_and_no_argument_is_an_empty_object() -> None:
    @tool
    def count(**values: Any) -> int:
        """Counts."""
        return len(values.get("values", values))

    def given(a: int = 1, b: int = 2) -> str:
        """Says what it got."""
        return f"{a} {b}"

    made = StructuredTool.from_function(given, name="given")
    assert run("await tools.given({a: 5, b: undefined}) + ' ' + await tools.given()", [made]) == [
        "<result>5 2 1 2</result>"
    ]


class Extended(AgentState[Any]):
    tally: Annotated[list[str], operator.add]
    mark: str


@dataclass
class Context:
    who: str


def test_state_store_context_config_and_call_id_are_injected() -> None:
    @tool
    def look(
        word: str,
        state: Annotated[dict[str, Any], InjectedState],
        tally: Annotated[list[str], InjectedState("tally")],
        store: Annotated[Any, InjectedStore()],
        call_id: Annotated[str, InjectedToolCallId],
        runtime: ToolRuntime[Context, Any],
    ) -> str:
        """Looks."""
        found = store.get(("a",), "k").value["v"]
        assert runtime.tool_call_id == call_id
        assert runtime.config["configurable"]["word"] == "conf"
        return f"{word} {len(state['messages'])} {tally} {found} {runtime.context.who} {call_id.split(':')[:2]}"

    store = InMemoryStore()
    store.put(("a",), "k", {"v": 7})
    agent = create_agent(
        ScriptedModel(script=[["await tools.look({word: 'hi'})"]]),
        [look],
        middleware=[CodeInterpreterMiddleware(ptc=["look"])],
        state_schema=Extended,
        context_schema=Context,
        store=store,
    )
    result = agent.invoke({**user(), "tally": ["t"]}, {"configurable": {"word": "conf"}}, context=Context("me"))
    assert texts(result) == ["<result>hi 2 ['t'] 7 me ['call-0-0-0', '1.1']</result>"]


def test_updates_of_commands_are_applied_in_order_with_reducers_and_the_last_of_a_plain_key() -> None:
    @tool
    def note(word: str, call_id: Annotated[str, InjectedToolCallId]) -> Any:
        """Notes."""
        update = {"tally": [word], "mark": word, "messages": [ToolMessage(f"noted {word}", tool_call_id=call_id)]}
        return Command(update=update)

    agent = create_agent(
        ScriptedModel(script=[["[await tools.note({word: 'a'}), await tools.note({word: 'b'})]", "1"]]),
        [note],
        middleware=[CodeInterpreterMiddleware(ptc=["note"])],
        state_schema=Extended,
    )
    result = agent.invoke(user())
    assert texts(result) == ["<result>[ 'noted a', 'noted b' ]</result>", "<result>1</result>"]
    assert (result["tally"], result["mark"]) == (["a", "b"], "b")
    assert [type(one).__name__ for one in result["messages"]] == [
        "HumanMessage", "AIMessage", "ToolMessage", "AIMessage", "ToolMessage", "AIMessage",
    ]  # fmt: skip


def test_messages_of_commands_come_behind_the_answer() -> None:
    @tool
    def tell(call_id: Annotated[str, InjectedToolCallId]) -> Any:
        """Tells."""
        return Command(update={"messages": [ToolMessage("ok", tool_call_id=call_id), HumanMessage("by the way")]})

    agent = create_agent(
        ScriptedModel(script=[["await tools.tell()"]]), [tell], middleware=[CodeInterpreterMiddleware(ptc=["tell"])]
    )
    kinds = [(type(one).__name__, one.content) for one in agent.invoke(user())["messages"]]
    assert kinds[2:4] == [("ToolMessage", "<result>ok</result>"), ("HumanMessage", "by the way")]


def test_updates_and_files_written_before_a_pause_are_there_after_it() -> None:
    @tool
    def ask(question: str) -> str:
        """Asks."""
        return f"asked {question}"

    code = """
        await tools.writeFile({file_path: '/a.txt', content: 'hello'});
        const early = await tools.readFile({file_path: '/a.txt'});
        await tools.ask({question: 'q'});
        const late = await tools.readFile({file_path: '/a.txt'});
        [early.includes('hello'), late.includes('hello')]
    """
    agent = create_deep_agent(
        ScriptedModel(script=[[code]]),
        [ask],
        middleware=[CodeInterpreterMiddleware(ptc=["ask", "write_file", "read_file"])],
        interrupt_on={"ask": True},
        checkpointer=InMemorySaver(),
    )
    agent.invoke(user(), thread())
    result = agent.invoke(Command(resume=approve()), thread())
    assert texts(result) == ["<result>[ true, true ]</result>"]
    assert result["files"]["/a.txt"]["content"] == "hello"


class Shout(AgentMiddleware[Any, Any, Any]):
    """Answers louder, and counts the calls."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[str] = []

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        self.calls.append(request.tool_call["name"])
        answer = handler(request)
        if isinstance(answer, ToolMessage) and request.tool_call["name"] == "native":
            return answer.model_copy(update={"content": f"{answer.content}!"})
        return answer

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        self.calls.append(request.tool_call["name"])
        answer = await handler(request)
        if isinstance(answer, ToolMessage) and request.tool_call["name"] == "native":
            return answer.model_copy(update={"content": f"{answer.content}!"})
        return answer


@pytest.mark.parametrize("before", [True, False])
def test_tool_call_hooks_hold_for_calls_from_code_wherever_they_are_listed(before: bool) -> None:
    shout = Shout()
    own = CodeInterpreterMiddleware(ptc=["native"])
    agent = create_agent(
        ScriptedModel(script=[["await tools.native({kind: 'object'})"]]),
        [native],
        middleware=[shout, own] if before else [own, shout],
    )
    assert texts(agent.invoke(user())) == ['<result>{"a": {"b": 1}}!</result>']
    assert shout.calls == ["eval", "native"]


def test_a_retrying_middleware_retries_a_call_from_code() -> None:
    tries = []

    @tool
    def shaky() -> str:
        """Fails at first."""
        tries.append(1)
        if len(tries) < 3:
            raise ConnectionError("down")
        return "up"

    agent = create_agent(
        ScriptedModel(script=[["await tools.shaky()"]]),
        [shaky],
        middleware=[
            ToolRetryMiddleware(max_retries=3, initial_delay=0.0, jitter=False),
            CodeInterpreterMiddleware(ptc=["shaky"]),
        ],
    )
    assert texts(agent.invoke(user())) == ["<result>up</result>"]
    assert len(tries) == 3


def test_failures_reject_and_are_told_without_paths() -> None:
    @tool
    def broken(kind: str) -> str:
        """Breaks."""
        if kind == "tool":
            raise ToolException("no such customer")
        raise ValueError("cannot read /srv/secrets/key.pem of tenant 7")

    code = """
        const seen = [];
        for (const kind of ['tool', 'value']) {
            try { await tools.broken({kind}) } catch (e) { seen.push(e.name + ': ' + e.message) }
        }
        seen
    """
    assert run(code, [broken]) == [
        "<result>[\n"
        "  'ToolError: ToolException: no such customer',\n"
        "  'ToolError: ValueError: cannot read … of tenant 7'\n"
        "]</result>"
    ]


def test_an_error_message_of_a_middleware_rejects() -> None:
    class Refuse(AgentMiddleware[Any, Any, Any]):
        def wrap_tool_call(self, request: Any, handler: Any) -> Any:
            if request.tool_call["name"] != "native":
                return handler(request)
            return ToolMessage("not today", tool_call_id=request.tool_call["id"], status="error")

    agent = create_agent(
        ScriptedModel(script=[["await tools.native({kind: 'text'}).catch(e => e.name + ' ' + e.message)"]]),
        [native],
        middleware=[Refuse(), CodeInterpreterMiddleware(ptc=["native"])],
    )
    assert texts(agent.invoke(user())) == ["<result>ToolError not today</result>"]


def test_calls_of_one_program_run_at_the_same_time() -> None:
    import threading

    meeting = threading.Barrier(3, timeout=20)

    @tool
    def meet() -> int:
        """Waits for two others."""
        meeting.wait()
        return 1

    agent = create_agent(
        ScriptedModel(script=[["(await Promise.all([tools.meet(), tools.meet(), tools.meet()])).length"]]),
        [meet],
        middleware=[CodeInterpreterMiddleware(ptc=["meet"])],
    )
    assert texts(agent.invoke(user())) == ["<result>3</result>"]


def test_async_calls_run_on_the_callers_loop() -> None:
    loops = []

    async def where() -> str:
        """Says where."""
        loops.append(asyncio.get_running_loop())
        return "here"

    made = StructuredTool.from_function(coroutine=where, name="where")

    async def main() -> None:
        agent = create_agent(
            ScriptedModel(script=[["await tools.where()"]]),
            [made],
            middleware=[CodeInterpreterMiddleware(ptc=["where"])],
        )
        assert texts(await agent.ainvoke(user())) == ["<result>here</result>"]
        assert loops == [asyncio.get_running_loop()]

    asyncio.run(main())


def test_a_tool_that_other_middleware_took_from_the_model_is_not_there_for_code() -> None:
    class Hide(AgentMiddleware[Any, Any, Any]):
        def wrap_model_call(self, request: Any, handler: Any) -> Any:
            return handler(request.override(tools=[one for one in request.tools if one.name != "native"]))

    agent = create_agent(
        ScriptedModel(script=[["typeof tools.native"]]),
        [native],
        middleware=[Hide(), CodeInterpreterMiddleware(ptc=["native"])],
    )
    assert texts(agent.invoke(user())) == ["<result>undefined</result>"]


def test_names() -> None:
    made = [
        StructuredTool.from_function(lambda: 1, name=name, description="d")
        for name in ("send_email", "get-it", "9lives")
    ]
    code = "[await tools.sendEmail(), await tools.getIt(), await tools['9lives'](), Object.keys(tools).length]"
    assert run(code, made) == ["<result>[ 1, 1, 1, 3 ]</result>"]


def test_two_tools_with_one_name_in_code_are_refused_by_both_names() -> None:
    made = [StructuredTool.from_function(lambda: 1, name=name, description="d") for name in ("a_b", "a-b")]
    agent = create_agent(
        ScriptedModel(script=[["1"]]), made, middleware=[CodeInterpreterMiddleware(ptc=["a_b", "a-b"])]
    )
    with pytest.raises(ValueError, match=r"tools 'a_b' and 'a-b' would both be tools\.aB"):
        agent.invoke(user())


def test_the_call_budget_names_limit_attempt_and_function_and_begins_anew_with_each_eval() -> None:
    made = []

    @tool
    def step() -> int:
        """Counts."""
        made.append(1)
        return len(made)

    agent = create_agent(
        ScriptedModel(script=[["for (;;) await tools.step()", "await tools.step()"]]),
        [step],
        middleware=[CodeInterpreterMiddleware(ptc=["step"], max_ptc_calls=2)],
    )
    first, second = texts(agent.invoke(user()))
    assert first.startswith(
        '<error type="PTCCallBudgetExceeded">step: this program may make 2 calls and has made them '
        "(limit=2, attempted=3, function=step)"
    )
    assert (second, len(made)) == ("<result>3</result>", 3)


def test_a_sync_run_takes_async_tools_and_runs_a_tool_that_is_not_implemented_once() -> None:
    calls: list[str] = []

    async def later() -> str:
        """Takes its time."""
        await asyncio.sleep(0)
        return "later"

    @tool
    def unfinished() -> str:
        """Is not finished."""
        calls.append("unfinished")
        raise NotImplementedError("todo")

    made = [StructuredTool.from_function(coroutine=later, name="later"), unfinished]
    own = CodeInterpreterMiddleware(ptc=["later", "unfinished"])
    code = "[await tools.later(), await tools.unfinished().catch(e => e.message)]"
    agent = create_agent(ScriptedModel(script=[[code]]), made, middleware=[own])
    assert texts(agent.invoke(user())) == ["<result>[ 'later', 'NotImplementedError: todo' ]</result>"]
    assert calls == ["unfinished"]


@pytest.mark.parametrize("raised", [SystemExit(3), KeyboardInterrupt()])
def test_what_ends_a_process_is_not_caught(raised: BaseException) -> None:
    @tool
    def end() -> str:
        """Ends."""
        raise raised

    agent = create_agent(
        ScriptedModel(script=[["await tools.end()"]]), [end], middleware=[CodeInterpreterMiddleware(ptc=["end"])]
    )
    with pytest.raises(type(raised)):
        agent.invoke(user())
