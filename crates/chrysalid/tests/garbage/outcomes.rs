//! What a guest says of how its program ended: no bytes, bytes from elsewhere, bytes that are no value.

use std::time::Instant;

use chrysalid::{FailureKind, Heap};

use super::{FAULT, PATIENCE, SANE, attack, check, options, shown, taken_over};
use crate::script::{
    END, FREE, LOOSE, OUTCOME, OWN_OUT, PROGRAM, REJECTED, START, answer, asks, bytes, calls, copy, grow, out, repeat,
    runs, source, spin, trap, value, write,
};
use crate::support::{World, record};

const TOO_LARGE: &str =
    "ResultTooLarge: the program's value is larger than 1048576 bytes or deeper than the limit | Intact";

#[test]
fn outboxes() {
    check(vec![
        attack("nothing written", [out(OUTCOME, OWN_OUT, 0)], FAULT),
        attack("4 GiB", [out(OUTCOME, OWN_OUT, u32::MAX)], TOO_LARGE),
        attack("more than the limit", [out(OUTCOME, 0, (1 << 20) + 1)], TOO_LARGE),
        attack("behind memory", [out(OUTCOME, u32::MAX, 1)], FAULT),
        attack("at the end of memory", [out(OUTCOME, END, 2)], FAULT),
        attack("across the end of memory", [out(OUTCOME, END - 1, 2)], FAULT),
        attack("all of memory", [out(OUTCOME, 0, END)], FAULT),
        attack("the board itself", [out(OUTCOME, PROGRAM, 4)], FAULT),
        attack("a status that is none", [answer(OUTCOME, 77)], FAULT),
        attack("a negative status", [answer(OUTCOME, u32::MAX)], FAULT),
        attack("nothing, where there is a value", [answer(OUTCOME, 4)], FAULT),
        attack("not understood", [answer(OUTCOME, 1)], FAULT),
        attack(
            "no memory for it",
            [answer(OUTCOME, 2)],
            "OutOfMemory: the program used more than 8388608 bytes of memory | Intact",
        ),
        attack("too large", [answer(OUTCOME, 3)], TOO_LARGE),
        attack("a reason outside of memory", [write(START, PROGRAM, REJECTED), out(OUTCOME, END, 1)], FAULT),
    ]);
}

#[test]
fn bytes_that_are_no_value() {
    let malformed: [(&str, &[u8]); 30] = [
        ("a tag that is none", b"\x15"),
        ("the last tag", b"\xff"),
        ("an integer without its number", b"\x04"),
        ("a varint that is not the shortest", b"\x04\x80\x00"),
        ("a varint of more than 32 bits", b"\x04\xff\xff\xff\xff\x1f"),
        ("a varint of six bytes", b"\x04\x80\x80\x80\x80\x80\x01"),
        ("half a number", b"\x05\x00\x00\x00\x00"),
        ("a string of 4 GiB", b"\x07\xff\xff\xff\xff\x0f"),
        ("a string that ends early", b"\x07\x05abc"),
        ("a buffer that ends early", b"\x08\x7f"),
        ("a typed array of a kind that is none", b"\x09\x63\x00"),
        ("a typed array with half an element", b"\x09\x04\x03\x01\x02\x03"),
        ("a typed array of 4 GiB", b"\x09\x01\xff\xff\xff\xff\x0f"),
        ("half a date", b"\x0a\x00"),
        ("a regexp without flags", b"\x0b\x01a"),
        ("an array with more than there is", b"\x0c\x64\x01"),
        ("a hole on its own", b"\x0d"),
        ("a hole in a set", b"\x10\x01\x0d"),
        ("an object without a value", b"\x0e\x01\x01a"),
        ("a map with half a pair", b"\x0f\x01\x01"),
        ("an error with flags that are none", b"\x11\x01E\x01m\x08"),
        ("an error without its cause", b"\x11\x01E\x01m\x02"),
        ("an error with more errors than there are", b"\x11\x01E\x01m\x04\x64"),
        ("a reference to nothing", b"\x12\x00"),
        ("a reference to what comes later", b"\x0c\x02\x12\x01\x0c\x00"),
        ("a bigint with a sign that is none", b"\x06\x02\x011"),
        ("a bigint that is no number", b"\x06\x00\x02zz"),
        ("an instance of no object", b"\x14\x01A\x0c\x00"),
        ("two values", b"\x01\x01"),
        ("references among keys that stand twice", b"\x0c\x02\x0e\x02\x01a\x01\x01a\x01\x12\x00"),
    ];
    check(malformed.map(|(name, bytes)| attack(name, [value(bytes)], FAULT)).into());
    check(malformed.map(|(name, bytes)| attack(name, [write(START, PROGRAM, REJECTED), value(bytes)], FAULT)).into());
}

