//! Programs as such: names over many programs, errors as data, the bridge that is not theirs to change, the console.

use chrysalid::{CallStatus, Capabilities, FailureKind, Heap, LogLevel, SessionOptions, Value};
use serde_json::json;

use crate::support::{ENGINE, World, eval, fails, json, object, record, run, session, status, text, with_limits};

// ---- names ----

#[test]
fn names_are_those_of_one_long_program() {
    let mut session = session();
    eval(&mut session, "const a = 1; let b = 2; class C { v = 3 } function f() { return 4 } var g = 5;");
    assert_eq!(eval(&mut session, "[a, b, new C().v, f(), g]"), json(json!([1, 2, 3, 4, 5])));
    eval(&mut session, "b = 20; g = 50");
    assert_eq!(eval(&mut session, "[b, g, globalThis.g, 'a' in globalThis]"), json(json!([20, 50, 50, false])));
}

#[test]
fn any_name_may_be_declared_again_in_another_way() {
    let forms = ["const x = N;", "let x = N;", "var x = N;", "function x() { return N }", "class x { static v = N }"];
    for (number, first) in forms.iter().enumerate() {
        for (other, second) in forms.iter().enumerate() {
            let mut session = session();
            eval(&mut session, &first.replace('N', &number.to_string()));
            eval(&mut session, &second.replace('N', &(10 + other).to_string()));
            let value = eval(&mut session, "typeof x === 'number' ? x : x.v ?? x()");
            assert_eq!(value, Value::from(10 + u32::try_from(other).unwrap()), "{first} then {second}");
        }
    }
}

#[test]
fn an_old_closure_sees_the_name_as_it_is_now() {
    let mut session = session();
    eval(&mut session, "let n = 1; const old = () => n++; const block = (() => { let n = 7; return () => n })();");
    eval(&mut session, "let n = 100;");
    assert_eq!(eval(&mut session, "[old(), old(), n, block()]"), json(json!([100, 101, 102, 7])));
    eval(&mut session, "const n = 5;");
    assert_eq!(fails(&mut session, "old()").to_string(), "TypeError: 'n' is read-only");
}

#[test]
fn const_is_const_and_the_dead_zone_is_dead() {
    let mut session = session();
    let failure = fails(&mut session, "const k = 1; k = 2;");
    assert_eq!((failure.name.as_str(), failure.message.as_str()), ("TypeError", "'k' is read-only"));
    assert_eq!(fails(&mut session, "k = 3").name, "TypeError", "also in a later program");
    assert_eq!(eval(&mut session, "k"), Value::from(1));

    let failure = fails(&mut session, "z; let z = 1;");
    assert_eq!((failure.name.as_str(), failure.message.as_str()), ("ReferenceError", "z is not initialized"));
    let failure = fails(&mut session, "let twice = 1; let twice = 2;");
    assert_eq!(failure.name, "SyntaxError");
    assert_eq!(eval(&mut session, "z2(); function z2() { return 'hoisted' }"), text("hoisted"));
}

#[test]
fn a_program_that_fails_before_a_binding_leaves_the_name_free() {
    let mut session = session();
    assert_eq!(fails(&mut session, "null.x; let late = 1;").name, "TypeError");
    eval(&mut session, "let late = 2;");
    assert_eq!(eval(&mut session, "late"), Value::from(2));
}

#[test]
fn a_program_that_does_not_parse_changes_nothing() {
    let mut session = session();
    eval(&mut session, "let kept = 1;");
    let failure = fails(&mut session, "let kept = 2; let = = ;");
    assert_eq!((failure.kind, failure.name.as_str()), (FailureKind::Exception, "SyntaxError"));
    assert_eq!(eval(&mut session, "kept"), Value::from(1));
}

#[test]
fn s03_names_bound_by_top_level_await_are_there_later() {
    let mut session = session();
    eval(&mut session, "const r = await Promise.resolve(\"hi\");");
    let mut session = crate::support::moved(session, &Capabilities::none());
    assert_eq!(eval(&mut session, "r"), text("hi"));
}

