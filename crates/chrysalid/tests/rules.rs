//! A file of rules at work in the engine: what it allows, asks about and denies, of whom it asks, and what it makes of effects.

use std::time::Duration;

use chrysalid::{
    Approval, CallStatus, Capabilities, Capability, Decision, DecisionKind, Effects, ErrorKind, Restore, Reviewer,
    Rules, Session, SessionOptions, Value, Verdict,
};
use serde_json::json;

use crate::support::{BOTH, World, id, json, list, met, reasons, record, ruled, shown, status, text};

const PAY: &str = "[[rules]]
tools = 'pay'
when = { amount = { above = 100 } }
decision = 'ask'
reason = 'large payments are looked at'

[[rules]]
tools = 'pay'
when = { amount = { above = 1000 } }
decision = 'deny'
reason = 'nobody pays that much'
";

fn session(rules: &str, tools: &Capabilities) -> Session {
    ruled(rules).session(tools).unwrap()
}

fn pay(world: &World) -> Capabilities {
    Capabilities::new([world.pay(), world.echo(), world.gate()]).unwrap()
}

/// A program that gives `name: message` of what is refused.
fn caught(call: &str) -> String {
    format!("try {{ await {call} }} catch (e) {{ `${{e.name}}: ${{e.message}}` }}")
}

#[test]
fn arguments_decide() {
    for way in BOTH {
        let world = World::new();
        let mut session = session(PAY, &pay(&world));
        let source = "const all = await Promise.allSettled([10, 500, 5000].map(amount => tools.pay({ amount })));
all.map(end => end.value?.n ?? [end.reason.name, end.reason.message, end.reason.code, end.reason.tool, end.reason.retryable])";
        let pause = world.run(&mut session, source).paused();
        assert_eq!(shown(&pause), ["1.2 pay { amount: 500 }"]);
        assert_eq!(reasons(&pause.pending[0]), ["\"large payments are looked at\" (policy line 1)"]);
        assert_eq!(world.paid(), [10.0]);
        assert_eq!(record(&session), ["1.1 pay completed", "1.2 pay waiting", "1.3 pay denied"]);

        let mut session = way.pass_into(session, &pay(&world), SessionOptions::default(), || ruled(PAY));
        let denied = json(json!(["Denied", "pay: \"nobody pays that much\" (policy line 7)", "denied", "pay", false]));
        let value = world.decide(&mut session, "1.2", Decision::Approve).value();
        assert_eq!(value, list([Value::from(1), Value::from(2), denied]));
        assert_eq!(world.paid(), [10.0, 500.0]);
    }
}

#[test]
fn what_cannot_be_told_is_taken_strictly() {
    let world = World::new();
    let mut session = session(PAY, &pay(&world));
    let end = world.run(&mut session, &caught("tools.pay({ amount: 'many' })")).value();
    assert_eq!(end, text("Denied: pay: \"nobody pays that much\" (policy line 7)"));
    assert_eq!(world.paid(), [0.0; 0]);
}

#[test]
fn what_no_rule_allows_by_default() {
    let rules = "default = 'deny'\n[[rules]]\ntools = 'echo'\nwhen = { v = { below = 10 } }\ndecision = 'allow'\n";
    let world = World::new();
    let mut session = session(rules, &pay(&world));
    assert_eq!(world.run(&mut session, "await tools.echo({ v: 1 })").value(), Value::from(1));
    for call in ["tools.echo({ v: 10 })", "tools.echo({ v: '1' })", "tools.echo()", "tools.pay({ amount: 1 })"] {
        let name = if call.contains("pay") { "pay" } else { "echo" };
        let end = text(&format!("Denied: {name}: no rule of the policy decides; its default is \"deny\""));
        assert_eq!(world.run(&mut session, &caught(call)).value(), end, "{call}");
    }
    let failure = world.run(&mut session, "await tools.pay({ amount: 1 })").failure();
    assert_eq!(failure.to_string(), "Denied: pay: no rule of the policy decides; its default is \"deny\"");
    assert_eq!(world.calls(), ["echo { v: 1 }"]);

    let mut session = self::session("default = 'ask'", &pay(&world));
    let pause = world.run(&mut session, "await tools.echo({ v: 1 })").paused();
    assert_eq!(reasons(&pause.pending[0]), ["no rule of the policy decides; its default is \"ask\""]);
}

