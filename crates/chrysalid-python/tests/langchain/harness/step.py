"""One step of a thread: what the process that runs it does. `python -m harness.step REQUEST`.

The request is a JSON file: the agent's description, the checkpointer's URL, the operation, and where to write the report.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import time
import warnings
from pathlib import Path
from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.types import Command

from . import savers
from .agents import build
from .watch import Callbacks, Watch

MODES = ["values", "updates", "debug", "tasks", "checkpoints", "custom", "messages"]


def main(path: str) -> None:
    """Runs the request and writes the report beside it."""
    warnings.simplefilter("ignore")
    request = json.loads(Path(path).read_text())
    if savers.is_async(request["saver"]):
        report = asyncio.run(_arun(request))
    else:
        with savers.opened(request["saver"]) as saver:
            report = run(request, saver)
    report |= {"peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}
    Path(request["report"]).write_text(json.dumps(report))


def run(request: dict[str, Any], saver: Any, agent: Any = None) -> dict[str, Any]:
    """The step on a checkpointer that is open already, with a new agent unless there is one."""
    watch = Watch()
    agent = agent or build(request["agent"], saver)
    config, options = _config(request, watch)
    error, started = None, time.monotonic()
    try:
        if request["operation"] == "update":
            agent.update_state(config, request["values"], as_node=request.get("as_node"))
        elif request["operation"] != "look":
            for chunk in agent.stream(_input(request), config, stream_mode=MODES, subgraphs=True, **options):
                watch.chunk(chunk)
    except Exception as caught:  # noqa: BLE001 - the test judges it
        error = f"{type(caught).__name__}: {caught}"
    watch.seconds = time.monotonic() - started
    plain = {"configurable": config["configurable"]}
    history = [watch.show("get_state_history", state) for state in agent.get_state_history(plain)]
    return _report(watch.show("get_state", agent.get_state(plain, subgraphs=True)), len(history), watch, error)


async def _arun(request: dict[str, Any]) -> dict[str, Any]:
    async with savers.aopened(request["saver"]) as saver:
        watch = Watch()
        agent = build(request["agent"], saver)
        config, options = _config(request, watch)
        error, started = None, time.monotonic()
        try:
            if request["operation"] == "update":
                await agent.aupdate_state(config, request["values"], as_node=request.get("as_node"))
            elif request["operation"] != "look":
                async for chunk in agent.astream(_input(request), config, stream_mode=MODES, subgraphs=True, **options):
                    watch.chunk(chunk)
        except Exception as caught:  # noqa: BLE001 - the test judges it
            error = f"{type(caught).__name__}: {caught}"
        watch.seconds = time.monotonic() - started
        plain = {"configurable": config["configurable"]}
        history = [watch.show("get_state_history", state) async for state in agent.aget_state_history(plain)]
        return _report(
            watch.show("get_state", await agent.aget_state(plain, subgraphs=True)), len(history), watch, error
        )


def _config(request: dict[str, Any], watch: Watch) -> tuple[Any, dict[str, Any]]:
    config = {"configurable": {"thread_id": request["thread"]}, "callbacks": [Callbacks(watch)], "recursion_limit": 60}
    return config, {"durability": request["durability"]} if request.get("durability") else {}


def _input(request: dict[str, Any]) -> Any:
    match request["operation"]:
        case "send":
            return {"messages": [HumanMessage(request["text"])]}
        case "resume":
            return Command(resume=request["value"])
        case "go_on":
            return None
    raise ValueError(request["operation"])


def _report(state: Any, history: int, watch: Watch, error: str | None) -> dict[str, Any]:
    return {
        "error": error,
        "interrupts": [{"id": each.id, "value": each.value} for each in state.interrupts],
        "next": list(state.next),
        "messages": [_message(each) for each in state.values.get("messages", [])],
        "values": {
            key: value
            for key, value in state.values.items()
            if isinstance(value, (str, int, float, list)) and key != "messages"
        },
        "keys": sorted(state.values),
        "state_bytes": len(JsonPlusSerializer().dumps_typed(dict(state.values))[1]),
        "history": history,
        "leaks": watch.leaks,
        "largest": watch.largest,
        "events": watch.events,
        "runs": watch.runs,
        "seconds": watch.seconds,
    }


def _message(message: BaseMessage) -> dict[str, Any]:
    shown: dict[str, Any] = {"type": message.type, "text": message.text}
    if isinstance(message, ToolMessage):
        shown |= {
            "id": message.tool_call_id,
            "name": message.name,
            "status": message.status,
            "artifact": message.artifact,
        }
    return shown


if __name__ == "__main__":
    main(sys.argv[1])
