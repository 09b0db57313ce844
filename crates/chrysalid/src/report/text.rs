//! The text of a report: which elements it has, and how they share its budget.

use super::guard::{TAGS, guarded, guarded_block, guarded_line};
use super::room::{Piece, fit, length, shares, want};
use super::{NO_JSON, Report, ReportStatus, calls, pending};
use crate::outcome::{LogLevel, LogLine};

/// What a text holds at least: all tags, and a few words in each element.
const SMALLEST: usize = 200;

/// Characters of a name under which a value is held.
const NAME: usize = 100;

/// Stands in place of stdout and result.
const NO_OUTPUT: &str = "(no output)";

/// How [`Report::text`] writes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReportStyle {
    /// The longest that the whole text may be, in Unicode code points. Default 8,000; less than 200 counts as 200.
    pub budget: usize,
}

impl Default for ReportStyle {
    fn default() -> Self {
        Self { budget: 8000 }
    }
}

impl ReportStyle {
    /// At most so many code points.
    #[must_use]
    pub fn with_budget(budget: usize) -> Self {
        Self { budget }
    }
}

/// What stands between two tags.
struct Element {
    tag: &'static str,
    /// How much of the room it gets, beside the others.
    weight: usize,
    pieces: Vec<Piece>,
}

impl Element {
    /// Code points of both tags and the line breaks around the body.
    fn frame(&self) -> usize {
        2 * self.tag.len() + "<>\n\n</>".len()
    }
}

impl Report {
    /// The report as text for a language model, without a line break at its end.
    ///
    /// It is a sequence of the elements `<stdout>`, `<result>`, `<error>`, `<pending>`, `<calls>` and `<notes>`, in this
    /// order, each at most once and only where it has something to say; `(no output)` comes first where a program ended
    /// well without console lines and value. No text of the program can open or close an element, and the whole has at
    /// most [`ReportStyle::budget`] code points: what is too long keeps its beginning and its end, and says how much was
    /// left out.
    ///
    /// ```text
    /// <stdout>
    /// row 0
    /// [error] bad
    /// </stdout>
    /// <error>
    /// TypeError: cannot read property 'toFixed' of undefined
    /// at line 2, column 19
    ///   rows.map(r => r.n.toFixed(1)).join()
    ///                     ^
    /// </error>
    /// ```
    #[must_use]
    pub fn text(&self, style: &ReportStyle) -> String {
        let elements = self.elements();
        let silent = self.status == ReportStatus::Done && self.logs.is_empty() && self.shown_value().is_none();
        let mut parts: Vec<String> = silent.then(|| NO_OUTPUT.to_owned()).into_iter().collect();
        let fixed = parts.iter().map(|part| length(part) + 1).sum::<usize>()
            + elements.iter().map(|element| element.frame() + 1).sum::<usize>();
        let room = style.budget.max(SMALLEST).saturating_sub(fixed.saturating_sub(1));
        let wants: Vec<_> = elements.iter().map(|element| (element.weight, want(&element.pieces))).collect();
        for (Element { tag, pieces, .. }, room) in elements.iter().zip(shares(room, &wants)) {
            parts.push(format!("<{tag}>\n{}\n</{tag}>", fit(pieces, room)));
        }
        parts.join("\n")
    }

    fn elements(&self) -> Vec<Element> {
        let failed = matches!(self.status, ReportStatus::Failed | ReportStatus::Refused);
        let pieces = [
            (3, self.stdout()),
            (4, self.result()),
            (4, self.error.iter().flat_map(super::ReportError::pieces).collect()),
            (4, self.pause()),
            (1, calls::pieces(&self.calls, failed)),
            (1, self.shown_notes()),
        ];
        let elements = TAGS.into_iter().zip(pieces);
        let elements = elements.map(|(tag, (weight, pieces))| Element { tag, weight, pieces });
        elements.filter(|element| !element.pieces.is_empty()).collect()
    }

    fn stdout(&self) -> Vec<Piece> {
        let lines: Vec<_> = self.logs.iter().map(line_text).collect();
        let text = guarded(&lines.join("\n"));
        if lines.is_empty() { Vec::new() } else { vec![Piece::ends(text, 1, "")] }
    }

    /// The value, unless it is `undefined`.
    fn shown_value(&self) -> Option<&str> {
        self.rendered.as_deref().filter(|rendered| *rendered != "undefined")
    }

    fn result(&self) -> Vec<Piece> {
        let remark = match &self.value_name {
            Some(name) if length(name) <= NAME => {
                format!("; the whole value is still in {}: slice it", guarded_line(name))
            }
            _ => "; nothing holds the rest: keep a long value in a variable and show parts of it".to_owned(),
        };
        self.shown_value().map(|value| Piece::ends(guarded(value), 1, remark)).into_iter().collect()
    }

    fn pause(&self) -> Vec<Piece> {
        match self.status {
            ReportStatus::Paused => pending::pieces(&self.pending, self.wake_at.as_deref()),
            _ => Vec::new(),
        }
    }

    fn shown_notes(&self) -> Vec<Piece> {
        let notes = self.notes.iter().filter(|note| !note.starts_with(NO_JSON));
        notes.map(|note| Piece::start(guarded_block(note, 2), 1)).collect()
    }
}

fn line_text(line: &LogLine) -> String {
    match line.level {
        LogLevel::Warn | LogLevel::Error => format!("[{}] {}", line.level.name(), line.text),
        LogLevel::Log | LogLevel::Info | LogLevel::Debug => line.text.clone(),
    }
}