#[test]
fn whoever_decides_needs_every_role() {
    let rules = "[[rules]]\ntools = 'pay'\ndecision = 'ask'\nreason = 'r'\nroles = ['treasurer', 'director']\n";
    for way in BOTH {
        let world = World::new();
        let tools = Capabilities::new([world.pay().approval_role("owner"), world.echo()]).unwrap();
        let mut session = session(rules, &tools);
        let pause = world.run(&mut session, "(await tools.pay({ amount: 1 })).n").paused();
        assert_eq!(pause.pending[0].roles, ["director", "owner", "treasurer"]);
        let mut session = way.pass_into(session, &tools, SessionOptions::default(), || ruled(rules));
        let ann = Reviewer::named("ann").role("treasurer").role("owner");
        for (by, missing) in [(Reviewer::new(), "director, owner, treasurer"), (ann.clone(), "director")] {
            for decision in [Decision::Approve, Decision::Reject(None), Decision::Respond(Value::Null)] {
                let refused = session.decide_with(Verdict::new(id("1.1"), decision).by(by.clone())).unwrap_err();
                assert_eq!(refused.kind(), ErrorKind::DecisionNotAllowed);
                assert_eq!(refused.to_string(), format!("call 1.1 is to be decided by: {missing}"));
            }
        }
        session.decide_with(Verdict::new(id("1.1"), Decision::Approve).by(ann.role("director"))).unwrap();
        let mut session = way.pass_into(session, &tools, SessionOptions::default(), || ruled(rules));
        assert_eq!(world.drive(&mut session).value(), Value::from(1));
        let decided = session.calls()[0].decided.clone().unwrap();
        assert_eq!((decided.decision, decided.by.as_deref()), (DecisionKind::Approve, Some("ann")));
    }
}

#[test]
fn the_shortest_time_counts() {
    let hours = Duration::from_hours;
    let own = |world: &World, expiry: Option<Duration>| {
        let pay = expiry.into_iter().fold(world.pay(), Capability::approval_expiry);
        Capabilities::new([pay, world.gate()]).unwrap()
    };
    let file = "expires = '24h'\n[[rules]]\ntools = 'pay'\ndecision = 'ask'\nreason = 'r'\nexpires = '2h'\n";
    let world = World::new();
    for (expiry, call, expected) in [
        (None, "pay", hours(2)),
        (Some(hours(3)), "pay", hours(2)),
        (Some(hours(1)), "pay", hours(1)),
        (None, "gate", hours(24)),
    ] {
        let mut session = session(file, &own(&world, expiry));
        let pause = world.run(&mut session, &format!("await tools.{call}({{ amount: 1 }})")).paused();
        assert_eq!(pause.pending[0].expires_at, Some(world.time() + expected), "{expiry:?} {call}");
        world.advance(expected);
        let failure = world.drive(&mut session).failure();
        assert_eq!(failure.to_string(), format!("ApprovalExpired: {call}: nobody decided in time"));
    }
    assert_eq!(world.calls(), [""; 0]);
}

