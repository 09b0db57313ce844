//! What a guest asks for: names that are none, arguments that are no values, more than it may.

use std::time::Instant;

use chrysalid::{CallStatus, Capabilities, Capability, Decision, Heap, Modules, Session, ToolError, Value};

use super::{HOSTILE, PATIENCE, SANE, TIMEOUT, TRAPPED_BY_TIME, attack, check, options, shown, small, taken_over};
use crate::script::{
    END, FINISH, FREE, FULFILLED, OUTCOME, PROGRAM, REJECTED, SETTLE, START, STOP, asks, call_at, calls, runs, source,
    write,
};
use crate::support::{ENGINE, World, record, with_limits};

const PAYS: &[u8] = b"\x0e\x01\x06amount\x04\x02";

/// Runs a program to its end; how it ends, and the record.
#[track_caller]
fn ends(world: &World, session: &mut Session, acts: &[crate::script::Act]) -> (String, Vec<String>) {
    let begun = Instant::now();
    let ended = world.run(session, &source(acts)).ended();
    assert!(begun.elapsed() < PATIENCE, "{:?}", begun.elapsed());
    (shown(&ended), record(session))
}

#[test]
fn names_that_are_of_no_tool() {
    let names: [(&[u8], &str); 8] = [
        (b"nosuch", "nosuch"),
        (b"", ""),
        (b"pay\0", "pay\0"),
        (b"pa\0y", "pa\0y"),
        (b"PAY", "PAY"),
        (b"\xff\xfe", "\u{fffd}\u{fffd}"),
        (b"$nosuch", "$nosuch"),
        (b"$import2", "$import2"),
    ];
    for (name, shown) in names {
        let world = World::new();
        let mut session = taken_over(&world);
        let (end, record) = ends(&world, &mut session, &asks(name, PAYS, 1));
        assert_eq!((end.as_str(), record), (SANE, vec![format!("1.1 {shown} failed")]), "{name:?}");
        assert_eq!(world.calls(), [""; 0]);
    }
}

#[test]
fn a_name_of_a_mib_is_cut() {
    let world = World::new();
    let mut session = taken_over(&world);
    let acts = [runs(), call_at(START, [0, END, FREE, 0], 1), write(SETTLE, PROGRAM, FULFILLED)].concat();
    let (end, _) = ends(&world, &mut session, &acts);
    assert_eq!(end, SANE);
    let calls = session.calls();
    assert_eq!((calls.len(), calls[0].status), (1, CallStatus::Failed));
    assert_eq!(calls[0].name, format!("{}...", "\0".repeat(256)));
}

#[test]
fn long_names_again_and_again_are_not_kept() {
    let world = World::new();
    let mut session = taken_over(&world);
    let acts = [runs(), call_at(START, [0, END, FREE, 0], 1), call_at(SETTLE, [0, END, FREE, 0], 1)].concat();
    let (end, _) = ends(&world, &mut session, &acts);
    assert_eq!(end, TIMEOUT);
    let kept: usize = session.calls().iter().map(|call| call.name.len()).sum();
    assert!(kept <= 256 * (256 * 3 + 3), "{kept}");
}

#[test]
fn arguments_that_are_no_values() {
    let arguments: [(&str, &[u8]); 8] = [
        ("nothing", b""),
        ("a tag that is none", b"\xff"),
        ("a string of 4 GiB", b"\x07\xff\xff\xff\xff\x0f"),
        ("an array of 4 GiB", b"\x0c\xff\xff\xff\xff\x0f"),
        ("a reference to nothing", b"\x12\x07"),
        ("two values", b"\x0e\x00\x0e\x00"),
        ("an object that ends early", b"\x0e\x01\x06amount"),
        ("references among keys that stand twice", b"\x0c\x02\x0e\x02\x01a\x01\x01a\x01\x12\x00"),
    ];
    for (name, argument) in arguments {
        let world = World::new();
        let mut session = taken_over(&world);
        let (end, record) = ends(&world, &mut session, &asks(b"pay", argument, 1));
        assert_eq!((end.as_str(), record), (SANE, vec!["1.1 pay failed".to_owned()]), "{name}");
        assert_eq!(world.paid(), [0.0; 0], "{name}");
    }
    let world = World::new();
    let mut session = taken_over(&world);
    let deep: Vec<u8> = b"\x0c\x01".iter().copied().cycle().take(40_000).collect();
    let (end, record) = ends(&world, &mut session, &asks(b"pay", &deep, 1));
    assert_eq!((end.as_str(), record), (SANE, vec!["1.1 pay failed".to_owned()]));
}

#[test]
fn a_budget_is_not_the_guests_to_count() {
    let world = World::new();
    let mut session = taken_over(&world);
    let (end, record) = ends(&world, &mut session, &asks(b"pay", PAYS, 2000));
    assert_eq!(end, SANE);
    assert!(world.paid().len() <= 256, "{}", world.paid().len());
    assert!(record.len() <= 512, "{}", record.len());
}

