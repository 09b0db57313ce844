//! Tests on arguments: a path, and what has to hold of the value there.
//!
//! Each test says yes, no, or that it cannot be told. What tightens holds when one of the values it looks at says yes
//! or cannot be told; what loosens needs a value, and a sure yes of all.

use std::cmp::Ordering;
use std::fmt;

use crate::argument::{Argument, View};
use crate::domain::Domains;
use crate::folder::Folder;
use crate::literal::Literals;
use crate::number::Bound;
use crate::path::Path;
use crate::quote::quoted;
use crate::truth::{Leaves, MAX_LEAVES, Outcome, Seen, Truth};

mod never;
mod parse;

/// Where a text has another in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Start,
    End,
    Anywhere,
}

/// How a value compares with a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Above,
    AtLeast,
    Below,
    AtMost,
}

/// One test of one value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Test {
    Equal { any: Literals, one: bool, negated: bool },
    Order { how: Comparison, bound: Bound },
    Text { place: Place, any: Vec<String>, negated: bool },
    Within { any: Vec<Folder>, negated: bool },
    Domain { any: Domains, negated: bool },
    Size { longer: bool, than: u64 },
    Present(bool),
}

impl Test {
    /// Whether it looks at a list as a whole and not at each item.
    fn is_of_whole(&self) -> bool {
        matches!(self, Self::Size { .. } | Self::Present(_))
    }

    fn truth(&self, seen: Seen<'_>) -> Truth {
        match (self, seen) {
            (_, Seen::Value(value)) => self.truth_of(value.view()),
            (Self::Present(wanted), Seen::Missing) => Truth::from(!wanted),
            (Self::Equal { negated, .. }, Seen::Missing) => Truth::from(*negated),
            (_, Seen::Missing | Seen::Hidden) => Truth::Unknown,
        }
    }

    fn truth_of(&self, value: View<'_>) -> Truth {
        match (self, value) {
            (_, View::Handle | View::Other) | (Self::Present(_), View::Null) => Truth::Unknown,
            (Self::Present(wanted), _) => Truth::from(*wanted),
            (Self::Equal { any, negated, .. }, value) => turned(any.contain(value), *negated),
            (Self::Order { how, bound }, value) => match bound.order_of(value) {
                Some(order) => Truth::from(how.holds(order)),
                None => Truth::Unknown,
            },
            (Self::Text { place, any, negated }, View::Text(text)) => {
                turned(Truth::from(any.iter().any(|part| place.has(text, part))), *negated)
            }
            (Self::Within { any, negated }, View::Text(path)) => {
                let under = any.iter().map(|folder| folder.holds(path)).fold(Truth::No, Truth::or);
                turned(under, *negated)
            }
            (Self::Domain { any, negated }, View::Text(address)) => turned(any.contain(address), *negated),
            (Self::Size { longer, than }, value) => match size(value) {
                Some(size) if *longer => Truth::from(size > *than),
                Some(size) => Truth::from(size < *than),
                None => Truth::Unknown,
            },
            (Self::Text { .. } | Self::Within { .. } | Self::Domain { .. }, _) => Truth::Unknown,
        }
    }

    /// Its name in a file.
    pub(crate) fn name(&self) -> &'static str {
        let either = |negated: bool, no: &'static str, yes: &'static str| if negated { no } else { yes };
        match self {
            Self::Equal { one: true, negated, .. } => either(*negated, "not", "is"),
            Self::Equal { negated, .. } => either(*negated, "not_in", "in"),
            Self::Order { how: Comparison::Above, .. } => "above",
            Self::Order { how: Comparison::AtLeast, .. } => "at_least",
            Self::Order { how: Comparison::Below, .. } => "below",
            Self::Order { how: Comparison::AtMost, .. } => "at_most",
            Self::Text { place: Place::Start, negated, .. } => either(*negated, "not_starts_with", "starts_with"),
            Self::Text { place: Place::End, negated, .. } => either(*negated, "not_ends_with", "ends_with"),
            Self::Text { place: Place::Anywhere, negated, .. } => either(*negated, "not_contains", "contains"),
            Self::Within { negated, .. } => either(*negated, "not_within", "within"),
            Self::Domain { negated, .. } => either(*negated, "domain_not_in", "domain_in"),
            Self::Size { longer, .. } => either(*longer, "longer_than", "shorter_than"),
            Self::Present(_) => "present",
        }
    }
}

fn turned(truth: Truth, negated: bool) -> Truth {
    if negated { !truth } else { truth }
}

