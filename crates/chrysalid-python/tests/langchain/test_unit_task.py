"""`task()`: its arguments, limits, results, events, and subagents that wait for people."""

from __future__ import annotations

from typing import Any

import pytest
from deepagents import create_deep_agent
from langchain.agents import create_agent
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

import chrysalid
from chrysalid.langchain import CodeInterpreterMiddleware
from scripted import ScriptedModel, approve, texts, thread, user


def subagent(script: Any = (), tools: Any = (), name: str = "worker", **more: Any) -> dict[str, Any]:
    return {
        "name": name,
        "description": "works",
        "system_prompt": "work",
        "model": ScriptedModel(script=list(script)),
        "tools": list(tools),
        **more,
    }


def agent(code: Any, *subagents: Any, tools: Any = (), middleware: Any = (), **options: Any) -> Any:
    script = code if isinstance(code, list) else [[code]]
    more = options.pop("agent", {})
    return create_deep_agent(
        ScriptedModel(script=script),
        list(tools),
        subagents=list(subagents) or [subagent()],
        middleware=[*middleware, CodeInterpreterMiddleware(ptc=[one.name for one in tools], **options)],
        checkpointer=more.pop("checkpointer", None),
        **more,
    )


def test_the_last_text_of_the_subagent_is_the_result() -> None:
    code = "await task({description: 'do it', subagentType: 'worker'})"
    assert texts(agent(code).invoke(user())) == ["<result>done</result>"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("{}", "TypeError: task() needs description, a string that is not empty"),
        ("{description: ' ', subagentType: 'w'}", "TypeError: task() needs description, a string that is not empty"),
        ("{description: 'd'}", "TypeError: task() needs subagentType, a string that is not empty"),
        (
            "{description: 'd', subagentType: 'nobody'}",
            "TypeError: task() knows no subagent 'nobody'; known are general-purpose, worker",
        ),
        ("{description: 'd', subagentType: 'worker', prompt: 'x'}",
         "TypeError: task() does not take prompt; it takes description, subagentType, label and responseSchema"),
        ("{description: 'd', subagentType: 'worker', label: 5}", "TypeError: task() label must be a string"),
        ("{description: 'd', subagentType: 'worker', responseSchema: 'x'}",
         "TypeError: task() responseSchema must be a JSON Schema object"),
        ("{description: 'd', subagentType: 'worker', responseSchema: {description: 'x'.repeat(5000)}}",
         "RangeError: task() responseSchema has 5019 bytes, at most 4096 are taken"),
        ("{description: 'd', subagentType: 'worker', responseSchema: "
         "{properties: Object.fromEntries([...Array(33).keys()].map(k => ['k' + k, {}]))}}",
         "RangeError: task() responseSchema has 33 properties, at most 32 are taken"),
        ("{description: 'd', subagentType: 'worker', responseSchema: "
         "{items: {items: {items: {items: {items: {items: {}}}}}}}}",
         "RangeError: task() responseSchema is nested deeper than 5 levels"),
    ],
)  # fmt: skip
def test_what_it_refuses(given: str, said: str) -> None:
    code = f"await task({given}).catch(e => e.name + ': ' + e.message)"
    assert texts(agent(code).invoke(user())) == [f"<result>{said}</result>"]


def test_it_is_a_frozen_global_and_only_there_with_subagents() -> None:
    code = "let was = task; try { task = 1 } catch {} [task === was, Object.keys(tools)]"
    assert texts(agent(code).invoke(user())) == ["<result>[ true, [] ]</result>"]
    assert texts(agent("typeof task", subagents=False).invoke(user())) == ["<result>undefined</result>"]
    bare = create_agent(ScriptedModel(script=[["typeof task"]]), [], middleware=[CodeInterpreterMiddleware()])
    assert texts(bare.invoke(user())) == ["<result>undefined</result>"]


def test_a_response_schema_gives_a_parsed_value() -> None:
    class Structured(ScriptedModel):
        def _generate(self, messages: Any, *_: Any, **__: Any) -> Any:
            made = super()._generate(messages)
            call = {"name": "subagent_response", "args": {"n": 4}, "id": "s", "type": "tool_call"}
            made.generations[0].message = AIMessage("", tool_calls=[call])
            return made

    code = (
        "(await task({description: 'd', subagentType: 'worker', responseSchema: "
        "{type: 'object', properties: {n: {type: 'integer'}}, required: ['n']}})).n + 1"
    )
    result = agent(code, subagent(model=Structured(script=[]))).invoke(user())
    assert texts(result) == ["<result>5</result>"]


