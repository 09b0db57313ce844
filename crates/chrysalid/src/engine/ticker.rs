//! The engine's one thread: it moves wasmtime's epoch on every tick while something runs, and parks otherwise. It is
//! started at first need, and again in the child of a fork.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::thread::{self, Thread};
use std::time::Duration;

use wasmtime::EngineWeak;

/// Length of a tick.
pub(crate) const TICK: Duration = Duration::from_millis(5);
/// Ticks without work after which the thread parks.
const IDLE_TICKS: u32 = 20;

pub(crate) struct Ticker {
    engine: EngineWeak,
    shared: std::sync::Arc<Shared>,
    thread: Mutex<Option<Thread>>,
    process: AtomicU32,
}

struct Shared {
    running: AtomicUsize,
    parked: std::sync::atomic::AtomicBool,
}

/// While one is alive, the epoch moves.
pub(crate) struct Ticking<'a>(&'a Shared);

impl Ticker {
    pub(crate) fn new(engine: EngineWeak) -> Self {
        Self {
            engine,
            shared: std::sync::Arc::new(Shared {
                running: AtomicUsize::new(0),
                parked: std::sync::atomic::AtomicBool::new(false),
            }),
            thread: Mutex::new(None),
            process: AtomicU32::new(0),
        }
    }

    /// Keeps the epoch moving until the guard is dropped.
    pub(crate) fn hold(&self) -> Ticking<'_> {
        self.shared.running.fetch_add(1, Ordering::SeqCst);
        let process = std::process::id();
        if self.process.load(Ordering::Acquire) != process {
            self.start(process);
        } else if self.shared.parked.load(Ordering::SeqCst) {
            let thread = self.thread.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            if let Some(thread) = thread.as_ref() {
                thread.unpark();
            }
        }
        Ticking(&self.shared)
    }

    fn start(&self, process: u32) {
        let mut slot = self.thread.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if self.process.load(Ordering::Acquire) == process {
            return;
        }
        let (engine, shared) = (self.engine.clone(), self.shared.clone());
        let spawned = thread::Builder::new().name("chrysalid-ticker".into()).spawn(move || tick(&engine, &shared));
        if let Ok(handle) = spawned {
            *slot = Some(handle.thread().clone());
            self.process.store(process, Ordering::Release);
        }
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        let thread = self.thread.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(thread) = thread.as_ref() {
            thread.unpark();
        }
    }
}

fn tick(engine: &EngineWeak, shared: &Shared) {
    let mut idle = 0;
    loop {
        thread::sleep(TICK);
        match engine.upgrade() {
            Some(engine) => engine.increment_epoch(),
            None => return,
        }
        idle = if shared.running.load(Ordering::SeqCst) == 0 { idle + 1 } else { 0 };
        if idle > IDLE_TICKS {
            shared.parked.store(true, Ordering::SeqCst);
            // A holder that came between the count and the flag sees the flag late; the count is looked at again.
            if shared.running.load(Ordering::SeqCst) == 0 {
                thread::park_timeout(Duration::from_secs(1));
            }
            shared.parked.store(false, Ordering::SeqCst);
            idle = 0;
        }
    }
}

impl Drop for Ticking<'_> {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
    }
}
