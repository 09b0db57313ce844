"""What a client of a running graph gets to see: streams, states, callbacks. It is searched for snapshots while it passes."""

from __future__ import annotations

from typing import Any

from langchain_core.callbacks import BaseCallbackHandler

from .effects import die_at
from .leaks import has_image, largest


class Watch:
    """Collects where a snapshot was seen, how large the largest text was, and the events of the `custom` stream."""

    def __init__(self) -> None:
        self.leaks: list[str] = []
        self.largest: dict[str, int] = {}
        self.events: list[Any] = []
        self.runs: list[dict[str, Any]] = []
        self.seconds = 0.0

    def chunk(self, chunk: tuple[Any, str, Any]) -> None:
        """One item of the stream."""
        _, mode, value = chunk
        self.show(f"stream {mode}", value)
        if mode == "custom":
            self.events.append(value)
        if mode == "updates" and "__interrupt__" in value:
            die_at("interrupt")

    def show(self, place: str, value: Any) -> Any:
        """Searches what is shown at a place, and gives it back."""
        if has_image(value) and place not in self.leaks:
            self.leaks.append(place)
        self.largest[place] = max(self.largest.get(place, 0), largest(value))
        return value


class Callbacks(BaseCallbackHandler):
    """Shows a watch what callbacks, and so traces, are given, and keeps the tree of runs."""

    run_inline = True

    def __init__(self, watch: Watch) -> None:
        self.watch = watch

    def on_chain_start(self, serialized: Any, inputs: Any, **more: Any) -> None:
        self._start("chain", inputs, more)

    def on_chain_end(self, outputs: Any, **more: Any) -> None:
        self._end("chain", outputs, more)

    def on_chain_error(self, error: BaseException, **more: Any) -> None:
        self._end("chain", error, more, error=type(error).__name__)

    def on_tool_start(self, serialized: Any, input_str: str, **more: Any) -> None:
        more["name"] = (serialized or {}).get("name") or more.get("name")
        self._start("tool", (input_str, more.get("inputs")), more)

    def on_tool_end(self, output: Any, **more: Any) -> None:
        self._end("tool", output, more)

    def on_tool_error(self, error: BaseException, **more: Any) -> None:
        self._end("tool", error, more, error=type(error).__name__)

    def on_chat_model_start(self, serialized: Any, messages: Any, **more: Any) -> None:
        self._start("model", messages, more)

    def on_llm_end(self, response: Any, **more: Any) -> None:
        self._end("model", response, more)

    def on_custom_event(self, name: str, data: Any, **more: Any) -> None:
        self.watch.show("callback event", (name, data, more))

    def _start(self, kind: str, shown: Any, more: dict[str, Any]) -> None:
        self.watch.show(f"callback {kind} start", (shown, more.get("metadata"), more.get("tags")))
        metadata = more.get("metadata") or {}
        self.watch.runs.append(
            {
                "kind": kind,
                "id": str(more["run_id"]),
                "parent": str(more["parent_run_id"]) if more.get("parent_run_id") else None,
                "name": more.get("name"),
                "input": str(more.get("inputs")) if kind == "tool" else None,
                "thread": metadata.get("thread_id"),
                "metadata": {key: value for key, value in metadata.items() if isinstance(value, (str, int))},
                "tags": more.get("tags"),
                "end": None,
            }
        )

    def _end(self, kind: str, shown: Any, more: dict[str, Any], error: str | None = None) -> None:
        self.watch.show(f"callback {kind} end", (shown, more.get("metadata"), more.get("tags")))
        for run in self.watch.runs:
            if run["id"] == str(more["run_id"]):
                run["end"] = error or "done"
