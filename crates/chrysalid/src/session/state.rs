//! What the host keeps of a session beside the guest's memory: the part of a snapshot's header that is ours.
//!
//! Everything that decides anything is here and not in the guest: calls and their arguments, answers, approvals, taint,
//! counters. Plain data; the steps over it are in `driver.rs`, `admit.rs` and `decide.rs`.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrysalid_policy::{Budget, DecisionKind, Effects, Grant, Reason, Spent, Taint};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::calls::Calls;
use super::modules::Loading;
use crate::audit::Chain;
use crate::call::{CallId, CallPlace, CallStatus, DecidedBy, ToolError};
use crate::capability::Delivery;
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
    /// Approvals that a person gave beforehand.
    pub(crate) grants: Vec<StoredGrant>,
    pub(crate) last_grant: u32,
    /// Results that the program has a handle to.
    pub(crate) handles: BTreeMap<u32, StoredHandle>,
    pub(crate) last_handle: u32,
    /// What the session's programs have used together, and what was added to their budget.
    pub(crate) spent: Spent,
    pub(crate) extra: Budget,
    /// What its run had used when the snapshot was taken.
    pub(crate) run_spent: Spent,
    /// Bits that declassified results may have told.
    pub(crate) declassified_bits: u64,
    /// Version of the rules that the session had when the snapshot was taken.
    pub(crate) policy: Option<String>,
    /// Where the audit trail stands.
    pub(crate) chain: Chain,
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
    /// Calls are many and names few: those that have ended and are read back together share theirs.
    pub(crate) name: SharedName,
    pub(crate) status: CallStatus,
    /// Present while the call may still run.
    pub(crate) open: Option<Box<OpenCall>>,
    /// Milliseconds from start to end.
    pub(crate) took_millis: Option<u32>,
    pub(crate) place: Option<CallPlace>,
    pub(crate) decided: Option<DecidedBy>,
    /// The grant that allowed it.
    pub(crate) grant: Option<u32>,
    /// Present where a person changed it.
    pub(crate) changed: Option<Box<Changed>>,
}

/// What a person put in the place of what the program called.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Changed {
    /// Wire form of the arguments that were put in.
    pub(crate) edited: Option<Vec<u8>>,
    /// What the program called, where a person put another capability in its place.
    pub(crate) called_as: Option<String>,
}

/// What only a call that has not ended needs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct OpenCall {
    /// Canonical wire form; exactly what schema and rules saw, and what runs.
    pub(crate) argument: Vec<u8>,
    /// The same with handles as handles, where there are any: what the rules are asked about.
    pub(crate) given: Option<Vec<u8>>,
    /// Bytes that it takes as a value, in the hands of a tool or of whoever decides.
    pub(crate) value_bytes: usize,
    /// Digest of the capability's definition when the call was made.
    pub(crate) definition: [u8; 16],
    /// What it does, refined by the rules, with what handles in its argument bring.
    pub(crate) effects: Effects,
    /// Those that came with handles.
    pub(crate) carried: Effects,
    /// How its result is delivered, as was settled when the rules were asked.
    pub(crate) delivery: Delivery,
    pub(crate) ask: StoredAsk,
    pub(crate) requested_millis: f64,
    pub(crate) started_millis: Option<f64>,
    /// A person's answer that the next step carries out.
    pub(crate) decision: Option<StoredVerdict>,
    /// Whether the rules were asked and a person said yes.
    pub(crate) approved: bool,
}

/// What a call that waits for a person asks, and of whom.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct StoredAsk {
    pub(crate) reasons: Vec<Reason>,
    pub(crate) roles: Vec<String>,
    pub(crate) expires_millis: Option<f64>,
    /// Decisions that the rules allow, if they say.
    pub(crate) decisions: Option<Vec<DecisionKind>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct StoredVerdict {
    pub(crate) decision: StoredDecision,
    pub(crate) by: Option<String>,
    pub(crate) roles: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum StoredDecision {
    Approve,
    /// Of another capability, if it has a name.
    Edit {
        name: Option<String>,
        argument: Vec<u8>,
    },
    Reject(Option<String>),
    Respond(Vec<u8>),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct StoredGrant {
    pub(crate) number: u32,
    pub(crate) grant: Grant,
    pub(crate) left: u32,
    pub(crate) expires_millis: Option<f64>,
    /// The program that it ends with, unless it is the session's.
    pub(crate) program: Option<u32>,
    pub(crate) by: Option<String>,
    pub(crate) roles: Vec<String>,
}

/// A result that stays here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct StoredHandle {
    /// The capability that it came from.
    pub(crate) name: String,
    pub(crate) call: CallId,
    pub(crate) value: Vec<u8>,
    pub(crate) effects: Effects,
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
    pub(crate) spent: Spent,
    /// Calls refused before they were recorded as made.
    pub(crate) refused: u32,
    /// Whether a person has to let it run as a whole, and what that person approved.
    pub(crate) asks_first: bool,
    pub(crate) approved: Option<ApprovedProgram>,
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

impl ApprovedProgram {
    pub(crate) fn has(&self, name: &str) -> bool {
        self.tools.iter().any(|tool| tool == name)
    }
}

/// A program that a person let run as a whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ApprovedProgram {
    /// Capabilities that its text was seen to reach.
    pub(crate) tools: Vec<String>,
    pub(crate) by: Option<String>,
    pub(crate) roles: Vec<String>,
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
            grants: Vec::new(),
            last_grant: 0,
            handles: BTreeMap::new(),
            last_handle: 0,
            spent: Spent::default(),
            extra: Budget::default(),
            run_spent: Spent::default(),
            declassified_bits: 0,
            policy: None,
            chain: Chain::default(),
            modules: BTreeMap::new(),
            last_millis: 0.0,
            elapsed_millis: 0.0,
            random_position: 0,
        }
    }
}

