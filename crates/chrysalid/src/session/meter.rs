//! Time as a running guest is measured by: CPU of the program, length of the slice, and the clock that it reads.
//!
//! Shared between the session and the store, because the session cannot reach the store while the guest is in the
//! middle of a job. All times are in nanoseconds unless a name says otherwise.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::Waker;
use std::time::Duration;

use crate::clock::{Clock, CpuMark, monotonic_nanos, to_millis};
use crate::defence::{Defence, stands};
use crate::engine::ticker::TICK;

/// Ticks before 1.2 times the limit at which the hard stop comes: a tick is late by one, and going back to the checkpoint
/// takes its time.
const EARLY_TICKS: u32 = 3;
/// Ticks that a program has at least to end by itself.
const GRACE_TICKS: u32 = 2;
/// CPU time that a program may go on for after it was interrupted, before the sandbox traps it.
const INTERRUPT_GRACE: Duration = Duration::from_millis(50);

pub(crate) struct Meter {
    limit: AtomicU64,
    /// CPU of the program before this step.
    used: AtomicU64,
    /// Where this step began: all of it, guest and host, is the program's.
    step: Mark,
    /// Where the guest last gave the thread back, and how much is not charged, where the host's part is not.
    host: Mark,
    uncharged: AtomicU64,
    slice_length: AtomicU64,
    /// Whether this step did anything.
    worked: AtomicBool,
    now_millis: AtomicU64,
    last_millis: AtomicU64,
    origin_millis: AtomicU64,
    clock: Clock,
    interrupted: AtomicBool,
    /// Guest CPU when a stop by an interrupt, or by the wall clock, was first seen.
    stopped_at: AtomicU64,
    /// When the wall clock of the program is over, on the monotonic clock.
    wall_end: AtomicU64,
    wall_over: AtomicBool,
    timed_out: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

/// A [`CpuMark`] that threads can share.
struct Mark {
    wall: AtomicU64,
    cpu: AtomicU64,
}

impl Mark {
    const fn new() -> Self {
        Self { wall: AtomicU64::new(0), cpu: AtomicU64::new(0) }
    }

    fn set(&self, mark: CpuMark) {
        let (wall, cpu) = mark.parts();
        self.wall.store(wall, Ordering::Relaxed);
        self.cpu.store(cpu, Ordering::Relaxed);
    }

    fn get(&self) -> CpuMark {
        CpuMark::from_parts(self.wall.load(Ordering::Relaxed), self.cpu.load(Ordering::Relaxed))
    }
}

/// What the guest must do now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    GoOn,
    /// Return at the next job boundary.
    Yield,
    /// Give the thread back in the middle of a job.
    Suspend,
    /// End at the next poll.
    Stop,
    /// Trap.
    Trap,
}

impl Meter {
    pub(crate) fn new(clock: Clock, slice: Duration) -> Self {
        Self {
            limit: AtomicU64::new(u64::MAX),
            used: AtomicU64::new(0),
            step: Mark::new(),
            host: Mark::new(),
            uncharged: AtomicU64::new(0),
            slice_length: AtomicU64::new(nanos(slice)),
            worked: AtomicBool::new(false),
            now_millis: AtomicU64::new(0),
            last_millis: AtomicU64::new(0),
            origin_millis: AtomicU64::new(0),
            clock,
            interrupted: AtomicBool::new(false),
            stopped_at: AtomicU64::new(u64::MAX),
            wall_end: AtomicU64::new(u64::MAX),
            wall_over: AtomicBool::new(false),
            timed_out: AtomicBool::new(false),
            waker: Mutex::new(None),
        }
    }

    // ---- the program ----

    /// Begins a program, or goes on with one that used some CPU before.
    pub(crate) fn begin_program(&self, limit: Duration, used: Duration) {
        self.limit.store(nanos(limit), Ordering::Relaxed);
        self.used.store(nanos(used), Ordering::Relaxed);
        self.timed_out.store(false, Ordering::Relaxed);
        self.stopped_at.store(u64::MAX, Ordering::Relaxed);
        self.wall_over.store(false, Ordering::Relaxed);
        self.wall_end.store(u64::MAX, Ordering::Relaxed);
    }

    pub(crate) fn used(&self) -> Duration {
        Duration::from_nanos(self.used.load(Ordering::Relaxed))
    }

    pub(crate) fn timed_out(&self) -> bool {
        self.timed_out.load(Ordering::Relaxed)
            || self.used.load(Ordering::Relaxed) >= self.limit.load(Ordering::Relaxed)
    }

