//! The one error type of the crate, and its kinds.
//!
//! [`Error`] is opaque: what a caller branches on is [`Error::kind`], what is logged or sent over a wire is the stable
//! [`Error::code`]. How a *program* failed is not an error of the host: see [`crate::Failure`].

use std::error::Error as StdError;
use std::fmt;

/// A result whose error is [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why the host's call failed.
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    message: String,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident => $code:literal,)*) => {
        /// What the reader of an error has to do, one kind for each answer.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum ErrorKind { $($(#[$doc])* $name,)* }

        impl ErrorKind {
            /// All kinds, for tables over them.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The stable code of the kind, in snake case.
            #[must_use]
            pub const fn code(self) -> &'static str {
                match self { $(Self::$name => $code,)* }
            }
        }
    };
}

kinds! {
    /// An option of the engine or session is out of its bounds.
    Config => "config",
    /// A capability's name, schema or option is wrong, or two capabilities share a name.
    Capability => "capability",
    /// The guest could not be compiled, loaded or started.
    Guest => "guest",
    /// The source text is larger than the limit.
    SourceTooLarge => "source_too_large",
    /// A program runs in this session.
    SessionBusy => "session_busy",
    /// A program waits in this session; the message names its calls.
    SessionPaused => "session_paused",
    /// The session's heap is gone; its record stays readable.
    SessionLost => "session_lost",
    /// No program was started.
    NotRunning => "not_running",
    /// No call of this session has this id.
    UnknownCall => "unknown_call",
    /// The call is not one that may be answered in this way now.
    NotWaiting => "not_waiting",
    /// The call, or the pause, was decided or settled before.
    AlreadyDecided => "already_decided",
    /// The approval of the call does not allow this decision.
    DecisionNotAllowed => "decision_not_allowed",
    /// Nobody decided in time.
    ApprovalExpired => "approval_expired",
    /// Edited arguments, or a value given in place of a result, do not fit.
    InvalidArguments => "invalid_arguments",
    /// The engine has no key, so there are no snapshots.
    NoKey => "no_key",
    /// The bytes are not a snapshot.
    NotASnapshot => "not_a_snapshot",
    /// The snapshot has another format version.
    OtherVersion => "other_version",
    /// The snapshot belongs to another guest build.
    UnknownGuest => "unknown_guest",
    /// The snapshot was sealed with a key that is not here.
    UnknownKey => "unknown_key",
    /// The snapshot was changed after it was sealed.
    BadSeal => "bad_seal",
    /// The snapshot is damaged.
    Corrupt => "corrupt",
    /// The snapshot, or its memory, is larger than the limit.
    TooLarge => "too_large",
    /// The snapshot is a link, and what was given before it is not the chain that it needs; the message names the image that
    /// is wanted.
    BrokenChain => "broken_chain",
    /// A call waits for a capability that is not here.
    MissingCapability => "missing_capability",
    /// The stored arguments of a waiting call do not fit the capability's schema any more.
    StaleArguments => "stale_arguments",
    /// The snapshot was bound to another context.
    OtherContext => "other_context",
    /// The guest is in the middle of a job, or its calls have not been read yet; step on until that is over.
    Busy => "busy",
    /// A value is too deep, too large or has no form on the other side.
    Value => "value",
    /// Reading or writing failed.
    Io => "io",
    /// A fault of this crate.
    Internal => "internal",
}

impl Error {
    /// Makes an error of a kind. The message is lower case, without a full stop, and names value and bound.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner { kind, message: message.into(), source: None }))
    }

    /// As [`Error::new`], keeping what caused it.
    pub fn with_source(
        kind: ErrorKind,
        message: impl Into<String>,
        source: impl Into<Box<dyn StdError + Send + Sync>>,
    ) -> Self {
        Self(Box::new(Inner { kind, message: message.into(), source: Some(source.into()) }))
    }

    /// What kind of error it is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The stable code of its kind.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.0.kind.code()
    }

    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Internal, message)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("kind", &self.0.kind)
            .field("message", &self.0.message)
            .field("source", &self.0.source)
            .finish()
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}

impl From<crate::value::ValueError> for Error {
    fn from(error: crate::value::ValueError) -> Self {
        Self::new(ErrorKind::Value, error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::{Error, ErrorKind};

    #[test]
    fn codes_are_distinct_and_in_snake_case() {
        let mut codes: Vec<_> = ErrorKind::ALL.iter().map(|kind| kind.code()).collect();
        assert!(codes.iter().all(|code| code.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')));
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), ErrorKind::ALL.len());
        assert_eq!(Error::new(ErrorKind::BadSeal, "x").code(), "bad_seal");
    }
}
