//! Who is in a session: one thread at a time, never twice, and in the order in which they came.

use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

/// How long to wait for whoever is before us. A step takes some ten milliseconds, so what takes longer waits for us.
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
    queue: Mutex<Queue>,
    moved: Condvar,
    inner: Mutex<T>,
}

/// A program steps again as soon as it has stepped, so who looks must not depend on being quicker than that.
#[derive(Default)]
struct Queue {
    inside: Option<(ThreadId, Visit)>,
    waiting: VecDeque<u64>,
    /// The number of the next who has to wait.
    next: u64,
}

impl Queue {
    fn join(&mut self) -> u64 {
        self.next += 1;
        self.waiting.push_back(self.next);
        self.next
    }

    fn leave(&mut self, number: u64) {
        self.waiting.retain(|other| *other != number);
    }

    /// Whether the turn has come of the one with this number, or of one who has none yet.
    fn may_enter(&self, number: Option<u64>) -> bool {
        self.inside.is_none() && self.waiting.front().copied() == number
    }
}

/// The right to use it, until dropped.
pub(crate) struct Inside<'gate, T> {
    gate: &'gate Gate<T>,
    guard: Option<MutexGuard<'gate, T>>,
}

impl<T> Gate<T> {
    pub(crate) fn new(inner: T) -> Self {
        Self { queue: Mutex::new(Queue::default()), moved: Condvar::new(), inner: Mutex::new(inner) }
    }

    /// Goes in at once, for a look; `None` if somebody is inside or waits.
    pub(crate) fn enter(&self) -> Option<Inside<'_, T>> {
        let mut queue = lock(&self.queue);
        if !queue.may_enter(None) {
            return None;
        }
        queue.inside = Some((thread::current().id(), Visit::Look));
        drop(queue);
        Some(self.inside())
    }

    /// Goes in after whoever came before. `None` if the one inside is this very thread, steps where another step is wanted, or
    /// does not come out in time. Call it without the GIL, which whoever is inside may need.
    pub(crate) fn wait(&self, visit: Visit) -> Option<Inside<'_, T>> {
        let me = thread::current().id();
        let mut queue = lock(&self.queue);
        let mut place = None;
        while !queue.may_enter(place.map(|(number, _)| number)) {
            let (number, until) = *place.get_or_insert_with(|| (queue.join(), Instant::now() + PATIENCE));
            let left = until.saturating_duration_since(Instant::now());
            let hopeless = queue
                .inside
                .is_some_and(|(other, inside)| other == me || (visit, inside) == (Visit::Step, Visit::Step));
            if hopeless || left.is_zero() {
                queue.leave(number);
                self.moved.notify_all();
                return None;
            }
            (queue, _) = self.moved.wait_timeout(queue, left).unwrap_or_else(PoisonError::into_inner);
        }
        if let Some((number, _)) = place {
            queue.leave(number);
        }
        queue.inside = Some((me, visit));
        drop(queue);
        Some(self.inside())
    }

    fn inside(&self) -> Inside<'_, T> {
        Inside { gate: self, guard: Some(lock(&self.inner)) }
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
        let mut queue = lock(&self.gate.queue);
        queue.inside = None;
        if !queue.waiting.is_empty() {
            self.gate.moved.notify_all();
        }
    }
}
