//! One guest: its store, its exports, and the entries that run in it.
//!
//! The guest always runs on a fiber. An entry moves the instance into a boxed future, polled by the session and by
//! nothing else, and gives it back when it returns. The border is here: everything that comes from the guest is
//! copied through checked reads, and what its imports are told is only kept until the session looks at it.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use wasmtime::{Error as WasmError, Global, Memory, Store, TypedFunc};

use super::SessionOptions;
use super::imports::{HostState, on_tick, outside, read_word, slice, write_word};
use super::meter::Meter;
use super::random::Stream;
use crate::clock::Random;
use crate::engine::guest::{GuestBuild, Runtime};
use crate::engine::{Engine, abi};
use crate::error::{Error, ErrorKind, Result};
use crate::limits::Limits;

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
    Modules(Vec<u8>),
    Start {
        program: u32,
        source: Arc<str>,
    },
    Pump,
    Settle(Vec<u8>),
    Loose,
    Outcome(u32),
    Finish,
    /// Frees garbage, where that pays: before a pause.
    Collect,
    /// Tells which handles are gone: [`Instance::freed`] reads them. After `Finish`, which frees some.
    Freed,
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
    board: usize,
    /// Address of the small inbox, as the baseline has it; 0 where there is none.
    small_inbox: u32,
    exports: Exports,
}

struct Exports {
    memory: Memory,
    stack_pointer: Global,
    inbox: TypedFunc<u32, u32>,
    configure: TypedFunc<(), i32>,
    tools: TypedFunc<(), i32>,
    modules: TypedFunc<(), i32>,
    start: TypedFunc<u32, i32>,
    pump: TypedFunc<(), i32>,
    settle: TypedFunc<(), i32>,
    loose: TypedFunc<(), i32>,
    outcome: TypedFunc<u32, i32>,
    finish: TypedFunc<(), i32>,
    collect: TypedFunc<(), i32>,
    freed: TypedFunc<(), i32>,
    #[cfg(feature = "weaken")]
    weakened: Option<usize>,
}

/// Whether an instance has all that a session needs of it, each of its type.
pub(crate) fn check_exports<T>(store: &mut Store<T>, instance: &wasmtime::Instance) -> wasmtime::Result<()> {
    Exports::of(store, instance).map(drop)
}

fn instantiate(store: &mut Store<HostState>, runtime: &Runtime) -> wasmtime::Result<Exports> {
    // Nothing runs at instantiation, so the future is ready at once.
    let instance = match std::pin::pin!(runtime.pre.instantiate_async(&mut *store))
        .poll(&mut Context::from_waker(Waker::noop()))
    {
        Poll::Ready(instance) => instance?,
        Poll::Pending => return Err(WasmError::msg("instantiation did not end at once")),
    };
    Exports::of(store, &instance)
}

impl Exports {
    fn of<T>(store: &mut Store<T>, instance: &wasmtime::Instance) -> wasmtime::Result<Self> {
        let missing = |name: &str| WasmError::msg(format!("the guest has no {name:?}"));
        #[cfg(feature = "weaken")]
        let weakened = instance
            .get_global(&mut *store, abi::WEAKENED)
            .and_then(|address| usize::try_from(address.get(&mut *store).i32()?).ok());
        Ok(Self {
            #[cfg(feature = "weaken")]
            weakened,
            memory: instance.get_memory(&mut *store, abi::EXPORT_MEMORY).ok_or_else(|| missing(abi::EXPORT_MEMORY))?,
            stack_pointer: instance
                .get_global(&mut *store, abi::EXPORT_STACK_POINTER)
                .ok_or_else(|| missing(abi::EXPORT_STACK_POINTER))?,
            inbox: instance.get_typed_func(&mut *store, abi::EXPORT_INBOX)?,
            configure: instance.get_typed_func(&mut *store, abi::EXPORT_CONFIGURE)?,
            tools: instance.get_typed_func(&mut *store, abi::EXPORT_TOOLS)?,
            modules: instance.get_typed_func(&mut *store, abi::EXPORT_MODULES)?,
            start: instance.get_typed_func(&mut *store, abi::EXPORT_START)?,
            pump: instance.get_typed_func(&mut *store, abi::EXPORT_PUMP)?,
            settle: instance.get_typed_func(&mut *store, abi::EXPORT_SETTLE)?,
            loose: instance.get_typed_func(&mut *store, abi::EXPORT_LOOSE)?,
            outcome: instance.get_typed_func(&mut *store, abi::EXPORT_OUTCOME)?,
            finish: instance.get_typed_func(&mut *store, abi::EXPORT_FINISH)?,
            collect: instance.get_typed_func(&mut *store, abi::EXPORT_COLLECT)?,
            freed: instance.get_typed_func(&mut *store, abi::EXPORT_FREED)?,
        })
    }
}

