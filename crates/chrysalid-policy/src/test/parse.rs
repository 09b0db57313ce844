//! Tests as they are written in TOML.

use toml::de::DeValue;

use super::{Comparison, Place, Test, Tests, When, never};
use crate::document::{Entry, Node, Result};
use crate::domain::Domains;
use crate::folder::Folder;
use crate::literal::Literals;
use crate::moment::millis;
use crate::number::{Bound, MAX_FLOAT, Number};
use crate::path::Path;
use crate::quote::{alternatives, quoted};

/// The most values of a test that looks them up.
const MAX_VALUES: usize = 10_000;
/// The most paths of one rule or grant.
const MAX_PATHS: usize = 100;
/// The most values of a test that tries one after the other.
const MAX_TRIES: usize = 100;

const NAMES: [&str; 21] = [
    "is",
    "not",
    "in",
    "not_in",
    "above",
    "at_least",
    "below",
    "at_most",
    "starts_with",
    "not_starts_with",
    "ends_with",
    "not_ends_with",
    "contains",
    "not_contains",
    "within",
    "not_within",
    "domain_in",
    "domain_not_in",
    "longer_than",
    "shorter_than",
    "present",
];

impl When {
    /// Reads the table of paths and their tests.
    pub(crate) fn parse(node: Node<'_>) -> Result<Self> {
        let expected = "a table of paths and tests, such as { amount = { above = 100 } }";
        let table = node.table(expected)?;
        if table.entries.is_empty() {
            return Err(node.wrong(expected));
        }
        let mut when = Self::default();
        for entry in &table.entries {
            when.push(entry)?;
        }
        Ok(when)
    }

    /// Adds the tests of one more path. An error of the path has its place at the tests.
    pub(crate) fn add(&mut self, path: &str, tests: Node<'_>) -> Result<()> {
        self.push(&Entry { key: path, start: 0, node: tests })
    }

    fn push(&mut self, entry: &Entry<'_>) -> Result<()> {
        if self.paths.len() == MAX_PATHS {
            return Err(entry.error(format!("there are at most {MAX_PATHS} paths with tests")));
        }
        let tests = tests(entry)?;
        if self.paths.iter().any(|other| other.path == tests.path) {
            return Err(entry.error(format!("the path {} is there twice", quoted(&tests.path.to_string()))));
        }
        self.paths.push(tests);
        Ok(())
    }
}

fn tests(entry: &Entry<'_>) -> Result<Tests> {
    let path = Path::parse(entry.key).map_err(|message| entry.error(message))?;
    let tests = match entry.node.get() {
        DeValue::Table(_) => {
            let table = entry.node.table("a table of tests")?;
            if table.entries.is_empty() {
                return Err(entry.node.wrong("a value or a table of tests"));
            }
            table.entries.iter().map(|entry| test(entry, entry.node)).collect::<Result<Vec<_>>>()?
        }
        DeValue::Array(_) => return Err(entry.node.wrong("a value or a table of tests, such as { in = [...] }")),
        _ => vec![equal(entry.node, true, false)?],
    };
    if let Some(message) = never::why(&tests) {
        return Err(entry.node.error(message));
    }
    let (whole, each) = tests.into_iter().partition(Test::is_of_whole);
    Ok(Tests { path, whole, each })
}

fn test(entry: &Entry<'_>, node: Node<'_>) -> Result<Test> {
    let text = |place, negated| {
        let any = filled_texts(node)?.into_iter().map(|(_, text)| text.to_owned()).collect();
        Ok(Test::Text { place, any, negated })
    };
    match entry.key {
        "is" => equal(node, true, false),
        "not" => equal(node, true, true),
        "in" => equal(node, false, false),
        "not_in" => equal(node, false, true),
        "above" => order(node, Comparison::Above),
        "at_least" => order(node, Comparison::AtLeast),
        "below" => order(node, Comparison::Below),
        "at_most" => order(node, Comparison::AtMost),
        "starts_with" => text(Place::Start, false),
        "not_starts_with" => text(Place::Start, true),
        "ends_with" => text(Place::End, false),
        "not_ends_with" => text(Place::End, true),
        "contains" => text(Place::Anywhere, false),
        "not_contains" => text(Place::Anywhere, true),
        "within" => within(node, false),
        "not_within" => within(node, true),
        "domain_in" => domain(node, false),
        "domain_not_in" => domain(node, true),
        "longer_than" => size(node, true),
        "shorter_than" => size(node, false),
        "present" => match node.get() {
            DeValue::Boolean(wanted) => Ok(Test::Present(*wanted)),
            _ => Err(node.wrong("true or false")),
        },
        name => {
            let names = alternatives(NAMES);
            Err(entry.error(format!(
                "{} is no test; there is {names}. A path of several keys is in quotes: \"user.name\"",
                quoted(name)
            )))
        }
    }
}

