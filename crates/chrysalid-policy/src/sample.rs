//! Arguments, rules and requests made at random, for properties.

use proptest::prelude::*;

use crate::{Argument, Effects, Rules, View};

/// An argument of any kind.
#[derive(Clone, Debug)]
pub(crate) enum Sample {
    Null,
    Bool(bool),
    Number(f64),
    Integer(i128),
    Text(String),
    Time(f64),
    Bytes(usize),
    List(Vec<Sample>),
    Map(Vec<(String, Sample)>),
    Handle,
    Other,
}

impl Argument for Sample {
    fn view(&self) -> View<'_> {
        match self {
            Self::Null => View::Null,
            Self::Bool(value) => View::Bool(*value),
            Self::Number(value) => View::Number(*value),
            Self::Integer(value) => View::Integer(*value),
            Self::Text(text) => View::Text(text),
            Self::Time(millis) => View::Time(*millis),
            Self::Bytes(length) => View::Bytes(*length),
            Self::List(items) => View::List(items.len()),
            Self::Map(entries) => View::Map(entries.len()),
            Self::Handle => View::Handle,
            Self::Other => View::Other,
        }
    }

    fn item(&self, index: usize) -> Option<&dyn Argument> {
        let Self::List(items) = self else { return None };
        Some(items.get(index)?)
    }

    fn entry(&self, key: &str) -> Option<&dyn Argument> {
        let Self::Map(entries) = self else { return None };
        Some(&entries.iter().find(|(name, _)| name == key)?.1)
    }
}

impl Sample {
    /// Replaces the value that is `count`th in the order of the text, the whole being 0th. Whether there was one.
    pub(crate) fn replace(&mut self, count: &mut usize, with: &Sample) -> bool {
        if *count == 0 {
            *self = with.clone();
            return true;
        }
        *count -= 1;
        match self {
            Self::List(items) => items.iter_mut().any(|item| item.replace(count, with)),
            Self::Map(entries) => entries.iter_mut().any(|(_, value)| value.replace(count, with)),
            _ => false,
        }
    }
}

const TEXTS: [&str; 14] = [
    "",
    "x",
    "xy",
    "EUR",
    "10",
    "a@own.example",
    "a@sub.own.example",
    "A <a@own.example>",
    "https://own.example/",
    "/srv/a",
    "/srv/../a",
    "/srv",
    "own.example",
    "b@evil.example",
];

fn scalar() -> impl Strategy<Value = Sample> {
    prop_oneof![
        Just(Sample::Null),
        any::<bool>().prop_map(Sample::Bool),
        prop::sample::select(vec![0.0, -0.0, 0.5, 5.0, 10.0, 11.0, f64::NAN, f64::INFINITY]).prop_map(Sample::Number),
        prop::sample::select(vec![0, 5, 10, i128::MAX]).prop_map(Sample::Integer),
        prop::sample::select(&TEXTS[..]).prop_map(|text| Sample::Text(text.to_owned())),
        prop::sample::select(vec![0.0, f64::NAN, 2e12]).prop_map(Sample::Time),
        (0usize..4).prop_map(Sample::Bytes),
        Just(Sample::Handle),
        Just(Sample::Other),
    ]
}

/// A map with the keys `a` and `b`, or something else.
pub(crate) fn argument() -> impl Strategy<Value = Sample> {
    let value = scalar().prop_recursive(3, 12, 4, |inner| {
        prop_oneof![prop::collection::vec(inner.clone(), 0..4).prop_map(Sample::List), map(inner)]
    });
    prop_oneof![6 => map(value.clone()), 1 => value]
}

fn map(value: impl Strategy<Value = Sample>) -> impl Strategy<Value = Sample> {
    let entry = |key: &'static str| move |value: Sample| (key.to_owned(), value);
    prop::collection::vec(prop::option::weighted(0.8, value), 2).prop_map(move |values| {
        let entries = values.into_iter().zip(["a", "b"]);
        Sample::Map(entries.filter_map(|(value, key)| value.map(entry(key))).collect())
    })
}

pub(crate) fn effects() -> impl Strategy<Value = Effects> {
    prop::sample::subsequence(Effects::ALL.each().collect::<Vec<_>>(), 0..=3)
        .prop_map(|effects| effects.into_iter().fold(Effects::NONE, |sum, effect| sum | effect))
}

const PATHS: [&str; 7] = ["a", "b", "\"a[]\"", "\"a.b\"", "\"a[].b\"", "\"[]\"", "\"a[].a[]\""];

