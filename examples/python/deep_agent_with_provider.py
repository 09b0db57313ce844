"""The agent of deep_agent.py with a real model, asking you in the terminal.

Run it: pip install "chrysalid[deepagents]" langchain-anthropic
        ANTHROPIC_API_KEY=... python deep_agent_with_provider.py

Any model that LangChain knows will do: give its name as MODEL, such as "openai:gpt-5.5", and install its package.
"""

import os
from typing import Any

from chrysalid.langchain import CodeInterpreterMiddleware
from deepagents import create_deep_agent
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

MODEL = os.environ.get("MODEL", "anthropic:claude-sonnet-4-6")


@tool
def find_orders(customer: str) -> list[dict[str, Any]]:
    """Finds a customer's orders."""
    return [{"id": 7, "amount": 30, "late": True}, {"id": 8, "amount": 12, "late": False}]


@tool
def refund(order: int, amount: int) -> str:
    """Pays an order back."""
    return f"order {order}: {amount} paid back"


def decide(request: dict[str, Any]) -> dict[str, Any]:
    """Asks whoever sits there."""
    answer = input(f"{request['description']}\nrun it? [y/N] ")
    return {"type": "approve"} if answer.strip().lower() == "y" else {"type": "reject", "message": "not now"}


def main() -> None:
    """Runs the agent until nothing waits any more."""
    agent = create_deep_agent(
        MODEL,
        tools=[find_orders, refund],
        interrupt_on={"refund": True},
        middleware=[CodeInterpreterMiddleware(ptc=["find_orders", "refund"])],
        checkpointer=InMemorySaver(),
    )
    config: Any = {"configurable": {"thread_id": "1"}}
    request: Any = {"messages": [("user", "Use code: refund all late orders of ann, then say what you did.")]}
    while True:
        result = agent.invoke(request, config)
        if not result.get("__interrupt__"):
            break
        [interrupt] = result["__interrupt__"]
        request = Command(resume={"decisions": [decide(one) for one in interrupt.value["action_requests"]]})
    print(result["messages"][-1].text)


if __name__ == "__main__":
    main()
