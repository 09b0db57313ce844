//! A program that is stored at every pause and goes on in a fresh process each time ends as one that is never stored:
//! the same value or failure, the same lines, notes and record, the same calls of its tools in the same order. So it is in
//! every way to store it (`storing.rs`), and in all of them the guest's memory is the same.
//!
//! The programs are in `cases/same_result`, one a file, with the value in the head comment. At each pause the *last* of
//! the waiting calls is approved, so that answers come in another order than they were asked for.

use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use chrysalid::{Capabilities, Clock, Decision, Engine, Limits, Random, Session, SessionOptions};
use serde::{Deserialize, Serialize};

use crate::storing::{Stored, Way};
use crate::support::{Halt, World, begin, builder, record};
use crate::worker::in_fresh_process;

struct Case {
    name: String,
    source: String,
    expected: String,
}

fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/same_result");
    let mut cases: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| {
            let path = file.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let source = std::fs::read_to_string(path).unwrap();
            let expected = source.lines().next().and_then(|line| line.strip_prefix("// ")).unwrap().to_owned();
            Case { name, source, expected }
        })
        .collect();
    cases.sort_by(|one, other| one.name.cmp(&other.name));
    cases
}

/// All that can be seen of a program from outside.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Seen {
    /// `value: …` or `failure: …`.
    end: String,
    /// The value with every detail.
    exact: String,
    lines: Vec<String>,
    notes: Vec<String>,
    record: Vec<String>,
    calls: Vec<String>,
    pauses: u32,
}

/// A program between two pauses.
#[derive(Clone, Serialize, Deserialize)]
struct Leg {
    source: String,
    way: Way,
    /// Empty before the first pause.
    stored: Stored,
    now_millis: u64,
    seen: Seen,
    ended: bool,
}

fn options() -> SessionOptions {
    let mut limits = Limits::default();
    limits.memory = 32 << 20;
    let mut options = SessionOptions::default();
    options.limits = Some(limits);
    options.clock = Clock::Fixed(begin());
    options.random = Random::Seed(42);
    options
}

fn tools(world: &World) -> Capabilities {
    Capabilities::new([world.asked(), world.echo(), world.mirror(), world.note(), world.fail(), world.slow()]).unwrap()
}

/// Drives to the next pause or the end; `true` at the end.
fn drive(world: &World, session: &mut Session, seen: &mut Seen) -> bool {
    match world.drive(session) {
        Halt::Paused(pause) => {
            seen.notes.extend(pause.notes);
            seen.lines.extend(pause.logs.iter().map(|line| format!("{} {}", line.level.name(), line.text)));
            seen.pauses += 1;
            false
        }
        Halt::Ended(ended) => {
            (seen.end, seen.exact) = match ended.result {
                Ok(value) => (format!("value: {}", value.as_str().unwrap_or("not a text")), format!("{value:?}")),
                Err(failure) => (format!("failure: {failure}"), format!("{failure:?}")),
            };
            seen.lines.extend(ended.logs.iter().map(|line| format!("{} {}", line.level.name(), line.text)));
            seen.notes.extend(ended.notes);
            seen.record = record(session);
            true
        }
    }
}

/// What the world does at a pause.
fn answer(world: &World, session: &mut Session, wake_at: Option<std::time::SystemTime>) {
    match session.pending().last() {
        Some(call) => session.decide(call.id, Decision::Approve).unwrap(),
        None => world.advance_to(wake_at.unwrap()),
    }
}

fn without_snapshots(engine: &Engine, source: &str) -> Seen {
    let world = World::new();
    let mut session = engine.session_with(&tools(&world), options()).unwrap();
    let mut seen = Seen::default();
    session.start(source).unwrap();
    while !drive(&world, &mut session, &mut seen) {
        let wake_at = wake_at(&world, &mut session);
        answer(&world, &mut session, wake_at);
    }
    seen.calls = world.calls();
    seen
}

/// Asks the machine again, as a process that has only the session would.
fn wake_at(world: &World, session: &mut Session) -> Option<std::time::SystemTime> {
    world.drive(session).paused().wake_at
}

