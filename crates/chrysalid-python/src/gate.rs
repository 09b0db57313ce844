//! Who is in a session: one thread at a time, and never twice.

use std::ops::{Deref, DerefMut};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

/// How long to wait for whoever is inside. A step takes some ten milliseconds, so what takes longer waits for us.
const PATIENCE: Duration = Duration::from_secs(5);

/// What somebody goes in for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Visit {
    /// To read, decide or answer: over in a moment.
    Look,
    /// To run the guest. Two who do so at a time are a mistake of theirs.
    Step,
}

/// Something that one thread at a time may use.
pub(crate) struct Gate<T> {
    holder: Mutex<Option<(ThreadId, Visit)>>,
    left: Condvar,
    inner: Mutex<T>,
}

/// The right to use it, until dropped.
pub(crate) struct Inside<'gate, T> {
    gate: &'gate Gate<T>,
    guard: Option<MutexGuard<'gate, T>>,
}

impl<T> Gate<T> {
    pub(crate) fn new(inner: T) -> Self {
        Self { holder: Mutex::new(None), left: Condvar::new(), inner: Mutex::new(inner) }
    }

    /// Goes in at once, for a look; `None` if somebody is inside.
    pub(crate) fn enter(&self) -> Option<Inside<'_, T>> {
        let mut holder = lock(&self.holder);
        if holder.is_some() {
            return None;
        }
        *holder = Some((thread::current().id(), Visit::Look));
        drop(holder);
        Some(Inside { gate: self, guard: Some(lock(&self.inner)) })
    }

    /// Goes in after whoever is inside. `None` if that is this very thread, takes too long, or steps where another step is
    /// wanted. Call it without the GIL, which whoever is inside may need.
    pub(crate) fn wait(&self, visit: Visit) -> Option<Inside<'_, T>> {
        let me = thread::current().id();
        let mut until = None;
        let mut holder = lock(&self.holder);
        while let Some((other, inside)) = *holder {
            let until = *until.get_or_insert_with(|| Instant::now() + PATIENCE);
            let left = until.saturating_duration_since(Instant::now());
            if other == me || left.is_zero() || (visit, inside) == (Visit::Step, Visit::Step) {
                return None;
            }
            (holder, _) = self.left.wait_timeout(holder, left).unwrap_or_else(PoisonError::into_inner);
        }
        *holder = Some((me, visit));
        drop(holder);
        Some(Inside { gate: self, guard: Some(lock(&self.inner)) })
    }
}

/// A panic inside leaves the thing as it was: its owner says whether it is of use.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T> Deref for Inside<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        #[expect(clippy::expect_used, reason = "taken in `drop` alone")]
        self.guard.as_ref().expect("inside")
    }
}

impl<T> DerefMut for Inside<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        #[expect(clippy::expect_used, reason = "taken in `drop` alone")]
        self.guard.as_mut().expect("inside")
    }
}

impl<T> Drop for Inside<'_, T> {
    fn drop(&mut self) {
        self.guard = None;
        *lock(&self.gate.holder) = None;
        self.gate.left.notify_one();
    }
}
