//! Reading rules: exact errors with their places, examples, bounds.

use proptest::prelude::*;

use super::Rules;
use crate::{Effects, Ruling};

fn error(text: &str) -> String {
    Rules::parse(text).unwrap_err().to_string()
}

/// The error of a rule about `pay` whose last line is this; its lines before are three.
fn rule_error(line: &str) -> String {
    error(&format!("[[rules]]\ntools = 'pay'\ndecision = 'ask'\n{line}\nreason = 'r'\n"))
}

#[test]
fn an_empty_text_allows() {
    let rules = Rules::parse("").unwrap();
    assert_eq!(rules, Rules::default());
    assert_eq!(
        (rules.default_ruling(), rules.rule_of_two(), rules.version()),
        (Ruling::Allow, None, "e3b0c44298fc1c14")
    );
    assert_ne!(Rules::parse("\n").unwrap().version(), rules.version());
}

const WRONG_FILES: &[(&str, &str)] = &[
    (
        "colour = 1",
        "line 1, column 1: \"colour\" is no key here; there is \"rule_of_two\", \"default\", \"expires\" or \"rules\"",
    ),
    ("\n  default = 'maybe'", "line 2, column 13: default takes \"allow\", \"ask\" or \"deny\", not \"maybe\""),
    ("default = 5", "line 1, column 11: default takes \"allow\", \"ask\" or \"deny\", not 5"),
    ("rule_of_two = true", "line 1, column 15: rule_of_two takes \"on\", \"strict\" or \"off\", not true"),
    ("rules = []", "line 1, column 9: rules takes tables, each under [[rules]], at least one, not an empty list"),
    ("rules = 5", "line 1, column 9: rules takes tables, each under [[rules]], not 5"),
    ("[rules]", "line 1, column 1: rules takes tables, each under [[rules]], not an empty table"),
    (
        "'äöü' = 1",
        "line 1, column 1: \"äöü\" is no key here; there is \"rule_of_two\", \"default\", \"expires\" or \"rules\"",
    ),
    (
        "default = 'ask' # äöü\r\nexpires = '1 h'",
        "line 2, column 11: expires takes a time such as \"90s\": a whole number above 0 and ms, s, m, h or d, up to \"36500d\", not \"1 h\"",
    ),
    (
        "rules = [{ 'ä' = 1, tools = 'b' }]",
        "line 1, column 12: \"ä\" is no key here; there is \"tools\", \"when\", \"met\", \"has\", \"decision\", \"reason\", \"role\", \"roles\", \"expires\", \"decisions\", \"adds\", \"clears\", \"allow\", \"ask\" or \"deny\"",
    ),
    (
        "rules = [{ tools = 'ä', adds = 'x' }]",
        "line 1, column 32: adds takes \"private\", \"untrusted\" or \"acts\", not \"x\"",
    ),
    ("[[rules]]\ntools = 'a'", "line 1, column 1: a rule needs a decision, or adds or clears"),
    ("\n\n[[rules]]\nadds = 'acts'", "line 3, column 1: a rule needs tools: a pattern of names, or a list of them"),
    (
        "[[rules]]\ntools = 'a'\ndecision = 'deny'",
        "line 1, column 1: a rule with the decision \"deny\" needs a reason, for whoever meets it",
    ),
    (
        "[[rules]]\ntools = 'a'\ndecision = 'ask'\nreason = ' '",
        "line 4, column 10: reason takes a text that is not empty, not \" \"",
    ),
    (
        "[[rules]]\ntools = 'a'\ndecision = 'allow'\nmet = ['acts']",
        "line 4, column 1: met goes with the decisions \"ask\" and \"deny\" only",
    ),
    (
        "[[rules]]\ntools = 'a'\nadds = ['private']\nhas = ['acts']",
        "line 4, column 1: has goes with the decisions \"ask\" and \"deny\" only",
    ),
    (
        "[[rules]]\ntools = 'a'\nadds = ['private']\nrole = 'x'",
        "line 4, column 1: role goes with the decision \"ask\" only",
    ),
    (
        "[[rules]]\ntools = 'a'\ndecision = 'deny'\nreason = 'r'\nexpires = '1h'",
        "line 5, column 1: expires goes with the decision \"ask\" only",
    ),
    (
        "[[rules]]\ntools = 'a'\ndecision = 'allow'\ndecisions = ['approve']",
        "line 4, column 1: decisions goes with the decision \"ask\" only",
    ),
    (
        "[[rules]]\ntools = 'a'\nadds = ['acts', 'private']\nclears = ['untrusted', 'private']",
        "line 4, column 10: clears takes no effect that adds has: private is in both",
    ),
];

#[test]
fn wrong_keys_and_values_of_the_file() {
    for (text, message) in WRONG_FILES {
        assert_eq!(error(text), *message, "{text}");
    }
}