#[test]
fn the_decisions_that_all_allow() {
    let rules =
        "[[rules]]\ntools = 'pay'\ndecision = 'ask'\nreason = 'r'\ndecisions = ['approve', 'reject', 'respond']\n";
    let world = World::new();
    let own = world.pay().approval_decisions([DecisionKind::Approve, DecisionKind::Reject, DecisionKind::Edit]);
    let tools = Capabilities::new([own]).unwrap();
    let mut session = session(rules, &tools);
    let pause = world.run(&mut session, "await tools.pay({ amount: 1 })").paused();
    assert_eq!(pause.pending[0].allowed, [DecisionKind::Approve, DecisionKind::Reject]);
    let edit_call = Decision::EditCall { name: "pay".to_owned(), argument: json(json!({})) };
    for decision in [Decision::Respond(Value::Null), Decision::Edit(json(json!({}))), edit_call] {
        let refused = session.decide(id("1.1"), decision.clone()).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::DecisionNotAllowed);
        assert_eq!(refused.to_string(), format!("call 1.1 is waiting, and does not take {:?}", decision.kind()));
    }
    assert_eq!(world.decide(&mut session, "1.1", Decision::Reject(None)).failure().name, "ToolRejected");
}

#[test]
fn effects_depend_on_arguments() {
    let rules = "[[rules]]
tools = 'web.get'
when = { url = { domain_in = 'docs.own.example' } }
clears = ['untrusted']

[[rules]]
tools = 'notes.read'
when = { shared = true }
adds = ['untrusted']
";
    let world = World::new();
    let tools = || {
        Capabilities::new([
            world.answering("web.get", Value::Null).effects(Effects::UNTRUSTED),
            world.answering("notes.read", Value::Null).effects(Effects::PRIVATE),
        ])
        .unwrap()
    };
    for (call, expected) in [
        ("web.get({ url: 'https://docs.own.example/a' })", vec![]),
        (
            "web.get({ url: 'https://docs.own.example@evil.example/a' })",
            vec!["untrusted by web.get (call 1.1, line 1)"],
        ),
        ("web.get({ url: 1 })", vec!["untrusted by web.get (call 1.1, line 1)"]),
        ("notes.read({ shared: false })", vec!["private by notes.read (call 1.1, line 1)"]),
        (
            "notes.read({ shared: true })",
            vec!["private by notes.read (call 1.1, line 1)", "untrusted by notes.read (call 1.1, line 1)"],
        ),
        ("notes.read({ shared: [] })", vec!["private by notes.read (call 1.1, line 1)"]),
    ] {
        let mut session = session(rules, &tools());
        world.run(&mut session, &format!("await tools.{call}")).value();
        assert_eq!(met(&session), expected, "{call}");
    }
}

#[test]
fn rules_for_what_was_met_and_for_what_a_call_does() {
    let rules = "[[rules]]
tools = 'mail.*'
met = ['private']
decision = 'deny'
reason = 'private data stays here'

[[rules]]
tools = '**'
has = ['acts']
decision = 'ask'
reason = 'it acts'
";
    for way in BOTH {
        let world = World::new();
        let tools = || {
            Capabilities::new([
                world.answering("mail.send", text("sent")).effects(Effects::ACTS),
                world.answering("budget.read", Value::Null).effects(Effects::PRIVATE),
            ])
            .unwrap()
        };
        let mut session = session(rules, &tools());
        let pause = world.run(&mut session, "await tools.mail.send()").paused();
        assert_eq!(reasons(&pause.pending[0]), ["\"it acts\" (policy line 7)"]);
        assert_eq!(world.decide(&mut session, "1.1", Decision::Approve).value(), text("sent"));
        world.run(&mut session, "await tools.budget.read()").value();
        let mut session = way.pass_into(session, &tools(), SessionOptions::default(), || ruled(rules));
        let end = world.run(&mut session, &caught("tools.mail.send()")).value();
        assert_eq!(end, text("Denied: mail.send: \"private data stays here\" (policy line 1)"));
    }
}