#[test]
fn the_value_is_the_last_expression_and_a_promise_is_awaited() {
    let cases = [
        ("1; 2", json!(2)),
        ("if (true) { 'yes' } else { 'no' }", json!("yes")),
        ("for (let i = 0; i < 3; i++) i", json!(2)),
        ("Promise.resolve(Promise.resolve(7))", json!(7)),
        ("(async () => { await null; return 'iife' })()", json!("iife")),
        ("(async () => ({ then: 1 }))()", json!({ "then": 1 })),
        ("[1, 2].map(async x => x)[1]", json!(2)),
    ];
    for (source, expected) in cases {
        assert_eq!(eval(&mut session(), source), json(expected), "{source}");
    }
    assert_eq!(eval(&mut session(), "let x = 5"), Value::Undefined);
    assert_eq!(eval(&mut session(), ""), Value::Undefined);
    assert_eq!(eval(&mut session(), "null"), Value::Null);
}

// ---- errors ----

#[test]
fn an_exception_is_data_with_the_lines_of_the_program() {
    let mut session = session();
    let ended = run(
        &mut session,
        "function f() {\n  throw new RangeError('far', { cause: 7 });\n}\nconsole.log('before');\nf();",
    );
    let failure = ended.result.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Exception);
    assert_eq!(failure.to_string(), "RangeError: far");
    assert_eq!(failure.stack, "    at f (program-1.js:2:13)\n    at <eval> (program-1.js:5:1)\n");
    let Some(Value::Error(error)) = &failure.value else { panic!("{failure:?}") };
    assert_eq!(error.cause, Some(Value::from(7)));
    assert_eq!(ended.heap, Heap::Intact);
    assert_eq!(ended.logs[0].text, "before", "what was printed before the failure is there");
}

#[test]
fn what_was_called_that_is_no_function_is_named() {
    let cases = [
        ("const rows = [1]; rows.mapp(x => x)", "rows.mapp is not a function"),
        ("let x; x()", "x is not a function"),
        ("const obj = { a: {} }; obj.a.b(1, 2)", "obj.a.b is not a function"),
        ("class A { m() { [1].forEach(() => this.q(1)) } } new A().m()", "this.q is not a function"),
        ("const f = (a, b) => b(a); f(1)", "b is not a function"),
        ("function f() { let g, x = 1; return g(x) } f()", "g is not a function"),
        ("[1].filter(x => x).mapp()", "(intermediate value).filter(...).mapp is not a function"),
        ("(await Promise.resolve(5)).map(x => x)", "(intermediate value).map is not a function"),
        ("const o = {}; o.f(true ? 1 : 2, o?.k, [...[1]], `a${1}`)", "o.f is not a function"),
        ("const o = {}, c = () => 1; while (c()) { o.f(c() ? 1 : c() || 2) }", "o.f is not a function"),
        ("const o = {}; o.f(...[1, 2])", "o.f is not a function"),
        ("const o = { f: 5 }; o.f?.()", "o.f is not a function"),
        ("const o = { a: {} }; o.a?.b()", "o.a.b is not a function"),
        ("const a = [1]; let i = 0; a[i]()", "a[i] is not a function"),
        ("const a = [1]; a[0]()", "a[0] is not a function"),
        ("const a = [1]; a[1 + a.length]()", "a[...] is not a function"),
        ("({})['a-b']()", "(intermediate value)[\"a-b\"] is not a function"),
        ("const f = () => 1; f(2)()", "f(...) is not a function"),
        (
            "for (const r of [1]) { for (const k in { a: 1 }) { try { r.foo(k) } finally { } } }",
            "r.foo is not a function",
        ),
        ("async function f() { await 1; Object.entires({}) } await f()", "Object.entires is not a function"),
        ("const o = { get f() { return 5 } }; o.f()", "o.f is not a function"),
        ("const { f } = {}; f()", "f is not a function"),
        ("[{ a: 1 }].map(({ a }) => a())", "a is not a function"),
        ("let X; new X(1)", "X is not a constructor"),
        ("const o = {}; new o.K(...[1])", "o.K is not a constructor"),
        ("new Math.max()", "Math.max is not a constructor"),
        ("const o = {}; for (const a of o.rows) {}", "o.rows is not iterable"),
        ("const o = {}; [1, ...o]", "o is not iterable"),
        ("const o = {}; const [a, b] = o.pair", "o.pair is not iterable"),
        ("const [a] = await Promise.resolve()", "undefined is not iterable"),
        ("const o = {}; for await (const a of o) {}", "o is not async iterable"),
    ];
    for (source, message) in cases {
        assert_eq!(fails(&mut session(), source).to_string(), format!("TypeError: {message}"), "{source}");
    }
}

