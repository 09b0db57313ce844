use super::super::failed_command;
use super::super::tests::{becomes, becomes_with, is_not_javascript, is_refused};

#[test]
fn shell_commands_are_refused() {
    is_not_javascript(
        "ls -la /workspace | grep x y",
        "this looks like a shell command; this tool runs JavaScript. Use tools.<name>(…)",
    );
    is_not_javascript(
        "cd x && npm install",
        "this looks like a shell command; this tool runs JavaScript. Use tools.<name>(…)",
    );
    is_not_javascript(
        "cat file | grep y",
        "this looks like a shell command; this tool runs JavaScript. Use tools.<name>(…)",
    );
    is_not_javascript("$ ls", "this looks like a shell command; this tool runs JavaScript. Use tools.<name>(…)");
    is_not_javascript(
        "curl https://x.y",
        "this looks like a shell command; this tool runs JavaScript. Use tools.<name>(…)",
    );
    is_not_javascript("npm i x", "this looks like a shell command; this tool runs JavaScript. Use tools.<name>(…)");
    is_not_javascript("git status", "this looks like a shell command; this tool runs JavaScript. Use tools.<name>(…)");
    is_not_javascript("echo \"hi\"", "this looks like a shell command; this tool runs JavaScript. Use tools.<name>(…)");
}

#[test]
fn a_command_that_reads_as_javascript_is_refused_once_it_failed() {
    becomes("ls -la /workspace", "ls -la /workspace");
    let refused = |source: &str, message: &str| failed_command(source, message).map(|refusal| refusal.message);
    let message = "this looks like a shell command; this tool runs JavaScript. Use tools.<name>(…)".to_owned();
    assert_eq!(refused("ls -la /workspace", "ls is not defined"), Some(message.clone()));
    assert_eq!(refused("```\nls -la\n```", "ls is not defined"), Some(message));
    assert_eq!(refused("ls -la", "la is not defined"), None);
    assert_eq!(refused("ls - la", "ls is not defined"), None);
}

#[test]
fn python_gets_a_hint_r18() {
    is_refused(
        "def total(xs):\n    return sum(xs)\nprint(total([1, 2]))",
        "expected the end of the statement but found `total`",
        Some("this looks like Python; this tool runs JavaScript"),
        (1, 5),
    );
    is_refused(
        "import x as y",
        "expected `from` but found `as`",
        Some("this looks like Python; this tool runs JavaScript"),
        (1, 10),
    );
    is_refused(
        "from a import b",
        "expected the end of the statement but found `a`",
        Some("this looks like Python; this tool runs JavaScript"),
        (1, 6),
    );
    is_refused(
        "print \"x\"",
        "expected the end of the statement but found `\"`",
        Some("this looks like Python; this tool runs JavaScript"),
        (1, 7),
    );
    is_refused(
        "x = [1]\nfor i in x:\n    print(i)",
        "expected `(` but found `i`",
        Some("this looks like Python; this tool runs JavaScript"),
        (2, 5),
    );
    is_refused(
        "f = lambda x: x + 1",
        "expected the end of the statement but found `x`",
        Some("this looks like Python; this tool runs JavaScript"),
        (1, 12),
    );
    is_refused(
        "if x:\n    y = f\"a{x}\"",
        "expected `(` but found `x`",
        Some("this looks like Python; this tool runs JavaScript"),
        (1, 4),
    );
    is_refused(
        "import os",
        "expected `from` but the program ends",
        Some("this looks like Python; this tool runs JavaScript"),
        (1, 10),
    );
}

#[test]
fn await_in_a_plain_function_gets_a_hint_r29() {
    is_refused(
        "[1, 2].map(x => { const v = await tools.echo({v: x}); return v; })",
        "`await` is allowed only in async functions and at the top level",
        Some(
            "`await` needs an async function: write `async x => …`, and wait for all of them with `await Promise.all(xs.map(async x => …))`",
        ),
        (1, 29),
    );
    is_refused(
        "xs.forEach(x => { await tools.echo(x) })",
        "`await` is allowed only in async functions and at the top level",
        Some(
            "`await` needs an async function, and forEach does not wait for one: use `for (const x of xs) { await … }`, or `async x => …` with map and `await Promise.all(…)`",
        ),
        (1, 19),
    );
    is_refused(
        "function f() { await g(); }",
        "`await` is allowed only in async functions and at the top level",
        Some(
            "`await` needs an async function: write `async` before the function, as in `async x => …`; with map, `await Promise.all(xs.map(async x => …))`",
        ),
        (1, 16),
    );
    is_refused(
        "a => { await x }",
        "`await` is allowed only in async functions and at the top level",
        Some(
            "`await` needs an async function: write `async` before the function, as in `async x => …`; with map, `await Promise.all(xs.map(async x => …))`",
        ),
        (1, 8),
    );
}

