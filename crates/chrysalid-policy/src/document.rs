//! TOML text with the place of each key and value, and errors that say where and what could stand there.

use std::fmt;
use std::ops::Range;
use std::time::Duration;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::Effects;
use crate::duration;
use crate::quote::{alternatives, quoted, quoted_short};

/// What is wrong with a text of rules, or with a grant, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RulesError {
    /// Counted from 1.
    pub line: u32,
    /// Counted from 1, in code points.
    pub column: u32,
    /// What is wrong, and what could stand there.
    pub message: String,
}

impl fmt::Display for RulesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for RulesError {}

pub(crate) type Result<T> = std::result::Result<T, RulesError>;

/// A text of which `shift` bytes at the front are ours.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'t> {
    pub(crate) text: &'t str,
    pub(crate) shift: usize,
}

impl Source<'_> {
    /// The line and column of a byte, from 1.
    pub(crate) fn place(&self, byte: usize) -> (u32, u32) {
        let bounded = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let start = self.text.get(..byte).unwrap_or(self.text);
        let lines = start.matches('\n').count();
        let last = start.rsplit('\n').next().unwrap_or_default();
        let ours = if lines == 0 { self.shift } else { 0 };
        (bounded(lines + 1), bounded(last.chars().count().saturating_sub(ours) + 1))
    }

    pub(crate) fn error(&self, at: &Range<usize>, message: impl Into<String>) -> RulesError {
        let (line, column) = self.place(at.start);
        RulesError { line, column, message: message.into() }
    }

    pub(crate) fn toml_error(&self, error: &toml::de::Error) -> RulesError {
        self.error(&error.span().unwrap_or(0..0), format!("not TOML: {}", error.message()))
    }
}

/// A value, its place, and the key that it stands under.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node<'a> {
    pub(crate) source: Source<'a>,
    pub(crate) name: &'a str,
    pub(crate) value: &'a Spanned<DeValue<'a>>,
}

impl<'a> Node<'a> {
    pub(crate) fn get(self) -> &'a DeValue<'a> {
        self.value.get_ref()
    }

    pub(crate) fn error(self, message: impl Into<String>) -> RulesError {
        self.source.error(&self.value.span(), message)
    }

    /// The error of a value that should be something else.
    pub(crate) fn wrong(self, expected: &str) -> RulesError {
        self.error(format!("{} takes {expected}, not {}", self.name, shown(self.get())))
    }

    pub(crate) fn text(self, expected: &str) -> Result<&'a str> {
        self.get().as_str().ok_or_else(|| self.wrong(expected))
    }

    pub(crate) fn table(self, expected: &str) -> Result<Table<'a>> {
        match self.get() {
            DeValue::Table(table) => Ok(Table::new(self.source, self.value.span(), table)),
            _ => Err(self.wrong(expected)),
        }
    }

    /// The items of a list.
    pub(crate) fn list(self, expected: &str) -> Result<Vec<Self>> {
        let items = self.get().as_array().ok_or_else(|| self.wrong(expected))?;
        Ok(items.iter().map(|value| Self { value, ..self }).collect())
    }

    /// The items of a list that is not empty and has at most `most`.
    pub(crate) fn filled_list(self, most: usize, expected: &str) -> Result<Vec<Self>> {
        let items = self.list(expected)?;
        if items.is_empty() {
            return Err(self.wrong(&format!("{expected}, at least one")));
        }
        match items.get(most) {
            Some(item) => Err(item.error(format!("{} takes at most {most} values, not {}", self.name, items.len()))),
            None => Ok(items),
        }
    }

    /// One text, or a list of texts that is not empty; each with its place.
    pub(crate) fn texts(self, most: usize) -> Result<Vec<(Self, &'a str)>> {
        let items = match self.get() {
            DeValue::Array(_) => self.filled_list(most, "a text, or a list of texts")?,
            _ => vec![self],
        };
        items.into_iter().map(|item| Ok((item, item.text("a text, or a list of texts")?))).collect()
    }

    /// One of the names.
    pub(crate) fn choice<T: Copy>(self, choices: &[(&str, T)]) -> Result<T> {
        let wanted = self.get().as_str();
        let found = choices.iter().find(|(name, _)| Some(*name) == wanted);
        found.map(|(_, value)| *value).ok_or_else(|| self.wrong(&alternatives(choices.iter().map(|(name, _)| *name))))
    }

    pub(crate) fn effects(self) -> Result<Effects> {
        let choices: Vec<(&str, Effects)> = Effects::ALL.names().zip(Effects::ALL.each()).collect();
        let items = match self.get() {
            DeValue::Array(_) => self.filled_list(choices.len(), "a list of effects")?,
            _ => vec![self],
        };
        items.into_iter().try_fold(Effects::NONE, |sum, item| Ok(sum | item.choice(&choices)?))
    }

    pub(crate) fn duration(self) -> Result<Duration> {
        duration::parse(self.text(duration::EXPECTED)?).ok_or_else(|| self.wrong(duration::EXPECTED))
    }

    pub(crate) fn integer(self) -> Option<i64> {
        let integer = self.get().as_integer()?;
        i64::from_str_radix(integer.as_str(), integer.radix()).ok()
    }

    /// A value without places. The parser bounds how deep it is.
    pub(crate) fn plain(self) -> Result<toml::Value> {
        Ok(match self.get() {
            DeValue::String(text) => toml::Value::String(text.clone().into_owned()),
            DeValue::Boolean(value) => toml::Value::Boolean(*value),
            DeValue::Datetime(moment) => toml::Value::Datetime(*moment),
            DeValue::Integer(_) => {
                toml::Value::Integer(self.integer().ok_or_else(|| self.wrong("a number within 64 bits"))?)
            }
            DeValue::Float(float) => toml::Value::Float(float.as_str().parse().map_err(|_| self.wrong("a number"))?),
            DeValue::Array(_) => {
                toml::Value::Array(self.list("a list")?.into_iter().map(Self::plain).collect::<Result<_>>()?)
            }
            DeValue::Table(_) => toml::Value::Table(self.table("a table")?.plain()?),
        })
    }
}

