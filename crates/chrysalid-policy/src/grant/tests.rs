//! Grants: what they cover, and that their text says all of it.

use std::time::Duration;

use proptest::prelude::*;
use serde_json::json;

use super::{Grant, GrantScope};
use crate::sample;
use crate::{Argument, Effects, Request};

fn covers(grant: &Grant, name: &str, argument: &dyn Argument) -> bool {
    grant.covers(&Request { name, argument, effects: Effects::ALL, carried: Effects::NONE, ask: true })
}

#[test]
fn only_what_surely_was_granted_is_covered() {
    let grant = Grant::parse(
        r#"tools = ["payGated", "bank.*"], when = { amount = { at_most = 10 } }, count = 3, lasts = "1h""#,
    )
    .unwrap();
    assert_eq!((grant.count(), grant.lasts(), grant.scope()), (3, Some(Duration::from_hours(1)), GrantScope::Program));
    assert!(covers(&grant, "payGated", &json!({"amount": 10})));
    assert!(covers(&grant, "bank.send", &json!({"amount": [1, 2]})));
    assert!(!covers(&grant, "bank.a.b", &json!({"amount": 1})));
    assert!(!covers(&grant, "pay", &json!({"amount": 1})));
    for argument in [
        json!({"amount": 11}),
        json!({"amount": "5"}),
        json!({}),
        json!({"amount": []}),
        json!({"amount": [1, 11]}),
        json!(5),
    ] {
        assert!(!covers(&grant, "payGated", &argument), "{argument}");
    }
    assert!(covers(&Grant::new("pay", 1).unwrap(), "pay", &json!({})));
}

#[test]
fn the_forms_of_the_text_are_the_same() {
    let expected = Grant::new("mail.send", 20)
        .unwrap()
        .when("to", "{ domain_in = \"vendor.example\" }")
        .unwrap()
        .lasting(Duration::from_hours(24))
        .for_session();
    let texts = [
        "tools = \"mail.send\", when = { to = { domain_in = \"vendor.example\" } }, count = 20, lasts = \"1d\", scope = \"session\"",
        "{ tools = \"mail.send\", when.to.domain_in = \"vendor.example\", count = 20, lasts = \"24h\", scope = \"session\" }",
        "tools = \"mail.send\"\ncount = 20\nlasts = \"1d\"\nscope = \"session\"\n[when]\nto.domain_in = \"vendor.example\"\n",
        "tools = \"mail.send\", when = { to = { domain_in = [\"vendor.example\"] } }, count = 20, lasts = \"1d\", scope = \"session\" # }",
    ];
    for text in texts {
        assert_eq!(Grant::parse(text).unwrap(), expected, "{text}");
    }
    assert_eq!(
        expected.to_string(),
        "tools = [\"mail.send\"], when = { to = { domain_in = [\"vendor.example\"] } }, count = 20, lasts = \"1d\", scope = \"session\""
    );
    let bytes = postcard::to_allocvec(&expected).unwrap();
    assert_eq!(postcard::from_bytes::<Grant>(&bytes).unwrap(), expected);
    assert_eq!(
        Grant::new("a", 0).unwrap().lasting(Duration::ZERO).to_string(),
        "tools = [\"a\"], count = 1, lasts = \"1ms\", scope = \"program\""
    );
    assert_eq!(Grant::new("a", 1).unwrap().lasting(Duration::MAX).lasts(), Some(Duration::from_hours(36_500 * 24)));
}

#[test]
fn wrong_grants_say_where_and_why() {
    let count = "count takes a whole number from 1 to 4294967295, not ";
    let table = [
        ("", 1, "a grant needs count".to_owned()),
        ("count = 1", 1, "a grant needs tools".to_owned()),
        ("tools = \"pay\", count = 0", 24, format!("{count}0")),
        ("tools = \"pay\", count = 4294967296", 24, format!("{count}4294967296")),
        ("tools = \"pay\", count = 1.5", 24, format!("{count}1.5")),
        (
            "tools = \"pay\", count = 1, to = 3",
            27,
            "\"to\" is no key here; there is \"tools\", \"when\", \"count\", \"lasts\" or \"scope\"".to_owned(),
        ),
        (
            "{ tools = [], count = 1 }",
            11,
            "tools takes a text, or a list of texts, at least one, not an empty list".to_owned(),
        ),
        (
            "tools = \"pay\", count = 1, scope = \"run\"",
            35,
            "scope takes \"program\" or \"session\", not \"run\"".to_owned(),
        ),
        ("5", 2, "not TOML".to_owned()),
        ("tools = \"pay\", count", 21, "not TOML".to_owned()),
    ];
    for (text, column, message) in table {
        let error = Grant::parse(text).unwrap_err();
        assert_eq!((error.line, error.message.starts_with(&message)), (1, true), "{text}: {error}");
        assert_eq!(error.column, column, "{text}: {error}");
        assert!(error.message == message || message == "not TOML", "{text}: {error}");
    }
    let long = " ".repeat(65_537);
    assert_eq!(
        Grant::parse(&long).unwrap_err().to_string(),
        "line 1, column 1: a grant has at most 65536 bytes, not 65537"
    );
    assert_eq!(
        Grant::new("***", 1).unwrap_err().to_string(),
        "line 1, column 1: \"***\" has 3 stars in a row; two at most"
    );
    let twice = Grant::new("a", 1).unwrap().when("x", "1").unwrap().when("x", "2").unwrap_err();
    assert_eq!(twice.message, "the path \"x\" is there twice");
}

proptest! {
    #[test]
    fn a_grant_is_its_text(when in sample::when(), tools in "[a-z*.\"\\\\\u{1}\u{202e}é]{1,6}", count in 1u32.., millis in 1u64..10_000_000, session: bool) {
        let when = if when.is_empty() { when } else { format!(", when = {when}") };
        let Ok(grant) = Grant::new(&tools, count) else { return Ok(()) };
        let grant = if session { grant.for_session() } else { grant }.lasting(Duration::from_millis(millis));
        let mut with_tests = Grant::parse(&format!("tools = 'a', count = 1{when}")).unwrap();
        with_tests.tools = grant.tools.clone();
        for grant in [grant, with_tests] {
            let text = grant.to_string();
            let is_hidden = |c: char| c.is_control() || c == '\u{202e}';
            prop_assert!(!text.contains(is_hidden));
            prop_assert_eq!(&Grant::parse(&text).unwrap(), &grant);
            let bytes = postcard::to_allocvec(&grant).unwrap();
            prop_assert_eq!(&postcard::from_bytes::<Grant>(&bytes).unwrap(), &grant);
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in ".{0,60}") {
        let _ = Grant::parse(&text);
        let _ = Grant::parse(&format!("tools = 'a', count = 1, when = {{ {text} }}"));
    }
}