    /// How much of the wall clock is left for the program from now on.
    pub(crate) fn set_wall(&self, left: Duration) {
        let end = monotonic_nanos().saturating_add(nanos(left));
        self.wall_end.store(end, Ordering::Relaxed);
    }

    /// Whether the wall clock ran out while the guest ran.
    pub(crate) fn wall_is_over(&self) -> bool {
        self.wall_over.load(Ordering::Relaxed)
    }

    // ---- the slice ----

    /// Whether the thread should be given back at a job boundary; in the middle of a job there is as much time again.
    pub(crate) fn slice_is_over(&self) -> bool {
        self.slice_elapsed() >= self.slice_length.load(Ordering::Relaxed) / 2 || self.slice_ends_by_chance()
    }

    /// In tests that ask for it; see `fuzzing/slices.rs`.
    pub(crate) fn slice_ends_by_chance(&self) -> bool {
        #[cfg(feature = "fuzzing")]
        return crate::fuzzing::slice_ends_here(Duration::from_nanos(self.slice_length.load(Ordering::Relaxed)));
        #[cfg(not(feature = "fuzzing"))]
        false
    }

    /// Whether there may be more work in this step. The first piece there may, however late: each step makes some headway.
    pub(crate) fn may_go_on(&self) -> bool {
        !self.worked.load(Ordering::Relaxed) || !self.slice_is_over()
    }

    /// The step did a piece of its work.
    pub(crate) fn works(&self) {
        self.worked.store(true, Ordering::Relaxed);
    }

    fn slice_elapsed(&self) -> u64 {
        monotonic_nanos().saturating_sub(self.step.get().wall())
    }

    /// The guest begins to run on this thread.
    pub(crate) fn enter(&self) {
        self.works();
        self.leave_out_host();
    }

    /// The guest gave the thread back.
    pub(crate) fn leave(&self) {
        if !stands(Defence::CallsCharged) {
            self.host.set(CpuMark::here());
        }
    }

    /// Charges what this step took.
    pub(crate) fn end_step(&self) {
        self.leave_out_host();
        self.used.fetch_add(self.spent_in_step(), Ordering::Relaxed);
    }

    /// CPU time of this step.
    fn spent_in_step(&self) -> u64 {
        self.step.get().spent().saturating_sub(self.uncharged.load(Ordering::Relaxed))
    }

    /// Many small calls would be the host's time, were its part of a step not charged.
    fn leave_out_host(&self) {
        if !stands(Defence::CallsCharged) {
            self.uncharged.fetch_add(self.host.get().spent(), Ordering::Relaxed);
            self.leave();
        }
    }

    /// The host worked for the program outside of a step.
    pub(crate) fn charge(&self, time: Duration) {
        self.used.fetch_add(nanos(time), Ordering::Relaxed);
    }

    /// Asked on each tick while the guest runs, on the guest's thread.
    pub(crate) fn verdict(&self) -> Verdict {
        let used = self.used.load(Ordering::Relaxed).saturating_add(self.spent_in_step());
        let limit = self.limit.load(Ordering::Relaxed);
        // A late tick may come after both: the program still gets one tick to end with its heap sound.
        let may_trap = stands(Defence::HardStop);
        if used >= hard_stop(limit) && self.timed_out.load(Ordering::Relaxed) && may_trap {
            return Verdict::Trap;
        }
        let mut stop = false;
        if monotonic_nanos() >= self.wall_end.load(Ordering::Relaxed) {
            self.wall_over.store(true, Ordering::Relaxed);
        }
        if self.interrupted.load(Ordering::Relaxed) || self.wall_is_over() {
            let since = self.stopped_at.fetch_min(used, Ordering::Relaxed).min(used);
            if used - since >= nanos(INTERRUPT_GRACE) && may_trap {
                return Verdict::Trap;
            }
            stop = true;
        }
        if used >= limit {
            self.timed_out.store(true, Ordering::Relaxed);
            stop = true;
        }
        let elapsed = self.slice_elapsed();
        let length = self.slice_length.load(Ordering::Relaxed);
        match (stop, elapsed >= length && stands(Defence::Slices)) {
            (_, true) => Verdict::Suspend,
            (true, false) => Verdict::Stop,
            (false, false) if elapsed >= length / 2 => Verdict::Yield,
            (false, false) => Verdict::GoOn,
        }
    }

    /// Whether the stop word must be written, whatever else the verdict was.
    pub(crate) fn stop_wanted(&self) -> bool {
        self.is_interrupted() || self.timed_out.load(Ordering::Relaxed) || self.wall_is_over()
    }

