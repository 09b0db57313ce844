//! Decisions, and what may never make one looser.

use std::time::Duration;

use proptest::prelude::*;
use serde_json::json;

use super::{Ask, Decision, DecisionKind, Request, Terms, decide};
use crate::sample::{self, Sample};
use crate::{Argument, Effects, Grant, Reason, RuleOfTwo, Rules, Ruling, Taint};

fn request<'a>(name: &'a str, argument: &'a dyn Argument) -> Request<'a> {
    Request { name, argument, effects: Effects::NONE, carried: Effects::NONE, ask: false }
}

fn decided(rules: &str, name: &str, argument: &serde_json::Value) -> Decision {
    decide(&request(name, argument), &Taint::default(), &Rules::parse(rules).unwrap())
}

fn told(decision: &Decision) -> Vec<String> {
    match decision {
        Decision::Allow => Vec::new(),
        Decision::Ask(ask) => ask.reasons.iter().map(ToString::to_string).collect(),
        Decision::Deny { reasons } => reasons.iter().map(ToString::to_string).collect(),
    }
}

#[test]
fn the_strictest_rule_wins_and_all_reasons_are_told() {
    let rules = "
        [[rules]]
        tools = 'pay'
        decision = 'allow'
        [[rules]]
        tools = 'pay'
        when = { amount = { above = 100 } }
        decision = 'ask'
        reason = 'over 100'
        [[rules]]
        tools = '*'
        when = { currency = { not = 'EUR' } }
        decision = 'ask'
        reason = 'foreign'
        [[rules]]
        tools = 'pay'
        when = { amount = { above = 1000 } }
        decision = 'deny'
        reason = 'over 1000'
    ";
    let pay = |amount: i64, currency: &str| decided(rules, "pay", &json!({"amount": amount, "currency": currency}));
    assert_eq!(pay(100, "EUR"), Decision::Allow);
    assert_eq!(told(&pay(101, "EUR")), ["\"over 100\" (policy line 5)"]);
    assert_eq!(told(&pay(101, "USD")), ["\"over 100\" (policy line 5)", "\"foreign\" (policy line 10)"]);
    let denied = Reason::Rule { line: 15, reason: "over 1000".into() };
    assert_eq!(pay(1001, "USD"), Decision::Deny { reasons: vec![denied] });
    assert_eq!(pay(1001, "EUR").ruling(), Ruling::Deny);
}

#[test]
fn the_default_holds_where_no_rule_surely_decides() {
    for (default, ruling) in [("allow", Ruling::Allow), ("ask", Ruling::Ask), ("deny", Ruling::Deny)] {
        let rules = format!(
            "default = '{default}'
            [[rules]]
            tools = 'read'
            when = {{ path = {{ within = '/srv' }} }}
            decision = 'allow'
            [[rules]]
            tools = 'pay'
            when = {{ amount = {{ at_most = 10 }} }}
            decision = 'ask'
            reason = 'small'
            [[rules]]
            tools = 'read'
            adds = ['private']"
        );
        let of = |name: &str, argument: serde_json::Value| decided(&rules, name, &argument);
        assert_eq!(of("read", json!({"path": "/srv/a"})), Decision::Allow);
        for decision in [of("read", json!({"path": "/srv/../a"})), of("other", json!({}))] {
            assert_eq!(decision.ruling(), ruling);
            let expected = format!("no rule of the policy decides; its default is \"{default}\"");
            assert!(told(&decision).iter().all(|reason| *reason == expected));
        }
        assert_eq!(told(&of("pay", json!({"amount": 5}))), ["\"small\" (policy line 6)"]);
        let unknown = of("pay", json!({"amount": "5"})).ruling();
        assert_eq!(unknown, if ruling == Ruling::Deny { Ruling::Deny } else { Ruling::Ask });
    }
}

#[test]
fn a_rule_by_what_was_met_does_not_lift_the_default() {
    let rules = Rules::parse(
        "default = 'deny'
        [[rules]]
        tools = 'pay'
        met = ['private']
        decision = 'ask'
        reason = 'r'
        [[rules]]
        tools = 'mail'
        has = ['acts']
        decision = 'ask'
        reason = 'r'",
    )
    .unwrap();
    let mut taint = Taint::default();
    taint.join(Effects::PRIVATE, "a");
    let argument = json!({});
    assert_eq!(decide(&request("pay", &argument), &taint, &rules).ruling(), Ruling::Deny);
    let mail = Request { effects: Effects::ACTS, ..request("mail", &argument) };
    assert_eq!(decide(&mail, &taint, &rules).ruling(), Ruling::Deny);
}