fn go(engine: &Engine, leg: &mut Leg) {
    let world = World::new();
    world.advance_to(UNIX_EPOCH + Duration::from_millis(leg.now_millis));
    let tools = tools(&world);
    let options = leg.way.options(options());
    let mut session = if leg.stored.is_empty() {
        let mut session = engine.session_with(&tools, options).unwrap();
        session.start(&leg.source).unwrap();
        session
    } else {
        let mut session = leg.stored.restore(engine, &tools, options);
        let wake_at = wake_at(&world, &mut session);
        answer(&world, &mut session, wake_at);
        session
    };
    leg.ended = drive(&world, &mut session, &mut leg.seen);
    if !leg.ended {
        leg.stored.store(engine, &mut session).unwrap();
    }
    leg.seen.calls.extend(world.calls());
    leg.now_millis = u64::try_from(world.time().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap();
}

/// The job of one process: every program from its pause to the next.
pub(crate) fn stretch(input: &[u8]) -> Vec<u8> {
    let mut legs: Vec<Leg> = postcard::from_bytes(input).unwrap();
    let engine = builder().build().unwrap();
    for leg in &mut legs {
        go(&engine, leg);
    }
    postcard::to_allocvec(&legs).unwrap()
}

#[test]
fn a_snapshot_at_every_pause_changes_nothing() {
    let cases = cases();
    assert!(cases.len() >= 60, "{} programs", cases.len());
    let now_millis = u64::try_from(begin().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap();
    let ways = cases.iter().flat_map(|case| Way::ALL.iter().map(move |way| (case, *way)));
    let begun = ways.map(|(case, way)| Leg {
        source: case.source.clone(),
        way,
        stored: Stored::in_the_way(way),
        now_millis,
        seen: Seen::default(),
        ended: false,
    });
    let mut open: Vec<(usize, Leg)> = begun.enumerate().collect();
    let mut stored = vec![Seen::default(); open.len()];
    let mut processes = 0;
    while !open.is_empty() {
        let legs: Vec<_> = open.iter().map(|(_, leg)| leg).collect();
        let output = in_fresh_process("same_result", &postcard::to_allocvec(&legs).unwrap());
        let legs: Vec<Leg> = postcard::from_bytes(&output).unwrap();
        processes += 1;
        assert!(processes < 100, "a program never ends");
        let numbers = open.iter().map(|(number, _)| *number);
        let (ended, on): (Vec<_>, Vec<_>) = numbers.zip(legs).partition(|(_, leg)| leg.ended);
        for (number, leg) in ended {
            stored[number] = leg.seen;
        }
        open = on;
    }

    let engine = builder().build().unwrap();
    let mut pauses = 0;
    for (case, stored) in cases.iter().zip(stored.chunks_exact(Way::ALL.len())) {
        let plain = without_snapshots(&engine, &case.source);
        for (stored, way) in stored.iter().zip(Way::ALL) {
            assert_eq!(stored.end, case.expected, "{} with snapshots, {way:?}", case.name);
            assert_eq!(*stored, plain, "{}, {way:?}", case.name);
        }
        assert!(plain.pauses >= 2, "{} pauses {} times", case.name, plain.pauses);
        pauses += plain.pauses;
    }
    assert!(pauses >= 200, "{pauses} pauses in all, {processes} processes");
}

#[test]
fn a_snapshot_at_every_step_changes_nothing_either() {
    // Also between a call's start and its answer, which comes back as unknown and is settled by whoever knows it.
    let engine = &*crate::support::ENGINE;
    let cases = cases();
    let plain: Vec<_> = cases.iter().map(|case| without_snapshots(engine, &case.source)).collect();
    for ((case, plain), way) in cases.iter().zip(&plain).flat_map(|case| Way::ALL.iter().map(move |way| (case, *way))) {
        let world = World::new();
        let mut session = engine.session_with(&tools(&world), way.options(options())).unwrap();
        session.start(&case.source).unwrap();
        let mut stored = Stored::in_the_way(way);
        let seen = crate::support::drive_through_snapshots(&world, session, |session| {
            stored.store(engine, session).ok()?;
            Some(stored.restore(engine, &tools(&world), way.options(options())))
        });
        let (end, lines) = match seen.result {
            Ok(value) => (format!("value: {}", value.as_str().unwrap_or("not a text")), seen.logs),
            Err(failure) => (format!("failure: {failure}"), seen.logs),
        };
        assert_eq!(end, case.expected, "{}, {way:?}", case.name);
        let lines: Vec<_> = lines.iter().map(|line| format!("{} {}", line.level.name(), line.text)).collect();
        assert_eq!(lines, plain.lines, "{}, {way:?}", case.name);
    }
}

#[test]
fn slices_that_are_over_at_once_change_nothing() {
    let engine = builder().slice(Duration::ZERO).build().unwrap();
    for case in cases() {
        let seen = without_snapshots(&engine, &case.source);
        assert_eq!(seen.end, case.expected, "{}", case.name);
        assert_eq!(seen, without_snapshots(&crate::support::ENGINE, &case.source), "{}", case.name);
    }
}

#[cfg(feature = "fuzzing")]
#[test]
fn at_every_pause_each_way_restores_the_same_memory() {
    use chrysalid::fuzzing::memory;

    let engine = &*crate::support::ENGINE;
    let mut pauses = 0;
    for case in cases() {
        let world = World::new();
        let tools = tools(&world);
        let mut session = engine.session_with(&tools, Way::Chain.options(options())).unwrap();
        let mut chain = Stored::in_the_way(Way::Chain);
        session.start(&case.source).unwrap();
        while !drive(&world, &mut session, &mut Seen::default()) {
            chain.store(engine, &mut session).unwrap();
            let live = memory(&mut session);
            let mut restored = chain.restore(engine, &tools, Way::Chain.options(options()));
            assert!(memory(&mut restored) == live, "{}, pause {pauses}: chain", case.name);
            for way in [Way::Kernel, Way::Comparing] {
                restored.end_chain();
                let mut full = Stored::in_the_way(way);
                full.store(engine, &mut restored).unwrap();
                let mut again = full.restore(engine, &tools, way.options(options()));
                assert!(memory(&mut again) == live, "{}, pause {pauses}: {way:?}", case.name);
            }
            pauses += 1;
            let wake_at = wake_at(&world, &mut session);
            answer(&world, &mut session, wake_at);
        }
    }
    assert!(pauses >= 200, "{pauses} pauses");
}
