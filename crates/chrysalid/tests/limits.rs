//! Limits: each ends in a typed failure, and where the heap is sound the session lives on.

use std::time::Duration;

use chrysalid::{Capabilities, ErrorKind, FailureKind, Heap, Session, SessionOptions, Value};
use serde_json::json;

use crate::support::{ENGINE, World, eval, fails, json, run, session, text, with_limits};

fn limited(change: impl FnOnce(&mut chrysalid::Limits)) -> Session {
    ENGINE.session_with(&Capabilities::none(), with_limits(change)).unwrap()
}

// ---- memory ----

#[test]
fn memory_ends_in_out_of_memory_and_the_session_lives_on() {
    let hogs = [
        "const a = []; for (;;) a.push(new Array(1000).fill(1))",
        "const a = []; for (;;) a.push({ n: a.length, s: 'x' + a.length })",
        "let s = 'x'; const all = []; for (;;) { s += s.length; all.push(s + Math.random()) }",
        "const a = []; for (;;) a.push(new Uint8Array(1 << 20).fill(1))",
        "const a = []; for (;;) a.push(new ArrayBuffer(100000))",
        "const m = new Map(); for (let i = 0;; i++) m.set(i, i + '')",
        "const m = new Set(); for (let i = 0;; i++) m.add({ i })",
        "const a = []; for (;;) a.push(() => a)",
        "const a = []; for (;;) a.push(new Promise(() => {}))",
        "const a = []; for (;;) a.push(/x/g)",
        "const o = {}; for (let i = 0;; i++) o['key' + i] = i",
        "const a = []; for (;;) a.push(Symbol('s' + a.length))",
        "const a = []; for (;;) a.push(2n ** 10000n + BigInt(a.length))",
        "const a = []; for (;;) a.push(new Date())",
        "const a = []; async function f() { await new Promise(() => {}) } for (;;) a.push(f())",
        "const a = []; function* g() { yield 1 } for (;;) { const i = g(); i.next(); a.push(i) }",
        "let p = Promise.resolve(); for (;;) p = p.then(() => {})",
        "for (;;) queueMicrotaskOrThen(); function queueMicrotaskOrThen() { Promise.resolve().then(() => {}) }",
        "for (;;) setTimeout(() => {}, 1000)",
    ];
    for hog in hogs {
        let mut session = limited(|limits| limits.memory = 16 << 20);
        eval(&mut session, "let kept = 'kept'");
        let ended = run(&mut session, hog);
        let failure = ended.result.unwrap_err();
        assert_eq!(failure.kind, FailureKind::OutOfMemory, "{hog}: {failure:?}");
        assert_eq!(failure.message, "the program used more than 16777216 bytes of memory", "{hog}");
        let next = run(&mut session, "typeof kept");
        assert_eq!(next.result, Ok(text("string")), "{hog}, heap {:?}", ended.heap);
    }
}

#[test]
fn what_filled_the_memory_can_be_let_go_of() {
    let mut session = limited(|limits| limits.memory = 16 << 20);
    for _ in 0..3 {
        let ended = run(&mut session, "const full = []; for (;;) full.push(new Uint8Array(10000))");
        assert_eq!(ended.result.unwrap_err().kind, FailureKind::OutOfMemory);
        if ended.heap == Heap::Intact {
            eval(&mut session, "full.length = 0");
        }
        assert_eq!(eval(&mut session, "new Uint8Array(8 << 20).length"), Value::from(8 << 20));
    }
}

#[test]
fn a_heap_that_is_full_to_the_last_bit_is_not_kept() {
    let mut session = limited(|limits| limits.memory = 16 << 20);
    eval(&mut session, "let kept = { n: 'before' }");
    let hogs = [
        "const all = []; for (;;) all.push({ n: all.length })",
        "const all = []; for (;;) all.push(class { m() {} })",
        "globalThis.all = []; for (;;) all.push(String(all.length).padEnd(40))",
    ];
    for hog in hogs {
        let ended = run(&mut session, hog);
        assert_eq!((ended.result.unwrap_err().kind, ended.heap), (FailureKind::OutOfMemory, Heap::Reset), "{hog}");
        assert_eq!(eval(&mut session, "['abc' + kept.n, typeof all].join()"), text("abcbefore,undefined"));
    }
}

#[test]
fn a_pattern_for_which_there_is_no_memory_is_no_syntax_error() {
    let mut session = limited(|limits| limits.memory = 16 << 20);
    let failure = fails(&mut session, "const all = []; for (;;) all.push(new RegExp('a'.repeat(1000) + all.length))");
    assert_eq!(failure.kind, FailureKind::OutOfMemory, "{failure:?}");
}