#[test]
fn what_is_not_sure_is_not_named() {
    let long = format!("const o = {{}}; o.{}()", "n".repeat(300));
    let cases = [
        ("const o = {}; (o.a || o.b)()", "not a function"),
        ("const c = () => 1; (c() ? c.a : c.b)()", "not a function"),
        ("(5)()", "not a function"),
        ("const p = new Proxy(function () {}, { apply: 5 }); p()", "not a function"),
        ("[1].map(undefined)", "not a function"),
        ("const f = () => 1; f(); ({ [{ [Symbol.toPrimitive]: 5 }]: 1 })", "not a function"),
        ("new (() => {})()", "not a constructor"),
        ("new Map(5)", "value is not iterable"),
        (&long, "not a function"),
    ];
    for (source, message) in cases {
        assert_eq!(fails(&mut session(), source).to_string(), format!("TypeError: {message}"), "{source}");
    }
}

#[test]
fn names_of_what_was_called_are_bounded() {
    for links in [2, 30, 3000] {
        let chain = ".a".repeat(links);
        let source = format!("const o = {{}}; o.a = o; o{chain}.f()");
        let failure = fails(&mut session(), &source);
        assert!(failure.message.ends_with(".a.f is not a function"), "{links}: {failure}");
        assert!(failure.message.len() <= 200, "{failure}");
    }
    let source = format!("let o = {{}}; {} o.f()", "for (const x of [1]) { if (x) { o.q = x; } } ".repeat(2000));
    let failure = fails(&mut session(), &source).to_string();
    assert!(failure == "TypeError: o.f is not a function" || failure == "TypeError: not a function", "{failure}");
    let caught = "const o = {}; let n = 0; while (n < 2000) try { o.f() } catch (e) { n += e.message.length > 0 } n";
    assert_eq!(eval(&mut session(), caught), Value::from(2000));
}

#[test]
fn o13_the_stack_of_an_error_begins_with_its_name_and_message() {
    let mut session = session();
    let source = "const rows = [{n: 1}, {}];\nrows.map(r => r.n.toFixed(1)).join()";
    let failure = fails(&mut session, source);
    assert_eq!(failure.to_string(), "TypeError: cannot read property 'toFixed' of undefined");
    assert_eq!(
        failure.stack,
        "    at <anonymous> (program-1.js:2:15)\n    at map (native)\n    at <eval> (program-1.js:2:10)\n"
    );
    let caught = format!("let stack; try {{ {source} }} catch (e) {{ stack = e.stack }} stack");
    assert_eq!(
        eval(&mut session, &caught),
        text(
            "TypeError: cannot read property 'toFixed' of undefined\n    at <anonymous> (program-2.js:2:15)\n    at map \
             (native)\n    at <eval> (program-2.js:2:10)"
        )
    );
    for (source, stack) in [
        ("new Error().stack", "Error\n    at <eval> (program-3.js:1:5)"),
        ("class Own extends Error { name = 'Own' } new Own('m').stack.split('\\n')[0]", "Own: m"),
        ("const e = new Error('m'); e.stack = 'mine'; e.stack", "mine"),
        ("`${Error.prototype.stack} ${Object.create(new Error('m')).stack}`", "undefined undefined"),
    ] {
        assert_eq!(eval(&mut session, source), text(stack), "{source}");
    }
}

#[test]
fn anything_may_be_thrown() {
    let cases = [
        ("throw 'text'", "Thrown", "'text'", text("text")),
        ("throw null", "Thrown", "null", Value::Null),
        ("throw undefined", "Thrown", "undefined", Value::Undefined),
        ("throw { code: 5 }", "Thrown", "{ code: 5 }", json(json!({ "code": 5 }))),
        ("await Promise.reject(12n)", "Thrown", "12n", Value::BigInt(12i64.into())),
        ("throw () => 1", "Thrown", "[Function (anonymous)]", Value::Description("[Function (anonymous)]".into())),
    ];
    for (source, name, message, value) in cases {
        let failure = fails(&mut session(), source);
        assert_eq!((failure.name.as_str(), failure.message.as_str()), (name, message), "{source}");
        assert_eq!(failure.value, Some(value), "{source}");
    }
}

