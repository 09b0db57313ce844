//! What can go wrong between a value and Rust types or JSON, and where in the value.

use std::fmt;

use serde::de::{Expected, Unexpected};

use super::tree::DanglingRef;

/// Why a value could not become another type, or another type a value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ValueError {
    /// Containers are nested too deep; a value without a container is 0 levels deep.
    #[error("value is {depth} levels deep, more than {limit}")]
    TooDeep {
        /// The depth at which it was given up.
        depth: usize,
        /// The greatest depth allowed.
        limit: usize,
    },
    /// There are too many values, counting what is shared once for each place that it appears in.
    #[error("value expands to more than {limit} nodes")]
    TooManyNodes {
        /// The greatest number allowed.
        limit: usize,
    },
    /// There is too much text and binary content, counting what is shared once for each place that it appears in.
    #[error("value expands to more than {limit} bytes")]
    TooManyBytes {
        /// The greatest size allowed, in bytes.
        limit: usize,
    },
    /// The value contains itself where the other side has no cycles.
    #[error("value contains itself at ${path}")]
    Cycle {
        /// Where the reference stands, such as `.children[2].parent`; cut at the front when very long.
        path: String,
    },
    /// A [`Value::Ref`](super::Value::Ref) does not point at an object before it.
    #[error("value refers to object {index} where only {begun} have begun")]
    DanglingRef {
        /// The number of the object.
        index: u32,
        /// How many objects there are before the reference.
        begun: usize,
    },
    /// The value has another shape than the type asks for, or a type has no counterpart in JavaScript.
    #[error("{message} at ${path}")]
    Mismatch {
        /// Where, such as `.items[2].count`; empty for the value itself.
        path: String,
        /// What was found and what was expected.
        message: String,
    },
}

/// A path longer than this many bytes is cut at the front, where all paths of a value look the same.
const PATH: usize = 200;

/// A key longer than this many characters is cut in a path.
const KEY: usize = 40;

/// One step of a path into a value.
#[derive(Clone, Copy)]
pub(super) enum Segment<'a> {
    Key(&'a str),
    Index(usize),
}

impl ValueError {
    pub(super) fn cycle() -> Self {
        Self::Cycle { path: String::new() }
    }

    pub(super) fn mismatch(message: impl Into<String>) -> Self {
        Self::Mismatch { path: String::new(), message: message.into() }
    }

    /// The same error seen from the container one level up.
    pub(super) fn within(mut self, segment: Segment<'_>) -> Self {
        if let Self::Cycle { path } | Self::Mismatch { path, .. } = &mut self
            && !path.starts_with('…')
        {
            *path = if path.len() > PATH { format!("…{path}") } else { format!("{segment}{path}") };
        }
        self
    }
}

impl fmt::Display for Segment<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = match self {
            Self::Index(index) => return write!(formatter, "[{index}]"),
            Self::Key(key) => key,
        };
        let plain = |symbol: char| symbol.is_ascii_alphanumeric() || symbol == '_' || symbol == '$';
        let short = key.chars().nth(KEY).is_none();
        if short && !key.is_empty() && key.chars().all(plain) && !key.starts_with(|first: char| first.is_ascii_digit())
        {
            write!(formatter, ".{key}")
        } else if short {
            write!(formatter, "[{key:?}]")
        } else {
            write!(formatter, "[{:?}…]", key.chars().take(KEY).collect::<String>())
        }
    }
}

impl From<DanglingRef> for ValueError {
    fn from(DanglingRef { index, begun }: DanglingRef) -> Self {
        Self::DanglingRef { index, begun }
    }
}

impl serde::ser::Error for ValueError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::mismatch(message.to_string())
    }
}

impl serde::de::Error for ValueError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::mismatch(message.to_string())
    }

    /// Says null, where serde says "unit value".
    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::mismatch(match unexpected {
            Unexpected::Unit => format!("invalid type: null, expected {expected}"),
            _ => format!("invalid type: {unexpected}, expected {expected}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_read_like_javascript_and_stay_short() {
        let error = ValueError::mismatch("bad").within(Segment::Key("a b")).within(Segment::Index(3));
        assert_eq!(error.within(Segment::Key("items")).to_string(), "bad at $.items[3][\"a b\"]");
        let mut error = ValueError::cycle();
        for _ in 0..1000 {
            error = error.within(Segment::Key(&"k".repeat(1000)));
        }
        assert!(error.to_string().len() < 400);
    }
}