fn size(value: View<'_>) -> Option<u64> {
    match value {
        View::Text(text) => u64::try_from(text.len()).ok(),
        View::Bytes(length) | View::List(length) | View::Map(length) => u64::try_from(length).ok(),
        _ => None,
    }
}

impl Place {
    fn has(self, text: &str, part: &str) -> bool {
        match self {
            Self::Start => text.starts_with(part),
            Self::End => text.ends_with(part),
            Self::Anywhere => text.contains(part),
        }
    }
}

impl Comparison {
    fn holds(self, order: Ordering) -> bool {
        match self {
            Self::Above => order.is_gt(),
            Self::AtLeast => order.is_ge(),
            Self::Below => order.is_lt(),
            Self::AtMost => order.is_le(),
        }
    }
}

impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn list<T>(items: impl IntoIterator<Item = T>, text: impl Fn(T) -> String) -> String {
            format!("[{}]", items.into_iter().map(text).collect::<Vec<_>>().join(", "))
        }
        write!(f, "{} = ", self.name())?;
        match self {
            Self::Equal { any, one: true, .. } => write!(f, "{any}"),
            Self::Equal { any, .. } => write!(f, "[{any}]"),
            Self::Order { bound, .. } => write!(f, "{bound}"),
            Self::Text { any, .. } => f.write_str(&list(any, |text| quoted(text))),
            Self::Within { any, .. } => f.write_str(&list(any, |folder| quoted(&folder.to_string()))),
            Self::Domain { any, .. } => f.write_str(&list(any.texts(), |text| quoted(&text))),
            Self::Size { than, .. } => write!(f, "{than}"),
            Self::Present(wanted) => write!(f, "{wanted}"),
        }
    }
}

/// The tests of the value at one path; all must hold.
#[derive(Clone, Debug, PartialEq)]
struct Tests {
    path: Path,
    /// Of the value as it is.
    whole: Vec<Test>,
    /// Of the value, or of each item of a list; all of them of the same item.
    each: Vec<Test>,
}

impl Tests {
    fn outcome(&self, argument: &dyn Argument) -> Outcome {
        let mut left = MAX_LEAVES;
        let test = |seen: Seen<'_>, left: &mut usize| self.outcome_of(seen, left);
        let mut leaves = Leaves::new(&test, &mut left);
        self.path.visit(argument, &mut leaves);
        leaves.outcome()
    }

    fn outcome_of(&self, seen: Seen<'_>, left: &mut usize) -> Outcome {
        let whole = Outcome::from(all(&self.whole, seen));
        let Seen::Value(value) = seen else {
            return whole.and(Outcome::from(all(&self.each, seen)));
        };
        let View::List(length) = value.view() else {
            return whole.and(Outcome::from(all(&self.each, seen)));
        };
        if self.each.is_empty() {
            return whole;
        }
        let test = |seen: Seen<'_>, _: &mut usize| Outcome::from(all(&self.each, seen));
        let mut items = Leaves::new(&test, left);
        for index in 0..length {
            if items.is_settled() {
                break;
            }
            items.see(value.item(index).map_or(Seen::Hidden, Seen::Value));
        }
        whole.and(items.outcome())
    }
}

fn all(tests: &[Test], seen: Seen<'_>) -> Truth {
    tests.iter().fold(Truth::Yes, |truth, test| truth.and(test.truth(seen)))
}

/// The tests of a rule or a grant; all must hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct When {
    paths: Vec<Tests>,
}

impl When {
    /// What the tests say of an argument. Without any, they hold.
    pub(crate) fn outcome(&self, argument: &dyn Argument) -> Outcome {
        let mut outcome = Outcome::ALWAYS;
        for tests in &self.paths {
            outcome = outcome.and(tests.outcome(argument));
            if !outcome.may {
                break;
            }
        }
        outcome
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }
}

/// As an inline table of TOML.
impl fmt::Display for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{ ")?;
        for (index, tests) in self.paths.iter().enumerate() {
            if index > 0 {
                f.write_str(", ")?;
            }
            let texts: Vec<String> = tests.whole.iter().chain(&tests.each).map(Test::to_string).collect();
            write!(f, "{} = {{ {} }}", key(&tests.path.to_string()), texts.join(", "))?;
        }
        f.write_str(" }")
    }
}

fn key(path: &str) -> String {
    let is_bare = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if !path.is_empty() && path.bytes().all(is_bare) { path.to_owned() } else { quoted(path) }
}

#[cfg(test)]
mod tests;
