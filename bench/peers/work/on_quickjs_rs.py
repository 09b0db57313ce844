"""quickjs-rs, as its README shows it: a runtime, a context, registered functions, `eval` and `eval_async`.

Its README calls each context an instance of its own, so one runtime serves them all. It takes no snapshot while a call waits.
"""

from protocol import CALLS_IN_SEQUENCE, OBJECTS, SUM_OF_CALLS, Absent, Stopwatch, expect, expect_objects, serve

import quickjs_rs

runtime = quickjs_rs.Runtime()
idle = runtime.new_context()
live = []


def fresh():
    with Stopwatch() as watch:
        with runtime.new_context() as context:
            value = context.eval("1+1")
    expect(value, 2)
    return watch.seconds


def no_op():
    with Stopwatch() as watch:
        value = idle.eval("0")
    expect(value, 0)
    return watch.seconds


async def calls():
    with runtime.new_context(timeout=60) as context:

        @context.function
        async def next(argument):
            return argument["i"]

        with Stopwatch() as watch:
            value = await context.eval_async(CALLS_IN_SEQUENCE)
    expect(value, SUM_OF_CALLS)
    return watch.seconds


def objects():
    with runtime.new_context(timeout=120) as context:
        with Stopwatch() as watch:
            value = context.eval(OBJECTS)
    expect_objects(value)
    return watch.seconds


def waiting():
    raise Absent("no snapshot while a call waits")


def make_live(count):
    for _ in range(count):
        context = runtime.new_context()
        expect(context.eval("1+1"), 2)
        live.append(context)
    return 0


def program(source, patience):
    with runtime.new_context(timeout=patience) as context:
        with Stopwatch() as watch:
            try:
                value = context.eval(source)
            except quickjs_rs.TimeoutError:
                value = None
    return {"seconds": watch.seconds, "value": value}


serve(
    fresh=fresh,
    no_op=no_op,
    calls=calls,
    objects=objects,
    save_small=waiting,
    restore_small=waiting,
    save_rows=waiting,
    restore_rows=waiting,
    live=make_live,
    program=program,
)