#[test]
fn a_program_that_keeps_more_than_the_limit_fails_also_when_it_caught_the_error() {
    let mut session = limited(|limits| limits.memory = 16 << 20);
    eval(&mut session, "globalThis.kept = 1");
    for _ in 0..5 {
        let ended = run(
            &mut session,
            "globalThis.hold ??= []; for (let i = 0; i < 2; i++) { try { for (;;) hold.push(new Uint8Array(1000)) } catch {} } 'done'",
        );
        if let Err(failure) = &ended.result {
            assert_eq!(failure.kind, FailureKind::OutOfMemory);
        }
        assert_eq!(eval(&mut session, "kept"), Value::from(1), "{ended:?}");
    }
}

#[test]
fn l08_many_typed_arrays_can_be_caught() {
    let source = "const k = []; try { for (;;) k.push(new Uint8Array(1 << 20).fill(1)); } catch (e) { [e && e.name, k.length < 64].join() }";
    assert_eq!(eval(&mut session(), source), text("InternalError,true"));
}

#[test]
fn l09_an_object_flood_has_a_name_and_twenty_rounds_do_not_leak() {
    let source = "let e1; try { const c = []; for (;;) c.push({i: c.length, s: \"x\" + c.length}); } catch (e) { e1 = e === null ? \"NULL\" : e.name; }\ne1";
    let mut session = limited(|limits| limits.memory = 16 << 20);
    for _ in 0..20 {
        assert_eq!(eval(&mut session, source), text("InternalError"));
    }
    assert_eq!(eval(&mut session, "new Array(100000).fill(0).length"), Value::from(100_000));
}

#[test]
fn l10_one_huge_allocation() {
    let bombs = [
        "new Array(1e8).fill(0).length",
        "'x'.padEnd(2 ** 29).length",
        "'ab'.repeat(2 ** 28).length",
        "new ArrayBuffer(1e9).byteLength",
        "[...Array(1e8).keys()].length",
        "new Uint8Array(2 ** 31).length",
        "'x'.repeat(2 ** 40)",
        "new Array(-1)",
        "const s = 'x'.repeat(2 ** 24); s.replaceAll('x', s).length",
        "Array.from({ length: 1e9 }).length",
        "new Uint8Array(8).buffer.transfer?.(2 ** 30) ?? new ArrayBuffer(2 ** 30)",
        "2n ** (2n ** 40n)",
        "JSON.stringify('\\u0000'.repeat(2 ** 24)).length",
        "encodeURIComponent('é'.repeat(2 ** 24)).length",
    ];
    for bomb in bombs {
        let mut session = limited(|limits| {
            limits.memory = 32 << 20;
            limits.cpu_time = Duration::from_millis(500);
        });
        eval(&mut session, "let kept = 1");
        let failure = fails(&mut session, bomb);
        let sound = failure.kind == FailureKind::OutOfMemory
            || failure.kind == FailureKind::Timeout
            || (failure.kind == FailureKind::Exception && failure.name == "RangeError");
        assert!(sound, "{bomb}: {failure:?}");
        assert_eq!(eval(&mut session, "kept"), Value::from(1), "{bomb}");
        // Caught, it leaves the program running.
        let caught = run(&mut session, &format!("let r; try {{ {bomb} }} catch (e) {{ r = e.name }} 'went on'"));
        match caught.result {
            Ok(value) => assert_eq!(value, text("went on")),
            Err(failure) => {
                assert!(matches!(failure.kind, FailureKind::Timeout | FailureKind::OutOfMemory), "{bomb}: {failure:?}");
            }
        }
    }
}

#[test]
fn memory_that_is_given_back_can_be_used_again() {
    let mut session = limited(|limits| limits.memory = 16 << 20);
    let source =
        "let total = 0; for (let i = 0; i < 50; i++) { const b = new Uint8Array(4 << 20); total += b.length } total";
    for _ in 0..5 {
        assert_eq!(eval(&mut session, source), Value::from(50.0 * f64::from(4 << 20)));
    }
}

#[test]
fn many_failures_at_the_memory_limit_do_not_widen_it() {
    let mut session = limited(|limits| limits.memory = 16 << 20);
    let measure =
        "let n = 0; const a = []; try { for (;;) { a.push(new Uint8Array(1 << 18)); n++ } } catch {} a.length = 0; n";
    let first = eval(&mut session, measure).as_f64().unwrap();
    for _ in 0..20 {
        let again = eval(&mut session, measure).as_f64().unwrap();
        assert!((again - first).abs() <= 2.0, "{first} blocks at first, then {again}");
    }
}

// ---- CPU time ----

const LIMIT: Duration = Duration::from_millis(150);

#[test]
fn work_that_takes_less_than_the_limit_is_not_stopped() {
    let mut session = limited(|limits| limits.cpu_time = Duration::from_secs(20));
    let source = "let s = 0; for (let i = 0; i < 3e6; i++) s += i % 3; const a = Array.from({ length: 50000 }, (_, i) => i); [s, JSON.parse(JSON.stringify(a)).length]";
    assert_eq!(eval(&mut session, source), json(json!([3_000_000, 50_000])));
}

