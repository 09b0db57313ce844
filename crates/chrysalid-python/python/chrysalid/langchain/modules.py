"""Modules that programs may import: found by the host, with nothing but their source."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping

from chrysalid.langchain.invocation import Ended, explain

IMPORT = "$import"
"""The name of the calls that ask for a module."""

Modules = Mapping[str, str] | Callable[[str], "str | Awaitable[str | None] | None"]
"""Sources by key, or a function, plain or async, that finds the source of a key."""


class FindModule:
    """A `Job`: the source of one module."""

    def __init__(self, call: str, modules: Modules, key: str) -> None:
        self._call = call
        self._find = modules.get if isinstance(modules, Mapping) else modules
        self._key = key

    def run(self) -> Ended:
        """Find it in this thread."""
        return asyncio.run(self.arun())

    async def arun(self) -> Ended:
        """Find it on this event loop."""
        try:
            source = self._find(self._key)
            if inspect.isawaitable(source):
                source = await source
        except Exception as error:
            return Ended(self._call, "failed", message=explain(error))
        return Ended(self._call, "done", value=source)
