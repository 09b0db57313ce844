"""The LangGraph thread around an eval: which checkpoint it stands at, and the few things done to it besides rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chrysalid.langchain import private

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langgraph.checkpoint.base import BaseCheckpointSaver
    from langgraph.runtime import ExecutionInfo


class Thread:
    """One step of one graph in a thread."""

    def __init__(self, config: RunnableConfig, info: ExecutionInfo, saver: BaseCheckpointSaver[Any] | None) -> None:
        self.saver = saver if info.thread_id is not None else None
        self.id = str(info.thread_id) if info.thread_id is not None else ""
        self.task_id = info.task_id
        self.namespace = info.checkpoint_ns.rpartition("|")[0]
        self._checkpoint_id = info.checkpoint_id
        self._root_id = private.root_checkpoint(config, info.checkpoint_id)
        self._comes_late = private.checkpoint_may_come_late(config)

    @property
    def is_kept(self) -> bool:
        """Whether anything outlives the process."""
        return self.saver is not None

    @property
    def checkpoint_comes_late(self) -> bool:
        """Whether the step's own checkpoint may not be written yet."""
        return self.is_kept and self._comes_late

    def checkpoint(self) -> Any:
        """The checkpoint of this step, if it is written."""
        assert self.saver is not None
        return self.saver.get_tuple(self._config(self.namespace, self._checkpoint_id))

    async def acheckpoint(self) -> Any:
        """As `checkpoint`."""
        assert self.saver is not None
        return await self.saver.aget_tuple(self._config(self.namespace, self._checkpoint_id))

    def forget_answer(self) -> None:
        """Clear the plain resume value, once it was taken."""
        assert self.saver is not None
        writes, task = private.forget_answer()
        self.saver.put_writes(self._config("", self._root_id), writes, task)

    async def aforget_answer(self) -> None:
        """As `forget_answer`."""
        assert self.saver is not None
        writes, task = private.forget_answer()
        await self.saver.aput_writes(self._config("", self._root_id), writes, task)

    def asked_in(self, namespace: str) -> set[str]:
        """The ids of the interrupts that a nested graph waits for."""
        found = self.saver.get_tuple(self._config(namespace)) if self.saver is not None else None
        return private.pending_interrupts(found.pending_writes or []) if found is not None else set()

    async def aasked_in(self, namespace: str) -> set[str]:
        """As `asked_in`."""
        found = await self.saver.aget_tuple(self._config(namespace)) if self.saver is not None else None
        return private.pending_interrupts(found.pending_writes or []) if found is not None else set()

    def _config(self, namespace: str, checkpoint_id: str | None = None) -> RunnableConfig:
        configurable = {"thread_id": self.id, "checkpoint_ns": namespace}
        if checkpoint_id is not None:
            configurable["checkpoint_id"] = checkpoint_id
        return {"configurable": configurable}
