//! What the guest may ask of the host: four functions, and the store's limits.
//!
//! The border is here: everything comes through checked reads and is only kept until the session looks at it at the next
//! quiescent point. Nothing that the guest says about policy or budgets is believed.

use std::sync::Arc;

use wasmtime::{Caller, Error as WasmError, Linker, Memory, ResourceLimiter, StoreContextMut, UpdateDeadline};

use super::held::COST;
use super::meter::{Meter, Verdict};
use super::random::Stream;
use crate::defence::{Defence, stands};
use crate::engine::abi;

/// Linear memory that the store grants over the limit, so that the guest's own count is what a program meets first.
pub(crate) const MEMORY_SLACK: usize = 1 << 20;
/// Console lines that are kept, whatever their size.
const MAX_LINES: usize = 10_000;
/// Requests that are kept, whatever their size: each is the host's work.
const MAX_REQUESTS: usize = 10_000;
/// Bytes of a file's name that are kept of the place of a call.
const MAX_FILE: usize = 256;

/// A call as the guest made it; nothing about it has been checked.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) number: u32,
    pub(crate) name: Vec<u8>,
    pub(crate) argument: Vec<u8>,
    /// Where the call was made, if the guest says so.
    pub(crate) place: Option<RawPlace>,
}

/// Where a call was made, as the guest says: nothing but the length of the name is checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RawPlace {
    /// At most 256 bytes.
    pub(crate) file: String,
    /// From 1, in the text that the guest has.
    pub(crate) line: u32,
    /// From 1, in bytes of the line.
    pub(crate) column: u32,
}

impl RawPlace {
    /// `None` for line 0: no JavaScript made the call.
    fn of_guest(file: &[u8], line: u32, column: u32) -> Option<Self> {
        let mut name = String::from_utf8_lossy(file.get(..MAX_FILE).unwrap_or(file)).into_owned();
        // A byte that is no UTF-8 takes three.
        name.truncate(name.floor_char_boundary(MAX_FILE));
        (line > 0).then_some(Self { file: name, line, column })
    }
}

/// A console line as the guest wrote it.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) level: u32,
    pub(crate) values: Vec<u8>,
}

/// What the imports of one guest work on.
pub(crate) struct HostState {
    memory: Option<Memory>,
    board: usize,
    pub(super) meter: Arc<Meter>,
    pub(crate) random: Stream,
    pub(crate) requests: Vec<Request>,
    pub(crate) lines: Vec<Line>,
    pub(crate) lines_dropped: u32,
    pub(crate) last_number: u32,
    /// No call leaves the guest any more.
    pub(crate) closed: bool,
    /// Bytes held here, and how many may be held.
    held: usize,
    pub(crate) may_hold: usize,
    pub(crate) may_log: usize,
    logged: usize,
    limiter: MemoryLimit,
}

struct MemoryLimit(usize);

impl ResourceLimiter for MemoryLimit {
    fn memory_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        Ok(desired <= self.0)
    }

    /// Only the table that the guest is made with.
    fn table_growing(&mut self, current: usize, _: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        Ok(current == 0)
    }
}

impl HostState {
    pub(crate) fn new(board: usize, meter: Arc<Meter>, random: Stream, memory_limit: usize) -> Self {
        Self {
            memory: None,
            board,
            meter,
            random,
            requests: Vec::new(),
            lines: Vec::new(),
            lines_dropped: 0,
            last_number: 0,
            closed: false,
            held: 0,
            may_hold: 0,
            may_log: 0,
            logged: 0,
            limiter: MemoryLimit(memory_limit.saturating_add(MEMORY_SLACK)),
        }
    }

    pub(crate) fn attach(&mut self, memory: Memory) {
        self.memory = Some(memory);
    }

    pub(crate) fn limiter(&mut self) -> &mut dyn ResourceLimiter {
        &mut self.limiter
    }

    /// Takes what the guest asked for and wrote since the last time.
    pub(crate) fn take(&mut self) -> (Vec<Request>, Vec<Line>) {
        self.held = 0;
        (std::mem::take(&mut self.requests), std::mem::take(&mut self.lines))
    }

    pub(crate) fn begin_program(&mut self) {
        self.closed = false;
        self.logged = 0;
        self.lines_dropped = 0;
    }

    fn hold(&mut self, bytes: usize) -> bool {
        let wanted = self.held.saturating_add(bytes).saturating_add(COST);
        if wanted > self.may_hold && stands(Defence::HostMemory) {
            return false;
        }
        self.held = wanted;
        true
    }
}

/// Gives a linker the guest's four imports, and nothing else.
pub(crate) fn link(linker: &mut Linker<HostState>) -> wasmtime::Result<()> {
    linker.func_wrap(abi::IMPORT_MODULE, abi::IMPORT_CALL, import_call)?;
    linker.func_wrap(abi::IMPORT_MODULE, abi::IMPORT_LOG, import_log)?;
    linker.func_wrap(abi::IMPORT_MODULE, abi::IMPORT_NOW, |caller: Caller<'_, HostState>, clock: u32| {
        let meter = &caller.data().meter;
        match clock {
            abi::TIME_MONOTONIC => meter.monotonic_millis(),
            abi::TIME_HOST => meter.host_millis(),
            _ => meter.wall_millis(),
        }
    })?;
    linker.func_wrap(abi::IMPORT_MODULE, abi::IMPORT_RANDOM, import_random)?;
    Ok(())
}