#[test]
fn thousands_of_requests_in_one_entry() {
    for (name, argument) in [
        (&b"nosuch"[..], &b"\x0e\x00"[..]),
        (b"echo", b"\x0e\x00"),
        (b"echo", b"\xff"),
        (b"gate", b"\x0e\x00"),
        (b"$import", b"\xff"),
        (b"$import", b"\x0e\x01\x03key\x07\x01a"),
        (b"$search", b"\xff"),
        (b"$search", b"\x0e\x01\x05query\x07\x03pay"),
        (b"$describe", b"\x0e\x01\x04name\x07\x03pay"),
    ] {
        let world = World::new();
        let mut session = taken_over(&world);
        let begun = Instant::now();
        let acts = [runs(), calls(START, name, argument, 20_000), write(SETTLE, PROGRAM, FULFILLED)].concat();
        session.start(&source(&acts)).unwrap();
        let halt = world.drive(&mut session);
        assert!(begun.elapsed() < PATIENCE, "{:?} {:?}", String::from_utf8_lossy(name), begun.elapsed());
        match halt {
            crate::support::Halt::Ended(ended) => assert_eq!(shown(&ended), SANE),
            crate::support::Halt::Paused(pause) => {
                assert_eq!((name, pause.pending.len()), (&b"gate"[..], 64));
            }
        }
        let recorded = session.calls().len();
        assert!(recorded <= 1024, "{:?} {recorded}", String::from_utf8_lossy(name));
    }
}

#[test]
fn requests_without_end_at_each_answer() {
    for (name, argument) in [
        (&b"nosuch"[..], &b"\x0e\x00"[..]),
        (b"echo", b"\xff"),
        (b"$import", b"\x0e\x01\x03key\x07\x01a"),
        (b"$search", b"\x0e\x01\x05query\x07\x03pay"),
    ] {
        let world = World::new();
        let mut session = taken_over(&world);
        let begun = Instant::now();
        let acts = [runs(), calls(START, name, argument, 1000), calls(SETTLE, name, argument, 1000)].concat();
        let ended = world.run(&mut session, &source(&acts)).ended();
        assert!(begun.elapsed() < PATIENCE, "{:?} {:?}", String::from_utf8_lossy(name), begun.elapsed());
        assert_eq!(shown(&ended), TIMEOUT);
        let recorded = session.calls().len();
        assert!(recorded <= 1024, "{:?} {recorded}", String::from_utf8_lossy(name));
    }
}

#[test]
fn requests_without_end_in_one_entry() {
    check(vec![
        attack("of a tool", [calls(START, b"pay", PAYS, 0)], TRAPPED_BY_TIME),
        attack("of no tool", [calls(START, b"nosuch", b"", 0)], TRAPPED_BY_TIME),
        attack("of modules", [calls(START, b"$import", b"\x0e\x01\x03key\x07\x01a", 0)], TRAPPED_BY_TIME),
    ]);
}

#[test]
fn imports_of_modules_that_are_none() {
    let arguments: [&[u8]; 7] = [
        b"",
        b"\xff",
        b"\x01",
        b"\x0e\x01\x03key\x04\x02",
        b"\x0e\x01\x03key\x07\x00",
        b"\x0e\x01\x03key\x07\x09../secret",
        b"\x0e\x01\x03key\x07\x04a\0\xffb",
    ];
    for argument in arguments {
        let world = World::new();
        let mut session = taken_over(&world);
        let (end, record) = ends(&world, &mut session, &asks(b"$import", argument, 1));
        assert_eq!((end.as_str(), record), (SANE, vec!["1.1 $import failed".to_owned()]), "{argument:?}");
    }
}

#[test]
fn a_module_that_is_not_there_is_told_to_all_who_asked() {
    // The guest of this build, whose program does what a hostile guest did first.
    let world = World::new();
    let asked = "const asked = await Promise.allSettled([import('no'), import('no'), import('a'), import('no')]);
        asked.map(one => one.reason?.name).join()";
    let mut options = options();
    options.modules = Modules::fixed([("a", "import 'no'")]);
    for mut session in [world.session(), ENGINE.session_with(&world.tools(), options).unwrap()] {
        let value = world.run(&mut session, asked).value();
        assert_eq!(value, Value::from("ImportError,ImportError,ImportError,ImportError"));
    }
}

