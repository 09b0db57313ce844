"""Sessions and engines used by several threads."""

import contextvars
import queue
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import chrysalid


def in_a_thread(function: Any, *arguments: Any) -> Any:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function, *arguments).result(30)


def test_c05_any_thread_may_use_a_session(engine: chrysalid.Engine) -> None:
    session = in_a_thread(engine.session, [chrysalid.Tool(name="human")])
    outcome = in_a_thread(session.run, "const n = await tools.human({}); n + 1")
    assert outcome.status == "paused"
    session.settle(outcome.pending[0].id, 41)
    assert in_a_thread(session.resume).value == 42
    in_a_thread(session.__class__.snapshot, session)


def test_the_gil_is_released_while_the_guest_runs(engine: chrysalid.Engine) -> None:
    session = engine.session()
    running = threading.Event()
    progress = 0

    def count() -> None:
        nonlocal progress
        while running.is_set():
            progress += 1
            time.sleep(0)

    def begin() -> None:
        running.set()
        thread.start()

    session.tools = [begin]
    thread = threading.Thread(target=count)
    code = "await tools.begin({}); const end = Date.now() + 200; let n = 0; while (Date.now() < end) n++; n > 0"
    assert session.run(code).value is True
    seen = progress
    running.clear()
    thread.join()
    # With the lock held it would get one turn every 10 ms at most.
    assert seen > 200


def test_tools_run_in_the_thread_of_the_caller(engine: chrysalid.Engine) -> None:
    before = threading.active_count()

    def who() -> list[Any]:
        return [threading.current_thread().name, threading.active_count()]

    session = engine.session([who])
    assert session.run("await tools.who({})").value == [threading.current_thread().name, before]
    name, count = in_a_thread(lambda: session.run("await tools.who({})").value)
    assert name.startswith("ThreadPoolExecutor")
    assert count == before + 1


def test_context_variables_are_seen(engine: chrysalid.Engine) -> None:
    user: contextvars.ContextVar[str] = contextvars.ContextVar("user")

    def who() -> str:
        return user.get()

    session = engine.session([who, chrysalid.Tool(lambda: 1, name="ask", ask_when=lambda _: user.get() == "ann")])
    for name in ("ann", "ben"):
        context = contextvars.copy_context()
        context.run(user.set, name)
        assert context.run(session.run, "await tools.who({})").value == name
        outcome = context.run(session.run, "await tools.ask({})")
        assert outcome.status == ("paused" if name == "ann" else "done")
        if outcome.pending:
            session.approve(outcome.pending[0].id)
            context.run(session.resume)


def test_programs_of_many_threads_queue(engine: chrysalid.Engine) -> None:
    session = engine.session()
    session.run("globalThis.n = 0")
    with ThreadPoolExecutor(8) as pool:
        for _ in pool.map(lambda _: session.run("const seen = n; n = seen + 1"), range(200)):
            pass
    assert session.run("n").value == 200


def test_turns_are_fair(engine: chrysalid.Engine) -> None:
    hold = threading.Event()
    held = threading.Event()

    def gate() -> None:
        held.set()
        hold.wait()

    session = engine.session([gate])
    threads = [threading.Thread(target=session.run, args=["globalThis.order = []; await tools.gate({})"])]
    threads[0].start()
    held.wait()
    for number in range(5):
        threads.append(threading.Thread(target=session.run, args=[f"order.push({number})"]))
        threads[-1].start()
        while len(session._turns._waiting) <= number:
            time.sleep(0.001)
    hold.set()
    for thread in threads:
        thread.join()
    assert session.run("order").value == [0, 1, 2, 3, 4]


def test_reading_while_another_thread_steps(engine: chrysalid.Engine) -> None:
    session = engine.session(limits=chrysalid.Limits(cpu_time=20))
    session.run("globalThis.n = 0")
    outcomes: queue.Queue[Any] = queue.Queue()
    thread = threading.Thread(target=lambda: outcomes.put(session.run("for (;;) n++")))
    thread.start()
    while session.is_idle:
        time.sleep(0.001)
    for _ in range(50):
        assert session.pending == []
        assert session.calls == []
        assert session.source == "for (;;) n++"
        assert session.cpu_time >= 0
        assert not session.is_idle
    while True:
        # Before its first step the guest is not in the middle of a job.
        try:
            session.snapshot()
        except chrysalid.Busy:
            break
    session.interrupt()
    thread.join()
    assert outcomes.get().error.kind == "cancelled"
    assert session.run("n > 0").value is True


def test_a_look_waits_for_one_slice_at_most(engine: chrysalid.Engine) -> None:
    session = engine.session(limits=chrysalid.Limits(cpu_time=60))
    thread = threading.Thread(target=session.run, args=["for (;;);"])
    thread.start()
    while session.is_idle:
        time.sleep(0.001)
    began = session.cpu_time
    for _ in range(200):
        assert not session.is_idle
    # A slice is ten milliseconds; each look may meet one, and whatever runs once between two looks.
    assert session.cpu_time - began < 200 * 0.025
    session.interrupt()
    thread.join()


def test_a_predicate_that_asks_its_own_session(engine: chrysalid.Engine) -> None:
    seen: list[str] = []
    holder: list[chrysalid.Session] = []

    def ask(argument: Any) -> bool:
        for use in (lambda: holder[0].pending, holder[0].snapshot, holder[0].step, lambda: holder[0].run("1")):
            try:
                use()
            except chrysalid.SessionBusy as error:
                seen.append(error.code)
        return False

    holder.append(engine.session([chrysalid.Tool(lambda: 5, name="go", ask_when=ask)]))
    assert holder[0].run("await tools.go({})").value == 5
    assert seen == ["session_busy"] * 4


def test_two_threads_do_not_step_at_once(engine: chrysalid.Engine) -> None:
    session = engine.session(limits=chrysalid.Limits(cpu_time=20))
    session.start("for (;;) {}")
    busy = 0
    stop = threading.Event()
    unexpected: list[BaseException] = []

    def step() -> None:
        nonlocal busy
        while not stop.is_set():
            try:
                if session.step().outcome is not None:
                    return
            except chrysalid.SessionBusy:
                busy += 1
            except chrysalid.NotRunning:
                return
            except BaseException as error:
                unexpected.append(error)
                return

    threads = [threading.Thread(target=step) for _ in range(4)]
    for thread in threads:
        thread.start()
    while not busy:
        time.sleep(0.001)
    session.interrupt()
    for thread in threads:
        thread.join()
    stop.set()
    assert unexpected == []
    assert session.is_idle


def test_many_sessions_of_one_engine_in_many_threads(engine: chrysalid.Engine) -> None:
    def work(number: int) -> Any:
        session = engine.session([chrysalid.Tool(lambda n: n * 2, name="double")])
        return session.run(
            f"let sum = 0; for (let i = 0; i < 10; i++) sum += await tools.double({{ n: {number} }}); sum"
        ).value

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(100))) == [number * 20 for number in range(100)]
