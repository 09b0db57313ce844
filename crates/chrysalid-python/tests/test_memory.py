"""What is left when sessions, outcomes and failures are gone."""

import asyncio
import gc
import sys
import weakref
from pathlib import Path
from typing import Any

import pytest

import chrysalid

pytestmark = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from Linux's /proc")


def resident() -> int:
    """Bytes of this process that are in memory."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096


def growth(work: Any, rounds: int, warm: int) -> int:
    for _ in range(warm):
        work()
    gc.collect()
    before = resident()
    for _ in range(rounds):
        work()
    gc.collect()
    return resident() - before


def test_ten_thousand_sessions(engine: chrysalid.Engine) -> None:
    tools = chrysalid.Toolset([chrysalid.Tool(lambda v: v, name="echo")])

    def work() -> None:
        engine.session(tools).run("await tools.echo({ v: [1, 'x'.repeat(1000)] })")

    assert growth(work, 10_000, 500) < 8 << 20


def test_paused_and_restored_sessions(engine: chrysalid.Engine) -> None:
    tools = chrysalid.Toolset([chrysalid.Tool(name="human")])
    session = engine.session(tools)
    session.run("await tools.human({})")
    data = session.snapshot()

    def work() -> None:
        again = engine.restore(data, tools)
        again.settle("1.1", 5)
        again.resume()
        again.snapshot()

    assert growth(work, 1000, 100) < 8 << 20


def test_values_that_do_not_cross(engine: chrysalid.Engine) -> None:
    class Big:
        def __init__(self) -> None:
            self.data = bytearray(100_000)

    made: list[weakref.ref[Big]] = []

    def give() -> Any:
        big = Big()
        made.append(weakref.ref(big))
        return [1, {"x": big}]

    session = engine.session([give])

    def work() -> None:
        session.run("try { await tools.give({}) } catch {}")

    assert growth(work, 300, 50) < 8 << 20
    assert not any(ref() for ref in made)


def test_cancelled_programs(engine: chrysalid.Engine) -> None:
    async def long() -> None:
        await asyncio.Event().wait()

    tools = chrysalid.Toolset([long])

    async def main() -> int:
        async def once() -> None:
            session = engine.session(tools)
            task = asyncio.create_task(session.arun("await tools.long({})"))
            for _ in range(4):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

        for _ in range(100):
            await once()
        gc.collect()
        before = resident()
        for _ in range(1000):
            await once()
        gc.collect()
        assert len(asyncio.all_tasks()) == 1
        return resident() - before

    assert asyncio.run(main()) < 8 << 20


def test_references_are_given_back(engine: chrysalid.Engine) -> None:
    marker = object()
    shared: list[Any] = [marker]
    counted = sys.getrefcount(marker)
    holder = {"x": "text"}
    held = sys.getrefcount(holder)

    def give() -> Any:
        return holder

    def refuse() -> Any:
        return shared

    session = engine.session([give, refuse])
    for _ in range(50):
        session.run("await tools.give({}); try { await tools.refuse({}) } catch {}")
    gc.collect()
    assert sys.getrefcount(marker) == counted
    assert sys.getrefcount(holder) <= held + 2


class Service:
    def __init__(self) -> None:
        self.session: chrysalid.Session | None = None

    def ask(self) -> int:
        return 1

    def asks(self, argument: Any) -> bool:
        return self.session is None


def test_tools_go_with_their_session(engine: chrysalid.Engine) -> None:
    service = Service()
    gone = weakref.ref(service)
    session = engine.session([service.ask])
    assert session.run("await tools.ask({})").value == 1
    del session, service
    gc.collect()
    assert gone() is None


def test_a_predicate_that_knows_its_session_goes(engine: chrysalid.Engine) -> None:
    service = Service()
    service.session = engine.session([chrysalid.Tool(service.ask, ask_when=service.asks)])
    assert service.session.run("await tools.ask({})").value == 1
    gone = weakref.ref(service.session)
    del service
    gc.collect()
    assert gone() is None


def test_engines_go() -> None:
    def work() -> None:
        chrysalid.Engine(key=chrysalid.Key.from_bytes(bytes(32))).session().run("1")

    assert growth(work, 20, 5) < 8 << 20
