//! Grants: what a person allows beforehand, for how many calls, how long, and in whose place.

use std::time::{Duration, SystemTime};

use chrysalid::{
    Capabilities, Decision, Effects, ErrorKind, Grant, GrantRecord, Limits, Restore, Reviewer, Session, SessionOptions,
    Value, WhenSpent,
};

use crate::support::{BOTH, ENGINE, World, fresh_engine, reasons, ruled, shown, text, with_limits};

const HOUR: Duration = Duration::from_hours(1);

#[track_caller]
fn give(session: &mut Session, terms: &str, now: SystemTime) -> u32 {
    session.grant(Grant::parse(terms).unwrap(), &Reviewer::named("ann"), now).unwrap()
}

/// Number of each grant, and how many calls are left of it.
fn left(session: &Session) -> Vec<(u32, u32)> {
    session.grants().iter().map(|grant| (grant.number, grant.left)).collect()
}

fn used(session: &Session) -> Vec<Option<u32>> {
    session.calls().iter().map(|call| call.grant).collect()
}

#[test]
fn a_grant_is_recorded_with_all_that_it_is() {
    let world = World::new();
    let mut session = world.session();
    world.run(&mut session, "await tools.gate({ q: 1 })").waits();
    give(&mut session, "tools = 'payGated', count = 2, lasts = '1h', scope = 'session'", world.time());
    let session = crate::support::moved(session, &world.tools());
    let [record] = session.grants().try_into().unwrap();
    let GrantRecord { number, grant, left, expires_at, by, .. } = record;
    assert_eq!(grant.to_string(), "tools = [\"payGated\"], count = 2, lasts = \"1h\", scope = \"session\"");
    assert_eq!((number, left, expires_at, by.as_deref()), (1, 2, Some(world.time() + HOUR), Some("ann")));
}

#[test]
fn it_is_counted_down() {
    for way in BOTH {
        let world = World::new();
        let mut session = world.session();
        world
            .run(
                &mut session,
                "await tools.gate({ q: 1 }); for (let i = 0; i < 4; i++) await tools.payGated({ amount: i })",
            )
            .waits();
        give(&mut session, "tools = 'payGated', count = 2", world.time());
        let mut session = way.pass(session, &world.tools());
        let pause = world.decide(&mut session, "1.1", Decision::Approve).paused();
        assert_eq!(shown(&pause), ["1.4 payGated { amount: 2 }"]);
        assert_eq!(used(&session), [None, Some(1), Some(1), None]);
        assert_eq!(world.paid(), [0.0, 1.0]);
        // A second one goes on where the first ends.
        give(&mut session, "tools = 'payGated', count = 5", world.time());
        let mut session = way.pass(session, &world.tools());
        assert_eq!(
            world.decide(&mut session, "1.4", Decision::Approve).value(),
            crate::support::object([("ok", Value::from(true)), ("n", Value::from(4)), ("amount", Value::from(3)),])
        );
        assert_eq!(used(&session), [None, Some(1), Some(1), None, Some(2)]);
    }
}

#[test]
fn it_ends_in_time() {
    for way in BOTH {
        for (waits, granted) in [(Duration::from_millis(3_599_999), true), (HOUR, false)] {
            let world = World::new();
            let mut session = world.session();
            world.run(&mut session, "await tools.gate({ q: 1 }); await tools.payGated({ amount: 1 }); 'end'").waits();
            give(&mut session, "tools = 'payGated', count = 9, lasts = '1h'", world.time());
            let mut session = way.pass(session, &world.tools());
            world.advance(waits);
            let halt = world.decide(&mut session, "1.1", Decision::Approve);
            if granted {
                assert_eq!(halt.value(), text("end"));
            } else {
                assert_eq!(shown(&halt.paused()), ["1.2 payGated { amount: 1 }"]);
            }
        }
    }
}

