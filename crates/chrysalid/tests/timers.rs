//! Timers: waits of a driver, pauses when they are long, and what a snapshot does to them.

use std::time::Duration;

use chrysalid::{Capabilities, Decision, ErrorKind, SessionOptions, Step, Value};
use serde_json::json;

use crate::support::{BOTH, ENGINE, World, begin, id, json, moved, run, session, shown, step, text};

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn s14_a_cleared_timer_leaves_no_wait() {
    for way in BOTH {
        let world = World::new();
        let mut session = world.session();
        let source = "const t = setTimeout(() => {}, 60000);\nawait new Promise(r => setTimeout(r, 1)); clearTimeout(t);\nawait tools.gate({q: \"?\"});\nawait new Promise(r => setTimeout(r, 1));\n\"CM\"";
        let pause = world.run(&mut session, source).paused();
        assert_eq!(pause.wake_at, None);
        let mut session = way.pass(session, &world.tools());
        let before = world.time();
        assert_eq!(world.decide(&mut session, "1.1", Decision::Approve).value(), text("CM"));
        assert!(world.time() < before + SECOND);
    }
}

#[test]
fn s14_timers_that_came_due_during_the_pause_fire_in_due_order() {
    for way in BOTH {
        let world = World::new();
        let mut session = world.session();
        let source = "const seen = []; const at = (n, ms) => setTimeout(() => seen.push(n), ms);
            at('c', 90000); at('a', 50000); at('b', 70000); at('late', 5000000); const d = at('never', 60000); clearTimeout(d);
            await tools.gate({q: 1}); seen.push('gate'); await new Promise(r => setTimeout(r, 0)); seen.join()";
        let pause = world.run(&mut session, source).paused();
        let wake = pause.wake_at.unwrap().duration_since(begin()).unwrap();
        assert!((50 * SECOND..51 * SECOND).contains(&wake), "the earliest timer is told: {wake:?}");
        let mut session = way.pass(session, &world.tools());
        world.advance(100 * SECOND);
        session.decide(id("1.1"), Decision::Approve).unwrap();
        let value = loop {
            match world.drive(&mut session) {
                crate::support::Halt::Ended(ended) => break ended.result.unwrap(),
                // The late one is still set when the value is known.
                crate::support::Halt::Paused(pause) => world.advance_to(pause.wake_at.unwrap()),
            }
        };
        let order = value.as_str().unwrap().to_owned();
        assert_eq!(order.replace("gate,", ""), "a,b,c", "{order}");
    }
}

#[test]
fn timers_fire_by_due_time_then_by_age() {
    let mut session = session();
    let source = "const seen = []; const at = (n, ms) => setTimeout(x => seen.push(x), ms, n);
        at('c', 30); at('a', 10); at('b1', 20); at('b2', 20); at('zero', 0); at('none'); at('negative', -5); at('text', '15');
        await new Promise(r => setTimeout(r, 60)); seen.join()";
    assert_eq!(run(&mut session, source).result.unwrap(), text("zero,none,negative,a,text,b1,b2,c"));
}

#[test]
fn a_timer_may_clear_others_and_set_more() {
    let mut session = session();
    let source = "const seen = []; let b; setTimeout(() => { seen.push('a'); clearTimeout(b); setTimeout(() => seen.push('c'), 5) }, 10);
        b = setTimeout(() => seen.push('b'), 20); clearTimeout(undefined); clearTimeout(null); clearTimeout({}); clearTimeout(999); clearInterval(-1);
        await new Promise(r => setTimeout(r, 50)); seen.join()";
    assert_eq!(run(&mut session, source).result.unwrap(), text("a,c"));
    let failure = run(&mut session, "setTimeout('code', 5)").result.unwrap_err();
    assert_eq!(failure.to_string(), "TypeError: setTimeout: the first argument is not a function");
}

#[test]
fn one_shot_timers_are_waited_for_and_intervals_are_cleared_with_a_note() {
    let mut session = session();
    let ended = run(&mut session, "globalThis.n = 0; setTimeout(() => { n++ }, 1000); 'value'");
    assert_eq!((ended.result.unwrap(), ended.notes.len()), (text("value"), 0));
    assert_eq!(run(&mut session, "n").result.unwrap(), Value::from(1));

    let ended = run(
        &mut session,
        "setInterval(() => { n += 10 }, 10); setInterval(() => {}, 10); await new Promise(r => setTimeout(r, 55)); n",
    );
    assert_eq!(ended.notes, ["2 intervals were still set and have been cleared"]);
    let counted = ended.result.unwrap();
    assert_eq!(run(&mut session, "await new Promise(r => setTimeout(r, 100)); n").result.unwrap(), counted);
}

#[test]
fn an_interval_counts_and_clears_itself() {
    let mut session = session();
    let source = "let n = 0; await new Promise(r => { const t = setInterval(() => { if (++n === 5) { clearInterval(t); r() } }, 10) }); await new Promise(r => setTimeout(r, 100)); n";
    let ended = run(&mut session, source);
    assert_eq!((ended.result.unwrap(), ended.notes.len()), (Value::from(5), 0));
}

