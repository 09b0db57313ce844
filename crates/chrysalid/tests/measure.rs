//! What tests measure of this process, and how a program ended in one line.

use std::fmt::Debug;
use std::time::Duration;

use chrysalid::{Capabilities, Ended, Session};

use crate::support::{ENGINE, eval, with_limits};

/// CPU time that this thread has used.
pub(crate) fn cpu_time() -> Duration {
    read(rustix::time::ClockId::ThreadCPUTime)
}

/// CPU time that this process has used.
pub(crate) fn process_time() -> Duration {
    read(rustix::time::ClockId::ProcessCPUTime)
}

fn read(clock: rustix::time::ClockId) -> Duration {
    let time = rustix::time::clock_gettime(clock);
    Duration::new(time.tv_sec.try_into().unwrap(), time.tv_nsec.try_into().unwrap())
}

fn status(field: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(field)).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Memory of this process that is resident, in bytes.
pub(crate) fn resident() -> u64 {
    status("VmRSS:") * 1024
}

/// Most memory of this process that was resident since [`forget_peak`], in bytes.
pub(crate) fn peak() -> u64 {
    status("VmHWM:") * 1024
}

/// From here on the peak is counted anew. Where the kernel does not let a process do so it stays: a bound holds all the more.
pub(crate) fn forget_peak() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// Address space of this process, in bytes. Memory that is made on demand reserves gibibytes; a slot of a pool is
/// reserved already.
pub(crate) fn address_space() -> u64 {
    status("VmSize:") * 1024
}

/// How many threads this process has.
pub(crate) fn threads() -> u64 {
    status("Threads:")
}

/// Tries three times what a machine that does other work may spoil. The bound stays the same.
#[track_caller]
pub(crate) fn best_of_three<T, E: Debug>(mut attempt: impl FnMut() -> Result<T, E>) -> T {
    let first = match attempt() {
        Ok(value) => return value,
        Err(error) => error,
    };
    attempt().or_else(|_| attempt()).unwrap_or_else(|error| panic!("{first:?}, at last {error:?}"))
}

/// `1 | Intact`, or `Timeout: message | Reset`.
pub(crate) fn end_of(ended: &Ended) -> String {
    let result = ended.result.as_ref().map_or_else(ToString::to_string, ToString::to_string);
    format!("{result} | {:?}", ended.heap)
}

/// How a program ends that used up this time and left a sound heap.
pub(crate) fn stopped(limit: Duration) -> String {
    format!("Timeout: the program used more than {limit:?} of CPU time | Intact")
}

/// As [`stopped`], in a built-in that does not poll.
pub(crate) fn trapped(limit: Duration) -> String {
    format!("Timeout: the program used more than {limit:?} of CPU time | Reset")
}

pub(crate) fn limited_to(limit: Duration) -> Session {
    ENGINE.session_with(&Capabilities::none(), with_limits(|limits| limits.cpu_time = limit)).unwrap()
}

/// Runs a program that hits a limit of CPU time, in a session of its own that has something to lose. How it ended, and
/// nothing of it past 1.2 times the limit: neither of the guest, nor, where its own calls and lines do not make work for
/// the host, of the thread.
#[track_caller]
pub(crate) fn within(limit: Duration, source: &str, whole: Whole) -> String {
    best_of_three(|| {
        let mut session = limited_to(limit);
        eval(&mut session, "let kept = 1");
        session.start(source).unwrap();
        let begun = cpu_time();
        let ended = crate::support::World::new().drive(&mut session).ended();
        let (thread, guest) = (cpu_time().saturating_sub(begun), session.cpu_time());
        assert_eq!(eval(&mut session, "kept"), chrysalid::Value::from(1), "{source}");
        let most = limit.mul_f64(1.2);
        if guest <= most && (thread <= most || whole == Whole::Guest) {
            Ok(end_of(&ended))
        } else {
            Err(format!("limit {limit:?}, guest {guest:?}, thread {thread:?}: {source}"))
        }
    })
}

/// What is held against the bound.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whole {
    /// The time of the guest.
    Guest,
    /// All that the thread did from the first step to the end, the way back to the checkpoint included.
    Thread,
}
