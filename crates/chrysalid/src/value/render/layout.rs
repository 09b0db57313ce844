//! Items of a container on one line, or each on its own.

use super::Layout;

/// Short items, such as numbers, share lines when there are more than this many.
const MANY: usize = 6;

/// What counts as short, in characters.
const SHORT: usize = 16;

/// `indent` is the column at which the container's own line begins; the items are already written for two more.
pub(super) fn join(layout: Layout, open: &str, parts: &[String], close: &str, indent: usize) -> String {
    if parts.is_empty() {
        return format!("{open}{close}");
    }
    let Layout::Broken { columns } = layout else {
        return on_one_line(open, parts, close);
    };
    let width = |text: &str| text.chars().count();
    let total = indent + width(open) + parts.iter().map(|part| width(part) + 2).sum::<usize>() + width(close) + 1;
    if total <= columns && !open.contains('\n') && !parts.iter().any(|part| part.contains('\n')) {
        return on_one_line(open, parts, close);
    }
    let separator = format!(",\n{:inner$}", "", inner = indent + 2);
    let body = if open.ends_with('[') && parts.len() > MANY && parts.iter().all(|part| width(part) <= SHORT) {
        filled_lines(parts, columns.saturating_sub(indent + 2)).join(&separator)
    } else {
        parts.join(&separator)
    };
    format!("{open}\n{:inner$}{body}\n{:indent$}{close}", "", "", inner = indent + 2)
}

fn on_one_line(open: &str, parts: &[String], close: &str) -> String {
    format!("{open} {} {close}", parts.join(", "))
}

fn filled_lines(parts: &[String], columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        match lines.last_mut() {
            Some(line) if line.len() + part.len() + 3 <= columns => {
                line.push_str(", ");
                line.push_str(part);
            }
            _ => lines.push(part.clone()),
        }
    }
    lines
}