#[test]
fn an_error_with_causes_and_an_aggregate_keep_their_parts() {
    let failure = fails(
        &mut session(),
        "throw new AggregateError([new TypeError('a'), 2], 'both', { cause: new Error('root') })",
    );
    assert_eq!(failure.to_string(), "AggregateError: both");
    let Some(Value::Error(error)) = &failure.value else { panic!() };
    let Some(Value::Error(cause)) = &error.cause else { panic!() };
    assert_eq!(cause.message, "root");
    let errors = error.errors.as_ref().unwrap();
    let Value::Error(first) = &errors[0] else { panic!() };
    assert_eq!((first.name.as_str(), first.message.as_str(), &errors[1]), ("TypeError", "a", &Value::from(2)));
}

#[test]
fn a_class_of_its_own_keeps_its_name() {
    let failure = fails(&mut session(), "class PayError extends Error { name = 'PayError' } throw new PayError('no')");
    assert_eq!(failure.to_string(), "PayError: no");
    let failure = fails(&mut session(), "const e = new Error('x'); e.name = 'Own'; throw e");
    assert_eq!(failure.to_string(), "Own: x");
}

// ---- nothing ends as a false success ----

#[test]
fn a_rejection_that_nobody_awaited_fails_the_program() {
    let cases = [
        ("Promise.reject(new Error('lost')); 1", "lost"),
        ("(async () => { throw new Error('async') })(); 1", "async"),
        ("Promise.resolve().then(() => { throw new Error('then') }); 1", "then"),
        ("[1].forEach(async () => { await null; throw new Error('each') }); 1", "each"),
        ("await Promise.resolve(); Promise.reject(new Error('after')); await Promise.resolve(); 1", "after"),
    ];
    for (source, message) in cases {
        let ended = run(&mut session(), source);
        let failure = ended.result.unwrap_err();
        assert_eq!((failure.kind, failure.message.as_str()), (FailureKind::Exception, message), "{source}");
        assert_eq!(ended.notes, ["the error came from a promise that nobody awaited"], "{source}");
    }
}

#[test]
fn a_rejection_that_is_handled_later_does_not() {
    let cases = [
        "const p = Promise.reject(new Error('x')); await null; p.catch(() => {}); 1",
        "const p = Promise.reject(new Error('x')); await new Promise(r => setTimeout(r, 5)); await p.catch(() => 1)",
        "await Promise.allSettled([Promise.reject(1)]); 1",
        "try { await Promise.reject(1) } catch {} 1",
    ];
    for source in cases {
        assert_eq!(eval(&mut session(), source), Value::from(1), "{source}");
    }
}

#[test]
fn an_error_in_a_timer_or_a_microtask_fails_the_program() {
    let ended = run(&mut session(), "setTimeout(() => { throw new Error('timer') }, 5); 1");
    assert_eq!(ended.result.unwrap_err().message, "timer");
    assert_eq!(ended.notes, ["the error was thrown in a timer"]);
}

#[test]
fn unawaited_calls_are_waited_for() {
    let world = World::new();
    let mut session = world.session();
    let ended =
        world.run(&mut session, "tools.slow({ms: 50, v: 1}).then(() => tools.pay({amount: 3})); 'first'").ended();
    assert_eq!(ended.result.unwrap(), text("first"));
    assert_eq!(world.paid(), [3.0]);
    assert_eq!(ended.calls.len(), 2);

    let ended = world.run(&mut session, "tools.slowFail({ms: 50}); 'first'").ended();
    assert_eq!(ended.result.unwrap_err().to_string(), "ToolError: slow failure");
}

#[test]
fn a_program_that_waits_for_nothing_is_a_deadlock() {
    for (source, at) in [
        ("await new Promise(() => {})", "awaited at line 1, column 11"),
        ("const p = new Promise(() => {});\nawait Promise.race([p])", "awaited at line 2, column 21"),
        ("const locks = []; await new Promise(r => locks.push(r)); locks[0]()", "awaited at line 1, column 29"),
        (
            "const never = new Promise(() => {});\nasync function inner() { await never }\n\nawait inner()",
            "awaited at line 2, column 32, in inner; awaited at line 4, column 7",
        ),
        ("new Promise(() => {})", ""),
    ] {
        let failure = fails(&mut session(), source);
        assert_eq!(failure.kind, FailureKind::Deadlock, "{source}");
        let message = "the program waits for a promise that nothing will settle";
        let expected = if at.is_empty() { message.to_owned() } else { format!("{message}: {at}") };
        assert_eq!(failure.message, expected, "{source}");
    }
    // An error that explains it comes first.
    let failure = fails(&mut session(), "let go; (async () => { null.x; go() })(); await new Promise(r => { go = r })");
    assert_eq!((failure.kind, failure.name.as_str()), (FailureKind::Exception, "TypeError"));
}

