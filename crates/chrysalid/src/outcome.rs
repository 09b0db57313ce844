//! How a step, a run and a program end.

use std::fmt;
use std::time::SystemTime;

use crate::call::{Call, CallRecord, PendingCall};
use crate::value::Value;

/// What [`crate::Session::step`] needs from its caller.
#[must_use]
#[derive(Debug)]
pub enum Step {
    /// Begin these calls, and step again.
    Start(Vec<Call>),
    /// Calls run or a timer is set: settle one, or step again at `wake_at`.
    Wait {
        /// The earliest timer, call timeout or wall limit.
        wake_at: Option<SystemTime>,
    },
    /// A slice of time is over; step again whenever you like.
    Busy,
    /// Nothing runs. People, outside answers or late timers are what is left.
    Paused(Pause),
    /// The program ended.
    Ended(Ended),
}

/// What a paused program waits for.
#[must_use]
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Pause {
    /// Calls that wait, in the order they were made.
    pub pending: Vec<PendingCall>,
    /// When to step again even if nobody answers.
    pub wake_at: Option<SystemTime>,
    /// Console lines since the program began or was last paused, in order: each line is handed over once.
    pub logs: Vec<LogLine>,
    /// What the program's author should know; each note is handed over once, too.
    pub notes: Vec<String>,
    /// The calls of this program so far.
    pub calls: Vec<CallRecord>,
}

/// How [`crate::Session::run`] came back.
#[must_use]
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The program ended with a value.
    Done(Ended),
    /// The program failed.
    Failed(Ended),
    /// The program waits.
    Paused(Pause),
}

/// A program that ended.
#[must_use]
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Ended {
    /// Its value, or how it failed.
    pub result: Result<Value, Failure>,
    /// Console lines since the program began or was last paused, in order.
    pub logs: Vec<LogLine>,
    /// What happened that the program's author should know, such as an interval that was cleared.
    pub notes: Vec<String>,
    /// The calls of this program.
    pub calls: Vec<CallRecord>,
    /// What became of the heap.
    pub heap: Heap,
    /// The name that the program's last statement is, if it is just a name: where the value can still be found.
    pub value_name: Option<String>,
}

/// What became of a session's heap when a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Heap {
    /// As the program left it.
    Intact,
    /// Back at what it was before the program began.
    Reset,
    /// Gone; the session takes no more programs.
    Lost,
}

/// One line of the console.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct LogLine {
    /// Which method wrote it.
    pub level: LogLevel,
    /// The text, its arguments joined by spaces.
    pub text: String,
}

/// Level of a console line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    /// `console.log` and what writes like it.
    Log,
    /// `console.info`
    Info,
    /// `console.debug`
    Debug,
    /// `console.warn`
    Warn,
    /// `console.error`
    Error,
}

impl LogLevel {
    /// Its name, as the console method is called.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Log => "log",
            Self::Info => "info",
            Self::Debug => "debug",
            Self::Warn => "warn",
            Self::Error => "error",
        }
    }
}

/// How a program failed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Failure {
    /// What kind of failure it is.
    pub kind: FailureKind,
    /// Name of the error, such as `TypeError`, or of the limit, such as `Timeout`.
    pub name: String,
    /// Its message.
    pub message: String,
    /// Where it was thrown, in lines of the program as it was written; empty when not known.
    pub stack: String,
    /// What may help whoever wrote the program.
    pub hint: Option<String>,
    /// Where in the program it was thrown, as far as that is known.
    pub position: Option<Position>,
    /// The thrown value, where there was one.
    pub value: Option<Value>,
}

/// A place in the text of a program as it was given.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct Position {
    /// Counted from 1.
    pub line: u32,
    /// Counted from 1, in code points.
    pub column: u32,
    /// The line, or the part of it around the place, without control characters.
    pub source_line: String,
    /// How many code points of `source_line` stand before the place.
    pub caret: usize,
}

impl Failure {
    pub(crate) fn of(kind: FailureKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            name: kind.name().to_owned(),
            message: message.into(),
            stack: String::new(),
            hint: None,
            position: None,
            value: None,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.message)
    }
}

impl std::error::Error for Failure {}

/// The kinds of [`Failure`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub enum FailureKind {
    /// It threw, or an unawaited branch or timer of it did.
    Exception,
    /// It used up its CPU time: [`Limits::cpu_time`](crate::Limits::cpu_time). The heap is reset where it had to be cut off in
    /// a built-in that does not look up.
    Timeout,
    /// It used up its wall-clock time.
    WallTimeout,
    /// It used up its memory: [`Limits::memory`](crate::Limits::memory). The heap is reset where what it keeps leaves no room.
    OutOfMemory,
    /// Somebody interrupted it.
    Cancelled,
    /// A person did not let it run, or nobody said in time that it may: none of it ran.
    Rejected,
    /// It waits for a promise that nothing will settle.
    Deadlock,
    /// Its value is larger than the limit.
    ResultTooLarge,
    /// It is no JavaScript, and none of it ran.
    InvalidInput,
    /// The sandbox stopped it in a way that leaves no sound heap.
    Trap,
}

impl FailureKind {
    /// Its name, as in the type of an error.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Exception => "Exception",
            Self::Timeout => "Timeout",
            Self::WallTimeout => "WallTimeout",
            Self::OutOfMemory => "OutOfMemory",
            Self::Cancelled => "Cancelled",
            Self::Rejected => "Rejected",
            Self::Deadlock => "Deadlock",
            Self::ResultTooLarge => "ResultTooLarge",
            Self::InvalidInput => "InvalidInput",
            Self::Trap => "Trap",
        }
    }

    /// Its stable code, in snake case.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Exception => "exception",
            Self::Timeout => "timeout",
            Self::WallTimeout => "wall_timeout",
            Self::OutOfMemory => "out_of_memory",
            Self::Cancelled => "cancelled",
            Self::Rejected => "rejected",
            Self::Deadlock => "deadlock",
            Self::ResultTooLarge => "result_too_large",
            Self::InvalidInput => "invalid_input",
            Self::Trap => "trap",
        }
    }

    /// Whether a limit of the host ended the program.
    #[must_use]
    pub fn is_limit(self) -> bool {
        matches!(self, Self::Timeout | Self::WallTimeout | Self::OutOfMemory | Self::ResultTooLarge | Self::Trap)
    }
}
