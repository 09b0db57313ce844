//! The short form of a catalogue that is too large to show: names and one line each, or fewer words still.

use std::collections::BTreeMap;

use super::names;

/// Groups of names that are counted one by one.
const MAX_GROUPS: usize = 100;

/// What one tool has in a list: how it is called and its first sentence.
pub(super) struct Line<'a> {
    pub(super) call: String,
    pub(super) raw: &'a str,
    pub(super) summary: String,
}

/// The list within `max` characters: lines, else names alone, else how many names begin alike.
pub(super) fn text(lines: &[Line<'_>], max: usize) -> String {
    let head = format!(
        "There are {} tools, too many to show in full. Find some with `await tools.$search({{ query: \"words\", limit: 5 }})`, \
         which gives `[{{ name, call, summary }}]`. Read the types of one with `await tools.$describe({{ name }})` before \
         you call it.\n\n",
        lines.len()
    );
    let full = joined(lines, |line| {
        let dash = if line.summary.is_empty() { "" } else { " — " };
        [&line.call, dash, &line.summary, "\n"].concat()
    });
    if full.chars().count() <= max {
        return head + &full;
    }
    let short = joined(lines, |line| [&line.call, "\n"].concat());
    if short.chars().count() <= max {
        return head + &short;
    }
    head + "Names by how they begin:\n" + &groups(lines, max)
}

fn joined<'a>(lines: &'a [Line<'a>], text: impl Fn(&'a Line<'a>) -> String) -> String {
    lines.iter().map(text).collect()
}

fn groups(lines: &[Line<'_>], max: usize) -> String {
    let mut groups: BTreeMap<String, usize> = BTreeMap::new();
    for line in lines {
        *groups.entry(group(line.raw)).or_default() += 1;
    }
    let mut text = String::new();
    let (mut shown, mut tools) = (0, 0);
    for (name, count) in &groups {
        let line = format!("{name}: {count}\n");
        if shown == MAX_GROUPS || text.chars().count() + line.chars().count() > max {
            break;
        }
        text.push_str(&line);
        shown += 1;
        tools += count;
    }
    if shown < groups.len() {
        let rest = format!("{} more beginnings: {}\n", groups.len() - shown, lines.len() - tools);
        text.push_str(&rest);
    }
    text
}

/// The namespace of a name, or its first word.
fn group(name: &str) -> String {
    if let Some((namespace, _)) = name.split_once('.') {
        return format!("{}.*", names::expression(namespace));
    }
    let first = names::words(name).into_iter().next().unwrap_or_default();
    let first: String = first.chars().take(40).collect();
    format!("{first}…")
}

#[cfg(test)]
mod tests {
    use super::{Line, text};

    fn lines(names: &[&'static str]) -> Vec<Line<'static>> {
        let line =
            |name: &&'static str| Line { call: format!("tools.{name}"), raw: name, summary: "Does it.".to_owned() };
        names.iter().map(line).collect()
    }

    #[test]
    fn less_is_said_of_each_as_room_gets_short() {
        let lines = lines(&["git.add", "git.commit", "getUser", "getOrder", "pay"]);
        let list = |max| text(&lines, max).split_once("\n\n").unwrap().1.to_owned();
        let full = "tools.git.add — Does it.\ntools.git.commit — Does it.\ntools.getUser — Does it.\n\
                    tools.getOrder — Does it.\ntools.pay — Does it.\n";
        assert_eq!(list(full.chars().count()), full);
        assert_eq!(list(100), "tools.git.add\ntools.git.commit\ntools.getUser\ntools.getOrder\ntools.pay\n");
        assert_eq!(list(60), "Names by how they begin:\nget…: 2\npay…: 1\ntools.git.*: 2\n");
        assert_eq!(list(8), "Names by how they begin:\nget…: 2\n2 more beginnings: 3\n");
    }
}