const TESTS: [&str; 30] = [
    "\"EUR\"",
    "10",
    "true",
    "{ not = \"EUR\" }",
    "{ not = 10 }",
    "{ in = [\"x\", \"EUR\"] }",
    "{ in = [5, 10.0] }",
    "{ not_in = [\"x\", \"EUR\"] }",
    "{ above = 5 }",
    "{ at_least = 5, below = 11 }",
    "{ below = 5.5 }",
    "{ at_most = 10 }",
    "{ above = 2001-01-01T00:00:00Z }",
    "{ starts_with = [\"x\", \"/srv\"] }",
    "{ not_starts_with = \"x\" }",
    "{ ends_with = \".example\" }",
    "{ contains = \"@\" }",
    "{ not_contains = \"evil\" }",
    "{ within = \"/srv\" }",
    "{ not_within = \"/srv\" }",
    "{ domain_in = [\"own.example\", \"*.own.example\"] }",
    "{ domain_not_in = \"own.example\" }",
    "{ longer_than = 1 }",
    "{ shorter_than = 2 }",
    "{ present = true }",
    "{ present = false }",
    "{ longer_than = 0, domain_in = \"own.example\" }",
    "{ present = true, not = \"x\" }",
    "{ shorter_than = 3, not_in = [5] }",
    "{ above = 0, not = 5 }",
];

/// The table of `when`, or nothing.
pub(crate) fn when() -> impl Strategy<Value = String> {
    let test = (prop::sample::select(&TESTS[..]), prop::sample::select(&TESTS[..]));
    (prop::sample::subsequence(&PATHS[..], 0..=2), test).prop_map(|(paths, (one, two))| {
        let tests: Vec<String> = paths.iter().zip([one, two]).map(|(path, test)| format!("{path} = {test}")).collect();
        if tests.is_empty() { String::new() } else { format!("{{ {} }}", tests.join(", ")) }
    })
}

fn list(effects: Effects) -> String {
    let names: Vec<String> = effects.names().map(|name| format!("\"{name}\"")).collect();
    format!("[{}]", names.join(", "))
}

fn rule() -> impl Strategy<Value = String> {
    let tools = prop::sample::select(vec!["pay", "p*", "**", "mail"]);
    let decision = prop::sample::select(vec!["allow", "ask", "deny", ""]);
    (tools, when(), decision, [effects(), effects(), effects(), effects()]).prop_map(
        |(tools, when, decision, [met, has, adds, clears])| {
            let mut text = format!("[[rules]]\ntools = \"{tools}\"\n");
            let mut line = |key: &str, value: String| text.extend([key, " = ", &value, "\n"]);
            if !when.is_empty() {
                line("when", when);
            }
            if !decision.is_empty() {
                line("decision", format!("\"{decision}\""));
                line("reason", "\"r\"".to_owned());
            }
            if decision == "ask" || decision == "deny" {
                for (key, effects) in
                    [("met", met), ("has", has)].into_iter().filter(|(_, effects)| !effects.is_empty())
                {
                    line(key, list(effects));
                }
            }
            if decision.is_empty() || (decision == "allow" || (met | has).is_empty()) {
                let clears = adds.missing_from(clears);
                for (key, effects) in [("adds", adds), ("clears", clears)] {
                    if !effects.is_empty() {
                        line(key, list(effects));
                    }
                }
                if decision.is_empty() && (adds | clears).is_empty() {
                    line("adds", list(Effects::ACTS));
                }
            }
            text
        },
    )
}

/// A text of rules and what it is read as.
pub(crate) fn rules() -> impl Strategy<Value = (String, Rules)> {
    let two = prop::sample::select(vec![
        "",
        "rule_of_two = \"on\"\n",
        "rule_of_two = \"strict\"\n",
        "rule_of_two = \"off\"\n",
    ]);
    let default = prop::sample::select(vec!["", "default = \"ask\"\n", "default = \"deny\"\n"]);
    (two, default, prop::collection::vec(rule(), 0..5)).prop_filter_map(
        "a rule is there twice",
        |(two, default, rules)| {
            let text = format!("{two}{default}{}", rules.concat());
            match Rules::parse(&text) {
                Ok(rules) => Some((text, rules)),
                Err(error) => {
                    assert!(error.message.starts_with("this rule is the same"), "{error}\n{text}");
                    None
                }
            }
        },
    )
}
