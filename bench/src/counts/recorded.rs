//! The file of recorded counts, and what differs from it by more than it may.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde::Deserialize;

pub(crate) type Counts<T> = BTreeMap<String, T>;

/// How much more or less a count may be than the recorded one, in percent. Instructions also move with what the compiler puts
/// together, which a change elsewhere can turn.
const MOST_PERCENT: u64 = 3;
const MOST_PERCENT_OF_INSTRUCTIONS: u64 = 4;

/// The unit of the host's work.
pub(crate) const INSTRUCTIONS: &str = "instructions";

#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Recorded {
    pub(crate) fuel: Counts<u64>,
    /// What the instructions were counted with.
    pub(crate) with: Counts<String>,
    pub(crate) instructions: Counts<u64>,
}

/// A line for each count that is not as recorded, which begins with its name.
pub(crate) fn compare(unit: &str, recorded: &Counts<u64>, found: &Counts<u64>) -> Vec<String> {
    let most = if unit == INSTRUCTIONS { MOST_PERCENT_OF_INSTRUCTIONS } else { MOST_PERCENT };
    let mut lines = Vec::new();
    for (name, now) in found {
        let Some(before) = recorded.get(name) else {
            lines.push(format!("{name}: {} {unit}, and nothing is recorded", grouped(*now)));
            continue;
        };
        // In hundredths, so that a bound of whole percent is exact.
        let (now_100, before_100) = (u128::from(*now) * 100, u128::from(*before) * 100);
        let margin = u128::from(*before) * u128::from(most);
        let (way, advice) = if now_100 > before_100 + margin {
            ("more", "")
        } else if now_100 + margin < before_100 {
            ("less", "; record it, so that it stays so")
        } else {
            continue;
        };
        #[expect(clippy::cast_precision_loss, reason = "a ratio for people, with one digit")]
        let percent = (*now as f64 / *before as f64 - 1.0).abs() * 100.0;
        let (now, before) = (grouped(*now), grouped(*before));
        lines.push(format!("{name}: {now} {unit}, {percent:.1} % {way} than the recorded {before}{advice}"));
    }
    let gone = recorded.keys().filter(|name| !found.contains_key(*name));
    lines.extend(gone.map(|name| format!("{name}: recorded, and there is no such work")));
    lines
}

/// Why instructions that were counted with one set of things say nothing about those of another.
pub(crate) fn difference(recorded: &Counts<String>, here: &Counts<String>) -> String {
    let none = "nothing".to_owned();
    let names = recorded.keys().chain(here.keys().filter(|name| !recorded.contains_key(*name)));
    let mut parts = Vec::new();
    for name in names {
        let (before, now) = (recorded.get(name).unwrap_or(&none), here.get(name).unwrap_or(&none));
        if before != now {
            parts.push(format!("{name} is {now:?}, not {before:?}"));
        }
    }
    format!("they were recorded elsewhere: {}", parts.join("; "))
}

fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

impl Recorded {
    pub(crate) fn read(file: &Path) -> Result<Self> {
        let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
        toml::from_str(&text).with_context(|| format!("cannot read {}", file.display()))
    }

    pub(crate) fn write(&self, file: &Path) -> Result<()> {
        fs::write(file, self.text()).with_context(|| format!("cannot write {}", file.display()))
    }

    fn text(&self) -> String {
        let mut text = format!(
            "# What work costs, by `cargo xtask counts --bless`. `cargo xtask test` fails when a count is more than\n\
             # {MOST_PERCENT} % away from the one here, {MOST_PERCENT_OF_INSTRUCTIONS} % in instructions.\n"
        );
        text += "\n# Fuel of guest work: the same on every machine.\n[fuel]\n";
        text.extend(self.fuel.iter().map(|(name, count)| format!("{name:?} = {count}\n")));
        text += "\n# What the instructions below were counted with: they are compared only where all of it is the same.\n[with]\n";
        text.extend(self.with.iter().map(|(name, version)| format!("{name:?} = {version:?}\n")));
        text += "\n# Instructions of the host's work.\n[instructions]\n";
        text.extend(self.instructions.iter().map(|(name, count)| format!("{name:?} = {count}\n")));
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts<T: Clone>(items: &[(&str, T)]) -> Counts<T> {
        items.iter().map(|(name, count)| ((*name).to_owned(), count.clone())).collect()
    }

    fn lines(before: u64, now: u64) -> Vec<String> {
        compare("fuel", &counts(&[("fib", before)]), &counts(&[("fib", now)]))
    }

    /// What is checked in.
    fn checked_in() -> Recorded {
        Recorded::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("counts.toml")).unwrap()
    }

    #[test]
    fn a_count_may_be_three_percent_off() {
        for now in [970, 1000, 1030] {
            assert_eq!(lines(1000, now), Vec::<String>::new());
        }
        assert_eq!(lines(1000, 1031), ["fib: 1,031 fuel, 3.1 % more than the recorded 1,000"]);
        let less = ["fib: 969 fuel, 3.1 % less than the recorded 1,000; record it, so that it stays so"];
        assert_eq!(lines(1000, 969), less);
        assert_eq!(lines(u64::MAX, u64::MAX), Vec::<String>::new());
    }

    #[test]
    fn what_only_one_side_has_is_told() {
        let found = compare("fuel", &counts(&[("a", 1), ("b", 1)]), &counts(&[("b", 1), ("c", 1_234_567)]));
        let told = ["c: 1,234,567 fuel, and nothing is recorded", "a: recorded, and there is no such work"];
        assert_eq!(found, told);
    }

    #[test]
    fn five_percent_on_any_recorded_count_is_told_with_its_name() {
        let recorded = checked_in();
        for counts in [&recorded.fuel, &recorded.instructions] {
            assert!(!counts.is_empty());
            assert_eq!(compare("units", counts, counts), Vec::<String>::new());
            for name in counts.keys() {
                let mut slower = counts.clone();
                slower.entry(name.clone()).and_modify(|count| *count += *count / 20);
                let lines = compare("units", counts, &slower);
                let [line] = lines.as_slice() else { panic!("{lines:?}") };
                assert!(line.starts_with(&format!("{name}: ")), "{line}");
                assert!(line.contains("5.0 % more than the recorded"), "{line}");
            }
        }
    }

    #[test]
    fn the_file_is_as_it_would_be_written() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("counts.toml");
        assert_eq!(fs::read_to_string(file).unwrap(), checked_in().text());
    }

    #[test]
    fn instructions_counted_elsewhere_are_told_apart() {
        let (there, here) = (counts(&[("a", "1".to_owned()), ("b", "2".into())]), counts(&[("b", "3".into())]));
        let told = "they were recorded elsewhere: a is \"nothing\", not \"1\"; b is \"3\", not \"2\"";
        assert_eq!(difference(&there, &here), told);
    }
}