#[test]
fn the_resolver_is_asked_within_the_budget_and_for_no_endless_key() {
    let world = World::new();
    let mut options = options();
    options.modules = Modules::fixed([("a", "export default 1")]);
    let mut session = HOSTILE.session_with(&world.tools(), options).unwrap();
    let long = [&b"\x0e\x01\x03key\x07\x88\x27"[..], &[b'a'; 5000]].concat();
    let (end, record) = ends(&world, &mut session, &asks(b"$import", &long, 1));
    assert_eq!((end.as_str(), record), (SANE, vec!["1.1 $import failed".to_owned()]));
    let (end, _) = ends(&world, &mut session, &asks(b"$import", b"\x0e\x01\x03key\x07\x01a", 300));
    assert_eq!(end, SANE);
}

#[test]
fn lookups_with_arguments_that_are_none() {
    let arguments: [(&[u8], &[u8]); 8] = [
        (b"$search", b""),
        (b"$search", b"\xff"),
        (b"$search", b"\x04\x02"),
        (b"$search", b"\x0e\x01\x05query\x01"),
        (b"$search", b"\x0e\x02\x05query\x07\x01a\x05limit\x05\x00\x00\x00\x00\x00\x00\xf8\x7f"),
        (b"$search", b"\x0e\x02\x05query\x07\x01a\x05limit\x05\x00\x00\x00\x00\x00\x00\xf0\x7f"),
        (b"$describe", b"\x0e\x01\x04name\x0c\x00"),
        (b"$describe", b"\x0e\x01\x04name\x07\xff\xff\xff\xff\x0f"),
    ];
    for (name, argument) in arguments {
        let world = World::new();
        let mut session = taken_over(&world);
        let (end, record) = ends(&world, &mut session, &asks(name, argument, 1));
        assert_eq!((end.as_str(), record), (SANE, Vec::new()), "{argument:?}");
    }
}

#[test]
fn calls_of_a_program_that_is_over_do_not_leave_the_guest() {
    let over = [
        (
            "rejected",
            [write(START, PROGRAM, REJECTED), calls(START, b"pay", PAYS, 3)].concat(),
            "Exception: 1 | Intact",
        ),
        (
            "stopped",
            [write(START, STOP, 2), calls(START, b"pay", PAYS, 3)].concat(),
            "OutOfMemory: the program used more than 8388608 bytes of memory | Intact",
        ),
    ];
    for (name, acts, expected) in over {
        let world = World::new();
        let mut session = taken_over(&world);
        let (end, record) = ends(&world, &mut session, &acts);
        assert_eq!((end.as_str(), record), (expected, Vec::new()), "{name}");
        assert_eq!(world.paid(), [0.0; 0], "{name}");
    }
    // It clears its stop word, or takes back its state: then the call is one, but no answer will be waited for; at the
    // very end nobody reads it.
    let abandoned = ["1.1 pay abandoned", "1.2 pay abandoned"];
    let late = [
        ("asked for its value", calls(OUTCOME, b"pay", PAYS, 2), abandoned.as_slice()),
        ("told to finish", calls(FINISH, b"pay", PAYS, 2), [].as_slice()),
    ];
    for (name, acts, expected) in late {
        let world = World::new();
        let mut session = taken_over(&world);
        let (end, record) = ends(&world, &mut session, &acts);
        let record: Vec<&str> = record.iter().map(String::as_str).collect();
        assert_eq!((end.as_str(), record.as_slice()), (SANE, expected), "{name}");
        assert_eq!(world.paid(), [0.0; 0], "{name}");
    }
}

#[test]
fn a_guest_cannot_approve_its_own_call() {
    // It settles promises, changes the board, asks again: the person was not asked more than once, and nothing ran.
    let world = World::new();
    let mut session = taken_over(&world);
    let acts = [runs(), calls(START, b"payGated", PAYS, 1), write(SETTLE, PROGRAM, FULFILLED)].concat();
    let pause = world.run(&mut session, &source(&acts)).paused();
    assert_eq!(pause.pending.len(), 1);
    assert_eq!(world.paid(), [0.0; 0]);
    let end = world.decide(&mut session, "1.1", Decision::Reject(None)).ended();
    assert_eq!(shown(&end), SANE);
    assert_eq!(world.paid(), [0.0; 0]);
}

#[test]
fn results_that_do_not_fit_into_the_guest() {
    let world = World::new();
    let large = Capability::raw("large", |_, _| async { Ok::<_, ToolError>(Value::from("x".repeat(7_000_000))) });
    let narrow = with_limits(|limits| {
        small(limits);
        limits.memory = 4 << 20;
        limits.call_result_size = 8 << 20;
    });
    let mut session = HOSTILE.session_with(&Capabilities::new([large]).unwrap(), narrow).unwrap();
    let acts = asks(b"large", b"\x0e\x00", 1);
    let ended = world.run(&mut session, &source(&acts)).ended();
    let full = "OutOfMemory: the program used more than 4194304 bytes of memory | Reset";
    assert_eq!((shown(&ended).as_str(), ended.heap), (full, Heap::Reset));
}
