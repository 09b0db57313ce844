//! One use of a capability: its id, what the driver gets, what a person sees, what the record keeps.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Poll, Waker};
use std::time::{Duration, SystemTime};

use chrysalid_policy::{Brought, DecisionKind, Effects, Reason};
use serde::{Deserialize, Serialize};

use crate::capability::{Handler, HandlerFuture};
use crate::error::{Error, ErrorKind};
use crate::idempotency::IdempotencyKey;
use crate::value::Value;

/// Id of a call: the program's number and the call's number, both counted in the session. Stable across restores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CallId {
    /// The program, counted from 1.
    pub program: u32,
    /// The call, counted from 1 over all programs of the session.
    pub number: u32,
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.program, self.number)
    }
}

impl FromStr for CallId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        text.split_once('.')
            .and_then(|(program, number)| Some(Self { program: program.parse().ok()?, number: number.parse().ok()? }))
            .ok_or_else(|| {
                Error::new(ErrorKind::UnknownCall, format!("{text:?} is not a call id, which looks like 1.2"))
            })
    }
}

/// How a call ended: a value, or the tool's error.
pub type CallResult = Result<Value, ToolError>;

/// A tool's failure, as the program will see it: an error with this name and message, `code`, `tool` and `retryable`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolError {
    /// Name of the error in the program. Default `ToolError`.
    pub name: String,
    /// The message; shown to the program as it is, so it should hold no path and no secret.
    pub message: String,
    /// Whether the same call may succeed later. Default `false`.
    pub retryable: bool,
}

impl ToolError {
    /// A failure of the tool.
    pub fn new(message: impl Into<String>) -> Self {
        Self::named("ToolError", message)
    }

    /// Arguments that the tool cannot use.
    pub fn input(message: impl Into<String>) -> Self {
        Self::named("ToolInputError", message)
    }

    /// A failure after which the same call may succeed.
    pub fn retryable(message: impl Into<String>) -> Self {
        Self { retryable: true, ..Self::new(message) }
    }

    pub(crate) fn named(name: impl Into<String>, message: impl Into<String>) -> Self {
        Self { name: name.into(), message: message.into(), retryable: false }
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.message)
    }
}

impl std::error::Error for ToolError {}

impl From<String> for ToolError {
    fn from(message: String) -> Self {
        Self::new(message)
    }
}

impl From<&str> for ToolError {
    fn from(message: &str) -> Self {
        Self::new(message)
    }
}

impl From<std::io::Error> for ToolError {
    fn from(error: std::io::Error) -> Self {
        Self::new(error.kind().to_string())
    }
}

/// What the session sets when a call's result is no longer wanted: at its timeout, a stop, an interrupt.
#[derive(Clone, Debug, Default)]
pub struct CancelSignal(Arc<CancelState>);

#[derive(Debug, Default)]
struct CancelState {
    set: AtomicBool,
    waker: std::sync::Mutex<Option<Waker>>,
}

impl CancelSignal {
    /// Whether the call was cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.set.load(Ordering::Acquire)
    }

    /// Ready when the call is cancelled. One task may wait at a time.
    pub async fn cancelled(&self) {
        std::future::poll_fn(|cx| {
            if let Ok(mut waker) = self.0.waker.lock() {
                *waker = Some(cx.waker().clone());
            }
            if self.is_cancelled() { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }

    pub(crate) fn cancel(&self) {
        self.0.set.store(true, Ordering::Release);
        let waker = self.0.waker.lock().ok().and_then(|mut waker| waker.take());
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// What a tool's closure may know about the call it serves.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CallContext {
    /// Id of the call.
    pub id: CallId,
    /// Set when the result is no longer wanted.
    pub cancel: CancelSignal,
    pub(crate) key: IdempotencyKey,
}

impl CallContext {
    /// The same for every attempt at this call of this session, and for no other call: 64 hex characters.
    #[must_use]
    pub fn idempotency_key(&self) -> &str {
        self.key.as_str()
    }
}

/// A call that may run now. Begin it, and hand its result to [`crate::Session::settle`].
#[must_use = "the program waits for the result of this call"]
#[derive(Clone)]
pub struct Call {
    pub(crate) context: CallContext,
    pub(crate) name: String,
    pub(crate) argument: Value,
    pub(crate) handler: Option<Arc<dyn Handler>>,
}

impl Call {
    /// Its id.
    #[must_use]
    pub fn id(&self) -> CallId {
        self.context.id
    }

    /// Name of its capability; `$import` for a module that is fetched.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its argument, as checked by schema and policy.
    #[must_use]
    pub fn argument(&self) -> &Value {
        &self.argument
    }

    /// The same for every attempt at this call, and for no other.
    #[must_use]
    pub fn idempotency_key(&self) -> &str {
        self.context.idempotency_key()
    }

    /// Set when the result is no longer wanted.
    #[must_use]
    pub fn cancel_signal(&self) -> &CancelSignal {
        &self.context.cancel
    }

    /// Begins the call: the future of the capability's closure. It does nothing until it is polled.
    #[must_use]
    pub fn invoke(&self) -> HandlerFuture {
        match &self.handler {
            Some(handler) => handler.invoke(self.context.clone(), self.argument.clone()),
            None => Box::pin(std::future::pending()),
        }
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").field("id", &self.id()).field("name", &self.name).finish_non_exhaustive()
    }
}

/// Where a call stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CallStatus {
    /// Allowed, waiting for others to end.
    Queued,
    /// Waiting for a person.
    Waiting,
    /// Waiting for something outside to answer: nothing here runs it, or its tool waits for somebody itself
    /// ([`Session::suspend_call`](crate::Session::suspend_call)).
    Outside,
    /// Begun, not answered.
    Started,
    /// Answered with a value.
    Completed,
    /// Answered with an error, its timeout included.
    Failed,
    /// Refused by the rules.
    Denied,
    /// Refused by a person, or its approval expired.
    Rejected,
    /// Withdrawn: nothing waited for it any more, or its program ended.
    Abandoned,
    /// Begun, and whether it was done is not known.
    Unknown,
}

impl CallStatus {
    /// All of them. The order is part of the snapshot format.
    pub(crate) const ALL: [Self; 10] = [
        Self::Queued,
        Self::Waiting,
        Self::Outside,
        Self::Started,
        Self::Completed,
        Self::Failed,
        Self::Denied,
        Self::Rejected,
        Self::Abandoned,
        Self::Unknown,
    ];

    /// Its name in records and JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Waiting => "waiting",
            Self::Outside => "outside",
            Self::Started => "started",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Denied => "denied",
            Self::Rejected => "rejected",
            Self::Abandoned => "abandoned",
            Self::Unknown => "unknown",
        }
    }
}