def test_limits_of_one_program_and_of_the_run() -> None:
    code = """
        const all = await Promise.allSettled([...Array(6).keys()].map(i =>
            task({description: 'd' + i, subagentType: 'worker'})));
        all.map(one => one.value ?? one.reason.name + ': ' + one.reason.message)
    """
    worker = subagent()
    [text] = texts(agent(code, worker, max_subagents_per_eval=2).invoke(user()))
    assert text.count("'done'") == 2
    assert text.count("SubagentLimitExceeded: one program may start 2 subagents; this one was not started") == 4
    assert len(worker["model"].seen) == 2

    worker = subagent()
    script = [[code, code], [code]]
    made = agent(
        script, worker, max_subagents_per_eval=4, max_subagents_per_run=5, agent={"checkpointer": InMemorySaver()}
    )
    first, second = texts(made.invoke(user(), thread()))
    assert (first.count("'done'"), second.count("'done'")) == (4, 1)
    assert "one run may start 5 subagents, those of subagents included" in second
    third = texts(made.invoke(user("again"), thread()))[-1]
    assert third.count("'done'") == 4


def test_the_call_budget_bounds_subagents_too() -> None:
    worker = subagent()
    code = "await Promise.all([...Array(300).keys()].map(i => task({description: 'd', subagentType: 'worker'})))"
    [text] = texts(agent(code, worker, max_ptc_calls=2).invoke(user()))
    assert text.startswith('<error type="PTCCallBudgetExceeded">task: this program may make 2 calls')
    assert len(worker["model"].seen) == 2


def test_the_depth_and_the_count_of_the_tree() -> None:
    inner = "await task({description: 'in', subagentType: 'leaf'}).catch(e => e.name + ': ' + e.message)"
    leaf = subagent(name="leaf")
    child = create_deep_agent(
        ScriptedModel(script=[[inner]]), [], subagents=[leaf], middleware=[CodeInterpreterMiddleware(max_depth=1)]
    )
    worker = {"name": "worker", "description": "w", "runnable": child}
    code = (
        "await task({description: 'd', subagentType: 'worker'}); await task({description: 'd', subagentType: 'worker'})"
    )
    agent(code, worker, max_depth=1).invoke(user())
    assert leaf["model"].seen == []
    child = create_deep_agent(
        ScriptedModel(script=[[inner]]),
        [],
        subagents=[leaf],
        middleware=[CodeInterpreterMiddleware(max_subagents_per_run=3)],
    )
    worker = {"name": "worker", "description": "w", "runnable": child}
    [text] = texts(agent(code, worker, max_subagents_per_run=3).invoke(user()))
    assert text == "<result>done</result>"
    assert len(leaf["model"].seen) == 1


def pay() -> Any:
    paid: list[int] = []

    @tool("pay")
    def made(amount: int) -> str:
        """Pays."""
        paid.append(amount)
        return f"paid {amount}"

    made.metadata = {"paid": paid}
    return made


def test_a_subagent_of_a_subagent_waits_with_its_path_and_goes_on() -> None:
    tool = pay()
    paid = tool.metadata["paid"]
    inner = "await tools.pay({amount: 1}) + ', ' + await tools.pay({amount: 2})"
    leaf = subagent(
        [[inner]], [tool], name="leaf", middleware=[CodeInterpreterMiddleware(ptc=["pay"])], interrupt_on={"pay": True}
    )
    middle = create_deep_agent(
        ScriptedModel(script=[["await task({description: 'deeper', subagentType: 'leaf'})"]]),
        [],
        subagents=[leaf],
        middleware=[CodeInterpreterMiddleware()],
    )
    outer = "await tools.pay({amount: 0}); await task({description: 'deep', subagentType: 'middle'})"

    def made() -> Any:
        return create_deep_agent(
            ScriptedModel(script=[[outer]]),
            [tool],
            subagents=[{"name": "middle", "description": "m", "runnable": middle}],
            middleware=[CodeInterpreterMiddleware(ptc=["pay"])],
            checkpointer=saver,
        )

    saver = InMemorySaver()
    first = made().invoke(user(), thread())["__interrupt__"][0].value
    assert [one["args"] for one in first["action_requests"]] == [{"amount": 1}]
    assert first["action_requests"][0]["description"].startswith(
        "In subagent middle: In subagent leaf: Tool execution requires approval"
    )
    second = made().invoke(Command(resume=approve()), thread())["__interrupt__"][0].value
    assert [one["args"] for one in second["action_requests"]] == [{"amount": 2}]
    assert paid == [0, 1]
    rejected = {"decisions": [{"type": "reject", "message": "enough"}]}
    made().invoke(Command(resume=rejected), thread())
    assert paid == [0, 1]
    assert not made().get_state(thread()).next


