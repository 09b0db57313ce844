"""The tools of the scripted agents. What they do to the world is a line in the file of effects."""

from __future__ import annotations

import asyncio
import contextvars
import time
from typing import Annotated, Any

from langchain.tools import (
    InjectedState,
    InjectedStore,
    InjectedToolCallId,
    ToolRuntime,
)
from langchain_core.messages import ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool, tool
from langgraph.store.base import BaseStore
from langgraph.types import Command, interrupt
from langsmith.run_helpers import get_tracing_context
from pydantic import BaseModel

from .effects import effect

TENANT: contextvars.ContextVar[str] = contextvars.ContextVar("TENANT", default="none")


@tool
def echo(v: Any) -> Any:
    """Gives back what it gets."""
    return v


@tool
def fail(msg: str) -> str:
    """Fails."""
    raise ValueError(msg)


@tool
def pay(amount: int) -> dict[str, Any]:
    """Pays an amount."""
    return {"ok": True, "n": effect(f"pay {amount}"), "amount": amount}


@tool
def pay_gated(amount: int) -> dict[str, Any]:
    """Pays an amount, after somebody said yes."""
    return {"ok": True, "n": effect(f"pay {amount}"), "amount": amount}


@tool
def charge(amount: int) -> str:
    """Charges the customer's card."""
    effect(f"charge {amount}")
    return f"charged {amount}"


@tool
def send_email(to: str, body: str = "") -> str:
    """Sends a mail."""
    effect(f"send {to}")
    return f"sent to {to}"


@tool
def look(q: str) -> str:
    """Looks something up."""
    effect(f"look {q}")
    return f"looked {q}"


@tool
def delete_file_gated(path: str) -> str:
    """Deletes a file."""
    effect(f"delete {path}")
    return f"deleted {path}"


@tool
def gate(q: str) -> str:
    """Asks a person. The answer is the result; the tool itself does nothing."""
    effect(f"gate {q}")
    return f"gate ran for {q}"


@tool("gate")
def gate_with_another_schema(question: str, urgent: bool) -> str:
    """Asks a person, as a later version of the tool does."""
    effect(f"gate {question} {urgent}")
    return question


gate_that_expires: BaseTool = gate.model_copy(update={"metadata": {"chrysalid": {"approval_expiry": 1.0}}})


@tool
def note_gated(text: str) -> str:
    """Keeps a note, after somebody said yes."""
    effect(f"note {text}")
    return "noted"


@tool
def ask(question: str) -> str:
    """Asks a person, with an interrupt of its own."""
    answer = interrupt({"question": question})
    effect(f"ask {question} -> {answer}")
    return f"answer {answer}"


@tool
def ask_twice(first: str, second: str) -> str:
    """Asks a person two things in a row, with interrupts of its own."""
    answers = [interrupt({"question": first}), interrupt({"question": second})]
    effect(f"ask_twice -> {answers[0]} {answers[1]}")
    return f"answers {answers[0]} {answers[1]}"


def _slow(ms: int, v: Any = None) -> Any:
    time.sleep(ms / 1000)
    effect(f"slow {v}")
    return v


async def _aslow(ms: int, v: Any = None) -> Any:
    await asyncio.sleep(ms / 1000)
    effect(f"slow {v}")
    return v


slow: BaseTool = StructuredTool.from_function(_slow, coroutine=_aslow, name="slow", description="Waits.")


@tool
def keyed(amount: int, tool_call_id: Annotated[str, InjectedToolCallId]) -> str:
    """Pays an amount under the id of its call, as one would with an idempotency key."""
    effect(f"keyed {amount} {tool_call_id}")
    return f"paid {amount}"


class Point(BaseModel):
    """A place."""

    x: int
    y: int


@tool
def give(kind: str) -> Any:
    """A value of the kind that is asked for."""
    return {
        "str": "text",
        "int": 7,
        "float": 1.5,
        "bool": True,
        "list": [1, "two", None],
        "dict": {"a": {"b": 1}},
        "none": None,
        "model": Point(x=1, y=2),
    }[kind]


@tool
def message(text: str, tool_call_id: Annotated[str, InjectedToolCallId]) -> ToolMessage:
    """Answers with a message."""
    return ToolMessage(content=text, tool_call_id=tool_call_id)


@tool
def remember(note: str, tool_call_id: Annotated[str, InjectedToolCallId]) -> Command[Any]:
    """Keeps a note in the agent's state."""
    return Command(
        update={"notes": [note], "messages": [ToolMessage(content=f"kept {note}", tool_call_id=tool_call_id)]}
    )


@tool
def injected(
    state: Annotated[dict[str, Any], InjectedState],
    store: Annotated[BaseStore, InjectedStore],
    config: RunnableConfig,
    tool_call_id: Annotated[str, InjectedToolCallId],
) -> dict[str, Any]:
    """What LangGraph puts in for it."""
    item = store.get(("people",), "ada")
    return {
        "messages": len(state["messages"]),
        "notes": state.get("notes", []),
        "todos": bool(state.get("todos")),
        "store": None if item is None else item.value["born"],
        "thread": config["configurable"]["thread_id"],
        "tool_call_id": bool(tool_call_id),
    }


@tool
def with_runtime(q: str, runtime: ToolRuntime) -> dict[str, Any]:
    """What the runtime of its call holds."""
    return {
        "q": q,
        "messages": len(runtime.state["messages"]),
        "context": runtime.context,
        "tool_call_id": bool(runtime.tool_call_id),
    }


@tool
async def on_the_loop(q: str) -> dict[str, Any]:
    """Tells which loop it runs on, and what it finds in a context variable."""
    return {"loop": id(asyncio.get_running_loop()), "tenant": TENANT.get(), "q": q}


@tool
def in_the_context(q: str) -> dict[str, Any]:
    """Tells what it finds in a context variable."""
    return {"tenant": TENANT.get(), "q": q}


@tool
def agent_type() -> str:
    """What traces say of the agent that runs."""
    return str((get_tracing_context().get("metadata") or {}).get("ls_agent_type"))


ODD: BaseTool = StructuredTool.from_function(
    lambda q: f"odd {q}", name="2nd-tool", description="A name that is no identifier."
)


def _labelled(name: str, *effects: str) -> BaseTool:
    def run(q: str = "") -> str:
        effect(f"{name} {q}".strip())
        return f"{name} gave {q}"

    return StructuredTool.from_function(
        run, name=name, description=f"A tool that is {effects}.", metadata={"chrysalid": {"effects": list(effects)}}
    )


LABELLED = [
    _labelled("read_mail", "private"),
    _labelled("read_web", "untrusted"),
    _labelled("post", "acts"),
    _labelled("note"),
]
"""One tool for each effect of the rule of two, and one without."""

ALL: dict[str, BaseTool] = {
    each.name: each
    for each in (
        echo, fail, pay, pay_gated, charge, send_email, look, delete_file_gated, gate, note_gated, ask, ask_twice, slow, keyed, give, message,
        remember, injected, with_runtime, on_the_loop, in_the_context, agent_type, ODD,
    )
}  # fmt: skip
ALL |= {each.name: each for each in LABELLED}
ALL |= {"gate, later": gate_with_another_schema, "gate, expiring": gate_that_expires}
