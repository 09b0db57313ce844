//! Lines and columns of a text, and the piece of a line that is shown with an error.
//!
//! A line ends at LF, CR LF or CR. Columns count code points from 1; a byte order mark at the head is no column.

use crate::value::reorders_or_hides;

/// A place in a text: line and column, both from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) line: u32,
    pub(crate) column: u32,
}

impl Place {
    pub(crate) const START: Self = Self { line: 1, column: 1 };

    /// The place of a byte offset; one that lies beyond the end or inside a character is moved back.
    pub(crate) fn of_offset(text: &str, offset: usize) -> Self {
        let mut place = Self::START;
        place.advance(text.get(..floor(text, offset)).unwrap_or(text));
        place
    }

    /// The place of what the guest calls a place: its columns count bytes of the line.
    pub(crate) fn of_bytes(text: &str, line: u32, byte_column: u32) -> Self {
        let bytes = usize::try_from(byte_column.saturating_sub(1)).unwrap_or(usize::MAX);
        let column = line_of(text, line).map_or(byte_column, |(_, line)| {
            let before = line.get(..floor(line, bytes)).unwrap_or(line);
            count(before).saturating_add(1)
        });
        Self { line, column }
    }

    /// The byte offset of this place, if the text has it.
    pub(crate) fn offset_in(self, text: &str) -> Option<usize> {
        let unmarked = text.strip_prefix('\u{feff}').unwrap_or(text);
        let (begin, line) = line_of(unmarked, self.line)?;
        let before = usize::try_from(self.column).ok()?.checked_sub(1)?;
        let (within, _) = line.char_indices().nth(before)?;
        Some(text.len() - unmarked.len() + begin + within)
    }

    /// Moves over `text`, which follows this place.
    pub(super) fn advance(&mut self, text: &str) {
        let mut characters = text.chars().peekable();
        while let Some(character) = characters.next() {
            let ends = character == '\n' || (character == '\r' && characters.peek() != Some(&'\n'));
            if ends {
                self.line = self.line.saturating_add(1);
                self.column = 1;
            } else {
                self.column = self.column.saturating_add(1);
            }
        }
    }
}

/// A line of a text, cut, and where in it the caret stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Excerpt {
    pub(crate) text: String,
    /// Code points of `text` before the caret; at most all of them.
    pub(crate) caret: usize,
}

/// The line of `source` at `place`, cut to at most `width` code points around the column.
///
/// Tabs become spaces, other characters that could move a cursor or reorder text become U+FFFD. `None` if there is no
/// such line.
pub(crate) fn excerpt(source: &str, place: Place, width: usize) -> Option<Excerpt> {
    let (_, line) = line_of(source.strip_prefix('\u{feff}').unwrap_or(source), place.line)?;
    let length = line.chars().count();
    let column = usize::try_from(place.column.saturating_sub(1)).unwrap_or(usize::MAX).min(length);
    // The caret may stand behind the last character, so it needs a place of its own.
    let skipped = (column + 1).saturating_sub(width / 2 + 1).min((length + 1).saturating_sub(width));
    let text = line.chars().skip(skipped).take(width).map(visible).collect();
    Some(Excerpt { text, caret: (column - skipped).min(width) })
}

fn visible(character: char) -> char {
    match character {
        '\t' => ' ',
        _ if character.is_control() || reorders_or_hides(character) => '\u{fffd}',
        _ => character,
    }
}

/// The offset of a line, and its text without its end.
fn line_of(text: &str, line: u32) -> Option<(usize, &str)> {
    let mut rest = text;
    for _ in 1..line {
        let (_, after) = split_line(rest)?;
        rest = after;
    }
    Some((text.len() - rest.len(), split_line(rest).map_or(rest, |(first, _)| first)))
}

/// The first line without its end, and what follows the end.
pub(super) fn split_line(text: &str) -> Option<(&str, &str)> {
    let end = text.bytes().position(|byte| byte == b'\n' || byte == b'\r')?;
    let (line, rest) = text.split_at_checked(end)?;
    let after = rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix(['\r', '\n']))?;
    Some((line, after))
}

fn floor(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

pub(super) fn count(text: &str) -> u32 {
    u32::try_from(text.chars().count()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
