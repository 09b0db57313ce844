"""One attack on quickjs-rs: a process as bench/src/attacks/subject.rs describes it.

Used as its README shows: `Runtime(memory_limit=...)`, one context with a timeout, `eval_async`, a registered async function.
"""

import asyncio
import json
import sys
import time

import quickjs_rs
from quickjs_rs import Runtime

MEMORY = 64 << 20
TIME = 0.5


def resident(field):
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith(field):
                return int(line.split()[1]) * 1024


def say(**line):
    print("@" + json.dumps(line), flush=True)


def outcome(error):
    name = type(error).__name__
    text = str(error)
    if "is not defined" in text:
        return "absent"
    if isinstance(error, quickjs_rs.TimeoutError):
        return "timeout"
    if isinstance(error, quickjs_rs.MemoryLimitError):
        return "out_of_memory"
    if isinstance(error, quickjs_rs.JSError):
        return "exception"
    if isinstance(error, quickjs_rs.DeadlockError):
        return "deadlock"
    return name


async def after(context, source, wanted, timeout=TIME):
    try:
        return "yes" if await context.eval_async(source, timeout=timeout) == wanted else "wrong"
    except Exception as error:
        return outcome(error)


async def main():
    source = sys.stdin.read()
    with Runtime(memory_limit=MEMORY) as runtime, runtime.new_context(timeout=TIME) as context:

        @context.function
        async def tool(argument):
            return 1

        if await after(context, "globalThis.kept = { n: 41 }; kept.n", 41, timeout=60) != "yes":
            raise SystemExit("the context does not work before the attack")
        say(idle=resident("VmRSS:"))
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")

        began, cpu = time.monotonic(), time.thread_time()
        try:
            value = await context.eval_async(source)
            how, text = "value", value[:100] if isinstance(value, str) else ""
        except Exception as error:
            how, text = outcome(error), f"{type(error).__name__}: {error}"[:100]
        cpu, wall = time.thread_time() - cpu, time.monotonic() - began
        say(outcome=how, text=text, cpu=cpu, wall=wall, peak=resident("VmHWM:"))
        lives = await after(context, "1 + 1", 2)
        kept = await after(context, "kept.n", 41)
        say(lives=lives, kept=kept)


asyncio.run(main())
