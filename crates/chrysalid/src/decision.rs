//! What a person, or an outside system, decides about a call that waits, and who decides.

use std::time::Duration;

use chrysalid_policy::DecisionKind;
use sha2::{Digest, Sha256};

use crate::call::{CallId, PendingCall};
use crate::value::Value;

/// A decision about a call that waits.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// Run it as shown. For an unknown call: run it again. For a program as a whole: run it.
    Approve,
    /// Run it with these arguments, which the schema and the rules check again. For a program as a whole: run this text.
    Edit(Value),
    /// Call another capability with these arguments in its place. Its schema and the rules are asked as if the program had
    /// made the call; where they ask for a person, the call waits anew.
    EditCall {
        /// Name of the other capability.
        name: String,
        /// Its argument.
        argument: Value,
    },
    /// Do not run it; the program gets `ToolRejected` with the reason. For an unknown call: it was not done, and the
    /// program gets `ToolError`.
    Reject(Option<String>),
    /// Do not run it; the program gets this value. For an unknown call: it was done, with this value.
    Respond(Value),
}

impl Decision {
    /// Its kind.
    #[must_use]
    pub fn kind(&self) -> DecisionKind {
        match self {
            Self::Approve => DecisionKind::Approve,
            Self::Edit(_) | Self::EditCall { .. } => DecisionKind::Edit,
            Self::Reject(_) => DecisionKind::Reject,
            Self::Respond(_) => DecisionKind::Respond,
        }
    }
}

/// Who decides, as the host vouches for it.
///
/// ```
/// let ann = chrysalid::Reviewer::named("ann").role("treasurer");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct Reviewer {
    pub(crate) name: Option<String>,
    pub(crate) roles: Vec<String>,
}

impl Reviewer {
    /// Nobody in particular, with no role.
    pub fn new() -> Self {
        Self::default()
    }

    /// Somebody with a name, as it is to stand in records.
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), roles: Vec::new() }
    }

    /// A role that they have.
    pub fn role(mut self, role: impl Into<String>) -> Self {
        self.roles.push(role.into());
        self
    }
}

/// A decision with what it is bound to and who made it, for [`Session::decide_with`](crate::Session::decide_with).
///
/// ```no_run
/// # fn f(session: &mut chrysalid::Session) -> chrysalid::Result<()> {
/// use chrysalid::{Decision, Reviewer, Verdict};
///
/// let call = &session.pending()[0];
/// // What a reviewer is shown travels with the token, and comes back with it.
/// let (id, token) = (call.id, call.token);
/// session.decide_with(Verdict::new(id, Decision::Approve).token(token).by(Reviewer::named("ann").role("treasurer")))?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct Verdict {
    pub(crate) call: CallId,
    pub(crate) decision: Decision,
    pub(crate) token: Option<[u8; 32]>,
    pub(crate) by: Reviewer,
}

impl Verdict {
    /// A decision about the call with this id.
    pub fn new(call: CallId, decision: Decision) -> Self {
        Self { call, decision, token: None, by: Reviewer::new() }
    }

    /// A decision about exactly this call with exactly this argument.
    pub fn of(call: &PendingCall, decision: Decision) -> Self {
        Self::new(call.id, decision).token(call.token)
    }

    /// Binds it to the token that was shown: it is refused for another session, call, capability or argument.
    pub fn token(mut self, token: [u8; 32]) -> Self {
        self.token = Some(token);
        self
    }

    /// Who decides.
    pub fn by(mut self, reviewer: Reviewer) -> Self {
        self.by = reviewer;
        self
    }
}

/// What an approval is bound to.
pub(crate) fn token(session: &[u8; 16], call: CallId, name: &str, argument: &[u8]) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(b"chrysalid approval");
    hash.update(session);
    hash.update(call.program.to_le_bytes());
    hash.update(call.number.to_le_bytes());
    hash.update((name.len() as u64).to_le_bytes());
    hash.update(name);
    hash.update(argument);
    hash.finalize().into()
}

/// When an approval that is asked for now expires, in milliseconds since 1970.
pub(crate) fn expiry_millis(now: f64, lasts: Option<Duration>) -> Option<f64> {
    lasts.map(|lasts| now + lasts.as_secs_f64() * 1000.0)
}

/// Whether a time that was written down has come.
pub(crate) fn has_passed(expires: Option<f64>, now: f64) -> bool {
    expires.is_some_and(|expires| now >= expires)
}