#[test]
fn a_failed_program_leaves_no_job_for_the_next() {
    let world = World::new();
    let mut session = world.session();
    let source = "setTimeout(() => tools.pay({amount: 1}), 10); setInterval(() => tools.pay({amount: 2}), 10);
        tools.gate({q: 1}).then(() => tools.pay({amount: 3})); throw new Error('stop')";
    assert_eq!(world.run(&mut session, source).failure().message, "stop");
    assert_eq!(record(&session), ["1.1 gate abandoned"]);
    assert_eq!(world.run(&mut session, "await new Promise(r => setTimeout(r, 100)); 1").value(), Value::from(1));
    assert_eq!(world.paid(), [0.0; 0]);
}

#[test]
fn a_failed_program_runs_no_further_however_fast_its_calls_answer() {
    for (made, standing) in [
        // Withdrawn with the job that made it and failed.
        ("tools.echo({v: 1}).then(pay);", CallStatus::Abandoned),
        ("tools.slow({ms: 50}).then(pay);", CallStatus::Abandoned),
        // What had begun is waited for, and recorded.
        ("tools.slow({ms: 50}).then(pay); await new Promise(r => setTimeout(r, 5));", CallStatus::Completed),
    ] {
        let world = World::new();
        let mut session = world.session();
        let source = format!("const pay = () => tools.pay({{amount: 1}}); {made} throw new Error('stop')");
        let ended = world.run(&mut session, &source).ended();
        assert_eq!(ended.result.unwrap_err().message, "stop");
        assert_eq!(ended.calls.len(), 1, "{made}");
        assert_eq!(status(&session, "1.1"), standing, "{made}");
        assert_eq!(world.paid(), [0.0; 0], "{made}");
    }
}

// ---- the bridge ----

#[test]
fn tools_are_frozen_and_have_no_prototype() {
    let world = World::new();
    let mut session = world.session();
    let source = "'use strict';
        const failed = f => { try { f(); return 'ok' } catch (e) { return e.name } };
        [
            Object.isFrozen(tools), Object.isFrozen(tools.pay),
            Object.getPrototypeOf(tools), Object.getPrototypeOf(tools.pay),
            'constructor' in tools, 'toString' in tools.pay, 'then' in tools,
            failed(() => { tools = {} }), failed(() => { tools.pay = 1 }), failed(() => { tools.more = 1 }),
            failed(() => { delete tools.pay }), failed(() => { delete globalThis.tools }),
            failed(() => Object.defineProperty(globalThis, 'tools', { value: 1 })),
            failed(() => Object.setPrototypeOf(tools, {})), failed(() => { tools.pay.call = 1 }),
            typeof tools.pay, Object.keys(tools).join(),
        ]";
    assert_eq!(
        world.run(&mut session, source).value(),
        json(json!([
            true,
            true,
            null,
            null,
            false,
            false,
            false,
            "TypeError",
            "TypeError",
            "TypeError",
            "TypeError",
            "TypeError",
            "TypeError",
            "TypeError",
            "TypeError",
            "function",
            "big,echo,fail,gate,mirror,pay,payGated,show,slow,slowFail"
        ]))
    );
}

#[test]
fn wrapping_a_tool_does_not_reach_the_next_program() {
    let world = World::new();
    let mut session = world.session();
    let attack = "try { tools.pay = () => 'stolen' } catch {}
        try { var tools2 = tools; Function.prototype.call = () => 'stolen'; Function.prototype.apply = () => 'stolen' } catch {}
        Promise.prototype.then = function () { return 'stolen' };
        globalThis.Promise = class {}; Reflect.apply = () => 'stolen'; JSON.stringify = () => '{}';
        Array.prototype[Symbol.iterator] = null; 1";
    assert_eq!(world.run(&mut session, attack).value(), Value::from(1));
    assert_eq!(world.run(&mut session, "(await tools.pay({amount: 4})).amount").value(), Value::from(4));
    assert_eq!(world.paid(), [4.0]);
}

