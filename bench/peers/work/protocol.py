"""One side of `cargo xtask bench --peers`: a process that does work when it is asked, as bench/src/beside/side.rs describes it.

A side is a dictionary of functions by the work's name. Most do the work once and return the seconds that it took; what has to
be made ready beforehand stands outside of the measured time.
"""

import asyncio
import gzip
import inspect
import json
import sys
import time

ROWS = "Array.from({ length: %d }, (_, id) => ({ id, name: `row ${id}`, done: false }))"
OBJECTS = ROWS % 10_000
CALLS = 1_000

CALLS_IN_SEQUENCE = """
let sum = 0;
for (let i = 0; i < 1000; i++) sum += await next({ i });
sum"""

SUM_OF_CALLS = CALLS * (CALLS - 1) // 2


class Absent(Exception):
    """A peer cannot do this; the text says why."""


class Stopwatch:
    """Seconds of a `with` block."""

    def __enter__(self):
        self.began = time.perf_counter_ns()
        return self

    def __exit__(self, *_):
        self.seconds = (time.perf_counter_ns() - self.began) / 1e9


def expect(value, wanted):
    if value != wanted:
        raise AssertionError(f"{value!r}, not {wanted!r}")


def expect_objects(rows):
    expect(len(rows), 10_000)
    expect(rows[9_999], {"id": 9_999, "name": "row 9999", "done": False})


def zipped(data):
    """What a saved form comes to with gzip at its fastest level, for peers that leave that to their user."""
    with Stopwatch() as watch:
        small = gzip.compress(data, 1)
    return {"zipped_bytes": len(small), "zip_seconds": watch.seconds}


def serve(**works):
    asyncio.run(_serve(works))


async def _serve(works):
    print(json.dumps({"ready": sorted(works)}), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = await _do(works[request.pop("work")], request.pop("repeat"), request)
        except Absent as absent:
            answer = {"absent": str(absent)}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


async def _do(work, repeat, options):
    answer = {"samples": []}
    for _ in range(repeat):
        result = work(**options)
        if inspect.isawaitable(result):
            result = await result
        if isinstance(result, dict):
            answer["samples"].append(result.pop("seconds"))
            answer |= result
        else:
            answer["samples"].append(result)
    return answer
