"""Programs on the caller's event loop."""

import asyncio
import contextvars
import functools
import gc
import sys
import threading
import time
import weakref
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

import chrysalid
from chrysalid import Limits, Tool

name: contextvars.ContextVar[str] = contextvars.ContextVar("name", default="nobody")


def on_a_loop(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Runs a test on an event loop of its own."""

    @functools.wraps(test)
    def run(**given: Any) -> None:
        asyncio.run(asyncio.wait_for(test(**given), 60))

    return run


@on_a_loop
async def test_c04_tools_run_on_the_callers_loop_with_its_context(engine: chrysalid.Engine) -> None:
    lock = asyncio.Lock()
    loop = asyncio.get_running_loop()
    thread = threading.current_thread()

    async def later() -> list[Any]:
        async with lock:
            await asyncio.sleep(0)
        return [name.get(), asyncio.get_running_loop() is loop, threading.current_thread() is thread]

    def now() -> list[Any]:
        return [name.get(), asyncio.get_running_loop() is loop, threading.current_thread() is thread]

    name.set("caller")
    outcome = await engine.session([later, now]).arun("[await tools.later({}), await tools.now({})]")
    assert outcome.value == [["caller", True, True], ["caller", True, True]]


def test_c04_the_synchronous_way_mixes_both_kinds(engine: chrysalid.Engine) -> None:
    thread = threading.current_thread()

    async def later(n: int) -> list[Any]:
        await asyncio.sleep(0)
        return [n, name.get(), threading.current_thread() is thread]

    def now(n: int) -> list[Any]:
        return [n, name.get(), threading.current_thread() is thread]

    token = name.set("sync")
    try:
        outcome = engine.session([later, now]).run("""
            const first = await tools.now({ n: 1 });
            const rest = await Promise.all([tools.later({ n: 2 }), tools.now({ n: 3 }), tools.later({ n: 4 })]);
            [first, ...rest, await tools.now({ n: 5 })]
        """)
    finally:
        name.reset(token)
    assert outcome.value == [[n, "sync", True] for n in range(1, 6)]


def test_the_synchronous_way_runs_async_tools_at_the_same_time(engine: chrysalid.Engine) -> None:
    arrived = []

    async def meet() -> int:
        arrived.append(1)
        while len(arrived) < 3:  # noqa: ASYNC110
            await asyncio.sleep(0)
        return len(arrived)

    assert engine.session([meet]).run("await Promise.all([1, 2, 3].map(() => tools.meet({})))").value == [3, 3, 3]


@on_a_loop
async def test_the_synchronous_way_within_a_loop_says_what_to_use(engine: chrysalid.Engine) -> None:
    async def later() -> int:
        return 1

    outcome = engine.session([later]).run("await tools.later({})")
    assert outcome.error is not None
    assert outcome.error.message == "TypeError: tool 'later' is async, and an event loop runs in this thread: use arun"


@on_a_loop
async def test_tools_run_at_the_same_time(engine: chrysalid.Engine) -> None:
    everybody = asyncio.Event()
    arrived: list[int] = []

    async def meet(n: int) -> int:
        arrived.append(n)
        if len(arrived) == 10:
            everybody.set()
        await everybody.wait()
        return n

    outcome = await engine.session([meet]).arun(
        "await Promise.all(Array.from({ length: 10 }, (_, n) => tools.meet({ n })))"
    )
    assert outcome.value == list(range(10))


@on_a_loop
async def test_answers_come_in_any_order(engine: chrysalid.Engine) -> None:
    gates = [asyncio.Event() for _ in range(3)]

    async def pass_gate(n: int) -> int:
        if n < 2:
            await gates[n + 1].wait()
        gates[n].set()
        return n

    code = """const order = [];
    await Promise.all([0, 1, 2].map(async n => order.push(await tools.pass_gate({ n })))); order"""
    assert (await engine.session([pass_gate]).arun(code)).value == [2, 1, 0]


@on_a_loop
async def test_c03_the_loop_stays_free(engine: chrysalid.Engine) -> None:
    gaps = []

    async def tick() -> None:
        last = time.perf_counter()
        while True:
            await asyncio.sleep(0.001)
            now = time.perf_counter()
            gaps.append(now - last)
            last = now

    def sync() -> int:
        return 1

    ticking = asyncio.create_task(tick())
    # Long enough for the ticks that are counted below: what comes after is soon over.
    session = engine.session(limits=Limits(cpu_time=1))
    outcome = await session.arun("for (;;) {}")
    assert outcome.error is not None
    assert outcome.error.kind == "timeout"
    await engine.session([sync], limits=Limits(calls=5000)).arun("for (let i = 0; i < 3000; i++) await tools.sync({})")
    for _ in range(50):
        await engine.session().arun("1")
        await asyncio.sleep(0)
    ticking.cancel()
    assert len(gaps) > 20
    assert max(gaps) < 0.3


@on_a_loop
async def test_a_cancelled_task_stops_program_and_tools(engine: chrysalid.Engine) -> None:
    began = asyncio.Event()
    ends: list[str] = []

    async def long() -> None:
        began.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ends.append("cancelled")
            raise

    session = engine.session([long])
    task = asyncio.create_task(session.arun("globalThis.before = 1; await tools.long({}); globalThis.after = 1"))
    await began.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ends == ["cancelled"]
    assert session.is_idle
    assert (await session.arun("[typeof before, typeof after]")).value == ["number", "undefined"]
    assert [call.status for call in session.calls] == ["unknown"]


@on_a_loop
async def test_cancelled_in_the_middle_of_guest_code(engine: chrysalid.Engine) -> None:
    session = engine.session()
    task = asyncio.create_task(session.arun("globalThis.n = 0; for (;;) n++"))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert session.is_idle
    assert (await session.arun("1 + 1")).value == 2


@on_a_loop
async def test_timeout(engine: chrysalid.Engine) -> None:
    session = engine.session()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await session.arun("for (;;) {}")
    assert (await session.arun("1 + 1")).value == 2
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(session.arun("await new Promise(() => setTimeout(() => 1, 20000))"), 0.05)
    assert (await session.arun("1 + 1")).value == 2


@on_a_loop
async def test_cancelled_before_it_began(engine: chrysalid.Engine) -> None:
    session = engine.session()
    task = asyncio.create_task(session.arun("1"))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await session.arun("2")).value == 2


@on_a_loop
async def test_programs_queue_in_order(engine: chrysalid.Engine) -> None:
    go = asyncio.Event()

    async def gate() -> None:
        await go.wait()

    session = engine.session([gate])
    first = asyncio.create_task(session.arun("globalThis.order = ['a']; await tools.gate({}); order.push('b')"))
    rest = [asyncio.create_task(session.arun(f"order.push({n}); order")) for n in range(5)]
    await asyncio.sleep(0)
    assert not any(task.done() for task in rest)
    go.set()
    await first
    outcomes = await asyncio.gather(*rest)
    assert outcomes[4].value == ["a", "b", 0, 1, 2, 3, 4]


@on_a_loop
async def test_cancelled_in_the_queue(engine: chrysalid.Engine) -> None:
    go = asyncio.Event()

    async def gate() -> None:
        await go.wait()

    session = engine.session([gate])
    first = asyncio.create_task(session.arun("globalThis.seen = []; await tools.gate({})"))
    rest = [asyncio.create_task(session.arun(f"seen.push({n})")) for n in range(4)]
    await asyncio.sleep(0)
    rest[0].cancel()
    rest[2].cancel()
    await asyncio.sleep(0)
    go.set()
    await asyncio.gather(first, rest[1], rest[3])
    assert [task.cancelled() for task in rest] == [True, False, True, False]
    assert (await session.arun("seen")).value == [1, 3]


@on_a_loop
async def test_cancelled_when_the_turn_was_given(engine: chrysalid.Engine) -> None:
    go = asyncio.Event()

    async def gate() -> None:
        await go.wait()

    session = engine.session([gate])
    for _ in range(20):
        go.clear()
        first = asyncio.create_task(session.arun("await tools.gate({})"))
        second = asyncio.create_task(session.arun("1"))
        third = asyncio.create_task(session.arun("2"))
        await asyncio.sleep(0)
        first.add_done_callback(functools.partial(lambda task, _: task.cancel(), second))
        go.set()
        assert (await third).value == 2
        await asyncio.gather(first, second, return_exceptions=True)
    assert session.is_idle


@on_a_loop
async def test_those_behind_a_pause_end_unrun(engine: chrysalid.Engine) -> None:
    session = engine.session([Tool(name="human")])
    first = asyncio.create_task(session.arun("await tools.human({})"))
    second = asyncio.create_task(session.arun("globalThis.ran = 1"))
    assert (await first).status == "paused"
    with pytest.raises(chrysalid.SessionPaused, match=r"1\.1 human"):
        await second
    session.settle("1.1", 5)
    assert (await session.aresume()).value == 5
    assert (await session.arun("typeof ran")).value == "undefined"


@on_a_loop
async def test_c09_a_tool_that_asks_for_its_own_session(engine: chrysalid.Engine) -> None:
    seen: list[str] = []
    holder: list[chrysalid.Session] = []

    async def inside() -> None:
        for attempt in (holder[0].arun("1"), holder[0].aresume()):
            try:
                await attempt
            except chrysalid.SessionBusy as error:
                seen.append(error.code)
        nested = asyncio.create_task(holder[0].arun("1"))
        try:
            await nested
        except chrysalid.SessionBusy as error:
            seen.append(error.code)
        try:
            await asyncio.to_thread(holder[0].run, "1")
        except chrysalid.SessionBusy as error:
            seen.append(error.code)

    def sync() -> None:
        try:
            holder[0].run("1")
        except chrysalid.SessionBusy as error:
            seen.append(error.code)

    holder.append(engine.session([inside, sync]))
    outcome = await holder[0].arun("await tools.inside({}); await tools.sync({}); 'fine'")
    assert outcome.value == "fine"
    assert seen == ["session_busy"] * 5
    assert holder[0].run("await tools.sync({}); 'again'").value == "again"
    assert seen == ["session_busy"] * 6


@on_a_loop
async def test_a_task_that_outlives_the_program_may_use_the_session(engine: chrysalid.Engine) -> None:
    over = asyncio.Event()
    tasks: list[asyncio.Task[Any]] = []
    holder: list[chrysalid.Session] = []

    async def background() -> Any:
        await over.wait()
        return (await holder[0].arun("'later'")).value

    async def spawn() -> None:
        tasks.append(asyncio.create_task(background()))

    holder.append(engine.session([spawn]))
    await holder[0].arun("await tools.spawn({})")
    over.set()
    assert await tasks[0] == "later"


@on_a_loop
async def test_a_tool_may_use_another_session(engine: chrysalid.Engine) -> None:
    inner = engine.session()

    async def other() -> Any:
        return (await inner.arun("40 + 2")).value

    assert (await engine.session([other]).arun("await tools.other({})")).value == 42


@on_a_loop
async def test_the_timeout_of_a_tool_cancels_its_task(engine: chrysalid.Engine) -> None:
    ends: list[str] = []

    async def slow() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ends.append("cancelled")
            raise

    async def deaf() -> str:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ends.append("deaf")
        return "too late"

    session = engine.session([Tool(slow, timeout=0.02), Tool(deaf, timeout=0.02)])
    code = """const seen = [];
    for (const call of [tools.slow, tools.deaf])
        try { await call({}) } catch (error) { seen.push(error.name, error.retryable) }
    seen"""
    assert (await session.arun(code)).value == ["ToolTimeout", True, "ToolTimeout", True]
    assert ends == ["cancelled", "deaf"]


@on_a_loop
async def test_concurrency_of_a_tool(engine: chrysalid.Engine) -> None:
    running = 0
    most = 0

    async def work() -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        running -= 1

    session = engine.session([Tool(work, concurrency=3)])
    await session.arun("await Promise.all(Array.from({ length: 20 }, () => tools.work({})))")
    assert most == 3
    session = engine.session([Tool(work)], limits=Limits(calls_in_flight=5))
    most = 0
    await session.arun("await Promise.all(Array.from({ length: 20 }, () => tools.work({})))")
    assert most == 5


@on_a_loop
async def test_a_tool_that_cancels_itself_fails_alone(engine: chrysalid.Engine) -> None:
    async def quits() -> None:
        raise asyncio.CancelledError

    async def gives_up() -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(0)

    session = engine.session([quits, gives_up])
    code = """const seen = [];
    for (const call of [tools.quits, tools.gives_up]) try { await call({}) } catch (error) { seen.push(error.message) }
    seen"""
    assert (await session.arun(code)).value == ["CancelledError: the tool was cancelled"] * 2


@on_a_loop
async def test_what_may_be_awaited(engine: chrysalid.Engine) -> None:
    loop = asyncio.get_running_loop()

    class Own:
        def __await__(self) -> Any:
            yield from asyncio.sleep(0).__await__()
            return "own"

    def future() -> asyncio.Future[str]:
        made: asyncio.Future[str] = loop.create_future()
        loop.call_soon(made.set_result, "future")
        return made

    def own() -> Own:
        return Own()

    def task() -> asyncio.Task[str]:
        return asyncio.create_task(asyncio.sleep(0, "task"))

    async def generator() -> Any:
        yield 1

    session = engine.session([future, own, task, Tool(generator, output_schema={})])
    assert (await session.arun("[await tools.future({}), await tools.own({}), await tools.task({})]")).value == [
        "future",
        "own",
        "task",
    ]
    error = (await session.arun("await tools.generator({})")).error
    assert error is not None
    assert "a value of type async_generator does not cross" in error.message


@on_a_loop
async def test_calls_that_nobody_awaits_end_before_the_program(engine: chrysalid.Engine) -> None:
    ends: list[int] = []

    async def work(n: int) -> None:
        await asyncio.sleep(0)
        ends.append(n)

    outcome = await engine.session([work]).arun("tools.work({ n: 1 }); tools.work({ n: 2 }); 'done'")
    assert outcome.value == "done"
    assert ends == [1, 2]


@on_a_loop
async def test_a_program_that_is_over_cancels_what_runs(engine: chrysalid.Engine) -> None:
    ends: list[str] = []

    async def long() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ends.append("cancelled")
            raise

    session = engine.session([long], limits=Limits(wall_time=0.05))
    error = (await session.arun("await tools.long({})")).error
    assert error is not None
    assert error.kind == "wall_timeout"
    assert ends == ["cancelled"]


@on_a_loop
async def test_interrupt_while_a_tool_runs(engine: chrysalid.Engine) -> None:
    began = asyncio.Event()

    async def long() -> None:
        began.set()
        await asyncio.Event().wait()

    session = engine.session([long])
    task = asyncio.create_task(session.arun("await tools.long({})"))
    await began.wait()
    threading.Thread(target=session.interrupt).start()
    outcome = await task
    assert outcome.error is not None
    assert outcome.error.kind == "cancelled"
    assert (await session.arun("1")).value == 1


def test_two_event_loops(engine: chrysalid.Engine) -> None:
    session = engine.session()
    session.run("globalThis.total = 0")
    errors: list[BaseException] = []

    async def main() -> None:
        await asyncio.gather(*(session.arun("total += 1") for _ in range(25)))

    def thread() -> None:
        try:
            asyncio.run(main())
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=thread) for _ in range(4)]
    for one in threads:
        one.start()
    for _ in range(25):
        session.run("total += 1")
    for one in threads:
        one.join()
    assert errors == []
    assert session.run("total").value == 125


def test_a_loop_that_is_gone_does_not_hold_the_queue(engine: chrysalid.Engine) -> None:
    session = engine.session()
    turns = session._turns
    turns.take()
    loop = asyncio.new_event_loop()
    waiting = loop.create_task(session.arun("1"))
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()
    turns.pass_on()
    assert session.run("2").value == 2
    waiting._log_destroy_pending = False  # type: ignore[attr-defined]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_coroutine_that_is_thrown_away_frees_the_session(engine: chrysalid.Engine) -> None:
    async def long() -> None:
        await asyncio.Event().wait()

    session = engine.session([long])
    loop = asyncio.new_event_loop()

    async def some() -> Any:
        running = session.arun("await tools.long({})")
        running.send(None)
        await asyncio.sleep(0)
        running.close()
        return None

    loop.run_until_complete(some())
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()
    assert session.is_idle
    assert session.run("1").value == 1


@on_a_loop
async def test_nothing_is_left_behind(engine: chrysalid.Engine) -> None:
    async def later(n: int) -> int:
        await asyncio.sleep(0)
        return n

    session = engine.session([later])
    gone = weakref.ref(session)
    await session.arun("await Promise.all([1, 2, 3].map(n => tools.later({ n })))")
    assert len(asyncio.all_tasks()) <= 2
    del session
    # Callbacks of its last tasks are still due.
    await asyncio.sleep(0)
    gc.collect()
    assert gone() is None


@on_a_loop
async def test_no_thread_is_made(engine: chrysalid.Engine) -> None:
    before = threading.active_count()

    async def later() -> int:
        return threading.active_count()

    def now() -> int:
        return threading.active_count()

    outcome = await engine.session([later, now]).arun("[await tools.later({}), await tools.now({})]")
    assert outcome.value == [before, before]


@on_a_loop
async def test_a_thousand_calls(engine: chrysalid.Engine) -> None:
    async def one(n: int) -> int:
        return n

    session = engine.session([one], limits=Limits(calls=3000))
    code = "let sum = 0; for (let n = 0; n < 1000; n++) sum += await tools.one({ n }); sum"
    assert (await session.arun(code)).value == 499500
    code = "(await Promise.all(Array.from({ length: 1000 }, (_, n) => tools.one({ n })))).length"
    assert (await session.arun(code)).value == 1000


@pytest.mark.skipif(sys.version_info < (3, 12), reason="tasks that begin at once are newer")
@on_a_loop
async def test_a_task_factory_is_respected(engine: chrysalid.Engine) -> None:
    made: list[Any] = []
    loop = asyncio.get_running_loop()

    def factory(loop: Any, coroutine: Any, **more: Any) -> Any:
        made.append(coroutine)
        return asyncio.Task(coroutine, loop=loop, **more)

    async def later() -> int:
        await asyncio.sleep(0)
        return 1

    loop.set_task_factory(factory)
    assert (await engine.session([later]).arun("await tools.later({})")).value == 1
    assert made
