//! Attempts to get out, each named for what it tries, and each tied to the defence that stops it.
//!
//! Every attempt is made three times: against the engine as it is shipped; against the build whose defences can be taken
//! away, with all of them in place; and against that build without the one defence. The first two must be held. The third
//! must get through, or the test shows nothing. What got through is a text as well, `through`: an attempt that fails in
//! some other way is a fault of the suite.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests assert by panicking, and what only they have read is not from outside"
)]

#[path = "escape/approvals.rs"]
mod approvals;
#[path = "escape/bridge.rs"]
mod bridge;
#[path = "escape/calls.rs"]
mod calls;
#[allow(dead_code, reason = "shared with the other tests")]
mod measure;
#[path = "escape/memory.rs"]
mod memory;
#[path = "escape/policy.rs"]
mod policy;
#[path = "escape/size.rs"]
mod size;
#[path = "escape/stop.rs"]
mod stop;
#[allow(dead_code, reason = "shared with the other tests")]
mod support;
#[path = "escape/text.rs"]
mod text;
#[path = "escape/time.rs"]
mod time;

use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::LazyLock;
use std::time::Duration;

use chrysalid::defence::{Defence, weakened_guest, without};
use chrysalid::{Capabilities, Ended, Engine, Limits, Session, Value};

use support::{ENGINE, Halt, World, builder, with_limits};

static WEAKENED: LazyLock<Engine> = LazyLock::new(|| builder().guest(weakened_guest()).build().unwrap());

/// CPU time of a program in these attempts, unless one says otherwise.
const LIMIT: Duration = Duration::from_millis(200);

struct Attack {
    name: &'static str,
    defence: Defence,
    attempt: Attempt,
    /// What is seen when the defence holds.
    held: &'static str,
    /// What is seen without it.
    through: &'static str,
}

enum Attempt {
    /// Programs of one session, in their order; what is seen is how the last one ended, and what was paid.
    Programs(&'static [&'static str]),
    /// The same under other limits.
    Limited(fn(&mut Limits), &'static [&'static str]),
    /// Anything else.
    Other(fn(&Engine) -> String),
}

use Attempt::{Limited, Other, Programs};

const fn attack(
    defence: Defence,
    name: &'static str,
    programs: &'static [&'static str],
    held: &'static str,
    through: &'static str,
) -> Attack {
    Attack { name, defence, attempt: Programs(programs), held, through }
}

const fn scripted(
    defence: Defence,
    name: &'static str,
    attempt: fn(&Engine) -> String,
    held: &'static str,
    through: &'static str,
) -> Attack {
    Attack { name, defence, attempt: Other(attempt), held, through }
}

impl Attack {
    fn seen(&self, engine: &Engine) -> String {
        match self.attempt {
            Programs(sources) => programs(engine, |_| {}, sources),
            Limited(change, sources) => programs(engine, change, sources),
            Other(attempt) => attempt(engine),
        }
    }
}

fn limited(change: fn(&mut Limits)) -> chrysalid::SessionOptions {
    with_limits(|limits| {
        limits.memory = 16 << 20;
        limits.cpu_time = LIMIT;
        change(limits);
    })
}

fn session_of(engine: &Engine, tools: &Capabilities, change: fn(&mut Limits)) -> Session {
    engine.session_with(tools, limited(change)).unwrap()
}

fn programs(engine: &Engine, change: fn(&mut Limits), sources: &[&str]) -> String {
    let world = World::new();
    let mut session = session_of(engine, &world.tools(), change);
    let mut seen = String::new();
    for source in sources {
        seen = match session.start(source) {
            Ok(()) => halted(&world.drive(&mut session)),
            Err(error) => format!("{:?}", error.kind()),
        };
    }
    seen + &paid(&world)
}

