//! What the host keeps of a session beside the guest's memory: the part of a snapshot's header that is ours.
//!
//! Everything that decides anything is here and not in the guest: calls and their arguments, answers, approvals, taint,
//! counters. Plain data; the steps over it are in `driver.rs`, `admit.rs` and `decide.rs`.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrysalid_policy::{Effects, Reason, Taint};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::calls::Calls;
use super::modules::Loading;
use crate::call::{CallId, CallStatus, DecisionKind, ToolError};
use crate::outcome::{FailureKind, LogLevel, Position};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct State {
    pub(crate) session: [u8; 16],
    /// Sessions that this one was forked from, the first one first.
    pub(crate) lineage: Vec<[u8; 16]>,
    pub(crate) context: [u8; 32],
    /// Programs started so far.
    pub(crate) programs: u32,
    /// Calls numbered so far.
    pub(crate) last_call: u32,
    pub(crate) taint: Taint,
    /// Declared effects of the capabilities that the session had when the snapshot was taken.
    pub(crate) capabilities: BTreeMap<String, Option<Effects>>,
    /// The session's calls by number, of those that have ended the latest. Arguments are dropped when a call ends.
    pub(crate) calls: Calls,
    pub(crate) program: Option<Program>,
    /// Modules in the guest's heap: the hash of each one's source, by key.
    pub(crate) modules: BTreeMap<String, [u8; 32]>,
    /// Latest time that was seen, and how long the session has lived, in milliseconds.
    pub(crate) last_millis: f64,
    pub(crate) elapsed_millis: f64,
    pub(crate) random_position: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct StoredCall {
    pub(crate) program: u32,
    pub(crate) name: String,
    pub(crate) status: CallStatus,
    /// Present while the call may still run.
    pub(crate) open: Option<Box<OpenCall>>,
    /// Milliseconds from start to end.
    pub(crate) took_millis: Option<u32>,
    /// Wire form of the arguments that a person put in.
    pub(crate) edited: Option<Vec<u8>>,
}

/// What only a call that has not ended needs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct OpenCall {
    /// Canonical wire form; exactly what schema and rules saw, and what runs.
    pub(crate) argument: Vec<u8>,
    /// Bytes that it takes as a value, in the hands of a tool or of whoever decides.
    pub(crate) value_bytes: usize,
    /// Digest of the capability's definition when the call was made.
    pub(crate) definition: [u8; 16],
    pub(crate) effects: Effects,
    pub(crate) reasons: Vec<Reason>,
    pub(crate) requested_millis: f64,
    pub(crate) started_millis: Option<f64>,
    /// A person's answer that the next step carries out.
    pub(crate) decision: Option<StoredDecision>,
    /// Whether the rules were asked and a person said yes.
    pub(crate) approved: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum StoredDecision {
    Approve,
    Edit(Vec<u8>),
    Reject(Option<String>),
    Respond(Vec<u8>),
}

/// The program that runs or waits.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Program {
    pub(crate) number: u32,
    /// Whether the guest has been given the source.
    pub(crate) begun: bool,
    /// As it was given.
    pub(crate) source: Arc<str>,
    /// As the guest gets it.
    pub(crate) code: Arc<str>,
    /// The name that its last statement is, if it is one.
    pub(crate) value_name: Option<String>,
    pub(crate) cpu_nanos: u64,
    /// Wall clock spent outside pauses, in milliseconds.
    pub(crate) wall_millis: f64,
    pub(crate) calls_made: u32,
    /// Calls refused before they were recorded as made.
    pub(crate) refused: u32,
    pub(crate) calls_by_name: BTreeMap<String, u32>,
    /// Answers that have not gone into the guest.
    pub(crate) answers: Vec<Answer>,
    pub(crate) logs: Vec<StoredLine>,
    pub(crate) log_bytes: usize,
    /// Whether some lines, or parts of them, were over the limit.
    pub(crate) lines_dropped: bool,
    pub(crate) notes: Vec<String>,
    pub(crate) loading: Loading,
    /// Looked up in the catalogue so far.
    pub(crate) lookups: u32,
    pub(crate) phase: Phase,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Phase {
    /// The guest runs it.
    Running,
    /// It failed; started calls are waited for, and no guest code runs any more.
    Failing(StoredFailure),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct StoredFailure {
    pub(crate) kind: FailureKind,
    pub(crate) name: String,
    pub(crate) message: String,
    pub(crate) stack: String,
    pub(crate) hint: Option<String>,
    pub(crate) position: Option<Position>,
    pub(crate) value: Option<Vec<u8>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Answer {
    pub(crate) call: u32,
    pub(crate) result: Result<Vec<u8>, AnswerError>,
    /// Whether the bytes are modules, and not a value.
    pub(crate) module: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct AnswerError {
    pub(crate) error: ToolError,
    pub(crate) tool: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct StoredLine {
    pub(crate) level: LogLevel,
    pub(crate) text: String,
}

impl State {
    pub(crate) fn new(session: [u8; 16], context: [u8; 32]) -> Self {
        Self {
            session,
            lineage: Vec::new(),
            context,
            programs: 0,
            last_call: 0,
            taint: Taint::default(),
            capabilities: BTreeMap::new(),
            calls: Calls::default(),
            program: None,
            modules: BTreeMap::new(),
            last_millis: 0.0,
            elapsed_millis: 0.0,
            random_position: 0,
        }
    }
}

impl OpenCall {
    /// SHA-256 over the canonical argument: what an approval is bound to.
    pub(crate) fn digest(&self) -> [u8; 32] {
        Sha256::digest(&self.argument).into()
    }
}

impl StoredCall {
    pub(crate) fn id(&self, number: u32) -> CallId {
        CallId { program: self.program, number }
    }

    /// Whether a person or something outside may answer it now.
    pub(crate) fn is_pending(&self) -> bool {
        matches!(self.status, CallStatus::Waiting | CallStatus::Outside | CallStatus::Unknown)
    }

    /// Which decisions are accepted.
    pub(crate) fn allowed(&self) -> &'static [DecisionKind] {
        use DecisionKind::{Approve, Edit, Reject, Respond};
        match self.status {
            CallStatus::Waiting => &[Approve, Edit, Reject, Respond],
            CallStatus::Unknown => &[Approve, Reject, Respond],
            CallStatus::Outside => &[Reject, Respond],
            _ => &[],
        }
    }
}