#[test]
fn a_shadowed_tools_is_the_programs_own_business_only() {
    let world = World::new();
    let mut session = world.session();
    let failure = world.run(&mut session, "let tools = { pay: () => 'mine' }; tools.pay()");
    // Whatever the language makes of it, the next program has the real one.
    drop(failure);
    assert_eq!(world.run(&mut session, "(await globalThis.tools.pay({amount: 2})).n").value(), Value::from(1));
}

#[test]
fn a_then_or_value_on_object_prototype_does_not_reach_results() {
    for attack in [
        "Object.prototype.then = function (f) { f('stolen') }",
        "Object.defineProperty(Object.prototype, 'then', { get() { return f => f('stolen') }, configurable: true })",
        "Object.defineProperty(Object.prototype, 'value', { set() {}, get() { return 'stolen' }, configurable: true })",
        "Object.defineProperty(Object.prototype, 'value', { set() { throw new Error('x') }, configurable: true })",
        "for (const k of ['amount', 'ok', 'n', 'v', 'name', 'message', 'length', '0'])
            Object.defineProperty(Object.prototype, k, { set() { throw new Error('setter ' + k) }, configurable: true })",
        "Object.prototype.toJSON = () => 'stolen'",
    ] {
        let world = World::new();
        let mut session = world.session();
        let source = format!("{attack};\nconst receipt = await tools.pay({{__proto__: null, amount: 4}}); receipt");
        let expected = json(json!({ "ok": true, "n": 1, "amount": 4 }));
        assert_eq!(world.run(&mut session, &source).value(), expected, "{attack}");
        // Set aside what the program itself would trip over.
        assert_eq!(world.run(&mut session, "1 + 1").value(), Value::from(2), "{attack}");
        assert_eq!(world.run(&mut session, "let answer = { a: [7] }; answer").value(), json(json!({ "a": [7] })), "{attack}");
    }
}

#[test]
fn prepare_stack_trace_does_not_run_for_the_host() {
    let mut session = session();
    eval(&mut session, "globalThis.seen = 0; Error.prepareStackTrace = () => { seen++; return 'mine' };");
    let failure = fails(&mut session, "throw new Error('x')");
    assert_eq!((failure.name.as_str(), failure.message.as_str()), ("Error", "x"));
    assert_eq!(eval(&mut session, "Error.prepareStackTrace = undefined; 1"), Value::from(1));
}

#[test]
fn reading_a_result_runs_no_code_of_the_program() {
    let mut session = session();
    let source = "globalThis.ran = 0;
        const o = { get a() { ran++; return 1 }, b: 2, toJSON() { ran++; return 3 } };
        const p = new Proxy({}, { ownKeys() { ran++; return [] }, get() { ran++ } });
        [o, p]";
    let value = eval(&mut session, source);
    assert_eq!(value.to_string(), "[ { a: [Getter], b: 2, toJSON: [Function: toJSON] }, Proxy { ... } ]");
    assert_eq!(eval(&mut session, "ran"), Value::from(0));
}

#[test]
fn what_is_not_there() {
    for name in [
        "fetch",
        "require",
        "process",
        "Deno",
        "XMLHttpRequest",
        "WebAssembly",
        "std",
        "os",
        "print",
        "scriptArgs",
        "Worker",
    ] {
        assert_eq!(eval(&mut session(), &format!("typeof {name}")), text("undefined"), "{name}");
    }
    for source in ["await import('fs')", "await import('std')", "await import('./x.js')"] {
        let failure = fails(&mut session(), source);
        assert_eq!(failure.kind, FailureKind::Exception, "{source}: {failure:?}");
    }
}

#[test]
fn constructor_walks_end_in_the_guest() {
    let world = World::new();
    let mut session = world.session();
    for source in [
        "(() => {}).constructor('return typeof process + typeof require')()",
        "[].map.constructor('return typeof process + typeof require')()",
        "(async () => {}).constructor('return typeof process + typeof require')()",
        "console.log.constructor('return typeof process + typeof require')()",
        "Reflect.getPrototypeOf(async function* () {}).constructor('return 1') && 'undefinedundefined'",
    ] {
        assert_eq!(world.run(&mut session, source).value(), text("undefinedundefined"), "{source}");
    }
    assert_eq!(world.run(&mut session, "tools.pay.constructor").value(), Value::Undefined);
}

#[test]
fn sessions_share_nothing() {
    let mut one = session();
    eval(&mut one, "globalThis.secret = 42; Array.prototype.leak = 1; Object.prototype.x = 1");
    assert_eq!(eval(&mut session(), "[typeof secret, [].leak, ({}).x].join()"), text("undefined,,"));
}