#[test]
fn wrong_keys_and_values_of_a_rule() {
    let time = "a time such as \"90s\": a whole number above 0 and ms, s, m, h or d, up to \"36500d\"";
    let table = [
        ("expires = 3600".to_owned(), format!("line 4, column 11: expires takes {time}, not 3600")),
        ("expires = '0s'".to_owned(), format!("line 4, column 11: expires takes {time}, not \"0s\"")),
        ("role = ''".to_owned(), "line 4, column 8: role takes names that are not empty, not \"\"".to_owned()),
        ("role = ['a']".to_owned(), "line 4, column 8: role takes a text, not a list".to_owned()),
        ("roles = []".to_owned(), "line 4, column 9: roles takes a text, or a list of texts, at least one, not an empty list".to_owned()),
        ("role = 'a'\nroles = ['b']".to_owned(), "line 5, column 1: there is role or roles, not both".to_owned()),
        ("decisions = ['yes']".to_owned(), "line 4, column 14: decisions takes \"approve\", \"edit\", \"reject\" or \"respond\", not \"yes\"".to_owned()),
        ("decisions = ['edit', 'edit']".to_owned(), "line 4, column 22: decisions has the same twice".to_owned()),
        ("met = []".to_owned(), "line 4, column 7: met takes a list of effects, at least one, not an empty list".to_owned()),
        ("has = ['read']".to_owned(), "line 4, column 8: has takes \"private\", \"untrusted\" or \"acts\", not \"read\"".to_owned()),
        ("met = ['acts']\nadds = ['acts']".to_owned(), "line 4, column 1: met does not go with adds or clears: they need a rule of their own".to_owned()),
        ("when = {}".to_owned(), "line 4, column 8: when takes a table of paths and tests, such as { amount = { above = 100 } }, not an empty table".to_owned()),
        ("when = 'x'".to_owned(), "line 4, column 8: when takes a table of paths and tests, such as { amount = { above = 100 } }, not \"x\"".to_owned()),
        ("when = { 'a..b' = 1 }".to_owned(), "line 4, column 10: a key of a path is not empty".to_owned()),
        ("when = { a = [1] }".to_owned(), "line 4, column 14: a takes a value or a table of tests, such as { in = [...] }, not a list".to_owned()),
        ("when = { a = {} }".to_owned(), "line 4, column 14: a takes a value or a table of tests, not an empty table".to_owned()),
        ("when = { a = 1979-05-27 }".to_owned(), "line 4, column 14: a takes a text, a number, true or false, not 1979-05-27".to_owned()),
        ("when = { a = { above = '100' } }".to_owned(), "line 4, column 24: above takes a number, or a date-time with its offset, not \"100\"".to_owned()),
        ("when = { a = { above = inf } }".to_owned(), "line 4, column 24: above takes a number within -2^53 and 2^53, not inf".to_owned()),
        ("when = { a = { above = nan } }".to_owned(), "line 4, column 24: above takes a number within -2^53 and 2^53, not nan".to_owned()),
        ("when = { a = { above = 1e16 } }".to_owned(), "line 4, column 24: above takes a number within -2^53 and 2^53, not 1e16".to_owned()),
        ("when = { a = { is = 9223372036854775808 } }".to_owned(), "line 4, column 21: is takes a whole number within -2^63 and 2^63 - 1, not 9223372036854775808".to_owned()),
        ("when = { a = { below = 2026-01-01T00:00:00 } }".to_owned(), "line 4, column 24: below takes a date-time with its offset, such as 2026-01-31T12:00:00Z, not 2026-01-01T00:00:00".to_owned()),
        ("when = { a = { in = [] } }".to_owned(), "line 4, column 21: in takes a list of values, at least one, not an empty list".to_owned()),
        ("when = { a = { in = 'x' } }".to_owned(), "line 4, column 21: in takes a list of values, not \"x\"".to_owned()),
        ("when = { a = { in = ['x', 1] } }".to_owned(), "line 4, column 27: in takes values of one kind, not 1".to_owned()),
        ("when = { a = { starts_with = ['x', ''] } }".to_owned(), "line 4, column 36: starts_with takes texts that are not empty, not \"\"".to_owned()),
        ("when = { a = { longer_than = -1 } }".to_owned(), "line 4, column 30: longer_than takes a whole number from 0, not -1".to_owned()),
        ("when = { a = { present = 1 } }".to_owned(), "line 4, column 26: present takes true or false, not 1".to_owned()),
        ("when = { a = { domain_in = ['A.example', 'a@b'] } }".to_owned(), "line 4, column 42: a domain is letters, digits, hyphens and dots, with \"*.\" before it for its subdomains, not \"a@b\"".to_owned()),
        ("when = { a = { within = '/a/../b' } }".to_owned(), "line 4, column 25: a folder is an absolute path such as \"/srv/data\", without \"..\", \".\", empty parts or backslashes, not \"/a/../b\"".to_owned()),
        ("when = { 'a' = 1, \"\\u0061[]\" = 2, 'a[]' = 3 }".to_owned(), "line 4, column 35: not TOML: duplicate key".to_owned()),
        ("when = { user.name = 'x' }".to_owned(), "line 4, column 15: \"name\" is no test; there is \"is\", \"not\", \"in\", \"not_in\", \"above\", \"at_least\", \"below\", \"at_most\", \"starts_with\", \"not_starts_with\", \"ends_with\", \"not_ends_with\", \"contains\", \"not_contains\", \"within\", \"not_within\", \"domain_in\", \"domain_not_in\", \"longer_than\", \"shorter_than\" or \"present\". A path of several keys is in quotes: \"user.name\"".to_owned()),
        ("tools = 'a'".to_owned(), "line 4, column 1: not TOML: duplicate key".to_owned()),
    ];
    for (line, message) in table {
        assert_eq!(rule_error(&line), message, "{line}");
    }
}