#[test]
fn a_call_that_was_asked_for_before_is_denied_by_what_was_met_since() {
    // The mail is asked about first; the budget is read while it waits.
    let rules =
        "[[rules]]\ntools = 'mail.send'\nmet = ['private']\ndecision = 'deny'\nreason = 'private data stays here'\n";
    for way in BOTH {
        let world = World::new();
        let tools = || {
            Capabilities::new([
                world.answering("mail.send", text("sent")).effects(Effects::ACTS).approval(Approval::Ask),
                world.answering("budget.read", Value::Null).effects(Effects::PRIVATE),
            ])
            .unwrap()
        };
        let mut session = session(rules, &tools());
        let source = "const mail = tools.mail.send().catch(e => e.message); await tools.budget.read(); await mail";
        world.run(&mut session, source).waits();
        let mut session = way.pass_into(session, &tools(), SessionOptions::default(), || ruled(rules));
        let value = world.decide(&mut session, "1.1", Decision::Approve).value();
        assert_eq!(value, text("mail.send: \"private data stays here\" (policy line 1)"));
        assert_eq!(world.calls(), ["budget.read {}"]);
    }
}

#[test]
fn the_version_of_the_rules_is_shown() {
    let world = World::new();
    let mut session = session(PAY, &pay(&world));
    let pause = world.run(&mut session, "await tools.pay({ amount: 101 })").paused();
    assert_eq!(pause.pending[0].policy.as_deref(), Some(Rules::parse(PAY).unwrap().version()));
    let mut session = world.session();
    let pause = world.run(&mut session, "await tools.payGated({ amount: 101 })").paused();
    assert_eq!(pause.pending[0].policy, None);
}

const ROLES: &str = "[[rules]]
tools = 'pay'
when = { amount = { above = 100 } }
decision = 'ask'
reason = 'large'

[[rules]]
tools = 'pay'
when = { amount = { above = 500 } }
decision = 'ask'
reason = 'very large'
role = 'director'

[[rules]]
tools = 'pay'
when = { amount = { above = 1000 } }
decision = 'deny'
reason = 'nobody pays that much'
";

#[test]
fn what_is_edited_is_ruled_on_again() {
    for way in BOTH {
        let world = World::new();
        let mut session = session(ROLES, &pay(&world));
        world.run(&mut session, "(await tools.pay({ amount: 200 })).amount").waits();
        let mut session = way.pass_into(session, &pay(&world), SessionOptions::default(), || ruled(ROLES));
        for (amount, message) in [
            (5000, "call 1.1: pay: \"nobody pays that much\" (policy line 14)"),
            (600, "call 1.1: pay with these arguments is to be decided by: director"),
        ] {
            let refused = session.decide(id("1.1"), Decision::Edit(json(json!({ "amount": amount })))).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::DecisionNotAllowed);
            assert_eq!(refused.to_string(), message);
            assert!(!session.pending()[0].decided);
        }
        let by = Reviewer::named("eve").role("director");
        let verdict = Verdict::new(id("1.1"), Decision::Edit(json(json!({ "amount": 600 })))).by(by);
        session.decide_with(verdict).unwrap();
        let mut session = way.pass_into(session, &pay(&world), SessionOptions::default(), || ruled(ROLES));
        assert_eq!(world.drive(&mut session).value(), Value::from(600));
        assert_eq!(world.paid(), [600.0]);
    }
}