// ---- the console ----

#[test]
fn levels_and_order_of_the_console() {
    let ended = run(
        &mut session(),
        "console.log('a', 1); console.info({ b: [2] }); console.debug(null); console.warn('w'); console.error(new TypeError('e').message);
         console.assert(1 === 2, 'claim'); console.count(); console.count(); console.group('g'); console.log('in'); console.groupEnd(); console.log('out')",
    );
    let lines: Vec<_> = ended.logs.iter().map(|line| (line.level, line.text.as_str())).collect();
    assert_eq!(
        lines,
        [
            (LogLevel::Log, "a 1"),
            (LogLevel::Info, "{ b: [ 2 ] }"),
            (LogLevel::Debug, "null"),
            (LogLevel::Warn, "w"),
            (LogLevel::Error, "e"),
            (LogLevel::Error, "Assertion failed: claim"),
            (LogLevel::Log, "default: 1"),
            (LogLevel::Log, "default: 2"),
            (LogLevel::Log, "g"),
            (LogLevel::Log, "  in"),
            (LogLevel::Log, "out"),
        ]
    );
    assert_eq!(ended.notes, [""; 0]);
}

#[test]
fn the_console_is_bounded_and_says_so() {
    for source in [
        "for (let i = 0; i < 100000; i++) console.log('line ' + i); 1",
        "console.log('x'.repeat(1e6)); console.log('after'); 1",
        "for (let i = 0; i < 100000; i++) console.log(); 1",
        "const big = Array.from({ length: 100000 }, (_, i) => ({ i })); for (let i = 0; i < 20; i++) console.log(big); 1",
    ] {
        let mut session =
            ENGINE.session_with(&Capabilities::none(), with_limits(|limits| limits.console_size = 10_000)).unwrap();
        let ended = run(&mut session, source);
        assert_eq!(ended.result.unwrap(), Value::from(1), "{source}");
        let bytes: usize = ended.logs.iter().map(|line| line.text.len() + 1).sum();
        assert!(bytes <= 10_000 + 1, "{bytes} of {source}");
        assert_eq!(ended.notes, ["console output over 10000 bytes was dropped"], "{source}");
        assert_eq!(run(&mut session, "console.log('fresh')").logs[0].text, "fresh", "the bound is for one program");
    }
}

#[test]
fn the_console_takes_anything() {
    let source = "const cyclic = {}; cyclic.self = cyclic;
        console.log(undefined, Symbol('s'), 10n, -0, NaN, [1, , 3], new Map([[1, { a: 2 }]]), new Set(['x']), cyclic);
        console.log(class A {}, function f() {}, new (class Point { x = 1 })(), Promise.resolve(1), new Error('boom').message);
        console.log({ get trap() { throw new Error('never') } }, new Proxy({}, { get() { throw new Error('never') } }));";
    let ended = run(&mut session(), source);
    let lines: Vec<_> = ended.logs.iter().map(|line| line.text.as_str()).collect();
    assert_eq!(
        lines,
        [
            "undefined Symbol(s) 10n -0 NaN [ 1, <1 empty item>, 3 ] Map(1) { 1 => { a: 2 } } Set(1) { 'x' } <ref *1> { self: [Circular *1] }",
            "[class A] [Function: f] Point { x: 1 } Promise { <fulfilled> } boom",
            "{ trap: [Getter] } Proxy { ... }",
        ]
    );
}

#[test]
fn a_clock_that_is_fixed_stands_still() {
    let mut options = SessionOptions::default();
    options.clock = chrysalid::Clock::Fixed(crate::support::begin());
    let mut session = ENGINE.session_with(&Capabilities::none(), options).unwrap();
    let source = "const a = Date.now(); await new Promise(r => setTimeout(r, 1000)); [a, Date.now(), performance.now(), new Date().toISOString()]";
    assert_eq!(
        eval(&mut session, source),
        json(json!([1_800_000_000_000u64, 1_800_000_000_000u64, 0, "2027-01-15T08:00:00.000Z"]))
    );
}

