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
        return self._kept_by().get_tuple(self._config(self.namespace, self._checkpoint_id))

    async def acheckpoint(self) -> Any:
        """As `checkpoint`."""
        return await self._kept_by().aget_tuple(self._config(self.namespace, self._checkpoint_id))

    def forget_answer(self) -> None:
        """Clear the plain resume value, once it was taken."""
        writes, task = private.forget_answer()
        self._kept_by().put_writes(self._config("", self._root_id), writes, task)

    async def aforget_answer(self) -> None:
        """As `forget_answer`."""
        writes, task = private.forget_answer()
        await self._kept_by().aput_writes(self._config("", self._root_id), writes, task)

    def asked_in(self, namespace: str) -> set[str] | None:
        """The ids of the interrupts that the graphs of a nested call wait for; None where it left no checkpoint."""
        asked: set[str] | None = None
        for name in private.namespaces_of_graphs(namespace):
            found = self.saver.get_tuple(self._config(name)) if self.saver is not None else None
            if found is None:
                break
            asked = (asked or set()) | private.pending_interrupts(found.pending_writes or [])
        return asked

    async def aasked_in(self, namespace: str) -> set[str] | None:
        """As `asked_in`."""
        asked: set[str] | None = None
        for name in private.namespaces_of_graphs(namespace):
            found = await self.saver.aget_tuple(self._config(name)) if self.saver is not None else None
            if found is None:
                break
            asked = (asked or set()) | private.pending_interrupts(found.pending_writes or [])
        return asked

    def left_in(self, namespace: str, key: str) -> Any:
        """A state key of a nested graph, as it was left."""
        found = self.saver.get_tuple(self._config(namespace)) if self.saver is not None else None
        return found.checkpoint["channel_values"].get(key) if found is not None else None

    async def aleft_in(self, namespace: str, key: str) -> Any:
        """As `left_in`."""
        found = await self.saver.aget_tuple(self._config(namespace)) if self.saver is not None else None
        return found.checkpoint["channel_values"].get(key) if found is not None else None

    def _kept_by(self) -> BaseCheckpointSaver[Any]:
        if self.saver is None:
            raise RuntimeError("the agent has no checkpointer")
        return self.saver

    def _config(self, namespace: str, checkpoint_id: str | None = None) -> RunnableConfig:
        configurable = {"thread_id": self.id, "checkpoint_ns": namespace}
        if checkpoint_id is not None:
            configurable["checkpoint_id"] = checkpoint_id
        return {"configurable": configurable}