#[test]
fn a_later_denial_wins_and_a_later_role_is_asked_for() {
    let world = World::new();
    let mut session = session(ROLES, &pay(&world));
    world.run(&mut session, &caught("tools.pay({ amount: 200 })")).waits();
    session.decide(id("1.1"), Decision::Approve).unwrap();
    let image = session.snapshot().unwrap();

    let stricter = "[[rules]]\ntools = 'pay'\ndecision = 'deny'\nreason = 'closed'\n";
    let mut session = ruled(stricter).restore(&image, &pay(&world), Restore::Resume).unwrap();
    assert_eq!(world.drive(&mut session).value(), text("Denied: pay: \"closed\" (policy line 1)"));
    assert_eq!(status(&session, "1.1"), CallStatus::Denied);

    let director = "[[rules]]\ntools = 'pay'\ndecision = 'ask'\nreason = 'new'\nrole = 'director'\n";
    let mut session = ruled(director).restore(&image, &pay(&world), Restore::Resume).unwrap();
    let pause = world.drive(&mut session).paused();
    assert_eq!(reasons(&pause.pending[0]), ["\"new\" (policy line 1)"]);
    assert_eq!(pause.pending[0].roles, ["director"]);
    assert!(!pause.pending[0].decided);
    assert_eq!(world.paid(), [0.0; 0]);
    let verdict = Verdict::of(&pause.pending[0], Decision::Approve).by(Reviewer::new().role("director"));
    session.decide_with(verdict).unwrap();
    world.drive(&mut session).value();
    assert_eq!(world.paid(), [200.0]);
}

#[test]
fn another_call_in_its_place_is_ruled_on_as_the_programs_own() {
    let edit = |name: &str, argument| Decision::EditCall { name: name.to_owned(), argument: json(argument) };
    for way in BOTH {
        let world = World::new();
        let mut session = session(ROLES, &pay(&world));
        world.run(&mut session, "await tools.gate({ q: 1 })").waits();
        let mut session = way.pass_into(session, &pay(&world), SessionOptions::default(), || ruled(ROLES));
        let refused = session.decide(id("1.1"), edit("pay", json!({ "amount": 5000 }))).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::DecisionNotAllowed);
        assert_eq!(refused.to_string(), "call 1.1: pay: \"nobody pays that much\" (policy line 14)");
        let refused = session.decide(id("1.1"), edit("fly", json!({}))).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::MissingCapability);
        assert_eq!(refused.to_string(), "call 1.1: fly is not available");

        // Asks anew, of whom the rules say.
        let pause = world.decide(&mut session, "1.1", edit("pay", json!({ "amount": 600 }))).paused();
        assert_eq!(shown(&pause), ["1.1 pay { amount: 600 }"]);
        assert_eq!(reasons(&pause.pending[0]), ["\"large\" (policy line 1)", "\"very large\" (policy line 7)"]);
        assert_eq!(pause.pending[0].roles, ["director"]);
        let mut session = way.pass_into(session, &pay(&world), SessionOptions::default(), || ruled(ROLES));
        assert_eq!(session.decide(id("1.1"), Decision::Approve).unwrap_err().kind(), ErrorKind::DecisionNotAllowed);
        assert_eq!(world.calls(), [""; 0]);
        // And may become a third one, which nobody asks about.
        let verdict = Verdict::new(id("1.1"), edit("echo", json!({ "v": { "x": 7 } })))
            .by(Reviewer::named("eve").role("director"));
        session.decide_with(verdict).unwrap();
        let value = world.drive(&mut session).value();
        assert_eq!(value, json(json!({ "x": 7, "edited_by_human": { "v": { "x": 7 } } })));
        let call = &session.calls()[0];
        assert_eq!(
            (call.name.as_str(), call.called_as.as_deref(), call.status),
            ("echo", Some("gate"), CallStatus::Completed)
        );
        assert_eq!(call.decided.as_ref().unwrap().by.as_deref(), Some("eve"));
        assert_eq!(world.calls(), ["echo { v: { x: 7 } }"]);
    }
}

#[test]
fn the_same_name_is_an_edit() {
    let world = World::new();
    let mut session = session(ROLES, &pay(&world));
    world.run(&mut session, "(await tools.pay({ amount: 200 })).amount").waits();
    let edit = Decision::EditCall { name: "pay".to_owned(), argument: json(json!({ "amount": 300 })) };
    assert_eq!(world.decide(&mut session, "1.1", edit).value(), Value::from(300));
    assert_eq!(session.calls()[0].called_as, None);
    assert_eq!(session.calls()[0].edited, Some(json(json!({ "amount": 300 }))));
}
