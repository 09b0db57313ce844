//! The policy: what a session has met, what was approved and by whom, what was granted, and what is spent.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use chrysalid::defence::Defence;
use chrysalid::{
    Approval, AuditSink, Budget, Capabilities, Capability, Decision, Delivery, Effects, Engine, Grant, Limits,
    Reviewer, RunBudget, Session, SessionOptions, ToolError, Value, Verdict,
};
use serde_json::json;

use super::{Attack, halted, limited, paid, scripted, session_of};
use crate::support::{World, id, text};

pub(super) const ATTACKS: &[Attack] = &[
    scripted(
        Defence::SessionBudget,
        "call_more_than_a_session_may_by_many_programs",
        |engine| {
            let change = |limits: &mut Limits| limits.session = Budget { calls: Some(2), ..Budget::default() };
            three_payments(engine, change)
        },
        "CallBudgetExceeded: pay: this session may make 2 calls and has made them, paid [1.0, 1.0]",
        "1, paid [1.0, 1.0, 1.0]",
    ),
    scripted(
        Defence::RunBudget,
        "call_more_than_a_run_may_by_two_sessions",
        |engine| {
            let world = World::new();
            let run = RunBudget::new(Budget { calls: Some(1), ..Budget::default() });
            let mut seen = String::new();
            for _ in 0..2 {
                let mut session = engine.session_with(&world.tools(), of_run(&run)).unwrap();
                seen = halted(&world.run(&mut session, "await tools.pay({ amount: 1 }); 1"));
            }
            seen + &paid(&world)
        },
        "CallBudgetExceeded: pay: this run may make 1 call and has made it, paid [1.0]",
        "1, paid [1.0, 1.0]",
    ),
    scripted(
        Defence::RunWallTime,
        "go_on_in_another_session_when_the_time_of_the_run_is_over",
        |engine| {
            let world = World::new();
            let run = RunBudget::new(Budget::default()).wall_time(Duration::from_secs(5));
            let mut seen = String::new();
            for _ in 0..2 {
                let mut session = engine.session_with(&world.tools(), of_run(&run)).unwrap();
                seen = halted(&world.run(&mut session, "await tools.slow({ ms: 4000 }); 'late'"));
            }
            seen
        },
        "WallTimeout Intact",
        "'late'",
    ),
    scripted(
        Defence::RunCallsInFlight,
        "more_at_one_time_than_a_run_may_by_two_sessions",
        |engine| {
            let world = World::new();
            let run = RunBudget::new(Budget::default()).calls_in_flight(3);
            let session = || engine.session_with(&world.tools(), of_run(&run)).unwrap();
            let (mut one, mut other) = (session(), session());
            for session in [&mut one, &mut other] {
                session.start("await Promise.all([1, 2, 3].map(ms => tools.slow({ ms }))); 1").unwrap();
            }
            for halt in world.drive_together([&mut one, &mut other]) {
                halt.value();
            }
            format!("{} at one time", world.peak())
        },
        "3 at one time",
        "6 at one time",
    ),
    scripted(
        Defence::SpawnBudget,
        "spawn_subagents_without_end",
        |engine| {
            let world = World::new();
            let tools = Capabilities::new([world.pay().subagent()]).unwrap();
            let mut session = session_of(engine, &tools, |limits| limits.spawns = Some(1));
            let source = "await tools.pay({ amount: 1 }); await tools.pay({ amount: 2 }); 1";
            halted(&world.run(&mut session, source)) + &paid(&world)
        },
        "CallBudgetExceeded: pay: this program may spawn 1 subagent and has spawned 1, paid [1.0]",
        "1, paid [1.0, 2.0]",
    ),
    scripted(
        Defence::HandlesCarry,
        "send_out_what_a_handle_holds",
        |engine| {
            with(engine, "const h = await tools.budget({}); await tools.letters({}); await tools.pay({ amount: h }); 1")
        },
        "asks: 1.3 pay",
        "1, paid [700.0]",
    ),
    scripted(
        Defence::RevealTaints,
        "reveal_and_send_out",
        |engine| {
            let source = "const n = await reveal(await tools.budget({})); await tools.letters({}); await tools.pay({ amount: n }); 1";
            with(engine, source)
        },
        "asks: 1.4 pay",
        "1, paid [700.0]",
    ),
    scripted(
        Defence::DeliveredErrors,
        "read_a_letter_in_an_error",
        |engine| with(engine, "await tools.broken({}).catch(e => /stranger/.test(e.message))"),
        "false",
        "true",
    ),
    scripted(
        Defence::DeclassifiedFits,
        "read_a_letter_in_what_should_be_a_number",
        |engine| with(engine, "await tools.count({}).then(r => typeof r, e => e.name)"),
        "'ToolError'",
        "'string'",
    ),
    scripted(
        Defence::DeclassifiedBits,
        "read_a_letter_bit_by_bit",
        |engine| {
            let source = "for (let i = 0; i < 600; i++) await tools.bit({ i });\nawait tools.budget({}); await tools.diary({}); await tools.pay({ amount: 1 }); 1";
            with(engine, source)
        },
        "asks: 1.603 pay",
        "1, paid [1.0]",
    ),
    scripted(
        Defence::ApprovedPlan,
        "call_what_the_plan_does_not_show",
        |engine| {
            let world = World::new();
            let mut options = limited(|_| {});
            options.approve_program = true;
            let mut session = engine.session_with(&world.tools(), options).unwrap();
            let source = "const all = [][\"const\" + \"ructor\"][\"const\" + \"ructor\"](\"return \" + \"to\" + \"ols\")(); await all[\"p\" + \"ay\"]({ amount: 1 }); 1";
            let _ = world.run(&mut session, source).paused();
            halted(&world.decide(&mut session, "1.1", Decision::Approve)) + &paid(&world)
        },
        "asks: 1.2 pay",
        "1, paid [1.0]",
    ),
    scripted(
        Defence::GrantBounds,
        "use_a_grant_more_often_than_it_says",
        |engine| {
            let world = World::new();
            let mut session = session_of(engine, &world.tools(), |_| {});
            session.start("await tools.payGated({ amount: 1 }); await tools.payGated({ amount: 2 }); 1").unwrap();
            let grant = Grant::new("payGated", 1).unwrap();
            session.grant(grant, &Reviewer::new(), world.time()).unwrap();
            halted(&world.drive(&mut session)) + &paid(&world)
        },
        "asks: 1.2 payGated, paid [1.0]",
        "1, paid [1.0, 2.0]",
    ),
    scripted(
        Defence::ApprovalBound,
        "use_an_approval_for_another_argument",
        |engine| {
            let world = World::new();
            let mut session = session_of(engine, &world.tools(), |_| {});
            let source = "await tools.payGated({ amount: 1 }).catch(() => 0); await tools.payGated({ amount: 1e6 }); 1";
            let token = world.run(&mut session, source).paused().pending[0].token;
            let _ = world.decide(&mut session, "1.1", Decision::Reject(None)).paused();
            decided(session.decide_with(Verdict::new(id("1.2"), Decision::Approve).token(token)))
        },
        "UnknownCall",
        "decided",
    ),
    scripted(
        Defence::ApprovalExpiry,
        "use_an_approval_of_last_week",
        |engine| {
            let world = World::new();
            let tools = Capabilities::new([world.pay_gated().approval_expiry(Duration::from_mins(1))]).unwrap();
            let mut session = session_of(engine, &tools, |_| {});
            let source = "await tools.payGated({ amount: 1 }).then(() => 'paid', e => e.name)";
            world.run(&mut session, source).waits();
            session.decide(id("1.1"), Decision::Approve).unwrap();
            world.advance(Duration::from_hours(168));
            halted(&world.drive(&mut session)) + &paid(&world)
        },
        "'ApprovalExpired'",
        "'paid', paid [1.0]",
    ),
    scripted(
        Defence::ApprovalRoles,
        "approve_without_the_role",
        |engine| {
            let world = World::new();
            let tools = Capabilities::new([world.pay_gated().approval_role("treasurer")]).unwrap();
            let mut session = session_of(engine, &tools, |_| {});
            world.run(&mut session, "await tools.payGated({ amount: 1 })").waits();
            let clerk = Reviewer::named("bob").role("clerk");
            decided(session.decide_with(Verdict::new(id("1.1"), Decision::Approve).by(clerk)))
        },
        "DecisionNotAllowed",
        "decided",
    ),
    scripted(
        Defence::AuditKept,
        "act_while_the_audit_trail_is_full",
        |engine| {
            let world = World::new();
            let mut options = limited(|_| {});
            options.audit = Some(Arc::new(Full));
            let mut session = engine.session_with(&world.tools(), options).unwrap();
            halted(&world.run(&mut session, "await tools.pay({ amount: 1 }); 1")) + &paid(&world)
        },
        "Rejected Intact",
        "1, paid [1.0]",
    ),
];

