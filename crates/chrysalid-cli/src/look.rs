//! A look at a program that waits, in a session of its own that is dropped: nothing that it does there reaches anybody.

use std::time::{Duration, SystemTime};

use chrysalid::{Capabilities, Engine, Limits, Pause, Restore, Result, SessionOptions, Step};

/// CPU time that no program has used up before it paused.
const ENOUGH: Duration = Duration::from_hours(24);

/// CPU time after which the program is taken to go on: what is asked of a guest that waits takes far less.
const GOES_ON: Duration = Duration::from_millis(100);

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
    let (pending, made) = (session.pending(), session.calls().len());
    let begun = session.cpu_time();
    let mut pause = loop {
        // A time before all others: no timer is due.
        match session.step(SystemTime::UNIX_EPOCH)? {
            Step::Paused(pause) => break pause,
            // On a busy machine a slice may be over before the guest was asked.
            Step::Busy if session.cpu_time().saturating_sub(begun) < GOES_ON => {}
            _ => return Ok(None),
        }
    };
    if session.calls().len() > made {
        // An answer was still to be delivered, and the program has come to another place.
        return Ok(None);
    }
    // Calls that were queued may have been let go by capabilities that stand in for others.
    pause.pending = pending;
    Ok(Some(pause))
}
