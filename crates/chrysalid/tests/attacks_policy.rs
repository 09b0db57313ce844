//! Ways around the policy that were tried and are closed: each of these let something through, or told something, once.

use chrysalid::{
    Capabilities, Capability, Decision, Delivery, Effects, ErrorKind, Grant, Handle, Restore, Reviewer, SessionOptions,
    Value,
};

use crate::support::{ENGINE, World, begin, fresh_engine, id, met, object, ruled, shown, text, with_limits};

const NO_YES: &str = "[[rules]]
tools = 'pay'
when = { amount = { above = 100 } }
decision = 'ask'
reason = 'so much is never approved'
decisions = ['reject']
";

fn amount(amount: f64) -> Value {
    object([("amount", Value::from(amount))])
}

fn first_asked(options: bool) -> SessionOptions {
    let mut given = SessionOptions::default();
    given.approve_program = options;
    given
}

#[test]
fn a_grant_is_no_approval_where_none_is_taken() {
    let world = World::new();
    let mut session = ruled(NO_YES).session(&world.tools()).unwrap();
    let grant = Grant::parse("tools = 'pay', count = 9, scope = 'session'").unwrap();
    session.grant(grant, &Reviewer::named("ann"), begin()).unwrap();
    let pause = world.run(&mut session, "await tools.pay({ amount: 500 })").paused();
    assert_eq!(shown(&pause), ["1.1 pay { amount: 500 }"]);
    assert_eq!((world.paid(), session.grants()[0].left), (Vec::<f64>::new(), 9));
}

#[test]
fn an_approved_program_is_no_approval_where_none_is_taken() {
    let world = World::new();
    let mut session = ruled(NO_YES).session_with(&world.tools(), first_asked(true)).unwrap();
    world.run(&mut session, "await tools.pay({ amount: 500 })").waits();
    let pause = world.decide(&mut session, "1.1", Decision::Approve).paused();
    assert_eq!(shown(&pause), ["1.2 pay { amount: 500 }"]);
    assert_eq!(world.paid(), [0.0; 0]);
}

#[test]
fn an_approved_program_is_asked_by_rules_about_what_was_met() {
    let rules = "[[rules]]\ntools = 'pay'\nmet = ['private']\ndecision = 'ask'\nreason = 'after private data'";
    let world = World::new();
    let tools =
        [world.pay().effects(Effects::ACTS), world.answering("budget.read", text("x")).effects(Effects::PRIVATE)];
    let tools = Capabilities::new(tools).unwrap();
    let mut session = ruled(rules).session_with(&tools, first_asked(true)).unwrap();
    world.run(&mut session, "await tools.budget.read(); await tools.pay({ amount: 1 })").waits();
    let pause = world.decide(&mut session, "1.1", Decision::Approve).paused();
    assert_eq!(shown(&pause), ["1.3 pay { amount: 1 }"]);
    assert_eq!(world.paid(), [0.0; 0]);
}

#[test]
fn an_edit_goes_by_the_rules_about_what_was_written() {
    let rules = format!("{NO_YES}[[rules]]\ntools = 'pay'\ndecision = 'ask'\nreason = 'always'\n");
    let world = World::new();
    let mut session = ruled(&rules).session(&world.tools()).unwrap();
    world.run(&mut session, "await tools.pay({ amount: 1 })").waits();
    let refused = session.decide(id("1.1"), Decision::Edit(amount(500.0))).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::DecisionNotAllowed);
    assert_eq!(refused.to_string(), "call 1.1: pay with these arguments does not take Edit");
    world.decide(&mut session, "1.1", Decision::Edit(amount(2.0))).value();
    assert_eq!(world.paid(), [2.0]);
}

#[test]
fn an_approval_goes_by_the_rules_of_the_day() {
    let world = World::new();
    let lax = "[[rules]]\ntools = 'pay'\ndecision = 'ask'\nreason = 'always'";
    let mut session = ruled(lax).session(&world.tools()).unwrap();
    world.run(&mut session, "await tools.pay({ amount: 500 })").waits();
    let bytes = session.snapshot().unwrap();
    let mut session = ruled(NO_YES).restore(&bytes, &world.tools(), Restore::Resume).unwrap();
    let pause = world.decide(&mut session, "1.1", Decision::Approve).paused();
    assert_eq!(shown(&pause), ["1.1 pay { amount: 500 }"]);
    assert_eq!(world.paid(), [0.0; 0]);
}

#[test]
fn what_was_let_through_without_a_label_is_met_with_one() {
    let world = World::new();
    let tools = |labelled: bool| {
        let both = Effects::PRIVATE | Effects::UNTRUSTED;
        let cards = [(Capability::external("inbox.read"), both), (world.pay(), Effects::ACTS)];
        let cards = cards.map(|(card, effects)| if labelled { card.effects(effects) } else { card });
        Capabilities::new(cards).unwrap()
    };
    let mut session = ENGINE.session(&tools(false)).unwrap();
    world.run(&mut session, "await tools.inbox.read(); await tools.pay({ amount: 1 })").waits();
    let bytes = session.snapshot().unwrap();
    let mut session = fresh_engine().restore(&bytes, &tools(true), Restore::Resume).unwrap();
    assert_eq!(
        met(&session),
        ["private by inbox.read (call 1.1, line 1)", "untrusted by inbox.read (call 1.1, line 1)"]
    );
    let pause = world.decide(&mut session, "1.1", Decision::Respond(text("hello"))).paused();
    assert_eq!(shown(&pause), ["1.2 pay { amount: 1 }"]);
}

fn with_handles(world: &World, secret: &str) -> Capabilities {
    Capabilities::new([
        world.answering("budget.read", text(secret)).effects(Effects::PRIVATE).delivery(Delivery::Handle),
        world.gate().effects(Effects::NONE),
        world.mirror().effects(Effects::NONE),
    ])
    .unwrap()
}

#[test]
fn a_handle_that_a_person_puts_in_brings_what_it_holds() {
    for edit in [true, false] {
        let world = World::new();
        let mut session = ENGINE.session(&with_handles(&world, "swordfish")).unwrap();
        world.run(&mut session, "await tools.budget.read(); await tools.gate({ q: 1 })").waits();
        let argument = object([("q", Value::from(Handle::new(1, "budget.read")))]);
        let decision =
            if edit { Decision::Edit(argument) } else { Decision::EditCall { name: "mirror".into(), argument } };
        world.decide(&mut session, "1.2", decision).value();
        assert_eq!(session.taint().effects(), Effects::PRIVATE, "{edit}");
    }
}

#[test]
fn how_much_room_a_handle_leaves_is_something_that_it_tells() {
    for (size, told) in [(1000, Effects::NONE), (400_000, Effects::PRIVATE)] {
        let world = World::new();
        let tools = with_handles(&world, &"x".repeat(size));
        let limits = with_limits(|limits| limits.host_memory = 1 << 20);
        let mut session = ENGINE.session_with(&tools, limits).unwrap();
        let source = "await tools.budget.read();
try { await tools.mirror({ text: 'y'.repeat(350_000) }); 'small' } catch (e) { e.name }";
        let end = world.run(&mut session, source).value();
        let expected = if told.is_empty() { "small" } else { "ResultTooLarge" };
        assert_eq!((end, session.taint().effects()), (text(expected), told), "{size}");
    }
}