#[test]
fn what_cannot_be_told_is_not_covered() {
    let world = World::new();
    for (argument, covered) in [
        ("{ amount: 10 }", true),
        ("{ amount: 10.5 }", false),
        ("{ amount: '5' }", false),
        ("{ amount: [5] }", true),
        ("{ amount: [5, 50] }", false),
        ("{ amount: [] }", false),
        ("{ amount: null }", false),
        ("{}", false),
        ("{ amount: NaN }", false),
        ("{ amount: 5n }", true),
    ] {
        let mut session = world.session();
        world
            .run(&mut session, &format!("await tools.gate({{ q: 1 }}); await tools.payGated({argument}); 'end'"))
            .waits();
        give(&mut session, "tools = 'payGated', when = { amount = { at_most = 10 } }, count = 9", world.time());
        let halt = world.decide(&mut session, "1.1", Decision::Approve);
        assert_eq!(matches!(halt, crate::support::Halt::Ended(_)), covered, "{argument}");
    }
}

#[test]
fn it_answers_in_the_place_of_whoever_gave_it() {
    let rules = "[[rules]]\ntools = 'pay'\ndecision = 'ask'\nreason = 'r'\nrole = 'treasurer'\n";
    for way in BOTH {
        let world = World::new();
        let mut session = ruled(rules).session(&world.tools()).unwrap();
        let source = "await tools.gate({ q: 1 }); await tools.pay({ amount: 1 }); await tools.gate({ q: 2 }); await tools.pay({ amount: 2 })";
        world.run(&mut session, source).waits();
        give(&mut session, "tools = 'pay', count = 9", world.time());
        let mut session = way.pass_into(session, &world.tools(), SessionOptions::default(), || ruled(rules));
        let pause = world.decide(&mut session, "1.1", Decision::Approve).paused();
        assert_eq!(shown(&pause), ["1.2 pay { amount: 1 }"], "ann is no treasurer");
        let treasurer = Reviewer::named("bob").role("treasurer");
        session
            .decide_with(chrysalid::Verdict::of(&pause.pending[0], Decision::Approve).by(treasurer.clone()))
            .unwrap();
        assert_eq!(shown(&world.drive(&mut session).paused()), ["1.3 gate { q: 2 }"]);
        session.grant(Grant::new("pay", 1).unwrap(), &treasurer, world.time()).unwrap();
        let mut session = way.pass_into(session, &world.tools(), SessionOptions::default(), || ruled(rules));
        world.decide(&mut session, "1.3", Decision::Approve).value();
        assert_eq!(used(&session), [None, None, None, Some(2)]);
        assert_eq!(world.paid(), [1.0, 2.0]);
    }
}

#[test]
fn it_ends_with_its_program_or_its_session() {
    for way in BOTH {
        let world = World::new();
        let mut session = world.session();
        world.run(&mut session, "await tools.gate({ q: 1 })").waits();
        give(&mut session, "tools = 'payGated', count = 9", world.time());
        give(&mut session, "tools = 'gate', count = 9, scope = 'session'", world.time());
        assert_eq!(left(&session), [(1, 9), (2, 9)]);
        world.decide(&mut session, "1.1", Decision::Approve).value();
        assert_eq!(left(&session), [(2, 9)]);
        let mut session = way.pass(session, &world.tools());
        let pause = world.run(&mut session, "await tools.gate({ q: 2 }); await tools.payGated({ amount: 1 })").paused();
        assert_eq!(shown(&pause), ["2.3 payGated { amount: 1 }"]);
        assert_eq!(left(&session), [(2, 8)]);
        assert_eq!(used(&session), [None, Some(2), None]);
    }
}

#[test]
fn a_grant_for_the_session_needs_no_program() {
    let world = World::new();
    let mut session = world.session();
    let refused = session.grant(Grant::new("gate", 1).unwrap(), &Reviewer::new(), world.time()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::NotRunning);
    assert_eq!(refused.to_string(), "a grant for one program needs a program that runs");
    session.grant(Grant::new("gate", 1).unwrap().for_session(), &Reviewer::new(), world.time()).unwrap();
    assert_eq!(world.run(&mut session, "await tools.gate({ q: 1 })").value(), text("yes"));
    assert_eq!(session.grants(), [], "used up");
}

#[test]
fn a_session_keeps_256() {
    let world = World::new();
    let mut session = world.session();
    let grant = || Grant::new("gate", 1).unwrap().for_session();
    for number in 1..=256 {
        assert_eq!(session.grant(grant(), &Reviewer::new(), world.time()).unwrap(), number);
    }
    let refused = session.grant(grant(), &Reviewer::new(), world.time()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Config);
    assert_eq!(refused.to_string(), "a session keeps 256 grants and has them");
    world.run(&mut session, "await tools.gate({ q: 1 })").value();
    assert_eq!(session.grant(grant(), &Reviewer::new(), world.time()).unwrap(), 257);
}

