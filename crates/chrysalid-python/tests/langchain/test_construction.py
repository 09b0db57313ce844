"""The options: their defaults, which the released interpreter has too, and what is refused."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import pytest
from deepagents import create_deep_agent
from harness.agents import build
from harness.interpreter import interpreter
from harness.model import ScriptedModel
from harness.script import evaluate, program
from harness.thread import Thread
from harness.tools import ALL
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage

MIB = 1 << 20
DEFAULTS = {
    "memory_limit": 64 * MIB,
    "timeout": 5.0,
    "max_ptc_calls": 256,
    "tool_name": "eval",
    "max_result_chars": 4000,
    "capture_console": True,
    "subagents": True,
    "max_subagent_concurrency": 32,
    "ptc": None,
    "mode": None,
    "max_snapshot_bytes": None,
    "snapshot_signing_key": None,
}


def test_the_defaults() -> None:
    parameters = inspect.signature(type(interpreter()).__init__).parameters
    assert {name: parameters[name].default for name in DEFAULTS} == DEFAULTS
    assert all(each.kind is inspect.Parameter.KEYWORD_ONLY for name, each in parameters.items() if name != "self")


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"max_ptc_calls": 0}, ValueError),
        ({"max_ptc_calls": -1}, ValueError),
        ({"ptc": True}, TypeError),
        ({"ptc": {"pay": True}}, TypeError),
        ({"ptc": [7]}, TypeError),
        ({"ptc": "pay"}, TypeError),
        ({"mode": "session"}, ValueError),
        ({"max_snapshot_bytes": 0}, ValueError),
        ({"snapshot_signing_key": ""}, ValueError),
        ({"snapshot_signing_key": b""}, ValueError),
        ({"max_subagent_concurrency": 0}, ValueError),
        ({"max_subagent_concurrency": 1.5}, ValueError),
        ({"max_subagent_concurrency": True}, ValueError),
        ({"max_subagents_per_eval": 0}, ValueError),
        ({"max_subagents_per_run": 0}, ValueError),
        ({"max_depth": -1}, ValueError),
        ({"memory_limit": 0}, ValueError),
        ({"timeout": 0}, ValueError),
        ({"timeout": -1.0}, ValueError),
        ({"max_result_chars": 0}, ValueError),
        ({"tool_name": ""}, ValueError),
        ({"no_such_option": 1}, TypeError),
    ],
    ids=str,
)
def test_what_is_refused(options: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error, match=re.escape(next(iter(options)))):
        interpreter(**options)


def test_task_in_ptc_is_refused_and_explained() -> None:
    with pytest.raises(ValueError, match=r"task\(\)"):
        interpreter(ptc=["task"])


@pytest.mark.parametrize(
    "options",
    [
        {"max_ptc_calls": None},
        {"mode": None},
        {"mode": "thread"},
        {"mode": "turn"},
        {"mode": "call"},
        {"ptc": []},
        {"ptc": ["pay", ALL["look"]]},
        {"snapshot_signing_key": b"k"},
    ],
    ids="-".join,
)
def test_what_is_taken(options: dict[str, Any]) -> None:
    assert [tool.name for tool in interpreter(**options).tools] == ["eval"]


def test_w08_no_timeout_means_none(answers: Callable[..., list[str]]) -> None:
    assert answers("let s = 0; for (let i = 0; i < 3e7; i++) s += i; s > 0", options={"timeout": None}) == [
        "<result>true</result>"
    ]


def test_another_tool_name(thread: Callable[..., Thread]) -> None:
    agent = program("0", tools=["look"], options={"tool_name": "run_code"}, kind="plain")
    agent["script"] = {"go": [[evaluate("Object.keys(tools).join()", "e1", tool="run_code")]]}
    run = thread(agent, "memory:")
    report = run.send()
    assert report.result("e1") == "<result>look</result>"
    assert [each["name"] for each in report.messages if each["type"] == "tool"] == ["run_code"]
    assert "`run_code`" in run.sent[0]["system"]


@pytest.mark.parametrize("create", [create_agent, create_deep_agent])
def test_both_kinds_of_agents_take_it(create: Any) -> None:
    model = ScriptedModel(script={"go": [[evaluate("1 + 1")]]})
    result = create(model, [], middleware=[interpreter()]).invoke({"messages": [HumanMessage("go")]})
    assert [message.text for message in result["messages"] if message.type == "tool"] == ["<result>2</result>"]


def test_it_works_without_a_checkpointer() -> None:
    agent = build(program("let a = 1; a", "a + 1", tools=[], kind="plain"))
    result = agent.invoke({"messages": [HumanMessage("go")]})
    assert [message.text for message in result["messages"] if message.type == "tool"] == [
        "<result>1</result>",
        "<result>2</result>",
    ]


def test_one_middleware_serves_two_agents() -> None:
    shared = interpreter(ptc=["echo"])
    for value in (1, 2):
        model = ScriptedModel(
            script={"go": [[evaluate(f"globalThis.n = (globalThis.n || 0) + await tools.echo({{v: {value}}})")]]}
        )
        result = create_agent(model, [ALL["echo"]], middleware=[shared]).invoke({"messages": [HumanMessage("go")]})
        assert [message.text for message in result["messages"] if message.type == "tool"] == [
            f"<result>{value}</result>"
        ]
