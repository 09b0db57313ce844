//! A stack that is deep enough for whatever the parser meets in a text.
//!
//! The parser and the walks over its tree recurse, and each level of that takes at least one token. [`need`] adds up
//! what each token of a text could need at most. It knows no strings and no comments, so it can only be too much; the
//! stack is deep enough by arithmetic, and the checks of [`super::nesting`] only keep small what is touched of it.

/// Units of stack, measured and doubled at least. Optimised, a `[` in a type needs 1.7 KiB, `class` and `keyof` 0.6 KiB,
/// `!` and `+` 0.2 KiB; not optimised 4.5, 1.5 and 0.7 KiB. The build script tells which it is.
const UNIT: usize = if cfg!(chrysalid_unoptimized) { 640 } else { 256 };
const HEAVY: u8 = 16;
const WORD: u8 = 6;
const LIGHT: u8 = 3;
/// Closing brackets, separators, quotes and white space make no level.
const NONE: u8 = 0;

/// What everything takes that does not depend on the text.
const BASE: usize = 96 * 1024;

/// Runs `work`, which parses and walks `text`, here or on a stack of its own.
pub(super) fn with_room<T>(need: usize, work: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(need, need, work)
}

/// What a text may take: bytes of stack, and tokens that could open a level.
pub(super) fn need(text: &str) -> (usize, usize) {
    let (mut total, mut tokens) = (0, 0);
    let mut inside = false;
    for byte in text.bytes() {
        let weight = WEIGHTS.get(usize::from(byte)).copied().unwrap_or(HEAVY);
        let is_word = weight == WORD;
        if weight != NONE && !(is_word && inside) {
            total += usize::from(weight);
            tokens += 1;
        }
        inside = is_word;
    }
    (BASE.saturating_add(usize::saturating_mul(total, UNIT)), tokens)
}

const WEIGHTS: [u8; 256] = {
    let mut weights = [NONE; 256];
    let mut byte = 0;
    while byte < 256 {
        #[expect(clippy::indexing_slicing, clippy::cast_possible_truncation, reason = "a constant, bound by the loop")]
        {
            weights[byte] = match byte as u8 {
                b')' | b']' | b'}' | b',' | b';' | b'"' | b'\'' | 0..=b' ' | 127 | 0x80..0xc0 => NONE,
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'$' => WORD,
                b'+' | b'-' | b'~' | b'.' | b'/' | b'&' | b'|' | b'%' | b'^' | b'>' => LIGHT,
                // What is not ASCII may be white space between two words, so each character counts, by its first byte.
                _ => HEAVY,
            };
        }
        byte += 1;
    }
    weights
};

#[cfg(test)]
mod tests;
