"""Chrysalid from Python, as docs/python.md shows it: one engine with its defaults, but a pool of sessions."""

from protocol import (
    CALLS,
    CALLS_IN_SEQUENCE,
    OBJECTS,
    ROWS,
    SUM_OF_CALLS,
    Stopwatch,
    expect,
    expect_objects,
    serve,
)

import chrysalid

KEY = chrysalid.Key.from_bytes(bytes(32))
engine = chrysalid.Engine(pool_slots=256, key=KEY)
without = chrysalid.Engine(pool_slots=8, key=KEY, checkpoint=False)
many = chrysalid.Limits(calls=CALLS)

idle = engine.session()
idle_without = without.session()
live = []


async def next(i: int) -> int:
    return i


tools = chrysalid.Toolset.of([next])
asking = chrysalid.Toolset.of([chrysalid.Tool(name="ask", description="Asks.")])


def fresh():
    with Stopwatch() as watch:
        value = engine.session().run("1+1").value
    expect(value, 2)
    return watch.seconds


def no_op():
    return _no_op(idle_without)


def no_op_checkpoint():
    return _no_op(idle)


def _no_op(session):
    with Stopwatch() as watch:
        value = session.run("0").value
    expect(value, 0)
    return watch.seconds


async def calls():
    session = engine.session(tools, limits=many)
    with Stopwatch() as watch:
        outcome = await session.arun(CALLS_IN_SEQUENCE.replace("next(", "tools.next("))
    expect(outcome.value, SUM_OF_CALLS)
    return watch.seconds


def objects():
    session = engine.session()
    with Stopwatch() as watch:
        value = session.run(OBJECTS).value
    expect_objects(value)
    return watch.seconds


def paused(source):
    session = engine.session(asking)
    outcome = session.run(source)
    return session, outcome.pending[0].id


WAITING = {
    "small": paused("const answer = await tools.ask({ question: 'go on?' }); answer"),
    "rows": paused(
        f"const rows = {ROWS % 1_000};\n"
        "const answer = await tools.ask({ question: 'go on?' });\n"
        "rows.length === 1000 ? answer : 'wrong'"
    ),
}
SAVED = {name: session.snapshot() for name, (session, _) in WAITING.items()}


def save(name):
    session, _ = WAITING[name]
    with Stopwatch() as watch:
        data = session.snapshot()
    return {"seconds": watch.seconds, "bytes": len(data)}


def restore(name):
    data, (_, call) = SAVED[name], WAITING[name]
    with Stopwatch() as watch:
        session = engine.restore(data, asking)
        session.settle(call, 42)
        outcome = session.resume()
    expect(outcome.value, 42)
    return watch.seconds


def make_live(count):
    for _ in range(count):
        session = engine.session()
        expect(session.run("1+1").value, 2)
        live.append(session)
    return 0


def program(source, patience):
    session = engine.session(limits=chrysalid.Limits(cpu_time=patience))
    with Stopwatch() as watch:
        outcome = session.run(source)
    return {"seconds": watch.seconds, "value": outcome.value}


serve(
    fresh=fresh,
    no_op=no_op,
    no_op_checkpoint=no_op_checkpoint,
    calls=calls,
    objects=objects,
    save_small=lambda: save("small"),
    restore_small=lambda: restore("small"),
    save_rows=lambda: save("rows"),
    restore_rows=lambda: restore("rows"),
    live=make_live,
    program=program,
)
