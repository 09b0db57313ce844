"""The evals of one AI message, which share a heap: each begins when those before it have ended."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Literal

State = Literal["running", "done", "paused"]
Group = Hashable
"""A message in one execution of the graph."""


class Line:
    """Who of a message's evals is where. Only this process's; those that ended in another one left a row."""

    def __init__(self, groups: int = 256) -> None:
        self._groups: OrderedDict[Group, dict[str, State]] = OrderedDict()
        self._most = groups
        self._lock = threading.Lock()

    def put(self, group: Group, call: str, state: State) -> None:
        """Say where an eval is."""
        with self._lock:
            self._groups.setdefault(group, {})[call] = state
            self._groups.move_to_end(group)
            while len(self._groups) > self._most:
                self._groups.popitem(last=False)

    def state(self, group: Group, call: str) -> State | None:
        """Where an eval is; None when it did not begin in this process."""
        with self._lock:
            return self._groups.get(group, {}).get(call)
