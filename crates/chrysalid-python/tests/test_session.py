"""Sessions: programs in order, what stays between them, and what a caller sees."""

import gc
import weakref
from typing import Any

import pytest

import chrysalid
from stepping import step, step_to_calls


def test_the_example_of_the_package(engine: chrysalid.Engine) -> None:
    def add(a: int, b: int) -> int:
        return a + b

    outcome = engine.session([add]).run("await tools.add({ a: 40, b: 2 })")
    assert (outcome.status, outcome.value, outcome.rendered, outcome.is_data) == ("done", 42, "42", True)
    assert [(call.id, call.name, call.status) for call in outcome.calls] == [("1.1", "add", "completed")]
    assert outcome.calls[0].duration is not None
    assert outcome.calls[0].line == 1
    assert (outcome.pending, outcome.error, outcome.wake_at, outcome.heap) == ([], None, None, "intact")
    assert repr(outcome) == "Outcome(done, 42)"
    assert outcome.json() == "42"


def test_the_heap_stays(session: chrysalid.Session) -> None:
    session.run("let count = 1; const add = n => count += n")
    assert session.run("add(4)").value == 5
    assert session.run("count").value == 5
    assert session.is_idle
    assert not session.is_lost


def test_sessions_are_apart(engine: chrysalid.Engine) -> None:
    one, two = engine.session(), engine.session()
    one.run("globalThis.secret = 's1'; Object.prototype.p = 1; Math.random = () => 4")
    assert two.run("[typeof secret, ({}).p, Math.random() === 4].join()").value == "undefined,,false"
    assert one.id != two.id


def test_logs_and_report(session: chrysalid.Session) -> None:
    outcome = session.run("console.log('a', 1); console.error({ b: 2 }); 'value'")
    assert [(line.level, line.text) for line in outcome.logs] == [("log", "a 1"), ("error", "{ b: 2 }")]
    assert outcome.logs[0] == session.run("console.log('a', 1)").logs[0]
    assert outcome.logs[0] != outcome.logs[1]
    report = outcome.report()
    assert "a 1" in report
    assert "value" in report
    long = session.run("'x'.repeat(20000)")
    assert len(long.report(budget=500)) <= 500


def test_the_value_is_made_once(session: chrysalid.Session) -> None:
    outcome = session.run("({ a: [1] })")
    assert outcome.value is outcome.value


def test_json(session: chrysalid.Session) -> None:
    assert session.run("({ a: [1, null], d: new Date(0) })").json() == '{"a":[1,null],"d":"1970-01-01T00:00:00.000Z"}'
    with pytest.raises(chrysalid.ValueRefused):
        session.run("const o = {}; o.o = o; o").json()


def test_clock_and_seed(engine: chrysalid.Engine) -> None:
    code = "[Date.now(), Math.random()]"
    one = engine.session(clock=1.5, seed=7).run(code).value
    assert one[0] == 1500
    assert one == engine.session(clock=1.5, seed=7).run(code).value
    assert one[1] != engine.session(clock=1.5, seed=8).run(code).value[1]
    assert engine.session().run("Math.random()").value != engine.session().run("Math.random()").value


def test_modules(engine: chrysalid.Engine) -> None:
    session = engine.session(modules={"text": "export const slug = text => text.toLowerCase().replace(' ', '-')"})
    assert session.run("import { slug } from 'text'; slug('Hello World')").value == "hello-world"
    assert session.run("slug('A B')").value == "a-b"
    error = session.run("import { slug } from 'other'; 1").error
    assert error is not None
    assert "other" in error.message
    assert "text" in error.message


def test_w16_modules_that_a_function_finds(engine: chrysalid.Engine) -> None:
    asked = []

    def find(key: str) -> str | None:
        asked.append(key)
        return {"@/a.js": "import { b } from './b.js'; export const a = b + 1", "@/b.js": "export const b = 1"}.get(key)

    async def find_later(key: str) -> str | None:
        return find(key)

    for modules in (find, find_later, chrysalid.Modules(find, names=["@/a.js"])):
        asked.clear()
        session = engine.session(modules=modules)
        assert session.run("import { a } from '@/a.js'; a").value == 2
        assert session.run("import { b } from '@/b.js'; b").value == 1
        assert asked == ["@/a.js", "@/b.js"]
        outcome = session.run("import { c } from '@/c.js'; c")
        assert outcome.status == "failed"

    def broken(key: str) -> str:
        raise OSError(2, "No such file", f"/home/me/{key}")

    error = engine.session(modules=broken).run("import 'x'").error
    assert error is not None
    assert error.message == 'module "x": FileNotFoundError: No such file'
    error = engine.session().run("import 'x'").error
    assert error is not None


def test_tools_can_be_replaced(engine: chrysalid.Engine) -> None:
    def one() -> int:
        return 1

    def two() -> int:
        return 2

    session = engine.session([one])
    session.run("const kept = tools.one")
    assert [item.name for item in session.tools] == ["one"]
    session.tools = [two]
    assert [item.name for item in session.tools] == ["two"]
    assert session.run("await tools.two({})").value == 2
    error = session.run("await kept({})").error
    assert error is not None
    assert error.name == "ToolUnavailable"


