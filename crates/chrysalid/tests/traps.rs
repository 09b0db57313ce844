//! Traps: the heap is not trusted any more, and the session goes back to what it was, or says that it is lost.

use std::sync::LazyLock;
use std::time::Duration;

use chrysalid::{
    CallStatus, Capabilities, Checkpoint, Decision, EngineBuilder, ErrorKind, FailureKind, Heap, Restore, Value,
};

use crate::measure::{address_space, end_of, resident, threads};
use crate::support::{ENGINE, World, begin, builder, eval, fresh_engine, record, run, status, text, with_limits};

use crate::script::{OUTCOME, PROGRAM, PUMP, SETTLE, START, source, trap, write};

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

// ---- traps that are no stop ----

/// A guest that does what its programs say, a trap included.
static GUEST: LazyLock<Vec<u8>> = LazyLock::new(|| wat::parse_str(crate::script::WAT).unwrap());

fn trapping() -> EngineBuilder {
    builder().no_cache().guest(GUEST.clone())
}

const UNREACHABLE: &str = "Trap: the sandbox stopped the program: wasm trap: wasm `unreachable` instruction executed";

/// Leaves a word in memory, which [`recalled`] reads.
fn remember(word: u32) -> String {
    source(&write(START, crate::script::FREE, word))
}

/// Its value is the word that [`remember`] left.
fn recalled() -> String {
    let header = crate::script::bytes(OUTCOME, crate::script::FREE - 2, &[0x08, 4]);
    source(&[header, crate::script::out(OUTCOME, crate::script::FREE - 2, 6)].concat())
}

fn word(bytes: [u8; 4]) -> Value {
    Value::ArrayBuffer(bytes.into())
}

#[test]
fn a_trap_in_a_fresh_session_resets_it() {
    let engine = trapping().build().unwrap();
    for entry in [START, PUMP, OUTCOME] {
        let mut session = engine.session(&Capabilities::none()).unwrap();
        let ended = run(&mut session, &source(&trap(entry)));
        assert_eq!(ended.result.as_ref().unwrap_err().kind, FailureKind::Trap);
        assert_eq!(end_of(&ended), format!("{UNREACHABLE} | Reset"));
        assert_eq!(ended.notes, ["the session is back at what it was before this program"]);
        assert_eq!(eval(&mut session, &source(&[])), Value::from(1));
    }
}

#[test]
fn a_trap_goes_back_to_the_checkpoint_and_without_one_to_the_empty_heap() {
    for (checkpoint, note, kept) in [
        (Checkpoint::EveryProgram, "the session is back at what it was before this program", [7, 0, 0, 0]),
        (Checkpoint::Never, "the session's heap is empty again", [0; 4]),
    ] {
        let engine = trapping().checkpoint(checkpoint).build().unwrap();
        let mut session = engine.session(&Capabilities::none()).unwrap();
        eval(&mut session, &remember(7));
        assert_eq!(eval(&mut session, &recalled()), word([7, 0, 0, 0]));
        let ended = run(&mut session, &source(&[write(START, crate::script::FREE, 9), trap(PUMP)].concat()));
        assert_eq!((end_of(&ended), ended.notes), (format!("{UNREACHABLE} | Reset"), vec![note.to_owned()]));
        assert_eq!(eval(&mut session, &recalled()), word(kept));
    }
}

#[test]
fn a_trap_in_a_session_from_an_idle_snapshot_goes_back_to_the_snapshot() {
    for checkpoint in [Checkpoint::EveryProgram, Checkpoint::Never] {
        let engine = trapping().checkpoint(checkpoint).build().unwrap();
        let none = Capabilities::none();
        let mut session = engine.session(&none).unwrap();
        eval(&mut session, &remember(7));
        let bytes = session.snapshot().unwrap();
        let mut session = engine.restore(&bytes, &none, Restore::Resume).unwrap();
        assert_eq!(end_of(&run(&mut session, &source(&trap(START)))), format!("{UNREACHABLE} | Reset"));
        assert_eq!(eval(&mut session, &recalled()), word([7, 0, 0, 0]));
    }
}

#[test]
fn a_trap_of_a_program_restored_half_way_loses_the_session() {
    let world = World::new();
    let engine = trapping().build().unwrap();
    let mut session = engine.session(&world.tools()).unwrap();
    let asks = [
        write(START, PROGRAM, crate::script::RUNNING),
        crate::script::calls(START, b"gate", b"\x0e\x00", 1),
        trap(SETTLE),
    ];
    world.run(&mut session, &source(&asks.concat())).waits();
    let bytes = session.snapshot().unwrap();
    let mut session = engine.restore(&bytes, &world.tools(), Restore::Resume).unwrap();
    let ended = world.decide(&mut session, "1.1", Decision::Approve).ended();
    assert_eq!(end_of(&ended), format!("{UNREACHABLE} | Lost"));
    assert_eq!(ended.notes, ["the session's heap is lost"]);
    assert_eq!(record(&session), ["1.1 gate completed"]);
    assert_eq!(session.start("1").unwrap_err().kind(), ErrorKind::SessionLost);
}

// ---- many ----

/// Runs in a process of its own: a thousand traps of several kinds in one engine of one slot.
pub(crate) fn a_thousand() -> Vec<u8> {
    const KINDS: [&str; 4] = [
        "kept = 0; new Array(1e9).join()",
        "kept = 0; const h = 'a'.repeat(1 << 22); h.indexOf('a'.repeat(1 << 21) + 'b')",
        "kept = 0; const all = new Array(1e6).fill('x'); for (;;) all.join('-')",
        "kept = 0; const big = new Uint8Array(8 << 20).fill(1); new Array(1e9) + ''",
    ];
    let engine = builder().pool_slots(1).build().unwrap();
    let limits = || with_limits(|limits| limits.cpu_time = Duration::from_millis(1));
    let open = || engine.session_with(&Capabilities::none(), limits()).unwrap();
    let mut slot = Some(open());
    let reserved = address_space();
    let mut traps = |from: u32, to: u32| {
        let mut count = from;
        let mut rounds = 0..;
        while count < to {
            let round: usize = rounds.next().unwrap();
            assert!(round < 10_000, "most of them are no traps");
            let session = slot.get_or_insert_with(open);
            // Short programs of the session's own may be stopped on a machine that does other work.
            let _ = run(session, &format!("globalThis.kept = {count}"));
            let left = run(session, "kept").result.ok();
            let ended = run(session, KINDS[count as usize % KINDS.len()]);
            assert_eq!(ended.result.unwrap_err().kind, FailureKind::Timeout);
            if ended.heap == Heap::Reset && left == Some(Value::from(count)) {
                let now = run(session, "kept");
                assert!(now.result == Ok(Value::from(count)) || now.result.is_err(), "{now:?}");
                count += 1;
            } else {
                // One that was stopped with its heap sound keeps what it made.
                slot = None;
            }
        }
    };
    traps(0, 100);
    let running = threads();
    let mut memory = vec![resident()];
    for hundred in 1..10 {
        traps(hundred * 100, (hundred + 1) * 100);
        memory.push(resident());
    }
    assert!(memory[9] * 10 <= memory[0] * 11, "{memory:?}");
    assert_eq!(threads(), running);
    assert!(address_space() < reserved + (1 << 30), "a trap leaks a slot");
    Vec::new()
}

#[test]
fn a_thousand_traps_leak_nothing() {
    crate::worker::in_fresh_process("traps", &[]);
}
