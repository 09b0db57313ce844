"""What the model is told, byte for byte."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from deepagents import create_deep_agent
from langchain.agents import create_agent
from langchain_core.tools import tool
from pydantic import BaseModel

from chrysalid.langchain import CodeInterpreterMiddleware
from scripted import ScriptedModel, user

SNAPSHOTS = Path(__file__).parent / "prompts"


class Found(BaseModel):
    """A page."""

    url: str
    score: float | None = None


@tool
def web_search(query: str, limit: int = 10) -> list[Found]:
    """Searches the web.

    Args:
        query: what to look for
        limit: at most so many
    """
    return []


@tool
def send_email(to: str) -> str:
    """Sends a mail."""
    return to


def told(options: dict[str, Any], *, deep: bool = False) -> str:
    model = ScriptedModel(script=[])
    own = CodeInterpreterMiddleware(**options)
    if deep:
        worker = {"name": "worker", "description": "works", "system_prompt": "w", "model": model, "tools": []}
        create_deep_agent(
            model, [web_search, send_email], subagents=[worker], middleware=[own], interrupt_on={"send_email": True}
        ).invoke(user())
        [system] = [one for one in model.seen[0] if one.type == "system"]
        return next(block["text"].strip() for block in system.content if "## The `" in block["text"])
    create_agent(model, [web_search, send_email], middleware=[own]).invoke(user())
    return str(model.seen[0][0].content)


@pytest.mark.parametrize(
    ("name", "options", "deep"),
    [
        ("plain", {}, False),
        ("call", {"mode": "call", "clock": "none", "capture_console": False, "max_ptc_calls": None}, False),
        ("turn", {"mode": "turn", "wall_timeout": 60, "tool_name": "js", "timeout": 1.5}, False),
        ("deep", {"ptc": ["web_search", "send_email"]}, True),
    ],
)
def test_prompt(name: str, options: dict[str, Any], deep: bool) -> None:
    text = told(options, deep=deep)
    assert text == told(options, deep=deep)
    file = SNAPSHOTS / f"{name}.md"
    assert file.exists(), f"missing snapshot {file.name}; it should hold:\n{text}"
    assert text + "\n" == file.read_text()
