//! What comes from outside of the guest: ids of calls that are not what they say, and snapshots of another guest.

use chrysalid::{
    Approval, CallId, Capabilities, Capability, Decision, ErrorKind, Heap, Restore, Session, Step, ToolError, Value,
};

use super::{GUEST, HOSTILE, SANE, hostile, options, sane, shown, taken_over};
use crate::script::{FULFILLED, PROGRAM, SETTLE, START, asks, calls, runs, source, spin, trap, write};
use crate::support::{ENGINE, World, begin, builder, eval, fresh_engine, id, record, step, step_to_calls};

fn settled(session: &mut Session, call: CallId) -> (ErrorKind, String) {
    let error = session.settle(call, Ok(Value::from("forged"))).unwrap_err();
    (error.kind(), error.to_string())
}

fn decided(session: &mut Session, call: CallId) -> (ErrorKind, String) {
    let error = session.decide(call, Decision::Approve).unwrap_err();
    (error.kind(), error.to_string())
}

#[test]
fn ids_that_were_never_handed_out() {
    let world = World::new();
    for session in [&mut taken_over(&world), &mut world.session()] {
        for call in ["0.0", "0.1", "1.0", "1.1", "2.1", "4294967295.4294967295"] {
            let unknown = (ErrorKind::UnknownCall, format!("no call {call} in this session"));
            assert_eq!(settled(session, id(call)), unknown);
            assert_eq!(decided(session, id(call)), unknown);
        }
    }
    for text in ["", "1", "1.", ".1", "1.1.1", "a.b", "-1.1", "1.99999999999", "1 .1"] {
        assert_eq!(text.parse::<CallId>().unwrap_err().kind(), ErrorKind::UnknownCall, "{text}");
    }
}

#[test]
fn ids_that_the_guest_made_up_are_no_calls() {
    // Looking into the catalogue takes a number, and is no call.
    let world = World::new();
    let mut session = taken_over(&world);
    let acts = [runs(), calls(START, b"$search", b"\xff", 3), calls(START, b"gate", b"\x0e\x00", 1)].concat();
    world.run(&mut session, &source(&acts)).waits();
    assert_eq!(record(&session), ["1.4 gate waiting"]);
    for call in ["1.1", "1.2", "1.3", "1.5", "2.4"] {
        let unknown = (ErrorKind::UnknownCall, format!("no call {call} in this session"));
        assert_eq!(settled(&mut session, id(call)), unknown);
        assert_eq!(decided(&mut session, id(call)), unknown);
    }
}

#[test]
fn ids_of_another_session() {
    let world = World::new();
    let (mut one, mut other) = (taken_over(&world), taken_over(&world));
    world.run(&mut one, &source(&asks(b"gate", b"\x0e\x00", 2))).waits();
    world.run(&mut other, &source(&asks(b"gate", b"\x0e\x00", 1))).waits();
    assert_eq!(settled(&mut other, id("1.2")), (ErrorKind::UnknownCall, "no call 1.2 in this session".into()));
    assert_eq!(decided(&mut other, id("1.2")), (ErrorKind::UnknownCall, "no call 1.2 in this session".into()));
    // The same number in both means the call of the session that was asked.
    other.decide(id("1.1"), Decision::Reject(None)).unwrap();
    assert_eq!(shown(&world.drive(&mut other).ended()), SANE);
    assert_eq!(record(&one), ["1.1 gate waiting", "1.2 gate waiting"]);
}

#[test]
fn answers_out_of_turn() {
    let world = World::new();
    let mut session = taken_over(&world);
    world.run(&mut session, &source(&asks(b"gate", b"\x0e\x00", 1))).waits();
    // A call that waits for a person is not settled by a driver.
    assert_eq!(settled(&mut session, id("1.1")), (ErrorKind::NotWaiting, "call 1.1 has not begun".into()));
    session.decide(id("1.1"), Decision::Approve).unwrap();
    assert_eq!(decided(&mut session, id("1.1")).0, ErrorKind::AlreadyDecided);
    let Step::Start(started) = step(&mut session, begin()) else { panic!("not started") };
    assert_eq!(started.len(), 1);
    assert_eq!(decided(&mut session, id("1.1")).0, ErrorKind::AlreadyDecided);
    session.settle(id("1.1"), Ok(Value::Null)).unwrap();
    let already = (ErrorKind::AlreadyDecided, "call 1.1 was decided already: it is completed".to_owned());
    assert_eq!(settled(&mut session, id("1.1")), already);
    assert_eq!(decided(&mut session, id("1.1")), already);
    assert_eq!(shown(&world.drive(&mut session).ended()), SANE);
    // Nor when its program has ended, and not in the next one.
    assert_eq!(settled(&mut session, id("1.1")), already);
    assert_eq!(shown(&world.run(&mut session, &sane()).ended()), SANE);
    assert_eq!(settled(&mut session, id("1.1")), already);
    assert_eq!(settled(&mut session, id("2.1")).0, ErrorKind::UnknownCall);
}

#[test]
fn answers_to_calls_that_were_refused_or_withdrawn() {
    let world = World::new();
    let mut session = taken_over(&world);
    let acts = [calls(START, b"nosuch", b"", 1), calls(START, b"pay", b"\x0e\x00", 1), trap(START)].concat();
    assert_eq!(world.run(&mut session, &source(&acts)).ended().heap, Heap::Reset);
    assert_eq!(record(&session), ["1.1 nosuch failed", "1.2 pay abandoned"]);
    for (call, status) in [("1.1", "failed"), ("1.2", "abandoned")] {
        let already = (ErrorKind::AlreadyDecided, format!("call {call} was decided already: it is {status}"));
        assert_eq!(settled(&mut session, id(call)), already);
        assert_eq!(decided(&mut session, id(call)), already);
    }
}

