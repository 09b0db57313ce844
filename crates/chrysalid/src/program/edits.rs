//! Changes to a text, applied in one pass, and the way back from the new text to the old one.
//!
//! A blanked stretch keeps its line ends and its number of code points, so nothing behind it moves. Other text may be
//! longer or shorter; it never has fewer line ends than what it replaces.

use std::borrow::Cow;

use oxc_span::Span;

use super::place::Place;

/// What a stretch of the text becomes.
enum Change {
    /// Spaces; optionally with another character as the first or the last one.
    Blank {
        first: Option<char>,
        last: Option<char>,
    },
    Text(Cow<'static, str>),
}

struct Edit {
    start: u32,
    end: u32,
    change: Change,
}

/// A list of changes. One that lies inside the stretch of an earlier one is dropped with it.
#[derive(Default)]
pub(super) struct Edits {
    list: Vec<Edit>,
}

impl Edits {
    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(super) fn blank(&mut self, start: u32, end: u32) {
        self.push(start, end, Change::Blank { first: None, last: None });
    }

    pub(super) fn blank_from(&mut self, start: u32, end: u32, first: char) {
        self.push(start, end, Change::Blank { first: Some(first), last: None });
    }

    pub(super) fn blank_to(&mut self, start: u32, end: u32, last: char) {
        self.push(start, end, Change::Blank { first: None, last: Some(last) });
    }

    pub(super) fn replace(&mut self, span: Span, text: impl Into<Cow<'static, str>>) {
        self.push(span.start, span.end, Change::Text(text.into()));
    }

    pub(super) fn insert(&mut self, at: u32, text: impl Into<Cow<'static, str>>) {
        self.push(at, at, Change::Text(text.into()));
    }

    fn push(&mut self, start: u32, end: u32, change: Change) {
        if start < end || matches!(change, Change::Text(_)) {
            self.list.push(Edit { start, end, change });
        }
    }

    /// The changed text, and the places that moved.
    pub(super) fn apply(mut self, source: &str) -> (String, Vec<Anchor>) {
        // An insertion stands before what is replaced at the same place; of two stretches the longer one wins.
        self.list.sort_by_key(|edit| (edit.start, edit.start != edit.end, u32::MAX - edit.end));
        let mut output = Output {
            code: String::with_capacity(source.len() + 64),
            code_place: Place::START,
            source_place: Place::START,
            anchors: Vec::new(),
        };
        let mut cursor = 0;
        for edit in &self.list {
            if edit.start < cursor {
                continue;
            }
            output.copy(part(source, cursor, edit.start));
            let old = part(source, edit.start, edit.end);
            match &edit.change {
                Change::Blank { first, last } => output.blank(old, *first, *last),
                Change::Text(text) => output.replace(old, text),
            }
            cursor = edit.end;
        }
        output.code.push_str(part(source, cursor, u32::MAX));
        (output.code, output.anchors)
    }
}

struct Output {
    code: String,
    code_place: Place,
    source_place: Place,
    anchors: Vec<Anchor>,
}

impl Output {
    fn copy(&mut self, text: &str) {
        self.code.push_str(text);
        self.code_place.advance(text);
        self.source_place.advance(text);
    }

    fn blank(&mut self, old: &str, first: Option<char>, last: Option<char>) {
        let start = self.code.len();
        let mut characters = old.chars().enumerate().peekable();
        while let Some((index, character)) = characters.next() {
            let new = match character {
                '\n' | '\r' => character,
                _ if index == 0 && first.is_some() => first.unwrap_or(' '),
                _ if characters.peek().is_none() => last.unwrap_or(' '),
                _ => ' ',
            };
            self.code.push(new);
        }
        self.code_place.advance(self.code.get(start..).unwrap_or_default());
        self.source_place.advance(old);
    }

    fn replace(&mut self, old: &str, text: &str) {
        self.anchors.push(Anchor { code: self.code_place, source: self.source_place, held: true });
        let missing = line_ends(old).saturating_sub(line_ends(text));
        let start = self.code.len();
        self.code.push_str(text);
        self.code.extend(std::iter::repeat_n('\n', missing));
        self.code_place.advance(self.code.get(start..).unwrap_or_default());
        self.source_place.advance(old);
        self.anchors.push(Anchor { code: self.code_place, source: self.source_place, held: false });
    }
}

fn line_ends(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

/// A stretch of `source`; what lies outside the text is left out.
pub(super) fn part(source: &str, start: u32, end: u32) -> &str {
    let start = usize::try_from(start).unwrap_or(usize::MAX);
    let end = usize::try_from(end).unwrap_or(usize::MAX).min(source.len());
    source.get(start..end).unwrap_or_default()
}

/// From `code` on, up to the next anchor, the text is that of `source` on; or, when held, stands for `source` itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Anchor {
    code: Place,
    source: Place,
    held: bool,
}

/// The way back from places in the code to places in the source.
#[derive(Clone, Debug, Default)]
pub(crate) struct Positions {
    /// One list a pass over the text, the last pass first.
    passes: Vec<Vec<Anchor>>,
}

impl Positions {
    /// Adds a pass that was made before those known so far.
    pub(super) fn push_earlier(&mut self, anchors: Vec<Anchor>) {
        if !anchors.is_empty() {
            self.passes.push(anchors);
        }
    }

    /// A place in the code as a place in the source as given.
    pub(crate) fn original(&self, place: Place) -> Place {
        self.passes.iter().fold(place, |place, anchors| {
            let next = anchors.partition_point(|anchor| anchor.code <= place);
            let Some(anchor) = next.checked_sub(1).and_then(|last| anchors.get(last)) else { return place };
            if anchor.held {
                anchor.source
            } else if anchor.code.line == place.line {
                let column = anchor.source.column.saturating_add(place.column.saturating_sub(anchor.code.column));
                Place { line: anchor.source.line, column }
            } else {
                let line = anchor.source.line.saturating_add(place.line.saturating_sub(anchor.code.line));
                Place { line, column: place.column }
            }
        })
    }
}

#[cfg(test)]
mod tests;
