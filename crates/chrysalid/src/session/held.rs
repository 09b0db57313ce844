//! What the host holds on behalf of a session, in bytes: what [`crate::Limits::host_memory`] bounds.
//!
//! Counted are the texts and encoded values themselves and a sum for what is around each. Not counted is what exists for
//! one step only: a message on its way into the guest, a value that is being checked.

use super::modules::Loading;
use super::state::{Answer, OpenCall, Program, State, StoredCall, StoredDecision};

/// What a call, an answer or a line costs beside its bytes.
pub(super) const COST: usize = 512;

impl State {
    /// Bytes that are held now.
    pub(super) fn held(&self) -> usize {
        let open: usize = self.calls.open().map(|(_, call)| call.held()).sum();
        open + self.calls.held_by_ended() + self.program.as_ref().map_or(0, Program::held)
    }
}

impl StoredCall {
    pub(super) fn held(&self) -> usize {
        let edited = self.edited.as_ref().map_or(0, Vec::len);
        let open = self.open.as_ref().map_or(0, |open| open.held());
        // What a pause shows is there as a value as well.
        let shown = self.open.as_ref().filter(|_| self.is_pending()).map_or(0, |open| open.value_bytes);
        COST + self.name.len() + edited + open + shown
    }
}

impl OpenCall {
    fn held(&self) -> usize {
        self.argument.len() + self.decision.as_ref().map_or(0, StoredDecision::size)
    }
}

impl StoredDecision {
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Approve | Self::Reject(None) => 0,
            Self::Edit(bytes) | Self::Respond(bytes) => bytes.len(),
            Self::Reject(Some(reason)) => reason.len(),
        }
    }
}

impl Program {
    fn held(&self) -> usize {
        let answers: usize = self.answers.iter().map(Answer::held).sum();
        let notes: usize = self.notes.iter().map(|note| COST + note.len()).sum();
        let lines = self.log_bytes + self.logs.len() * COST;
        self.source.len() + self.code.len() + answers + notes + lines + self.loading.held()
    }
}

impl Answer {
    fn held(&self) -> usize {
        let bytes = match &self.result {
            Ok(bytes) => bytes.len(),
            Err(failed) => failed.error.name.len() + failed.error.message.len() + failed.tool.len(),
        };
        COST + bytes
    }
}

impl Loading {
    fn held(&self) -> usize {
        self.staged_bytes() + self.names().map(|name| COST + name.len()).sum::<usize>()
    }
}