#[test]
fn terms_are_those_of_every_rule_that_asks() {
    let rules = "
        expires = '2h'
        [[rules]]
        tools = 'pay'
        decision = 'ask'
        reason = 'one'
        roles = ['treasurer', 'boss']
        decisions = ['respond', 'approve', 'reject']
        [[rules]]
        tools = 'pay'
        decision = 'ask'
        reason = 'two'
        role = 'auditor'
        expires = '1h'
        decisions = ['reject', 'approve', 'edit']
        [[rules]]
        tools = '**'
        when = { long = true }
        decision = 'ask'
        reason = 'three'
        expires = '3h'
        decisions = ['respond']
        [[rules]]
        tools = 'pay'
        when = { other = true }
        decision = 'ask'
        reason = 'four'
        role = 'nobody'
    ";
    let terms = |name: &str, argument: serde_json::Value| match decided(rules, name, &argument) {
        Decision::Ask(ask) => ask.terms,
        decision => panic!("{decision:?}"),
    };
    let two = Terms {
        roles: vec!["auditor".into(), "boss".into(), "treasurer".into()],
        expires: Some(Duration::from_hours(1)),
        decisions: Some(vec![DecisionKind::Approve, DecisionKind::Reject]),
    };
    assert_eq!(terms("pay", json!({})), two);
    let none_in_common = Terms { decisions: Some(vec![DecisionKind::Reject]), ..two };
    assert_eq!(terms("pay", json!({"long": true})), none_in_common);
    let three = Terms {
        roles: Vec::new(),
        expires: Some(Duration::from_hours(2)),
        decisions: Some(vec![DecisionKind::Respond]),
    };
    assert_eq!(terms("mail", json!({"long": true})), three);
}

#[test]
fn further_reasons_to_ask_keep_the_terms_of_the_file() {
    let rules = Rules::parse("expires = '5m'").unwrap();
    let why = || Reason::Predicate { why: String::new() };
    let terms = Terms { expires: Some(Duration::from_mins(5)), ..Terms::default() };
    let asked = Decision::Allow.and_ask(why(), &rules);
    assert_eq!(asked, Decision::Ask(Ask { reasons: vec![why()], terms: terms.clone() }));
    let again = asked.and_ask(Reason::Program, &rules);
    assert_eq!(again, Decision::Ask(Ask { reasons: vec![why(), Reason::Program], terms: terms.clone() }));
    let denied = Decision::Deny { reasons: vec![Reason::Unplanned] };
    assert_eq!(denied.clone().and_ask(why(), &rules), denied);
    let argument = json!({});
    let always = Request { ask: true, ..request("pay", &argument) };
    let decision = decide(&always, &Taint::default(), &rules);
    assert_eq!(decision, Decision::Ask(Ask { reasons: vec![Reason::Always], terms }));
}

#[test]
fn effects_are_refined_by_arguments() {
    let rules = Rules::parse(
        "rule_of_two = 'on'
        [[rules]]
        tools = 'web.get'
        when = { url = { domain_in = 'docs.example' } }
        clears = ['untrusted', 'acts']
        [[rules]]
        tools = 'web.*'
        when = { body = { present = true } }
        adds = ['acts']",
    )
    .unwrap();
    let effects = |argument: serde_json::Value| {
        rules.effects(&Request { effects: Effects::UNTRUSTED | Effects::ACTS, ..request("web.get", &argument) })
    };
    assert_eq!(effects(json!({"url": "https://docs.example/"})), Effects::NONE);
    assert_eq!(effects(json!({"url": "https://docs.example@evil.example/"})), Effects::UNTRUSTED | Effects::ACTS);
    assert_eq!(effects(json!({"url": "https://docs.example/", "body": null})), Effects::ACTS);
    let argument = json!({"url": "https://docs.example/"});
    let clean = Request { effects: Effects::ALL, ..request("web.get", &argument) };
    let mut taint = Taint::default();
    taint.join(Effects::UNTRUSTED, "a");
    assert_eq!(decide(&clean, &taint, &rules), Decision::Allow);
    let carrying = Request { carried: Effects::ACTS, ..clean };
    assert_eq!(
        told(&decide(&carrying, &taint, &rules)),
        ["rule of two: a brought untrusted content; this call reads private data and acts on the world"]
    );
}

#[test]
fn the_rule_of_two_is_settled_by_labels() {
    let argument = json!({});
    let all = Request { effects: Effects::ALL, ..request("x", &argument) };
    let of = |rules: &Rules| decide(&all, &Taint::default(), rules).ruling();
    let open = Rules::default();
    assert_eq!(open.rule_of_two(), None);
    assert_eq!(
        (of(&open), of(&open.resolve(true)), of(&open.resolve(false))),
        (Ruling::Ask, Ruling::Ask, Ruling::Allow)
    );
    let strict = Rules::with_rule_of_two(RuleOfTwo::Strict);
    assert_eq!(strict.resolve(false), strict);
    let off = Rules::parse("rule_of_two = \"off\"\n").unwrap();
    assert_eq!(off.resolve(true), Rules::with_rule_of_two(RuleOfTwo::Off));
}

