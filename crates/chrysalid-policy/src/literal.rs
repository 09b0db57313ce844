//! Values of a rule that an argument has to equal. All of one list are of one kind.

use std::collections::BTreeSet;
use std::fmt;

use crate::argument::View;
use crate::number::Number;
use crate::quote::quoted;
use crate::truth::Truth;

/// The values of `is`, `not`, `in` or `not_in`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Literals {
    Texts(BTreeSet<String>),
    Numbers(Vec<Number>),
    Bools(Vec<bool>),
}

impl Literals {
    /// Whether a value equals one of them. Of a value of another kind it cannot be told: a tool may read a text as a number.
    pub(crate) fn contain(&self, value: View<'_>) -> Truth {
        match (self, value) {
            (Self::Texts(texts), View::Text(text)) => Truth::from(texts.contains(text)),
            (Self::Bools(bools), View::Bool(value)) => Truth::from(bools.contains(&value)),
            (Self::Numbers(_), View::Number(value)) if value.is_nan() => Truth::Unknown,
            (Self::Numbers(numbers), View::Number(_) | View::Integer(_)) => {
                Truth::from(numbers.iter().any(|number| number.order_of(value).is_some_and(std::cmp::Ordering::is_eq)))
            }
            _ => Truth::Unknown,
        }
    }

    /// The values, as tests see them.
    pub(crate) fn views(&self) -> Vec<View<'_>> {
        match self {
            Self::Texts(texts) => texts.iter().map(|text| View::Text(text)).collect(),
            Self::Numbers(numbers) => numbers.iter().map(|number| number.view()).collect(),
            Self::Bools(bools) => bools.iter().map(|value| View::Bool(*value)).collect(),
        }
    }
}

/// As in TOML, without the brackets of a list.
impl fmt::Display for Literals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<String> = match self {
            Self::Texts(texts) => texts.iter().map(|text| quoted(text)).collect(),
            Self::Numbers(numbers) => numbers.iter().map(Number::to_string).collect(),
            Self::Bools(bools) => bools.iter().map(bool::to_string).collect(),
        };
        f.write_str(&texts.join(", "))
    }
}
