"""pydantic-monty, as its README shows it: a pool of worker processes, sessions checked out of it. Programs are Python."""

from protocol import CALLS, SUM_OF_CALLS, Absent, Stopwatch, expect, expect_objects, serve, zipped

from pydantic_monty import AsyncMonty, Monty

pool = Monty(max_processes=200).__enter__()
idle = pool.checkout().__enter__()
live = []

CALLS_IN_SEQUENCE = f"""
total = 0
for i in range({CALLS}):
    total += await tool(i)
total
"""

ROWS = "[{'id': n, 'name': f'row {n}', 'done': False} for n in range(%d)]"


def fresh():
    with Stopwatch() as watch:
        with pool.checkout() as session:
            value = session.feed_run("1+1")
    expect(value, 2)
    return watch.seconds


def no_op():
    with Stopwatch() as watch:
        value = idle.feed_run("0")
    expect(value, 0)
    return watch.seconds


async def calls():
    async def tool(i):
        return i

    async with AsyncMonty() as workers:
        async with workers.checkout() as session:
            await session.feed_run("0")
            with Stopwatch() as watch:
                value = await session.feed_run(CALLS_IN_SEQUENCE, external_lookup={"tool": tool})
    expect(value, SUM_OF_CALLS)
    return watch.seconds


def objects():
    with pool.checkout() as session:
        with Stopwatch() as watch:
            value = session.feed_run(ROWS % 10_000)
    expect_objects(value)
    return watch.seconds


def paused(source):
    session = pool.checkout().__enter__()
    return session.feed_start(source, external_lookup={"ask": lambda question: None})


WAITING = {
    "small": paused("answer = ask('go on?')\nanswer"),
    "rows": paused(f"rows = {ROWS % 1_000}\nanswer = ask('go on?')\nanswer if len(rows) == 1000 else 'wrong'"),
}
SAVED = {name: snapshot.dump() for name, snapshot in WAITING.items()}


def save(name):
    with Stopwatch() as watch:
        data = WAITING[name].dump()
    return {"seconds": watch.seconds, "bytes": len(data)} | zipped(data)


def restore(name):
    with Stopwatch() as watch:
        with pool.checkout() as session:
            done = session.load_snapshot(SAVED[name]).resume({"return_value": 42})
    expect(done.output, 42)
    return watch.seconds


def make_live(count):
    for _ in range(count):
        session = pool.checkout().__enter__()
        expect(session.feed_run("1+1"), 2)
        live.append(session)
    return 0


def program(source, patience):
    raise Absent("its programs are Python")


serve(
    fresh=fresh,
    no_op=no_op,
    calls=calls,
    objects=objects,
    save_small=lambda: save("small"),
    restore_small=lambda: restore("small"),
    save_rows=lambda: save("rows"),
    restore_rows=lambda: restore("rows"),
    live=make_live,
    program=program,
)
