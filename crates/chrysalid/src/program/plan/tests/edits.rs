//! Whatever is done to a program, it has a plan.

use proptest::prelude::*;

use super::{cases, tools};
use crate::program::plan::plan;

const PIECES: &[&str] = &[
    "tools",
    ".pay",
    "[",
    "]",
    "(",
    ")",
    "{",
    "}",
    "`",
    "${",
    "const t = tools;",
    "=>",
    "...",
    "?.",
    "await ",
    "\n",
    "class A {",
    "function f(",
    "eval",
    "this",
    "globalThis",
    ", ",
    ";",
    "=",
    "<!--",
    "\u{2028}",
    "é",
    "\"",
    "/",
    "as any",
    "with (tools) ",
    "for (const k in tools)",
    "export default ",
    "import x from \"m\";",
    "\\u0061",
];

fn edited(source: &str, edits: &[(prop::sample::Index, prop::sample::Index, u8)]) -> String {
    let mut text: Vec<char> = source.chars().collect();
    for (at, piece, kind) in edits {
        let place = at.index(text.len() + 1);
        let piece = PIECES[piece.index(PIECES.len())].chars();
        match kind % 3 {
            0 => drop(text.splice(place..place, piece)),
            1 => drop(text.drain(place..(place + usize::from(*kind) / 16).min(text.len()))),
            _ => drop(text.splice(place..(place + 3).min(text.len()), piece)),
        }
    }
    text.into_iter().collect()
}

/// One of the programs, with some edits.
pub(super) fn edited_program() -> impl Strategy<Value = String> {
    let edits = prop::collection::vec(any::<(prop::sample::Index, prop::sample::Index, u8)>(), 0..6);
    (any::<prop::sample::Index>(), edits).prop_map(|(program, edits)| {
        let programs = cases::all();
        edited(programs[program.index(programs.len())].0, &edits)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn every_text_has_a_plan(source in edited_program()) {
        let plan = plan(&source, &tools());
        prop_assert!(plan.tools.is_sorted_by(|one, other| one.name < other.name));
        prop_assert!(plan.tools.iter().all(|tool| !tool.places.is_empty() && tool.places.is_sorted()));
        prop_assert!(plan.refused.is_none() || plan.is_complete() && plan.tools.is_empty());
        prop_assert!(!plan.to_string().is_empty());
    }
}
