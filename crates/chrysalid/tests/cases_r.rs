//! Programs as models write them: one session for the programs of a row, each with its exact outcome.

use chrysalid::{FailureKind, Value};
use serde_json::json;

use crate::cases_o::{noted, report};
use crate::support::{Halt, World, eval, fails, json, run, session, text};

#[test]
fn r01_redeclare_in_a_later_program() {
    let mut session = session();
    let _ = run(
        &mut session,
        "const a = 1; let b = 2; class K { v(){ return 1; } } function f(){ return 1; }",
    );
    let again = "const a = 10; let b = 20; class K { v(){ return 2; } } function f(){ return 2; }\n[a, b, new K().v(), f()].join()";
    assert_eq!(eval(&mut session, again), text("10,20,2,2"));
}

#[test]
fn r02_const_is_const_within_a_program() {
    let failure = fails(&mut session(), "const kk = 1; kk = 2; kk");
    assert_eq!(failure.to_string(), "TypeError: 'kk' is read-only");
    let failure = fails(&mut session(), "let x=1; let x=2");
    assert_eq!((failure.kind, failure.name.as_str()), (FailureKind::Exception, "SyntaxError"));
}

#[test]
fn r03_dead_zone_and_hoisting_stay_standard() {
    let mut session = session();
    assert_eq!(eval(&mut session, "h(); function h(){ return 1; }"), Value::from(1));
    assert_eq!(fails(&mut session, "xx; let xx = 1").to_string(), "ReferenceError: xx is not initialized");
}

#[test]
fn r05_an_ending_promise_is_awaited() {
    let mut session = session();
    let source = "(async () => { const v = await Promise.resolve(456); return v; })()";
    assert_eq!(eval(&mut session, source), Value::from(456));
    assert_eq!(eval(&mut session, "Promise.resolve({a: 1})"), json(json!({ "a": 1 })));
}

#[test]
fn r06_return_at_the_top() {
    let mut session = session();
    let source = "const m = 1;\nif (m > 0) return {m};\n\"unreached\"";
    assert_eq!(eval(&mut session, source), json(json!({ "m": 1 })));
    assert_eq!(eval(&mut session, "m"), Value::from(1), "still bound in the next program");
}

#[test]
fn r07_a_program_inside_a_fence() {
    for mark in ["javascript", "js", "jsx", "ts", "tsx", "typescript", "JS", ""] {
        let ended = run(&mut session(), &format!("```{mark}\nconst t = 2;\nt * 3\n```"));
        assert_eq!((ended.result, ended.notes), (Ok(Value::from(6)), vec!["code fence removed".to_owned()]), "{mark}");
    }
    for (source, message) in [
        ("Here it is:\n```js\n1\n```", "there is text around the code fence; send only the JavaScript"),
        ("```js\n1\n```\nThat does it.", "there is text after the code fence; send only the JavaScript"),
        ("```js\n1\n```\n```js\n2\n```", "there is text around the code fence; send only the JavaScript"),
        ("```python\nprint(1)\n```", "the code fence is marked `python`; this tool runs JavaScript"),
    ] {
        let failure = fails(&mut session(), source);
        assert_eq!((failure.kind, failure.message.as_str()), (FailureKind::InvalidInput, message), "{source}");
    }
}

#[test]
fn r09_typescript_syntax() {
    let source = "interface A { b: string; opt?: number }\ntype T = \"p\" | \"q\"; enum E { X, Y }\nconst v: A = {b: \"z\"} satisfies A; function g<U>(u: U): U { return u; }\nconst tern = v.opt ? v.opt : v.b; let nn = JSON.parse(\"1\")!;\n[v.b, E.Y, g<number>(3), tern, nn, (v as any).b].join()";
    assert_eq!(eval(&mut session(), source), text("z,1,3,z,1,z"));
    let failing = source.replace("[v.b, E.Y", "missing; [v.b, E.Y");
    let failure = fails(&mut session(), &failing);
    assert_eq!(failure.to_string(), "ReferenceError: missing is not defined");
    let place = failure.position.unwrap();
    assert_eq!((place.line, place.column), (5, 1), "lines and columns are those of the input");
}

