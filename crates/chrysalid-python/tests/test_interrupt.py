"""What stops a program from outside: Ctrl-C, other threads, signals in tools."""

import signal
import threading
import time
from typing import Any

import pytest

import chrysalid
from processes import python


def test_another_thread_interrupts_guest_code(engine: chrysalid.Engine) -> None:
    session = engine.session(limits=chrysalid.Limits(cpu_time=30))
    running = threading.Event()

    def interrupt() -> None:
        running.wait()
        session.interrupt()

    def begin() -> None:
        running.set()

    session.tools = [begin]
    thread = threading.Thread(target=interrupt)
    thread.start()
    outcome = session.run("globalThis.kept = 1; await tools.begin({}); for (;;) {}")
    thread.join()
    assert outcome.error is not None
    assert outcome.error.kind == "cancelled"
    assert session.run("kept").value == 1


def test_another_thread_interrupts_a_timer(session: chrysalid.Session) -> None:
    done: list[Any] = []
    thread = threading.Thread(target=lambda: done.append(session.run("await new Promise(f => setTimeout(f, 25_000))")))
    began = time.monotonic()
    thread.start()
    while not session._turns.taken or session.is_idle:
        time.sleep(0.001)
    session.interrupt()
    thread.join(20)
    assert done[0].error.kind == "cancelled"
    assert time.monotonic() - began < 15


def test_ctrl_c_in_a_tool(engine: chrysalid.Engine) -> None:
    def press() -> None:
        signal.raise_signal(signal.SIGINT)
        for _ in range(1000):
            time.sleep(0)

    session = engine.session([press])
    with pytest.raises(KeyboardInterrupt):
        session.run("globalThis.before = 1; await tools.press({}); globalThis.after = 1")
    assert session.is_idle
    assert session.run("[typeof before, typeof after]").value == ["number", "undefined"]


def test_ctrl_c_in_an_async_tool_of_the_synchronous_way(engine: chrysalid.Engine) -> None:
    import asyncio

    async def press() -> None:
        signal.raise_signal(signal.SIGINT)
        await asyncio.sleep(20)

    session = engine.session([press])
    with pytest.raises(KeyboardInterrupt):
        session.run("await tools.press({})")
    assert session.is_idle
    assert session.run("1").value == 1


def test_ctrl_c_in_a_predicate(engine: chrysalid.Engine) -> None:
    def press(argument: Any) -> bool:
        raise KeyboardInterrupt

    session = engine.session([chrysalid.Tool(lambda: 1, name="ask", ask_when=press)])
    with pytest.raises(KeyboardInterrupt):
        session.run("await tools.ask({})")
    assert session.is_idle
    assert session.run("1").value == 1


def test_a_tool_that_exits(engine: chrysalid.Engine) -> None:
    def leave() -> None:
        raise SystemExit(3)

    session = engine.session([leave])
    with pytest.raises(SystemExit):
        session.run("await tools.leave({})")
    assert session.run("1").value == 1


@pytest.mark.parametrize("call", ["session.run(code)", "asyncio.run(session.arun(code))"])
def test_ctrl_c_in_guest_code(call: str) -> None:
    process = python(
        f"""
        import asyncio, chrysalid
        engine = chrysalid.Engine(key=chrysalid.Key.generate(), limits=chrysalid.Limits(cpu_time=60))
        session = engine.session([chrysalid.Tool(lambda: print("running", flush=True), name="go")])
        code = "globalThis.n = 1; await tools.go({{}}); for (;;) {{}}"
        try:
            {call}
        except KeyboardInterrupt:
            print("stopped", session.is_idle, session.run("n + 1").value)
        """
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "running\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert out == "stopped True 2\n", err


def test_ctrl_c_while_waiting_for_a_turn() -> None:
    process = python(
        """
        import chrysalid, threading
        engine = chrysalid.Engine(key=chrysalid.Key.generate())
        hold, held = threading.Event(), threading.Event()
        def wait():
            held.set()
            hold.wait()
            return 1
        session = engine.session([wait])
        thread = threading.Thread(target=session.run, args=["await tools.wait({})"])
        thread.start()
        held.wait()
        try:
            print("waiting", flush=True)
            session.run("globalThis.ran = 1")
        except KeyboardInterrupt:
            hold.set()
            thread.join()
            print("stopped", session.run("typeof ran").value)
        """
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "waiting\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert out == "stopped undefined\n", err
