//! What tests say of values, plain and hostile.

use serde_json::{Value, json};

use super::When;
use crate::document::{Node, Source};
use crate::sample::Sample;
use crate::truth::{MAX_LEAVES, Outcome};
use crate::{Argument, View};

fn when(text: &str) -> When {
    let source = Source { text, shift: 0 };
    let value = toml::de::DeValue::parse(text).unwrap();
    When::parse(Node { source, name: "when", value: &value }).unwrap()
}

const YES: Outcome = Outcome::ALWAYS;
const NO: Outcome = Outcome::NEVER;
const UNKNOWN: Outcome = Outcome::UNKNOWN;

fn check(test: &str, values: &[(Value, Outcome)]) {
    let when = when(&format!("{{ x = {test} }}"));
    for (value, outcome) in values {
        assert_eq!(when.outcome(&json!({"x": value})), *outcome, "{test} of {value}");
    }
}

fn check_missing(test: &str, outcome: Outcome) {
    assert_eq!(when(&format!("{{ x = {test} }}")).outcome(&json!({"y": 1})), outcome, "{test}");
}

#[test]
fn equal_values() {
    check(
        "'EUR'",
        &[(json!("EUR"), YES), (json!("eur"), NO), (json!("EUR "), NO), (json!(1), UNKNOWN), (json!(null), UNKNOWN)],
    );
    check(
        "10",
        &[(json!(10), YES), (json!(10.0), YES), (json!(10.5), NO), (json!("10"), UNKNOWN), (json!(true), UNKNOWN)],
    );
    check("0.0", &[(json!(-0.0), YES), (json!(0), YES)]);
    check("true", &[(json!(true), YES), (json!(false), NO), (json!("true"), UNKNOWN), (json!(1), UNKNOWN)]);
    check("{ not = 'EUR' }", &[(json!("EUR"), NO), (json!("USD"), YES), (json!(5), UNKNOWN), (json!({}), UNKNOWN)]);
    check("{ in = ['a', 'b'] }", &[(json!("b"), YES), (json!("c"), NO), (json!(["a", "b"]), YES), (json!(["a"]), YES)]);
    check(
        "{ in = ['a', 'b'] }",
        &[(json!(["a", "c"]), UNKNOWN), (json!(["c"]), NO), (json!([]), NO), (json!([["a"]]), UNKNOWN)],
    );
    check("{ not_in = [1, 2] }", &[(json!(2), NO), (json!(3), YES), (json!([1, 3]), UNKNOWN), (json!([3, 4]), YES)]);
    for (test, outcome) in [("'a'", NO), ("{ in = ['a'] }", NO), ("{ not = 'a' }", YES), ("{ not_in = ['a'] }", YES)] {
        check_missing(test, outcome);
    }
}

#[test]
fn compared_values() {
    check(
        "{ above = 100 }",
        &[(json!(100), NO), (json!(100.000_001), YES), (json!(101), YES), (json!("101"), UNKNOWN)],
    );
    check(
        "{ at_least = 100 }",
        &[(json!(100), YES), (json!(99.9), NO), (json!([1, 100]), UNKNOWN), (json!([100]), YES)],
    );
    check("{ below = 100 }", &[(json!(100), NO), (json!(-1), YES), (json!(null), UNKNOWN), (json!({"a": 1}), UNKNOWN)]);
    check(
        "{ at_most = 9007199254740992.0 }",
        &[(json!(9_007_199_254_740_993_i64), NO), (json!(9_007_199_254_740_992_i64), YES)],
    );
    check(
        "{ at_least = 1, below = 10 }",
        &[(json!(5), YES), (json!(0), NO), (json!(10), NO), (json!([0, 10]), NO), (json!([0, 5]), UNKNOWN)],
    );
    check_missing("{ above = 100 }", UNKNOWN);
    let above = when("{ x = { above = 2026-01-01T00:00:00+01:00 } }");
    let at = |sample| above.outcome(&Sample::Map(vec![("x".to_owned(), sample)]));
    assert_eq!(at(Sample::Time(1_767_222_000_000.0)), NO);
    assert_eq!(at(Sample::Time(1_767_222_000_001.0)), YES);
    assert_eq!(at(Sample::Time(f64::NAN)), UNKNOWN);
    assert_eq!(at(Sample::Number(1_767_222_000_001.0)), UNKNOWN);
    assert_eq!(at(Sample::Text("2027-01-01T00:00:00Z".to_owned())), UNKNOWN);
    assert_eq!(at(Sample::Other), UNKNOWN);
    assert_eq!(
        when("{ x = { above = 1 } }").outcome(&Sample::Map(vec![("x".to_owned(), Sample::Number(f64::NAN))])),
        UNKNOWN
    );
}

