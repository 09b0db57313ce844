//! Going on after the end: after a stop by the host, after a failure, after a trap.

use chrysalid::defence::Defence;
use chrysalid::{Engine, Step, Value};

use super::Attempt::{Limited, Other};
use super::{Attack, attack, halted, paid, session_of};
use crate::support::{World, id, record};

pub(super) const ATTACKS: &[Attack] = &[
    Attack {
        name: "call_on_in_the_job_whose_executor_swallowed_the_stop",
        defence: Defence::StopEndsCalls,
        attempt: Other(|engine| recorded(engine, "new Promise(() => { for (;;); }); tools.pay({ amount: 1 })")),
        held: "Timeout Intact, record []",
        through: "Timeout Intact, record [\"1.1 pay abandoned\"]",
    },
    Attack {
        name: "call_on_after_a_tried_function_swallowed_the_stop",
        defence: Defence::StopEndsCalls,
        attempt: Other(|engine| {
            recorded(engine, "Promise.try(() => { for (;;); }); tools.pay({ amount: 1 }); tools.gate({})")
        }),
        held: "Timeout Intact, record []",
        through: "Timeout Intact, record [\"1.1 pay abandoned\", \"1.2 gate abandoned\"]",
    },
    attack(
        Defence::StopEndsJobs,
        "a_catch_behind_an_endless_executor",
        &["globalThis.late = 'no'; new Promise(() => { for (;;); }).catch(() => { globalThis.late = 'ran' })", "late"],
        "'no'",
        "'ran'",
    ),
    attack(
        Defence::JobsDropped,
        "a_job_left_for_the_next_program",
        &["Promise.resolve().then(() => tools.pay({ amount: 6 })); for (;;);", "await null; 'honest'"],
        "'honest'",
        "'honest', paid [6.0]",
    ),
    attack(
        Defence::JobsDropped,
        "a_timer_left_for_the_next_program",
        &[
            "setTimeout(() => tools.pay({ amount: 7 }), 0); for (;;);",
            "await new Promise(r => setTimeout(r, 5)); 'honest'",
        ],
        "'honest'",
        "'honest', paid [7.0]",
    ),
    attack(
        Defence::FailureEndsJobs,
        "a_job_behind_a_throw",
        &["globalThis.late = 'no'; queueMicrotask(() => { globalThis.late = 'ran' }); throw 1", "late"],
        "'no'",
        "'ran'",
    ),
    attack(
        Defence::FailureEndsJobs,
        "a_reaction_behind_a_rejection",
        &[
            "globalThis.late = 'no'; const p = Promise.resolve(); p.then(() => {}).then(() => {}).then(() => { globalThis.late = 'ran' }); await Promise.reject(new Error('over'))",
            "late",
        ],
        "'no'",
        "'ran'",
    ),
    Attack {
        name: "an_answer_left_for_the_next_program",
        defence: Defence::JobsDropped,
        attempt: Other(late_answer),
        held: "'honest'",
        through: "'honest', paid [8.0]",
    },
    Attack {
        name: "a_half_done_change_kept_by_a_trap",
        defence: Defence::TrapReset,
        attempt: Other(half_done),
        held: "{ from: 100, to: 0 }",
        through: "something else",
    },
    Attack {
        name: "sleep_past_the_wall_limit",
        defence: Defence::WallTime,
        attempt: Limited(
            |limits| limits.wall_time = Some(std::time::Duration::from_secs(5)),
            &["await new Promise(r => setTimeout(r, 9000)); 'late'"],
        ),
        held: "WallTimeout Intact",
        through: "'late'",
    },
];

/// What is left of two numbers of which only one was changed when the sandbox ended the program.
fn half_done(engine: &Engine) -> String {
    let world = World::new();
    let mut session = session_of(engine, &world.tools(), |_| {});
    world.run(&mut session, "let account = { from: 100, to: 0 }").value();
    world.run(&mut session, "account.from = 0; new Array(1e9).join(); account.to = 100").failure();
    let whole = "{ from: 100, to: 0 }";
    // A heap that was left in the middle of something may well trap again.
    let seen = halted(&world.run(&mut session, "account"));
    if seen == whole { seen } else { "something else".to_owned() }
}

/// How a program ends, and the record of its calls.
fn recorded(engine: &Engine, source: &str) -> String {
    let world = World::new();
    let mut session = session_of(engine, &world.tools(), |_| {});
    let seen = halted(&world.run(&mut session, source));
    format!("{seen}, record {:?}", record(&session)) + &paid(&world)
}

/// A call that began is given up by the stop; its answer comes while the next program waits.
fn late_answer(engine: &Engine) -> String {
    let world = World::new();
    let mut session = session_of(engine, &world.tools(), |_| {});
    let source = "tools.slow({ ms: 1e6 }).then(() => tools.pay({ amount: 8 })); await tools.echo({}); for (;;);";
    world.run(&mut session, source).failure();
    session.start("await new Promise(r => setTimeout(r, 1000)); 'honest'").unwrap();
    while matches!(session.step(world.time()).unwrap(), Step::Busy) {}
    session.settle(id("1.1"), Ok(Value::Null)).unwrap();
    halted(&world.drive(&mut session)) + &paid(&world)
}
