//! Where in an argument a test looks: `to`, `user.name`, `items[].amount`.
//!
//! Keys are divided by dots. `[]` after a key is each item of the list there, and at the front each item of an
//! argument that is a list itself. A backslash takes a dot, a bracket or a backslash into a key: `'a\.b'`, in a
//! literal string of TOML, is the key `a.b`.

use std::fmt;

use crate::argument::{Argument, View};
use crate::truth::{Leaves, Seen};

/// The most steps of a path.
const MAX_STEPS: usize = 32;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Key(String),
    Each,
}

/// A path of keys into an argument.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Path {
    steps: Vec<Step>,
}

impl Path {
    /// Reads a path. The error says what is wrong with it.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut steps = Vec::new();
        let mut key = String::new();
        let mut characters = text.chars().peekable();
        let mut closed = false;
        loop {
            match characters.next() {
                Some('\\') => match characters.next() {
                    Some(character @ ('.' | '[' | ']' | '\\')) if !closed => key.push(character),
                    _ => return Err("a backslash stands before a dot, a bracket or a backslash of a key".to_owned()),
                },
                Some('[') if characters.next_if_eq(&']').is_some() => {
                    if !key.is_empty() {
                        steps.push(Step::Key(std::mem::take(&mut key)));
                    } else if !closed && !steps.is_empty() {
                        return Err("a key of a path is not empty".to_owned());
                    }
                    steps.push(Step::Each);
                    closed = true;
                }
                Some('[' | ']') => return Err("brackets in a path are \"[]\", after a key: each item".to_owned()),
                end @ (Some('.') | None) => {
                    if !key.is_empty() {
                        steps.push(Step::Key(std::mem::take(&mut key)));
                    } else if !closed {
                        return Err("a key of a path is not empty".to_owned());
                    }
                    closed = false;
                    if end.is_none() {
                        break;
                    }
                }
                Some(_) if closed => return Err("after \"[]\" comes a dot, or the end".to_owned()),
                Some(character) => key.push(character),
            }
        }
        if steps.len() > MAX_STEPS {
            return Err(format!("a path has at most {MAX_STEPS} steps, not {}", steps.len()));
        }
        Ok(Self { steps })
    }

    /// Shows each value that the path leads to. Of a map without the key it is "missing"; of anything that has no keys
    /// or items, that it cannot be told.
    pub(crate) fn visit<'a>(&self, argument: &'a dyn Argument, leaves: &mut Leaves<'a, '_>) {
        visit(&self.steps, argument, leaves);
    }
}

/// As deep as the path has steps.
fn visit<'a>(steps: &[Step], value: &'a dyn Argument, leaves: &mut Leaves<'a, '_>) {
    match (steps.split_first(), value.view()) {
        (None, _) => leaves.see(Seen::Value(value)),
        (Some((Step::Key(key), rest)), View::Map(_)) => match value.entry(key) {
            Some(entry) => visit(rest, entry, leaves),
            None => leaves.see(Seen::Missing),
        },
        (Some((Step::Each, rest)), View::List(length)) => {
            for index in 0..length {
                if leaves.is_settled() {
                    break;
                }
                match value.item(index) {
                    Some(item) => visit(rest, item, leaves),
                    None => leaves.see(Seen::Hidden),
                }
            }
        }
        (Some(_), _) => leaves.see(Seen::Hidden),
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, step) in self.steps.iter().enumerate() {
            match step {
                Step::Each => f.write_str("[]")?,
                Step::Key(key) => {
                    if index > 0 {
                        f.write_str(".")?;
                    }
                    for character in key.chars() {
                        if matches!(character, '.' | '[' | ']' | '\\') {
                            f.write_str("\\")?;
                        }
                        write!(f, "{character}")?;
                    }
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Path;

    #[test]
    fn paths_go_both_ways() {
        for text in
            ["to", "user.name", "items[].amount", "items[]", "[]", "[].to", "a[][].b", r"a\.b", r"a\[\]\\", "für dich"]
        {
            assert_eq!(Path::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn wrong_paths_say_why() {
        let empty = "a key of a path is not empty";
        let brackets = "brackets in a path are \"[]\", after a key: each item";
        let backslash = "a backslash stands before a dot, a bracket or a backslash of a key";
        let table = [
            ("", empty),
            (".", empty),
            ("a.", empty),
            (".a", empty),
            ("a..b", empty),
            ("a.[]", empty),
            ("a[0]", brackets),
            ("a]", brackets),
            ("a[", brackets),
            ("a[]b", "after \"[]\" comes a dot, or the end"),
            (r"a\n", backslash),
            (r"a\", backslash),
            (r"a[]\.b", backslash),
        ];
        for (text, message) in table {
            assert_eq!(Path::parse(text).unwrap_err(), message, "{text}");
        }
        assert_eq!(Path::parse(&"[]".repeat(33)).unwrap_err(), "a path has at most 32 steps, not 33");
    }
}
