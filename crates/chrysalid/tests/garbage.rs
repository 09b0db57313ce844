//! A guest that was taken over. It keeps to the ABI as far as it likes: what it does is written in the source of each
//! program (`garbage/script.rs`, `garbage/guest.wat`). Whatever it does, the host answers with a value, a failure or an
//! error, in bounded time and memory, and other sessions do not notice.

mod calls;
mod forgeries;
mod modules;
mod outcomes;

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use chrysalid::{Ended, Engine, EngineBuilder, Limits, Session, SessionOptions, Value};

use crate::script::{
    BOARD, CONFIGURE, COUNTER, END, FAILURE_KIND, FAILURES, FINISH, FREE, FULFILLED, INBOX, INTERVALS, JOBS,
    MEMORY_HITS, NEXT_DUE, OUTCOME, PROGRAM, PUMP, REJECTED, RUNNING, SETTLE, START, STOP, TIMERS, TOOLS, WAT, YIELD,
    answer, asks, bytes, call_at, divide, due, grow, jump, log, now, random, recurse, repeat, rest_at, runs, source,
    spin, trap, value, write,
};
use crate::support::{ENGINE, World, begin, builder, eval, session, step, with_limits};

/// The guest of `garbage/guest.wat`.
static GUEST: LazyLock<Vec<u8>> = LazyLock::new(|| wat::parse_str(WAT).unwrap());

static HOSTILE: LazyLock<Engine> = LazyLock::new(|| hostile().build().unwrap());

/// How long any of these programs may take, on a machine that does other work.
const PATIENCE: Duration = Duration::from_secs(20);

/// What ends a program whose guest broke the contract.
const FAULT: &str = "Trap: the sandbox stopped the program: a fault of the guest | Reset";
const TIMEOUT: &str = "Timeout: the program used more than 100ms of CPU time | Intact";
const TRAPPED_BY_TIME: &str = "Timeout: the program used more than 100ms of CPU time | Reset";
const OUT_OF_MEMORY: &str = "OutOfMemory: the program used more than 8388608 bytes of memory | Intact";
const DEADLOCK: &str = "Deadlock: the program waits for a promise that nothing will settle | Intact";
const SANE: &str = "1 | Intact";

fn hostile() -> EngineBuilder {
    builder().no_cache().guest(GUEST.clone())
}

fn options() -> SessionOptions {
    with_limits(small)
}

fn small(limits: &mut Limits) {
    limits.memory = 8 << 20;
    limits.cpu_time = Duration::from_millis(100);
    limits.host_memory = 8 << 20;
}

fn taken_over(world: &World) -> Session {
    HOSTILE.session_with(&world.tools(), options()).unwrap()
}

/// One thing that a guest tries, and how its program ends.
struct Attack {
    name: &'static str,
    source: String,
    ends: &'static str,
}

fn attack(name: &'static str, acts: impl IntoIterator<Item = Vec<crate::script::Act>>, ends: &'static str) -> Attack {
    Attack { name, source: source(&acts.into_iter().collect::<Vec<_>>().concat()), ends }
}

/// `1 | Intact`, or `Trap: message | Reset`.
fn shown(ended: &Ended) -> String {
    let result = match &ended.result {
        Ok(value) => value.to_string(),
        Err(failure) => format!("{:?}: {}", failure.kind, failure.message),
    };
    format!("{result} | {:?}", ended.heap)
}

fn sane() -> String {
    source(&[])
}

/// Runs each in a session of its own, which takes a sane program afterwards.
#[track_caller]
fn check(attacks: Vec<Attack>) {
    let mut bystander = session();
    eval(&mut bystander, "let n = 0");
    let mut count = 0;
    for attack in attacks {
        let world = World::new();
        let mut session = taken_over(&world);
        let begun = Instant::now();
        let ended = world.run(&mut session, &attack.source).ended();
        let took = begun.elapsed();
        assert_eq!(shown(&ended), attack.ends, "{}", attack.name);
        assert!(took < PATIENCE, "{} took {took:?}", attack.name);
        let next = world.run(&mut session, &sane()).ended();
        assert_eq!(shown(&next), SANE, "the program after: {}", attack.name);
        count += 1;
        assert_eq!(eval(&mut bystander, "++n"), Value::from(count), "beside {}", attack.name);
    }
}

#[test]
fn the_guest_is_sane_where_it_is_not_told_otherwise() {
    let world = World::new();
    let mut session = taken_over(&world);
    assert_eq!(shown(&world.run(&mut session, &sane()).ended()), SANE);
    let ended = world.run(&mut session, &source(&asks(b"echo", b"\x0e\x00", 1))).ended();
    assert_eq!(shown(&ended), SANE);
    assert_eq!(world.calls(), ["echo {}"]);
    let ended = world.run(&mut session, &source(&value(b"\x07\x02hi"))).ended();
    assert_eq!(shown(&ended), "'hi' | Intact");
}

