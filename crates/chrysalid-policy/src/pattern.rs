//! Patterns of tool names: `*` stands for any run of characters without a dot, `**` for any run at all.
//!
//! Everything else stands for itself, byte for byte; upper and lower case differ. `mail.*` is `mail.send`, and not
//! `mail.drafts.send`; `mail.**` is both.

use std::fmt;

use crate::quote::quoted;

/// The longest pattern, in bytes.
pub(crate) const MAX_PATTERN: usize = 256;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Literal(String),
    WithoutDot,
    Any,
}

/// A pattern of names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Pattern {
    parts: Vec<Part>,
}

impl Pattern {
    /// Reads a pattern. The error says what is wrong with it.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Err("a pattern of tool names is not empty".to_owned());
        }
        if text.len() > MAX_PATTERN {
            return Err(format!("a pattern of tool names has at most {MAX_PATTERN} bytes, not {}", text.len()));
        }
        let mut parts = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let stars = rest.len() - rest.trim_start_matches('*').len();
            let taken = match stars {
                0 => {
                    let literal = rest.split('*').next().unwrap_or(rest);
                    parts.push(Part::Literal(literal.to_owned()));
                    literal.len()
                }
                1 => {
                    parts.push(Part::WithoutDot);
                    1
                }
                2 => {
                    parts.push(Part::Any);
                    2
                }
                _ => return Err(format!("{} has {stars} stars in a row; two at most", quoted(text))),
            };
            rest = rest.get(taken..).unwrap_or_default();
        }
        Ok(Self { parts })
    }

    /// The name, when the pattern stands for exactly one.
    pub(crate) fn exact(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part::Literal(name)] => Some(name),
            _ => None,
        }
    }

    /// Whether the name fits. Time is at most the length of the pattern times that of the name.
    pub(crate) fn matches(&self, name: &str) -> bool {
        if let Some(exact) = self.exact() {
            return exact == name;
        }
        if let Some(Part::Literal(start)) = self.parts.first()
            && !name.starts_with(start.as_str())
        {
            return false;
        }
        // ends[i]: the parts so far can stand for the first i bytes of the name.
        let name = name.as_bytes();
        let mut ends = vec![false; name.len() + 1];
        if let Some(start) = ends.first_mut() {
            *start = true;
        }
        for part in &self.parts {
            match part {
                Part::Literal(literal) => ends = after_literal(&ends, name, literal.as_bytes()),
                Part::WithoutDot => spread(&mut ends, name, |byte| byte != b'.'),
                Part::Any => spread(&mut ends, name, |_| true),
            }
        }
        ends.last().copied().unwrap_or(false)
    }
}

fn after_literal(ends: &[bool], name: &[u8], literal: &[u8]) -> Vec<bool> {
    let mut after = vec![false; ends.len()];
    let starts = ends.iter().enumerate().filter(|(_, reached)| **reached).map(|(start, _)| start);
    for start in starts.filter(|start| name.get(*start..).is_some_and(|rest| rest.starts_with(literal))) {
        if let Some(end) = after.get_mut(start + literal.len()) {
            *end = true;
        }
    }
    after
}

fn spread(ends: &mut [bool], name: &[u8], takes: impl Fn(u8) -> bool) {
    let mut reached = false;
    let before_each = [b'.'].iter().chain(name);
    for (index, (end, byte)) in ends.iter_mut().zip(before_each).enumerate() {
        reached = *end || (index > 0 && reached && takes(*byte));
        *end = reached;
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.parts.iter().try_for_each(|part| match part {
            Part::Literal(text) => f.write_str(text),
            Part::WithoutDot => f.write_str("*"),
            Part::Any => f.write_str("**"),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Pattern;

    #[test]
    fn names_fit() {
        let table = [
            ("pay", "pay", true),
            ("pay", "Pay", false),
            ("pay", "pay.now", false),
            ("*", "pay", true),
            ("*", "bank.pay", false),
            ("*", "", true),
            ("**", "bank.pay", true),
            ("**", "", true),
            ("bank.*", "bank.pay", true),
            ("bank.*", "bank.", true),
            ("bank.*", "bank", false),
            ("bank.*", "bank.a.b", false),
            ("bank.**", "bank.a.b", true),
            ("*.send", "mail.send", true),
            ("*.send", "a.mail.send", false),
            ("**.send", "a.mail.send", true),
            ("get*", "getUser", true),
            ("get*User", "getUser", true),
            ("*a*b*", "xxaxxbxx", true),
            ("*a*b*", "xxbxxaxx", false),
            ("p?y", "pay", false),
            ("p?y", "p?y", true),
            ("[ab]", "a", false),
            ("für.*", "für.x", true),
            ("*r", "für", true),
            ("**.*", "a.b.c", true),
            ("*.**", ".b.c", true),
        ];
        for (pattern, name, fits) in table {
            assert_eq!(Pattern::parse(pattern).unwrap().matches(name), fits, "{pattern} {name}");
        }
    }

    #[test]
    fn wrong_patterns_say_why() {
        let error = |text: &str| Pattern::parse(text).unwrap_err();
        assert_eq!(error(""), "a pattern of tool names is not empty");
        assert_eq!(error("a***"), "\"a***\" has 3 stars in a row; two at most");
        assert_eq!(error(&"x".repeat(257)), "a pattern of tool names has at most 256 bytes, not 257");
    }

    #[test]
    fn many_stars_take_no_longer() {
        let pattern = Pattern::parse(&"*a".repeat(128)).unwrap();
        assert!(!pattern.matches(&("a".repeat(100_000) + "b")));
        assert!(pattern.matches(&"a".repeat(100_000)));
    }

    /// What the words of the module say, with all the backtracking there can be.
    fn naive(pattern: &[u8], name: &[u8]) -> bool {
        match pattern {
            [] => name.is_empty(),
            [b'*', b'*', rest @ ..] => (0..=name.len()).any(|run| naive(rest, &name[run..])),
            [b'*', rest @ ..] => {
                (0..=name.len()).take_while(|run| !name[..*run].contains(&b'.')).any(|run| naive(rest, &name[run..]))
            }
            [first, rest @ ..] => name.first() == Some(first) && naive(rest, &name[1..]),
        }
    }

    proptest! {
        #[test]
        fn matches_what_the_words_say(pattern in "([ab.]|\\*|\\*\\*[ab.]){1,7}", name in "[ab.]{0,8}") {
            if let Ok(parsed) = Pattern::parse(&pattern) {
                prop_assert_eq!(parsed.matches(&name), naive(pattern.as_bytes(), name.as_bytes()));
                prop_assert_eq!(parsed.to_string(), pattern);
            }
        }
    }
}