/// `'value'`, `Timeout Intact`, `RangeError`, or `asks: 1.1 gate`.
fn halted(halt: &Halt) -> String {
    match halt {
        Halt::Ended(ended) => ended_as(ended),
        Halt::Paused(pause) => {
            let waiting = pause.pending.iter().fold("asks:".to_owned(), |mut all, call| {
                let _ = write!(all, " {} {}", call.id, call.name);
                all
            });
            if pause.pending.is_empty() { "sleeps".to_owned() } else { waiting }
        }
    }
}

fn ended_as(ended: &Ended) -> String {
    match &ended.result {
        Ok(Value::String(text)) if text.len() > 1000 => format!("a text of {}", text.len()),
        Ok(Value::Array(list)) if list.len() > 1000 => format!("a list of {}", list.len()),
        Ok(value) => value.to_string(),
        Err(failure) if failure.kind == chrysalid::FailureKind::Exception => {
            format!("{}: {}", failure.name, failure.message)
        }
        Err(failure) => format!("{:?} {:?}", failure.kind, ended.heap),
    }
}

fn paid(world: &World) -> String {
    let paid = world.paid();
    if paid.is_empty() { String::new() } else { format!(", paid {paid:?}") }
}

fn attacks() -> impl Iterator<Item = &'static Attack> {
    [
        approvals::ATTACKS,
        bridge::ATTACKS,
        calls::ATTACKS,
        memory::ATTACKS,
        policy::ATTACKS,
        size::ATTACKS,
        stop::ATTACKS,
        text::ATTACKS,
        time::ATTACKS,
    ]
    .into_iter()
    .flatten()
}

/// What is wrong about each attempt that is seen otherwise than it should be.
fn wrong(engine: &Engine, gone: fn(&Attack) -> Option<Defence>, expected: fn(&Attack) -> &'static str) -> String {
    let mut wrong = String::new();
    for attack in attacks() {
        let seen = without(gone(attack), || catch_unwind(AssertUnwindSafe(|| attack.seen(engine))));
        let seen = seen.unwrap_or_else(|_| "a panic".to_owned());
        if seen != expected(attack) {
            let _ = writeln!(wrong, "{}:\n  expected {}\n  seen     {seen}", attack.name, expected(attack));
        }
    }
    wrong
}

#[test]
fn every_attempt_is_held() {
    let wrong = wrong(&ENGINE, |_| None, |attack| attack.held);
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn every_attempt_is_held_by_the_build_for_tests_as_long_as_all_defences_stand() {
    let wrong = wrong(&WEAKENED, |_| None, |attack| attack.held);
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn every_attempt_gets_through_without_its_defence() {
    let wrong = wrong(&WEAKENED, |attack| Some(attack.defence), |attack| attack.through);
    assert!(wrong.is_empty(), "\n{wrong}");
    assert!(attacks().all(|attack| attack.held != attack.through));
}

#[test]
fn every_defence_has_an_attempt_and_names_are_used_once() {
    for defence in Defence::ALL {
        assert!(attacks().any(|attack| attack.defence == *defence), "nothing is tried against {defence:?}");
    }
    let mut names: Vec<_> = attacks().map(|attack| attack.name).collect();
    assert!(names.len() >= 60, "{}", names.len());
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), attacks().count());
}

/// The table of docs/threat-model.md: one line for each defence.
fn table() -> String {
    let mut table = "| defence | where | attempts |\n|---|---|---|\n".to_owned();
    for defence in Defence::ALL {
        let names: Vec<_> =
            attacks().filter(|attack| attack.defence == *defence).map(|attack| attack.name.replace('_', " ")).collect();
        let _ = writeln!(table, "| `{defence:?}` | `{}` | {} |", defence.place(), names.join("; "));
    }
    table
}

#[test]
fn the_threat_model_lists_what_is_tried() {
    let document = include_str!("../../../docs/threat-model.md");
    let table = table();
    assert!(document.contains(&table), "docs/threat-model.md does not hold this table:\n{table}");
}
