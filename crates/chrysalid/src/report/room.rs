//! Room in a report's text, in code points: how texts share it, and how one is cut to its share.

use unicode_segmentation::GraphemeCursor;

/// Less room than this for both ends of a text: then only its beginning is shown.
const BOTH_ENDS: usize = 40;

/// Less than this says nothing: then fewer pieces are shown.
const PIECE: usize = 40;

/// Code points.
pub(super) fn length(text: &str) -> usize {
    text.chars().count()
}

/// One or more lines of an element, and how they are made shorter.
#[derive(Debug)]
pub(super) struct Piece {
    text: String,
    keep: Keep,
}

#[derive(Debug)]
enum Keep {
    /// All of it.
    Whole,
    /// All of it or nothing.
    WholeOrNone,
    /// As much as a share of that weight holds.
    Start(usize),
    /// The same at both ends; the text is said where something is left out.
    Ends(usize, String),
}

impl Piece {
    pub(super) fn whole(text: impl Into<String>) -> Self {
        Self { text: text.into(), keep: Keep::Whole }
    }

    pub(super) fn whole_or_none(text: String) -> Self {
        Self { text, keep: Keep::WholeOrNone }
    }

    pub(super) fn start(text: String, weight: usize) -> Self {
        Self { text, keep: Keep::Start(weight) }
    }

    pub(super) fn ends(text: String, weight: usize, remark: impl Into<String>) -> Self {
        Self { text, keep: Keep::Ends(weight, remark.into()) }
    }

    /// The line break after it included.
    fn want(&self) -> usize {
        length(&self.text) + 1
    }

    fn weight(&self) -> Option<usize> {
        match self.keep {
            Keep::Start(weight) | Keep::Ends(weight, _) => Some(weight),
            Keep::Whole | Keep::WholeOrNone => None,
        }
    }

    fn cut(&self, room: usize) -> String {
        match &self.keep {
            Keep::Ends(_, remark) => ends(&self.text, room, remark),
            _ => start(&self.text, room),
        }
    }
}

/// What these pieces take when nothing is cut.
pub(super) fn want(pieces: &[Piece]) -> usize {
    pieces.iter().map(Piece::want).sum::<usize>().saturating_sub(1)
}

/// The pieces on lines of their own, within that room.
pub(super) fn fit(pieces: &[Piece], room: usize) -> String {
    if want(pieces) <= room {
        return pieces.iter().map(|piece| piece.text.as_str()).collect::<Vec<_>>().join("\n");
    }
    let elastic: Vec<_> = pieces.iter().filter_map(|piece| Some((piece.weight()?, piece.want()))).collect();
    let least = |claims: &[(usize, usize)]| claims.iter().map(|(_, want)| PIECE.min(*want)).sum::<usize>();
    let mut left = (room + 1).saturating_sub(fixed(pieces, |keep| matches!(keep, Keep::Whole)));
    let dropped = fixed(pieces, |keep| matches!(keep, Keep::WholeOrNone));
    let keeps_all = left >= dropped + least(&elastic);
    if keeps_all {
        left -= dropped;
    }
    let mut spent = 0;
    let holds = |claim: &&(usize, usize)| {
        spent += least(&[**claim]);
        spent <= left
    };
    let shown = elastic.iter().take_while(holds).count().max(1);
    let more = (elastic.len() > shown).then(|| format!("… {} more …", elastic.len() - shown));
    left = left.saturating_sub(more.as_deref().map_or(0, |more| length(more) + 1));
    let claims: Vec<_> = elastic.into_iter().take(shown).collect();
    let mut given = shares(left, &claims).into_iter();
    let mut lines: Vec<String> = Vec::new();
    for piece in pieces {
        match &piece.keep {
            Keep::Whole => lines.push(piece.text.clone()),
            Keep::WholeOrNone if keeps_all => lines.push(piece.text.clone()),
            Keep::WholeOrNone => {}
            _ => lines.extend(given.next().map(|given| piece.cut(given.saturating_sub(1)))),
        }
    }
    lines.extend(more);
    lines.retain(|line| !line.is_empty());
    ends(&lines.join("\n"), room, "")
}

fn fixed(pieces: &[Piece], which: impl Fn(&Keep) -> bool) -> usize {
    pieces.iter().filter(|piece| which(&piece.keep)).map(Piece::want).sum()
}

struct Claim {
    weight: usize,
    want: usize,
    given: Option<usize>,
}

/// What each of these gets, given as weight and want. Nobody gets more than it wants; what is left goes to the others by
/// their weights, so that none is pushed out by a longer one.
pub(super) fn shares(room: usize, wants: &[(usize, usize)]) -> Vec<usize> {
    let mut claims: Vec<_> = wants.iter().map(|&(weight, want)| Claim { weight, want, given: None }).collect();
    let mut left = room;
    loop {
        let weights: usize = claims.iter().filter(|claim| claim.given.is_none()).map(|claim| claim.weight).sum();
        let (mut spent, mut settled) = (0, false);
        for claim in claims.iter_mut().filter(|claim| claim.given.is_none()) {
            if claim.want.saturating_mul(weights) <= claim.weight.saturating_mul(left) {
                claim.given = Some(claim.want);
                spent += claim.want;
                settled = true;
            }
        }
        if !settled {
            let rest = |claim: Claim| claim.given.unwrap_or_else(|| left * claim.weight / weights.max(1));
            return claims.into_iter().map(rest).collect();
        }
        left -= spent;
    }
}

/// The beginning of a text.
pub(super) fn start(text: &str, room: usize) -> String {
    match (text.char_indices().nth(room), room.checked_sub(1)) {
        (None, _) => text.to_owned(),
        (Some(_), None) => String::new(),
        (Some(_), Some(room)) => format!("{}…", halves(text, room, Side::Before).0),
    }
}

