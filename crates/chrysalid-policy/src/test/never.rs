//! Tests of one value that cannot all hold: a mistake of whoever wrote them, told when they are read.

use super::{Comparison, Place, Test};
use crate::argument::View;
use crate::number::Bound;
use crate::truth::{Seen, Truth};

/// Why the tests can never hold, if that is seen.
pub(super) fn why(tests: &[Test]) -> Option<String> {
    absent(tests)
        .or_else(|| kinds(tests))
        .or_else(|| values(tests))
        .or_else(|| range(tests))
        .or_else(|| sizes(tests))
        .or_else(|| starts(tests))
}

fn never(first: &Test, second: &Test) -> String {
    format!("can never hold: {first} with {second}")
}

fn absent(tests: &[Test]) -> Option<String> {
    let absent = tests.iter().find(|test| matches!(test, Test::Present(false)))?;
    let other = tests.iter().find(|test| test.truth(Seen::Missing) != Truth::Yes)?;
    Some(never(absent, other))
}

/// The kind of value of which a test says anything at all.
fn kind(test: &Test) -> Option<&'static str> {
    match test {
        Test::Equal { any, .. } => any.views().first().copied().map(kind_of),
        Test::Order { bound, .. } => Some(kind_of(bound.view())),
        Test::Text { .. } | Test::Within { .. } | Test::Domain { .. } => Some("text"),
        Test::Size { .. } | Test::Present(_) => None,
    }
}

fn kind_of(view: View<'_>) -> &'static str {
    match view {
        View::Text(_) => "text",
        View::Bool(_) => "bool",
        View::Time(_) => "time",
        _ => "number",
    }
}

fn kinds(tests: &[Test]) -> Option<String> {
    let mut of_kind = tests.iter().filter_map(|test| Some((kind(test)?, test)));
    let (kind, first) = of_kind.next()?;
    of_kind.find(|(other, _)| *other != kind).map(|(_, second)| never(first, second))
}

/// Of the values that are named, one must pass the other tests.
fn values(tests: &[Test]) -> Option<String> {
    let named = tests.iter().find(|test| matches!(test, Test::Equal { negated: false, .. }))?;
    let Test::Equal { any, .. } = named else { return None };
    let passes = |value: &View<'_>, test: &Test| test.is_of_whole() || test.truth_of(*value) != Truth::No;
    let views = any.views();
    if views.iter().any(|value| tests.iter().all(|test| passes(value, test))) {
        return None;
    }
    let other = tests.iter().find(|test| views.iter().any(|value| !passes(value, test)))?;
    Some(never(named, other))
}

fn range(tests: &[Test]) -> Option<String> {
    let bounds = |wanted: [Comparison; 2]| {
        tests.iter().filter_map(move |test| match test {
            Test::Order { how, bound } if wanted.contains(how) => Some((test, *how, bound)),
            _ => None,
        })
    };
    for (low_test, low_how, low) in bounds([Comparison::Above, Comparison::AtLeast]) {
        for (high_test, high_how, high) in bounds([Comparison::Below, Comparison::AtMost]) {
            let order = Bound::order_of(high, low.view())?;
            let touches = low_how == Comparison::AtLeast && high_how == Comparison::AtMost;
            if order.is_gt() || (order.is_eq() && !touches) {
                return Some(never(low_test, high_test));
            }
        }
    }
    None
}

fn sizes(tests: &[Test]) -> Option<String> {
    let size = |wanted: bool| {
        tests.iter().find_map(|test| match test {
            Test::Size { longer, than } if *longer == wanted => Some((test, *than)),
            _ => None,
        })
    };
    let short = size(false);
    if let Some((test, 0)) = short {
        return Some(format!("can never hold: {test}"));
    }
    let ((longer_test, longer), (shorter_test, shorter)) = (size(true)?, short?);
    (longer.saturating_add(1) >= shorter).then(|| never(longer_test, shorter_test))
}

fn starts(tests: &[Test]) -> Option<String> {
    let find = |wanted: bool| {
        tests.iter().find_map(|test| match test {
            Test::Text { place: Place::Start, any, negated } if *negated == wanted => Some((test, any)),
            _ => None,
        })
    };
    let ((test, starts), (not_test, not)) = (find(false)?, find(true)?);
    let is_excluded = |start: &String| not.iter().any(|not| start.starts_with(not.as_str()));
    starts.iter().all(is_excluded).then(|| never(test, not_test))
}