#[expect(clippy::too_many_arguments, reason = "the words of the import")]
fn import_call(
    mut caller: Caller<'_, HostState>,
    name: u32,
    name_length: u32,
    argument: u32,
    length: u32,
    file: u32,
    file_length: u32,
    line: u32,
    column: u32,
) -> wasmtime::Result<u32> {
    let (memory, state) = parts(&mut caller)?;
    let (name, argument) = (slice(memory, name, name_length)?, slice(memory, argument, length)?);
    let place = RawPlace::of_guest(slice(memory, file, file_length)?, line, column);
    // A program that was stopped, or that failed, calls nothing any more.
    let stopped = read_word(memory, state.board + abi::BOARD_STOP) != Some(abi::STOP_NONE)
        || read_word(memory, state.board + abi::BOARD_PROGRAM) == Some(abi::PROGRAM_REJECTED);
    if (state.closed || stopped) && stands(Defence::StopEndsCalls) {
        return Ok(abi::CALL_STOPPED);
    }
    let Some(number) = state.last_number.checked_add(1).filter(|number| *number != abi::CALL_REFUSED) else {
        return Ok(abi::CALL_REFUSED);
    };
    let bytes_of_file = place.as_ref().map_or(0, |place| place.file.len());
    if state.requests.len() >= MAX_REQUESTS || !state.hold(name.len() + argument.len() + bytes_of_file) {
        return Ok(abi::CALL_REFUSED);
    }
    state.last_number = number;
    state.requests.push(Request { number, name: name.to_vec(), argument: argument.to_vec(), place });
    Ok(number)
}

fn import_log(mut caller: Caller<'_, HostState>, level: u32, values: u32, length: u32) -> wasmtime::Result<()> {
    let (memory, state) = parts(&mut caller)?;
    let values = slice(memory, values, length)?;
    let stopped = state.closed || read_word(memory, state.board + abi::BOARD_STOP) != Some(abi::STOP_NONE);
    if stopped && stands(Defence::StopEndsCalls) {
        return Ok(());
    }
    let enough = state.logged >= state.may_log && stands(Defence::ConsoleSize);
    if enough || state.lines.len() >= MAX_LINES || !state.hold(values.len()) {
        state.lines_dropped = state.lines_dropped.saturating_add(1);
        return Ok(());
    }
    state.logged += values.len();
    state.lines_dropped = state.lines_dropped.saturating_add(u32::from(level & abi::LEVEL_CUT != 0));
    state.lines.push(Line { level: level & !abi::LEVEL_CUT, values: values.to_vec() });
    Ok(())
}

fn import_random(mut caller: Caller<'_, HostState>, address: u32, length: u32) -> wasmtime::Result<()> {
    let (memory, state) = parts(&mut caller)?;
    let bytes = memory
        .get_mut(address as usize..(address as usize).saturating_add(length as usize))
        .ok_or_else(|| outside(address, length))?;
    if state.random.fill(bytes) { Ok(()) } else { Err(WasmError::msg("random numbers are used up")) }
}

fn parts<'a>(caller: &'a mut Caller<'_, HostState>) -> wasmtime::Result<(&'a mut [u8], &'a mut HostState)> {
    let memory = caller.data().memory.ok_or_else(|| WasmError::msg("the guest called before it was ready"))?;
    Ok(memory.data_and_store_mut(caller))
}

pub(super) fn slice(memory: &[u8], address: u32, length: u32) -> wasmtime::Result<&[u8]> {
    memory
        .get(address as usize..(address as usize).saturating_add(length as usize))
        .ok_or_else(|| outside(address, length))
}

pub(super) fn outside(address: u32, length: impl std::fmt::Display) -> WasmError {
    WasmError::msg(format!("{length} bytes at {address} are outside of the guest's memory"))
}

/// Called on each tick while the guest runs.
pub(super) fn on_tick(mut context: StoreContextMut<'_, HostState>) -> UpdateDeadline {
    let (verdict, stop, board, memory) = {
        let state = context.data();
        (state.meter.verdict(), state.meter.stop_wanted(), state.board, state.memory)
    };
    if let Some(memory) = memory {
        let bytes = memory.data_mut(&mut context);
        if stop && stands(Defence::SoftStop) {
            write_word(bytes, board + abi::BOARD_STOP, abi::STOP_HOST);
            // The next poll is then the next call or jump, not one in ten thousand.
            if let Some(counter) = read_word(bytes, board + abi::BOARD_COUNTER) {
                write_word(bytes, counter as usize, 1);
            }
        }
        if verdict != Verdict::GoOn {
            write_word(bytes, board + abi::BOARD_YIELD, 1);
        }
    }
    if stop {
        context.data_mut().closed = true;
    }
    match verdict {
        Verdict::GoOn | Verdict::Yield | Verdict::Stop => UpdateDeadline::Continue(1),
        Verdict::Suspend => UpdateDeadline::Yield(1),
        Verdict::Trap => UpdateDeadline::Interrupt,
    }
}

pub(super) fn read_word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|word| u32::from_le_bytes(*word))
}

pub(super) fn write_word(bytes: &mut [u8], at: usize, word: u32) {
    if let Some(place) = bytes.get_mut(at..).and_then(|rest| rest.first_chunk_mut::<4>()) {
        *place = word.to_le_bytes();
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_FILE, RawPlace};

    #[test]
    fn a_place_is_bounded() {
        assert_eq!(RawPlace::of_guest(b"a.js", 0, 5), None);
        let place = |file: &[u8]| RawPlace::of_guest(file, 1, 0).map(|place| place.file);
        assert_eq!(place(b"a.js").as_deref(), Some("a.js"));
        assert_eq!(place(b"").as_deref(), Some(""));
        assert_eq!(place("é".repeat(200).as_bytes()), Some("é".repeat(MAX_FILE / 2)));
        assert_eq!(place(&vec![b'a'; 1 << 20]), Some("a".repeat(MAX_FILE)));
        assert_eq!(place(&vec![0xff; 1 << 20]), Some("\u{fffd}".repeat(MAX_FILE / 3)));
    }
}
