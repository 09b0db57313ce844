//! What the session prints: values on stdout, everything about a program on stderr, as `run` does. Nothing of a program
//! steers the terminal.

use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use chrysalid::{CallRecord, Capabilities, Event, EventSink, Limits, LogLevel, Report, ReportError};

use crate::console::Console;
use crate::exit::Refusal;
use crate::report::printable;
use crate::report::text::{error_text, shown_value};

/// Most characters of a tool's line.
const TOOL_LINE: usize = 100;
/// Most names that are offered in place of an unknown one.
const MAX_NEAR: usize = 3;

/// How notes are printed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Screen {
    /// Whether notes are dim.
    dims: bool,
}

impl Screen {
    /// On a terminal, unless `NO_COLOR` is set, notes are dim.
    pub(super) fn new(is_terminal: bool) -> Self {
        Self { dims: is_terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) }
    }

    /// Something about a program.
    pub(super) fn note(self, note: &str) {
        self.aside(&format!("note: {note}"));
    }

    /// What is beside the point.
    pub(super) fn aside(self, text: &str) {
        let (dim, plain) = if self.dims { ("\u{1b}[2m", "\u{1b}[0m") } else { ("", "") };
        let _ = writeln!(std::io::stderr(), "{dim}{}{plain}", printable(text));
    }
}

pub(super) fn warning(message: &str) {
    let _ = writeln!(std::io::stderr(), "warning: {}", printable(message));
}

pub(super) fn error(message: &str) {
    let _ = writeln!(std::io::stderr(), "error: {}", printable(message));
}

/// A program's value; `undefined` is silent.
pub(super) fn value(report: &Report) {
    if let Some(value) = shown_value(report) {
        text(&format!("{value}\n"));
    }
}

/// How a program failed, and where.
pub(super) fn failure(error: &ReportError) {
    let _ = write!(std::io::stderr(), "{}", printable(&error_text(error)));
}

/// Text of a command.
pub(super) fn text(text: &str) {
    let _ = write!(std::io::stdout(), "{}", printable(text));
}

/// Prints console lines as they come, and leaves the rest to the journal of a claimed file.
pub(super) struct Lines(pub(super) Arc<Console>);

impl EventSink for Lines {
    fn event(&self, event: Event<'_>) {
        let Event::Line(line) = event else { return self.0.event(event) };
        let text = printable(&line.text);
        // A reader that went away does not stop the program.
        let _ = match line.level {
            LogLevel::Warn | LogLevel::Error => writeln!(std::io::stderr(), "{text}"),
            _ => writeln!(std::io::stdout(), "{text}"),
        };
    }
}

/// One line a tool: its name, and the first line of its description.
pub(super) fn tools(capabilities: &Capabilities) -> String {
    let longest = capabilities.iter().map(|tool| tool.name().len()).max().unwrap_or_default();
    let mut text = String::new();
    for tool in capabilities.iter() {
        let line = tool.description_text().trim().lines().next().unwrap_or_default();
        let mut shown: String = line.chars().take(TOOL_LINE).collect();
        if shown.len() < line.len() {
            shown.push('…');
        }
        let line = format!("{:longest$}  {shown}", tool.name());
        let _ = writeln!(text, "{}", line.trim_end());
    }
    if text.is_empty() { "no tools: --tools FILE names some\n".to_owned() } else { text }
}

/// The declaration of one tool, by its name or the path by which programs reach it.
pub(super) fn tool(capabilities: &Capabilities, name: &str) -> Result<String, Refusal> {
    let catalogue = capabilities.catalogue();
    catalogue.describe(name).ok_or_else(|| {
        let near: Vec<String> = catalogue.search(name, MAX_NEAR).into_iter().map(|hit| hit.name).collect();
        let near =
            if near.is_empty() { ".tools lists them".to_owned() } else { format!("is it {}?", near.join(" or ")) };
        Refusal::usage(format!("no tool {name}; {near}"))
    })
}

/// One line a call.
pub(super) fn calls(calls: &[CallRecord]) -> String {
    let mut text = String::new();
    for call in calls {
        let _ = write!(text, "{} {}: {}", call.id, call.name, call.status.name());
        if let Some(took) = call.duration {
            let _ = write!(text, ", {} ms", took.as_millis());
        }
        text.push('\n');
    }
    if text.is_empty() { "the last program made no calls\n".to_owned() } else { text }
}

/// The limits, and what of them the last program used.
pub(super) fn limits(limits: &Limits, cpu_used: Duration, calls_made: usize) -> String {
    let wall =
        limits.wall_time.map_or_else(|| "none".to_owned(), |wall| format!("{wall:?} a program, outside of pauses"));
    let snapshot = limits.snapshot_size.map_or_else(|| "as memory".to_owned(), size);
    let lines = [
        ("memory", size(limits.memory)),
        ("CPU time", format!("{:?} a program; {} ms used by the last", limits.cpu_time, cpu_used.as_millis())),
        ("wall-clock time", wall),
        ("calls", format!("{} a program; {calls_made} made by the last", limits.calls)),
        ("calls at one time", limits.calls_in_flight.to_string()),
        ("calls that wait", limits.pending_approvals.to_string()),
        ("argument", size(limits.argument_size)),
        ("result of a call", size(limits.call_result_size)),
        ("value", format!("{}, depth {}, {} parts", size(limits.result_size), limits.value_depth, limits.value_nodes)),
        ("console", format!("{} a program", size(limits.console_size))),
        ("source", format!("{} a program", size(limits.source_size))),
        ("host memory", size(limits.host_memory)),
        ("snapshot", snapshot),
    ];
    let mut text = String::new();
    for (name, limit) in lines {
        let _ = writeln!(text, "{name:17}  {limit}");
    }
    text
}

/// Bytes, in the largest unit that leaves no rest.
fn size(bytes: usize) -> String {
    let units = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let unit = units.into_iter().find(|(unit, _)| bytes >= *unit && bytes.is_multiple_of(*unit));
    unit.map_or_else(|| format!("{bytes} bytes"), |(unit, name)| format!("{} {name}", bytes / unit))
}

#[cfg(test)]
mod tests {
    use chrysalid::{Capabilities, Capability};

    use super::{size, tools};

    #[test]
    fn sizes_lose_no_byte() {
        let sizes = [0, 1023, 1024, 1 << 20, (1 << 20) + 1, 3 << 30].map(size);
        assert_eq!(sizes, ["0 bytes", "1023 bytes", "1 KiB", "1 MiB", "1048577 bytes", "3 GiB"]);
    }

    #[test]
    fn a_tool_is_one_line() {
        let long = format!("{}\u{1F41B}b", "é".repeat(99));
        let all = [
            Capability::external("mail.send").description("\n Sends a mail.\nAt once."),
            Capability::external("a"),
            Capability::external("b").description(long),
        ];
        let expected = format!("a\nb          {}\u{1F41B}…\nmail.send  Sends a mail.\n", "é".repeat(99));
        assert_eq!(tools(&Capabilities::new(all).unwrap()), expected);
        assert_eq!(tools(&Capabilities::none()), "no tools: --tools FILE names some\n");
    }
}
