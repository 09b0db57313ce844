//! One guest: its store, its exports, and the entries that run in it.
//!
//! The guest always runs on a fiber. An entry moves the instance into a boxed future, polled by the session and by
//! nothing else, and gives it back when it returns. The border is here: everything that comes from the guest is
//! copied through checked reads, and what its imports are told is only kept until the session looks at it.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use wasmtime::{
    Caller, Error as WasmError, Global, Linker, Memory, ResourceLimiter, Store, StoreContextMut, TypedFunc,
    UpdateDeadline,
};

use super::meter::{Meter, Verdict};
use super::random::Stream;
use crate::engine::{Engine, Runtime, abi};
use crate::error::{Error, ErrorKind, Result};

/// Linear memory that the store grants over the limit, so that the guest's own count is what a program meets first.
const MEMORY_SLACK: usize = 1 << 20;
/// Host memory that one request or line costs beside its bytes.
const ENTRY_COST: usize = 256;
/// Console lines that are kept, whatever their size.
const MAX_LINES: usize = 10_000;

/// A call as the guest made it; nothing about it has been checked.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) number: u32,
    pub(crate) name: Vec<u8>,
    pub(crate) argument: Vec<u8>,
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
    meter: Arc<Meter>,
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
        let wanted = self.held.saturating_add(bytes).saturating_add(ENTRY_COST);
        if wanted > self.may_hold {
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

fn import_call(
    mut caller: Caller<'_, HostState>,
    name: u32,
    name_length: u32,
    argument: u32,
    length: u32,
) -> wasmtime::Result<u32> {
    let (memory, state) = parts(&mut caller)?;
    let (name, argument) = (slice(memory, name, name_length)?, slice(memory, argument, length)?);
    let stopped = read_word(memory, state.board + abi::BOARD_STOP) != Some(abi::STOP_NONE);
    if state.closed || stopped {
        return Ok(abi::CALL_STOPPED);
    }
    let Some(number) = state.last_number.checked_add(1).filter(|number| *number != abi::CALL_REFUSED) else {
        return Ok(abi::CALL_REFUSED);
    };
    if !state.hold(name.len() + argument.len()) {
        return Ok(abi::CALL_REFUSED);
    }
    state.last_number = number;
    state.requests.push(Request { number, name: name.to_vec(), argument: argument.to_vec() });
    Ok(number)
}

fn import_log(mut caller: Caller<'_, HostState>, level: u32, values: u32, length: u32) -> wasmtime::Result<()> {
    let (memory, state) = parts(&mut caller)?;
    let values = slice(memory, values, length)?;
    if state.logged >= state.may_log || state.lines.len() >= MAX_LINES || !state.hold(values.len()) {
        state.lines_dropped = state.lines_dropped.saturating_add(1);
        return Ok(());
    }
    state.logged += values.len();
    state.lines.push(Line { level, values: values.to_vec() });
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

fn slice(memory: &[u8], address: u32, length: u32) -> wasmtime::Result<&[u8]> {
    memory
        .get(address as usize..(address as usize).saturating_add(length as usize))
        .ok_or_else(|| outside(address, length))
}

fn outside(address: u32, length: u32) -> WasmError {
    WasmError::msg(format!("{length} bytes at {address} are outside of the guest's memory"))
}

/// Called on each tick while the guest runs.
fn on_tick(mut context: StoreContextMut<'_, HostState>) -> wasmtime::Result<UpdateDeadline> {
    let (verdict, stop, board, memory) = {
        let state = context.data();
        (state.meter.verdict(), state.meter.stop_wanted(), state.board, state.memory)
    };
    if let Some(memory) = memory {
        let bytes = memory.data_mut(&mut context);
        if stop {
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
    Ok(match verdict {
        Verdict::GoOn | Verdict::Yield | Verdict::Stop => UpdateDeadline::Continue(1),
        Verdict::Suspend => UpdateDeadline::Yield(1),
        Verdict::Trap => UpdateDeadline::Interrupt,
    })
}

fn read_word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|word| u32::from_le_bytes(*word))
}

fn write_word(bytes: &mut [u8], at: usize, word: u32) {
    if let Some(place) = bytes.get_mut(at..).and_then(|rest| rest.first_chunk_mut::<4>()) {
        *place = word.to_le_bytes();
    }
}

/// What the guest tells about itself after each entry. None of it is believed where it matters.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Board {
    pub(crate) stop: u32,
    pub(crate) program: u32,
    pub(crate) jobs: bool,
    pub(crate) timers: u32,
    pub(crate) intervals: u32,
    pub(crate) next_due: Option<f64>,
    pub(crate) failures: u32,
    pub(crate) failure_kind: u32,
    out: u32,
    out_length: u32,
    pub(crate) memory_hits: u32,
}

/// Something for the guest to do.
#[derive(Debug)]
pub(crate) enum Entry {
    Configure([u32; abi::CONFIGURE_WORDS]),
    Tools(Vec<u8>),
    Start { program: u32, source: Arc<str> },
    Pump,
    Settle(Vec<u8>),
    Loose,
    Outcome(u32),
    Finish,
}

type Running = Pin<Box<dyn Future<Output = (Box<Instance>, wasmtime::Result<i32>)> + Send>>;

/// Where a session's guest is.
pub(crate) enum Guest {
    /// At rest.
    Here(Box<Instance>),
    /// In the middle of an entry.
    Away(Running),
    /// Given up.
    Gone,
}

pub(crate) struct Instance {
    store: Store<HostState>,
    memory: Memory,
    stack_pointer: Global,
    board: usize,
    inbox: TypedFunc<u32, u32>,
    configure: TypedFunc<(), i32>,
    tools: TypedFunc<(), i32>,
    start: TypedFunc<u32, i32>,
    pump: TypedFunc<(), i32>,
    settle: TypedFunc<(), i32>,
    loose: TypedFunc<(), i32>,
    outcome: TypedFunc<u32, i32>,
    finish: TypedFunc<(), i32>,
}

impl Instance {
    /// A guest that starts from the baseline, and whether it lies in the pool.
    pub(crate) fn new(
        engine: &Engine,
        meter: &Arc<Meter>,
        random: Stream,
        memory_limit: usize,
    ) -> Result<(Box<Self>, bool)> {
        let pooled = engine.has_pool();
        let pair = (meter.clone(), memory_limit);
        match Self::in_runtime(engine.runtime(pooled)?, pair.clone(), random) {
            Ok(instance) => Ok((instance, pooled)),
            // A full pool is no error: this one is made on demand.
            Err((_, random)) if pooled => {
                Self::in_runtime(engine.runtime(false)?, pair, random).map(|instance| (instance, false))
            }
            Err(error) => Err(error),
        }
        .map_err(|(error, _)| Error::new(ErrorKind::Guest, format!("no memory for a guest: {error:#}")))
    }

    fn in_runtime(
        runtime: &Runtime,
        (meter, memory_limit): (Arc<Meter>, usize),
        random: Stream,
    ) -> std::result::Result<Box<Self>, (WasmError, Stream)> {
        let mut store = Store::new(
            &runtime.engine,
            HostState {
                memory: None,
                board: runtime.image.board as usize,
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
            },
        );
        store.limiter(|state| &mut state.limiter);
        store.epoch_deadline_callback(on_tick);
        store.set_epoch_deadline(1);
        match Self::with_store(&mut store, runtime) {
            Ok(make) => Ok(make(store)),
            Err(error) => Err((error, store.into_data().random)),
        }
    }

    #[expect(clippy::type_complexity, reason = "a constructor that is still without its store")]
    fn with_store(
        store: &mut Store<HostState>,
        runtime: &Runtime,
    ) -> wasmtime::Result<impl FnOnce(Store<HostState>) -> Box<Self> + use<>> {
        // Nothing runs at instantiation, so the future is ready at once.
        let instance = match std::pin::pin!(runtime.pre.instantiate_async(&mut *store))
            .poll(&mut Context::from_waker(Waker::noop()))
        {
            Poll::Ready(instance) => instance?,
            Poll::Pending => return Err(WasmError::msg("instantiation did not end at once")),
        };
        let missing = |name: &str| WasmError::msg(format!("the guest has no {name:?}"));
        let memory =
            instance.get_memory(&mut *store, abi::EXPORT_MEMORY).ok_or_else(|| missing(abi::EXPORT_MEMORY))?;
        let stack_pointer = instance
            .get_global(&mut *store, abi::EXPORT_STACK_POINTER)
            .ok_or_else(|| missing(abi::EXPORT_STACK_POINTER))?;
        store.data_mut().memory = Some(memory);
        let board = runtime.image.board as usize;
        let inbox = instance.get_typed_func(&mut *store, abi::EXPORT_INBOX)?;
        let configure = instance.get_typed_func(&mut *store, abi::EXPORT_CONFIGURE)?;
        let tools = instance.get_typed_func(&mut *store, abi::EXPORT_TOOLS)?;
        let start = instance.get_typed_func(&mut *store, abi::EXPORT_START)?;
        let pump = instance.get_typed_func(&mut *store, abi::EXPORT_PUMP)?;
        let settle = instance.get_typed_func(&mut *store, abi::EXPORT_SETTLE)?;
        let loose = instance.get_typed_func(&mut *store, abi::EXPORT_LOOSE)?;
        let outcome = instance.get_typed_func(&mut *store, abi::EXPORT_OUTCOME)?;
        let finish = instance.get_typed_func(&mut *store, abi::EXPORT_FINISH)?;
        Ok(move |store| {
            Box::new(Self {
                store,
                memory,
                stack_pointer,
                board,
                inbox,
                configure,
                tools,
                start,
                pump,
                settle,
                loose,
                outcome,
                finish,
            })
        })
    }

    pub(crate) fn state(&mut self) -> &mut HostState {
        self.store.data_mut()
    }

    pub(crate) fn memory(&self) -> &[u8] {
        self.memory.data(&self.store)
    }

    pub(crate) fn memory_mut(&mut self) -> &mut [u8] {
        self.memory.data_mut(&mut self.store)
    }

    /// Grows the memory to this many bytes, a multiple of 65536.
    pub(crate) fn grow_to(&mut self, bytes: usize) -> Result<()> {
        let missing = bytes.saturating_sub(self.memory().len()).div_ceil(65536) as u64;
        if missing > 0 {
            self.memory.grow(&mut self.store, missing).map_err(|_| {
                Error::new(ErrorKind::TooLarge, format!("memory of {bytes} bytes is more than this session may have"))
            })?;
        }
        Ok(())
    }

    /// Whether no frame of the guest is live.
    pub(crate) fn is_at_rest(&mut self, stack_pointer: i32) -> bool {
        self.stack_pointer.get(&mut self.store).i32() == Some(stack_pointer)
    }

    pub(crate) fn board(&self) -> Board {
        let bytes = self.memory();
        let word = |offset| read_word(bytes, self.board + offset).unwrap_or(0);
        let due = bytes
            .get(self.board + abi::BOARD_NEXT_DUE..)
            .and_then(|rest| rest.first_chunk())
            .map_or(f64::INFINITY, |due| f64::from_le_bytes(*due));
        Board {
            stop: word(abi::BOARD_STOP),
            program: word(abi::BOARD_PROGRAM),
            jobs: word(abi::BOARD_JOBS) != 0,
            timers: word(abi::BOARD_TIMERS),
            intervals: word(abi::BOARD_INTERVALS),
            next_due: due.is_finite().then_some(due),
            failures: word(abi::BOARD_FAILURES),
            failure_kind: word(abi::BOARD_FAILURE_KIND),
            out: word(abi::BOARD_OUT),
            out_length: word(abi::BOARD_OUT_LENGTH),
            memory_hits: word(abi::BOARD_MEMORY_HITS),
        }
    }

    /// The bytes that the last entry left for the host, if they are no more than the bound.
    pub(crate) fn outbox(&self, bound: usize) -> Option<&[u8]> {
        let board = self.board();
        (board.out_length as usize <= bound).then_some(())?;
        slice(self.memory(), board.out, board.out_length).ok()
    }

    /// Runs entries one after the other; the status is that of the last.
    pub(crate) fn enter(mut self: Box<Self>, entries: Vec<Entry>) -> Guest {
        Guest::Away(Box::pin(async move {
            let status = self.run(entries).await;
            (self, status)
        }))
    }

    async fn run(&mut self, entries: Vec<Entry>) -> wasmtime::Result<i32> {
        let mut status = abi::STATUS_OK;
        for entry in entries {
            status = self.run_one(entry).await?;
            if matches!(status, abi::STATUS_BAD_MESSAGE) {
                return Err(WasmError::msg("the guest did not understand a message"));
            }
        }
        Ok(status)
    }

    async fn run_one(&mut self, entry: Entry) -> wasmtime::Result<i32> {
        self.write_board(abi::BOARD_YIELD, 0);
        match entry {
            Entry::Configure(words) => {
                let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
                self.message(&bytes).await?;
                self.configure.call_async(&mut self.store, ()).await
            }
            Entry::Tools(names) => {
                self.message(&names).await?;
                self.tools.call_async(&mut self.store, ()).await
            }
            Entry::Start { program, source } => {
                self.write_board(abi::BOARD_STOP, abi::STOP_NONE);
                self.message(source.as_bytes()).await?;
                self.start.call_async(&mut self.store, program).await
            }
            Entry::Pump => self.pump.call_async(&mut self.store, ()).await,
            Entry::Settle(answers) => {
                self.message(&answers).await?;
                self.settle.call_async(&mut self.store, ()).await
            }
            Entry::Loose => self.loose.call_async(&mut self.store, ()).await,
            Entry::Outcome(which) => self.outcome.call_async(&mut self.store, which).await,
            Entry::Finish => {
                self.write_board(abi::BOARD_STOP, abi::STOP_NONE);
                self.finish.call_async(&mut self.store, ()).await
            }
        }
    }

    fn write_board(&mut self, offset: usize, word: u32) {
        let at = self.board + offset;
        write_word(self.memory_mut(), at, word);
    }

    /// Puts a message into the guest's inbox.
    async fn message(&mut self, bytes: &[u8]) -> wasmtime::Result<()> {
        let length = u32::try_from(bytes.len()).map_err(|_| WasmError::msg("message of more than 4 GiB"))?;
        let address = self.inbox.call_async(&mut self.store, length).await?;
        if address == 0 {
            return Err(WasmError::new(NoRoom));
        }
        let end = (address as usize).saturating_add(bytes.len());
        self.memory_mut()
            .get_mut(address as usize..end)
            .ok_or_else(|| outside(address, length))?
            .copy_from_slice(bytes);
        Ok(())
    }
}

/// The guest had no memory for a message.
#[derive(Debug, thiserror::Error)]
#[error("the guest has no memory for a message")]
pub(crate) struct NoRoom;

impl Guest {
    /// Lets a guest that is away run until the end of its entry or of the slice.
    pub(crate) fn poll(&mut self, meter: &Meter) -> Poll<wasmtime::Result<i32>> {
        let Self::Away(running) = self else {
            return Poll::Ready(Ok(abi::STATUS_OK));
        };
        meter.enter();
        let polled = running.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        meter.leave();
        match polled {
            Poll::Pending => Poll::Pending,
            Poll::Ready((instance, status)) => {
                *self = Self::Here(instance);
                Poll::Ready(status)
            }
        }
    }

    pub(crate) fn here(&mut self) -> Option<&mut Instance> {
        match self {
            Self::Here(instance) => Some(instance),
            _ => None,
        }
    }
}
