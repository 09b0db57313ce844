"""Modules that programs may import: their sources, by key."""

from __future__ import annotations

from collections.abc import Mapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable
    from typing import Any, TypeAlias

    from chrysalid._native import Call

    _Find: TypeAlias = Callable[[str], "str | Awaitable[str | None] | None"]

__all__ = ["IMPORT", "Modules"]

# Name of the calls that fetch a module.
IMPORT = "$import"


class Modules:
    """Where the modules of a session come from.

    A key is what stands in the ``import``, with relative names joined to the folder of the module that asks:
    ``./b.js`` in ``lib/a.js`` is ``lib/b.js``, and in a program it is ``b.js``. Sources are JavaScript or TypeScript.
    A module is loaded once a session and travels in its heap, also through snapshots; it runs with the program's own
    rights.

    Args:
        sources: Sources by key, or a function, plain or async, that gives the source of a key, or ``None``.
        names: Keys that a refusal lists. Default those of the sources.
    """

    timeout = None

    def __init__(self, sources: Mapping[str, str] | _Find, *, names: Iterable[str] | None = None) -> None:
        if isinstance(sources, Mapping):
            self._find: _Find = dict(sources).get
            known: Iterable[str] = sources
        else:
            self._find, known = sources, ()
        self.names = sorted({*(known if names is None else names)})

    @classmethod
    def of(cls, modules: Modules | Mapping[str, str] | _Find) -> Modules:
        """The modules of sources or a function; modules as they are."""
        return modules if isinstance(modules, Modules) else cls(modules)

    def invoke(self, call: Call) -> Any | Awaitable[Any]:
        """The source of the module that a call named ``$import`` asks for, or what is to be awaited for it."""
        return self._find(call.arguments["key"])

    def __repr__(self) -> str:
        return f"Modules({self.names!r})"
