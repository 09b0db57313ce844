//! The work that is measured, and the design's targets for it.

use super::sides::{COMMAND_LINE, PYTHON, RUST};

/// A thing that sides do.
pub(crate) struct Work {
    pub(crate) key: &'static str,
    pub(crate) how: How,
    /// The most times in one turn.
    pub(crate) repeat: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// Asked of the side's process.
    Asked,
    /// A process is started, and its first line waited for.
    Cold,
    /// A process of its own makes sandboxes, and is looked at from outside.
    Memory,
}

const fn work(key: &'static str, how: How, repeat: u32) -> Work {
    Work { key, how, repeat }
}

pub(crate) const COLD: &str = "cold";
pub(crate) const MEMORY: &str = "memory";

pub(crate) const WORKS: &[Work] = &[
    work("fresh", How::Asked, 40),
    work(COLD, How::Cold, 1),
    work("no_op", How::Asked, 100),
    work("no_op_checkpoint", How::Asked, 100),
    work("calls", How::Asked, 5),
    work("objects", How::Asked, 3),
    work("save_small", How::Asked, 10),
    work("restore_small", How::Asked, 10),
    work("save_rows", How::Asked, 10),
    work("restore_rows", How::Asked, 10),
    work(MEMORY, How::Memory, 1),
];

/// A line of the table: a work as one of our sides does it.
#[derive(Clone, Copy)]
pub(crate) struct Row {
    pub(crate) title: &'static str,
    /// Of ours.
    pub(crate) work: &'static str,
    pub(crate) side: &'static str,
    /// What peers do, where that is another work.
    pub(crate) theirs: &'static str,
    /// Seconds, or bytes for [`MEMORY`].
    pub(crate) target: Option<f64>,
    /// Bytes of what is saved.
    pub(crate) size_target: Option<u64>,
}

const fn row(title: &'static str, work: &'static str, side: &'static str, target: Option<f64>) -> Row {
    Row { title, work, side, theirs: work, target, size_target: None }
}

const fn beside(theirs: &'static str, row: Row) -> Row {
    Row { theirs, ..row }
}

const fn at_most(bytes: u64, row: Row) -> Row {
    Row { size_target: Some(bytes), ..row }
}

pub(crate) const ROWS: &[Row] = &[
    row("fresh sandbox + `1+1` + drop, Rust", "fresh", RUST, Some(50e-6)),
    row("fresh sandbox + `1+1` + drop, Python", "fresh", PYTHON, Some(80e-6)),
    row("cold process to first result, command line", COLD, COMMAND_LINE, Some(20e-3)),
    row("cold process to first result, Python", COLD, PYTHON, Some(60e-3)),
    row("no-op program in a live session, Rust", "no_op", RUST, Some(8e-6)),
    row("no-op program in a live session, Python", "no_op", PYTHON, Some(18e-6)),
    beside("no_op", row("no-op program with a checkpoint, Rust", "no_op_checkpoint", RUST, Some(20e-6))),
    beside("no_op", row("no-op program with a checkpoint, Python", "no_op_checkpoint", PYTHON, Some(30e-6))),
    row("1,000 awaited host calls in sequence, Rust", "calls", RUST, Some(4e-3)),
    row("1,000 awaited host calls in sequence, Python asyncio", "calls", PYTHON, Some(25e-3)),
    row("10,000 small objects out, Rust", "objects", RUST, None),
    row("10,000 small objects out, Python", "objects", PYTHON, Some(25e-3)),
    at_most(4 << 10, row("save, small program waiting at a call", "save_small", RUST, Some(0.2e-3))),
    at_most(32 << 10, row("save, 1,000 small objects live", "save_rows", RUST, Some(0.6e-3))),
    row("restore, small program, and settle", "restore_small", RUST, Some(0.3e-3)),
    row("restore, 1,000 small objects live, and settle", "restore_rows", RUST, Some(0.3e-3)),
    row("resident memory of an idle sandbox (100 live), Rust", MEMORY, RUST, Some(131_072.0)),
    row("resident memory of an idle sandbox (100 live), Python", MEMORY, PYTHON, None),
];

/// Of the programs, over native QuickJS-ng.
pub(crate) const MEAN_TARGET: f64 = 1.3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_of_work_that_is_done() {
        let done = |key: &str| WORKS.iter().any(|work| work.key == key);
        assert!(ROWS.iter().all(|row| done(row.work) && done(row.theirs)));
        assert!(WORKS.iter().all(|work| ROWS.iter().any(|row| row.work == work.key)));
    }
}
