"""W16: modules that programs import, and what is said when there are none."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from harness.script import evaluate, program
from harness.thread import APPROVE, Thread, decisions

New = Callable[..., Thread]

SLUG = {
    "@/skills/text.js": 'export const slug = text => text.toLowerCase().replaceAll(" ", "-"); export let count = 0; export const more = () => ++count'
}
USE = 'import { slug } from "@/skills/text.js";\nslug("Hello World")'


@pytest.mark.parametrize("saver", ["memory:", "sqlite+async"], indirect=True)
def test_w16_a_module_is_found(thread: New, saver: str) -> None:
    run = thread(program(USE, tools=[], options={"modules": SLUG}, kind="plain"), saver)
    assert run.send().result("e1") == "<result>hello-world</result>"
    assert "@/skills/text.js" in run.sent[0]["system"]


def test_w16_a_module_keeps_its_state_over_a_pause(thread: New) -> None:
    code = 'import { more, slug } from "@/skills/text.js"; more(); await tools.payGated({amount: 1}); [more(), slug("A B")].join()'
    agent = program(code, tools=["pay_gated"], options={"modules": SLUG})
    agent["script"]["again"] = [[evaluate('const m = await import("@/skills/text.js"); m.more()', "e2")]]
    run = thread(agent)
    run.send(process="exec")
    assert run.resume(decisions(APPROVE), process="exec").result("e1") == "<result>2,a-b</result>"
    assert run.send("again", process="exec").result("e2") == "<result>3</result>"


def test_w16_a_module_that_is_not_there_is_an_error_that_names_it(answers: Callable[..., list[str]]) -> None:
    first, second = answers(
        'import { a } from "@/none.js"; a', 'await import("@/none.js").catch(e => e.name)', options={"modules": SLUG}
    )
    assert first.startswith('<error type="ImportError">')
    assert "@/none.js" in first
    assert second == "<result>ImportError</result>"


def test_w16_without_modules_it_says_so(answers: Callable[..., list[str]], thread: New) -> None:
    (text,) = answers(USE)
    assert text.startswith("<error type=")
    assert "module" in text
    run = thread(program("1", tools=[], kind="plain"), "memory:")
    run.send()
    assert "no modules" in run.sent[0]["system"]


def test_w16_cycles_and_missing_exports_are_errors_of_the_language(answers: Callable[..., list[str]]) -> None:
    modules = {
        "a.js": 'import { b } from "b.js"; export const a = () => b() + 1; export const start = 1',
        "b.js": 'import { start } from "a.js"; export const b = () => start + 1',
        "c.js": 'import { nothing } from "a.js"; export const c = nothing',
    }
    found, missing = answers(
        'import { a } from "a.js"; a()', 'import { c } from "c.js"; c', options={"modules": modules}
    )
    assert found == "<result>3</result>"
    assert missing.startswith('<error type="SyntaxError">')
