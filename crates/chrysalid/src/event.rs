//! What happens in a session, as it happens: one sink, shared by every surface.

use chrysalid_policy::Effects;

use crate::call::{CallId, CallStatus};
use crate::outcome::LogLine;

/// Told of events, on the thread that steps the session, between two entries of the guest. It must not block.
pub trait EventSink: Send + Sync {
    /// Something happened.
    fn event(&self, event: Event<'_>);
}

/// Something that happened in a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A call was begun.
    CallStarted {
        /// Its id.
        id: CallId,
        /// Name of its capability.
        name: &'a str,
    },
    /// A call ended, or was refused.
    CallEnded {
        /// Its id.
        id: CallId,
        /// Name of its capability.
        name: &'a str,
        /// How.
        status: CallStatus,
    },
    /// A call waits for a person.
    CallWaiting {
        /// Its id.
        id: CallId,
        /// Name of its capability.
        name: &'a str,
    },
    /// The tool of a call that was begun waits for somebody itself, and answers later.
    CallSuspended {
        /// Its id.
        id: CallId,
        /// Name of its capability.
        name: &'a str,
    },
    /// The session met an effect that it had not met. Told before the call that brings it runs.
    Met {
        /// The effect, a set of one.
        effect: Effects,
        /// The call that brings it, such as `budget.read (call 1.2, line 4)`.
        by: &'a str,
    },
    /// The program wrote a line.
    Line(&'a LogLine),
    /// The program waits.
    Paused {
        /// For how many calls.
        pending: usize,
    },
}
