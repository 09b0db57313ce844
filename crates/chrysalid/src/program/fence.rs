//! Markdown's code fences around a whole program.

use super::place::split_line;

/// What a text is, as far as fences go.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fence {
    /// It does not begin with one.
    None,
    /// The text with the lines of its fence blanked.
    Removed(String),
    /// It begins with one that is not around the whole.
    Refused(String),
}

const LANGUAGES: &[&str] = &["", "js", "jsx", "mjs", "javascript", "ts", "tsx", "typescript"];

struct Line<'a> {
    start: usize,
    text: &'a str,
}

/// Takes the fence off a text that begins with one after blank lines.
pub(super) fn remove(text: &str) -> Fence {
    if !text.trim_start().starts_with(['`', '~']) {
        return Fence::None;
    }
    let lines = lines(text);
    let mut filled = lines.iter().filter(|line| !line.text.trim().is_empty());
    let Some(first) = filled.next() else { return Fence::None };
    let Some((mark, info)) = opening(first.text) else { return Fence::None };
    if !LANGUAGES.contains(&info.to_ascii_lowercase().as_str()) {
        // A one-line fence and a stray word look the same here.
        let shown: String = info.chars().filter(|character| !character.is_control()).take(40).collect();
        return Fence::Refused(format!("the code fence is marked `{shown}`; this tool runs JavaScript"));
    }
    let closings: Vec<&Line> =
        lines.iter().filter(|line| line.start > first.start && is_closing(line.text, mark)).collect();
    let last = filled.next_back().unwrap_or(first);
    match closings.last() {
        Some(closing) if closing.start < last.start && closings.len() == 1 && opening(last.text).is_none() => {
            Fence::Refused("there is text after the code fence; send only the JavaScript".to_owned())
        }
        Some(closing) if closing.start < last.start => {
            Fence::Refused("there is more than one code fence; send one program".to_owned())
        }
        Some(closing) => Fence::Removed(blank(text, &[first, closing])),
        None => Fence::Removed(blank(text, &[first])),
    }
}

/// Whether a line of the text begins with a fence.
pub(super) fn has_fence_line(text: &str) -> bool {
    lines(text).iter().any(|line| opening(line.text).is_some())
}

/// The fence's mark, and what stands behind it.
fn opening(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    let character = line.chars().next().filter(|character| matches!(character, '`' | '~'))?;
    let info = line.trim_start_matches(character);
    let (mark, _) = line.split_at_checked(line.len() - info.len())?;
    (mark.len() >= 3).then(|| (mark, info.trim()))
}

fn is_closing(line: &str, mark: &str) -> bool {
    opening(line).is_some_and(|(own, info)| info.is_empty() && own.starts_with(mark))
}

fn lines(text: &str) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    let mut rest = text;
    while let Some((line, after)) = split_line(rest) {
        lines.push(Line { start: text.len() - rest.len(), text: line });
        rest = after;
    }
    lines.push(Line { start: text.len() - rest.len(), text: rest });
    lines
}

/// The text with these lines blanked. Their bytes become spaces, so that no offset changes.
fn blank(text: &str, blanked: &[&Line]) -> String {
    let mut result = String::with_capacity(text.len());
    let mut cursor = 0;
    for line in blanked {
        result.push_str(text.get(cursor..line.start).unwrap_or_default());
        result.extend(std::iter::repeat_n(' ', line.text.len()));
        cursor = line.start + line.text.len();
    }
    result.push_str(text.get(cursor..).unwrap_or_default());
    result
}

#[cfg(test)]
mod tests;
