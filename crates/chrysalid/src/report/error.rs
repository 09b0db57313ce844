//! How a program failed: the error with its place and what lies behind it.

use serde::Serialize;

use super::guard::{guarded_block, guarded_halves, guarded_line};
use super::room::{Piece, end, length, start};
use crate::outcome::{Failure, FailureKind};
use crate::value::{ErrorValue, Layout, Style, Value, printable, render_part};

/// How many errors behind one another are followed.
const DEPTH: usize = 3;

/// How many errors behind an error are kept.
const CAUSES: usize = 16;

/// Characters of a message of one of them.
const CAUSE_MESSAGE: usize = 2000;

/// Characters of an error's name in the text.
const NAME: usize = 100;

/// Lines of a stack in the text.
const FRAMES: usize = 5;

/// Characters of a source line in the text, on either side of the place.
const EXCERPT: usize = 60;

/// How a program failed, or why it was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ReportError {
    /// Name of the error, such as `TypeError`, or of the limit, such as `Timeout`; `Thrown` for a thrown value that is no
    /// error.
    #[serde(rename = "type")]
    pub name: String,
    /// Stable, in snake case: [`FailureKind::code`], or `denied` for a denial by the rules that the program did not catch.
    pub code: String,
    /// The message, or the thrown value as a person reads it.
    pub message: String,
    /// Other properties of the error as a text, such as `{ code: 5 }`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<String>,
    /// What the author may do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Line in the source, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Column in code points, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// That line, or what is known of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_line: Option<String>,
    /// Code points of `source_line` before the place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caret: Option<usize>,
    /// Where it was thrown, one frame a line.
    pub stack: Option<String>,
    /// Its cause and the errors in it, with their own, up to a depth of 3; 16 in all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<ReportCause>,
    /// How many more there are.
    #[serde(skip_serializing_if = "is_zero")]
    pub causes_left_out: usize,
    /// What was thrown is no error.
    #[serde(skip)]
    is_value: bool,
}

/// An error or a value behind an error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ReportCause {
    /// How it is behind it.
    pub kind: CauseKind,
    /// Name of the error; none for a value that is no error.
    #[serde(rename = "type")]
    pub name: Option<String>,
    /// The message, or the value as a person reads it; at most 2,000 characters.
    pub message: String,
    /// What lies behind this one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<ReportCause>,
}

/// How an error is behind another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum CauseKind {
    /// As its `cause`.
    Cause,
    /// As one of its `errors`.
    Error,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl ReportError {
    /// An error with these and nothing else.
    pub fn new(name: impl Into<String>, code: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            code: code.into(),
            message: message.into(),
            details: None,
            hint: None,
            line: None,
            column: None,
            source_line: None,
            caret: None,
            stack: None,
            causes: Vec::new(),
            causes_left_out: 0,
            is_value: false,
        }
    }

    pub(super) fn of(failure: &Failure) -> Self {
        let mut error = Self::new(&failure.name, failure.kind.code(), &failure.message);
        error.hint.clone_from(&failure.hint);
        error.stack = Some(failure.stack.clone()).filter(|stack| !stack.is_empty());
        if let Some(position) = &failure.position {
            error.line = Some(position.line);
            error.column = Some(position.column);
            error.source_line = Some(position.source_line.clone());
            error.caret = Some(position.caret);
        }
        match &failure.value {
            Some(thrown @ Value::Error(value)) => {
                error.details.clone_from(&value.details);
                let mut behind = Behind { root: thrown, left: CAUSES, left_out: 0, path: Vec::new() };
                error.causes = behind.of(thrown);
                error.causes_left_out = behind.left_out;
            }
            Some(_) => error.is_value = failure.kind == FailureKind::Exception,
            None => {}
        }
        error
    }

    /// What the text says of it.
    pub(super) fn pieces(&self) -> Vec<Piece> {
        let mut pieces = vec![Piece::ends(self.headline(), 4, "")];
        match (self.line, self.column) {
            (Some(line), Some(column)) => pieces.push(Piece::whole(format!("at line {line}, column {column}"))),
            (Some(line), None) => pieces.push(Piece::whole(format!("at line {line}"))),
            (None, _) => pieces.extend(self.stack.as_deref().and_then(frames)),
        }
        if let (Some(line), Some(caret)) = (&self.source_line, self.caret) {
            pieces.push(Piece::whole_or_none(excerpt(line, caret)));
        }
        pieces.extend(self.hint.iter().map(|hint| Piece::start(format!("hint: {}", guarded_block(hint, 2)), 1)));
        self.causes.iter().for_each(|cause| cause.add_pieces(0, &mut pieces));
        if self.causes_left_out > 0 {
            pieces.push(Piece::whole(format!("… {} more …", self.causes_left_out)));
        }
        pieces
    }

    fn headline(&self) -> String {
        if self.is_value {
            guarded_block(&format!("Uncaught {}", self.message), 2)
        } else {
            let details = self.details.as_ref().map(|details| format!(" {}", guarded_line(details)));
            headline(&self.name, &self.message, 2) + &details.unwrap_or_default()
        }
    }
}

