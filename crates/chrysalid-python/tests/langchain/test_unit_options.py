"""What the constructor takes and refuses, and the tool that it makes."""

from __future__ import annotations

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.tools import tool

from chrysalid.langchain import CodeInterpreterMiddleware, UnsupportedVersion, private
from scripted import ScriptedModel, texts, user


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"max_ptc_calls": 0}, ValueError, "max_ptc_calls must be a whole number of at least 1, got 0"),
        ({"max_ptc_calls": True}, ValueError, "max_ptc_calls must be a whole number"),
        ({"memory_limit": 0}, ValueError, "memory_limit must be"),
        ({"timeout": 0}, ValueError, "timeout must be a positive number of seconds, got 0"),
        ({"wall_timeout": -1}, ValueError, "wall_timeout must be"),
        ({"mode": "ever"}, ValueError, "mode must be one of 'thread', 'turn', 'call', got 'ever'"),
        ({"clock": "x"}, ValueError, "clock must be one of"),
        ({"on_unknown": "x"}, ValueError, "on_unknown must be one of"),
        ({"tool_name": ""}, ValueError, "tool_name must be a name"),
        ({"max_snapshot_bytes": 0}, ValueError, "max_snapshot_bytes must be"),
        ({"max_subagent_concurrency": 1.5}, ValueError, "max_subagent_concurrency must be"),
        ({"max_subagents_per_eval": 0}, ValueError, "max_subagents_per_eval must be"),
        ({"max_subagents_per_run": 0}, ValueError, "max_subagents_per_run must be"),
        ({"max_depth": 0}, ValueError, "max_depth must be"),
        ({"snapshot_signing_key": ""}, ValueError, "snapshot_signing_key must not be empty"),
        ({"snapshot_signing_key": b""}, ValueError, "snapshot_signing_key must not be empty"),
        ({"ptc": True}, TypeError, "ptc must be None or a list of tool names and tools, got bool"),
        ({"ptc": {"a": 1}}, TypeError, "ptc must be None or a list of tool names and tools, got dict"),
        ({"ptc": [5]}, TypeError, "ptc takes tool names and tools, got int"),
        ({"ptc": ["task"]}, ValueError, r"ptc must not name 'task': subagents are the global task\(\)"),
    ],
)
def test_refused(options: dict[str, Any], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        CodeInterpreterMiddleware(**options)


def test_the_tool() -> None:
    (made,) = CodeInterpreterMiddleware(tool_name="js").tools
    assert made.name == "js"
    assert made.metadata == {"ls_code_input_language": "javascript"}
    assert list(made.args) == ["code"]
    assert made.tool_call_schema.model_json_schema()["required"] == ["code"]


def test_another_name() -> None:
    agent = create_agent(
        ScriptedModel(script=[[("js", {"code": "6 * 7"})]]), [], middleware=[CodeInterpreterMiddleware(tool_name="js")]
    )
    messages = agent.invoke(user())["messages"]
    assert [(one.name, one.content) for one in messages if one.type == "tool"] == [("js", "<result>42</result>")]


def test_tools_can_be_given_as_they_are_and_names_that_the_agent_lacks_are_left_out() -> None:
    @tool
    def secret() -> str:
        """Only for code."""
        return "s"

    own = CodeInterpreterMiddleware(ptc=[secret, "nothing", "eval"])
    agent = create_agent(ScriptedModel(script=[["await tools.secret() + Object.keys(tools)"]]), [], middleware=[own])
    assert texts(agent.invoke(user())) == ["<result>ssecret</result>"]


def test_the_call_budget_can_be_off() -> None:
    @tool
    def step() -> int:
        """Steps."""
        return 1

    own = CodeInterpreterMiddleware(ptc=["step"], max_ptc_calls=None)
    code = "let n = 0; for (let i = 0; i < 300; i++) n += await tools.step(); n"
    agent = create_agent(ScriptedModel(script=[[code]]), [step], middleware=[own])
    assert texts(agent.invoke(user())) == ["<result>300</result>"]


def test_clock_and_chance() -> None:
    code = "[Date.now() === 0, Math.random()].join()"
    made = [
        texts(create_agent(ScriptedModel(script=[[code]]), [], middleware=[own]).invoke(user()))
        for own in (
            CodeInterpreterMiddleware(clock="none"),
            CodeInterpreterMiddleware(clock="none"),
            CodeInterpreterMiddleware(),
        )
    ]
    assert made[0] == made[1]
    assert made[0][0].startswith("<result>true,0.")
    assert made[2][0].startswith("<result>false,0.")
    assert made[2] != made[0]


def test_a_version_that_lacks_what_is_needed_is_refused_when_constructed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(private, "_missing", "cannot import name 'PregelScratchpad'")
    with pytest.raises(UnsupportedVersion, match=r"cannot import name 'PregelScratchpad' \(langgraph 1\."):
        CodeInterpreterMiddleware()


def test_a_build_that_keeps_its_middleware_elsewhere_is_refused_when_built(monkeypatch: pytest.MonkeyPatch) -> None:
    own = CodeInterpreterMiddleware()
    source = "def create_agent(own):\n    return own.tools\n"
    elsewhere: dict[str, Any] = {"__name__": "langchain.agents.factory"}
    exec(source, elsewhere)
    with pytest.raises(UnsupportedVersion, match="create_agent keeps its middleware elsewhere; pass interrupt_on="):
        elsewhere["create_agent"](own)
    given = CodeInterpreterMiddleware(interrupt_on={}, middleware=[])
    assert elsewhere["create_agent"](given)[0].name == "eval"