#[test]
fn texts() {
    check(
        "{ starts_with = ['ab', 'x'] }",
        &[(json!("abc"), YES), (json!("xyz"), YES), (json!("b"), NO), (json!("AB"), NO)],
    );
    check("{ starts_with = 'ab' }", &[(json!(["ab", "b"]), UNKNOWN), (json!(12), UNKNOWN), (json!([]), NO)]);
    check("{ not_starts_with = 'ab' }", &[(json!("abc"), NO), (json!("b"), YES), (json!(1), UNKNOWN)]);
    check("{ ends_with = '.txt' }", &[(json!("a.txt"), YES), (json!("a.txt\0"), NO)]);
    check("{ not_ends_with = '.exe' }", &[(json!("a.txt"), YES), (json!("a.exe"), NO)]);
    check("{ contains = ['DROP', '--'] }", &[(json!("a -- b"), YES), (json!("drop"), NO)]);
    check("{ not_contains = '@' }", &[(json!("a@b"), NO), (json!(["a", "b"]), YES), (json!(["a", "@"]), UNKNOWN)]);
    check(
        "{ within = ['/srv', '/tmp'] }",
        &[(json!("/tmp/a"), YES), (json!("/etc"), NO), (json!("/tmp/../a"), UNKNOWN)],
    );
    check(
        "{ not_within = '/etc' }",
        &[(json!("/tmp/a"), YES), (json!("/etc/a"), NO), (json!("/tmp/../etc/a"), UNKNOWN)],
    );
    check(
        "{ domain_in = 'own.example' }",
        &[(json!("a@own.example"), YES), (json!("a@b.example"), NO), (json!("A <a@own.example>"), UNKNOWN)],
    );
    check(
        "{ domain_not_in = '*.own.example' }",
        &[(json!("a@own.example"), YES), (json!("a@b.own.example"), NO), (json!(["a@x.example", "?"]), UNKNOWN)],
    );
    for test in [
        "{ starts_with = 'a' }",
        "{ not_starts_with = 'a' }",
        "{ within = '/a' }",
        "{ not_within = '/a' }",
        "{ domain_in = 'a' }",
        "{ domain_not_in = 'a' }",
    ] {
        check_missing(test, UNKNOWN);
    }
}

#[test]
fn sizes_and_presence() {
    check(
        "{ longer_than = 2 }",
        &[(json!("abc"), YES), (json!("ab"), NO), (json!("éa"), YES), (json!([1, 2, 3]), YES), (json!(["abcd"]), NO)],
    );
    check(
        "{ shorter_than = 2 }",
        &[(json!([]), YES), (json!({"a": 1}), YES), (json!({"a": 1, "b": 2}), NO), (json!(5), UNKNOWN)],
    );
    check("{ present = true }", &[(json!(0), YES), (json!([]), YES), (json!(null), UNKNOWN), (json!(false), YES)]);
    check("{ present = false }", &[(json!(0), NO), (json!(null), UNKNOWN)]);
    check(
        "{ longer_than = 1, domain_not_in = 'own.example' }",
        &[
            (json!(["a@own.example", "b@x.example"]), UNKNOWN),
            (json!(["b@x.example"]), NO),
            (json!(["a@x.example", "b@x.example"]), YES),
        ],
    );
    check_missing("{ longer_than = 2 }", UNKNOWN);
    check_missing("{ present = true }", NO);
    check_missing("{ present = false }", YES);
    let bytes = Sample::Map(vec![("x".to_owned(), Sample::Bytes(3))]);
    assert_eq!(when("{ x = { longer_than = 2 } }").outcome(&bytes), YES);
}

