"""An eval as part of a run: traces, cancellation, siblings, approvals of other forms."""

from __future__ import annotations

import asyncio
import threading
from typing import Any
from uuid import UUID

import pytest
from deepagents import create_deep_agent
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.tools import StructuredTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from chrysalid.langchain import CodeInterpreterMiddleware, Shelf
from chrysalid.langchain.rows import Row, SaverRows
from scripted import ScriptedModel, approve, texts, thread, user


class Traced(BaseCallbackHandler):
    """The names and parents of all runs."""

    def __init__(self) -> None:
        self.runs: dict[UUID, tuple[str, UUID | None]] = {}

    def on_tool_start(
        self, serialized: Any, *_: Any, run_id: UUID, parent_run_id: UUID | None = None, **__: Any
    ) -> None:
        self.runs[run_id] = (serialized["name"], parent_run_id)

    def on_chain_start(
        self, serialized: Any, *_: Any, run_id: UUID, parent_run_id: UUID | None = None, **more: Any
    ) -> None:
        self.runs[run_id] = (more.get("name") or "", parent_run_id)

    def ancestors(self, name: str) -> list[str]:
        (run,) = [run for run, (own, _) in self.runs.items() if own == name]
        names = []
        parent = self.runs[run][1]
        while parent is not None:
            own, parent = self.runs.get(parent, ("", None))
            names.append(own)
        return names


def test_calls_and_subagents_are_traced_under_the_eval() -> None:
    @tool
    def look() -> str:
        """Looks."""
        return "seen"

    worker = {
        "name": "worker",
        "description": "w",
        "system_prompt": "w",
        "model": ScriptedModel(script=[[("look", {})]]),
        "tools": [look],
    }
    agent = create_deep_agent(
        ScriptedModel(script=[["await task({description: 'd', subagentType: 'worker'})"]]),
        [],
        subagents=[worker],
        middleware=[CodeInterpreterMiddleware()],
    )
    traced = Traced()
    agent.invoke(user(), {"callbacks": [traced]})
    above = traced.ancestors("look")
    assert [name for name in above if name in ("worker", "task", "eval")] == ["worker", "task", "eval"]


def test_a_cancelled_run_cancels_its_calls_and_goes_on_from_what_is_known() -> None:
    began: list[int] = []
    cancelled: list[int] = []

    async def main() -> None:
        started = asyncio.Event()

        async def slow() -> str:
            """Takes long."""
            began.append(1)
            started.set()
            if len(began) > 1:
                return "late"
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                cancelled.append(1)
                raise
            return "never"

        made = StructuredTool.from_function(coroutine=slow, name="slow")
        agent = create_agent(
            ScriptedModel(script=[["await tools.slow()"]]),
            [made],
            middleware=[CodeInterpreterMiddleware(ptc=["slow"])],
            checkpointer=InMemorySaver(),
        )
        task = asyncio.create_task(agent.ainvoke(user(), thread()))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert cancelled == [1]
        paused = await agent.ainvoke(None, thread())
        assert "is not known" in paused["__interrupt__"][0].value["action_requests"][0]["description"]
        result = await agent.ainvoke(Command(resume=approve()), thread())
        assert texts(result) == ["<result>late</result>"]

    asyncio.run(main())


