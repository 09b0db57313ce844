"""Processes that are made by ``fork``, and processes at their end."""

import multiprocessing
import os
import sys
import threading
from typing import Any

import pytest

import chrysalid
from processes import output_of, python

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork"),
    pytest.mark.filterwarnings("ignore:.*use of fork.*:DeprecationWarning"),
]


def forked(work: Any) -> str:
    """What a child says, which ends without cleaning up after this process."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(write, str(work()).encode())
        except BaseException as error:
            os.write(write, f"{type(error).__name__}: {error}".encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return said


def test_an_engine_made_before_works_in_the_child(engine: chrysalid.Engine) -> None:
    engine.session().run("1")
    assert forked(lambda: engine.session().run("40 + 2").value) == "42"
    assert engine.session().run("1 + 1").value == 2


def test_limits_of_time_hold_in_the_child(engine: chrysalid.Engine) -> None:
    def loop() -> Any:
        session = engine.session(limits=chrysalid.Limits(cpu_time=0.1))
        error = session.run("for (;;) {}").error
        return error and error.kind

    assert forked(loop) == "timeout"


def test_a_session_made_before_goes_on_in_both(engine: chrysalid.Engine) -> None:
    session = engine.session()
    session.run("globalThis.n = 1")
    assert forked(lambda: session.run("n += 10").value) == "11"
    assert session.run("n += 1").value == 2


def test_with_threads_in_both(engine: chrysalid.Engine) -> None:
    stop = threading.Event()

    def busy() -> None:
        while not stop.is_set():
            engine.session().run("1")

    def child() -> Any:
        answers: list[Any] = []
        threads = [
            threading.Thread(target=lambda: answers.append(engine.session().run("21 * 2").value)) for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return answers

    threads = [threading.Thread(target=busy) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(10):
            assert forked(child) == "[42, 42, 42, 42]"
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def test_in_the_middle_of_a_program(engine: chrysalid.Engine) -> None:
    def fork() -> str:
        return forked(lambda: engine.session().run("6 * 7").value)

    assert engine.session([fork]).run("await tools.fork({}) + '!'").value == "42!"


def test_a_child_of_a_child(engine: chrysalid.Engine) -> None:
    assert forked(lambda: forked(lambda: engine.session().run("'deep'").value)) == "deep"


def run(code: str) -> Any:
    return ENGINE.session().run(code).value


ENGINE = chrysalid.Engine(key=chrysalid.Key.from_bytes(bytes(32)))


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing(method: str) -> None:
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map(run, [f"{n} * 2" for n in range(6)]) == [0, 2, 4, 6, 8, 10]


def test_with_a_pool_of_memory() -> None:
    engine = chrysalid.Engine(key=chrysalid.Key.generate(), pool_slots=4)
    engine.session().run("1")
    assert forked(lambda: [engine.session().run("7").value for _ in range(10)]) == str([7] * 10)


def test_the_end_of_a_process_with_everything_open() -> None:
    assert (
        output_of(
            """
            import chrysalid, threading, sys
            engine = chrysalid.Engine(key=chrysalid.Key.generate())
            session = engine.session([chrysalid.Tool(name="human")])
            session.run("await tools.human({})")
            other = engine.session()
            other.start("for (;;) {}")
            other.step()
            class Late:
                def __del__(self):
                    print("late", self.session.run("1").value)
            late = Late()
            late.session = engine.session()
            sys.late = late
            print("end")
            """
        ).splitlines()[0]
        == "end"
    )


def test_a_daemon_thread_in_guest_code_at_the_end() -> None:
    process = python(
        """
        import chrysalid, threading
        engine = chrysalid.Engine(key=chrysalid.Key.generate(), limits=chrysalid.Limits(cpu_time=30))
        begun = threading.Event()
        session = engine.session([chrysalid.Tool(lambda: begun.set(), name="begin")])
        threading.Thread(target=session.run, args=["await tools.begin({}); for (;;) {}"], daemon=True).start()
        begun.wait()
        print("end")
        """
    )
    out, err = process.communicate(timeout=20)
    assert (out, process.returncode) == ("end\n", 0), err


@pytest.mark.skipif(sys.version_info < (3, 12), reason="subinterpreters of this kind are newer")
def test_a_subinterpreter_is_refused_cleanly() -> None:
    out = output_of(
        """
        try:
            import _interpreters as interpreters
        except ImportError:
            import _xxsubinterpreters as interpreters
        made = interpreters.create()
        try:
            failed = interpreters.run_string(made, "import chrysalid")
            print("refused" if failed else "imported")
        except Exception as error:
            print("refused")
        """
    )
    assert out in ("refused", "imported")
