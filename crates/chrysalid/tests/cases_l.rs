//! Cases of limits, each named by its id: programs that would use up time, memory, stack or calls.

use std::time::{Duration, Instant};

use chrysalid::{Capabilities, FailureKind, Heap, Session, Value};

use crate::measure::{
    Whole, best_of_three, cpu_time, end_of, limited_to, process_time, resident, stopped, threads, trapped, within,
};
use crate::support::{ENGINE, World, begin, builder, eval, run, session, text, with_limits};

const SECOND: Duration = Duration::from_secs(1);

/// A session whose programs have a second of CPU time.
fn second() -> Session {
    limited_to(SECOND)
}

/// Ends with a timeout, within 1.2 times its second.
#[track_caller]
fn times_out(source: &str, heap: Heap) {
    let end = if heap == Heap::Intact { stopped(SECOND) } else { trapped(SECOND) };
    assert_eq!(within(SECOND, source, Whole::Thread), end, "{source}");
}

#[test]
fn l01_an_endless_loop_that_catch_and_finally_hold_on_to() {
    times_out(
        "let k = 0; while (true) { try { while (true) {} } catch (e) { k++; } finally { for (;;) {} } }",
        Heap::Intact,
    );
}

#[test]
fn l02_an_endless_loop_of_microtasks() {
    let mut session = second();
    let ended = run(&mut session, "async function spin(){ while (true) await Promise.resolve(); } spin(); \"x\"");
    assert_eq!(end_of(&ended), stopped(SECOND));
    assert_eq!(eval(&mut session, "'next'"), text("next"));
    assert!(session.cpu_time() < SECOND / 10, "jobs of the stopped program run on: {:?}", session.cpu_time());
}

#[test]
fn l04_loops_inside_built_ins() {
    times_out("Array.prototype.indexOf.call({length: 4294967295}, 99)", Heap::Intact);
    times_out("new Array(1e9).join()", Heap::Reset);
    times_out("new Array(1_000_000_000) + \"\"", Heap::Reset);
    times_out("[].lastIndexOf.call({length: 2 ** 53 - 1}, 1)", Heap::Intact);
    let failure = run(&mut second(), "\"x\".repeat(2 ** 26).localeCompare(\"x\".repeat(2 ** 26) + \"y\")").result;
    assert_eq!(failure.unwrap_err().kind, FailureKind::OutOfMemory);
}

#[test]
fn l05_bigint_arithmetic() {
    let failure =
        run(&mut second(), "let b = 7n ** 300000n; for (let i = 0; i < 50; i++) String(b * b % (b - 1n)).length")
            .result;
    assert_eq!(failure.unwrap_err().to_string(), "RangeError: BigInt is too large to allocate");
}

#[test]
fn l06_code_that_built_ins_and_the_host_call_back() {
    times_out("[3, 1, 2].sort(() => { for (;;) {} })", Heap::Intact);
    times_out("JSON.parse(\"[1,2]\", () => { for (;;) {} })", Heap::Intact);
    times_out("for (;;) { try { console.log({get a(){ for (;;) {} }}); } catch {} }", Heap::Intact);
    let source = "try { console.log({toString(){ for (;;) {} }, get a(){ for (;;) {} }}); } catch {} \"caught\"";
    let ended = run(&mut second(), source);
    assert_eq!(ended.result, Ok(text("caught")));
    assert_eq!(ended.logs[0].text, "{ toString: [Function: toString], a: [Getter] }");
}

#[test]
fn l09_an_object_flood_that_nobody_catches() {
    let mut session = session();
    let ended = run(&mut session, "const c = []; for (;;) c.push({i: c.length, s: \"x\" + c.length});");
    let failure = ended.result.unwrap_err();
    assert_eq!(failure.to_string(), "OutOfMemory: the program used more than 67108864 bytes of memory");
    assert!(session.cpu_time() < 2 * SECOND, "{:?}", session.cpu_time());
    assert_eq!(eval(&mut session, "1 + 1"), Value::from(2));
}

