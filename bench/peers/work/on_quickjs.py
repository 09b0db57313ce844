"""The binding `quickjs`: QuickJS itself, compiled for the processor, with no sandbox around it.

Host functions answer at once; the program awaits what they answered. Objects come out as JSON, as its README shows.
"""

import json

from protocol import CALLS_IN_SEQUENCE, OBJECTS, SUM_OF_CALLS, Absent, Stopwatch, expect, expect_objects, serve

import quickjs

idle = quickjs.Context()
live = []


def fresh():
    with Stopwatch() as watch:
        context = quickjs.Context()
        value = context.eval("1+1")
        del context
    expect(value, 2)
    return watch.seconds


def no_op():
    with Stopwatch() as watch:
        value = idle.eval("0")
    expect(value, 0)
    return watch.seconds


def calls():
    context = quickjs.Context()
    context.add_callable("answer", lambda i: i)
    source = CALLS_IN_SEQUENCE.replace("next({ i })", "answer(i)").removesuffix("sum")
    with Stopwatch() as watch:
        context.eval(f"var done; (async () => {{ {source}; done = sum; }})(); 0")
        while context.execute_pending_job():
            pass
        value = context.eval("done")
    expect(value, SUM_OF_CALLS)
    return watch.seconds


def objects():
    context = quickjs.Context()
    with Stopwatch() as watch:
        value = json.loads(context.eval(OBJECTS).json())
    expect_objects(value)
    return watch.seconds


def saving():
    raise Absent("no snapshots")


def make_live(count):
    for _ in range(count):
        context = quickjs.Context()
        expect(context.eval("1+1"), 2)
        live.append(context)
    return 0


def program(source, patience):
    context = quickjs.Context()
    context.set_time_limit(patience)
    with Stopwatch() as watch:
        try:
            value = context.eval(source)
        except quickjs.JSException as error:
            if "interrupted" not in str(error):
                raise
            value = None
    return {"seconds": watch.seconds, "value": value}


serve(
    fresh=fresh,
    no_op=no_op,
    calls=calls,
    objects=objects,
    save_small=saving,
    restore_small=saving,
    save_rows=saving,
    restore_rows=saving,
    live=make_live,
    program=program,
)