/// The end of a text.
pub(super) fn end(text: &str, room: usize) -> String {
    match (length(text).checked_sub(room), room.checked_sub(1)) {
        (None | Some(0), _) => text.to_owned(),
        (_, None) => String::new(),
        (Some(over), Some(_)) => format!("…{}", halves(text, over + 1, Side::After).1),
    }
}

/// Beginning and end of a text, and between them a line about what is left out, with this remark. Where that has no
/// room, the beginning.
pub(super) fn ends(text: &str, room: usize, remark: &str) -> String {
    let total = length(text);
    if total <= room {
        return text.to_owned();
    }
    for remark in [remark, ""] {
        let mark = length(&left_out(text, remark)) + 2;
        if let Some(room) = room.checked_sub(mark).filter(|room| *room >= BOTH_ENDS) {
            return both_ends(text, total, room, remark);
        }
    }
    start(text, room)
}

fn both_ends(text: &str, total: usize, room: usize, remark: &str) -> String {
    let (mut head, _) = halves(text, room.div_ceil(2), Side::Before);
    if let Some((lines, _)) = head.rsplit_once('\n').filter(|(lines, _)| lines.len() >= head.len() / 2) {
        head = head.get(..=lines.len()).unwrap_or(head);
    }
    let (_, mut tail) = halves(text, total - (room - length(head)), Side::After);
    if let Some((_, lines)) = tail.split_once('\n').filter(|(_, lines)| lines.len() >= tail.len() / 2) {
        tail = lines;
    }
    let middle = text.get(head.len()..text.len() - tail.len()).unwrap_or_default();
    let line_break = if head.ends_with('\n') { "" } else { "\n" };
    format!("{head}{line_break}{}\n{tail}", left_out(middle, remark))
}

fn left_out(text: &str, remark: &str) -> String {
    let lines = match text.matches('\n').count() {
        0 => String::new(),
        lines => format!(" ({})", counted(lines, "line")),
    };
    format!("… {}{lines} left out{remark} …", counted(length(text), "character"))
}

/// `1 line`, `1,234 lines`.
fn counted(count: usize, noun: &str) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    format!("{text} {noun}{}", if count == 1 { "" } else { "s" })
}

#[derive(Clone, Copy)]
enum Side {
    Before,
    After,
}

/// The text in two, after so many code points, or at the next border of grapheme clusters on that side.
fn halves(text: &str, count: usize, side: Side) -> (&str, &str) {
    let at = text.char_indices().nth(count).map_or(text.len(), |(at, _)| at);
    let mut cursor = GraphemeCursor::new(at, text.len(), true);
    // Never an error, for the cursor sees all of the text.
    let at = match (cursor.is_boundary(text, 0), side) {
        (Ok(true), _) => at,
        (_, Side::Before) => cursor.prev_boundary(text, 0).ok().flatten().unwrap_or(0),
        (_, Side::After) => cursor.next_boundary(text, 0).ok().flatten().unwrap_or(text.len()),
    };
    text.split_at_checked(at).unwrap_or((text, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_fair() {
        assert_eq!(shares(100, &[(1, 10), (1, 20)]), [10, 20]);
        assert_eq!(shares(100, &[(1, 10), (1, 500)]), [10, 90]);
        assert_eq!(shares(100, &[(4, 500), (1, 500)]), [80, 20]);
        assert_eq!(shares(100, &[(4, 500), (3, 30), (3, 500)]), [40, 30, 30]);
        assert_eq!(shares(100, &[(1, 0), (1, 500)]), [0, 100]);
        assert_eq!(shares(0, &[(1, 5)]), [0]);
        assert!(shares(5, &[]).is_empty());
    }

    #[test]
    fn both_ends_are_kept() {
        let rows = (0..100).map(|row| format!("row {row}")).collect::<Vec<_>>().join("\n");
        assert_eq!(
            ends(&rows, 100, ""),
            "row 0\nrow 1\nrow 2\nrow 3\nrow 4\n… 632 characters (91 lines) left out …\nrow 96\nrow 97\nrow 98\nrow 99"
        );
        let text = format!("{}END", "x".repeat(2000));
        let cut = ends(&text, 120, "; see big");
        assert_eq!(length(&cut), 120);
        assert!(cut.contains("x\n… 1,923 characters left out; see big …\nx") && cut.ends_with("END"), "{cut}");
        assert_eq!(ends("abc", 2, ""), "a…");
        assert_eq!(ends("abc", 3, ""), "abc");
    }

    #[test]
    fn clusters_stay_whole() {
        let family = "👩‍👩‍👧‍👦";
        assert_eq!((family.len(), length(family)), (25, 7));
        let text = format!("ab{family}cd");
        assert_eq!(start(&text, 9), "ab…");
        assert_eq!(start(&text, 10), format!("ab{family}…"));
        assert_eq!(end(&text, 9), "…cd");
        assert_eq!(end(&text, 10), format!("…{family}cd"));
        assert_eq!(start("e\u{301}e\u{301}e", 2), "…");
        assert_eq!((start("abc", 0), end("abc", 0)), (String::new(), String::new()));
        assert_eq!(start("🇩🇪🇫🇷🇮🇹", 4), "🇩🇪…");
    }

    #[test]
    fn fewer_pieces_where_many_have_no_room() {
        let pieces: Vec<_> = (0..50).map(|n| Piece::start(format!("{n} {}", "x".repeat(50)), 1)).collect();
        let text = fit(&pieces, 120);
        assert_eq!(text.lines().last(), Some("… 47 more …"));
        assert!(length(&text) <= 120 && text.lines().count() == 4, "{text}");
    }
}
