//! What `run` and `resume` say at their end: the library's report and the exit status, printed as JSON or as text.
//!
//! As text, the program's lines went out while it ran; then its value goes to stdout, and everything about the run to
//! stderr. As JSON, stdout holds the document and nothing else, whatever happened.

pub(crate) mod text;

use std::io::Write;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use chrysalid::{Outcome, Report, ReportError, ReportStatus, Value};
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

/// A report, and what it means for the process.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) report: Report,
    exit: Exit,
}

impl Document {
    /// How a program ended, or what it waits for.
    pub(crate) fn of(outcome: &Outcome) -> Self {
        Self { report: Report::of(outcome), exit: Exit::of_outcome(outcome) }
    }

    /// A command that refused.
    pub(crate) fn refused(refusal: Refusal) -> Self {
        let mut report = Report::refused(ReportError::new(refusal.name, refusal.code, refusal.message));
        report.calls = refusal.calls;
        Self { report, exit: refusal.exit }
    }

    /// The file that holds the program, if one does.
    pub(crate) fn saved_in(mut self, path: Option<&Path>) -> Self {
        self.report.saved = path.map(|path| path.display().to_string());
        self
    }

    /// Prints the document; what its end means for the process.
    pub(crate) fn print(&self, form: Form) -> Exit {
        match form {
            Form::Json => print_json(&self.report),
            Form::Text => text::print(&self.report),
        }
        if self.report.status == ReportStatus::Paused && self.report.saved.is_none() {
            let _ = writeln!(std::io::stderr(), "warning: the run is not saved and ends here; --save FILE keeps it");
        }
        self.exit
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