def test_task_itself_can_be_gated() -> None:
    worker = subagent()
    made = agent(
        "await task({description: 'd', subagentType: 'worker'})",
        worker,
        agent={"checkpointer": InMemorySaver(), "interrupt_on": {"task": True}},
    )
    value = made.invoke(user(), thread())["__interrupt__"][0].value
    assert value["action_requests"][0]["name"] == "task"
    assert value["action_requests"][0]["args"] == {"description": "d", "subagent_type": "worker"}
    assert worker["model"].seen == []
    assert texts(made.invoke(Command(resume=approve()), thread())) == ["<result>done</result>"]


def test_state_goes_down_without_what_is_the_agents_own_and_updates_come_up() -> None:
    writes = [[("write_file", {"file_path": "/from-child.txt", "content": "c"})]]
    code = """
        await tools.writeFile({file_path: '/from-parent.txt', content: 'p'});
        await task({description: 'write', subagentType: 'worker'})
    """
    made = create_deep_agent(
        ScriptedModel(script=[[code]]),
        [],
        subagents=[subagent(writes)],
        middleware=[CodeInterpreterMiddleware(ptc=["write_file"])],
    )
    result = made.invoke(user())
    assert sorted(result["files"]) == ["/from-child.txt", "/from-parent.txt"]


def test_events() -> None:
    tool = pay()
    worker = subagent([["await tools.pay({amount: 1})"]], [tool], interrupt_on={"pay": True},
                      middleware=[CodeInterpreterMiddleware(ptc=["pay"])])  # fmt: skip
    made = agent(
        "await task({description: 'do   this\\nnow', subagentType: 'worker', label: ' a  b '})",
        worker,
        agent={"checkpointer": InMemorySaver()},
    )
    events = list(made.stream(user(), thread(), stream_mode="custom"))
    events += list(made.stream(Command(resume=approve()), thread(), stream_mode="custom"))
    assert [one["phase"] for one in events] == ["start", "paused", "resumed", "complete"]
    assert {one["id"] for one in events} == {events[0]["id"]}
    assert events[0] == {
        "type": "subagent",
        "phase": "start",
        "id": events[0]["id"],
        "eval_id": "call-0-0-0",
        "subagent_type": "worker",
        "label": "a b",
        "description": "do   this\nnow",
        "depth": 1,
    }
    assert events[-1]["duration_ms"] >= 0


EFFECTS = '[[rules]]\ntools = "task"\nclears = ["private", "untrusted", "acts"]\n'


@pytest.mark.parametrize("checkpointer", [True, False])
def test_what_programs_met_goes_down_with_a_task_and_comes_up_with_its_result(checkpointer: bool) -> None:
    done: list[str] = []

    def made(name: str, effect: str) -> Any:
        @tool(name)
        def one() -> str:
            """Does one thing."""
            done.append(name)
            return name

        one.metadata = {"chrysalid": {"effects": [effect]}}
        return one

    tools = {
        name: made(name, effect) for name, effect in (("read", "private"), ("browse", "untrusted"), ("post", "acts"))
    }

    def agent(code: str, inner: str) -> Any:
        def own() -> Any:
            return CodeInterpreterMiddleware(ptc=list(tools), policy=chrysalid.Policy.parse(EFFECTS))

        worker = subagent([[inner]], list(tools.values()), middleware=[own()])
        return create_deep_agent(
            ScriptedModel(script=[[code]]),
            list(tools.values()),
            subagents=[worker],
            middleware=[own()],
            checkpointer=InMemorySaver() if checkpointer else None,
        )

    dispatch = "await task({description: 'd', subagentType: 'worker'})"
    up = agent(f"await tools.read(); {dispatch}; await tools.post()", "await tools.browse()")
    result = up.invoke(user(), thread())
    assert done == ["read", "browse"]
    assert [one["name"] for one in result["__interrupt__"][0].value["action_requests"]] == ["post"]
    done.clear()
    down = agent(f"await tools.read(); {dispatch}", "await tools.browse(); await tools.post()")
    result = down.invoke(user(), thread())
    assert done == ["read", "browse"]
    assert [one["name"] for one in result["__interrupt__"][0].value["action_requests"]] == ["post"]
