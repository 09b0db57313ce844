//! A look at a program that waits, in a session of its own that is dropped: nothing of the program runs.

use std::time::{Duration, SystemTime};

use chrysalid::{Capabilities, Engine, Limits, Pause, Restore, Result, SessionOptions, Step};

/// CPU time that no program has used up before it paused.
const ENOUGH: Duration = Duration::from_hours(24);

/// CPU time after which the program is known to go on: collecting the largest heap takes less.
const GOES_ON: Duration = Duration::from_secs(1);

/// What the program in a snapshot waits for; nothing if it would go on without an answer.
pub(crate) fn look(
    engine: &Engine,
    snapshot: &[u8],
    capabilities: &Capabilities,
    mut limits: Limits,
) -> Result<Option<Pause>> {
    // What it used up is not the question here.
    (limits.cpu_time, limits.wall_time) = (ENOUGH, None);
    let mut options = SessionOptions::default();
    options.limits = Some(limits);
    let mut session = engine.restore_with(snapshot, capabilities, Restore::Resume, options)?;
    if session.is_idle() {
        return Ok(None);
    }
    let pending = session.pending();
    let begun = session.cpu_time();
    let mut pause = loop {
        // A time before all others: no timer is due.
        match session.step(SystemTime::UNIX_EPOCH)? {
            Step::Paused(pause) => break pause,
            // A collection, on a busy machine, may take more than one slice; what takes longer than any is the program.
            Step::Busy if session.cpu_time().saturating_sub(begun) < GOES_ON => {}
            _ => return Ok(None),
        }
    };
    // Calls that were queued may have been let go by capabilities that stand in for others.
    pause.pending = pending;
    Ok(Some(pause))
}
