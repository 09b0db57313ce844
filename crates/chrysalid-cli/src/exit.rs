//! Exit statuses, and why a command refused: one table over the library's error kinds.

use std::fmt;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use chrysalid::{CallRecord, CallStatus, Error, ErrorKind, Failure, FailureKind, KeyError, Outcome, ReportCall};

/// Exit statuses of every command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Done = 0,
    /// The program failed.
    Failed = 1,
    /// Bad options, a missing or wrong tools file, an unreadable program.
    Usage = 2,
    Paused = 3,
    /// A limit ended the program, or its source is larger than one.
    Limit = 4,
    /// The program failed with a denial that it did not catch.
    Denied = 5,
    /// A saved file, or the place for one, was refused.
    Refused = 6,
    /// A fault of chrysalid.
    Internal = 70,
}

impl Exit {
    /// Of a program that ended or waits.
    pub(crate) fn of_outcome(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Paused(_) => Self::Paused,
            Outcome::Done(ended) | Outcome::Failed(ended) => match &ended.result {
                Ok(_) => Self::Done,
                Err(failure) => Self::of_failure(failure, &ended.calls),
            },
        }
    }

    /// A program can give its errors any name: a denial is one only if the rules refused a call of it.
    fn of_failure(failure: &Failure, calls: &[CallRecord]) -> Self {
        let denied = || calls.iter().any(|call| call.status == CallStatus::Denied);
        match failure.kind {
            kind if kind.is_limit() => Self::Limit,
            FailureKind::Rejected => Self::Denied,
            FailureKind::Exception if failure.name == "Denied" && denied() => Self::Denied,
            _ => Self::Failed,
        }
    }

    fn of_error(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::Config
            | ErrorKind::Capability
            | ErrorKind::UnknownCall
            | ErrorKind::NotWaiting
            | ErrorKind::DecisionNotAllowed
            | ErrorKind::InvalidArguments
            | ErrorKind::Value => Self::Usage,
            ErrorKind::SourceTooLarge => Self::Limit,
            ErrorKind::SessionBusy
            | ErrorKind::SessionPaused
            | ErrorKind::SessionLost
            | ErrorKind::NotRunning
            | ErrorKind::AlreadyDecided
            | ErrorKind::ApprovalExpired
            | ErrorKind::NoKey
            | ErrorKind::NotASnapshot
            | ErrorKind::OtherVersion
            | ErrorKind::UnknownGuest
            | ErrorKind::UnknownKey
            | ErrorKind::BadSeal
            | ErrorKind::Corrupt
            | ErrorKind::TooLarge
            | ErrorKind::BrokenChain
            | ErrorKind::MissingCapability
            | ErrorKind::StaleArguments
            | ErrorKind::OtherContext
            | ErrorKind::Busy
            | ErrorKind::Io => Self::Refused,
            _ => Self::Internal,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Why a command did nothing, or could not keep what it did.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) exit: Exit,
    /// Type and code, as in the `error` of the JSON document.
    pub(crate) name: String,
    pub(crate) code: String,
    pub(crate) message: String,
    /// Calls that the refusal is about.
    pub(crate) calls: Vec<ReportCall>,
}

impl Refusal {
    fn new(exit: Exit, name: &str, code: &str, message: impl Into<String>) -> Self {
        Self { exit, name: name.to_owned(), code: code.to_owned(), message: message.into(), calls: Vec::new() }
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, "Usage", "usage", message)
    }

    /// Arguments that clap refused; its text without the colour, the label and the usage.
    pub(crate) fn arguments(error: &clap::Error) -> Self {
        let text = error.render().to_string();
        let message = text.split("\n\n").next().unwrap_or_default();
        Self::usage(message.trim().trim_start_matches("error: "))
    }

    /// A program that is none, and of which nothing ran.
    pub(crate) fn program(message: impl Into<String>) -> Self {
        Self::new(Exit::Failed, "SyntaxError", FailureKind::InvalidInput.code(), message)
    }

    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(Exit::Internal, "Internal", ErrorKind::Internal.code(), message)
    }

    /// Something that the arguments name cannot be read.
    pub(crate) fn unreadable(path: &Path, error: &io::Error) -> Self {
        Self::new(Exit::Usage, "Io", ErrorKind::Io.code(), format!("cannot read {}: {error}", path.display()))
    }

    /// A saved file cannot be written.
    pub(crate) fn unwritable(path: &Path, error: &io::Error) -> Self {
        Self::new(Exit::Refused, "Io", ErrorKind::Io.code(), format!("cannot write {}: {error}", path.display()))
    }

    pub(crate) fn of_kind(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self::from(Error::new(kind, message))
    }

    /// The same about a file.
    pub(crate) fn within(mut self, path: &Path) -> Self {
        self.message = format!("{}: {}", path.display(), self.message);
        self
    }

    pub(crate) fn with_calls(mut self, calls: Vec<ReportCall>) -> Self {
        self.calls = calls;
        self
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        let kind = error.kind();
        Self::new(Exit::of_error(kind), &format!("{kind:?}"), error.code(), error.to_string())
    }
}

impl From<KeyError> for Refusal {
    fn from(error: KeyError) -> Self {
        Self::new(Exit::Usage, "Key", "key", error.to_string())
    }
}