def test_a_tool_without_a_function_waits_outside(engine: chrysalid.Engine) -> None:
    session = engine.session([chrysalid.Tool(name="human")])
    outcome = session.run("const answer = await tools.human({ q: 'name?' }); answer.toUpperCase()")
    assert outcome.status == "paused"
    (pending,) = outcome.pending
    assert (pending.name, pending.status, pending.arguments, pending.path) == (
        "human",
        "outside",
        {"q": "name?"},
        "tools.human",
    )
    assert session.source == "const answer = await tools.human({ q: 'name?' }); answer.toUpperCase()"
    session.settle(pending.id, "ann")
    assert session.resume().value == "ANN"
    outcome = session.run(
        "try { await tools.human({}) } catch (error) { [error.name, error.message, error.retryable] }"
    )
    session.fail(outcome.pending[0].id, "nobody there", name="Absent", retryable=True)
    assert session.resume().value == ["Absent", "nobody there", True]


def test_the_step_machine(engine: chrysalid.Engine) -> None:
    def never(n: int) -> int:
        raise AssertionError("the step machine runs no tools")

    session = engine.session([never])
    session.start("const [a, b] = await Promise.all([tools.never({ n: 1 }), tools.never({ n: 2 })]); a + b")
    assert [(call.id, call.name, call.arguments) for call in step_to_calls(session, 2)] == [
        ("1.1", "never", {"n": 1}),
        ("1.2", "never", {"n": 2}),
    ]
    assert step(session).kind == "wait"
    session.settle("1.2", 20)
    assert step(session).kind == "wait"
    session.settle("1.1", 1)
    with pytest.raises(chrysalid.AlreadyDecided):
        session.settle("1.1", 2)
    end = step(session)
    assert end.kind == "ended"
    assert end.outcome is not None
    assert end.outcome.value == 21
    assert [call.status for call in session.calls] == ["completed", "completed"]


def test_timers_end_the_wait(session: chrysalid.Session) -> None:
    assert session.run("await new Promise(done => setTimeout(done, 20)); 'later'").value == "later"


def test_a_far_timer_pauses(engine: chrysalid.Engine) -> None:
    session = engine.session(park_after=1)
    outcome = session.run("await new Promise(done => setTimeout(done, 3600_000)); 'woken'")
    assert outcome.status == "paused"
    assert outcome.pending == []
    assert outcome.wake_at is not None
    end = step(session, now=outcome.wake_at + 1)
    assert end.outcome is not None
    assert end.outcome.value == "woken"


def test_sessions_are_freed(engine: chrysalid.Engine) -> None:
    def tool_of(session: chrysalid.Session) -> Any:
        def again() -> str:
            return session.id

        return again

    session = engine.session()
    gone = weakref.ref(session)
    session.run("globalThis.x = 1")
    del session
    assert gone() is None
    # A cycle through its own tool.
    session = engine.session()
    session.tools = [tool_of(session)]
    assert session.run("await tools.again({})").value == session.id
    gone = weakref.ref(session)
    del session
    gc.collect()
    assert gone() is None


def test_a_paused_session_can_be_let_go(engine: chrysalid.Engine) -> None:
    session = engine.session([chrysalid.Tool(name="human")])
    assert session.run("await tools.human({})").status == "paused"
    gone = weakref.ref(session)
    del session
    assert gone() is None


def test_interrupt_without_a_program_does_nothing(session: chrysalid.Session) -> None:
    session.interrupt()
    assert session.run("1").value == 1
    session.interrupt()
    assert session.run("2").value == 2


def test_interrupt_of_a_paused_program(engine: chrysalid.Engine) -> None:
    session = engine.session([chrysalid.Tool(name="human")])
    session.run("await tools.human({})")
    session.interrupt()
    outcome = session.resume()
    assert outcome.error is not None
    assert (outcome.status, outcome.error.kind) == ("failed", "cancelled")
    assert session.run("1").value == 1


def test_a_paused_session_refuses_programs(engine: chrysalid.Engine) -> None:
    session = engine.session([chrysalid.Tool(name="human")])
    session.run("await tools.human({})")
    with pytest.raises(chrysalid.SessionPaused, match=r"waits for: 1\.1 human"):
        session.run("1")
    assert session.resume().status == "paused"


def test_repr(engine: chrysalid.Engine, session: chrysalid.Session) -> None:
    assert repr(session) == f"Session({session.id!r})"
    assert repr(engine) == "Engine(memory=67108864)"
    assert repr(chrysalid.Tool(name="t")) == "Tool('t')"
    assert repr(chrysalid.Limits()) == "Limits()"
    assert repr(chrysalid.Limits(memory=5 << 20, wall_time=2)) == "Limits(memory=5242880, wall_time=2)"