#[test]
fn objects_after_a_part_that_was_too_large_are_still_the_right_ones() {
    // What was met in the part that is taken back must not count: the references after it would be wrong.
    let source = "const many = Array.from({ length: 600 }, (_, i) => ({ i })); const huge = new Map(Array.from({ length: 5000 }, (_, i) => [{ i }, { i }]));
        const me = { name: 'me' }; me.self = me; console.log(many.length && many, huge, me, me); 1";
    let mut session = ENGINE
        .session_with(
            &Capabilities::none(),
            with_limits(|limits| {
                limits.value_nodes = 4000;
                limits.console_size = 1 << 20;
            }),
        )
        .unwrap();
    let ended = run(&mut session, source);
    assert_eq!(ended.result.unwrap(), Value::from(1));
    let line = &ended.logs[0].text;
    let own = "<ref *1> { name: 'me', self: [Circular *1] }";
    assert!(line.contains("[too large to show]"), "{line}");
    assert!(line.ends_with(&format!("{own} {own}")), "{}", &line[line.len() - 200..]);
}

#[test]
fn dropped_lines_are_noted_also_after_a_snapshot() {
    let world = World::new();
    let mut session = world.session_with(with_limits(|limits| limits.console_size = 1000));
    world.run(&mut session, "console.log('x'.repeat(1e6)); await tools.gate({q: 1}); console.log('after')").waits();
    let mut session = crate::support::moved(session, &world.tools());
    let ended = world.decide(&mut session, "1.1", chrysalid::Decision::Approve).ended();
    assert_eq!(ended.notes, ["console output over 65536 bytes was dropped"]);
    assert_eq!(ended.logs.last().unwrap().text, "after");
}

#[test]
fn a04_a_deadlock_only_when_it_is_one() {
    let mut session = ENGINE
        .session_with(
            &Capabilities::none(),
            with_limits(|limits| limits.cpu_time = std::time::Duration::from_millis(200)),
        )
        .unwrap();
    for source in [
        "await new Promise(async out => { while (1) {} out(1); })",
        "(function f(){ Promise.resolve().then(f); })(); await new Promise(() => {})",
    ] {
        assert_eq!(fails(&mut session, source).kind, FailureKind::Timeout, "{source}");
    }
}

#[test]
fn plain_recursion_of_a_thousand_levels_works() {
    let source = "function down(k) { return k ? down(k - 1) + 1 : 0 } down(1000)";
    assert_eq!(eval(&mut session(), source), Value::from(1000));
}

#[test]
fn a_top_level_return_ends_the_program_wherever_it_stands() {
    for (source, value) in [
        ("return", Value::Undefined),
        ("const x = 1; if (x) return // done", Value::Undefined),
        ("for (const x of [1, 2, 3]) { if (x === 2) return x }\n9", Value::from(2)),
        ("try { return 1 } finally { globalThis.ran = true }", Value::from(1)),
        ("outer: for (;;) { for (;;) { return 'deep' } }", text("deep")),
        ("switch (3) { case 3: return 'three' } 4", text("three")),
        ("const f = () => { return 5 }; f() + 1", Value::from(6)),
        ("return await Promise.resolve(7)", Value::from(7)),
        ("return Promise.resolve(8)", Value::from(8)),
        ("return { value: 9 }", object([("value", Value::from(9))])),
    ] {
        assert_eq!(eval(&mut session(), source), value, "{source}");
    }
    let mut closing = session();
    let source = "globalThis.closed = 0;
        const each = { [Symbol.iterator]: () => ({ next: () => ({ value: 1 }), return() { closed++; return {} } }) };
        for (const x of each) return x";
    assert_eq!(eval(&mut closing, source), Value::from(1));
    assert_eq!(eval(&mut closing, "closed"), Value::from(1), "the iterator was closed");
    // Names that were declared before it stay.
    let mut session = session();
    assert_eq!(eval(&mut session, "const m = 1; if (m > 0) return { m }; 'unreached'").to_string(), "{ m: 1 }");
    assert_eq!(eval(&mut session, "m"), Value::from(1));
}

#[test]
fn names_in_blocks_are_those_of_the_language() {
    let source = "const helper = () => 1; if (true) { function helper() { return 2 } } helper()";
    assert_eq!(eval(&mut session(), source), Value::from(1));
    assert_eq!(eval(&mut session(), "{ function late() { return 3 } } late()"), Value::from(3));
    for source in
        ["let x = 1; { var x = 2 }", "let x = 1; { var x = 2 } return", "let y; for (var y of []) {} return y"]
    {
        let message = "SyntaxError: invalid redefinition of lexical identifier";
        assert_eq!(fails(&mut session(), source).to_string(), message, "{source}");
    }
}