#[test]
fn exports_that_do_not_come_back_as_they_should() {
    const UNREACHABLE: &str =
        "Trap: the sandbox stopped the program: wasm trap: wasm `unreachable` instruction executed | Reset";
    check(vec![
        attack("start does not understand", [answer(START, 1)], FAULT),
        attack("start answers a status that is none", [answer(START, 77)], FAULT),
        attack("start answers a negative status", [answer(START, u32::MAX)], FAULT),
        attack("start answers that memory is full", [answer(START, 2)], SANE),
        attack("pump does not understand", [answer(PUMP, 1)], FAULT),
        attack("pump answers a status that is none", [answer(PUMP, 5)], FAULT),
        attack("finish does not understand", [answer(FINISH, 1)], "1 | Reset"),
        attack("finish answers a status that is none", [answer(FINISH, 77)], "1 | Reset"),
        attack(
            "finish says that memory is full",
            [answer(FINISH, 2)],
            "OutOfMemory: the program used more than 8388608 bytes of memory | Reset",
        ),
        attack("start traps", [trap(START)], UNREACHABLE),
        attack("pump traps", [trap(PUMP)], UNREACHABLE),
        attack("outcome traps", [trap(OUTCOME)], UNREACHABLE),
        attack("finish traps", [trap(FINISH)], "1 | Reset"),
        attack("start runs for ever", [spin(START)], TRAPPED_BY_TIME),
        attack("pump runs for ever", [spin(PUMP)], TRAPPED_BY_TIME),
        attack("outcome runs for ever", [spin(OUTCOME)], TRAPPED_BY_TIME),
        attack("finish runs for ever", [spin(FINISH)], "1 | Reset"),
        attack(
            "recursion without end",
            [recurse(START)],
            "Trap: the sandbox stopped the program: wasm trap: call stack exhausted | Reset",
        ),
        attack(
            "a division by zero",
            [divide(START)],
            "Trap: the sandbox stopped the program: wasm trap: integer divide by zero | Reset",
        ),
        attack(
            "a function that is not in the table",
            [jump(START, 4000)],
            "Trap: the sandbox stopped the program: wasm trap: undefined element: out of bounds table access | Reset",
        ),
        attack(
            "an empty place of the table",
            [jump(START, 0)],
            "Trap: the sandbox stopped the program: wasm trap: uninitialized element | Reset",
        ),
        attack(
            "a write outside of memory",
            [write(START, u32::MAX - 8, 1)],
            "Trap: the sandbox stopped the program: wasm trap: out of bounds memory access | Reset",
        ),
        attack("memory is asked for without end", [grow(START, 1, 0)], TRAPPED_BY_TIME),
        attack("more memory than there is", [grow(START, 65535, 1000)], SANE),
        attack("all memory that can be had, again and again", [grow(START, 1, 1000)], SANE),
        attack("all of its memory is overwritten", [repeat(START, BOARD, u32::MAX, (END - BOARD) / 4)], TIMEOUT),
        attack("a stack pointer elsewhere", [rest_at(START, 0x7fff_ffff)], SANE),
    ]);
}