impl Program {
    pub(crate) fn new(number: u32, source: &str) -> Self {
        Self {
            number,
            begun: false,
            source: source.into(),
            code: Arc::default(),
            value_name: None,
            cpu_nanos: 0,
            spent: Spent::default(),
            refused: 0,
            asks_first: false,
            approved: None,
            answers: Vec::new(),
            logs: Vec::new(),
            log_bytes: 0,
            lines_dropped: false,
            notes: Vec::new(),
            loading: Loading::default(),
            lookups: 0,
            phase: Phase::Running,
        }
    }
}

impl OpenCall {
    /// SHA-256 over the canonical argument: what an approval is bound to.
    pub(crate) fn digest(&self) -> [u8; 32] {
        Sha256::digest(&self.argument).into()
    }
}

/// The name of a call, which others may share.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SharedName(Arc<str>);

impl SharedName {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for SharedName {
    fn from(name: &str) -> Self {
        Self(name.into())
    }
}

impl std::ops::Deref for SharedName {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for SharedName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Debug::fmt(self.as_str(), f)
    }
}

impl std::fmt::Display for SharedName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self)
    }
}

impl PartialEq<str> for SharedName {
    fn eq(&self, other: &str) -> bool {
        **self == *other
    }
}

impl PartialEq<&str> for SharedName {
    fn eq(&self, other: &&str) -> bool {
        **self == **other
    }
}

impl StoredCall {
    pub(crate) fn edited(&self) -> Option<&[u8]> {
        self.changed.as_ref()?.edited.as_deref()
    }

    pub(crate) fn id(&self, number: u32) -> CallId {
        CallId { program: self.program, number }
    }

    /// Whether a person or something outside may answer it now.
    pub(crate) fn is_pending(&self) -> bool {
        matches!(self.status, CallStatus::Waiting | CallStatus::Outside | CallStatus::Unknown)
    }

    /// Whether its tool was handed it, so that its effect may be done, or half done.
    pub(crate) fn has_begun(&self) -> bool {
        self.open.as_ref().is_some_and(|open| open.started_millis.is_some())
    }

    /// Whether it was begun, and its tool waits for somebody itself.
    pub(crate) fn is_suspended(&self) -> bool {
        self.status == CallStatus::Outside && self.has_begun()
    }

    /// Which decisions are accepted.
    pub(crate) fn allowed(&self) -> Vec<DecisionKind> {
        use DecisionKind::{Approve, Edit, Reject, Respond};
        let kinds: &[DecisionKind] = match self.status {
            CallStatus::Waiting if self.name == PROGRAM_CALL => &[Approve, Edit, Reject],
            CallStatus::Waiting if self.name == REVEAL_CALL => &[Approve, Reject],
            CallStatus::Waiting => &[Approve, Edit, Reject, Respond],
            CallStatus::Unknown => &[Approve, Reject, Respond],
            CallStatus::Outside => &[Reject, Respond],
            _ => &[],
        };
        let ruled = self.open.as_ref().and_then(|open| open.ask.decisions.as_ref());
        let by_rules = |kind: &DecisionKind| {
            self.status != CallStatus::Waiting || ruled.is_none_or(|decisions| decisions.contains(kind))
        };
        let allowed: Vec<DecisionKind> = kinds.iter().copied().filter(by_rules).collect();
        // Rules that leave nothing of what this call takes leave the answer that does nothing.
        if allowed.is_empty() && !kinds.is_empty() { vec![Reject] } else { allowed }
    }
}

/// Name of the pseudo call that asks whether a program may run as a whole.
pub(crate) const PROGRAM_CALL: &str = "$program";
/// Name of the call that reads a handle.
pub(crate) const REVEAL_CALL: &str = "$reveal";
