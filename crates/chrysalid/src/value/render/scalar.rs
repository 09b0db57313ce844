//! Text, keys, bytes and large numbers as people see them. Nothing passes that a terminal would obey, or that would
//! make text read other than it is.

use std::fmt::Write;

use crate::defence::{Defence, stands};
use crate::value::BigInt;

/// Decimal text of longer numbers takes long and says little.
const DECIMAL_BITS: u64 = 4096;

/// How many bytes of a buffer are shown.
const BYTES: usize = 50;

/// How many characters of a key are shown.
const KEY: usize = 100;

pub(super) fn big_int(number: &BigInt) -> String {
    if number.bits() <= DECIMAL_BITS {
        return format!("{number}n");
    }
    let sign = if number.is_negative() { "-" } else { "" };
    let hex = number.magnitude_hex();
    format!("{sign}0x{}…n ({} bits)", hex.get(..32).unwrap_or(&hex), number.bits())
}

pub(super) fn bytes(content: &[u8]) -> String {
    let mut parts: Vec<_> = content.iter().take(BYTES).map(|byte| format!("{byte:02x}")).collect();
    parts.extend(more(content.len().saturating_sub(BYTES), "byte", "bytes"));
    format!("<{}>", parts.join(" "))
}

/// A property's name, in quotes unless it is an identifier; computed where a literal would set the prototype.
pub(super) fn key(name: &str) -> String {
    if name == "__proto__" {
        return "['__proto__']".into();
    }
    let plain = |symbol: char| symbol.is_ascii_alphanumeric() || symbol == '_' || symbol == '$';
    let identifier = !name.starts_with(|first: char| first.is_ascii_digit()) && name.chars().all(plain);
    if identifier && !name.is_empty() && name.len() <= KEY { name.into() } else { quoted(name, KEY) }
}

/// A string in the quotes that need the least escaping, and how much of it was left out.
pub(super) fn quoted(text: &str, characters: usize) -> String {
    let (shown, left_out) = limit(text, characters);
    let quote = ['\'', '"', '`'].into_iter().find(|quote| !shown.contains(*quote)).unwrap_or('\'');
    let mut output = String::from(quote);
    let mut symbols = shown.chars().peekable();
    while let Some(symbol) = symbols.next() {
        match symbol {
            '$' if quote == '`' && symbols.peek() == Some(&'{') => output.push_str("\\$"),
            '\n' => output.push_str("\\n"),
            '\t' => output.push_str("\\t"),
            '\\' => output.push_str("\\\\"),
            _ if symbol == quote => {
                output.push('\\');
                output.push(symbol);
            }
            _ => push_visible(&mut output, symbol),
        }
    }
    output.push(quote);
    output.extend(more(left_out, "character", "characters"));
    output
}

/// Text as it is but for what a terminal would obey; lines and tabs stay.
pub(crate) fn printable(text: &str) -> String {
    let mut output = String::with_capacity(text.len());
    for symbol in text.chars() {
        match symbol {
            '\n' | '\t' => output.push(symbol),
            _ if !stands(Defence::PrintableText) => output.push(symbol),
            _ => push_visible(&mut output, symbol),
        }
    }
    output
}

/// As [`printable`], on one line and of at most so many characters.
pub(super) fn escaped_line(text: &str, characters: usize) -> String {
    let (shown, left_out) = limit(text, characters);
    let mut output = printable(shown).replace('\n', "\\n").replace('\t', "\\t");
    if left_out > 0 {
        output.push('…');
    }
    output
}

/// The first so many characters, and how many are left out.
pub(super) fn limit(text: &str, characters: usize) -> (&str, usize) {
    match text.char_indices().nth(characters) {
        Some((end, _)) => {
            let (shown, rest) = text.split_at(end);
            (shown, rest.chars().count())
        }
        None => (text, 0),
    }
}

/// `... 3 more items`, or nothing for none.
pub(super) fn more(count: usize, one: &str, several: &str) -> Option<String> {
    (count > 0).then(|| format!("... {count} more {}", if count == 1 { one } else { several }))
}

/// At most so many bytes; where something was cut off, `…` stands at the end.
pub(super) fn cut(mut text: String, bytes: usize) -> String {
    if text.len() > bytes {
        text.truncate(text.floor_char_boundary(bytes.saturating_sub('…'.len_utf8())));
        if bytes >= '…'.len_utf8() {
            text.push('…');
        }
    }
    text
}

fn push_visible(output: &mut String, symbol: char) {
    let _ = match u32::from(symbol) {
        code @ (0..0x20 | 0x7f..0xa0) => write!(output, "\\x{code:02x}"),
        code if reorders_or_hides(symbol) => write!(output, "\\u{{{code:x}}}"),
        _ => output.write_char(symbol),
    };
}

/// Marks of direction, separators of lines, and invisible symbols. The two joiners are spared: words and emoji need
/// them.
pub(crate) fn reorders_or_hides(symbol: char) -> bool {
    matches!(
        symbol,
        '\u{ad}'
            | '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'
            | '\u{200e}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_chosen_to_escape_least() {
        assert_eq!(quoted("a", 9), "'a'");
        assert_eq!(quoted("it's", 9), "\"it's\"");
        assert_eq!(quoted("'\"", 9), "`'\"`");
        assert_eq!(quoted("'\"`\\", 9), "'\\'\"`\\\\'");
        assert_eq!(quoted("'\"${x}$", 9), "`'\"\\${x}$`");
        assert_eq!(quoted("abcdef", 4), "'abcd'... 2 more characters");
    }

    #[test]
    fn trojan_source() {
        assert_eq!(quoted("\u{202e}evil\u{1b}[2J\r", 99), "'\\u{202e}evil\\x1b[2J\\x0d'");
        assert_eq!(printable("a\n\tb\u{9b}31m\u{200b}\u{e0041}"), "a\n\tb\\x9b31m\\u{200b}\\u{e0041}");
        assert_eq!(key("a\u{2066}b"), "'a\\u{2066}b'");
    }

    #[test]
    fn cut_keeps_within_the_bound() {
        assert_eq!(cut("äöü".into(), 6), "äöü");
        assert_eq!(cut("äöüß".into(), 6), "ä…");
        assert_eq!(cut("abc".into(), 2), "");
    }
}
