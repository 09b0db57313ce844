//! What a program makes the host do: in slices like its own work, and no longer than its own time.

use std::time::{Duration, Instant};

use chrysalid::{FailureKind, Step};

use crate::support::{World, begin, cpu, json, with_limits};

/// Calls that are cheap to make and take the host some milliseconds each to read.
const MANY: &str = "const v = new Array(100000).fill(0); const all = [];
    for (let i = 0; i < 200; i++) all.push(tools.echo({ v }).then(() => 'ok', e => e.message));";

#[test]
fn reading_calls_gives_the_thread_back_after_each_slice() {
    let world = World::new();
    let mut session = world.session();
    session.start(MANY).unwrap();
    let (mut longest, mut busy) = (Duration::ZERO, 0);
    loop {
        let (before, wall) = (cpu(), Instant::now());
        let step = session.step(begin()).unwrap();
        longest = longest.max((cpu() - before).min(wall.elapsed()));
        match step {
            Step::Busy => {
                busy += 1;
                if let Err(error) = session.snapshot() {
                    assert_eq!(error.kind(), chrysalid::ErrorKind::Busy);
                }
            }
            Step::Start(_) => break,
            other => panic!("{other:?}"),
        }
    }
    assert!(busy >= 10, "{busy}");
    // A slice is 10 ms; one call, or a tick that comes late, may be on top of it.
    assert!(longest < Duration::from_millis(80), "{longest:?}");
}

#[test]
fn reading_calls_takes_the_host_no_longer_than_the_program_may_run() {
    let world = World::new();
    let mut session = world.session_with(with_limits(|limits| limits.cpu_time = Duration::from_millis(300)));
    let before = cpu();
    let source = format!("{MANY} const r = await Promise.all(all); [r[0], r.at(-1)]");
    let ended = world.run(&mut session, &source).ended();
    let took = cpu() - before;
    match ended.result {
        Ok(value) => assert_eq!(
            value,
            json(serde_json::json!(["ok", "echo: reading the calls of this program took the host more than 300ms"]))
        ),
        Err(failure) => assert_eq!(failure.kind, FailureKind::Timeout),
    }
    assert!(took < Duration::from_millis(1500), "{took:?}");
}

#[test]
fn an_interrupt_is_not_kept_waiting_by_calls_that_are_read() {
    let world = World::new();
    let mut session = world.session();
    session.start(MANY).unwrap();
    let stop = session.interrupt_handle();
    let mut steps = 0;
    while let Step::Busy = session.step(begin()).unwrap() {
        steps += 1;
        if steps == 5 {
            stop.interrupt();
            break;
        }
    }
    let before = cpu();
    let Step::Ended(ended) = session.step(begin()).unwrap() else { panic!("goes on") };
    assert_eq!(ended.result.unwrap_err().kind, FailureKind::Cancelled);
    assert!(cpu() - before < Duration::from_millis(80));
    assert_eq!(world.calls(), [""; 0]);
}
