//! Traps: the heap is not trusted any more, and the session goes back to what it was, or says that it is lost.

use std::time::Duration;

use chrysalid::{CallStatus, Capabilities, Decision, ErrorKind, FailureKind, Heap, Restore, Value};

use crate::support::{ENGINE, World, begin, builder, eval, fresh_engine, record, run, status, text, with_limits};

#[test]
fn a_program_restored_half_way_that_traps_is_lost_and_its_record_stays() {
    let world = World::new();
    let short = || with_limits(|limits| limits.cpu_time = Duration::from_millis(50));
    let mut session = world.session_with(short());
    world.run(&mut session, "let kept = 1").value();
    world.run(&mut session, "await tools.pay({amount: 1}); await tools.gate({q: 1}); new Array(1e9).join()").waits();
    let bytes = session.snapshot().unwrap();
    let mut session = fresh_engine().restore_with(&bytes, &world.tools(), Restore::Resume, short()).unwrap();
    let ended = world.decide(&mut session, "2.2", Decision::Approve).ended();
    assert_eq!(ended.result.unwrap_err().to_string(), "Timeout: the program used more than 50ms of CPU time");
    assert_eq!(ended.heap, Heap::Lost);
    assert_eq!(ended.notes, ["the session's heap is lost"]);
    assert!(session.is_lost());
    assert!(!session.is_idle());
    assert_eq!(record(&session), ["2.1 pay completed", "2.2 gate completed"]);
    let refused =
        [session.start("1").unwrap_err(), session.step(begin()).unwrap_err(), session.snapshot().unwrap_err()];
    for error in refused {
        assert_eq!(error.kind(), ErrorKind::SessionLost);
        assert_eq!(error.to_string(), "the session's heap is gone; its record of calls can still be read");
    }
}

#[test]
fn a_program_that_ended_after_a_restore_gives_the_session_something_to_go_back_to() {
    let world = World::new();
    let short = || with_limits(|limits| limits.cpu_time = Duration::from_millis(50));
    let mut session = world.session_with(short());
    world.run(&mut session, "let k = 1; await tools.gate({q: 1}); k = 2").waits();
    let bytes = session.snapshot().unwrap();
    let mut session = ENGINE.restore_with(&bytes, &world.tools(), Restore::Resume, short()).unwrap();
    world.decide(&mut session, "1.1", Decision::Approve).value();
    let ended = world.run(&mut session, "k = 3; new Array(1e9).join()").ended();
    assert_eq!(ended.heap, Heap::Reset);
    assert_eq!(world.run(&mut session, "k").value(), Value::from(2));
}

#[test]
fn a_trap_resets_to_before_the_program() {
    let world = World::new();
    let mut session = world.session_with(with_limits(|limits| limits.cpu_time = Duration::from_millis(30)));
    let trap = "k = 99; new Array(1e9).join()";
    // First the empty heap, then what each program left; through a snapshot as well.
    assert_eq!(world.run(&mut session, "globalThis.k = 1; new Array(1e9).join()").ended().heap, Heap::Reset);
    assert_eq!(world.run(&mut session, "typeof k").value(), text("undefined"));
    world.run(&mut session, "let k = 1; const f = () => tools.echo({v: k})").value();
    let ended = world.run(&mut session, trap).ended();
    assert_eq!(ended.heap, Heap::Reset);
    assert_eq!(ended.notes, ["the session is back at what it was before this program"]);
    assert_eq!(world.run(&mut session, "await f()").value(), Value::from(1));
    let bytes = session.snapshot().unwrap();
    let options = with_limits(|limits| limits.cpu_time = Duration::from_millis(30));
    let mut session = fresh_engine().restore_with(&bytes, &world.tools(), Restore::Resume, options).unwrap();
    assert_eq!(world.run(&mut session, trap).ended().heap, Heap::Reset);
    assert_eq!(world.run(&mut session, "await f()").value(), Value::from(1));
}

#[test]
fn without_checkpoints_a_trap_resets_to_the_empty_heap() {
    let engine = builder().checkpoint(chrysalid::Checkpoint::Never).build().unwrap();
    let options = with_limits(|limits| limits.cpu_time = Duration::from_millis(30));
    let mut session = engine.session_with(&Capabilities::none(), options).unwrap();
    eval(&mut session, "let k = 1");
    assert_eq!(run(&mut session, "new Array(1e9).join()").heap, Heap::Reset);
    assert_eq!(eval(&mut session, "typeof k"), text("undefined"));
}

#[test]
fn calls_of_a_program_that_trapped_are_recorded_as_they_stood() {
    let world = World::new();
    let mut session = world.session_with(with_limits(|limits| limits.cpu_time = Duration::from_millis(30)));
    let source = "await tools.pay({amount: 1}); tools.slow({ms: 5000}); tools.gate({q: 1}); await tools.echo({v: 1}); new Array(1e9).join()";
    let ended = world.run(&mut session, source).ended();
    assert_eq!((ended.result.unwrap_err().kind, ended.heap), (FailureKind::Timeout, Heap::Reset));
    assert_eq!(record(&session), ["1.1 pay completed", "1.2 slow unknown", "1.3 gate abandoned", "1.4 echo completed"]);
    // The heap is another, the record and its numbers go on, and a late answer is taken down.
    session.settle("1.2".parse().unwrap(), Ok(Value::Null)).unwrap();
    assert_eq!(status(&session, "1.2"), CallStatus::Completed);
    assert_eq!(world.run(&mut session, "(await tools.pay({amount: 2})).n").value(), Value::from(2));
    assert_eq!(status(&session, "2.5"), CallStatus::Completed);
}

#[test]
fn a_trap_gives_no_call_away() {
    // Calls made in the job that trapped never left the guest.
    let world = World::new();
    let mut session = world.session_with(with_limits(|limits| limits.cpu_time = Duration::from_millis(30)));
    let ended = world.run(&mut session, "tools.pay({amount: 1}); new Array(1e9).join()").ended();
    assert_eq!(ended.heap, Heap::Reset);
    assert_eq!(world.paid(), [0.0; 0]);
    assert_eq!(world.run(&mut session, "1").value(), Value::from(1));
    assert_eq!(world.paid(), [0.0; 0]);
}
