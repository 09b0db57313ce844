//! Brackets at the end of a text: the last braces, and what is still open.

use super::Scan;

/// Braces outside of all brackets: the offsets of both, and whether `as` or `satisfies` stands behind them.
#[derive(Debug, PartialEq, Eq)]
pub(in super::super) struct Braces {
    pub(in super::super) open: usize,
    pub(in super::super) close: usize,
    pub(in super::super) cast: bool,
}

/// The last braces with nothing behind them but `;`, comments and, where no value was expected, a cast.
pub(in super::super) fn last_braces(text: &str) -> Option<Braces> {
    let mut scan = Scan::new(text);
    let mut open = None;
    let mut found: Option<Braces> = None;
    while let Some(byte) = scan.peek(0) {
        let (start, depth, over) = (scan.at, scan.frames.len(), scan.statement_over);
        scan.token(byte).ok()?;
        let in_cast = !over && found.as_ref().is_some_and(|braces| braces.cast);
        match (depth, scan.frames.len()) {
            (1, 1) if scan.skipped || byte == b';' || in_cast => {}
            (1 | 2, 2 | 1) if in_cast => {}
            (1, 2) => {
                open = scan.frames.last().filter(|_| byte == b'{').map(|frame| (start, frame.value));
                found = None;
            }
            (2, 1) if byte == b'}' => found = open.map(|(open, _)| Braces { open, close: start, cast: false }),
            (1, 1) => {
                let word = text.get(start..scan.at).unwrap_or_default();
                let begins_cast = matches!(word, "as" | "satisfies") && open.is_some_and(|(_, value)| !value);
                found = found.filter(|_| begins_cast && !over).map(|braces| Braces { cast: true, ..braces });
            }
            _ => {}
        }
    }
    found
}

/// The offset of the innermost bracket that is open at the end of the text.
pub(in super::super) fn unclosed(text: &str) -> Option<usize> {
    let mut scan = Scan::new(text);
    while let Some(byte) = scan.peek(0) {
        scan.token(byte).ok()?;
    }
    scan.frames.get(1..)?.last().map(|frame| frame.at)
}
