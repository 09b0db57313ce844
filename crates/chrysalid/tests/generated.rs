//! Programs made from bytes, and what must hold for each session of them: they end the same way whether the session is
//! stored or not.
//!
//! A session has up to three programs, which share names (`generated/grammar.rs`). Its people approve, edit, reject and
//! answer by a hash of the bytes and the call's id.

mod grammar;
mod writer;

use std::pin::Pin;
use std::sync::LazyLock;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use chrysalid::{
    CallId, CallRecord, CallResult, CallStatus, Capabilities, Capability, Clock, Decision, Ended, Engine, ErrorKind,
    LogLine, Modules, Pause, PendingCall, Random, Session, SessionOptions, Step, ToolError,
};

use crate::storing::{Stored, Way};
use crate::support::{World, begin, builder, object, text, with_limits};
pub(crate) use writer::programs;

/// Steps of one session; a program that does not end is a fault of the machine, since each of them is finite.
const MAX_STEPS: u32 = 100_000;
/// Snapshots of one session that is stored at steps.
const MAX_STORED: u32 = 60;
/// How often a run is made again before a difference counts. Clocks go on with the CPU time, so timers and answers may
/// come in another order by chance.
const ROUNDS: u32 = 8;

/// Its slices are long: where one ends, answers get in between jobs.
static ENGINE: LazyLock<Engine> =
    LazyLock::new(|| builder().pool_slots(4).slice(Duration::from_mins(1)).build().unwrap());

/// What one input was good for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) programs: u32,
    /// Programs that ended with a value.
    pub(crate) values: u32,
    /// Pauses of the run without snapshots.
    pub(crate) pauses: u32,
    /// Snapshots from which a session went on, at pauses, between programs and at steps.
    pub(crate) restored: u32,
    /// Inputs whose first comparison failed and a later one did not.
    pub(crate) by_chance: u32,
}

/// Runs the programs on the spot, with a snapshot at each pause, and with snapshots at steps that the bytes choose; in every
/// way to take them.
pub(crate) fn same_result(bytes: &[u8]) -> Tally {
    let programs = programs(bytes);
    let mut tally = Tally::default();
    let mut plain = Vec::new();
    let ways =
        [When::AtPauses, When::AtSteps].into_iter().flat_map(|when| Way::ALL.iter().map(move |way| (when, *way)));
    let mut open: Vec<_> = ways.map(|how| (how, Vec::new())).collect();
    for round in 0..ROUNDS {
        tally.by_chance = u32::from(round > 0);
        plain.push(Run::new(bytes, When::Never, Way::Kernel).all(&programs));
        open.retain_mut(|((when, way), stored)| {
            stored.push(Run::new(bytes, *when, *way).all(&programs));
            let mut pairs = stored.iter().flat_map(|stored| plain.iter().map(move |plain| (stored, plain)));
            let same = pairs.find(|(stored, plain)| stored.differs(plain).is_none());
            tally.restored += same.map_or(0, |(stored, _)| stored.restored);
            same.is_none()
        });
        if open.is_empty() {
            break;
        }
    }
    let plain = &plain[0];
    if let Some((how, stored)) = open.first() {
        let difference = stored[0].differs(plain).unwrap_or_default();
        panic!("{how:?}: {difference}\n{}", programs.join("\n----\n"));
    }
    tally.programs = u32::try_from(plain.ends.len()).unwrap();
    tally.values = u32::try_from(plain.ends.iter().filter(|end| end.result.is_ok()).count()).unwrap();
    tally.pauses = plain.pauses;
    tally
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    Never,
    AtPauses,
    AtSteps,
}

/// All that can be seen of a session from outside.
#[derive(Debug, Default)]
struct Seen {
    ends: Vec<End>,
    /// Call, status and what a person made of its argument.
    record: Vec<CallRecord>,
    /// Every call that ran, with its argument.
    calls: Vec<String>,
    /// What people were asked, in order.
    asked: Vec<String>,
    pauses: u32,
    restored: u32,
}

/// How one program ended; lines and notes over all of its pauses.
#[derive(Debug, PartialEq)]
struct End {
    result: Result<String, String>,
    lines: Vec<LogLine>,
    notes: Vec<String>,
    value_name: Option<String>,
}

impl Seen {
    /// What is not the same, in words.
    fn differs(&self, plain: &Self) -> Option<String> {
        let ends = (self.ends != plain.ends).then(|| format!("{:#?} and not {:#?}", self.ends, plain.ends));
        let calls = || (self.calls != plain.calls).then(|| format!("{:#?} and not {:#?}", self.calls, plain.calls));
        let asked = || (self.asked != plain.asked).then(|| format!("{:#?} and not {:#?}", self.asked, plain.asked));
        let record =
            || (self.record != plain.record).then(|| format!("{:#?} and not {:#?}", self.record, plain.record));
        ends.or_else(calls).or_else(asked).or_else(record)
    }
}

type Flight = Vec<(CallId, Pin<Box<dyn Future<Output = CallResult> + Send>>)>;

struct Run {
    seed: u64,
    when: When,
    way: Way,
    stored: Stored,
    world: World,
    seen: Seen,
    /// Calls that run, which a restored session knows as cut off.
    flight: Flight,
    steps: u32,
}

impl Run {
    fn new(bytes: &[u8], when: When, way: Way) -> Self {
        let seed = bytes.iter().fold(1, |seed, byte| mixed(seed, u64::from(*byte)));
        let (world, stored) = (World::new(), Stored::in_the_way(way));
        Self { seed, when, way, stored, world, seen: Seen::default(), flight: Vec::new(), steps: 0 }
    }