/// What a guest is made with.
#[derive(Clone)]
pub(crate) struct Making {
    pub(crate) engine: Engine,
    pub(crate) guest: Arc<GuestBuild>,
    pub(crate) meter: Arc<Meter>,
    /// Where its random numbers come from, and how many bytes of them were drawn before.
    pub(crate) random: (Random, u64),
    pub(crate) memory_limit: usize,
}

impl Making {
    pub(crate) fn new(engine: &Engine, guest: &Arc<GuestBuild>, limits: &Limits, options: &SessionOptions) -> Self {
        Self {
            engine: engine.clone(),
            guest: guest.clone(),
            meter: Arc::new(Meter::new(options.clock, engine.options().slice)),
            random: (options.random, 0),
            memory_limit: limits.memory,
        }
    }

    /// Linear memory as a session of this guest starts with it.
    pub(crate) fn baseline(&self) -> Result<Arc<[u8]>> {
        Ok(self.guest.image(self.engine.options())?.memory.clone())
    }

    /// Where the guest's stack pointer rests.
    pub(crate) fn stack_pointer(&self) -> Result<i32> {
        Ok(self.guest.image(self.engine.options())?.stack_pointer)
    }
}

impl Instance {
    /// A guest that starts from the baseline, and whether it lies in the pool.
    pub(crate) fn new(making: &Making) -> Result<(Box<Self>, bool)> {
        let (guest, options) = (&making.guest, making.engine.options());
        if guest.has_pool()
            && let Ok(instance) = Self::in_runtime(guest.runtime(options, true)?, making)
        {
            return Ok((instance, true));
        }
        // A full pool is no error: this one is made on demand.
        Ok((Self::in_runtime(guest.runtime(options, false)?, making)?, false))
    }

    fn in_runtime(runtime: &Runtime, making: &Making) -> Result<Box<Self>> {
        let (source, drawn) = making.random;
        let board = runtime.image.board as usize;
        let state = HostState::new(board, making.meter.clone(), Stream::new(source, drawn)?, making.memory_limit);
        let mut store = Store::new(&runtime.engine, state);
        store.limiter(HostState::limiter);
        store.epoch_deadline_callback(|context| Ok(on_tick(context)));
        store.set_epoch_deadline(1);
        #[cfg(feature = "counting")]
        crate::counting::fill(&mut store);
        let exports = instantiate(&mut store, runtime)
            .map_err(|error| Error::new(ErrorKind::Guest, format!("no memory for a guest: {error:#}")))?;
        store.data_mut().attach(exports.memory);
        let small_inbox = read_word(&runtime.image.memory, board + abi::BOARD_INBOX).unwrap_or(0);
        Ok(Box::new(Self { store, board, small_inbox, exports }))
    }

    pub(crate) fn state(&mut self) -> &mut HostState {
        self.store.data_mut()
    }

    #[cfg(feature = "counting")]
    pub(crate) fn fuel(&self) -> Option<u64> {
        crate::counting::used(&self.store)
    }

    pub(crate) fn memory(&self) -> &[u8] {
        self.exports.memory.data(&self.store)
    }

    pub(crate) fn memory_mut(&mut self) -> &mut [u8] {
        self.exports.memory.data_mut(&mut self.store)
    }

    /// Grows the memory to this many bytes, a multiple of 65536.
    pub(crate) fn grow_to(&mut self, bytes: usize) -> Result<()> {
        let missing = bytes.saturating_sub(self.memory().len()).div_ceil(65536) as u64;
        if missing > 0 {
            self.exports.memory.grow(&mut self.store, missing).map_err(|_| {
                Error::new(ErrorKind::TooLarge, format!("memory of {bytes} bytes is more than this session may have"))
            })?;
        }
        Ok(())
    }

