//! Numbers of JSON, compared as what they are: 64-bit integers are not rounded.

use std::cmp::Ordering;

use serde_json::{Number, Value as Json};

pub(super) fn compare(a: &Number, b: &Number) -> Option<Ordering> {
    match (whole(a), whole(b)) {
        (Some(a), Some(b)) => Some(a.cmp(&b)),
        _ => a.as_f64()?.partial_cmp(&b.as_f64()?),
    }
}

/// Whether the two are one value of JSON Schema, where `1` and `1.0` are the same.
pub(super) fn same(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Number(a), Json::Number(b)) => compare(a, b) == Some(Ordering::Equal),
        (a, b) => a == b,
    }
}

pub(super) fn is_whole(number: &Number) -> bool {
    whole(number).is_some() || number.as_f64().is_some_and(|number| number.fract() == 0.0)
}

/// Whether a number is a multiple; `None` where rounding would decide.
pub(super) fn is_multiple(number: &Number, of: &Number) -> Option<bool> {
    let (number, of) = (whole(number)?, whole(of)?);
    number.checked_rem(of).map(|rest| rest == 0)
}

fn whole(number: &Number) -> Option<i128> {
    number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from))
}
