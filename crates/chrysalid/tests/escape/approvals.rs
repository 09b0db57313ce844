//! Decisions of people: asked for, given once, about what was asked. And snapshots, which must not be a way around them.

use chrysalid::defence::Defence;
use chrysalid::{Capabilities, Capability, Decision, Engine, Modules, Restore, SessionOptions, Value};

use super::Attempt::Programs;
use super::{Attack, limited, scripted, session_of};
use crate::support::{World, id, text};

pub(super) const ATTACKS: &[Attack] = &[
    Attack {
        name: "pay_without_asking",
        defence: Defence::Approval,
        attempt: Programs(&["await tools.payGated({ amount: 1 }); 1"]),
        held: "asks: 1.1 payGated",
        through: "1, paid [1.0]",
    },
    Attack {
        name: "pay_in_a_race_that_is_won_by_another",
        defence: Defence::Approval,
        attempt: Programs(&["await Promise.race([tools.payGated({ amount: 1 }), tools.slow({ ms: 1 })]); 1"]),
        held: "1",
        through: "1, paid [1.0]",
    },
    Attack {
        name: "pay_from_a_timer",
        defence: Defence::Approval,
        attempt: Programs(&["setTimeout(() => tools.payGated({ amount: 1 }), 1); 1"]),
        held: "asks: 1.1 payGated",
        through: "1, paid [1.0]",
    },
    Attack {
        name: "keep_a_question_from_being_seen_by_timers_without_end",
        defence: Defence::PauseDespiteTimers,
        attempt: Programs(&[
            "let n = 0; const id = setInterval(() => { if (++n > 100) clearInterval(id) }, 1000); const r = await Promise.race([tools.gate({}), new Promise(r => { const t = setInterval(() => { if (n > 100) { clearInterval(t); r('dodged') } }, 1000) })]); r",
        ]),
        held: "asks: 1.1 gate",
        through: "'dodged'",
    },
    scripted(
        Defence::KnownCalls,
        "settle_a_call_by_the_number_of_another_program",
        settle_across_programs,
        "UnknownCall",
        "settled",
    ),
    scripted(
        Defence::DecidedOnce,
        "change_a_decision_before_it_is_carried_out",
        decide_twice,
        "AlreadyDecided",
        "decided twice",
    ),
    scripted(
        Defence::AllowedDecisions,
        "approve_what_only_an_answer_settles",
        approve_unallowed,
        "DecisionNotAllowed",
        "decided",
    ),
    scripted(Defence::EditsChecked, "edit_past_the_schema", edit_past_schema, "InvalidArguments", "decided"),
    scripted(Defence::SettledOnce, "answer_a_call_twice", settle_twice, "AlreadyDecided", "settled"),
    scripted(
        Defence::FreshRandom,
        "guess_numbers_by_restoring_the_same_snapshot",
        |engine| {
            let bytes = gated(engine);
            let drawn = [(), ()].map(|()| {
                let world = World::new();
                let mut session =
                    engine.restore_with(&bytes, &world.tools(), Restore::Resume, limited(|_| {})).unwrap();
                world.decide(&mut session, "1.1", Decision::Approve).value()
            });
            if drawn[0] == drawn[1] { "the same" } else { "others" }.to_owned()
        },
        "others",
        "the same",
    ),
    scripted(
        Defence::ContextBound,
        "restore_what_another_tenant_stored",
        |engine| {
            let bytes = gated(engine);
            let mut options = limited(|_| {});
            options.context = b"another tenant".to_vec();
            restored(engine.restore_with(&bytes, &World::new().tools(), Restore::Resume, options))
        },
        "OtherContext",
        "restored",
    ),
    scripted(
        Defence::StoredCallsChecked,
        "carry_an_argument_past_a_schema_by_a_snapshot",
        |engine| {
            let bytes = gated(engine);
            let schema = serde_json::json!({
                "type": "object", "properties": { "q": { "type": "string", "maxLength": 3 } }, "required": ["q"]
            });
            let tools = Capabilities::new([World::new().gate().input_schema(schema)]).unwrap();
            restored(engine.restore_with(&bytes, &tools, Restore::Resume, limited(|_| {})))
        },
        "StaleArguments",
        "restored",
    ),
    scripted(
        Defence::RootedModules,
        "import_from_above_the_root",
        import_from_above,
        "asked for nothing",
        "asked for ../secret.js",
    ),
];