#[test]
fn a_long_timer_is_a_pause_and_a_short_one_a_wait() {
    let mut session = session();
    session
        .start("await new Promise(r => setTimeout(r, 29000)); await new Promise(r => setTimeout(r, 31000)); 'late'")
        .unwrap();
    let Step::Wait { wake_at: Some(first) } = step(&mut session, begin()) else { panic!() };
    let Step::Paused(pause) = step(&mut session, first) else { panic!() };
    assert_eq!(pause.pending, []);
    let second = pause.wake_at.unwrap();
    assert!(second >= first + 31 * SECOND);
    assert!(matches!(step(&mut session, second - SECOND), Step::Wait { .. }), "now it is near enough to wait");
    let Step::Ended(ended) = step(&mut session, second) else { panic!() };
    assert_eq!(ended.result.unwrap(), text("late"));
}

#[test]
fn park_after_is_an_option() {
    let mut options = SessionOptions::default();
    options.park_after = Some(SECOND);
    let mut session = ENGINE.session_with(&Capabilities::none(), options).unwrap();
    session.start("await new Promise(r => setTimeout(r, 2000)); 1").unwrap();
    assert!(matches!(step(&mut session, begin()), Step::Paused(_)));

    let mut options = SessionOptions::default();
    options.park_after = Some(Duration::MAX);
    let mut session = ENGINE.session_with(&Capabilities::none(), options).unwrap();
    session.start("await new Promise(r => setTimeout(r, 1e12)); 1").unwrap();
    assert!(matches!(step(&mut session, begin()), Step::Wait { wake_at: Some(_) }));
}

#[test]
fn a_session_that_sleeps_for_days_is_moved() {
    let world = World::new();
    let mut session = world.session();
    let source = "const a = Date.now(); await new Promise(r => setTimeout(r, 3 * 86400e3)); const days = (Date.now() - a) / 86400e3; await tools.echo({v: days >= 3 && days < 3.1})";
    let pause = world.run(&mut session, source).paused();
    let mut session = moved(session, &world.tools());
    world.advance_to(pause.wake_at.unwrap());
    assert_eq!(world.drive(&mut session).value(), Value::from(true));
}

#[test]
fn a_pause_for_a_person_says_when_to_look_again() {
    let world = World::new();
    let mut session = world.session();
    let source = "await Promise.race([tools.gate({q: 1}), new Promise(r => setTimeout(() => r('timed out'), 3600e3))])";
    let pause = world.run(&mut session, source).paused();
    assert_eq!(shown(&pause), ["1.1 gate { q: 1 }"]);
    world.advance_to(pause.wake_at.unwrap());
    assert_eq!(world.drive(&mut session).value(), text("timed out"));
    assert_eq!(session.decide(id("1.1"), Decision::Approve).unwrap_err().kind(), ErrorKind::AlreadyDecided);
}

#[test]
fn performance_now_never_goes_back_and_starts_where_the_snapshot_left_it() {
    let world = World::new();
    let mut session = world.session();
    let source = "const a = performance.now(); await new Promise(r => setTimeout(r, 500)); await tools.gate({q: 1}); const b = performance.now(); await new Promise(r => setTimeout(r, 500)); const c = performance.now();
        [a >= 0, b - a >= 500 && b - a < 1500, c - b >= 500 && c - b < 1500, Math.floor(a) === a]";
    world.run(&mut session, source).waits();
    let bytes = session.snapshot().unwrap();
    world.advance(1000 * SECOND);
    let mut session = ENGINE.restore(&bytes, &world.tools(), chrysalid::Restore::Resume).unwrap();
    assert_eq!(world.decide(&mut session, "1.1", Decision::Approve).value(), json(json!([true, true, true, true])));
}

#[test]
fn the_wall_clock_goes_on_over_a_restore_and_never_back() {
    let world = World::new();
    let mut session = world.session();
    world.run(&mut session, "const a = Date.now(); await tools.gate({q: 1}); Date.now() - a").waits();
    let bytes = session.snapshot().unwrap();
    for (passed, least, most) in [(1000, 1_000_000.0, 1_001_000.0), (0, 0.0, 1000.0)] {
        let later = World::new();
        later.advance(Duration::from_secs(passed));
        let mut session = ENGINE.restore(&bytes, &later.tools(), chrysalid::Restore::Resume).unwrap();
        let value = later.decide(&mut session, "1.1", Decision::Approve).value().as_f64().unwrap();
        assert!((least..most).contains(&value), "{value}");
    }
    // Restored where the clock is behind.
    let mut session = ENGINE.restore(&bytes, &world.tools(), chrysalid::Restore::Resume).unwrap();
    session.decide(id("1.1"), Decision::Respond(Value::Null)).unwrap();
    let Step::Ended(ended) = step(&mut session, begin() - 5000 * SECOND) else { panic!() };
    assert!(ended.result.unwrap().as_f64().unwrap() >= 0.0);
}

#[test]
fn timers_that_are_set_again_and_again_do_not_keep_a_program_from_its_pause() {
    for endless in ["setInterval(() => { n++ }, 1000);", "(function again() { n++; setTimeout(again, 1000) })();"] {
        let world = World::new();
        let mut session = world.session();
        let pause =
            world.run(&mut session, &format!("let n = 0; {endless} await tools.gate({{q: 1}}); n > 5")).paused();
        assert_eq!(shown(&pause), ["1.1 gate { q: 1 }"], "{endless}");
        let waited = world.time().duration_since(begin()).unwrap();
        assert!((30 * SECOND..33 * SECOND).contains(&waited), "{endless} {waited:?}");
        // Stopped rather than waited for: a chain of timers has no end.
        let mut session = moved(session, &world.tools());
        session.decide(id("1.1"), Decision::Approve).unwrap();
        session.interrupt_handle().interrupt();
        assert_eq!(world.drive(&mut session).failure().kind, chrysalid::FailureKind::Cancelled);
    }
}
