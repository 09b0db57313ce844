//! Text in quotes, as TOML and people read it.

use std::fmt::Write as _;

/// The text as a basic string of TOML, on one line.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            // Direction marks and their like would let a text look other than it is.
            _ if character.is_control() || is_invisible(character) => {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\U{:08X}", u32::from(character));
            }
            _ => out.push(character),
        }
    }
    out.push('"');
    out
}

fn is_invisible(character: char) -> bool {
    matches!(character, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// The same, with at most 60 characters of the text.
pub(crate) fn quoted_short(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((cut, _)) => quoted(text.get(..cut).unwrap_or_default()) + "...",
        None => quoted(text),
    }
}

/// The texts in quotes, with commas and an "or" before the last.
pub(crate) fn alternatives<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let mut texts: Vec<String> = texts.into_iter().map(quoted).collect();
    let last = texts.pop().unwrap_or_default();
    if texts.is_empty() { last } else { format!("{} or {last}", texts.join(", ")) }
}
