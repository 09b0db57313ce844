//! The attacks: programs of a few lines, in `bench/attacks`, one file for what they are aimed at.
//!
//! They mean the same on each host of QuickJS. All that is there beside the language is a function `tool`, which takes one
//! argument and gives a promise of what it answers; timers and the console are used where a host has them.

/// What an attack is aimed at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Memory,
    Cpu,
    Stack,
    Output,
    Calls,
}

impl Kind {
    pub(crate) const ALL: [Self; 5] = [Self::Memory, Self::Cpu, Self::Stack, Self::Output, Self::Calls];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Cpu => "cpu",
            Self::Stack => "stack",
            Self::Output => "output",
            Self::Calls => "calls",
        }
    }

    fn text(self) -> &'static str {
        match self {
            Self::Memory => include_str!("../../attacks/memory.js"),
            Self::Cpu => include_str!("../../attacks/cpu.js"),
            Self::Stack => include_str!("../../attacks/stack.js"),
            Self::Output => include_str!("../../attacks/output.js"),
            Self::Calls => include_str!("../../attacks/calls.js"),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Attack {
    pub(crate) kind: Kind,
    pub(crate) name: String,
    pub(crate) source: String,
}

impl Attack {
    pub(crate) fn path(&self) -> String {
        format!("{}/{}", self.kind.name(), self.name)
    }
}

/// A program with this value went on where a limit should have ended it.
pub(crate) const WENT_ON: &str = "went on";

const HEAD: &str = "\n//# ";

/// All of them, kind by kind.
pub(crate) fn attacks() -> impl Iterator<Item = Attack> {
    Kind::ALL.into_iter().flat_map(|kind| written(kind).chain(generated(kind)))
}

fn written(kind: Kind) -> impl Iterator<Item = Attack> {
    kind.text().split(HEAD).skip(1).map(move |part| {
        let (name, source) = part.split_once('\n').unwrap_or((part, ""));
        Attack { kind, name: name.trim().to_owned(), source: source.to_owned() }
    })
}

/// Sources that are themselves the attack, too long to be written down.
fn generated(kind: Kind) -> impl Iterator<Item = Attack> {
    let (times, sources): (usize, &[(&str, &str, &str, &str)]) = match kind {
        Kind::Stack => (
            100_000,
            &[
                ("source_of_brackets", "[", "", "]"),
                ("source_of_open_parentheses", "(", "", ""),
                ("source_of_blocks", "{", "", "}"),
                ("source_of_operators", "!", "1", ""),
            ],
        ),
        Kind::Cpu => (40_000, &[("source_of_guesses", "(a=", "1", ")"), ("source_of_generics", "f<", "T", ">")]),
        _ => (0, &[]),
    };
    sources.iter().map(move |(name, before, middle, after)| Attack {
        kind,
        name: (*name).to_owned(),
        source: [&before.repeat(times), *middle, &after.repeat(times)].concat(),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn each_attack_has_a_name_of_its_own_and_a_source() {
        let mut paths = HashSet::new();
        for attack in attacks() {
            assert!(!attack.source.trim().is_empty(), "{}", attack.path());
            assert!(!attack.name.contains(' '), "{}", attack.path());
            assert!(paths.insert(attack.path()), "{}", attack.path());
        }
        assert_eq!(paths.len(), 214);
    }

    #[test]
    fn a_source_ends_before_the_next_head() {
        let first = attacks().next().unwrap();
        assert_eq!(first.path(), "memory/array_flood");
        assert_eq!(first.source, "const all = []; for (;;) all.push(all.length);");
    }
}
