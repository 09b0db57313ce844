"""Short forms for what a scripted model answers, and for agents that run one program."""

from __future__ import annotations

from typing import Any

from .agents import Spec

GATED = {"allowed_decisions": ["approve", "edit", "reject", "respond"]}
"""An entry of `interrupt_on` that allows everything."""

OFTEN_GATED: dict[str, Any] = {
    "gate": GATED,
    "note_gated": GATED,
    "pay_gated": GATED,
    "send_email": GATED,
    "delete_file_gated": GATED,
}


def call(tool: str, call_id: str, **arguments: Any) -> dict[str, Any]:
    """A tool call of a model."""
    return {"name": tool, "id": call_id, "args": arguments}


def evaluate(code: str, call_id: str = "e1", tool: str = "eval") -> dict[str, Any]:
    """A model's call of the interpreter."""
    return call(tool, call_id, code=code)


def program(*codes: str, tools: list[str], options: dict[str, Any] | None = None, **spec: Any) -> Spec:
    """An agent whose model runs these programs, one after the other, as `e1`, `e2` and so on, when it is told `go`.

    All tools can be called from code, and those of `OFTEN_GATED` want approval unless the agent says otherwise.
    """
    replies = [[evaluate(code, f"e{number}")] for number, code in enumerate(codes, 1)]
    gated = {name: entry for name, entry in OFTEN_GATED.items() if name in tools}
    return {
        "script": {"go": replies},
        "tools": tools,
        "interpreter": {"ptc": tools, **(options or {})},
        "interrupt_on": gated or None,
        **spec,
    }


def worker(name: str, *replies: Any, tools: tuple[str, ...] = (), **spec: Any) -> Spec:
    """A subagent that answers every task by these replies."""
    return {"name": name, "script": {"*": list(replies)}, "tools": list(tools), "count_runs": True} | spec
