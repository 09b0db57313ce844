//! What `run` and `resume` say at their end: one document, printed as JSON or as text.
//!
//! As text, the program's lines went out while it ran; then its value goes to stdout, and everything about the run to
//! stderr. As JSON, stdout holds the document and nothing else, whatever happened.

mod text;

use std::io::Write;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use chrysalid::{CallRecord, DecisionKind, Ended, Failure, FailureKind, LogLine, PendingCall, Value};
use serde::Serialize;
use serde_json::Value as Json;

use crate::exit::{Exit, Refusal};
pub(crate) use text::printable;

/// How a document is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Text,
    Json,
}

impl Form {
    /// The form that `--json` or its absence asks for.
    pub(crate) fn of(json: bool) -> Self {
        if json { Self::Json } else { Self::Text }
    }
}

/// How a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Status {
    Done,
    Paused,
    Failed,
    Refused,
}

impl Status {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Paused => "paused",
            Self::Failed => "failed",
            Self::Refused => "refused",
        }
    }
}

/// The document.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    pub(crate) run: Option<String>,
    pub(crate) status: Status,
    value: Option<Json>,
    rendered: Option<String>,
    pub(crate) logs: Vec<LineReport>,
    pub(crate) notes: Vec<String>,
    error: Option<ErrorReport>,
    pending: Vec<PendingReport>,
    pub(crate) calls: Vec<CallReport>,
    wake_at: Option<String>,
    saved: Option<String>,
    #[serde(skip)]
    exit: Exit,
}

#[derive(Debug, Serialize)]
pub(crate) struct LineReport {
    level: &'static str,
    text: String,
}

#[derive(Debug, Serialize)]
struct ErrorReport {
    #[serde(rename = "type")]
    name: String,
    code: String,
    message: String,
    stack: Option<String>,
}

/// A call that waits.
#[derive(Debug, Serialize)]
pub(crate) struct PendingReport {
    call: String,
    name: String,
    /// Absent where values are not to be shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    args: Option<Json>,
    reasons: Vec<String>,
    effects: Vec<&'static str>,
    allowed: Vec<DecisionKind>,
}

/// A call that was made.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct CallReport {
    pub(crate) call: String,
    pub(crate) name: String,
    pub(crate) status: String,
    pub(crate) ms: Option<u64>,
}

impl Report {
    fn new(status: Status, exit: Exit) -> Self {
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
            exit,
        }
    }

    /// A program that ended.
    pub(crate) fn ended(ended: Ended) -> Self {
        let mut report = match ended.result {
            Ok(value) => Self::done(&value),
            Err(failure) => Self::failed(failure, &ended.calls),
        };
        report.notes.extend(ended.notes);
        report.calls = ended.calls.into_iter().map(CallReport::from).collect();
        report
    }

    fn done(value: &Value) -> Self {
        let mut report = Self::new(Status::Done, Exit::Done);
        report.rendered = Some(value.to_string());
        match value.to_json() {
            Ok(json) => report.value = Some(json),
            Err(error) => report.notes.push(format!("the value has no JSON form: {error}")),
        }
        report
    }

    fn failed(failure: Failure, calls: &[CallRecord]) -> Self {
        let exit = Exit::of_failure(&failure, calls);
        let code = if exit == Exit::Denied { "denied" } else { failure.kind.code() };
        let mut report = Self::new(Status::Failed, exit);
        report.error = Some(ErrorReport {
            code: code.to_owned(),
            name: failure.name,
            message: failure.message,
            stack: Some(failure.stack).filter(|stack| !stack.is_empty()),
        });
        report
    }

    /// A program that waits for these calls, or until that time.
    pub(crate) fn paused(pending: &[PendingCall], wake_at: Option<SystemTime>, saved: Option<&Path>) -> Self {
        let mut report = Self::new(Status::Paused, Exit::Paused);
        report.pending = pending.iter().map(|call| PendingReport::new(call, Values::Shown)).collect();
        report.wake_at = wake_at.and_then(time_text);
        report.saved = saved.map(|path| path.display().to_string());
        report
    }

    /// A command that refused.
    pub(crate) fn refused(refusal: Refusal) -> Self {
        let mut report = Self::new(Status::Refused, refusal.exit);
        report.calls = refusal.calls;
        report.error =
            Some(ErrorReport { name: refusal.name, code: refusal.code, message: refusal.message, stack: None });
        report
    }

    /// Whether the program was interrupted from outside.
    pub(crate) fn is_cancelled(ended: &Ended) -> bool {
        matches!(&ended.result, Err(failure) if failure.kind == FailureKind::Cancelled)
    }

    /// Prints the document; what its end means for the process.
    pub(crate) fn print(&self, form: Form) -> Exit {
        match form {
            Form::Json => print_json(self),
            Form::Text => text::print(self),
        }
        if self.status == Status::Paused && self.saved.is_none() {
            let _ = writeln!(std::io::stderr(), "warning: the run is not saved and ends here; --save FILE keeps it");
        }
        self.exit
    }
}

/// Whether the arguments of waiting calls are part of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Values {
    Shown,
    Hidden,
}

impl PendingReport {
    pub(crate) fn new(call: &PendingCall, values: Values) -> Self {
        Self {
            call: call.id.to_string(),
            name: call.name.clone(),
            args: (values == Values::Shown).then(|| arguments(call)),
            reasons: call.reasons.iter().map(ToString::to_string).collect(),
            effects: call.effects.names().collect(),
            allowed: call.allowed.clone(),
        }
    }
}

/// The arguments as the tool will get them.
pub(crate) fn arguments(call: &PendingCall) -> Json {
    call.argument.to_json().unwrap_or_else(|error| Json::String(format!("[no JSON form: {error}]")))
}

impl From<&LogLine> for LineReport {
    fn from(line: &LogLine) -> Self {
        Self { level: line.level.name(), text: line.text.clone() }
    }
}

impl From<CallRecord> for CallReport {
    fn from(record: CallRecord) -> Self {
        Self {
            call: record.id.to_string(),
            name: record.name,
            status: record.status.name().to_owned(),
            ms: record.duration.and_then(|duration| u64::try_from(duration.as_millis()).ok()),
        }
    }
}

/// The name of a decision, as its option is called.
pub(crate) fn decision_name(kind: DecisionKind) -> &'static str {
    match kind {
        DecisionKind::Approve => "approve",
        DecisionKind::Edit => "edit",
        DecisionKind::Reject => "reject",
        DecisionKind::Respond => "respond",
    }
}

/// Prints one document on stdout.
pub(crate) fn print_json(document: &impl Serialize) {
    // Made of texts, numbers and JSON, which have no way to fail; a reader that went away is no failure.
    let text = serde_json::to_string(document).unwrap_or_default();
    let _ = writeln!(std::io::stdout(), "{text}");
}

/// A time as ISO 8601 in UTC, to the millisecond.
pub(crate) fn time_text(time: SystemTime) -> Option<String> {
    let millis = time.duration_since(UNIX_EPOCH).ok()?.as_secs_f64() * 1000.0;
    match Value::Date(millis.round()).to_json() {
        Ok(Json::String(text)) => Some(text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{UNIX_EPOCH, time_text};

    #[test]
    fn times_are_utc() {
        let time = UNIX_EPOCH + Duration::from_millis(1_766_000_000_123);
        assert_eq!(time_text(time).as_deref(), Some("2025-12-17T19:33:20.123Z"));
    }
}