#[test]
fn answers_to_a_call_that_outlived_its_program_are_taken_once() {
    let world = World::new();
    let mut session = taken_over(&world);
    let acts = [runs(), calls(START, b"slow", b"\x0e\x01\x02ms\x04\x02", 1), calls(START, b"echo", b"\x0e\x00", 1)];
    session.start(&source(&[acts.concat(), trap(SETTLE)].concat())).unwrap();
    step_to_calls(&mut session, begin(), 2);
    session.settle(id("1.2"), Ok(Value::Null)).unwrap();
    let Step::Ended(ended) = step(&mut session, begin()) else { panic!("not ended") };
    assert_eq!(ended.heap, Heap::Reset);
    assert_eq!(record(&session), ["1.1 slow unknown", "1.2 echo completed"]);
    session.settle(id("1.1"), Err(ToolError::new("late"))).unwrap();
    assert_eq!(settled(&mut session, id("1.1")).0, ErrorKind::AlreadyDecided);
    assert_eq!(shown(&world.run(&mut session, &sane()).ended()), SANE);
}

#[test]
fn decisions_that_are_not_allowed() {
    let world = World::new();
    let outside = Capability::external("outside").approval(Approval::Never);
    let mut session = HOSTILE.session_with(&Capabilities::new([outside]).unwrap(), options()).unwrap();
    world.run(&mut session, &source(&asks(b"outside", b"\x0e\x00", 1))).waits();
    assert_eq!(decided(&mut session, id("1.1")).0, ErrorKind::DecisionNotAllowed);
    session.settle(id("1.1"), Ok(Value::Null)).unwrap();
    assert_eq!(settled(&mut session, id("1.1")).0, ErrorKind::AlreadyDecided);
    assert_eq!(shown(&world.drive(&mut session).ended()), SANE);
}

#[test]
fn snapshots_of_another_guest() {
    let world = World::new();
    let mut session = taken_over(&world);
    world.run(&mut session, &source(&asks(b"gate", b"\x0e\x00", 1))).waits();
    let of_hostile = session.snapshot().unwrap();
    let mut session = world.session();
    world.run(&mut session, "await tools.gate({q: 1})").waits();
    let of_ours = session.snapshot().unwrap();

    for restore in [Restore::Resume, Restore::Fork] {
        let error = ENGINE.restore(&of_hostile, &world.tools(), restore).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UnknownGuest);
        let error = HOSTILE.restore(&of_ours, &world.tools(), restore).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UnknownGuest);
    }
    assert!(!ENGINE.inspect(&of_hostile).unwrap().guest_is_known);

    // An engine that was given both keeps them apart.
    let both = builder().older_guest(GUEST.clone()).build().unwrap();
    let mut session = both.restore_with(&of_hostile, &world.tools(), Restore::Resume, options()).unwrap();
    assert_eq!(shown(&world.decide(&mut session, "1.1", Decision::Reject(None)).ended()), SANE);
    let mut session = both.restore(&of_ours, &world.tools(), Restore::Resume).unwrap();
    assert_eq!(world.decide(&mut session, "1.1", Decision::Respond(Value::from(7))).value(), Value::from(7));
    let both = hostile().older_guest(fresh_engine().guest()).build().unwrap();
    let mut session = both.restore(&of_ours, &world.tools(), Restore::Fork).unwrap();
    assert_eq!(world.decide(&mut session, "1.1", Decision::Respond(Value::from(8))).value(), Value::from(8));
    assert_eq!(eval(&mut session, "1 + 1"), Value::from(2));
}

#[test]
fn a_snapshot_of_an_older_guest_that_does_not_load() {
    let nothing = b"nothing".to_vec();
    let world = World::new();
    let mut session = taken_over(&world);
    assert_eq!(shown(&world.run(&mut session, &sane()).ended()), SANE);
    let bytes = session.snapshot().unwrap();
    let engine = builder().older_guest(nothing).build().unwrap();
    let error = engine.restore(&bytes, &world.tools(), Restore::Resume).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnknownGuest);
}

#[test]
fn a_guest_that_breaks_the_contract_after_a_restore_loses_the_session() {
    let faults = [
        ("it traps", trap(SETTLE)),
        ("it runs for ever", spin(SETTLE)),
        ("it does not understand", super::answer(SETTLE, 1)),
        ("its inbox is nowhere", super::answer(super::INBOX, u32::MAX)),
        ("it has no room", super::answer(super::INBOX, 0)),
        ("it will not be configured", super::answer(super::CONFIGURE, 1)),
        ("its value is none", [write(SETTLE, PROGRAM, FULFILLED), super::value(b"\xff")].concat()),
    ];
    for (name, fault) in faults {
        let world = World::new();
        let mut session = taken_over(&world);
        let acts = [runs(), calls(START, b"gate", b"\x0e\x00", 1), fault].concat();
        world.run(&mut session, &source(&acts)).waits();
        let bytes = session.snapshot().unwrap();
        let mut session = HOSTILE.restore_with(&bytes, &world.tools(), Restore::Resume, options()).unwrap();
        let ended = world.decide(&mut session, "1.1", Decision::Respond(Value::Null)).ended();
        assert_eq!(ended.heap, Heap::Lost, "{name}: {ended:?}");
        assert!(ended.result.is_err(), "{name}");
        assert!(session.is_lost());
        assert_eq!(record(&session), ["1.1 gate completed"], "{name}");
        assert_eq!(session.start(&sane()).unwrap_err().kind(), ErrorKind::SessionLost);
        assert_eq!(session.snapshot().unwrap_err().kind(), ErrorKind::SessionLost);
        // The bytes are as good as before.
        HOSTILE.restore_with(&bytes, &world.tools(), Restore::Fork, options()).unwrap();
    }
}