/// Where in a program a call was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CallPlace {
    /// The module, or the earlier program, that the place is in; absent for the program that made the call.
    pub file: Option<String>,
    /// Counted from 1.
    pub line: u32,
    /// Counted from 1, in code points.
    pub column: u32,
}

impl fmt::Display for CallPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}", self.line)?;
        self.file.as_ref().map_or(Ok(()), |file| write!(f, " of {file}"))
    }
}

/// A call that waits for a person or for something outside: all that whoever decides should see.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PendingCall {
    /// Its id.
    pub id: CallId,
    /// Name of its capability.
    pub name: String,
    /// Where the program finds it, such as `tools.mail.send`.
    pub path: String,
    /// Where the call was made, if that is known.
    pub place: Option<CallPlace>,
    /// Its argument, exactly as it would run; with what handles hold in their place.
    pub argument: Value,
    /// SHA-256 over the canonical form of the argument.
    pub digest: [u8; 32],
    /// SHA-256 over session, call, name and argument: see [`Verdict::of`](crate::Verdict::of).
    pub token: [u8; 32],
    /// SHA-256 of the program's source.
    pub program: [u8; 32],
    /// [`CallStatus::Waiting`], [`CallStatus::Outside`] or [`CallStatus::Unknown`].
    pub status: CallStatus,
    /// Why a person is asked.
    pub reasons: Vec<Reason>,
    /// What it does, with what the handles in its argument bring.
    pub effects: Effects,
    /// What the session has met, and which call brought it.
    pub met: Vec<Brought>,
    /// Version of the rules that asked, if there are any: [`Rules::version`](crate::Rules::version).
    pub policy: Option<String>,
    /// Decisions that are accepted.
    pub allowed: Vec<DecisionKind>,
    /// Roles that whoever decides must have, every one.
    pub roles: Vec<String>,
    /// When the request was made.
    pub requested_at: SystemTime,
    /// When a decision is no longer carried out, and the program gets `ApprovalExpired`.
    pub expires_at: Option<SystemTime>,
    /// Whether an answer is stored, and takes effect at the next step.
    pub decided: bool,
}

/// One line of the record of a session's calls.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CallRecord {
    /// Its id.
    pub id: CallId,
    /// Name of its capability; `$import` for a module that was fetched.
    pub name: String,
    /// The capability that the program called, where a person put another one in its place.
    pub called_as: Option<String>,
    /// Where it stands.
    pub status: CallStatus,
    /// Where the call was made, if that is known.
    pub place: Option<CallPlace>,
    /// SHA-256 over the canonical form of its argument, while it has not ended. The audit trail keeps it.
    pub digest: Option<[u8; 32]>,
    /// How long it ran, once it has ended.
    pub duration: Option<Duration>,
    /// The arguments that a person put in place of the program's.
    pub edited: Option<Value>,
    /// What a person decided, and who.
    pub decided: Option<DecidedBy>,
    /// Number of the grant that allowed it in a person's place.
    pub grant: Option<u32>,
}

/// A decision that was carried out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DecidedBy {
    /// Its kind.
    pub decision: DecisionKind,
    /// Who decided, as the host said.
    pub by: Option<String>,
}
