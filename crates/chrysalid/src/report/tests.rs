//! Texts of whole outcomes, and what holds for every text.

mod outcomes;
mod properties;
mod snapshots;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use chrysalid_policy::{DecisionKind, Effects, Reason};

use super::{Report, ReportStyle};
use crate::call::{CallId, CallPlace, CallRecord, CallStatus, PendingCall};
use crate::outcome::{Ended, Failure, FailureKind, Heap, LogLevel, LogLine, Outcome, Pause, Position};
use crate::value::{ErrorValue, Object, Value};

fn text(outcome: &Outcome) -> String {
    Report::of(outcome).text(&ReportStyle::default())
}

fn short(outcome: &Outcome, budget: usize) -> String {
    Report::of(outcome).text(&ReportStyle::with_budget(budget))
}

fn length(text: &str) -> usize {
    text.chars().count()
}

fn object(entries: Vec<(&str, Value)>) -> Value {
    Value::Object(entries.into_iter().collect::<Object>())
}

fn ended(result: Result<Value, Failure>) -> Ended {
    Ended { result, logs: Vec::new(), notes: Vec::new(), calls: Vec::new(), heap: Heap::Intact, value_name: None }
}

fn done(value: impl Into<Value>) -> Outcome {
    Outcome::Done(ended(Ok(value.into())))
}

fn named(value: impl Into<Value>, name: &str) -> Outcome {
    Outcome::Done(Ended { value_name: Some(name.into()), ..ended(Ok(value.into())) })
}

fn failed(failure: Failure) -> Outcome {
    Outcome::Failed(ended(Err(failure)))
}

/// An error that the program threw and did not catch.
fn uncaught(error: ErrorValue) -> Failure {
    Failure {
        name: error.name.clone(),
        stack: error.stack.clone().unwrap_or_default(),
        value: Some(Value::from(error.clone())),
        ..Failure::of(FailureKind::Exception, error.message)
    }
}

/// A value that the program threw and that is no error.
fn thrown(value: Value) -> Outcome {
    let failure = Failure::of(FailureKind::Exception, value.to_string());
    failed(Failure { name: "Thrown".into(), value: Some(value), ..failure })
}

fn at(line: u32, column: u32, source_line: &str) -> Position {
    let caret = usize::try_from(column - 1).unwrap();
    Position { line, column, source_line: source_line.into(), caret }
}

fn pause(pending: Vec<PendingCall>) -> Pause {
    Pause { pending, wake_at: None, logs: Vec::new(), notes: Vec::new(), calls: Vec::new() }
}

fn waiting(number: u32, name: &str, argument: Value) -> PendingCall {
    PendingCall {
        id: CallId { program: 1, number },
        name: name.into(),
        path: format!("tools.{name}"),
        place: Some(CallPlace { file: None, line: 4, column: 7 }),
        argument,
        digest: [0; 32],
        token: [0x11; 32],
        program: [0x22; 32],
        status: CallStatus::Waiting,
        reasons: vec![Reason::Always],
        effects: Effects::ACTS,
        met: Vec::new(),
        policy: None,
        roles: Vec::new(),
        expires_at: None,
        allowed: vec![DecisionKind::Approve, DecisionKind::Reject],
        requested_at: UNIX_EPOCH,
        decided: false,
    }
}

fn call(number: u32, name: &str, status: CallStatus) -> CallRecord {
    let duration = Some(Duration::from_millis(12)).filter(|_| status == CallStatus::Completed);
    CallRecord {
        id: CallId { program: 1, number },
        name: name.into(),
        called_as: None,
        status,
        place: None,
        digest: None,
        duration,
        edited: None,
        decided: None,
        grant: None,
    }
}

fn logs<T: Into<String>>(lines: impl IntoIterator<Item = T>) -> Vec<LogLine> {
    lines.into_iter().map(|text| LogLine { level: LogLevel::Log, text: text.into() }).collect()
}

/// Puts these lines into an outcome.
fn printed(outcome: Outcome, lines: Vec<LogLine>) -> Outcome {
    match outcome {
        Outcome::Done(ended) => Outcome::Done(Ended { logs: lines, ..ended }),
        Outcome::Failed(ended) => Outcome::Failed(Ended { logs: lines, ..ended }),
        Outcome::Paused(pause) => Outcome::Paused(Pause { logs: lines, ..pause }),
    }
}

/// Puts these calls into an outcome.
fn called(outcome: Outcome, calls: Vec<CallRecord>) -> Outcome {
    match outcome {
        Outcome::Done(ended) => Outcome::Done(Ended { calls, ..ended }),
        Outcome::Failed(ended) => Outcome::Failed(Ended { calls, ..ended }),
        Outcome::Paused(pause) => Outcome::Paused(Pause { calls, ..pause }),
    }
}

fn day() -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(1_766_000_000_123)
}
