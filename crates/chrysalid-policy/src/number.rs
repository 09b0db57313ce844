//! Numbers and points in time of a rule, and how values compare with them: exactly, in whatever form both are.

use std::cmp::Ordering;
use std::fmt;

use crate::argument::View;

/// 2^53: the numbers of a rule that are not whole, and those written with a point, lie within plus and minus this.
pub(crate) const MAX_FLOAT: f64 = 9_007_199_254_740_992.0;

/// A number of a rule. Never NaN.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Number {
    Integer(i64),
    Float(f64),
}

impl Number {
    /// How a value stands to this number; none when the value is no number, or NaN.
    pub(crate) fn order_of(self, value: View<'_>) -> Option<Ordering> {
        match (value, self) {
            (View::Integer(value), Self::Integer(bound)) => Some(value.cmp(&i128::from(bound))),
            (View::Integer(value), Self::Float(bound)) => order(bound, value).map(Ordering::reverse),
            (View::Number(value), Self::Integer(bound)) => order(value, i128::from(bound)),
            (View::Number(value), Self::Float(bound)) => value.partial_cmp(&bound),
            _ => None,
        }
    }

    pub(crate) fn view(self) -> View<'static> {
        match self {
            Self::Integer(value) => View::Integer(i128::from(value)),
            Self::Float(value) => View::Number(value),
        }
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.order_of(other.view()) == Some(Ordering::Equal)
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(value) => write!(f, "{value}"),
            Self::Float(value) => write!(f, "{value:?}"),
        }
    }
}

/// How a float stands to a whole number, without rounding either.
fn order(float: f64, whole: i128) -> Option<Ordering> {
    /// 2^127, which is the end of `i128`.
    const END: f64 = 170_141_183_460_469_231_731_687_303_715_884_105_728.0;
    if float.is_nan() {
        return None;
    }
    if float >= END {
        return Some(Ordering::Greater);
    }
    if float < -END {
        return Some(Ordering::Less);
    }
    #[expect(clippy::cast_possible_truncation, reason = "within i128, and the fraction is compared after")]
    let floor = float.floor() as i128;
    let above = if float > float.floor() { Ordering::Greater } else { Ordering::Equal };
    Some(floor.cmp(&whole).then(above))
}

/// The bound of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Bound {
    Number(Number),
    /// Milliseconds since 1970, and the date-time as the rule has it.
    Time(f64, String),
}

impl Bound {
    /// How a value stands to the bound; none when they do not compare.
    pub(crate) fn order_of(&self, value: View<'_>) -> Option<Ordering> {
        match (self, value) {
            (Self::Number(number), value) => number.order_of(value),
            (Self::Time(bound, _), View::Time(value)) => value.partial_cmp(bound),
            (Self::Time(..), _) => None,
        }
    }

    pub(crate) fn view(&self) -> View<'static> {
        match self {
            Self::Number(number) => number.view(),
            Self::Time(millis, _) => View::Time(*millis),
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Time(_, text) => f.write_str(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering::{Equal, Greater, Less};

    use super::{Bound, Number, View, order};

    #[test]
    fn numbers_compare_exactly() {
        let big = 9_007_199_254_740_993_i64;
        let table = [
            (View::Number(10.0), Number::Integer(10), Some(Equal)),
            (View::Number(-0.0), Number::Integer(0), Some(Equal)),
            (View::Number(-0.0), Number::Float(0.0), Some(Equal)),
            (View::Number(0.5), Number::Integer(0), Some(Greater)),
            (View::Number(-0.5), Number::Integer(0), Some(Less)),
            (View::Number(-0.5), Number::Integer(-1), Some(Greater)),
            (View::Number(9_007_199_254_740_992.0), Number::Integer(big), Some(Less)),
            (View::Integer(i128::from(big)), Number::Float(9_007_199_254_740_992.0), Some(Greater)),
            (View::Integer(i128::MAX), Number::Integer(i64::MAX), Some(Greater)),
            (View::Integer(i128::MIN), Number::Integer(i64::MIN), Some(Less)),
            (View::Integer(1), Number::Float(0.5), Some(Greater)),
            (View::Number(f64::INFINITY), Number::Integer(i64::MAX), Some(Greater)),
            (View::Number(f64::NEG_INFINITY), Number::Integer(i64::MIN), Some(Less)),
            (View::Number(f64::MAX), Number::Integer(i64::MAX), Some(Greater)),
            (View::Number(9_223_372_036_854_775_808.0), Number::Integer(i64::MAX), Some(Greater)),
            (View::Number(f64::NAN), Number::Integer(0), None),
            (View::Number(f64::NAN), Number::Float(0.0), None),
            (View::Text("10"), Number::Integer(10), None),
            (View::Bool(true), Number::Integer(1), None),
            (View::Null, Number::Integer(0), None),
            (View::Time(0.0), Number::Integer(0), None),
        ];
        for (value, bound, expected) in table {
            assert_eq!(bound.order_of(value), expected, "{value:?} {bound:?}");
        }
        assert_eq!(order(-170_141_183_460_469_231_731_687_303_715_884_105_728.0, i128::MIN), Some(Equal));
    }

    #[test]
    fn times_compare_with_times() {
        let bound = Bound::Time(1000.0, String::new());
        assert_eq!(bound.order_of(View::Time(999.0)), Some(Less));
        assert_eq!(bound.order_of(View::Time(f64::NAN)), None);
        assert_eq!(bound.order_of(View::Number(999.0)), None);
        assert_eq!(bound.order_of(View::Text("1970-01-01T00:00:00Z")), None);
    }
}