#[test]
fn boards_that_lie() {
    let with = |word: u32, number: u32| write(START, word, number);
    check(vec![
        attack("no program", [with(PROGRAM, 0)], DEADLOCK),
        attack("a state that is none", [with(PROGRAM, 99)], DEADLOCK),
        attack("running, and nothing that runs", [runs()], DEADLOCK),
        attack("fulfilled, then rejected", [with(PROGRAM, REJECTED)], "Exception: 1 | Intact"),
        attack(
            "rejected while it is asked for its value",
            [write(OUTCOME, PROGRAM, REJECTED)],
            "Exception: 1 | Intact",
        ),
        attack(
            "fulfilled while it is asked for its reason",
            [with(PROGRAM, REJECTED), write(OUTCOME, PROGRAM, FULFILLED)],
            SANE,
        ),
        attack("jobs for ever", [with(JOBS, 1)], TIMEOUT),
        attack("jobs for ever of a program that runs", [runs(), with(JOBS, u32::MAX)], TIMEOUT),
        attack("a timer that is always due", [due(-1.0)], TIMEOUT),
        attack("a timer that is always due, running", [runs(), due(f64::MIN)], TIMEOUT),
        attack("timers that are never due", [with(TIMERS, u32::MAX), due(f64::NAN)], SANE),
        attack("timers at an infinite time", [with(TIMERS, 1), due(f64::INFINITY)], SANE),
        attack("a timer at minus infinity", [runs(), due(f64::NEG_INFINITY)], DEADLOCK),
        attack("a timer and none set", [due(1e300)], SANE),
        attack("intervals without number", [with(INTERVALS, u32::MAX)], SANE),
        attack("failures, and it knows of none", [with(FAILURES, u32::MAX), answer(OUTCOME, 4)], FAULT),
        attack(
            "a failure of a kind that is none",
            [with(FAILURES, 1), with(FAILURE_KIND, 99)],
            "Exception: 1 | Intact",
        ),
        attack("memory is full", [with(STOP, 2)], OUT_OF_MEMORY),
        attack("a stop that the host did not ask for", [with(STOP, 1)], SANE),
        attack("a stop that is none", [with(STOP, 0xdead_beef)], SANE),
        attack(
            "out of memory, it says",
            [with(PROGRAM, REJECTED), with(MEMORY_HITS, u32::MAX), value(b"\x01")],
            OUT_OF_MEMORY,
        ),
        attack("a yield word that is always set", [with(YIELD, 1), write(PUMP, YIELD, 1)], SANE),
        attack("a counter outside of memory", [with(COUNTER, u32::MAX), spin(START)], TRAPPED_BY_TIME),
        attack("a counter across the end of memory", [with(COUNTER, END - 2), spin(START)], TRAPPED_BY_TIME),
        attack("a counter in the board", [with(COUNTER, PROGRAM), spin(START)], TRAPPED_BY_TIME),
        attack("a counter in the script", [with(COUNTER, 131_072), with(JOBS, 1)], TIMEOUT),
    ]);
}

#[test]
fn imports_with_places_outside_of_memory() {
    let places = [
        [u32::MAX, 1, FREE, 1],
        [END, 1, FREE, 1],
        [END - 1, 2, FREE, 1],
        [FREE, u32::MAX, FREE, 1],
        [FREE, 1, u32::MAX, u32::MAX],
        [FREE, 1, END - 1, 2],
        [FREE, 1, FREE, END],
    ];
    check(places.map(|place| attack("a call", [call_at(START, place, 1)], FAULT)).into());
    check(vec![
        attack("a line at the end", [log(START, 0, END - 1, 2, 1)], FAULT),
        attack("a line of 4 GiB", [log(START, 0, FREE, u32::MAX, 1)], FAULT),
        attack("a line from address 4 GiB on", [log(START, 0, u32::MAX, u32::MAX, 1)], FAULT),
        attack("random numbers at the end", [random(START, END - 1, 2, 1)], FAULT),
        attack("4 GiB of random numbers", [random(START, 0, u32::MAX, 1)], FAULT),
        attack("random numbers behind memory", [random(START, u32::MAX, 1, 1)], FAULT),
        attack("no bytes at the very end", [random(START, END, 0, 1), call_at(START, [END, 0, END, 0], 1)], SANE),
        attack(
            "random numbers over the board",
            [
                random(START, BOARD + 8, 40, 1),
                write(START, PROGRAM, 2),
                write(START, JOBS, 0),
                write(START, TIMERS, 0),
                due(f64::INFINITY),
                write(START, FAILURES, 0),
            ],
            SANE,
        ),
    ]);
}

#[test]
fn imports_without_end() {
    check(vec![
        attack("random numbers", [random(START, FREE, 4096, 0)], TRAPPED_BY_TIME),
        attack("clocks", [now(START, 0, 0)], TRAPPED_BY_TIME),
        attack("clocks that are none", [now(START, u32::MAX, 0)], TRAPPED_BY_TIME),
        attack("empty lines", [log(START, 0, FREE, 0, 0)], TRAPPED_BY_TIME),
        attack("large lines", [log(START, 0, 0, END, 0)], TRAPPED_BY_TIME),
        attack("calls", [call_at(START, [FREE, 4, FREE, 0], 0)], TRAPPED_BY_TIME),
        attack("large calls", [call_at(START, [0, END, 0, END], 0)], TRAPPED_BY_TIME),
    ]);
}