#[test]
fn a_fork_does_not_inherit_it() {
    let world = World::new();
    let mut session = world.session();
    world.run(&mut session, "await tools.gate({ q: 1 }); await tools.payGated({ amount: 1 })").waits();
    give(&mut session, "tools = 'payGated', count = 9, scope = 'session'", world.time());
    let image = session.snapshot().unwrap();
    let mut fork = fresh_engine().restore(&image, &world.tools(), Restore::Fork).unwrap();
    assert_eq!(fork.grants(), []);
    let pause = world.decide(&mut fork, "1.1", Decision::Approve).paused();
    assert_eq!(shown(&pause), ["1.2 payGated { amount: 1 }"]);
    let mut resumed = fresh_engine().restore(&image, &world.tools(), Restore::Resume).unwrap();
    world.decide(&mut resumed, "1.1", Decision::Approve).value();
    assert_eq!(world.paid(), [1.0]);
}

#[test]
fn it_answers_the_rule_of_two_and_a_predicate_and_no_denial() {
    let rules = "[[rules]]\ntools = 'mail.send'\nwhen = { to = 'evil' }\ndecision = 'deny'\nreason = 'never'\n";
    let world = World::new();
    let tools = Capabilities::new([
        world.answering("read", Value::Null).effects(Effects::PRIVATE | Effects::UNTRUSTED),
        world.answering("mail.send", text("sent")).effects(Effects::ACTS).ask_when(|_| true),
    ])
    .unwrap();
    let mut session = ruled(rules).session(&tools).unwrap();
    session.grant(Grant::new("mail.*", 9).unwrap().for_session(), &Reviewer::new(), world.time()).unwrap();
    assert_eq!(
        world.run(&mut session, "await tools.read(); await tools.mail.send({ to: 'ann' })").value(),
        text("sent")
    );
    let failure = world.run(&mut session, "await tools.mail.send({ to: 'evil' })").failure();
    assert_eq!(failure.to_string(), "Denied: mail.send: \"never\" (policy line 1)");
    assert_eq!(left(&session), [(1, 8)]);
    // What a grant allowed counts as met.
    assert_eq!(session.taint().effects(), Effects::ALL);
}

#[test]
fn it_adds_to_no_budget() {
    let world = World::new();
    let options = with_limits(|limits: &mut Limits| {
        limits.calls = 1;
        limits.when_spent = WhenSpent::Ask;
    });
    let mut session = world.session_with(options);
    session.grant(Grant::new("**", 9).unwrap().for_session(), &Reviewer::new(), world.time()).unwrap();
    let pause =
        world.run(&mut session, "await tools.payGated({ amount: 1 }); await tools.payGated({ amount: 2 })").paused();
    assert_eq!(shown(&pause), ["1.2 payGated { amount: 2 }"]);
    assert_eq!(reasons(&pause.pending[0]), ["asks each time", "no calls of the program left of 1"]);
    assert_eq!(left(&session), [(1, 8)]);
}

#[test]
fn it_is_no_answer_to_what_was_not_in_the_plan() {
    let world = World::new();
    let mut options = SessionOptions::default();
    options.approve_program = true;
    let mut session = ENGINE.session_with(&world.tools(), options).unwrap();
    session.grant(Grant::new("**", 9).unwrap().for_session(), &Reviewer::new(), world.time()).unwrap();
    let source =
        "await tools.payGated({ amount: 1 }); const t = 'pay'; await globalThis['to' + 'ols'][t]({ amount: 2 })";
    let pause = world.run(&mut session, source).paused();
    assert_eq!(pause.pending[0].name, "$program");
    let pause = world.decide(&mut session, "1.1", Decision::Approve).paused();
    assert_eq!(shown(&pause), ["1.3 pay { amount: 2 }"]);
    assert_eq!(reasons(&pause.pending[0]), ["not in the plan that was approved"]);
    assert_eq!(left(&session), [(1, 9)], "the plan answered the first");
}
