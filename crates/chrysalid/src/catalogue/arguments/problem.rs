//! One thing that is wrong, and how it is told.

use serde_json::Value as Json;

use crate::catalogue::names;

/// Characters of a name or value that come out of an argument or a schema.
const MAX_NAME: usize = 40;
/// Characters of a path, of which the end is kept.
const MAX_PATH: usize = 120;
/// Values and names that are listed one by one.
const MAX_LISTED: usize = 8;

/// Paths are written and cut, without quotes; empty for the argument itself.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Problem {
    Missing {
        path: String,
        hint: String,
    },
    /// Fields of which any would do.
    MissingAny(Vec<String>),
    Unknown {
        path: String,
        near: Option<String>,
        known: Vec<String>,
    },
    /// Not of the type; `depth` is the length of the path.
    Type {
        path: String,
        depth: usize,
        wanted: Vec<String>,
        got: &'static str,
    },
    OneOf {
        path: String,
        values: Vec<String>,
    },
    Other {
        path: String,
        text: String,
    },
}

impl Problem {
    /// `alone` when all that is wrong is unknown fields.
    pub(super) fn text(&self, alone: bool) -> String {
        match self {
            Self::Missing { path, hint } => format!("missing {} ({hint})", quoted(path)),
            Self::MissingAny(paths) => {
                let paths: Vec<String> = paths.iter().map(|path| quoted(path)).collect();
                format!("missing {}", or(&paths))
            }
            Self::Unknown { path, near, known } => {
                let field = if alone { "unknown field" } else { "unknown" };
                let hint = match near {
                    Some(near) => format!(" (did you mean {}?)", quoted(near)),
                    None if known.is_empty() => String::new(),
                    None => format!(" (known: {})", list(known)),
                };
                format!("{field} {}{hint}", quoted(path))
            }
            Self::Type { path, wanted, got, .. } => format!("{} must be {}, got {got}", subject(path), or(wanted)),
            Self::OneOf { path, values } => match values.as_slice() {
                [only] => format!("{} must be {only}", subject(path)),
                _ => format!("{} must be one of {}", subject(path), list(values)),
            },
            Self::Other { path, text } => format!("{} {text}", subject(path)),
        }
    }
}

/// A step from a value to a part of it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step<'a> {
    Field(&'a str),
    Item(usize),
}

/// `filter.from`, `rows[2].id`.
pub(super) fn path(steps: &[Step<'_>]) -> String {
    let mut text = String::new();
    for step in steps {
        match step {
            Step::Field(name) => {
                text.push_str(if text.is_empty() { "" } else { "." });
                text.push_str(&cut(name));
            }
            Step::Item(index) => text.extend(["[", &index.to_string(), "]"]),
        }
    }
    let over = text.chars().count().saturating_sub(MAX_PATH);
    if over > 0 { ['…'].into_iter().chain(text.chars().skip(over)).collect() } else { text }
}

/// At most 40 characters, with a mark where there were more.
pub(super) fn cut(text: &str) -> String {
    let mut chars = text.chars();
    let mut kept: String = chars.by_ref().take(MAX_NAME).collect();
    if chars.next().is_some() {
        kept.push('…');
    }
    kept
}

/// A value of a schema, cut.
pub(super) fn literal(value: &Json) -> String {
    match value {
        Json::String(text) => names::quote(&cut(text)),
        Json::Array(_) => "a list".to_owned(),
        Json::Object(_) => "an object".to_owned(),
        other => cut(&other.to_string()),
    }
}

/// `a string`, `null`: what a value is.
pub(super) fn kind(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "a boolean",
        Json::Number(_) => "a number",
        Json::String(_) => "a string",
        Json::Array(_) => "an array",
        Json::Object(_) => "an object",
    }
}

/// A type of JSON Schema with its article.
pub(super) fn with_article(kind: &str) -> String {
    match kind {
        "null" => kind.to_owned(),
        "array" | "object" | "integer" => format!("an {kind}"),
        "string" | "number" | "boolean" => format!("a {kind}"),
        other => cut(other),
    }
}

/// `a, b or c`.
pub(super) fn or(parts: &[String]) -> String {
    match parts.split_last() {
        None => String::new(),
        Some((only, [])) => only.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
    }
}

/// `a, b, and 3 more`.
pub(super) fn list(parts: &[String]) -> String {
    let shown: Vec<&str> = parts.iter().take(MAX_LISTED).map(String::as_str).collect();
    let more = parts.len() - shown.len();
    let shown = shown.join(", ");
    if more > 0 { format!("{shown}, and {more} more") } else { shown }
}

pub(super) fn quoted(text: &str) -> String {
    names::quote(text)
}

fn subject(path: &str) -> String {
    if path.is_empty() { "the argument".to_owned() } else { quoted(path) }
}