/// A snapshot of a program that waits for `gate`, and then draws a number.
fn gated(engine: &Engine) -> Vec<u8> {
    let world = World::new();
    let mut session = session_of(engine, &world.tools(), |_| {});
    world.run(&mut session, "await tools.gate({ q: 'long' }); Math.random()").waits();
    session.snapshot().unwrap()
}

fn restored(result: chrysalid::Result<chrysalid::Session>) -> String {
    result.map_or_else(|error| format!("{:?}", error.kind()), |_| "restored".to_owned())
}

fn outcome(result: chrysalid::Result<()>, done: &str) -> String {
    result.map_or_else(|error| format!("{:?}", error.kind()), |()| done.to_owned())
}

fn settle_across_programs(engine: &Engine) -> String {
    let world = World::new();
    let mut session = session_of(engine, &world.tools(), |_| {});
    world.run(&mut session, "1").value();
    session.start("await tools.slow({ ms: 1e6 })").unwrap();
    while matches!(session.step(world.time()).unwrap(), chrysalid::Step::Busy) {}
    outcome(session.settle(id("1.1"), Ok(text("forged"))), "settled")
}

fn decide_twice(engine: &Engine) -> String {
    let world = World::new();
    let mut session = session_of(engine, &world.tools(), |_| {});
    world.run(&mut session, "await tools.gate({})").waits();
    session.decide(id("1.1"), Decision::Reject(None)).unwrap();
    outcome(session.decide(id("1.1"), Decision::Approve), "decided twice")
}

fn approve_unallowed(engine: &Engine) -> String {
    let world = World::new();
    let gate = Capability::external("gate");
    let mut session = session_of(engine, &Capabilities::new([gate]).unwrap(), |_| {});
    world.run(&mut session, "await tools.gate({})").waits();
    outcome(session.decide(id("1.1"), Decision::Approve), "decided")
}

fn edit_past_schema(engine: &Engine) -> String {
    let world = World::new();
    let schema = serde_json::json!({
        "type": "object", "properties": { "amount": { "type": "number", "maximum": 10 } }, "required": ["amount"]
    });
    let pay = world.pay_gated().input_schema(schema);
    let mut session = session_of(engine, &Capabilities::new([pay]).unwrap(), |_| {});
    world.run(&mut session, "await tools.payGated({ amount: 1 })").waits();
    let edited = crate::support::object([("amount", Value::from(1e6))]);
    outcome(session.decide(id("1.1"), Decision::Edit(edited)), "decided")
}

fn settle_twice(engine: &Engine) -> String {
    let world = World::new();
    let mut session = session_of(engine, &world.tools(), |_| {});
    session.start("await tools.slow({ ms: 1e6 })").unwrap();
    while matches!(session.step(world.time()).unwrap(), chrysalid::Step::Busy) {}
    session.settle(id("1.1"), Ok(text("first"))).unwrap();
    outcome(session.settle(id("1.1"), Ok(text("second"))), "settled")
}

fn import_from_above(engine: &Engine) -> String {
    let asked = std::sync::Arc::new(std::sync::Mutex::new("nothing".to_owned()));
    let noted = asked.clone();
    let mut options: SessionOptions = limited(|_| {});
    options.modules = Modules::resolver(["a.js"], move |key| {
        *noted.lock().unwrap() = key;
        std::future::ready(Ok(None))
    });
    let mut session = engine.session_with(&Capabilities::none(), options).unwrap();
    World::new().run(&mut session, "await import('../secret.js')").failure();
    let asked = asked.lock().unwrap().clone();
    format!("asked for {asked}")
}
