//! A report as text for a person: the value on stdout, everything about the run on stderr.

use std::fmt::Write as _;
use std::io::Write as _;

use chrysalid::{CauseKind, Report, ReportCause, ReportError, ReportPending, ReportStatus};
use serde_json::Value as Json;

pub(super) fn print(report: &Report) {
    if let Some(rendered) = shown_value(report) {
        let _ = writeln!(std::io::stdout(), "{rendered}");
    }
    let _ = write!(std::io::stderr(), "{}", printable(&about(report)));
}

/// The value, unless it is `undefined`.
pub(crate) fn shown_value(report: &Report) -> Option<&str> {
    report.rendered.as_deref().filter(|rendered| *rendered != "undefined")
}

/// What stderr says of a run.
fn about(report: &Report) -> String {
    let mut text = String::new();
    for note in &report.notes {
        let _ = writeln!(text, "note: {note}");
    }
    match (&report.error, report.status) {
        (Some(error), ReportStatus::Refused) => {
            let _ = writeln!(text, "error: {}", error.message);
        }
        (Some(error), _) => text.push_str(&error_text(error)),
        (None, ReportStatus::Paused) => write_pause(&mut text, report),
        (None, _) => {}
    }
    text
}

fn write_pause(text: &mut String, report: &Report) {
    // Writing into a string does not fail.
    let _ = match (report.pending.as_slice(), &report.wake_at) {
        ([], at) => writeln!(text, "paused until {}", at.as_deref().unwrap_or("later")),
        ([_], None) => writeln!(text, "paused: 1 call waits for a decision"),
        (calls, None) => writeln!(text, "paused: {} calls wait for a decision", calls.len()),
        ([_], Some(at)) => writeln!(text, "paused until {at}: 1 call waits for a decision"),
        (calls, Some(at)) => writeln!(text, "paused until {at}: {} calls wait for a decision", calls.len()),
    };
    report.pending.iter().for_each(|call| text.push_str(&pending_text(call)));
    if let Some(saved) = &report.saved {
        let _ = writeln!(text, "saved: {saved}");
    }
}

/// How a program failed: where, with the source line, the stack, a hint, and what lies behind it. Further lines of a
/// message are indented, so that a line such as `hint:` is this program's own.
pub(crate) fn error_text(error: &ReportError) -> String {
    let details = error.details.as_ref().map(|details| format!(" {details}")).unwrap_or_default();
    let mut text = headline(&error.name, &format!("{}{details}", error.message), "  ");
    if let (Some(line), Some(column)) = (error.line, error.column) {
        let _ = writeln!(text, "at line {line}, column {column}");
    }
    if let (Some(line), Some(caret)) = (&error.source_line, error.caret) {
        text.push_str(&excerpt(line, caret));
    }
    for frame in error.stack.iter().flat_map(|stack| stack.lines()) {
        let _ = writeln!(text, "    {}", frame.trim());
    }
    if let Some(hint) = &error.hint {
        let _ = writeln!(text, "hint: {}", indented(hint, "  "));
    }
    error.causes.iter().for_each(|cause| write_cause(&mut text, cause, ""));
    if error.causes_left_out > 0 {
        let _ = writeln!(text, "… {} more …", error.causes_left_out);
    }
    text
}

/// The library bounds the depth.
fn write_cause(text: &mut String, cause: &ReportCause, indent: &str) {
    let deeper = format!("{indent}  ");
    let how = match cause.kind {
        CauseKind::Cause => "caused by",
        CauseKind::Error => "contains",
        _ => "behind it",
    };
    let what = match &cause.name {
        Some(name) => headline(name, &cause.message, &deeper),
        None => indented(&cause.message, &deeper) + "\n",
    };
    let _ = write!(text, "{indent}{how} {what}");
    cause.causes.iter().for_each(|cause| write_cause(text, cause, &deeper));
}

fn headline(name: &str, message: &str, indent: &str) -> String {
    let name = if name.is_empty() { "Error" } else { name };
    let colon = if message.is_empty() { "" } else { ": " };
    indented(&format!("{name}{colon}{message}"), indent) + "\n"
}

/// The text with further lines moved in.
fn indented(text: &str, indent: &str) -> String {
    text.replace('\n', &format!("\n{indent}"))
}

