//! Budgets of calls, and what may run or be held at one time.

use chrysalid::defence::Defence;
use chrysalid::{Capabilities, Effects, Engine};

use super::Attempt::{Limited, Other};
use super::{Attack, halted, paid, session_of};
use crate::support::World;

pub(super) const ATTACKS: &[Attack] = &[
    Attack {
        name: "more_calls_than_the_budget",
        defence: Defence::CallBudget,
        attempt: Limited(
            |limits| limits.calls = 10,
            &[
                "let ok = 0, no = ''; for (let i = 0; i < 12; i++) { try { await tools.echo({}); ok++ } catch (e) { no = e.name } } [ok, no].join()",
            ],
        ),
        held: "'10,CallBudgetExceeded'",
        through: "'12,'",
    },
    Attack {
        name: "more_payments_than_the_budget_all_at_once",
        defence: Defence::CallBudget,
        attempt: Limited(
            |limits| limits.calls = 2,
            &[
                "(await Promise.allSettled([1, 2, 3].map(amount => tools.pay({ amount })))).map(r => r.status[0]).join('')",
            ],
        ),
        held: "'ffr', paid [1.0, 2.0]",
        through: "'fff', paid [1.0, 2.0, 3.0]",
    },
    Attack {
        name: "more_calls_of_one_tool_than_it_allows",
        defence: Defence::ToolBudget,
        attempt: Other(|engine| {
            with_tools(
                engine,
                |world| vec![world.pay().max_calls(2)],
                "for (let i = 0; i < 4; i++) await tools.pay({ amount: i }).catch(() => {}); 1",
            )
        }),
        held: "1, paid [0.0, 1.0]",
        through: "1, paid [0.0, 1.0, 2.0, 3.0]",
    },
    Attack {
        name: "calls_that_are_refused_for_free_for_ever",
        defence: Defence::RefusedBudget,
        attempt: Other(|engine| {
            let source = "let last; for (let i = 0; i < 600; i++) { try { await tools.pay({}) } catch (e) { last = e.name } } last";
            with_tools(engine, narrow, source)
        }),
        held: "'CallBudgetExceeded'",
        through: "'ToolInputError'",
    },
    Attack {
        name: "let_the_host_read_arguments_for_ever",
        defence: Defence::CallsCharged,
        attempt: Other(|engine| {
            // Cheap to make, and some milliseconds each to check.
            let source = "const v = new Array(20000).fill(0), all = [];
                for (let i = 0; i < 60; i++) all.push(tools.note({ v }));
                (await Promise.all(all)).length";
            let checked = serde_json::json!({
                "type": "object", "properties": { "v": { "type": "array", "items": { "enum": [3, 2, 1, 0] } } }
            });
            let world = World::new();
            let tools = Capabilities::new([world.note().input_schema(checked)]).unwrap();
            let mut session = session_of(engine, &tools, |_| {});
            halted(&world.run(&mut session, source))
        }),
        held: "Timeout Intact",
        through: "60",
    },
    Attack {
        name: "more_at_one_time_than_allowed",
        defence: Defence::CallsInFlight,
        attempt: Other(|engine| {
            let world = World::new();
            let mut session = session_of(engine, &world.tools(), |limits| limits.calls_in_flight = 3);
            let source = "await Promise.all(Array.from({ length: 9 }, () => tools.slow({ ms: 5 }))); 1";
            world.run(&mut session, source).value();
            format!("{} at one time", world.peak())
        }),
        held: "3 at one time",
        through: "9 at one time",
    },
    Attack {
        name: "fill_the_host_with_calls_that_are_not_awaited",
        defence: Defence::HostMemory,
        attempt: Limited(
            |limits| limits.host_memory = 1 << 20,
            &[
                "let no; for (let i = 0; i < 20; i++) tools.slow({ ms: 1, v: 'x'.repeat(100000) }).catch(e => { no ??= e.name }); await tools.slow({ ms: 9 }).catch(() => {}); await null; String(no)",
            ],
        ),
        held: "'CallBudgetExceeded'",
        through: "'undefined'",
    },
    Attack {
        name: "more_questions_to_people_than_allowed",
        defence: Defence::PendingApprovals,
        attempt: Limited(
            |limits| limits.pending_approvals = 2,
            &["for (let i = 0; i < 4; i++) tools.gate({ q: i }).catch(() => {}); await new Promise(() => {})"],
        ),
        held: "asks: 1.1 gate 1.2 gate",
        through: "asks: 1.1 gate 1.2 gate 1.3 gate 1.4 gate",
    },
    Attack {
        name: "an_argument_that_the_schema_forbids",
        defence: Defence::Schema,
        attempt: Other(|engine| {
            with_tools(engine, narrow, "try { await tools.pay({ amount: 1e6 }) } catch (e) { e.name }")
        }),
        held: "'ToolInputError'",
        through: "{ ok: true, n: 1, amount: 1000000 }, paid [1000000.0]",
    },
    Attack {
        name: "a_field_that_the_schema_does_not_know",
        defence: Defence::Schema,
        attempt: Other(|engine| {
            with_tools(engine, narrow, "try { (await tools.pay({ amount: 1, to: 'me' })).n } catch (e) { e.name }")
        }),
        held: "'ToolInputError'",
        through: "1, paid [1.0]",
    },
    Attack {
        name: "send_out_what_was_private_after_reading_what_a_stranger_wrote",
        defence: Defence::RuleOfTwo,
        attempt: Other(|engine| {
            with_tools(
                engine,
                labelled,
                "await tools.echo({}); await tools.mirror({}); await tools.pay({ amount: 1 }); 1",
            )
        }),
        held: "asks: 1.3 pay",
        through: "1, paid [1.0]",
    },
    Attack {
        name: "the_same_with_all_three_at_once",
        defence: Defence::RuleOfTwo,
        attempt: Other(|engine| {
            with_tools(
                engine,
                labelled,
                "const all = [tools.echo({}), tools.mirror({}), tools.pay({ amount: 1 })]; await Promise.all(all); 1",
            )
        }),
        held: "asks: 1.3 pay",
        through: "1, paid [1.0]",
    },
    Attack {
        name: "the_same_over_two_programs",
        defence: Defence::RuleOfTwo,
        attempt: Other(|engine| {
            let world = World::new();
            let tools = Capabilities::new(labelled(&world)).unwrap();
            let mut session = session_of(engine, &tools, |_| {});
            world.run(&mut session, "await tools.echo({}); await tools.mirror({})").value();
            halted(&world.run(&mut session, "await tools.pay({ amount: 1 }); 1")) + &paid(&world)
        }),
        held: "asks: 2.3 pay",
        through: "1, paid [1.0]",
    },
];

fn narrow(world: &World) -> Vec<chrysalid::Capability> {
    let schema = serde_json::json!({
        "type": "object", "properties": { "amount": { "type": "number", "maximum": 10 } }, "required": ["amount"]
    });
    vec![world.pay().input_schema(schema)]
}

fn labelled(world: &World) -> Vec<chrysalid::Capability> {
    vec![
        world.echo().effects(Effects::PRIVATE),
        world.mirror().effects(Effects::UNTRUSTED),
        world.pay().effects(Effects::ACTS),
    ]
}

fn with_tools(engine: &Engine, tools: fn(&World) -> Vec<chrysalid::Capability>, source: &str) -> String {
    let world = World::new();
    let tools = Capabilities::new(tools(&world)).unwrap();
    let mut session = session_of(engine, &tools, |_| {});
    halted(&world.run(&mut session, source)) + &paid(&world)
}