#[test]
fn tests_that_can_never_hold_are_told() {
    let table = [
        ("{ above = 10, below = 5 }", "above = 10 with below = 5"),
        ("{ above = 10, at_most = 10 }", "above = 10 with at_most = 10"),
        ("{ at_least = 10.5, at_most = 10 }", "at_least = 10.5 with at_most = 10"),
        ("{ above = 5, below = 2026-01-01T00:00:00Z }", "above = 5 with below = 2026-01-01T00:00:00Z"),
        ("{ is = 5, not = 5.0 }", "is = 5 with not = 5.0"),
        ("{ is = 5, above = 5 }", "is = 5 with above = 5"),
        ("{ is = 5, starts_with = 'a' }", "is = 5 with starts_with = [\"a\"]"),
        ("{ in = ['a', 'b'], starts_with = 'c' }", "in = [\"a\", \"b\"] with starts_with = [\"c\"]"),
        ("{ is = 'a@b.example', domain_in = 'c.example' }", "is = \"a@b.example\" with domain_in = [\"c.example\"]"),
        ("{ starts_with = 'ab', not_starts_with = 'a' }", "starts_with = [\"ab\"] with not_starts_with = [\"a\"]"),
        ("{ longer_than = 4, shorter_than = 5 }", "longer_than = 4 with shorter_than = 5"),
        ("{ shorter_than = 0 }", "shorter_than = 0"),
        ("{ present = false, is = 1 }", "present = false with is = 1"),
    ];
    for (test, message) in table {
        assert_eq!(
            rule_error(&format!("when = {{ a = {test} }}")),
            format!("line 4, column 14: can never hold: {message}"),
            "{test}"
        );
    }
    for test in [
        "{ at_least = 10, at_most = 10 }",
        "{ longer_than = 4, shorter_than = 6 }",
        "{ above = 0, not = 5 }",
        "{ present = false, not = 1 }",
        "{ longer_than = 3, is = 5 }",
    ] {
        let text = format!("[[rules]]\ntools = 'pay'\ndecision = 'deny'\nreason = 'r'\nwhen = {{ a = {test} }}");
        assert_eq!(Rules::parse(&text).map(|rules| rules.list.len()), Ok(1), "{test}");
    }
}

#[test]
fn the_same_rule_twice_is_told() {
    let rule = "[[rules]]\ntools = ['a', 'b']\nwhen = { x = 1 }\ndecision = 'ask'\nreason = 'one'\n";
    let other = "[[rules]]\nreason = 'two'\nwhen = { x = { is = 1 } }\ntools = ['b', 'a']\ndecision = 'ask'\n";
    assert_eq!(error(&format!("{rule}\n{other}")), "line 7, column 1: this rule is the same as that of line 1");
    Rules::parse(&format!("{rule}\n{other}role = 'boss'\n")).unwrap();
}