#[test]
fn r10_a_static_import() {
    let world = World::new();
    let failure = world.run(&mut world.session(), "import fs from \"fs\"; fs.readFileSync(\"x\")").failure();
    let message = "module \"fs\" is not available: there are no modules here; call tools.<name>({...})";
    assert_eq!((failure.name.as_str(), failure.message.as_str()), ("ImportError", message));
}

#[test]
fn r11_what_other_runtimes_have_names_what_to_use() {
    let none = "there are no packages; call tools.<name>({...}), or import a module that the host provides";
    let other = "this is another runtime; call tools.<name>({...})";
    for (source, name, instead) in [
        ("try { require(\"fs\") } catch (e) { e.message }", "require", none),
        ("try { module.exports = 1 } catch (e) { e.message }", "module", none),
        ("try { fetch('x') } catch (e) { e.message }", "fetch", "there is no network; call tools.<name>({...})"),
        (
            "try { process.env.HOME } catch (e) { e.message }",
            "process",
            "there is no process and no environment; call tools.<name>({...})",
        ),
        (
            "try { Buffer.from('a') } catch (e) { e.message }",
            "Buffer",
            "use Uint8Array with TextEncoder and TextDecoder, or atob and btoa",
        ),
        ("try { fs.readFileSync('x') } catch (e) { e.message }", "fs", "there are no Node modules; call tools.<name>({...})"),
        ("try { Deno.readFile('x') } catch (e) { e.message }", "Deno", other),
        ("try { Bun.file('x') } catch (e) { e.message }", "Bun", other),
        ("try { window.x } catch (e) { e.message }", "window", "this is no browser; globals are on globalThis"),
    ] {
        assert_eq!(eval(&mut session(), source), text(&format!("{name} is not available here: {instead}")), "{source}");
    }
    assert_eq!(eval(&mut session(), "[typeof require, typeof fetch].join()"), text("undefined,undefined"));
}

#[test]
fn r17_a_shell_command() {
    let world = World::new();
    let mut session = world.session();
    let failure = world.run(&mut session, "ls -la /workspace").failure();
    let message = "this looks like a shell command; this tool runs JavaScript. Use tools.<name>(…)";
    assert_eq!((failure.kind.code(), failure.message.as_str()), ("invalid_input", message));
    // Not where the name is one of the session's.
    world.run(&mut session, "let ls = 5, la = 2").value();
    assert_eq!(world.run(&mut session, "ls -la").value(), Value::from(3));
    assert_eq!(world.run(&mut session, "ls").value(), Value::from(5));
}

#[test]
fn r18_python() {
    let failure = fails(&mut session(), "def total(xs):\n    return sum(xs)\nprint(total([1, 2]))");
    assert_eq!(failure.to_string(), "SyntaxError: expected the end of the statement but found `total`");
    assert_eq!(failure.hint.as_deref(), Some("this looks like Python; this tool runs JavaScript"));
    let failure = fails(&mut session(), "print(1)");
    assert_eq!(failure.to_string(), "ReferenceError: print is not available here: use console.log(...)");
}

#[test]
fn r19_export_default_and_a_lone_function() {
    let ended = run(&mut session(), "export default async () => { return 5; }");
    assert_eq!((ended.result, ended.notes), (Ok(Value::from(5)), vec!["the default export was called".to_owned()]));
    assert_eq!(
        noted(run(&mut session(), "async function main(){ return 6; }")),
        "<result>\n[AsyncFunction: main]\n</result>\n<notes>\n`main` is defined but not called\n</notes>"
    );
}

#[test]
fn r21_an_object_literal_as_a_statement() {
    let source = "const a = 1;\n{ \"a\": a, \"b\": 2 }";
    assert_eq!(eval(&mut session(), source), json(json!({ "a": 1, "b": 2 })));
    assert_eq!(eval(&mut session(), "{x: 1}"), json(json!({ "x": 1 })));
    assert_eq!(eval(&mut session(), "let q; { q = 1 }"), Value::from(1), "a block stays one");
}

