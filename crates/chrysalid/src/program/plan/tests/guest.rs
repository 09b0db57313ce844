//! What a program calls in the guest is in its plan.

use std::time::{Duration, SystemTime};

use proptest::prelude::*;

use super::edits::edited_program;
use super::{cases, shown, tools};
use crate::program::plan::plan;
use crate::{Capabilities, Engine, Limits, Step, Value};

/// Names that the programs use, left by an earlier one. What `f` gets it calls, and all that it has.
const EARLIER: &str = r#"
var f = (...given) => {
  for (const it of given) {
    try { it("x"); } catch {}
    try { it.pay(); it.tools.list(); it.mail.read(); } catch {}
    try { for (const key of Object.keys(it)) it[key]("x"); } catch {}
    try { for (const key of Object.keys(it.tools)) it.tools[key]("x"); } catch {}
  }
  return f;
};
var x = f, y = "pay", k = "pay", xs = { map: f }, e = new Error("e"), load = async () => ({ length: 1 });
"#;

/// The names of what a program calls.
fn called(engine: &Engine, tools: &Capabilities, source: &str) -> Vec<String> {
    let mut session = engine.session(tools).unwrap();
    let mut calls = Vec::new();
    for program in [EARLIER, source] {
        session.start(program).unwrap();
        let mut now = SystemTime::UNIX_EPOCH + Duration::from_hours(500_000);
        calls = loop {
            match session.step(now).unwrap() {
                Step::Start(calls) => {
                    for call in calls {
                        session.settle(call.id(), Ok(Value::Null)).unwrap();
                    }
                }
                Step::Busy => {}
                Step::Wait { wake_at } => now = wake_at.unwrap_or(now + Duration::from_secs(1)),
                Step::Paused(pause) => break pause.calls,
                Step::Ended(ended) => break ended.calls,
            }
        };
    }
    calls.into_iter().map(|call| call.name).filter(|name| !name.starts_with('$')).collect()
}

fn engine() -> Engine {
    let limits =
        Limits { cpu_time: Duration::from_millis(300), wall_time: Some(Duration::from_mins(1)), ..Limits::default() };
    Engine::builder().pool_slots(0).limits(limits).build().unwrap()
}

/// The calls that are not in the plan.
fn unplanned(engine: &Engine, tools: &Capabilities, source: &str) -> Vec<String> {
    let plan = plan(source, tools);
    if !plan.is_complete() || !plan.modules.is_empty() {
        return Vec::new();
    }
    called(engine, tools, source).into_iter().filter(|name| !plan.reaches(name)).collect()
}

fn raw_tools() -> Capabilities {
    Capabilities::new(
        tools()
            .iter()
            .map(|tool| crate::Capability::raw(tool.name(), |_, _| async { Ok::<_, crate::ToolError>(Value::Null) })),
    )
    .unwrap()
}

#[test]
fn every_call_of_the_cases_is_planned() {
    let (engine, tools) = (engine(), raw_tools());
    let mut count = 0;
    for (source, _) in cases::all() {
        let calls = called(&engine, &tools, source);
        count += calls.len();
        let plan = plan(source, &tools);
        let missed: Vec<_> = calls.iter().filter(|name| !plan.reaches(name)).collect();
        assert!(missed.is_empty() || !plan.modules.is_empty(), "{source}: {missed:?} not in {}", shown(&plan));
    }
    // Many of them get as far as a call.
    assert!(count > 100, "{count}");
}

#[test]
fn every_call_of_edited_programs_is_planned() {
    let (engine, tools) = (engine(), raw_tools());
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(400));
    runner
        .run(&edited_program(), |source| {
            let missed = unplanned(&engine, &tools, &source);
            prop_assert!(missed.is_empty(), "{source}\n{missed:?}");
            Ok(())
        })
        .unwrap();
}