#[test]
fn reasons_are_plain() {
    is_refused(
        "const q = [1, 2\nq.map(x => x)",
        "expected `,` or `]` but found `q`; `[` was opened at 1:11",
        None,
        (2, 1),
    );
    is_refused(
        "const s = “hi”;",
        "invalid character `“`",
        Some("replace the typographic quote `“` by a plain one"),
        (1, 11),
    );
    is_refused(
        "const el = <div>hi</div>;",
        "unexpected `<`",
        Some("JSX is not available; build text or plain objects"),
        (1, 12),
    );
    is_refused("let x: number = ;", "unexpected `;`", None, (1, 17));
    is_refused("const x = {", "expected `}` but the program ends; `{` was opened at 1:11", None, (1, 12));
    is_refused(
        "(function() {\n  return 1;",
        "expected `}` but the program ends; `{` was opened at 1:13",
        None,
        (2, 12),
    );
    is_refused("foo(1, 2", "expected `)` but the program ends; `(` was opened at 1:4", None, (1, 9));
    is_refused("let 1x", "invalid characters after number", None, (1, 6));
    is_refused("let x = \"abc", "unterminated string", None, (1, 9));
    is_refused("`abc", "unterminated string", None, (1, 1));
    is_refused("/* abc", "unterminated multiline comment", None, (1, 1));
    is_refused("x = y +", "unexpected end of the program", None, (1, 8));
    is_refused("}", "unexpected `}`", None, (1, 1));
    is_refused("a b", "expected the end of the statement but found `b`", None, (1, 3));
    is_refused("const = 5", "unexpected `=`", None, (1, 7));
    is_refused("import { a from \"b\"", "expected `,` or `}` but found `from`; `{` was opened at 1:8", None, (1, 12));
    is_refused("const fn = function( { return 1 }", "expected `:` but found `1`", None, (1, 31));
    is_refused("if (x", "expected `)` but the program ends; `(` was opened at 1:4", None, (1, 6));
    is_refused("a ? b", "expected `:` but the program ends", None, (1, 6));
    is_refused("f(a, )b", "expected the end of the statement but found `b`", None, (1, 7));
    is_refused("let a = 1 2", "expected the end of the statement but found `2`", None, (1, 11));
    is_refused("for (const x of) {}", "unexpected `)`", None, (1, 16));
    is_refused("const a = {b: 1, c; d}", "expected `,` or `}` but found `;`; `{` was opened at 1:11", None, (1, 19));
    becomes("foo(\u{200b}1)", "foo( 1)");
    is_refused("x = [1, 2, }", "unexpected `}`", None, (1, 12));
    is_refused("`a ${b", "expected `}` but the program ends; `{` was opened at 1:5", None, (1, 7));
    is_refused(
        "const a = 1;\nconst b = (1 + 2;\nb",
        "expected `,` or `)` but found `;`; `(` was opened at 2:11",
        None,
        (2, 17),
    );
    becomes("let let = 1", "let let = 1");
    is_refused("function f( { }", "expected `)` but the program ends; `(` was opened at 1:11", None, (1, 16));
    is_refused("new.target.x y", "unexpected new.target expression", None, (1, 1));
    is_refused("interface A { b: }", "unexpected `}`", None, (1, 18));
    is_refused("const x: = 1", "unexpected `=`", None, (1, 10));
    is_refused("a = b c", "expected the end of the statement but found `c`", None, (1, 7));
    is_refused("\"it's\" s\"", "expected the end of the statement but found `s`", None, (1, 8));
    is_refused("return return", "unexpected `return`", None, (1, 8));
    is_refused("({a: 1, b})) ", "expected the end of the statement but found `)`", None, (1, 12));
    becomes_with("await", "await", &[], &[], Some("await"));
    is_refused("enum A { 1 }", "an enum member cannot have a numeric name", None, (1, 10));
}