    // ---- interrupts ----

    pub(crate) fn interrupt(&self) {
        self.interrupted.store(true, Ordering::Release);
        let waker = self.waker.lock().ok().and_then(|mut waker| waker.take());
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Acquire)
    }

    /// An interrupt is spent on the program that it ended.
    pub(crate) fn clear_interrupt(&self) {
        self.interrupted.store(false, Ordering::Release);
    }

    pub(crate) fn wake_on_interrupt(&self, waker: &Waker) {
        if let Ok(mut slot) = self.waker.lock() {
            *slot = Some(waker.clone());
        }
    }

    // ---- the clock ----

    /// Time came in from outside. It never goes back.
    pub(crate) fn begin_step(&self, now_millis: f64) {
        let now = now_millis.max(self.last_host_millis());
        self.now_millis.store(now.to_bits(), Ordering::Relaxed);
        let here = CpuMark::here();
        self.step.set(here);
        self.host.set(here);
        self.uncharged.store(0, Ordering::Relaxed);
        self.worked.store(false, Ordering::Relaxed);
    }

    /// Sets where the monotonic clock is zero, so that it goes on after `elapsed_millis`.
    pub(crate) fn set_origin(&self, now_millis: f64, elapsed_millis: f64) {
        self.origin_millis.store((now_millis - elapsed_millis).to_bits(), Ordering::Relaxed);
    }

    /// No reading may be before this one.
    pub(crate) fn set_last(&self, millis: f64) {
        self.last_millis.store(millis.to_bits(), Ordering::Relaxed);
        self.now_millis.store(millis.to_bits(), Ordering::Relaxed);
    }

    /// A time that the host told outside of a step.
    pub(crate) fn see(&self, millis: f64) {
        let latest = millis.max(f64::from_bits(self.last_millis.load(Ordering::Relaxed)));
        self.last_millis.store(latest.to_bits(), Ordering::Relaxed);
    }

    /// The latest time that came in or was read.
    pub(crate) fn last_host_millis(&self) -> f64 {
        f64::from_bits(self.last_millis.load(Ordering::Relaxed))
            .max(f64::from_bits(self.now_millis.load(Ordering::Relaxed)))
    }

    /// Milliseconds since the session began, pauses between snapshot and restore not counted.
    pub(crate) fn elapsed_millis(&self) -> f64 {
        (self.last_host_millis() - f64::from_bits(self.origin_millis.load(Ordering::Relaxed))).max(0.0)
    }

    /// Host time plus the CPU time of this step, at one millisecond.
    pub(crate) fn host_millis(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "milliseconds of one step")]
        let spent = self.spent_in_step() as f64 / 1e6;
        let reading = f64::from_bits(self.now_millis.load(Ordering::Relaxed)) + spent;
        let reading = if stands(Defence::ClockGrain) { reading.floor() } else { reading };
        let reading = reading.max(f64::from_bits(self.last_millis.load(Ordering::Relaxed)));
        self.last_millis.store(reading.to_bits(), Ordering::Relaxed);
        reading
    }

    /// What the program's wall clock shows.
    pub(crate) fn wall_millis(&self) -> f64 {
        match self.clock {
            Clock::Host => self.host_millis(),
            Clock::Fixed(at) => to_millis(at).floor(),
        }
    }

    /// What the program's monotonic clock shows.
    pub(crate) fn monotonic_millis(&self) -> f64 {
        match self.clock {
            Clock::Host => {
                (self.host_millis() - f64::from_bits(self.origin_millis.load(Ordering::Relaxed)).floor()).max(0.0)
            }
            Clock::Fixed(_) => 0.0,
        }
    }
}

fn hard_stop(limit: u64) -> u64 {
    let ticks = |count: u32| nanos(TICK * count);
    let early = limit.saturating_add(limit / 5).saturating_sub(ticks(EARLY_TICKS));
    early.max(limit.saturating_add(ticks(GRACE_TICKS)))
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{hard_stop, nanos};

    #[test]
    fn the_hard_stop_is_three_ticks_before_a_fifth_more() {
        let millis = |ms| nanos(Duration::from_millis(ms));
        assert_eq!(hard_stop(millis(5000)), millis(5985));
        assert_eq!(hard_stop(millis(100)), millis(110));
        assert_eq!(hard_stop(millis(10)), millis(20));
        assert_eq!(hard_stop(u64::MAX), u64::MAX);
    }
}