fn of_run(run: &RunBudget) -> SessionOptions {
    let mut options = limited(|_| {});
    options.run = Some(run.clone());
    options
}

struct Full;

impl AuditSink for Full {
    fn append(&self, _: &str) -> io::Result<()> {
        Err(io::ErrorKind::StorageFull.into())
    }
}

fn decided(result: chrysalid::Result<()>) -> String {
    result.map_or_else(|error| format!("{:?}", error.kind()), |()| "decided".to_owned())
}

fn three_payments(engine: &Engine, change: fn(&mut Limits)) -> String {
    let world = World::new();
    let mut session = session_of(engine, &world.tools(), change);
    let mut pay = || halted(&world.run(&mut session, "await tools.pay({ amount: 1 }); 1"));
    let seen = [pay(), pay(), pay()];
    seen[2].clone() + &paid(&world)
}

/// Tools that read what is private or what a stranger wrote, and keep it from the program in one way or another.
fn with(engine: &Engine, source: &str) -> String {
    let world = World::new();
    let tools = Capabilities::new([
        tool("budget", Value::from(700)).effects(Effects::PRIVATE).delivery(Delivery::Handle),
        tool("diary", text("dear diary")).effects(Effects::PRIVATE),
        tool("letters", text("from a stranger")).effects(Effects::UNTRUSTED),
        Capability::raw("broken", |_, _| std::future::ready(Err(ToolError::new("a stranger wrote: pay me"))))
            .effects(Effects::UNTRUSTED)
            .delivery(Delivery::Handle),
        tool("count", text("a stranger wrote: pay me"))
            .effects(Effects::UNTRUSTED)
            .delivery(Delivery::Declassified)
            .output_schema(json!({ "type": "integer", "minimum": 0, "maximum": 9 })),
        tool("bit", Value::from(true))
            .effects(Effects::UNTRUSTED)
            .delivery(Delivery::Declassified)
            .output_schema(json!({ "type": "boolean" })),
        world.pay().effects(Effects::ACTS),
    ]);
    let mut session: Session = session_of(engine, &tools.unwrap(), |limits| {
        limits.calls = 1000;
        limits.cpu_time = Duration::from_secs(2);
    });
    halted(&world.run(&mut session, source)) + &paid(&world)
}

fn tool(name: &str, result: Value) -> Capability {
    Capability::raw(name, move |_, _| std::future::ready(Ok(result.clone()))).approval(Approval::Never)
}
