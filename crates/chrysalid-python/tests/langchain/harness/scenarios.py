"""The agents of the measured faults R1 to R12: tests run them, and so does the side-by-side comparison."""

from __future__ import annotations

from typing import Any

from .agents import Spec
from .script import GATED, evaluate, program, worker

MAILER: Spec = {
    "name": "mailer",
    "script": {"*": [[{"name": "send_email", "args": {"to": "a@example.test"}, "id": "s1"}], "mail sent"]},
    "tools": ["send_email"],
    "interrupt_on": {"send_email": GATED},
}


def charge_then_mail() -> Spec:
    """R1, R2: an effect, then a subagent that needs approval."""
    code = """
        const paid = await tools.charge({amount: 10});
        const sent = await task({description: "mail the receipt", subagentType: "mailer"});
        `${paid} / ${sent}`
    """
    return program(code, tools=["charge"], subagents=[MAILER])


def variables_of_an_earlier_eval() -> Spec:
    """R3: an eval sets variables, a later one of the same turn waits for approval and uses them."""
    return program(
        'let log = ["a"]; const order = {id: 7}; function next(x) { return x + 1 }; class Tag { name() { return "tag" } }',
        """
            const sent = await task({description: "mail the order", subagentType: "mailer"});
            log.push(sent);
            JSON.stringify([order.id, log, next(order.id), new Tag().name()])
        """,
        tools=["charge"],
        subagents=[MAILER],
    )


def gated_call_from_code() -> Spec:
    """R4: a tool that the agent gates, called from code."""
    return program(
        'await tools.sendEmail({to: "a@example.test"})', tools=["send_email"], interrupt_on={"send_email": True}
    )


def caught_approval() -> Spec:
    """R5: a program that catches whatever a call throws."""
    code = """
        let sent;
        try { sent = await task({description: "mail it", subagentType: "mailer"}) } catch (error) { sent = "skipped " + error.name }
        await tools.charge({amount: 2});
        sent
    """
    return program(code, tools=["charge"], subagents=[MAILER])


def two_at_once() -> Spec:
    """R6: two subagents at once, each needs approval."""
    second = {
        **MAILER,
        "name": "second",
        "script": {"*": [[{"name": "send_email", "args": {"to": "b@example.test"}, "id": "s1"}], "second sent"]},
    }
    code = """
        const both = await Promise.all([
            task({description: "one", subagentType: "mailer"}), task({description: "two", subagentType: "second"})]);
        both.join(" / ")
    """
    return program(code, tools=["charge"], subagents=[MAILER, second])


def many_subagents(**options: Any) -> Spec:
    """R7: 300 subagents in one program."""
    code = """
        const all = await Promise.allSettled(Array.from({length: 300}, (_, n) =>
            task({description: "job " + n, subagentType: "worker"})));
        [all.filter(one => one.status === "fulfilled").length, all.filter(one => one.status === "rejected").length].join()
    """
    return program(code, tools=["charge"], options=options, subagents=[worker("worker", "done")])


ARRAYS = "const all = []; for (;;) all.push([1, 2, 3])"
STRINGS = 'let text = "x".repeat(1000); const all = []; for (let n = 0;; n++) all.push(text + n)'


def memory_hog(code: str) -> Spec:
    """R8: a program that takes memory for ever."""
    return program(code, "1 + 1", tools=["charge"], options={"memory_limit": 64 << 20})


def deep_recursion() -> Spec:
    """R9."""
    return program("function f() { f() }; f()", "1 + 1", tools=["charge"])


def clock_and_random(**options: Any) -> Spec:
    """R10: reads clock and random twice, in two programs."""
    code = "JSON.stringify([Date.now(), new Date().getTime(), Math.random()])"
    return program(code, code, tools=["charge"], options=options)


def unknown_subagent() -> Spec:
    """R11."""
    code = """
        let text;
        try { text = "resolved: " + await task({description: "x", subagentType: "nobody"}) } catch (error) { text = "rejected: " + error.message }
        text
    """
    return program(code, tools=["charge"], subagents=[MAILER])


def some_state() -> Spec:
    """R12: variables that live on after the turn."""
    return {
        "script": {
            "go": [
                [
                    evaluate(
                        'globalThis.kept = {rows: Array.from({length: 100}, (_, n) => "row " + n)}; kept.rows.length'
                    )
                ]
            ],
            "again": [[evaluate("kept.rows[99]", "e2")]],
        },
        "tools": [],
        "interpreter": {},
    }