#[test]
fn l12_recursion_in_json() {
    let deep = "let o = {}; for (let i = 0; i < 1e5; i++) o = {o};";
    for source in [
        "try { JSON.parse(\"[\".repeat(200000)) } catch (e) { String(e) }".to_owned(),
        format!("{deep} try {{ JSON.stringify(o).length }} catch (e) {{ String(e) }}"),
    ] {
        let mut session = session();
        assert_eq!(eval(&mut session, &source), text("RangeError: Maximum call stack size exceeded"), "{source}");
        assert_eq!(eval(&mut session, "1"), Value::from(1));
    }
}

#[test]
fn l14_recursion_through_proxies_and_thenables() {
    let proxy = "const p = new Proxy(function(){}, {}); p.__proto__ = p; try { p + 1; } catch (e) { e.name }";
    assert_eq!(eval(&mut second(), proxy), text("RangeError"));
    times_out("const t = {then(r){ r(t); }}; await t", Heap::Intact);
    let pattern = "new RegExp(\"(\".repeat(200) + \"a\" + \")*\".repeat(200)).test(\"a\".repeat(1e5))";
    assert_eq!(eval(&mut second(), pattern), Value::from(true));
}

#[test]
fn l16_finalizers_that_arm_themselves_end_with_the_program() {
    let mut session = second();
    let source = "function mk(){ const r = new FinalizationRegistry(() => { globalThis.foo = mk(); }); r.register([]); r.register([]); return r; } mk(); \"x\"";
    // Each finalizer makes two more; once the value is known nobody is told any more.
    let ended = run(&mut session, source);
    assert_eq!((ended.result, ended.heap), (Ok(text("x")), Heap::Intact));
    assert!(session.is_idle());
    assert_eq!(eval(&mut session, "1"), Value::from(1));
    assert!(session.cpu_time() < SECOND / 10, "{:?}", session.cpu_time());
}

#[test]
fn l17_a_flood_of_calls() {
    let world = World::new();
    let source = "let ok = 0, bad = 0, m = \"\"; for (let i = 0; i < 400; i++) { try { await tools.pay({amount: 1}); ok++; } catch (e) { bad++; m = e.name; } }\n[ok, bad, m].join()";
    assert_eq!(world.run(&mut world.session(), source).value(), text("256,144,CallBudgetExceeded"));
    assert_eq!(world.paid(), [1.0; 256]);
}

#[test]
fn l21_limits_are_on_by_default_and_none_means_none() {
    let ended = run(&mut session(), "while(true){}");
    assert_eq!(end_of(&ended), stopped(Duration::from_secs(5)));
    let endless = with_limits(|limits| limits.cpu_time = Duration::MAX);
    let mut session = ENGINE.session_with(&Capabilities::none(), endless).unwrap();
    assert_eq!(eval(&mut session, "for (let i=0;i<1e8;i++); \"done\""), text("done"));
}

#[test]
fn l22_sleeping_parks_and_a_wall_limit_ends_it() {
    let source = "await new Promise(r => setTimeout(r, 3.6e6)); \"late\"";
    let world = World::new();
    let mut session = world.session();
    let pause = world.run(&mut session, source).paused();
    assert_eq!(pause.pending, []);
    // The guest's own time before it slept counts.
    let wake_at = pause.wake_at.unwrap();
    assert!(wake_at.duration_since(begin() + Duration::from_hours(1)).unwrap() < SECOND, "{wake_at:?}");
    world.advance_to(wake_at);
    assert_eq!(world.drive(&mut session).value(), text("late"));

    let mut options = with_limits(|limits| limits.wall_time = Some(Duration::from_mins(1)));
    options.park_after = Some(Duration::from_hours(2));
    let failure = world.run(&mut world.session_with(options), source).failure();
    assert_eq!(failure.to_string(), "WallTimeout: the program used more than 60s of wall-clock time");
}