impl ReportCause {
    /// Its depth is bounded where it is made.
    fn add_pieces(&self, indent: usize, pieces: &mut Vec<Piece>) {
        let how = match self.kind {
            CauseKind::Cause => "caused by",
            CauseKind::Error => "contains",
        };
        let what = match &self.name {
            Some(name) => headline(name, &self.message, indent + 2),
            None => guarded_block(&self.message, indent + 2),
        };
        pieces.push(Piece::ends(format!("{:indent$}{how} {what}", ""), 1, ""));
        self.causes.iter().for_each(|cause| cause.add_pieces(indent + 2, pieces));
    }
}

/// `TypeError: message`, further lines of the message indented.
fn headline(name: &str, message: &str, indent: usize) -> String {
    let name = if name.is_empty() { "Error".into() } else { start(&guarded_line(name), NAME) };
    if message.is_empty() { name } else { format!("{name}: {}", guarded_block(message, indent)) }
}

/// The innermost frames, for an error whose place is not known otherwise.
fn frames(stack: &str) -> Option<Piece> {
    let frames: Vec<_> = stack.lines().map(str::trim).filter(|frame| !frame.is_empty()).take(FRAMES).collect();
    let lines: Vec<_> = frames.into_iter().map(|frame| start(&guarded_line(frame), 2 * NAME)).collect();
    (!lines.is_empty()).then(|| Piece::start(lines.join("\n"), 1))
}

/// The part of a line around a place, and a caret under the place.
fn excerpt(line: &str, caret: usize) -> String {
    let at = line.char_indices().nth(caret).map_or(line.len(), |(at, _)| at);
    let (before, after) = line.split_at_checked(at).unwrap_or((line, ""));
    let on_one_line = |text: &str| printable(text).replace('\n', " ");
    let (before, after) = guarded_halves(&end(&on_one_line(before), EXCERPT), &start(&on_one_line(after), EXCERPT));
    // Tabs are as wide in the line below as in this one.
    let below: String = before.chars().map(|symbol| if symbol == '\t' { '\t' } else { ' ' }).collect();
    debug_assert_eq!(length(&below), length(&before));
    format!("  {before}{after}\n  {below}^")
}

/// Follows what lies behind an error. Depth and count are bounded, so a value that contains itself ends as well.
struct Behind<'v> {
    root: &'v Value,
    left: usize,
    left_out: usize,
    path: Vec<&'v Value>,
}

impl<'v> Behind<'v> {
    fn of(&mut self, value: &'v Value) -> Vec<ReportCause> {
        let Value::Error(error) = value else {
            return Vec::new();
        };
        if self.path.len() == DEPTH {
            return Vec::new();
        }
        self.path.push(value);
        let cause = error.cause.iter().map(|cause| (CauseKind::Cause, cause));
        let errors = error.errors.iter().flatten().map(|error| (CauseKind::Error, error));
        let causes = cause.chain(errors).filter_map(|(kind, value)| self.one(kind, value)).collect();
        self.path.pop();
        causes
    }

    fn one(&mut self, kind: CauseKind, value: &'v Value) -> Option<ReportCause> {
        let Some(left) = self.left.checked_sub(1) else {
            self.left_out += 1;
            return None;
        };
        self.left = left;
        let value = match value {
            Value::Ref(number) => self.root.object(*number)?,
            value => value,
        };
        if self.path.iter().any(|open| std::ptr::eq(*open, value)) {
            return None;
        }
        let (name, message) = match value {
            Value::Error(error) => (Some(name_of(error)), start(&error.message, CAUSE_MESSAGE)),
            value => (None, start(&self.line_of(value), CAUSE_MESSAGE)),
        };
        Some(ReportCause { kind, name, message, causes: self.of(value) })
    }

    fn line_of(&self, value: &'v Value) -> String {
        render_part(self.root, value, &Style { layout: Layout::Line, ..Style::default() })
    }
}

fn name_of(error: &ErrorValue) -> String {
    start(&error.name, CAUSE_MESSAGE)
}
