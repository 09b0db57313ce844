//! What the sessions of one run share, such as those of an agent and its subagents: one budget, one wall clock, and so many
//! calls at one time.
//!
//! The clock runs while at least one session is awake; time comes in with the sessions' steps. A call that begins takes a
//! [`Slot`], which is free again when it is dropped, however the call ends. Sessions that find none stand in a line, and
//! what is free belongs to those in front. One that does not come for it is passed over, for nobody may be driving it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Waker;
use std::time::Duration;

use chrysalid_policy::{Budget, Cost, Exhausted, Scope, Spent};

use super::admit::millis;
use crate::defence::{Defence, stands};

/// How often a session may leave a slot that is its own to others' steps before it loses its place in the line.
const PATIENCE: u32 = 3;

/// A run that several sessions share, such as those of an agent and its subagents: one budget for all of them. Cheap to clone.
///
/// ```
/// use std::time::Duration;
/// use chrysalid::{Budget, RunBudget, SessionOptions};
///
/// let budget = Budget { calls: Some(500), depth: Some(2), ..Budget::default() };
/// let run = RunBudget::new(budget).wall_time(Duration::from_secs(600)).calls_in_flight(8);
/// let mut options = SessionOptions::default();
/// options.run = Some(run.clone());
/// ```
#[derive(Clone, Debug, Default)]
pub struct RunBudget(Arc<Run>);

#[derive(Debug, Default)]
struct Run {
    budget: Budget,
    record: Mutex<Record>,
}

#[derive(Debug, Default)]
struct Record {
    spent: Spent,
    wall_time: Option<Duration>,
    calls_in_flight: Option<u32>,
    /// Sessions that run a program outside a pause.
    awake: usize,
    /// The latest time that a session told, in milliseconds since 1970. The clock is counted up to here.
    latest: f64,
    /// Slots that are taken.
    running: usize,
    /// Sessions with calls that found no slot, the first to come in front.
    line: VecDeque<InLine>,
    last_member: u64,
}

#[derive(Debug)]
struct InLine {
    member: u64,
    /// How often it did not come for a slot that it could have had.
    passed: u32,
    waker: Option<Waker>,
}

impl RunBudget {
    /// A budget of which nothing is spent.
    #[must_use]
    pub fn new(budget: Budget) -> Self {
        Self(Arc::new(Run { budget: Budget { scope: Scope::Run, ..budget }, record: Mutex::default() }))
    }

    /// Bounds the wall clock of the run, which runs while at least one of its sessions runs a program outside a pause:
    /// sessions that overlap count once. When it is over, each program ends with
    /// [`FailureKind::WallTimeout`](crate::FailureKind::WallTimeout). Holds for all who share the run, and may be given
    /// again: a person gave more time. Default no bound.
    #[must_use]
    pub fn wall_time(self, limit: Duration) -> Self {
        self.with(|record| record.wall_time = Some(limit));
        self
    }

    /// Bounds the calls that run at one time over all sessions of the run, at least 1; the rest queue. Not counted are calls of
    /// capabilities marked as [`Capability::subagent`](crate::Capability::subagent), whose own calls could not begin
    /// otherwise, fetches of modules, and calls that wait for something outside. Holds for all who share the run, and may be given
    /// again. Default no bound.
    #[must_use]
    pub fn calls_in_flight(self, calls: u32) -> Self {
        self.with(|record| record.calls_in_flight = Some(calls.max(1)));
        self
    }

    /// What the run has used; its wall clock up to the latest step of a session.
    #[must_use]
    pub fn spent(&self) -> Spent {
        self.with(|record| record.spent.clone())
    }

    /// Counts in what a run is known to have used elsewhere: the most of both.
    pub fn join(&self, spent: &Spent) {
        self.with(|record| record.spent.join(spent));
    }

    /// The first bound that a step would exceed.
    pub(super) fn would_exceed(&self, cost: &Cost<'_>) -> Option<Exhausted> {
        self.with(|record| record.spent.would_exceed(&self.0.budget, cost))
    }

    /// Spends, unless it would be more than there is.
    pub(super) fn spend(&self, cost: &Cost<'_>, even_so: bool) -> Result<(), Exhausted> {
        self.with(|record| {
            if let Some(exhausted) = record.spent.would_exceed(&self.0.budget, cost).filter(|_| !even_so) {
                return Err(exhausted);
            }
            record.spent.spend(cost);
            Ok(())
        })
    }

    /// A session that takes part.
    pub(super) fn member(&self) -> Member {
        let number = self.with(|record| {
            record.last_member += 1;
            record.last_member
        });
        Member { run: self.clone(), number, awake: false, waits: false }
    }