/// A value in few words.
fn shown(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => quoted_short(text),
        DeValue::Integer(number) => number.to_string(),
        DeValue::Float(number) => number.to_string(),
        DeValue::Boolean(value) => value.to_string(),
        DeValue::Datetime(moment) => moment.to_string(),
        DeValue::Array(items) if items.is_empty() => "an empty list".to_owned(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(entries) if entries.is_empty() => "an empty table".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}

/// A key of a table, its place and its value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry<'a> {
    pub(crate) key: &'a str,
    pub(crate) start: usize,
    pub(crate) node: Node<'a>,
}

impl Entry<'_> {
    /// An error at the key.
    pub(crate) fn error(&self, message: impl Into<String>) -> RulesError {
        self.node.source.error(&(self.start..self.start), message)
    }
}

/// A table, its entries in the order of the text.
#[derive(Clone, Debug)]
pub(crate) struct Table<'a> {
    source: Source<'a>,
    span: Range<usize>,
    pub(crate) entries: Vec<Entry<'a>>,
}

impl<'a> Table<'a> {
    pub(crate) fn new(source: Source<'a>, span: Range<usize>, table: &'a DeTable<'a>) -> Self {
        let entry = |(key, value): (&'a Spanned<_>, &'a Spanned<DeValue<'a>>)| {
            let name: &'a std::borrow::Cow<'a, str> = key.get_ref();
            Entry { key: name, start: key.span().start, node: Node { source, name, value } }
        };
        let mut entries: Vec<Entry<'a>> = table.iter().map(entry).collect();
        entries.sort_by_key(|entry| entry.start);
        Self { source, span, entries }
    }

    pub(crate) fn error(&self, message: impl Into<String>) -> RulesError {
        self.source.error(&self.span, message)
    }

    /// The byte at which it begins.
    pub(crate) fn start(&self) -> usize {
        self.span.start
    }

    pub(crate) fn entry(&self, key: &str) -> Option<&Entry<'a>> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    pub(crate) fn get(&self, key: &str) -> Option<Node<'a>> {
        self.entry(key).map(|entry| entry.node)
    }

    /// That there are no keys but these.
    pub(crate) fn allow_keys(&self, known: &[&str]) -> Result<()> {
        match self.entries.iter().find(|entry| !known.contains(&entry.key)) {
            Some(entry) => {
                let known = alternatives(known.iter().copied());
                Err(entry.error(format!("{} is no key here; there is {known}", quoted(entry.key))))
            }
            None => Ok(()),
        }
    }

    pub(crate) fn plain(&self) -> Result<toml::Table> {
        self.entries.iter().map(|entry| Ok((entry.key.to_owned(), entry.node.plain()?))).collect()
    }
}