#[test]
fn values_that_are_bombs() {
    let deep = "ResultTooLarge: the program's value: value is 513 levels deep, more than 512 | Intact";
    let nodes = "ResultTooLarge: the program's value: value has 4294967296 nodes or more, more than 1000000 | Intact";
    let pairs = "ResultTooLarge: the program's value: value has 8589934591 nodes or more, more than 1000000 | Intact";
    check(vec![
        attack("lists in lists", [repeat(OUTCOME, FREE, 0x010c_010c, 100_000), out(OUTCOME, FREE, 400_000)], deep),
        attack("sets in sets", [repeat(OUTCOME, FREE, 0x0110_0110, 100_000), out(OUTCOME, FREE, 400_000)], deep),
        attack("an array of 4 GiB", [value(b"\x0c\xff\xff\xff\xff\x0f")], nodes),
        attack("a set of 4 GiB", [value(b"\x10\xff\xff\xff\xff\x0f")], nodes),
        attack("an object of 4 GiB", [value(b"\x0e\xff\xff\xff\xff\x0f")], nodes),
        attack("a map of 4 GiB", [value(b"\x0f\xff\xff\xff\xff\x0f")], pairs),
        attack("errors of 4 GiB", [value(b"\x11\x01E\x01m\x04\xff\xff\xff\xff\x0f")], nodes),
    ]);
}

#[test]
fn values_that_are_odd_but_sound() {
    check(vec![
        attack("a string that is not UTF-8", [value(b"\x07\x03a\xffb")], "'a\u{fffd}b' | Intact"),
        attack("an object with a key twice", [value(b"\x0e\x02\x01a\x04\x02\x01a\x04\x04")], "{ a: 2 } | Intact"),
        attack(
            "a name that is that of the prototype",
            [value(b"\x0e\x01\x09__proto__\x01")],
            "{ ['__proto__']: null } | Intact",
        ),
        attack("a list in itself", [value(b"\x0c\x01\x12\x00")], "<ref *1> [ [Circular *1] ] | Intact"),
    ]);
}

#[test]
fn forty_thousand_places_where_it_hangs() {
    let world = World::new();
    let mut session = taken_over(&world);
    // A list of lists, each of which names a place far into the program.
    let one = b"\x0c\x04\x07\x00\x07\x0cprogram-1.js\x04\x02\x04\xc0\x9a\x0c";
    let some: Vec<u8> = one.iter().copied().cycle().take(one.len() * 2500).collect();
    let mut acts = [runs(), grow(OUTCOME, 16, 1), bytes(OUTCOME, FREE, b"\x0c\xc0\xb8\x02")].concat();
    acts.extend(bytes(OUTCOME, FREE + 4, &some));
    let mut length = u32::try_from(some.len()).unwrap();
    for _ in 0..4 {
        acts.extend(copy(OUTCOME, FREE + 4 + length, FREE + 4, length));
        length *= 2;
    }
    acts.extend(out(OUTCOME, FREE, length + 4));
    let begun = Instant::now();
    let failure = world.run(&mut session, &source(&acts)).failure();
    assert!(begun.elapsed() < PATIENCE, "{:?}", begun.elapsed());
    assert_eq!(failure.kind, FailureKind::Deadlock);
    let places = ["awaited at line 1, column 100000"; 8].join("; ");
    assert_eq!(failure.message, format!("the program waits for a promise that nothing will settle: {places}"));
}

