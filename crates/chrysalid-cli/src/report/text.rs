//! The document as text: the value on stdout, everything about the run on stderr.

use std::fmt::{self, Display, Formatter};
use std::io::Write;

use super::{ErrorReport, PendingReport, Report, Status};

pub(super) fn print(report: &Report) {
    if let Some(rendered) = report.rendered.as_deref().filter(|rendered| *rendered != "undefined") {
        let _ = writeln!(std::io::stdout(), "{rendered}");
    }
    let _ = write!(std::io::stderr(), "{}", printable(&About(report).to_string()));
}

/// What stderr says of a run.
struct About<'r>(&'r Report);

impl Display for About<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.notes.iter().try_for_each(|note| writeln!(f, "note: {note}"))?;
        match (&self.0.error, self.0.status) {
            (Some(error), Status::Refused) => writeln!(f, "error: {}", error.message),
            (Some(error), _) => write!(f, "{error}"),
            (None, Status::Paused) => self.pause(f),
            (None, _) => Ok(()),
        }
    }
}

impl About<'_> {
    fn pause(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match (self.0.pending.as_slice(), &self.0.wake_at) {
            ([], at) => writeln!(f, "paused until {}", at.as_deref().unwrap_or("later"))?,
            ([_], None) => writeln!(f, "paused: 1 call waits for a decision")?,
            (calls, None) => writeln!(f, "paused: {} calls wait for a decision", calls.len())?,
            ([_], Some(at)) => writeln!(f, "paused until {at}: 1 call waits for a decision")?,
            (calls, Some(at)) => writeln!(f, "paused until {at}: {} calls wait for a decision", calls.len())?,
        }
        self.0.pending.iter().try_for_each(|call| write!(f, "{call}"))?;
        self.0.saved.iter().try_for_each(|saved| writeln!(f, "saved: {saved}"))
    }
}

impl Display for ErrorReport {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {}", self.name, self.message)?;
        let frames = self.stack.iter().flat_map(|stack| stack.lines());
        frames.map(str::trim).try_for_each(|frame| writeln!(f, "    {frame}"))
    }
}

/// Some lines for a person who decides.
impl Display for PendingReport {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "  {} {}", self.call, self.name)?;
        self.args.iter().try_for_each(|args| write!(f, " {args}"))?;
        writeln!(f)?;
        if self.reasons.is_empty() { Ok(()) } else { writeln!(f, "      {}", self.reasons.join("; ")) }
    }
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
    use super::printable;

    #[test]
    fn what_steers_a_terminal_is_shown() {
        assert_eq!(printable("a\u{1b}[2Kb\r\u{202e}c\n\t\u{9b}ü"), "a\\u{1b}[2Kb\\u{d}\\u{202e}c\n\t\\u{9b}ü");
    }
}