    /// Whether no frame of the guest is live.
    pub(crate) fn is_at_rest(&mut self, stack_pointer: i32) -> bool {
        self.exports.stack_pointer.get(&mut self.store).i32() == Some(stack_pointer)
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

    /// The bytes that the last entry left for the host.
    pub(crate) fn outbox(&self, bound: usize) -> Result<&[u8], Outbox> {
        let board = self.board();
        if board.out_length as usize > bound {
            return Err(Outbox::TooLarge);
        }
        slice(self.memory(), board.out, board.out_length).map_err(|_| Outbox::Outside)
    }

    /// Numbers of handles that are gone, after `Entry::Freed`: as the guest says, at most so many, each perhaps more than
    /// once or never handed out.
    pub(crate) fn freed(&self, most: usize) -> Result<Vec<u32>, Outbox> {
        let bytes = self.outbox(most.saturating_mul(4))?;
        Ok(bytes.as_chunks().0.iter().map(|number| u32::from_le_bytes(*number)).collect())
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
            match status {
                abi::STATUS_OK | abi::STATUS_NO_MEMORY | abi::STATUS_TOO_LARGE | abi::STATUS_NOTHING => {}
                abi::STATUS_BAD_MESSAGE => return Err(WasmError::msg("the guest did not understand a message")),
                _ => return Err(WasmError::msg(format!("the guest answered with status {status}"))),
            }
        }
        Ok(status)
    }

    async fn run_one(&mut self, entry: Entry) -> wasmtime::Result<i32> {
        // Ticks that came while it did not run are no reason to send it back.
        self.store.set_epoch_deadline(1);
        let over = self.store.data().meter.slice_ends_by_chance();
        self.write_board(abi::BOARD_YIELD, u32::from(over));
        #[cfg(feature = "weaken")]
        self.weaken();
        match entry {
            Entry::Configure(words) => {
                let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
                self.message(&bytes).await?;
                self.exports.configure.call_async(&mut self.store, ()).await
            }
            Entry::Tools(names) => {
                self.message(&names).await?;
                self.exports.tools.call_async(&mut self.store, ()).await
            }
            Entry::Modules(graph) => {
                self.message(&graph).await?;
                self.exports.modules.call_async(&mut self.store, ()).await
            }
            Entry::Start { program, source } => {
                self.write_board(abi::BOARD_STOP, abi::STOP_NONE);
                self.message(source.as_bytes()).await?;
                self.exports.start.call_async(&mut self.store, program).await
            }
            Entry::Pump => self.exports.pump.call_async(&mut self.store, ()).await,
            Entry::Settle(answers) => {
                self.message(&answers).await?;
                self.exports.settle.call_async(&mut self.store, ()).await
            }
            Entry::Loose => self.exports.loose.call_async(&mut self.store, ()).await,
            Entry::Outcome(which) => self.exports.outcome.call_async(&mut self.store, which).await,
            Entry::Finish => {
                let status = self.exports.finish.call_async(&mut self.store, ()).await;
                self.write_board(abi::BOARD_STOP, abi::STOP_NONE);
                status
            }
            Entry::Collect => self.exports.collect.call_async(&mut self.store, ()).await,
            Entry::Freed => self.exports.freed.call_async(&mut self.store, ()).await,
        }
    }

    /// Tells a guest that is built for it which of its defences are gone.
    #[cfg(feature = "weaken")]
    fn weaken(&mut self) {
        if let Some(at) = self.exports.weakened {
            write_word(self.memory_mut(), at, crate::defence::guest_word());
        }
    }

    fn write_board(&mut self, offset: usize, word: u32) {
        let at = self.board + offset;
        write_word(self.memory_mut(), at, word);
    }

    /// Puts a message into the guest's inbox.
    async fn message(&mut self, bytes: &[u8]) -> wasmtime::Result<()> {
        let length = u32::try_from(bytes.len()).map_err(|_| WasmError::msg("message of more than 4 GiB"))?;
        if self.small_inbox != 0 && bytes.len() <= abi::INBOX_SMALL {
            self.put(self.small_inbox, bytes)?;
            self.write_board(abi::BOARD_INBOX_FILLED, length + 1);
            return Ok(());
        }
        let address = self.exports.inbox.call_async(&mut self.store, length).await?;
        if address == 0 {
            return Err(WasmError::new(NoRoom));
        }
        self.put(address, bytes)
    }

    /// Writes at an address that the guest gave.
    fn put(&mut self, address: u32, bytes: &[u8]) -> wasmtime::Result<()> {
        let (start, length) = (address as usize, bytes.len());
        let place = self.memory_mut().get_mut(start..start.saturating_add(length));
        place.ok_or_else(|| outside(address, length))?.copy_from_slice(bytes);
        Ok(())
    }
}

/// Why there is nothing to read in the outbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outbox {
    /// More than the bound.
    TooLarge,
    /// Not in the guest's memory.
    Outside,
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

#[cfg(test)]
pub(super) mod tests;