#[test]
fn what_a_guest_writes_to_the_console_is_bounded() {
    let world = World::new();
    let mut session = taken_over(&world);
    let lines = |acts: Vec<crate::script::Act>, session: &mut Session| {
        let ended = world.run(session, &source(&acts)).ended();
        assert_eq!(shown(&ended), SANE);
        (ended.logs, ended.notes)
    };
    // Bytes that are no value, and a level that is none.
    let (logs, notes) = lines(log(START, 0xffff_feff, FREE, 0, 1), &mut session);
    assert_eq!(
        logs.iter().map(|line| (line.level.name(), line.text.as_str())).collect::<Vec<_>>(),
        [("log", "[unreadable line]")]
    );
    assert_eq!(notes, [""; 0]);
    // A million lines of nothing.
    let (logs, notes) = lines(log(START, 0, FREE, 0, 1_000_000), &mut session);
    assert_eq!(logs.iter().map(|line| line.text.len() + 1).sum::<usize>(), 65_537);
    assert_eq!(notes, ["console output over 65536 bytes was dropped"]);
    // One of a MiB: a value that is larger than any line.
    let (logs, notes) = lines(log(START, 0x100, 0, END, 1), &mut session);
    assert_eq!(logs.iter().map(|line| line.text.as_str()).collect::<Vec<_>>(), ["[unreadable line]"]);
    assert_eq!(notes, ["console output over 65536 bytes was dropped"]);
}

/// Runs a program that leaves a script behind, then another one, whose message meets it.
#[track_caller]
fn check_after(attacks: Vec<Attack>) {
    for Attack { name, source, ends } in attacks {
        let world = World::new();
        let mut session = taken_over(&world);
        assert_eq!(shown(&world.run(&mut session, &source).ended()), SANE, "{name}");
        session.set_capabilities(&chrysalid::Capabilities::new([world.pay()]).unwrap());
        let begun = Instant::now();
        assert_eq!(shown(&world.run(&mut session, &sane()).ended()), ends, "{name}");
        assert!(begun.elapsed() < PATIENCE, "{name} took {:?}", begun.elapsed());
    }
    assert_eq!(eval(&mut session(), "1"), Value::from(1));
}

#[test]
fn inboxes_and_messages() {
    const UNREACHABLE: &str =
        "Trap: the sandbox stopped the program: wasm trap: wasm `unreachable` instruction executed | Reset";
    const FULL: &str = "OutOfMemory: the program used more than 8388608 bytes of memory | Reset";
    check_after(vec![
        attack("an inbox at address 0", [answer(INBOX, 0)], FULL),
        attack("an inbox at address 1", [answer(INBOX, 1)], SANE),
        attack("an inbox behind memory", [answer(INBOX, u32::MAX)], FAULT),
        attack("an inbox at the end of memory", [answer(INBOX, END)], FAULT),
        attack("an inbox across the end of memory", [answer(INBOX, END - 1)], FAULT),
        attack("an inbox over the board", [answer(INBOX, BOARD)], SANE),
        attack("an inbox that traps", [trap(INBOX)], UNREACHABLE),
        attack("an inbox that runs for ever", [spin(INBOX)], TRAPPED_BY_TIME),
        attack("an inbox that calls", [call_at(INBOX, [FREE, 4, FREE, 4], 10)], SANE),
        attack("tools that are not understood", [answer(TOOLS, 1)], FAULT),
        attack("tools with a status that is none", [answer(TOOLS, 99)], FAULT),
        attack("tools that trap", [trap(TOOLS)], UNREACHABLE),
        attack("tools that run for ever", [spin(TOOLS)], TRAPPED_BY_TIME),
        attack("tools that call", [call_at(TOOLS, [FREE, 4, FREE, 4], 10)], SANE),
    ]);
}

#[test]
fn a_guest_that_will_not_be_configured_takes_no_program_after_a_trap() {
    let world = World::new();
    let mut session = taken_over(&world);
    assert_eq!(shown(&world.run(&mut session, &source(&answer(CONFIGURE, 1))).ended()), SANE);
    assert_eq!(shown(&world.run(&mut session, &source(&trap(FINISH))).ended()), "1 | Reset");
    for _ in 0..3 {
        assert_eq!(shown(&world.run(&mut session, &sane()).ended()), FAULT);
    }
}

#[test]
fn a_timer_at_the_end_of_time_is_a_pause_that_an_interrupt_ends() {
    let world = World::new();
    let mut session = taken_over(&world);
    let acts = [runs(), write(START, TIMERS, 1), due(f64::MAX)].concat();
    let pause = world.run(&mut session, &source(&acts)).paused();
    assert_eq!(pause.pending, []);
    assert_eq!(pause.wake_at, Some(std::time::UNIX_EPOCH + Duration::from_hours(2_400_000_000)));
    session.interrupt_handle().interrupt();
    assert_eq!(shown(&world.drive(&mut session).ended()), "Cancelled: the program was interrupted | Intact");
}

