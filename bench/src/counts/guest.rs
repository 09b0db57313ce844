//! Fuel of guest work: programs as in `bench/programs`, smaller, and what a session costs beside its program's own work.
//!
//! The count must be exact, so the clock stands still, random numbers have a seed, and no limit or end of a slice is met.

use std::time::{Duration, SystemTime};

use anyhow::{Context as _, Result, bail, ensure};
use chrysalid::{
    Capabilities, Capability, Clock, Engine, Limits, Random, Session, SessionOptions, Step, Value, to_value,
};
use serde_json::json;

use crate::Pace;
use crate::recorded::Counts;

/// Longer than any of it takes, under a debugger too.
const LONG: Duration = Duration::from_hours(24);

/// Each program has `ROUNDS`, the number of times that it does its work.
const PROGRAMS: &[(&str, &str)] = &[
    ("string appends", include_str!("../../counts/appends.js")),
    ("Map and Set", include_str!("../../counts/collections.js")),
    ("fib(12)", include_str!("../../counts/fib.js")),
    ("JSON out and in", include_str!("../../counts/json.js")),
    ("arithmetic loop", include_str!("../../counts/loop.js")),
    ("regular expressions", include_str!("../../counts/regexp.js")),
    ("sort numbers", include_str!("../../counts/sort.js")),
    ("the same with a comparator", include_str!("../../counts/sort_comparator.js")),
];

type Other = fn(&Engine, u32) -> Result<u64>;

const OTHERS: &[(&str, Other)] = &[
    ("fresh session, `1+1`", fresh),
    ("no-op, live session", no_op),
    ("1,000 awaited calls", calls),
    ("1,000 small objects out", objects_out),
    ("1,000 small objects in", objects_in),
];

pub(crate) fn count(pace: &Pace) -> Result<Counts<u64>> {
    let engine = engine()?;
    let mut counts = Counts::new();
    for (name, source) in PROGRAMS {
        let fuel = program(&engine, source, pace.rounds(name)).with_context(|| format!("cannot count {name:?}"))?;
        counts.insert((*name).to_owned(), fuel);
    }
    for (name, work) in OTHERS {
        let fuel = work(&engine, pace.rounds(name)).with_context(|| format!("cannot count {name:?}"))?;
        counts.insert((*name).to_owned(), fuel);
    }
    Ok(counts)
}

fn engine() -> Result<Engine> {
    let mut limits = Limits::default();
    limits.cpu_time = LONG;
    limits.calls = 10_000;
    Ok(Engine::builder().pool_slots(0).slice(LONG).limits(limits).counting().build()?)
}

fn session(engine: &Engine, capabilities: &Capabilities) -> Result<Session> {
    let mut options = SessionOptions::default();
    options.clock = Clock::Fixed(SystemTime::UNIX_EPOCH);
    options.random = Random::Seed(7);
    Ok(engine.session_with(capabilities, options)?)
}

fn fuel(session: &mut Session) -> Result<u64> {
    session.fuel().context("the engine does not count")
}

/// Compiled and run in a session of its own, less what that session costs.
fn program(engine: &Engine, source: &str, rounds: u32) -> Result<u64> {
    let mut session = session(engine, &Capabilities::none())?;
    run(&mut session, "0", &Value::from(0))?;
    let before = fuel(&mut session)?;
    run(&mut session, &format!("const ROUNDS = {rounds};\n{source}"), &Value::from("as it should be"))?;
    Ok(fuel(&mut session)? - before)
}

/// A session a round.
fn fresh(engine: &Engine, rounds: u32) -> Result<u64> {
    let mut total = 0;
    for _ in 0..rounds {
        let mut session = session(engine, &Capabilities::none())?;
        run(&mut session, "1+1", &Value::from(2))?;
        total += fuel(&mut session)?;
    }
    Ok(total)
}

/// A program a round.
fn no_op(engine: &Engine, rounds: u32) -> Result<u64> {
    let mut session = session(engine, &Capabilities::none())?;
    run(&mut session, "0", &Value::from(0))?;
    let before = fuel(&mut session)?;
    for _ in 0..rounds {
        run(&mut session, "0", &Value::from(0))?;
    }
    Ok(fuel(&mut session)? - before)
}

const PER_ROUND: u32 = 50;

fn calls(engine: &Engine, rounds: u32) -> Result<u64> {
    let mut session = session(engine, &tools()?)?;
    let count = rounds * PER_ROUND;
    let source = format!("let sum = 0; for (let i = 0; i < {count}; i++) sum += await tools.next({{ i }}); sum");
    let echo = |argument: &Value| argument.get("i").cloned().unwrap_or_default();
    run_with(&mut session, &source, &Value::from(count * (count - 1) / 2), echo)?;
    fuel(&mut session)
}

fn objects_out(engine: &Engine, rounds: u32) -> Result<u64> {
    let mut session = session(engine, &Capabilities::none())?;
    let count = rounds * PER_ROUND;
    let rows = "({ id, name: `row ${id}`, done: id % 2 === 0, score: id / 4 })";
    run(
        &mut session,
        &format!("const rows = Array.from({{ length: {count} }}, (_, id) => {rows}); 0"),
        &Value::from(0),
    )?;
    let before = fuel(&mut session)?;
    run(&mut session, "rows", &objects(count)?)?;
    Ok(fuel(&mut session)? - before)
}

fn objects_in(engine: &Engine, rounds: u32) -> Result<u64> {
    let mut session = session(engine, &tools()?)?;
    let (count, mut before) = (rounds * PER_ROUND, 0);
    let answer = objects(count)?;
    session.start("const rows = await tools.next(); rows.length")?;
    let ended = loop {
        match session.step(SystemTime::UNIX_EPOCH)? {
            Step::Busy => {}
            Step::Start(calls) => {
                before = fuel(&mut session)?;
                for call in calls {
                    session.settle(call.id(), Ok(answer.clone()))?;
                }
            }
            Step::Ended(ended) => break ended,
            step => bail!("a program with one call came to {step:?}"),
        }
    };
    ensure!(ended.result == Ok(Value::from(count)), "the program came to {:?}", ended.result);
    Ok(fuel(&mut session)? - before)
}

fn objects(count: u32) -> Result<Value> {
    let row = |id| json!({ "id": id, "name": format!("row {id}"), "done": id % 2 == 0, "score": f64::from(id) / 4.0 });
    Ok(to_value(&(0..count).map(row).collect::<Vec<_>>())?)
}

fn tools() -> Result<Capabilities> {
    let unused = |_, _| async { Ok(Value::Undefined) };
    Ok(Capabilities::new([Capability::raw("next", unused)])?)
}

fn run(session: &mut Session, source: &str, wanted: &Value) -> Result<()> {
    run_with(session, source, wanted, |_| Value::Undefined)
}

/// Runs a program to its end and its value.
fn run_with(session: &mut Session, source: &str, wanted: &Value, answer: impl Fn(&Value) -> Value) -> Result<()> {
    session.start(source)?;
    loop {
        match session.step(SystemTime::UNIX_EPOCH)? {
            Step::Busy => {}
            Step::Start(calls) => {
                for call in calls {
                    session.settle(call.id(), Ok(answer(call.argument())))?;
                }
            }
            Step::Ended(ended) => {
                ensure!(ended.result.as_ref() == Ok(wanted), "the program came to {:?}", ended.result);
                return Ok(());
            }
            step => bail!("a program that needs nothing more came to {step:?}"),
        }
    }
}
