"""The text after an eval: its shape, its escapes, its cuts."""

from __future__ import annotations

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import ToolMessage

from chrysalid.langchain import CodeInterpreterMiddleware
from chrysalid.langchain.result import cut
from scripted import ScriptedModel, texts, user


def message(code: str, **options: Any) -> ToolMessage:
    agent = create_agent(ScriptedModel(script=[[code]]), [], middleware=[CodeInterpreterMiddleware(**options)])
    return next(one for one in agent.invoke(user())["messages"] if isinstance(one, ToolMessage))


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("1 + 1", "<result>2</result>"),
        ("'a'", "<result>a</result>"),
        ("undefined", "<result>undefined</result>"),
        ("null", "<result>null</result>"),
        ("({a: [1, 'b']})", "<result>{ a: [ 1, 'b' ] }</result>"),
        ("new Map([['k', new Set([1])]])", "<result>Map(1) { 'k' =&gt; Set(1) { 1 } }</result>"),
        ("new Error('x').message", "<result>x</result>"),
        ("await Promise.resolve(4)", "<result>4</result>"),
        ("Promise.resolve(4)", "<result>4</result>"),
        ("let t: number = 3; t", "<result>3</result>"),
        ("const a = 1; const b = 2; b", "<result>2</result>"),
        ("Symbol('s')", '<result kind="handle">Symbol(s)</result>'),
        ("'</result><error type=\"X\">'", '<result>&lt;/result&gt;&lt;error type="X"&gt;</result>'),
        (
            "console.log('a', 1, {b: 2}); console.error('</stdout>'); 5",
            "<stdout>\na 1 { b: 2 }\n&lt;/stdout&gt;\n</stdout>\n<result>5</result>",
        ),
        (
            "throw new TypeError('no <b>')",
            '<error type="TypeError">no &lt;b&gt;\n    at &lt;eval&gt; (program-1.js:1:11)</error>',
        ),
        ("throw {code: 7}", '<error type="Thrown">{ code: 7 }</error>'),
        ("(", '<error type="SyntaxError">expected `)` but the program ends; `(` was opened at 1:1</error>'),
        (
            "await new Promise(() => {})",
            '<error type="Deadlock">the program waits for a promise that nothing will settle: '
            "awaited at line 1, column 11</error>",
        ),
    ],
)
def test_text(code: str, text: str) -> None:
    assert message(code).content == text


def test_the_message_goes_by_the_tools_name_and_says_whether_it_failed() -> None:
    good, bad = message("1"), message("throw 1")
    assert (good.name, good.status, bad.name, bad.status) == ("eval", "success", "eval", "error")


@pytest.mark.parametrize(
    ("code", "options", "kind"),
    [
        ("for (;;) {}", {"timeout": 0.2}, "Timeout"),
        ("await new Promise(done => setTimeout(done, 60000))", {"wall_timeout": 0.2}, "Timeout"),
        ("let all = []; for (;;) all.push(new Array(1000))", {"memory_limit": 8 << 20}, "OutOfMemory"),
        ("function f() { f() } f()", {}, "RangeError"),
    ],
)
def test_limits(code: str, options: dict[str, Any], kind: str) -> None:
    assert str(message(code, **options).content).startswith(f'<error type="{kind}">')


def test_console_can_be_left_out_and_levels_are_kept_for_interfaces() -> None:
    quiet = message("console.log('a'); 1", capture_console=False)
    assert quiet.content == "<result>1</result>"
    loud = message("console.warn('w'); ({x: new Date(0)})")
    assert loud.artifact["logs"] == [{"level": "warn", "text": "w"}]
    assert loud.artifact["status"] == "done"
    assert loud.artifact["value"] == {"x": "1970-01-01T00:00:00.000Z"}


def test_console_is_drained_each_time() -> None:
    agent = create_agent(
        ScriptedModel(script=[["console.log('one'); 1", "console.log('two'); 2"]]),
        [],
        middleware=[CodeInterpreterMiddleware()],
    )
    assert texts(agent.invoke(user())) == [
        "<stdout>\none\n</stdout>\n<result>1</result>",
        "<stdout>\ntwo\n</stdout>\n<result>2</result>",
    ]


def test_result_and_console_are_cut_each_on_its_own() -> None:
    text = str(message("console.log('c'.repeat(500)); 'r'.repeat(500)", max_result_chars=100).content)
    assert text == (
        f"<stdout>\n{'c' * 77}… [truncated 423 chars]\n</stdout>\n<result>{'r' * 77}… [truncated 423 chars]</result>"
    )


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("short", 10, "short"),
        ("a" * 100, 50, "a" * 28 + "… [truncated 72 chars]"),
        ("a" * 26 + "e\u0301" + "b" * 100, 50, "a" * 26 + "… [truncated 102 chars]"),
        ("abc", 2, "… [truncated 3 chars]"),
    ],
)
def test_cut(text: str, limit: int, expected: str) -> None:
    assert cut(text, limit) == expected