fn equal(node: Node<'_>, one: bool, negated: bool) -> Result<Test> {
    let items = if one { vec![node] } else { node.filled_list(MAX_VALUES, "a list of values")? };
    let any = match items.first().map(|item| item.get()) {
        Some(DeValue::String(_)) => {
            let text = |item: Node<'_>| item.text("values of one kind").map(str::to_owned);
            Literals::Texts(items.into_iter().map(text).collect::<Result<_>>()?)
        }
        Some(DeValue::Boolean(_)) => {
            let bool = |item: Node<'_>| item.get().as_bool().ok_or_else(|| item.wrong("values of one kind"));
            Literals::Bools(items.into_iter().map(bool).collect::<Result<_>>()?)
        }
        _ if one => Literals::numbers(vec![number(node, "a text, a number, true or false")?]),
        _ => {
            let number = |item: Node<'_>| number(item, "texts, or numbers, or true and false");
            Literals::numbers(items.into_iter().map(number).collect::<Result<_>>()?)
        }
    };
    Ok(Test::Equal { any, one, negated })
}

fn number(node: Node<'_>, expected: &str) -> Result<Number> {
    match node.get() {
        DeValue::Integer(_) => {
            let value = node.integer().ok_or_else(|| node.wrong("a whole number within -2^63 and 2^63 - 1"))?;
            Ok(Number::Integer(value))
        }
        DeValue::Float(float) => match float.as_str().parse::<f64>() {
            Ok(value) if value.abs() <= MAX_FLOAT => Ok(Number::Float(value)),
            _ => Err(node.wrong("a number within -2^53 and 2^53")),
        },
        _ => Err(node.wrong(expected)),
    }
}

fn order(node: Node<'_>, how: Comparison) -> Result<Test> {
    let bound = match node.get() {
        DeValue::Datetime(moment) => match millis(moment) {
            Some(millis) => Bound::Time(millis, moment.to_string()),
            None => return Err(node.wrong("a date-time with its offset, such as 2026-01-31T12:00:00Z")),
        },
        _ => Bound::Number(number(node, "a number, or a date-time with its offset")?),
    };
    Ok(Test::Order { how, bound })
}

fn filled_texts(node: Node<'_>) -> Result<Vec<(Node<'_>, &str)>> {
    let texts = node.texts(MAX_TRIES)?;
    match texts.iter().find(|(_, text)| text.is_empty()) {
        Some((item, _)) => Err(item.wrong("texts that are not empty")),
        None => Ok(texts),
    }
}

fn within(node: Node<'_>, negated: bool) -> Result<Test> {
    let folder = |(item, text): (Node<'_>, &str)| {
        Folder::parse(text).map_err(|message| item.error(format!("{message}, not {}", quoted(text))))
    };
    let any = node.texts(MAX_TRIES)?.into_iter().map(folder).collect::<Result<_>>()?;
    Ok(Test::Within { any, negated })
}

fn domain(node: Node<'_>, negated: bool) -> Result<Test> {
    let mut any = Domains::default();
    for (item, text) in node.texts(MAX_VALUES)? {
        any.add(text).map_err(|message| item.error(format!("{message}, not {}", quoted(text))))?;
    }
    Ok(Test::Domain { any, negated })
}

fn size(node: Node<'_>, longer: bool) -> Result<Test> {
    let than = node.integer().and_then(|than| u64::try_from(than).ok());
    let than = than.ok_or_else(|| node.wrong("a whole number from 0"))?;
    Ok(Test::Size { longer, than })
}