    fn all(mut self, programs: &[String]) -> Seen {
        let mut session = ENGINE.session_with(&self.tools(), self.way.options(options())).unwrap();
        for (number, program) in (1_u64..).zip(programs) {
            session.start(program).unwrap();
            let end = self.one(&mut session);
            self.seen.ends.push(end);
            // A program that failed does not wait for calls that were cut off, so that some answer only now.
            self.world.advance_to(begin() + Duration::from_hours(24 * number));
            self.settle(&mut session);
            assert!(self.flight.is_empty(), "a call runs on");
            if self.when != When::Never {
                self.store(&mut session);
            }
        }
        self.seen.record = session.calls();
        // A pause takes time.
        self.seen.record.iter_mut().for_each(|call| call.duration = None);
        self.seen.calls = self.world.calls();
        self.seen
    }

    fn one(&mut self, session: &mut Session) -> End {
        let (mut lines, mut notes) = (Vec::new(), Vec::new());
        loop {
            self.steps += 1;
            assert!(self.steps < MAX_STEPS, "the program does not come to an end");
            let step = session.step(self.world.time()).unwrap();
            let busy = matches!(step, Step::Busy);
            match step {
                Step::Start(calls) => self.flight.extend(calls.iter().map(|call| (call.id(), call.invoke()))),
                Step::Busy => {}
                Step::Wait { wake_at } => self.wait(wake_at),
                Step::Paused(mut pause) => {
                    lines.append(&mut pause.logs);
                    notes.append(&mut pause.notes);
                    self.paused(session, &pause);
                }
                Step::Ended(ended) => return end(ended, lines, notes),
            }
            self.settle(session);
            if self.when == When::AtSteps && !busy {
                self.store_by_chance(session);
            }
        }
    }

    /// On to the next thing that happens.
    fn wait(&mut self, wake_at: Option<std::time::SystemTime>) {
        let next = wake_at.into_iter().chain(self.world.next_due()).min();
        self.world.advance_to(next.expect("it waits for something"));
    }

    fn paused(&mut self, session: &mut Session, pause: &Pause) {
        // A restored session knows nothing of what still runs, and so does not wait for it.
        if !self.flight.is_empty() {
            return self.wait(pause.wake_at);
        }
        self.seen.pauses += 1;
        self.seen.asked.extend(pause.pending.iter().map(|call| format!("{} {} {}", call.id, call.name, call.argument)));
        if self.when == When::AtPauses {
            self.store(session);
        }
        if pause.pending.is_empty() {
            return self.wait(pause.wake_at);
        }
        let answers = 1 + self.chance(u64::from(self.seen.pauses), pause.pending.len());
        for call in pause.pending.iter().rev().take(answers) {
            self.answer(session, call);
        }
    }

    fn answer(&self, session: &mut Session, call: &PendingCall) {
        let chosen = self.chance(u64::from(call.id.number), 8);
        if call.status == CallStatus::Outside {
            let failed = Err(ToolError::new("no answer"));
            return session.settle(call.id, if chosen == 0 { failed } else { Ok(call.argument.clone()) }).unwrap();
        }
        let decision = match chosen {
            0 => Decision::Reject(None),
            1 => Decision::Reject(Some("not today".to_owned())),
            2 => Decision::Edit(object([("q", text("edited"))])),
            3 => Decision::Edit(object([("q", object([("edited", call.argument.clone())]))])),
            4 => Decision::Respond(call.argument.clone()),
            _ => Decision::Approve,
        };
        session.decide(call.id, decision).unwrap();
    }

    fn settle(&mut self, session: &mut Session) {
        self.flight.retain_mut(|(call, future)| {
            let Poll::Ready(result) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) else {
                return true;
            };
            // One that was given up meanwhile is none of this driver's business.
            let _ = session.settle(*call, result);
            false
        });
    }

    fn store_by_chance(&mut self, session: &mut Session) {
        if self.seen.restored < MAX_STORED && self.chance(u64::from(self.steps), 3) > 0 {
            self.store(session);
        }
    }

    fn store(&mut self, session: &mut Session) {
        if let Err(error) = self.stored.store(&ENGINE, session) {
            return assert_eq!(error.kind(), ErrorKind::Busy, "{error}");
        }
        *session = self.stored.restore(&ENGINE, &self.tools(), self.way.options(options()));
        self.seen.restored += 1;
    }

    fn tools(&self) -> Capabilities {
        let world = &self.world;
        let outside = Capability::external("outside");
        let tools =
            [world.asked(), world.echo(), world.mirror(), world.fail(), world.slow(), world.slow_fail(), outside];
        Capabilities::new(tools).unwrap()
    }

    /// Less than `count`, by the bytes and `what`.
    fn chance(&self, what: u64, count: usize) -> usize {
        usize::try_from(mixed(self.seed, what) % count as u64).unwrap()
    }
}

fn options() -> SessionOptions {
    let mut options = with_limits(|limits| limits.memory = 16 << 20);
    options.clock = Clock::Fixed(begin());
    options.random = Random::Seed(42);
    options.modules = Modules::fixed(grammar::MODULES);
    options
}

fn end(ended: Ended, mut lines: Vec<LogLine>, mut notes: Vec<String>) -> End {
    lines.extend(ended.logs);
    notes.extend(ended.notes);
    let result = ended.result.map(|value| format!("{value:?}")).map_err(|failure| format!("{failure:?}"));
    End { result, lines, notes, value_name: ended.value_name }
}

fn mixed(seed: u64, with: u64) -> u64 {
    let mixed = (seed ^ with).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ (mixed >> 29)
}