    /// Looks or changes; whoever may have a slot after that is woken, outside of the lock.
    fn with<T>(&self, change: impl FnOnce(&mut Record) -> T) -> T {
        let mut record = self.0.record.lock().unwrap_or_else(PoisonError::into_inner);
        let done = change(&mut record);
        let free = record.free();
        let woken: Vec<Waker> = record.line.iter_mut().take(free).filter_map(|first| first.waker.take()).collect();
        drop(record);
        woken.into_iter().for_each(Waker::wake);
        done
    }
}

impl Record {
    fn free(&self) -> usize {
        let bound = self.calls_in_flight.filter(|_| stands(Defence::RunCallsInFlight));
        bound.map_or(usize::MAX, |bound| (bound as usize).saturating_sub(self.running))
    }

    fn count(&mut self, now: f64) {
        if self.awake > 0 {
            self.spent.wall_millis += (now - self.latest).max(0.0);
        }
        self.latest = self.latest.max(now);
    }

    /// Where a session stands in the line: at its end, if it comes now.
    fn place(&self, member: u64) -> usize {
        self.line.iter().position(|in_line| in_line.member == member).unwrap_or(self.line.len())
    }

    fn leave(&mut self, member: u64) {
        self.line.retain(|in_line| in_line.member != member);
    }

    /// A step of a session that stands in the line: if those ahead leave free what is theirs, they do so once more.
    fn pass_over(&mut self, member: u64) {
        let (place, free) = (self.place(member), self.free());
        if place < self.line.len() && place >= free {
            self.line.iter_mut().take(free).for_each(|ahead| ahead.passed += 1);
            self.line.retain(|in_line| in_line.passed <= PATIENCE);
        }
    }
}

/// The part that one session has in its run.
#[derive(Debug)]
pub(super) struct Member {
    run: RunBudget,
    number: u64,
    awake: bool,
    /// Whether a call of it found no slot.
    waits: bool,
}

impl Member {
    /// A step of the session begins, at this time.
    pub(super) fn begin_step(&mut self, now: f64) {
        let woke = !std::mem::replace(&mut self.awake, true);
        self.run.with(|record| {
            record.count(now);
            record.awake += usize::from(woke);
            record.pass_over(self.number);
        });
    }

    /// It is over, and the program goes on after it.
    pub(super) fn end_step(&self) {
        if !self.waits {
            self.run.with(|record| record.leave(self.number));
        }
    }

    /// The program has ended, waits for somebody, or nobody drives it any more.
    pub(super) fn leave(&mut self) {
        self.waits = false;
        self.run.with(|record| record.leave(self.number));
    }

    /// No program of the session runs outside a pause.
    pub(super) fn sleep(&mut self) {
        let slept = std::mem::replace(&mut self.awake, false);
        self.run.with(|record| record.awake = record.awake.saturating_sub(usize::from(slept)));
    }

    /// A place for one more call.
    pub(super) fn take_slot(&mut self) -> Option<Slot> {
        let taken = self.run.with(|record| {
            let place = record.place(self.number);
            let taken = place < record.free();
            if taken {
                record.running += 1;
                // To the end of the line, if there is more to begin.
                record.leave(self.number);
            } else if let Some(own) = record.line.get_mut(place) {
                own.passed = 0;
            } else {
                record.line.push_back(InLine { member: self.number, passed: 0, waker: None });
            }
            taken
        });
        self.waits |= !taken;
        taken.then(|| Slot(self.run.clone()))
    }

    /// Nothing of the session waits for a slot.
    pub(super) fn want_nothing(&mut self) {
        self.waits = false;
    }

    pub(super) fn waits(&self) -> bool {
        self.waits
    }

    /// Wakes a task when the session may have a slot; whether it should come for one now, or stand in the line anew.
    pub(super) fn wake_for_slot(&self, waker: &Waker) -> bool {
        self.waits
            && self.run.with(|record| {
                let (place, free) = (record.place(self.number), record.free());
                match record.line.get_mut(place) {
                    Some(own) if place >= free => {
                        own.waker = Some(waker.clone());
                        false
                    }
                    _ => true,
                }
            })
    }

    /// The limit of the run's wall clock; how many milliseconds of it were left at the latest step of a session, and when
    /// that was.
    pub(super) fn wall(&self) -> Option<(Duration, f64, f64)> {
        self.run.with(|record| {
            let limit = record.wall_time.filter(|_| stands(Defence::RunWallTime))?;
            Some((limit, millis(limit) - record.spent.wall_millis, record.latest))
        })
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.leave();
        self.sleep();
    }
}

/// A call of a run that is in flight.
#[derive(Debug)]
pub(super) struct Slot(RunBudget);

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.with(|record| record.running = record.running.saturating_sub(1));
    }
}