#[test]
fn reasons_and_terms_are_serialisable() {
    let ask = Ask {
        reasons: vec![
            Reason::Rule { line: 3, reason: "r".into() },
            Reason::Default { ruling: Ruling::Ask },
            Reason::Budget { what: "calls of the run".into(), bound: 3 },
        ],
        terms: Terms {
            roles: vec!["a".into()],
            expires: Some(Duration::from_secs(1)),
            decisions: Some(vec![DecisionKind::Edit]),
        },
    };
    let bytes = postcard::to_allocvec(&ask).unwrap();
    assert_eq!(postcard::from_bytes::<Ask>(&bytes).unwrap(), ask);
    assert_eq!(serde_json::to_value(&ask).unwrap()["terms"]["decisions"], json!(["edit"]));
}

prop_compose! {
    fn calls()(name in prop::sample::select(vec!["pay", "post", "mail"]), argument in sample::argument(), effects in sample::effects(),
        carried in sample::effects(), ask in prop::bool::weighted(0.1)) -> (&'static str, Sample, Effects, Effects, bool) {
        (name, argument, effects, carried, ask)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn taint_and_effects_never_loosen(
        (text, rules) in sample::rules(), (name, argument, effects, carried, ask) in calls(),
        had in sample::effects(), more in [sample::effects(), sample::effects(), sample::effects()],
    ) {
        let request = Request { name, argument: &argument, effects, carried, ask };
        let mut taint = Taint::default();
        taint.join(had, "a");
        let before = decide(&request, &taint, &rules);
        prop_assert_eq!(&decide(&request, &taint, &rules), &before);
        prop_assert_eq!(&decide(&request, &taint, &Rules::parse(&text).unwrap()), &before);
        let with_effects = Request { effects: effects | more[0], ..request };
        prop_assert!(rules.effects(&with_effects).contains(rules.effects(&request)));
        prop_assert!(decide(&with_effects, &taint, &rules).ruling() >= before.ruling());
        let with_carried = Request { carried: carried | more[1], ..request };
        prop_assert!(decide(&with_carried, &taint, &rules).ruling() >= before.ruling());
        let asking = Request { ask: true, ..request };
        prop_assert!(decide(&asking, &taint, &rules).ruling() >= before.ruling());
        taint.join(more[2], "b");
        prop_assert!(decide(&request, &taint, &rules).ruling() >= before.ruling());
    }

    #[test]
    fn what_is_not_known_never_loosens(
        (text, rules) in sample::rules(), (name, argument, effects, carried, ask) in calls(), had in sample::effects(),
        at in 0usize..6, with in prop_oneof![Just(Sample::Handle), Just(Sample::Other)], when in sample::when(),
    ) {
        let mut hidden = argument.clone();
        hidden.replace(&mut at.clone(), &with);
        let request = Request { name, argument: &argument, effects, carried, ask };
        let less_known = Request { argument: &hidden, ..request };
        let mut taint = Taint::default();
        taint.join(had, "a");
        prop_assert!(rules.effects(&less_known).contains(rules.effects(&request)), "{text}");
        let (before, after) = (decide(&request, &taint, &rules).ruling(), decide(&less_known, &taint, &rules).ruling());
        prop_assert!(after >= before, "{text}");
        let when = if when.is_empty() { when } else { format!(", when = {when}") };
        let grant = Grant::parse(&format!("tools = '**', count = 1{when}")).unwrap();
        prop_assert!(grant.covers(&request) || !grant.covers(&less_known), "{grant}");
        let when = when.replace(", when", "when");
        let deny = Rules::parse(&format!("[[rules]]\ntools = '**'\n{when}\ndecision = 'deny'\nreason = 'r'")).unwrap();
        let ruling = |request| decide(request, &Taint::default(), &deny).ruling();
        prop_assert!(ruling(&request) != Ruling::Deny || ruling(&less_known) == Ruling::Deny, "{when}");
    }

    #[test]
    fn what_surely_holds_may_hold(argument in sample::argument(), when in sample::when().prop_filter("tests", |when| !when.is_empty())) {
        let rules = |decision: &str| {
            Rules::parse(&format!("default = 'ask'\n[[rules]]\ntools = 'pay'\nwhen = {when}\ndecision = '{decision}'\nreason = 'r'")).unwrap()
        };
        let ruling = |decision: &str| decide(&request("pay", &argument), &Taint::default(), &rules(decision)).ruling();
        prop_assert!(ruling("allow") != Ruling::Allow || ruling("deny") == Ruling::Deny);
    }
}
