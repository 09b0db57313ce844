//! What the host holds on behalf of a session, in bytes: what [`crate::Limits::host_memory`] bounds.
//!
//! Counted are the texts and encoded values themselves and a fixed amount for each. Not counted is what exists for one
//! step only: a message on its way into the guest, a value that is being checked.

use super::Session;
use super::imports::Request;
use super::modules::Loading;
use super::state::{Answer, OpenCall, Program, State, StoredCall, StoredDecision};
use crate::defence::{Defence, stands};

/// What a call, a request, an answer or a line costs beside its bytes.
pub(super) const COST: usize = 512;

impl Session {
    /// Whether so many more bytes may be held on behalf of this session.
    pub(super) fn room_for(&self, bytes: usize) -> bool {
        let held = self.state.held().saturating_add(self.requests_held);
        let wanted = held.saturating_add(bytes).saturating_add(COST);
        wanted <= self.limits.host_memory || !stands(Defence::HostMemory)
    }

    /// What is left for what the guest hands over.
    pub(super) fn room(&self) -> usize {
        self.limits.host_memory.saturating_sub(self.state.held()).saturating_sub(self.requests_held)
    }

    /// Why there is no room for it.
    pub(super) fn no_room(&self, what: &str) -> String {
        let bound = self.limits.host_memory;
        format!("{what} and what waits already are more than {bound} bytes of the host")
    }
}

impl Request {
    pub(super) fn held(&self) -> usize {
        COST + self.name.len() + self.argument.len()
    }
}

impl State {
    /// Bytes that are held now.
    pub(super) fn held(&self) -> usize {
        let open: usize = self.calls.open().map(|(_, call)| call.held()).sum();
        let handles: usize = self.handles.values().map(|held| COST + held.name.len() + held.value.len()).sum();
        let grants = self.grants.len() * COST;
        open + self.calls.held_by_ended() + self.program.as_ref().map_or(0, Program::held) + handles + grants
    }
}

impl StoredCall {
    pub(super) fn held(&self) -> usize {
        let edited = self.edited().map_or(0, <[u8]>::len);
        let open = self.open.as_ref().map_or(0, |open| open.held());
        // What a pause shows is there as a value as well.
        let shown = self.open.as_ref().filter(|_| self.is_pending()).map_or(0, |open| open.value_bytes);
        COST + self.name.len() + edited + open + shown
    }
}

impl OpenCall {
    fn held(&self) -> usize {
        self.argument.len()
            + self.given.as_ref().map_or(0, Vec::len)
            + self.decision.as_ref().map_or(0, |verdict| verdict.decision.size())
    }
}

impl StoredDecision {
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Approve | Self::Reject(None) => 0,
            Self::Edit { argument: bytes, .. } | Self::Respond(bytes) => bytes.len(),
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
    pub(super) fn held(&self) -> usize {
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
