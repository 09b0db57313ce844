//! What a program may use. Every bound is on by default and ends in a typed error.

use std::time::Duration;

use chrysalid_policy::Budget;

use crate::error::{Error, ErrorKind, Result};

/// Bounds of a session and its programs. Sizes are in bytes.
///
/// ```
/// use std::time::Duration;
/// let mut limits = chrysalid::Limits::default();
/// limits.cpu_time = Duration::from_secs(1);
/// limits.calls = 16;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Linear memory of the guest, the interpreter's own 1.3 MiB included. Default 64 MiB, at least 4 MiB.
    pub memory: usize,
    /// CPU time of a program: of the guest, and of the host in its steps, where calls are read and checked. What tools do and
    /// waiting are not counted. Default 5 s.
    pub cpu_time: Duration,
    /// Wall clock of a program outside pauses. Default none.
    pub wall_time: Option<Duration>,
    /// Calls per program, modules that are fetched included. Default 256.
    pub calls: u32,
    /// Calls that run at one time; the rest queue. Default 32.
    pub calls_in_flight: u32,
    /// Arguments of one call, encoded. Default 1 MiB.
    pub argument_size: usize,
    /// Result of one call, encoded. Default 4 MiB.
    pub call_result_size: usize,
    /// Levels of nesting of a value; a program's own value is cut there, others are refused. Default 512, at most 512.
    pub value_depth: u32,
    /// Parts of a value. Default 1,000,000.
    pub value_nodes: u32,
    /// Console output of a program. Default 64 KiB; what is over is dropped with a note.
    pub console_size: usize,
    /// Value of a program, encoded. Default 1 MiB.
    pub result_size: usize,
    /// Source text of a program, or of a module. Default 256 KiB.
    pub source_size: usize,
    /// Calls that wait for a person at one time. Default 64.
    pub pending_approvals: u32,
    /// What the host keeps on behalf of a session: arguments, answers, decisions, console lines, sources, records of
    /// calls; each with 512 bytes for what is around it. A call or an answer that does not fit is refused. Arguments in
    /// the hands of tools may take as much again: further calls wait. Default 64 MiB.
    pub host_memory: usize,
    /// A snapshot. Default none of its own: the memory limit bounds it.
    pub snapshot_size: Option<usize>,
    /// What all programs of the session may use together; its depth bounds how deep subagents may be nested, counted from
    /// [`SessionOptions::depth`](crate::SessionOptions::depth). Default no bound.
    pub session: Budget,
    /// Wall clock of all programs of the session together, outside pauses. Default none.
    pub session_wall_time: Option<Duration>,
    /// Subagents that one program may spawn: calls of capabilities marked as
    /// [`Capability::subagent`](crate::Capability::subagent). Default no bound but that of the calls.
    pub spawns: Option<u32>,
    /// What a call gets when a budget of calls, bytes or spawns is spent. Default an error.
    pub when_spent: WhenSpent,
    /// Bits that results under [`Delivery::Declassified`](crate::Delivery::Declassified) may tell in one session. Default
    /// 1,024.
    pub declassified_bits: u32,
}

/// What happens to a call when a budget is spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WhenSpent {
    /// It fails with `CallBudgetExceeded`.
    #[default]
    Fail,
    /// It waits for a person, who may let this one call pass. [`Session::raise_budget`](crate::Session::raise_budget) lets
    /// more pass.
    Ask,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory: 64 << 20,
            cpu_time: Duration::from_secs(5),
            wall_time: None,
            calls: 256,
            calls_in_flight: 32,
            argument_size: 1 << 20,
            call_result_size: 4 << 20,
            value_depth: 512,
            value_nodes: 1_000_000,
            console_size: 64 << 10,
            result_size: 1 << 20,
            source_size: 256 << 10,
            pending_approvals: 64,
            host_memory: 64 << 20,
            snapshot_size: None,
            session: Budget::default(),
            session_wall_time: None,
            spawns: None,
            when_spent: WhenSpent::Fail,
            declassified_bits: 1024,
        }
    }
}

/// Smallest memory in which the guest can work.
const MIN_MEMORY: usize = 4 << 20;
/// What a 32-bit guest can address, less room for its own use.
pub(crate) const MAX_MEMORY: usize = 2 << 30;
/// Most of what crosses at one time.
const MAX_SIZE: usize = MAX_MEMORY / 4;
/// Depth that every recursion over a value is proved for.
const MAX_DEPTH: u32 = 512;

impl Limits {
    pub(crate) fn check(&self, max_memory: usize) -> Result<()> {
        let wrong = if !(MIN_MEMORY..=max_memory).contains(&self.memory) {
            format!("memory limit of {} bytes is not between {MIN_MEMORY} and {max_memory}", self.memory)
        } else if !(1..=MAX_DEPTH).contains(&self.value_depth) {
            format!("value depth of {} is not between 1 and {MAX_DEPTH}", self.value_depth)
        } else if self.value_nodes == 0 || self.calls_in_flight == 0 || self.cpu_time.is_zero() {
            "value nodes, calls in flight and cpu time must not be zero".to_owned()
        } else if let Some((name, size)) = self.sizes().into_iter().find(|(_, size)| !(1..=MAX_SIZE).contains(size)) {
            format!("{name} of {size} bytes is not between 1 and {MAX_SIZE}")
        } else {
            return Ok(());
        };
        Err(Error::new(ErrorKind::Config, wrong))
    }

    fn sizes(&self) -> [(&'static str, usize); 5] {
        [
            ("argument size", self.argument_size),
            ("call result size", self.call_result_size),
            ("console size", self.console_size),
            ("result size", self.result_size),
            ("source size", self.source_size),
        ]
    }
}
