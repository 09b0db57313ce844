//! Time: what the program's clock shows, and the timer that an async driver waits with.
//!
//! The engine has no clock of its own. `now` comes into [`crate::Session::step`]; the guest reads it plus the CPU
//! time it has spent in that step, at a grain of one millisecond, and never sees it go back.

use std::future::Future;
use std::pin::Pin;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

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

/// CPU time that this thread has used, in nanoseconds.
pub(crate) fn thread_cpu_nanos() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    seconds.saturating_mul(1_000_000_000).saturating_add(u64::try_from(time.tv_nsec).unwrap_or(0))
}
