//! Time: what the program's clock shows, and the timer that an async driver waits with.
//!
//! The engine has no clock of its own. `now` comes into [`crate::Session::step`]; the guest reads it plus the CPU
//! time it has spent in that step, at a grain of one millisecond, and never sees it go back.

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::time::{ClockId, clock_gettime};

/// What the clock of a session shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Clock {
    /// The time that is passed to `step`.
    #[default]
    Host,
    /// Always this moment; timers still wait for the host's time.
    Fixed(SystemTime),
}

/// Where a session's random numbers come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Random {
    /// The operating system, anew at session start and at each restore.
    #[default]
    Host,
    /// A fixed seed: the same numbers in each run, going on after a restore where the snapshot left them.
    Seed(u64),
}

/// Waits for [`crate::Session::run`] and [`crate::Session::resume`]. Ready ones: `TokioTimer` and `AsyncIoTimer`, behind
/// the features `tokio` and `async-io`.
pub trait Timer: Send + Sync {
    /// The time now.
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    /// A future that is ready at this time.
    fn sleep_until(&self, at: SystemTime) -> Pin<Box<dyn Future<Output = ()> + Send>>;
}

/// Waits with tokio's timer; must be polled inside a tokio runtime with time enabled.
#[cfg(feature = "tokio")]
#[derive(Clone, Copy, Debug, Default)]
pub struct TokioTimer;

#[cfg(feature = "tokio")]
impl Timer for TokioTimer {
    fn sleep_until(&self, at: SystemTime) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(tokio::time::sleep(from_now(at)))
    }
}

/// Waits with async-io's timer, as smol and others use it.
#[cfg(feature = "async-io")]
#[derive(Clone, Copy, Debug, Default)]
pub struct AsyncIoTimer;

#[cfg(feature = "async-io")]
impl Timer for AsyncIoTimer {
    fn sleep_until(&self, at: SystemTime) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let wait = from_now(at);
        Box::pin(async move {
            async_io::Timer::after(wait).await;
        })
    }
}

#[cfg(any(feature = "tokio", feature = "async-io"))]
fn from_now(at: SystemTime) -> Duration {
    at.duration_since(SystemTime::now()).unwrap_or_default()
}

/// Milliseconds since 1970; a time before counts as 1970.
pub(crate) fn to_millis(time: SystemTime) -> f64 {
    time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64() * 1000.0
}

/// The time at some milliseconds since 1970, rounded up to a whole one; far ones end in the year 275760 as in JavaScript.
pub(crate) fn from_millis(millis: f64) -> SystemTime {
    let clamped = millis.clamp(0.0, 8.64e15).ceil();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped just above")]
    let whole = clamped as u64;
    UNIX_EPOCH + Duration::from_millis(whole)
}

/// The clock that only goes forward, in nanoseconds since some moment.
pub(crate) fn monotonic_nanos() -> u64 {
    clock_nanos(ClockId::Monotonic)
}

fn clock_nanos(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    seconds.saturating_mul(1_000_000_000).saturating_add(u64::try_from(time.tv_nsec).unwrap_or(0))
}

/// How long a stretch of work may be for its length on the wall to count as its CPU time.
const SHORT: u64 = 200_000;
/// How old a reading of a thread's CPU clock may be when a stretch begins.
const FRESH: u64 = 1_000_000;

thread_local! {
    /// The last reading of this thread's CPU clock.
    static LAST_READ: Cell<CpuMark> = const { Cell::new(CpuMark { wall: 0, cpu: 0 }) };
}

/// Where on this thread a stretch of work began, so that it can be told what CPU time it took.
///
/// Reading a thread's CPU clock is a system call, which takes as long as handing a call to its tool. A short stretch counts with its
/// length on the wall, which is never less than its CPU time. A longer one is read, and counts from the last reading: no more
/// than a millisecond of this thread's work before it may be added, and only where others had the processor meanwhile.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CpuMark {
    wall: u64,
    /// At least so much CPU time had this thread used.
    cpu: u64,
}

impl CpuMark {
    /// This moment.
    pub(crate) fn here() -> Self {
        let wall = monotonic_nanos();
        let last = LAST_READ.get();
        let cpu = if wall.saturating_sub(last.wall) > FRESH { Self::read(wall) } else { last.cpu };
        Self { wall, cpu }
    }

    /// What it consists of, for whoever keeps one where threads share it.
    pub(crate) fn parts(self) -> (u64, u64) {
        (self.wall, self.cpu)
    }

    pub(crate) fn from_parts(wall: u64, cpu: u64) -> Self {
        Self { wall, cpu }
    }

    /// The moment on the monotonic clock.
    pub(crate) fn wall(self) -> u64 {
        self.wall
    }

    /// CPU time since then, in nanoseconds: at least what this thread used.
    pub(crate) fn spent(self) -> u64 {
        let now = monotonic_nanos();
        let wall = now.saturating_sub(self.wall);
        if wall <= SHORT {
            return wall;
        }
        // In the child of a fork the thread's clock began anew.
        Self::read(now).checked_sub(self.cpu).map_or(wall, |cpu| cpu.min(wall))
    }

    fn read(wall: u64) -> u64 {
        let cpu = clock_nanos(ClockId::ThreadCPUTime);
        LAST_READ.set(Self { wall, cpu });
        cpu
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{ClockId, CpuMark, FRESH, LAST_READ, SHORT, clock_nanos, monotonic_nanos};

    fn work(nanos: u64) {
        let until = clock_nanos(ClockId::ThreadCPUTime) + nanos;
        while clock_nanos(ClockId::ThreadCPUTime) < until {}
    }

    #[test]
    fn waiting_is_no_work_where_it_is_long() {
        let mark = CpuMark::here();
        std::thread::sleep(Duration::from_millis(20));
        assert!(mark.spent() < 5_000_000, "{}", mark.spent());
    }

    #[test]
    fn no_work_is_left_out() {
        for length in [1_000, SHORT / 2, SHORT * 2, FRESH * 3] {
            let mark = CpuMark::here();
            work(length);
            let spent = mark.spent();
            assert!(spent >= length, "{spent} of {length}");
        }
    }

    #[test]
    fn work_before_counts_for_a_millisecond_at_most() {
        work(5 * FRESH);
        let before = clock_nanos(ClockId::ThreadCPUTime);
        let mark = CpuMark::here();
        work(2 * FRESH);
        let spent = mark.spent();
        let really = clock_nanos(ClockId::ThreadCPUTime) - before;
        assert!(spent <= really + FRESH, "{spent} of {really}");
    }

    #[test]
    fn a_clock_that_began_anew_counts_with_the_wall() {
        LAST_READ.set(CpuMark { wall: monotonic_nanos(), cpu: u64::MAX });
        let mark = CpuMark::here();
        work(2 * SHORT);
        assert!(mark.spent() >= 2 * SHORT);
    }
}
