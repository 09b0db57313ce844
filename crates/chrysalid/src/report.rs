//! How a run stands, as one object for every surface: as JSON for programs, and as text for a language model.
//!
//! The JSON form is what serde makes of a [`Report`]. The text form, [`Report::text`], is a sequence of elements in this
//! order, each on lines of its own, and each there only if it has something to say:
//!
//! | element | what it holds |
//! |---|---|
//! | `<stdout>` | console lines in order; warnings and errors begin with `[warn] ` and `[error] ` |
//! | `<result>` | the program's value as a JavaScript literal where it has one; nothing for `undefined` |
//! | `<error>` | `TypeError: message`, or `Uncaught 'thrown value'`; where, with the source line; a hint; its causes |
//! | `<pending>` | that the program is paused, what follows from it, and each call that waits, with its reason |
//! | `<calls>` | how the calls ended, if one did not complete or the program failed |
//! | `<notes>` | what else the program's author should know, a note a line |
//!
//! A program that ended well without console lines and value begins with the line `(no output)`.
//!
//! ```text
//! <stdout>
//! row 0
//! [error] bad
//! </stdout>
//! <error>
//! TypeError: cannot read property 'toFixed' of undefined
//! at line 2, column 19
//!   rows.map(r => r.n.toFixed(1)).join()
//!                     ^
//! </error>
//! ```
//!
//! These hold whatever the program chose to print, throw, return or call:
//!
//! - The text has at most [`ReportStyle::budget`] code points. The elements share the budget by fixed weights, and what
//!   one leaves the others get. What is too long keeps its beginning and its end, and a line between them says how much
//!   was left out and where it still is. No cut is inside a grapheme cluster, such as an emoji of several characters.
//! - Each tag opens and closes once. Where other text has a `<` that would begin one of the tags, it is written `\x3c`,
//!   which means the same in a JavaScript string; the `>` of `]]>` is written `\x3e`.
//! - No control character but line feed and tab, and no mark that reorders or hides text, is passed.
//! - Further lines of a message or a note are indented, so that lines such as `hint:` are the report's own.

mod calls;
mod error;
mod guard;
mod pending;
mod room;
#[cfg(test)]
mod tests;
mod text;

use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;
use serde_json::Value as Json;

use crate::call::CallStatus;
use crate::outcome::{Ended, FailureKind, Heap, LogLine, Outcome, Pause};
use crate::value::{Style, Value, render};
pub use calls::ReportCall;
pub use error::{CauseKind, ReportCause, ReportError};
pub use pending::{ReportMet, ReportPending};
pub use text::ReportStyle;

/// Begins the note about a value that JSON cannot hold. The text form, which shows the value, leaves that note out.
const NO_JSON: &str = "the value has no JSON form: ";

/// How much of a value is rendered, in bytes; a value that is one string is rendered whole.
const RENDERED: usize = 64 << 10;

/// How a run stands: what a program printed, returned, failed with or waits for.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// Id of the run, where the surface gives ids. [`Report::of`] leaves it empty.
    pub run: Option<String>,
    /// How it stands.
    pub status: ReportStatus,
    /// The value as JSON, if the program ended with one that has a JSON form; `undefined` is `null`.
    pub value: Option<Json>,
    /// The value as a person reads it, if the program ended with one. A string is whole, in quotes; anything else is
    /// bounded in depth, width and length.
    pub rendered: Option<String>,
    /// Console lines that no report had before, in order.
    pub logs: Vec<LogLine>,
    /// What happened that the program's author should know.
    pub notes: Vec<String>,
    /// How the program failed.
    pub error: Option<ReportError>,
    /// Calls that wait, in the order they were made.
    pub pending: Vec<ReportPending>,
    /// The calls of the program, in the order they were made.
    pub calls: Vec<ReportCall>,
    /// When the program goes on even if nobody answers: ISO 8601 in UTC, to the millisecond.
    pub wake_at: Option<String>,
    /// Where the run is kept, where the surface keeps it. [`Report::of`] leaves it empty.
    pub saved: Option<String>,
    /// The name under which the session still holds the value. Not part of the JSON form.
    #[serde(skip)]
    pub value_name: Option<String>,
}

/// How a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ReportStatus {
    /// The program ended with a value.
    Done,
    /// The program failed.
    Failed,
    /// The program waits.
    Paused,
    /// No program ran, or what it did could not be kept.
    Refused,
}

impl ReportStatus {
    /// Its name, as in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Paused => "paused",
            Self::Refused => "refused",
        }
    }
}

impl Report {
    /// The report of an outcome.
    #[must_use]
    pub fn of(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Done(ended) | Outcome::Failed(ended) => Self::ended(ended),
            Outcome::Paused(pause) => Self::paused(pause),
        }
    }

    /// The report of something that was refused before any program ran.
    #[must_use]
    pub fn refused(error: ReportError) -> Self {
        Self { error: Some(error), ..Self::new(ReportStatus::Refused) }
    }

    fn new(status: ReportStatus) -> Self {
        Self {
            run: None,
            status,
            value: None,
            rendered: None,
            logs: Vec::new(),
            notes: Vec::new(),
            error: None,
            pending: Vec::new(),
            calls: Vec::new(),
            wake_at: None,
            saved: None,
            value_name: None,
        }
    }

    fn ended(ended: &Ended) -> Self {
        let mut report = match &ended.result {
            Ok(value) => Self::done(value),
            Err(failure) => {
                let mut error = ReportError::of(failure);
                // A program can give its errors any name: a denial is one only if the rules refused a call of it.
                let denied = ended.calls.iter().any(|call| call.status == CallStatus::Denied);
                if denied && failure.kind == FailureKind::Exception && failure.name == "Denied" {
                    "denied".clone_into(&mut error.code);
                }
                Self { error: Some(error), ..Self::new(ReportStatus::Failed) }
            }
        };
        if ended.heap == Heap::Intact {
            report.value_name.clone_from(&ended.value_name);
        }
        report.logs.clone_from(&ended.logs);
        report.notes.extend(ended.notes.iter().cloned());
        report.calls = ended.calls.iter().map(ReportCall::of).collect();
        report
    }

    fn done(value: &Value) -> Self {
        let mut report = Self::new(ReportStatus::Done);
        report.rendered = Some(rendered(value));
        match value.to_json_in_proportion() {
            Ok(json) => report.value = Some(json),
            Err(error) => report.notes.push(format!("{NO_JSON}{error}")),
        }
        report
    }

    fn paused(pause: &Pause) -> Self {
        Self {
            logs: pause.logs.clone(),
            notes: pause.notes.clone(),
            pending: pause.pending.iter().map(ReportPending::from).collect(),
            calls: pause.calls.iter().map(ReportCall::of).collect(),
            wake_at: pause.wake_at.and_then(time_text),
            ..Self::new(ReportStatus::Paused)
        }
    }
}

fn rendered(value: &Value) -> String {
    let (text, bytes) = match value {
        Value::String(_) => (usize::MAX, usize::MAX),
        _ => (Style::default().text, RENDERED),
    };
    render(value, &Style { text, bytes, ..Style::default() })
}

fn time_text(time: SystemTime) -> Option<String> {
    let millis = time.duration_since(UNIX_EPOCH).ok()?.as_secs_f64() * 1000.0;
    match Value::Date(millis.round()).to_json() {
        Ok(Json::String(text)) => Some(text),
        _ => None,
    }
}