#[test]
fn memory_stays_within_its_limit() {
    let world = World::new();
    let mut session = taken_over(&world);
    for pages in [1, 16, 128, 144] {
        let acts = grow(START, pages, 1000);
        assert_eq!(shown(&world.run(&mut session, &source(&acts)).ended()), SANE, "{pages}");
    }
    let memory = HOSTILE.inspect(&session.snapshot().unwrap()).unwrap().memory;
    assert_eq!(memory, 9 << 20);
}

#[test]
fn a_guest_that_ignores_its_slice_gives_the_thread_back() {
    let world = World::new();
    let mut session = HOSTILE.session_with(&world.tools(), with_limits(small)).unwrap();
    session.start(&source(&spin(START))).unwrap();
    let mut busy = 0;
    while let chrysalid::Step::Busy = session.step(begin()).unwrap() {
        busy += 1;
        assert_eq!(eval(&mut ENGINE.session(&chrysalid::Capabilities::none()).unwrap(), "1"), Value::from(1));
    }
    assert!(busy >= 3, "{busy}");
    assert!(session.is_idle());
}

#[test]
fn requests_of_an_entry_that_trapped_are_taken_down_and_run_nothing() {
    let world = World::new();
    let mut session = taken_over(&world);
    let acts = [crate::script::calls(START, b"pay", b"\x0e\x01\x06amount\x04\x02", 3), trap(START)].concat();
    let ended = world.run(&mut session, &source(&acts)).ended();
    assert_eq!(ended.heap, chrysalid::Heap::Reset);
    assert_eq!(world.paid(), [0.0; 0]);
    assert_eq!(crate::support::record(&session), ["1.1 pay abandoned", "1.2 pay abandoned", "1.3 pay abandoned"]);
}

#[test]
fn answers_that_are_not_understood() {
    let with = |acts| [runs(), crate::script::calls(START, b"echo", b"\x0e\x00", 1), acts];
    check(vec![
        attack("settle does not understand", with(answer(SETTLE, 1)), FAULT),
        attack("settle answers a status that is none", with(answer(SETTLE, 1234)), FAULT),
        attack(
            "settle traps",
            with(trap(SETTLE)),
            "Trap: the sandbox stopped the program: wasm trap: wasm `unreachable` instruction executed | Reset",
        ),
        attack("settle runs for ever", with(spin(SETTLE)), TRAPPED_BY_TIME),
        attack("settle drops the answer", with(Vec::new()), DEADLOCK),
        attack("settle calls again, for ever", with(crate::script::calls(SETTLE, b"echo", b"\x0e\x00", 1)), TIMEOUT),
        attack("settle clears the board", with(repeat(SETTLE, BOARD, 0, 16)), TIMEOUT),
        attack("settle says that all is over", with(bytes(SETTLE, PROGRAM, &RUNNING.to_le_bytes())), DEADLOCK),
    ]);
}

#[test]
fn a_stack_pointer_that_is_not_at_rest_has_no_snapshot() {
    let world = World::new();
    let mut session = taken_over(&world);
    assert_eq!(shown(&world.run(&mut session, &source(&rest_at(FINISH, 4096))).ended()), SANE);
    let refused = session.snapshot().unwrap_err();
    assert_eq!(refused.kind(), chrysalid::ErrorKind::Internal);
    assert_eq!(refused.to_string(), "the guest's stack pointer is not at rest");
    // A program may still run, and one that puts it back may be kept.
    assert_eq!(shown(&world.run(&mut session, &source(&rest_at(FINISH, BOARD))).ended()), SANE);
    session.snapshot().unwrap();
}

#[test]
fn a_step_between_two_traps_is_an_ordinary_one() {
    let world = World::new();
    let mut session = taken_over(&world);
    for _ in 0..20 {
        session.start(&source(&trap(START))).unwrap();
        let chrysalid::Step::Ended(ended) = step(&mut session, begin()) else { panic!() };
        assert_eq!(ended.heap, chrysalid::Heap::Reset);
        assert_eq!(ended.notes, ["the session is back at what it was before this program"]);
        assert_eq!(shown(&world.run(&mut session, &sane()).ended()), SANE);
    }
}

#[test]
fn a_next_due_time_that_moves_away_at_each_look_pauses() {
    let world = World::new();
    let mut session = taken_over(&world);
    let far = 4_000_000_000_000.0_f64.to_le_bytes();
    let acts = [runs(), bytes(START, NEXT_DUE, &far), bytes(PUMP, NEXT_DUE, &far)].concat();
    assert_eq!(world.run(&mut session, &source(&acts)).paused().pending, []);
    session.interrupt_handle().interrupt();
    assert_eq!(shown(&world.drive(&mut session).ended()), "Cancelled: the program was interrupted | Intact");
}