#[test]
fn each_program_has_its_own_time() {
    let mut session = limited(|limits| limits.cpu_time = LIMIT);
    for _ in 0..4 {
        let source = "const until = performance.now() + 60; while (performance.now() < until); 'in time'";
        assert_eq!(eval(&mut session, source), text("in time"));
    }
}

#[test]
fn waiting_and_host_calls_cost_no_time() {
    let world = World::new();
    let mut session = world.session_with(with_limits(|limits| limits.cpu_time = LIMIT));
    let source = "await new Promise(r => setTimeout(r, 20000)); await tools.slow({ms: 100000, v: 1}); 'awake'";
    assert_eq!(world.run(&mut session, source).value(), text("awake"));
}

// ---- sizes ----

#[test]
fn source_that_is_too_large_names_the_bound() {
    let mut session = session();
    let refused = session.start(&" ".repeat(10 << 20)).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::SourceTooLarge);
    assert_eq!(refused.to_string(), "source of 10485760 bytes is more than 262144");
    assert!(session.is_idle());
    let mut session = limited(|limits| limits.source_size = 5);
    assert_eq!(session.start("123456").unwrap_err().to_string(), "source of 6 bytes is more than 5");
    assert_eq!(eval(&mut session, "12345"), Value::from(12345));
}

#[test]
fn a_large_source_runs() {
    let mut session = session();
    let lines = (0..10_000).map(|n| format!("a.push({n});")).collect::<Vec<_>>().join("\n");
    assert_eq!(eval(&mut session, &format!("const a = [];\n{lines}\na.length")), Value::from(10_000));
    let mut session = limited(|limits| limits.source_size = 20 << 20);
    let source = format!("'{}'.length", "x".repeat(10 << 20));
    assert_eq!(eval(&mut session, &source), Value::from(10 << 20));
}

#[test]
fn a_result_that_is_too_large_is_a_failure_and_the_session_lives_on() {
    let mut session = limited(|limits| limits.result_size = 10_000);
    for source in [
        "'x'.repeat(20000)",
        "new Uint8Array(20000)",
        "Array.from({ length: 10000 }, (_, i) => i)",
        "new Array(4294967295)",
    ] {
        let failure = fails(&mut session, source);
        assert_eq!(failure.kind, FailureKind::ResultTooLarge, "{source}");
        assert_eq!(
            failure.message, "the program's value is larger than 10000 bytes or deeper than the limit",
            "{source}"
        );
    }
    // What is thrown is cut rather than lost.
    let failure = fails(&mut session, "throw new RangeError('x'.repeat(1e6))");
    assert_eq!((failure.kind, failure.name.as_str()), (FailureKind::Exception, "RangeError"));
    assert!((1000..100_000).contains(&failure.message.len()), "{}", failure.message.len());
    assert_eq!(eval(&mut session, "'x'.repeat(9000).length"), Value::from(9000));
}

#[test]
fn l20_big_arguments_and_results() {
    let world = World::new();
    let mut session = world.session_with(with_limits(|limits| limits.memory = 200 << 20));
    let failure = world.run(&mut session, "await tools.echo({v: \"z\".repeat(60 << 20)})").failure();
    assert_eq!(failure.to_string(), "ArgumentTooLarge: arguments are larger than 1048576 bytes");
    assert_eq!(world.calls(), [""; 0]);
    let ended = world.run(&mut session, "const kept = 'kept'; await tools.big({n: 100 << 20})").ended();
    assert_eq!(
        (ended.result.unwrap_err().to_string().as_str(), ended.heap),
        ("ResultTooLarge: result of big: value is 104857605 bytes or more, more than 4194304", Heap::Intact)
    );
    assert_eq!(world.run(&mut session, "kept").value(), text("kept"));
    assert_eq!(world.run(&mut session, "(await tools.big({n: 4000000})).length").value(), Value::from(4_000_000));
}

#[test]
fn an_answer_for_which_there_is_no_memory_fails_the_call_or_the_program() {
    let world = World::new();
    let mut session = world.session_with(with_limits(|limits| limits.memory = 16 << 20));
    let source = "const hold = []; try { for (;;) hold.push(new Uint8Array(1 << 16)) } catch {} let r; try { r = (await tools.big({n: 3000000})).length } catch (e) { hold.length = 0; r = e.name } r";
    let ended = world.run(&mut session, source).ended();
    match ended.result {
        Ok(value) => assert_eq!(value, text("InternalError")),
        Err(failure) => assert_eq!(failure.kind, FailureKind::OutOfMemory),
    }
    assert_eq!(world.run(&mut session, "1").value(), Value::from(1), "{:?}", ended.heap);
}

#[test]
fn limits_are_on_by_default() {
    let mut session = session();
    assert_eq!(session.limits().cpu_time, Duration::from_secs(5));
    assert_eq!(session.limits().memory, 64 << 20);
    assert_eq!(run(&mut session, "1").heap, Heap::Intact);
    let options = SessionOptions::default();
    assert!(options.limits.is_none());
}
