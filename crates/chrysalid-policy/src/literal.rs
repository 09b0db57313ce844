//! Values of a rule that an argument has to equal. All of one list are of one kind.

use std::cmp::Ordering;
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
    /// In their order, each once.
    Numbers(Vec<Number>),
    Bools(BTreeSet<bool>),
}

impl Literals {
    pub(crate) fn numbers(mut numbers: Vec<Number>) -> Self {
        // A number of a rule is never NaN, so each two have an order.
        numbers.sort_by(|one, other| other.order_of(one.view()).unwrap_or(Ordering::Equal));
        numbers.dedup();
        Self::Numbers(numbers)
    }

    /// Whether a value equals one of them. Of a value of another kind it cannot be told: a tool may read a text as a number.
    pub(crate) fn contain(&self, value: View<'_>) -> Truth {
        match (self, value) {
            (Self::Texts(texts), View::Text(text)) => Truth::from(texts.contains(text)),
            (Self::Bools(bools), View::Bool(value)) => Truth::from(bools.contains(&value)),
            (Self::Numbers(_), View::Number(value)) if value.is_nan() => Truth::Unknown,
            (Self::Numbers(numbers), View::Number(_) | View::Integer(_)) => {
                let to_value = |number: &Number| number.order_of(value).map_or(Ordering::Less, Ordering::reverse);
                Truth::from(numbers.binary_search_by(to_value).is_ok())
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
