//! Programs for the hostile guest, and where its memory has what.

use std::fmt::Write as _;

pub(super) const WAT: &str = include_str!("guest.wat");

// Entries.
pub(super) const INBOX: u32 = 1;
pub(super) const CONFIGURE: u32 = 2;
pub(super) const TOOLS: u32 = 3;
pub(super) const START: u32 = 5;
pub(super) const PUMP: u32 = 6;
pub(super) const SETTLE: u32 = 7;
pub(super) const LOOSE: u32 = 8;
pub(super) const OUTCOME: u32 = 9;
pub(super) const FINISH: u32 = 10;

// Words of the board.
pub(super) const BOARD: u32 = 65536;
pub(super) const STOP: u32 = BOARD;
pub(super) const YIELD: u32 = BOARD + 4;
pub(super) const COUNTER: u32 = BOARD + 8;
pub(super) const PROGRAM: u32 = BOARD + 12;
pub(super) const JOBS: u32 = BOARD + 16;
pub(super) const TIMERS: u32 = BOARD + 20;
pub(super) const INTERVALS: u32 = BOARD + 24;
pub(super) const NEXT_DUE: u32 = BOARD + 32;
pub(super) const FAILURES: u32 = BOARD + 40;
pub(super) const FAILURE_KIND: u32 = BOARD + 44;
pub(super) const OUT: u32 = BOARD + 48;
pub(super) const OUT_LENGTH: u32 = BOARD + 52;
pub(super) const MEMORY_HITS: u32 = BOARD + 56;

// States of the program.
pub(super) const RUNNING: u32 = 1;
pub(super) const FULFILLED: u32 = 2;
pub(super) const REJECTED: u32 = 3;

/// Where the guest's outbox is by itself.
pub(super) const OWN_OUT: u32 = 66048;
/// A part of memory that the guest leaves alone: the end of the first MiB is behind it.
pub(super) const FREE: u32 = 1 << 19;
/// Memory of a guest that did not grow it.
pub(super) const END: u32 = 1 << 20;

pub(super) const SCRIPT: u32 = 131_072;
const NAME: u32 = 80_000;
const ARGUMENT: u32 = 700_000;

/// One thing that the guest does at an entry.
#[derive(Clone)]
pub(super) struct Act {
    entry: u32,
    kind: u32,
    operands: [u32; 5],
    bytes: Vec<u8>,
}

type Acts = Vec<Act>;

pub(super) fn act(entry: u32, kind: u32, operands: [u32; 5]) -> Acts {
    let mut acts = vec![Act { entry, kind, operands, bytes: Vec::new() }];
    if entry == PUMP {
        // The host pumps what has jobs left; this has one.
        let jobs = |entry, count| Act { entry, kind: 0, operands: [JOBS, count, 0, 0, 0], bytes: Vec::new() };
        acts.splice(..0, [jobs(START, 1), jobs(PUMP, 0)]);
    }
    acts
}

pub(super) fn write(entry: u32, at: u32, word: u32) -> Acts {
    act(entry, 0, [at, word, 0, 0, 0])
}

pub(super) fn bytes(entry: u32, at: u32, bytes: &[u8]) -> Acts {
    vec![Act { entry, kind: 1, operands: [at, 0, length(bytes), 0, 0], bytes: bytes.to_vec() }]
}

/// Copies within memory, from an address behind the board's page.
pub(super) fn copy(entry: u32, to: u32, from: u32, length: u32) -> Acts {
    act(entry, 1, [to, from - SCRIPT, length, 0, 0])
}

pub(super) fn repeat(entry: u32, at: u32, word: u32, times: u32) -> Acts {
    act(entry, 2, [at, word, times, 0, 0])
}

/// A call with these places in memory, so many times; 0 is for ever.
pub(super) fn call_at(entry: u32, [name, name_length, argument, length]: [u32; 4], times: u32) -> Acts {
    act(entry, 3, [name, name_length, argument, length, times])
}

pub(super) fn calls(entry: u32, name: &[u8], argument: &[u8], times: u32) -> Acts {
    let places = [NAME, length(name), ARGUMENT, length(argument)];
    [bytes(entry, NAME, name), bytes(entry, ARGUMENT, argument), call_at(entry, places, times)].concat()
}

/// A program that makes a call, and is fulfilled when that is answered.
pub(super) fn asks(name: &[u8], argument: &[u8], times: u32) -> Acts {
    [runs(), calls(START, name, argument, times), write(SETTLE, PROGRAM, FULFILLED)].concat()
}

/// The program is not over when it has begun.
pub(super) fn runs() -> Acts {
    write(START, PROGRAM, RUNNING)
}

pub(super) fn log(entry: u32, level: u32, at: u32, length: u32, times: u32) -> Acts {
    act(entry, 4, [level, at, length, 0, times])
}

pub(super) fn random(entry: u32, at: u32, length: u32, times: u32) -> Acts {
    act(entry, 5, [at, length, 0, 0, times])
}

pub(super) fn now(entry: u32, clock: u32, times: u32) -> Acts {
    act(entry, 6, [clock, 0, 0, 0, times])
}

pub(super) fn grow(entry: u32, pages: u32, times: u32) -> Acts {
    act(entry, 7, [pages, 0, 0, 0, times])
}

pub(super) fn trap(entry: u32) -> Acts {
    act(entry, 8, [0; 5])
}

pub(super) fn spin(entry: u32) -> Acts {
    act(entry, 9, [0; 5])
}

pub(super) fn rest_at(entry: u32, stack: u32) -> Acts {
    act(entry, 10, [stack, 0, 0, 0, 0])
}

pub(super) fn jump(entry: u32, function: u32) -> Acts {
    act(entry, 11, [function, 0, 0, 0, 0])
}

pub(super) fn divide(entry: u32) -> Acts {
    act(entry, 12, [1, 0, 0, 0, 0])
}

pub(super) fn recurse(entry: u32) -> Acts {
    act(entry, 13, [0; 5])
}

pub(super) fn answer(entry: u32, status: u32) -> Acts {
    act(entry, 14, [status, 0, 0, 0, 0])
}

/// The program's value is these bytes.
pub(super) fn value(value: &[u8]) -> Acts {
    [bytes(OUTCOME, FREE, value), out(OUTCOME, FREE, length(value))].concat()
}

pub(super) fn out(entry: u32, at: u32, length: u32) -> Acts {
    [write(entry, OUT, at), write(entry, OUT_LENGTH, length)].concat()
}

pub(super) fn due(millis: f64) -> Acts {
    bytes(START, NEXT_DUE, &millis.to_le_bytes())
}

/// The source text of a program that does these.
pub(super) fn source(acts: &[Act]) -> String {
    const RECORD: usize = 28;
    let mut script = u32::try_from(acts.len()).unwrap().to_le_bytes().to_vec();
    let mut behind = Vec::new();
    for act in acts {
        let mut operands = act.operands;
        if !act.bytes.is_empty() {
            operands[1] = u32::try_from(4 + acts.len() * RECORD + behind.len()).unwrap();
            behind.extend_from_slice(&act.bytes);
        }
        for word in [act.entry, act.kind].into_iter().chain(operands) {
            script.extend_from_slice(&word.to_le_bytes());
        }
    }
    script.extend(behind);
    let mut source = "/*".to_owned();
    for byte in script {
        write!(source, "{byte:02x}").unwrap();
    }
    source + "*/0"
}

fn length(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.len()).unwrap()
}