#[test]
fn examples_are_tried_by_the_whole_file() {
    let file = "
default = 'deny'
[[rules]]
tools = 'pay'
when = { amount = { at_most = 10 } }
decision = 'allow'
allow = [{ amount = 10 }, { tool = 'pay', args = { amount = 1 } }]
deny = [{ amount = 11 }, { amount = '5' }, { tool = 'other' }]
[[rules]]
tools = ['pay', 'bank.*']
when = { to = { in = ['x'] } }
met = ['private']
decision = 'ask'
reason = 'r'
ask = [{ tool = 'pay', args = { amount = 5, to = 'x' }, met = ['private'] }]
";
    Rules::parse(file).unwrap();
    let with = |line: &str| error(&format!("{file}{line}"));
    assert_eq!(
        with("allow = [{ tool = 'pay', args = { amount = 5, to = 'x' }, met = ['private'] }]"),
        "line 16, column 10: this example of \"pay\" should end in \"allow\", not in \"ask\": the rule of line 9 decides"
    );
    assert_eq!(
        with("deny = [\n  { tool = 'pay', args = { amount = 5 } },\n]"),
        "line 17, column 3: this example of \"pay\" should end in \"deny\", not in \"allow\": the rule of line 3 decides"
    );
    assert_eq!(
        with("allow = [{ tool = 'bank.send' }]"),
        "line 16, column 10: this example of \"bank.send\" should end in \"allow\", not in \"deny\": no rule of the policy decides; its default is \"deny\""
    );
    assert_eq!(
        with("allow = [{ amount = 5 }]"),
        "line 16, column 10: an example needs tool, since the rule is about several"
    );
    assert_eq!(
        with("allow = [{ tool = 'pay', arg = {} }]"),
        "line 16, column 26: \"arg\" is no key here; there is \"tool\", \"args\", \"effects\" or \"met\""
    );
    assert_eq!(with("allow = [5]"), "line 16, column 10: allow takes calls, each a table, not 5");
    assert_eq!(with("allow = []"), "line 16, column 9: allow takes a list of calls, at least one, not an empty list");
    let open = "[[rules]]\ntools = 'x'\nadds = ['private']\n";
    assert_eq!(
        error(&format!("{open}ask = [{{ y = 1 }}]")),
        "line 4, column 8: this example of \"x\" should end in \"ask\", not in \"allow\": no rule decides, and the default is \"allow\""
    );
    assert_eq!(
        error(&format!("{open}allow = [{{ tool = 'x', effects = ['acts'], met = ['untrusted'] }}]")),
        "line 4, column 10: this example of \"x\" should end in \"allow\", not in \"ask\": rule of two: the example brought untrusted content; this call reads private data and acts on the world"
    );
}

#[test]
fn bounds_are_told() {
    assert_eq!(error(&" ".repeat((1 << 20) + 1)), "line 1, column 1: a policy has at most 1048576 bytes, not 1048577");
    let rule = |number: u32| format!("[[rules]]\ntools = 't{number}'\nadds = 'acts'\n");
    let rules = (0..1001).map(rule).collect::<Vec<_>>().concat();
    assert_eq!(error(&rules), "line 3001, column 1: rules takes at most 1000 values, not 1001");
    let rule =
        |number: u32| format!("[[rules]]\ntools = 't{number}'\nadds = 'acts'\nallow = [{}]\n", "{},".repeat(1000));
    let rules = (0..6).map(rule).collect::<Vec<_>>().concat();
    assert_eq!(error(&rules), "line 21, column 1: a policy has at most 5000 examples, which this rule is over");
    let tests = format!("when = {{ a = {{ contains = [{}] }} }}", "'x',".repeat(101));
    assert_eq!(rule_error(&tests), "line 4, column 428: contains takes at most 100 values, not 101");
    assert!(error(&format!("a = {}", "[".repeat(100_000))).starts_with("line 1, column "));
    assert!(error(&format!("{} = 1", "a.".repeat(100_000))).starts_with("line 1, column "));
}

#[test]
fn names_of_rules_are_patterns() {
    let rules = Rules::parse("[[rules]]\ntools = ['pay', 'bank.*']\nadds = ['acts', 'private']\n").unwrap();
    let found = |name: &str| rules.of(name).map(|rule| (rule.line, rule.adds)).collect::<Vec<_>>();
    assert_eq!(found("bank.send"), [(1, Effects::ACTS | Effects::PRIVATE)]);
    assert_eq!(found("bank"), []);
}

/// Pieces of which texts are made that come near to being rules.
const PIECES: [&str; 24] = [
    "[[rules]]\n",
    "tools = 'pay'\n",
    "decision = 'ask'\n",
    "reason = 'r'\n",
    "when = { a = { above = 5 } }\n",
    "when = ",
    "{ ",
    "}",
    "a = ",
    "[",
    "]",
    "'",
    "\"",
    "\n",
    "5",
    "above = ",
    "ask = [{ a = 1 }]\n",
    "adds = 'acts'\n",
    ",",
    "#",
    "\u{feff}",
    "é\u{0}",
    "1e400",
    "2026-01-01T00:00:60Z",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_text_is_read_or_refused(text in ".{0,80}", pieces in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..14)) {
        let _ = Rules::parse(&text);
        let text = pieces.concat();
        if let Err(error) = Rules::parse(&text) {
            let lines: Vec<&str> = text.split('\n').collect();
            let line = lines.get(error.line as usize - 1);
            prop_assert!(line.is_some_and(|line| (1..=line.chars().count() + 1).contains(&(error.column as usize))), "{error}");
        }
    }
}
