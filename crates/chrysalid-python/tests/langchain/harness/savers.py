"""Checkpointers by URL: `memory:`, `sqlite:PATH`, `sqlite+async:PATH`, `postgresql://…`, `postgresql+async://…`."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver

KILL_AT_WRITE = "HARNESS_KILL_AT_WRITE"


def is_async(url: str) -> bool:
    """Whether the agent is to be run with `ainvoke`."""
    return "+async:" in url


@contextlib.contextmanager
def opened(url: str) -> Iterator[BaseCheckpointSaver[Any]]:
    """A synchronous checkpointer, ready to be used."""
    if url.startswith("sqlite:"):
        from langgraph.checkpoint.sqlite import SqliteSaver

        with SqliteSaver.from_conn_string(url.partition(":")[2]) as saver:
            yield _counted(saver)
    else:
        from langgraph.checkpoint.postgres import PostgresSaver

        with PostgresSaver.from_conn_string(url) as saver:
            saver.setup()
            yield _counted(saver)


@contextlib.asynccontextmanager
async def aopened(url: str) -> AsyncIterator[BaseCheckpointSaver[Any]]:
    """An asynchronous checkpointer, ready to be used."""
    if url.startswith("sqlite+async:"):
        from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

        async with AsyncSqliteSaver.from_conn_string(url.partition(":")[2]) as saver:
            yield _counted(saver)
    else:
        from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

        async with AsyncPostgresSaver.from_conn_string(url.replace("+async", "")) as saver:
            await saver.setup()
            yield _counted(saver)


def _counted(saver: BaseCheckpointSaver[Any]) -> BaseCheckpointSaver[Any]:
    """With `HARNESS_KILL_AT_WRITE=n` the process ends right after the saver's n-th write."""
    last = int(os.environ.get(KILL_AT_WRITE, "0"))
    if not last:
        return saver
    lock = threading.Lock()
    count = 0

    def done() -> None:
        nonlocal count
        with lock:
            count += 1
            if count == last:
                os.kill(os.getpid(), signal.SIGKILL)

    put, put_writes, aput, aput_writes = saver.put, saver.put_writes, saver.aput, saver.aput_writes

    def counted_put(*arguments: Any, **named: Any) -> Any:
        result = put(*arguments, **named)
        done()
        return result

    def counted_put_writes(*arguments: Any, **named: Any) -> None:
        put_writes(*arguments, **named)
        done()

    async def counted_aput(*arguments: Any, **named: Any) -> Any:
        result = await aput(*arguments, **named)
        done()
        return result

    async def counted_aput_writes(*arguments: Any, **named: Any) -> None:
        await aput_writes(*arguments, **named)
        done()

    saver.put, saver.put_writes = counted_put, counted_put_writes  # type: ignore[method-assign]
    saver.aput, saver.aput_writes = counted_aput, counted_aput_writes  # type: ignore[method-assign]
    return saver