#[test]
fn paths_lead_to_values() {
    let table = [
        ("{ 'user.name' = 'ann' }", json!({"user": {"name": "ann"}}), YES),
        ("{ 'user.name' = 'ann' }", json!({"user.name": "ann"}), NO),
        ("{ 'user.name' = 'ann' }", json!({"user": {}}), NO),
        ("{ 'user.name' = 'ann' }", json!({"user": null}), UNKNOWN),
        ("{ 'user.name' = 'ann' }", json!({"user": "ann"}), UNKNOWN),
        ("{ 'user.name' = 'ann' }", json!({"user": [{"name": "ann"}]}), UNKNOWN),
        (r"{ 'user\.name' = 'ann' }", json!({"user.name": "ann"}), YES),
        ("{ 'items[].amount' = { above = 5 } }", json!({"items": [{"amount": 1}, {"amount": 6}]}), UNKNOWN),
        ("{ 'items[].amount' = { above = 5 } }", json!({"items": [{"amount": 7}, {"amount": 6}]}), YES),
        ("{ 'items[].amount' = { above = 5 } }", json!({"items": [{"amount": 1}]}), NO),
        ("{ 'items[].amount' = { above = 5 } }", json!({"items": [{"amount": 1}, {}]}), UNKNOWN),
        ("{ 'items[].amount' = { above = 5 } }", json!({"items": []}), NO),
        ("{ 'items[].amount' = { above = 5 } }", json!({"items": {"amount": 6}}), UNKNOWN),
        ("{ 'items[].amount' = { above = 5 } }", json!({}), NO_ITEMS),
        ("{ 'items[]' = { longer_than = 1 } }", json!({"items": ["a", "b"]}), NO),
        ("{ items = { longer_than = 1 } }", json!({"items": ["a", "b"]}), YES),
        ("{ '[].x' = 1 }", json!([{"x": 1}]), YES),
        ("{ '[].x' = 1 }", json!({"x": 1}), UNKNOWN),
        ("{ x = 1 }", json!([{"x": 1}]), UNKNOWN),
        ("{ x = 1 }", json!("x"), UNKNOWN),
        ("{ x = 1, y = 2 }", json!({"x": 1, "y": 2}), YES),
        ("{ x = 1, y = 2 }", json!({"x": 1, "y": 3}), NO),
        ("{ x = 1, y = 2 }", json!({"x": "1", "y": 2}), UNKNOWN),
        ("{ x = 1, y = 2 }", json!({"x": "1", "y": 3}), NO),
    ];
    for (test, argument, outcome) in table {
        assert_eq!(when(test).outcome(&argument), outcome, "{test} of {argument}");
    }
}

/// A list that is missing may be anything to a tool: what is asked of its items cannot be told.
const NO_ITEMS: Outcome = UNKNOWN;

#[test]
fn a_value_on_the_host_cannot_be_told_wherever_it_stands() {
    let within = |value: Sample| Sample::Map(vec![("x".to_owned(), value)]);
    for test in [
        "1",
        "{ not = 1 }",
        "{ above = 1 }",
        "{ present = true }",
        "{ present = false }",
        "{ longer_than = 1 }",
        "{ domain_in = 'a' }",
    ] {
        let at_value = when(&format!("{{ x = {test} }}"));
        for hidden in [Sample::Handle, Sample::Other] {
            assert_eq!(at_value.outcome(&within(hidden.clone())), UNKNOWN, "{test}");
            assert_eq!(at_value.outcome(&hidden), UNKNOWN, "{test}");
            assert_eq!(when(&format!("{{ 'x.y' = {test} }}")).outcome(&within(hidden.clone())), UNKNOWN, "{test}");
            assert_eq!(when(&format!("{{ 'x[]' = {test} }}")).outcome(&within(hidden.clone())), UNKNOWN, "{test}");
        }
    }
}

/// A list that goes on for ever, as far as tests can see.
struct Endless(View<'static>);

impl Argument for Endless {
    fn view(&self) -> View<'_> {
        self.0
    }

    fn item(&self, _: usize) -> Option<&dyn Argument> {
        Some(&Endless(View::Integer(1)))
    }

    fn entry(&self, _: &str) -> Option<&dyn Argument> {
        Some(&Endless(View::List(usize::MAX)))
    }
}

#[test]
fn of_what_is_too_much_it_cannot_be_told() {
    let argument = Endless(View::Map(1));
    assert_eq!(when("{ x = 1 }").outcome(&argument), UNKNOWN);
    assert_eq!(when("{ x = 2 }").outcome(&argument), UNKNOWN);
    assert_eq!(when("{ 'x[]' = 1 }").outcome(&argument), UNKNOWN);
    let items = |length: usize| json!({"x": vec![1; length]});
    assert_eq!(when("{ x = 1 }").outcome(&items(MAX_LEAVES - 1)), YES);
    assert_eq!(when("{ x = 1 }").outcome(&items(MAX_LEAVES)), UNKNOWN);
}

#[test]
fn tests_are_shown_as_they_are_written() {
    for text in [
        "{ x = { is = \"a\" }, \"a.b\" = { not = 1.0 } }",
        "{ \"x[]\" = { present = true, in = [\"a\", \"b\"], not_in = [\"c\"] } }",
        "{ x = { longer_than = 1, above = 2026-01-01T00:00:00Z } }",
        "{ \"a\\\\.b\" = { domain_in = [\"a.example\", \"*.a.example\"] } }",
        "{ x = { within = [\"/srv\"], not_ends_with = [\"\\n\"] } }",
    ] {
        assert_eq!(when(text).to_string(), text);
    }
}
