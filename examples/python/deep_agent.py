"""A deep agent whose programs call tools, wait for a person, and go on in another process.

Run it: pip install "chrysalid[deepagents]" langgraph-checkpoint-sqlite; python deep_agent.py

The model is a script, so nothing leaves this machine. With a real one: deep_agent_with_provider.py.
"""

import sqlite3
import tempfile
from pathlib import Path
from typing import Any

from chrysalid.langchain import CodeInterpreterMiddleware
from deepagents import create_deep_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command


@tool
def find_orders(customer: str) -> list[dict[str, Any]]:
    """Finds a customer's orders."""
    print(f"-- looking up {customer}")
    return [{"id": 7, "amount": 30, "late": True}, {"id": 8, "amount": 12, "late": False}]


@tool
def refund(order: int, amount: int) -> str:
    """Pays an order back."""
    print(f"-- refunding {amount} for order {order}")
    return f"order {order}: {amount} paid back"


PROGRAM = """
    const orders = await tools.findOrders({ customer: "ann" });
    const late = orders.filter(order => order.late);
    await Promise.all(late.map(({ id, amount }) => tools.refund({ order: id, amount })))
"""


class Scripted(BaseChatModel):
    """Writes one program, and reads its result out."""

    def bind_tools(self, tools: Any, **_: Any) -> "Scripted":
        return self

    def _generate(self, messages: list[Any], *_: Any, **__: Any) -> ChatResult:
        if messages[-1].type == "tool":
            said = AIMessage(f"The program said: {messages[-1].content}")
        else:
            call = {"name": "eval", "args": {"code": PROGRAM}, "id": "call-1", "type": "tool_call"}
            said = AIMessage("", tool_calls=[call])
        return ChatResult(generations=[ChatGeneration(message=said)])

    @property
    def _llm_type(self) -> str:
        return "scripted"


def agent(folder: Path) -> Any:
    """The agent, as each process makes it for itself."""
    saver = SqliteSaver(sqlite3.connect(folder / "checkpoints.db", check_same_thread=False))
    return create_deep_agent(
        Scripted(),
        tools=[find_orders, refund],
        interrupt_on={"refund": {"allowed_decisions": ["approve", "reject"]}},
        middleware=[
            CodeInterpreterMiddleware(
                ptc=["find_orders", "refund"], snapshot_signing_key="an example's key is no secret"
            )
        ],
        checkpointer=saver,
    )


def main() -> None:
    """Asks, is stopped, and goes on."""
    config = {"configurable": {"thread_id": "42"}}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        result = agent(folder).invoke({"messages": [("user", "Refund ann's late orders.")]}, config)
        [interrupt] = result["__interrupt__"]
        for request in interrupt.value["action_requests"]:
            print(f"May it {request['name']} {request['args']}?")

        # Another process, another day: a new agent on the same checkpointer.
        result = agent(folder).invoke(Command(resume={"decisions": [{"type": "approve"}]}), config)
        print(result["messages"][-1].content)


if __name__ == "__main__":
    main()