#[test]
fn a_reason_whose_stack_names_the_program_without_end() {
    let world = World::new();
    let mut session = taken_over(&world);
    let stack = "program-1.js:1:1 ".repeat(5000);
    let length = u32::try_from(stack.len()).unwrap();
    let mut error = b"\x11\x01E\x01m\x01".to_vec();
    let low = |shift: u32| u8::try_from(length >> shift & 0x7f).unwrap();
    error.extend([low(0) | 0x80, low(7) | 0x80, low(14)]);
    error.extend(stack.as_bytes());
    let acts = [write(START, PROGRAM, REJECTED), value(&error)].concat();
    let begun = Instant::now();
    let failure = world.run(&mut session, &source(&acts)).failure();
    assert!(begun.elapsed() < PATIENCE, "{:?}", begun.elapsed());
    assert_eq!((failure.kind, failure.name.as_str(), failure.message.as_str()), (FailureKind::Exception, "E", "m"));
    assert_eq!(failure.position.map(|place| (place.line, place.column)), Some((1, 1)));
}

/// A program that is over while a call waits for a person.
fn leaves_a_question(world: &World, loose: Vec<crate::script::Act>) -> (chrysalid::Session, crate::support::Halt) {
    let mut session = super::HOSTILE.session_with(&world.tools(), options()).unwrap();
    let acts = [calls(START, b"gate", b"\x0e\x00", 2), loose].concat();
    let halt = world.run(&mut session, &source(&acts));
    (session, halt)
}

#[test]
fn loose_calls_that_are_none_withdraw_nothing() {
    let ids = |ids: &[u32]| ids.iter().flat_map(|id| id.to_le_bytes()).collect::<Vec<_>>();
    let listed = |bytes_: &[u8]| {
        let length = u32::try_from(bytes_.len()).unwrap();
        [bytes(LOOSE, FREE, bytes_), out(LOOSE, FREE, length)].concat()
    };
    let lies = [
        ("calls that do not exist", listed(&ids(&[98, 99]))),
        ("one of the two", listed(&ids(&[1]))),
        ("one of the two, and one that does not exist", listed(&ids(&[1, u32::MAX]))),
        ("half a number", listed(b"\x01\x00")),
        ("a million numbers", out(LOOSE, 0, 4_000_000)),
        ("4 GiB of numbers", out(LOOSE, 0, u32::MAX)),
        ("numbers behind memory", out(LOOSE, u32::MAX, 8)),
        ("nothing", out(LOOSE, FREE, 0)),
        ("numbers, with a status for nothing", [listed(&ids(&[7, 8])), answer(LOOSE, 4)].concat()),
    ];
    for (name, loose) in lies {
        let world = World::new();
        let (mut session, halt) = leaves_a_question(&world, loose);
        assert_eq!(halt.paused().pending.len(), 2, "{name}");
        assert_eq!(record(&session), ["1.1 gate waiting", "1.2 gate waiting"], "{name}");
        session.interrupt_handle().interrupt();
        assert_eq!(world.drive(&mut session).ended().heap, Heap::Intact, "{name}");
        assert_eq!(record(&session), ["1.1 gate abandoned", "1.2 gate abandoned"], "{name}");
    }
}

#[test]
fn loose_calls_that_are_its_own_are_withdrawn_and_none_runs() {
    let world = World::new();
    let loose = [bytes(LOOSE, FREE, b"\x02\0\0\0\x01\0\0\0"), out(LOOSE, FREE, 8)].concat();
    let (session, halt) = leaves_a_question(&world, loose);
    assert_eq!(shown(&halt.ended()), SANE);
    assert_eq!(record(&session), ["1.1 gate abandoned", "1.2 gate abandoned"]);
    assert_eq!(world.calls(), [""; 0]);
}

#[test]
fn loose_that_does_not_come_back_as_it_should() {
    let world = World::new();
    let faults = [
        (answer(LOOSE, 1), FAULT),
        (answer(LOOSE, 77), FAULT),
        (
            trap(LOOSE),
            "Trap: the sandbox stopped the program: wasm trap: wasm `unreachable` instruction executed | Reset",
        ),
        (spin(LOOSE), super::TRAPPED_BY_TIME),
    ];
    for (loose, ends) in faults {
        let (session, halt) = leaves_a_question(&world, loose);
        assert_eq!(shown(&halt.ended()), ends);
        assert_eq!(record(&session), ["1.1 gate abandoned", "1.2 gate abandoned"]);
    }
    assert_eq!(world.calls(), [""; 0]);
    let mut session = taken_over(&world);
    assert_eq!(shown(&world.run(&mut session, &source(&asks(b"echo", b"\x0e\x00", 1))).ended()), SANE);
}
