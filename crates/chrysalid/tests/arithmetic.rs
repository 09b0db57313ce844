//! Remainders, decimals and the order of texts, for which the guest has shortcuts past its C library: each is compared with
//! Rust's own.

use std::cmp::Ordering;
use std::fmt::Write as _;

use chrysalid::Value;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::support::{eval, session};

/// Cases in one program, and programs.
const CASES: usize = 500;
const PROGRAMS: u32 = 20;

/// Runs programs over lists of cases.
fn each<S: Strategy>(strategy: S, check: impl Fn(&[S::Value])) {
    let mut runner = TestRunner::new(Config { cases: PROGRAMS, ..Config::default() });
    runner
        .run(&prop::collection::vec(strategy, CASES), |cases| {
            check(&cases);
            Ok(())
        })
        .unwrap();
}

fn numbers(value: &Value) -> Vec<f64> {
    let Value::Array(items) = value else { panic!("no list") };
    items.iter().map(|item| item.as_f64().unwrap()).collect()
}

/// A number as its bits, in a program.
fn literal(number: f64) -> String {
    format!("f(0x{:x}n)", number.to_bits())
}

const OF_BITS: &str = "const f = (bits) => new Float64Array(new BigUint64Array([bits]).buffer)[0];";

#[track_caller]
fn assert_same(ours: f64, expected: f64, about: &str) {
    let same = ours.to_bits() == expected.to_bits() || (ours.is_nan() && expected.is_nan());
    assert!(same, "{about}: {ours:?}, expected {expected:?}");
}

#[test]
fn remainders_are_exact() {
    let number = prop_oneof![
        (-10_000_i32..10_000).prop_map(f64::from),
        any::<f64>().prop_map(f64::trunc),
        (-9.3e18_f64..9.3e18).prop_map(f64::trunc),
        any::<f64>(),
        (-1e4_f64..1e4),
        prop::sample::select(vec![
            0.0,
            -0.0,
            1.0,
            -1.0,
            f64::NAN,
            f64::INFINITY,
            f64::MIN_POSITIVE,
            9_223_372_036_854_775_808.0
        ]),
    ];
    each((number.clone(), number), |cases| {
        let mut source = format!("{OF_BITS} [");
        for (x, y) in cases {
            let _ = write!(source, "{} % {},", literal(*x), literal(*y));
        }
        let ours = numbers(&eval(&mut session(), &(source + "]")));
        for ((x, y), ours) in cases.iter().zip(ours) {
            assert_same(ours, x % y, &format!("{x:?} % {y:?}"));
        }
    });
}

#[test]
fn decimals_are_rounded_once() {
    let decimal = prop_oneof![
        "-?(0|[1-9][0-9]{0,24})(\\.[0-9]{1,30})?",
        "-?(0|[1-9][0-9]{0,17})(\\.[0-9]{1,18})?([eE][-+]?[0-9]{1,3})?",
        any::<f64>().prop_filter("no JSON", |number| number.is_finite()).prop_map(|number| format!("{number:?}")),
        (0_u64..20_000_000).prop_map(|whole| (9_007_199_244_740_992 + whole).to_string()),
    ];
    each(decimal, |cases| {
        let ours = numbers(&eval(&mut session(), &format!("JSON.parse('[{}]')", cases.join(","))));
        for (text, ours) in cases.iter().zip(ours) {
            assert_same(ours, text.parse().unwrap(), text);
        }
    });
}

#[test]
fn texts_are_in_the_order_of_their_code_units() {
    // Alike at the beginning, so that the difference lies anywhere.
    let text = ("[ab]{0,3}", prop::bool::ANY, "[a-c\u{e9}\u{ff}]{0,20}");
    let text =
        text.prop_map(|(head, long, tail)| format!("{}{head}{tail}", if long { "same beginning, " } else { "" }));
    each((text.clone(), text), |cases| {
        let pairs = serde_json::to_string(cases).unwrap();
        let ours = numbers(&eval(
            &mut session(),
            &format!("{pairs}.map(([a, b]) => a < b ? -1 : a > b ? 1 : a === b ? 0 : 9)"),
        ));
        for ((a, b), ours) in cases.iter().zip(ours) {
            let expected = match a.encode_utf16().cmp(b.encode_utf16()) {
                Ordering::Less => -1.0,
                Ordering::Equal => 0.0,
                Ordering::Greater => 1.0,
            };
            assert_same(ours, expected, &format!("{a:?} beside {b:?}"));
        }
    });
}