/// Runs in a process of its own: CPU time of the whole process up to its first result, which is what a machine that does
/// nothing else takes, and how long one of a hundred sessions after it takes, both in microseconds.
pub(crate) fn first_result() -> Vec<u8> {
    let engine = builder().build().unwrap();
    assert_eq!(eval(&mut engine.session(&Capabilities::none()).unwrap(), "1 + 1"), Value::from(2));
    let first = process_time().as_micros();
    let mut sessions: Vec<u128> = (0..100)
        .map(|_| {
            let begun = Instant::now();
            let mut session = engine.session(&Capabilities::none()).unwrap();
            assert_eq!(eval(&mut session, "1 + 1"), Value::from(2));
            begun.elapsed().as_micros()
        })
        .collect();
    sessions.sort_unstable();
    format!("{first} {}", sessions[50]).into_bytes()
}

#[test]
fn l24_start_up() {
    // The first may have to compile the guest.
    crate::worker::in_fresh_process("first_result", &[]);
    best_of_three(|| {
        let output = String::from_utf8(crate::worker::in_fresh_process("first_result", &[])).unwrap();
        let (first, later) = output.split_once(' ').unwrap();
        (first.parse::<u64>().unwrap() < 150_000 && later.parse::<u64>().unwrap() < 5_000).then_some(()).ok_or(output)
    });
}

/// Runs in a process of its own.
pub(crate) fn sessions_come_and_go() -> Vec<u8> {
    let engine = builder().pool_slots(4).build().unwrap();
    let once = |objects: u32| {
        let mut session = engine.session(&Capabilities::none()).unwrap();
        let source = format!(
            "await Promise.resolve().then(() => {{ const a = []; for (let i = 0; i < {objects}; i++) a.push({{i}}); }})"
        );
        assert_eq!(eval(&mut session, &source), Value::Undefined);
    };
    // Every tenth as large as in the case; the others are there for their number.
    let round = || (0..500).for_each(|number| once(if number % 10 == 0 { 100_000 } else { 1_000 }));
    round();
    let (memory, running) = (resident(), threads());
    (0..9).for_each(|_| round());
    assert!(resident() * 10 <= memory * 11, "{memory} bytes grew to {}", resident());
    assert_eq!(threads(), running);
    Vec::new()
}

#[test]
fn l25_sessions_come_and_go() {
    crate::worker::in_fresh_process("sessions", &[]);
}

// ---- the engine's own count of memory ----

#[test]
fn what_memory_counts_does_not_drift() {
    // Blocks whose neighbours come and go: what each gave back at its end was once more than it had taken.
    let mut session = session();
    let source =
        "let s = 'x'; for (let i = 0; i < 600000; i++) { s += s + 'y'; if (s.length > 1 << 12) s = 'x' } s.length";
    let ended = run(&mut session, source);
    assert_eq!((ended.result, ended.heap), (Ok(Value::from(1)), Heap::Intact));
    let failure = run(&mut session, "const a = []; for (;;) a.push(new Uint8Array(1 << 16))").result.unwrap_err();
    assert_eq!(failure.kind, FailureKind::OutOfMemory);
    assert_eq!(eval(&mut session, "s.length"), Value::from(1));
}

#[test]
fn a_function_that_fails_without_an_exception_is_out_of_memory() {
    let long = "'\\ud55c'.repeat(1 << 21).normalize('NFKD')";
    for source in [
        long.to_owned(),
        format!("await 0; {long}"),
        format!("setTimeout(() => {long}, 1); 1"),
        format!("Promise.resolve().then(() => {long}); 1"),
    ] {
        let mut session = session();
        let failure = run(&mut session, &source).result.unwrap_err();
        assert_eq!(
            failure.to_string(),
            "OutOfMemory: the program used more than 67108864 bytes of memory",
            "{source}: {failure:?}"
        );
        assert_eq!(eval(&mut session, "1"), Value::from(1));
    }
}

#[test]
fn the_time_that_a_program_used_can_be_read() {
    let mut session = session();
    assert_eq!(session.cpu_time(), Duration::ZERO);
    let before = cpu_time();
    eval(&mut session, "for (let i = 0; i < 1e6; i++);");
    let used = session.cpu_time();
    assert!(used > Duration::from_millis(1) && used <= cpu_time().saturating_sub(before), "{used:?}");
    eval(&mut session, "1");
    assert!(session.cpu_time() < used);
}
