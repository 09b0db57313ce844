//! What a program makes the host do: in slices like its own work, and no longer than its own time.

use std::time::{Duration, Instant};

use chrysalid::{Capabilities, FailureKind, Step, Value};

use crate::measure::cpu_time;
use crate::support::{World, begin, builder, with_limits};

/// Calls that are cheap to make and take the host some milliseconds each to read.
const MANY: &str = "const v = new Array(100000).fill(0); const all = [];
    for (let i = 0; i < 200; i++) all.push(tools.echo({ v }).then(() => 'ok', e => e.message));";

#[test]
fn reading_calls_gives_the_thread_back_after_each_slice() {
    let world = World::new();
    let mut session = world.session();
    session.start(MANY).unwrap();
    let (mut longest, mut busy, mut unread) = (Duration::ZERO, 0, 0);
    loop {
        let (before, wall) = (cpu_time(), Instant::now());
        let step = session.step(begin()).unwrap();
        longest = longest.max(cpu_time().saturating_sub(before).min(wall.elapsed()));
        match step {
            Step::Busy => {
                busy += 1;
                if let Err(error) = session.snapshot() {
                    assert_eq!(error.kind(), chrysalid::ErrorKind::Busy);
                    unread += u32::from(error.to_string() == "calls of the program have not been read yet");
                }
            }
            Step::Start(_) => break,
            other => panic!("{other:?}"),
        }
    }
    assert!(busy >= 10 && unread >= 5, "{busy}, {unread}");
    // A slice is 10 ms; one call, or a tick that comes late, may be on top of it.
    assert!(longest < Duration::from_millis(80), "{longest:?}");
}

#[test]
fn reading_calls_is_time_of_the_program() {
    let limit = Duration::from_millis(300);
    let world = World::new();
    let mut session = world.session_with(with_limits(|limits| limits.cpu_time = limit));
    let before = cpu_time();
    let ended = world.run(&mut session, &format!("{MANY} (await Promise.all(all)).length")).ended();
    let took = cpu_time().saturating_sub(before);
    let failure = ended.result.unwrap_err();
    assert_eq!(failure.to_string(), "Timeout: the program used more than 300ms of CPU time");
    assert!(session.cpu_time() >= limit);
    assert!(took < limit.mul_f64(1.2) + Duration::from_millis(100), "{took:?}");
}

/// Else a program on a busy machine, where each slice may be over before it begins, would never come to its end.
#[test]
fn each_step_makes_headway_with_the_shortest_slice() {
    let world = World::new();
    let engine = builder().slice(Duration::ZERO).build().unwrap();
    let mut session = engine.session(&world.tools()).unwrap();
    session.start("let n = 0; for (let v = 0; v < 10; v++) n += await tools.echo({ v }); n").unwrap();
    let (mut steps, mut calls) = (0, 0);
    let ended = loop {
        steps += 1;
        assert!(steps <= 50, "no headway");
        match session.step(begin()).unwrap() {
            Step::Busy => {}
            Step::Start(started) => {
                for call in started {
                    session.settle(call.id(), Ok(Value::from(calls))).unwrap();
                    calls += 1;
                }
            }
            Step::Ended(ended) => break ended,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(ended.result, Ok(Value::from(45)));
}

#[test]
fn ticks_of_another_session_on_the_thread_do_not_keep_a_timer_from_firing() {
    let engine = builder().slice(Duration::ZERO).build().unwrap();
    let [mut endless, mut waits] = [(); 2].map(|()| engine.session(&Capabilities::none()).unwrap());
    endless.start("for (;;);").unwrap();
    waits.start("await new Promise(done => setTimeout(done, 1)); 'fired'").unwrap();
    let mut now = begin();
    for _ in 0..100 {
        now += Duration::from_millis(5);
        assert!(matches!(endless.step(now).unwrap(), Step::Busy));
        if let Step::Ended(ended) = waits.step(now).unwrap() {
            assert_eq!(ended.result, Ok(Value::from("fired")));
            return;
        }
    }
    panic!("the timer does not fire");
}

#[test]
fn an_interrupt_is_not_kept_waiting_by_calls_that_are_read() {
    let world = World::new();
    let mut session = world.session();
    session.start(MANY).unwrap();
    let stop = session.interrupt_handle();
    for _ in 0..5 {
        assert!(matches!(session.step(begin()).unwrap(), Step::Busy));
    }
    stop.interrupt();
    let before = cpu_time();
    let ended = loop {
        match session.step(begin()).unwrap() {
            Step::Busy => {}
            Step::Ended(ended) => break ended,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(ended.result.unwrap_err().kind, FailureKind::Cancelled);
    assert!(cpu_time().saturating_sub(before) < Duration::from_millis(100));
    assert_eq!(world.calls(), [""; 0]);
}