#[test]
fn r22_statements_have_values() {
    let mut session = session();
    for (source, value) in [
        ("let s = 0; for (let i = 0; i < 3; i++) { s += i }", Value::from(3)),
        ("if (true) { \"in if\" }", text("in if")),
        ("// only a comment", Value::Undefined),
        ("const z = 3", Value::Undefined),
    ] {
        assert_eq!(eval(&mut session, source), value, "{source}");
    }
}

#[test]
fn r23_assignment_to_an_undeclared_name_makes_a_global() {
    let mut session = session();
    assert_eq!(eval(&mut session, "total = 5"), Value::from(5));
    assert_eq!(eval(&mut session, "total + 1"), Value::from(6));
}

#[test]
fn r25_positions_are_those_of_the_input() {
    let shown = |line: u32, column: u32| {
        let caret = " ".repeat(usize::try_from(column).unwrap() - 1);
        format!("<error>\nTypeError: cannot read property 'f' of null\nat line {line}, column {column}\n  SOURCE\n  {caret}^\n</error>")
    };
    for (source, own, line, column) in [
        ("const one = 1;\nconst two = 2;\nnull.f();", "null.f();", 3, 6),
        ("interface A { b: string }\nconst a: A = {b: ''};\nnull.f();", "null.f();", 3, 6),
        ("const x = <any>null as any; x.f();", "const x = <any>null as any; x.f();", 1, 31),
        ("await null;\n\nawait null; null.f();", "await null; null.f();", 3, 18),
        ("if (1) {\n  null.f();\n}\nreturn 1", "  null.f();", 2, 8),
        ("const emoji = '\u{1F30D}'; null.f();", "const emoji = '\u{1F30D}'; null.f();", 1, 25),
    ] {
        let mut session = session();
        let expected = shown(line, column).replace("SOURCE", own);
        assert_eq!(noted(run(&mut session, source)), expected, "{source}");
        let fenced = noted(run(&mut session, &format!("```js\n{source}\n```")));
        let note = "\n<notes>\ncode fence removed\n</notes>";
        assert_eq!(fenced, shown(line + 1, column).replace("SOURCE", own) + note, "{source}");
    }
}

#[test]
fn r26_syntax_errors_point_and_explain() {
    assert_eq!(
        noted(run(&mut session(), "const q = [1, 2\nq.map(x => x)")),
        "<error>\nSyntaxError: expected `,` or `]` but found `q`; `[` was opened at 1:11\nat line 2, column 1\n  q.map(x => x)\n  ^\n</error>"
    );
}

#[test]
fn r27_modern_built_ins() {
    let source = "[[1,2,3].at(-1), Object.keys(Object.groupBy([1,2], x => x % 2 ? \"o\" : \"e\")).join(\"\"), [3,1].toSorted()[0], new Set([1]).union(new Set([2])).size,\n typeof Promise.withResolvers, Iterator.from([1]).map(x => x + 1).toArray()[0], (await Array.fromAsync([Promise.resolve(1)]))[0], \"ab\".isWellFormed()].join()";
    assert_eq!(eval(&mut session(), source), text("3,oe,1,2,function,2,1,true"));
}

#[test]
fn r29_await_in_a_function_that_is_not_async() {
    let world = World::new();
    let source = "[1, 2].map(x => { const v = await tools.echo({v: x}); return v; })";
    let failure = world.run(&mut world.session(), source).failure();
    assert_eq!(
        failure.to_string(),
        "SyntaxError: `await` is allowed only in async functions and at the top level"
    );
    assert_eq!(
        failure.hint.as_deref(),
        Some(
            "`await` needs an async function: write `async x => …`, and wait for all of them with `await \
             Promise.all(xs.map(async x => …))`"
        )
    );
    assert_eq!(world.calls(), [""; 0]);
}

#[test]
fn r30_an_array_of_promises() {
    let world = World::new();
    let mut session = world.session();
    let value = world.run(&mut session, "[1, 2].map(async x => tools.echo({v: x}))").value();
    assert_eq!(value, json(json!([1, 2])));
    let halt = world.run(&mut session, "[1, 2].map(async x => tools.gate({q: x}))");
    assert!(matches!(halt, Halt::Paused(_)), "{}", report(halt));
}