/// A source line, and a caret under the place.
fn excerpt(line: &str, caret: usize) -> String {
    let before: String = line.chars().take(caret).collect();
    // What is shown as an escape takes the room of the escape.
    let below: String = printable(&before).chars().map(|symbol| if symbol == '\t' { '\t' } else { ' ' }).collect();
    format!("  {}\n  {below}^\n", line.trim_end())
}

/// A call that waits, in some lines for a person who decides.
pub(crate) fn pending_text(call: &ReportPending) -> String {
    let mut text = heading(call);
    if call.name == PROGRAM {
        text.push_str(&program_text(call.args.as_ref()));
    } else if let Some(args) = &call.args {
        text.insert(text.len() - 1, ' ');
        text.insert_str(text.len() - 1, &args.to_string());
    }
    text.push_str(&terms_text(call));
    text
}

/// The same with the arguments on lines of their own.
pub(crate) fn pending_in_full(call: &ReportPending) -> String {
    let mut text = heading(call);
    text.push_str(&terms_text(call));
    match &call.args {
        Some(args) if call.name == PROGRAM => text.push_str(&program_text(Some(args))),
        Some(args) => {
            text.push_str(&serde_json::to_string_pretty(args).unwrap_or_default());
            text.push('\n');
        }
        None => {}
    }
    text
}

/// Name of the call that asks about a program as a whole.
const PROGRAM: &str = "$program";

fn heading(call: &ReportPending) -> String {
    let place = match (call.line, &call.file) {
        (Some(line), Some(file)) => format!(" (line {line} of {file})"),
        (Some(line), None) => format!(" (line {line})"),
        (None, _) => String::new(),
    };
    format!("  {} {}{place}\n", call.call, call.name)
}

fn terms_text(call: &ReportPending) -> String {
    let mut text = String::new();
    if !call.reasons.is_empty() {
        let _ = writeln!(text, "      {}", call.reasons.join("; "));
    }
    if !call.roles.is_empty() {
        let _ = writeln!(text, "      to be decided by: {}", call.roles.join(", "));
    }
    if let Some(expires) = &call.expires_at {
        let _ = writeln!(text, "      until {expires}");
    }
    text
}

/// A program that waits as a whole: what it can reach, and its source.
fn program_text(args: Option<&Json>) -> String {
    let mut text = String::new();
    let field = |name: &str| args.and_then(|args| args.get(name));
    if let Some(plan) = field("plan_text").and_then(Json::as_str) {
        for line in plan.lines() {
            let _ = writeln!(text, "      {line}");
        }
    }
    for (index, line) in field("source").and_then(Json::as_str).unwrap_or_default().lines().enumerate() {
        let _ = writeln!(text, "  {:>4} | {line}", index + 1);
    }
    text
}

/// The text with every character made visible that would steer a terminal or reorder what stands there.
pub(crate) fn printable(text: &str) -> String {
    let steers = |c: char| {
        (c.is_control() && c != '\n' && c != '\t')
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if steers(c) { shown.extend(c.escape_unicode()) } else { shown.push(c) }
    }
    shown
}

#[cfg(test)]
mod tests {
    use chrysalid::ReportError;

    use super::{error_text, printable};

    #[test]
    fn what_steers_a_terminal_is_shown() {
        assert_eq!(printable("a\u{1b}[2Kb\r\u{202e}c\n\t\u{9b}ü"), "a\\u{1b}[2Kb\\u{d}\\u{202e}c\n\t\\u{9b}ü");
    }

    #[test]
    fn an_error_has_its_place_its_stack_and_a_hint() {
        let mut error = ReportError::new("TypeError", "exception", "no\nhint: none");
        (error.line, error.column, error.caret) = (Some(2), Some(4), Some(3));
        error.source_line = Some("\u{200b}ü\tx  ".to_owned());
        error.stack = Some("at f (program-1.js:2:4)\n at g (program-1.js:1:1)".to_owned());
        error.hint = Some("look\nthere".to_owned());
        let below = " ".repeat("  \\u{200b}ü".chars().count());
        let text = format!(
            "TypeError: no\n  hint: none\nat line 2, column 4\n  \u{200b}ü\tx\n{below}\t^\n    at f (program-1.js:2:4)\n    \
             at g (program-1.js:1:1)\nhint: look\n  there\n"
        );
        assert_eq!(error_text(&error), text);
        assert_eq!(error_text(&ReportError::new("", "exception", "")), "Error\n");
    }
}