def test_an_answer_meant_for_a_sibling_is_not_taken_by_a_question_that_nobody_saw() -> None:
    """One eval waits; its sibling failed before it asked. An answer comes while only the sibling can take it."""
    sent: list[str] = []
    arrived: dict[str, Shelf] = {}
    asked = threading.Event()
    over = threading.Event()
    second: list[Shelf] = []

    class Saver(InMemorySaver):
        def put_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
            super().put_writes(config, writes, task_id, task_path)
            if any(channel == "__interrupt__" for channel, _ in writes):
                (over if second else asked).set()

    class InOrder(SaverRows):
        def open(self, shelf: Shelf) -> None:
            super().open(shelf)
            first = arrived.setdefault("first", shelf)
            if not second and shelf != first:
                assert asked.wait(30)
                second.append(shelf)
                raise OSError("disk full")

        def read(self, shelf: Shelf) -> Any:
            if second and shelf != second[0] and threading.current_thread() is not threading.main_thread():
                assert over.wait(30)
            return super().read(shelf)

        def write(self, shelf: Shelf, name: str, row: Row) -> None:
            super().write(shelf, name, row)
            if second and shelf == second[0] and name == "ask" and row["answer"] is not None:
                over.set()

    saver = Saver()

    @tool
    def send(to: str) -> str:
        """Sends."""
        sent.append(to)
        return to

    agent = create_agent(
        ScriptedModel(script=[[["await tools.send({to: 'a'})", "await tools.send({to: 'b'})"]]]),
        [send],
        middleware=[
            CodeInterpreterMiddleware(ptc=["send"], mode="call", rows=InOrder(saver)),
            HumanInTheLoopMiddleware({"send": True}),
        ],
        checkpointer=saver,
    )
    with pytest.raises(OSError, match="disk full"):
        agent.invoke(user(), thread())
    assert len(agent.get_state(thread()).interrupts) == 1
    result = agent.invoke(Command(resume=approve()), thread())
    assert sent == []
    assert len(result["__interrupt__"]) == 2
    agent.invoke(Command(resume={one.id: approve() for one in result["__interrupt__"]}), thread())
    assert sorted(sent) == ["a", "b"]


def test_a_subagent_that_asks_call_by_call() -> None:
    sent: list[str] = []

    @tool
    def send(to: str) -> str:
        """Sends."""
        sent.append(to)
        return to

    worker = create_agent(
        ScriptedModel(script=[[[("send", {"to": "a"}), ("send", {"to": "b"})]]]),
        [send],
        middleware=[
            HumanInTheLoopMiddleware({"send": {"allowed_decisions": ["approve", "reject"]}}, interrupt_mode="per_call")
        ],
    )
    agent = create_deep_agent(
        ScriptedModel(script=[["await task({description: 'd', subagentType: 'worker'})"]]),
        [],
        subagents=[{"name": "worker", "description": "w", "runnable": worker}],
        middleware=[CodeInterpreterMiddleware()],
        checkpointer=InMemorySaver(),
    )
    value = agent.invoke(user(), thread())["__interrupt__"][0].value
    asked = [one["args"]["to"] for one in value["action_requests"]]
    assert sorted(asked) == ["a", "b"]
    assert value["review_configs"] == [{"action_name": "send", "allowed_decisions": ["approve", "reject"]}] * 2
    kinds = {"a": {"type": "approve"}, "b": {"type": "reject", "message": "no"}}
    decisions = {"decisions": [kinds[to] for to in asked]}
    assert texts(agent.invoke(Command(resume=decisions), thread())) == ["<result>done</result>"]
    assert sent == ["a"]


def test_a_tool_that_is_too_slow_is_timed_out_by_its_label() -> None:
    async def main() -> None:
        async def slow() -> str:
            """Never ends."""
            await asyncio.Event().wait()
            return ""

        made = StructuredTool.from_function(
            coroutine=slow, name="slow", metadata={"chrysalid": {"timeout": 0.1, "effects": []}}
        )
        agent = create_agent(
            ScriptedModel(script=[["await tools.slow().catch(e => e.name)"]]),
            [made],
            middleware=[CodeInterpreterMiddleware(ptc=["slow"])],
        )
        assert texts(await agent.ainvoke(user())) == ["<result>ToolTimeout</result>"]

    asyncio.run(main())


def test_labels_that_mean_nothing_are_refused() -> None:
    @tool
    def look() -> str:
        """Looks."""
        return ""

    look.metadata = {"chrysalid": {"efects": ["acts"]}}
    agent = create_agent(ScriptedModel(script=[["1"]]), [look], middleware=[CodeInterpreterMiddleware(ptc=["look"])])
    with pytest.raises(ValueError, match=r"metadata\['chrysalid'\] of tool 'look' takes approval, .*, got \{'efects'"):
        agent.invoke(user())


def test_modules() -> None:
    code = "import { double } from 'math'; const late = await import('late'); [double(4), late.default]"
    sources = {"math": "export const double = (n: number) => n * 2", "late": "export default 7"}
    told = ScriptedModel(script=[[code]])
    agent = create_agent(told, [], middleware=[CodeInterpreterMiddleware(modules=sources)])
    assert texts(agent.invoke(user())) == ["<result>[ 8, 7 ]</result>"]
    assert "`import` finds `late`, `math` and nothing else." in told.seen[0][0].content
