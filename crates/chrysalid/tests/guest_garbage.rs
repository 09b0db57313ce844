//! A hostile guest whose every act is made from bytes, and what must hold for whatever it does: the host answers with a
//! value, a failure or an error that is none of its own faults, in bounded time, and sessions beside it do not notice.

#[allow(dead_code, reason = "the table of attacks uses the rest")]
#[path = "garbage/script.rs"]
mod script;

use std::cell::RefCell;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use chrysalid::{
    CallStatus, Capabilities, Capability, Decision, Engine, Error, ErrorKind, Modules, Restore, Session,
    SessionOptions, Step, ToolError, Value,
};

use crate::support::{World, begin, builder, with_limits};
use script::{Act, BOARD, END, FREE, OWN_OUT, SCRIPT, WAT, act, bytes as put, source};

static HOSTILE: LazyLock<Engine> =
    LazyLock::new(|| builder().no_cache().guest(wat::parse_str(WAT).unwrap()).build().unwrap());

/// How long the programs of one input may take, on a machine that does other work.
const PATIENCE: Duration = Duration::from_secs(20);
const MAX_ACTS: usize = 24;
const MAX_PROGRAMS: usize = 3;
/// Steps of one program before it is interrupted, and before that must have ended it.
const STEPS: (u32, u32) = (2_000, 4_000);

thread_local! {
    /// A session of the same engine, which nobody took over.
    static BYSTANDER: RefCell<Option<Session>> = const { RefCell::new(None) };
}

/// What one input was good for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) programs: u32,
    /// Programs that ended with a value.
    pub(crate) values: u32,
    pub(crate) pauses: u32,
    /// Snapshots from which a session went on.
    pub(crate) restored: u32,
    /// Errors in place of an end.
    pub(crate) refused: u32,
    pub(crate) longest: Duration,
}

/// Up to three programs in a session whose guest does what the bytes say.
pub(crate) fn guest_garbage(bytes: &[u8]) -> Tally {
    let mut choices = Choices(bytes);
    let mut tally = Tally::default();
    let begun = Instant::now();
    let mut session = Some(HOSTILE.session_with(&tools(), options()).unwrap());
    while let Some(taken_over) = session.take()
        && tally.programs < MAX_PROGRAMS as u32
    {
        let acts = choices.acts();
        tally.programs += 1;
        session = one(taken_over, &source(&acts), &mut choices, &mut tally);
        if choices.0.is_empty() {
            break;
        }
    }
    tally.longest = begun.elapsed();
    assert!(tally.longest < PATIENCE, "took {:?}", tally.longest);
    the_bystander_is_well();
    tally
}

/// One program to its end; the session, if another may follow.
fn one(mut session: Session, source: &str, choices: &mut Choices<'_>, tally: &mut Tally) -> Option<Session> {
    if let Err(error) = session.start(source) {
        return refused(&error, tally);
    }
    let mut now = begin();
    for number in 0..STEPS.1 {
        if number == STEPS.0 {
            session.interrupt_handle().interrupt();
        }
        let step = match session.step(now) {
            Ok(step) => step,
            Err(error) => return refused(&error, tally),
        };
        match step {
            Step::Busy => {}
            Step::Start(calls) => {
                for call in calls {
                    // Some calls are never answered: the program has to be interrupted.
                    if choices.below(8) < 7 {
                        let result = poll(call.invoke());
                        session.settle(call.id(), result).unwrap();
                    }
                }
            }
            Step::Wait { wake_at } => match wake_at {
                Some(at) if at > now => now = at,
                _ => session.interrupt_handle().interrupt(),
            },
            Step::Paused(pause) => {
                tally.pauses += 1;
                assert!(pause.pending.len() <= 64 + 256, "{} calls wait", pause.pending.len());
                if choices.below(2) == 1 {
                    session = stored(session, tally)?;
                }
                now = now.max(pause.wake_at.unwrap_or(now));
                for call in pause.pending {
                    answer(&mut session, &call, choices);
                }
                if choices.below(4) == 3 || tally.pauses > 64 {
                    session.interrupt_handle().interrupt();
                }
            }
            Step::Ended(ended) => {
                tally.values += u32::from(ended.result.is_ok());
                assert!(ended.calls.len() <= 1024, "{} calls are recorded", ended.calls.len());
                let lines: usize = ended.logs.iter().map(|line| line.text.len()).sum();
                assert!(lines <= 64 << 10, "{lines} bytes of lines");
                drop(ended.result.map(|value| value.to_string()));
                if session.is_lost() {
                    return None;
                }
                return if choices.below(4) == 3 { stored(session, tally) } else { Some(session) };
            }
        }
    }
    panic!("the program does not come to an end");
}

fn answer(session: &mut Session, call: &chrysalid::PendingCall, choices: &mut Choices<'_>) {
    if call.status == CallStatus::Outside {
        return session.settle(call.id, Ok(call.argument.clone())).unwrap();
    }
    let decision = match choices.below(4) {
        0 => Decision::Approve,
        1 => Decision::Reject(None),
        2 => Decision::Edit(call.argument.clone()),
        _ => Decision::Respond(call.argument.clone()),
    };
    // A description may stand in what the guest sent, and cannot be sent back.
    if let Err(error) = session.decide(call.id, decision) {
        assert!(matches!(error.kind(), ErrorKind::InvalidArguments | ErrorKind::DecisionNotAllowed), "{error}");
        session.decide(call.id, Decision::Reject(None)).unwrap();
    }
}

fn stored(mut session: Session, tally: &mut Tally) -> Option<Session> {
    let image = match session.snapshot() {
        Ok(image) => image,
        Err(error) => return refused(&error, tally),
    };
    match HOSTILE.restore_with(&image, &tools(), Restore::Resume, options()) {
        Ok(session) => {
            tally.restored += 1;
            Some(session)
        }
        Err(error) => refused(&error, tally),
    }
}

/// An error is an answer, unless the host says that it is its own fault.
fn refused<T>(error: &Error, tally: &mut Tally) -> Option<T> {
    let stack = "the guest's stack pointer is not at rest";
    assert!(error.kind() != ErrorKind::Internal || error.to_string().contains(stack), "{error}");
    tally.refused += 1;
    None
}

fn the_bystander_is_well() {
    BYSTANDER.with_borrow_mut(|bystander| {
        let session = bystander.get_or_insert_with(|| HOSTILE.session_with(&tools(), options()).unwrap());
        let ended = World::new().run(session, &source(&[])).ended();
        assert_eq!(ended.result, Ok(Value::from(1)), "beside it");
    });
}

fn options() -> SessionOptions {
    let mut options = with_limits(|limits| {
        limits.memory = 8 << 20;
        limits.cpu_time = Duration::from_millis(20);
        limits.host_memory = 8 << 20;
    });
    options.modules = Modules::fixed([("a", "import 'b'; export default 1"), ("b", "export const c = 2")]);
    options
}

fn tools() -> Capabilities {
    let world = World::new();
    let schema = serde_json::json!({"type": "object", "properties": {"amount": {"type": "number"}}});
    let pay = world.pay().input_schema(schema);
    let failing = Capability::raw("fail", |_, _| async { Err::<Value, _>(ToolError::new("failed")) });
    let tools = [world.mirror(), pay, world.gate(), failing, Capability::external("outside")];
    Capabilities::new(tools).unwrap()
}

fn poll(mut future: std::pin::Pin<Box<dyn Future<Output = chrysalid::CallResult> + Send>>) -> chrysalid::CallResult {
    let waker = std::task::Waker::noop();
    match future.as_mut().poll(&mut std::task::Context::from_waker(waker)) {
        std::task::Poll::Ready(result) => result,
        std::task::Poll::Pending => Err(ToolError::new("it takes too long")),
    }
}

/// Bytes as a row of choices; when they are used up, each is the first.
struct Choices<'b>(&'b [u8]);

impl Choices<'_> {
    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    fn below(&mut self, count: usize) -> usize {
        usize::from(self.byte()) % count
    }

    fn one_of(&mut self, words: &[u32]) -> u32 {
        words[self.below(words.len())]
    }

    fn acts(&mut self) -> Vec<Act> {
        let mut acts = Vec::new();
        for _ in 0..=self.below(MAX_ACTS) {
            acts.extend(self.act());
        }
        acts
    }

    fn act(&mut self) -> Vec<Act> {
        const NAME: u32 = 80_000;
        const ARGUMENT: u32 = 700_000;
        // Most of what a program does is done when it begins, runs, and is answered.
        let entry = self.one_of(&[5, 6, 7, 5, 9, 1, 2, 3, 4, 8, 10, 5, 6, 7]);
        match self.below(12) {
            // A word of the board, or of what it points to.
            0 | 1 => act(entry, 0, [BOARD + 4 * self.below(16) as u32, self.word(), 0, 0, 0]),
            // Runs, is fulfilled, is rejected.
            2 => act(entry, 0, [BOARD + 12, self.below(4) as u32, 0, 0, 0]),
            // A request that could be one.
            3 | 4 => {
                let (name, argument) = (self.name(), self.value());
                let places = [NAME, name.len() as u32, ARGUMENT, argument.len() as u32, self.times()];
                [put(entry, NAME, name), put(entry, ARGUMENT, &argument), act(entry, 3, places)].concat()
            }
            // A value that could be one, in the outbox, or as a line.
            5 => {
                let value = self.value();
                let length = value.len() as u32;
                let shown = if self.below(2) == 0 {
                    [act(9, 0, [BOARD + 48, FREE, 0, 0, 0]), act(9, 0, [BOARD + 52, length, 0, 0, 0])].concat()
                } else {
                    act(9, 4, [self.byte().into(), FREE, length, 0, self.times()])
                };
                [put(9, FREE, &value), shown].concat()
            }
            // When a timer is due.
            6 => {
                let due = [0.0, -1.0, 1e300, f64::NAN, f64::INFINITY, 1.8e12, 4e12, f64::MIN][self.below(8)];
                put(entry, BOARD + 32, &due.to_le_bytes())
            }
            // Any bytes in any place.
            7 => {
                let (place, length) = (self.word(), self.below(32));
                let (bytes, rest) = self.0.split_at(length.min(self.0.len()));
                self.0 = rest;
                put(entry, place, bytes)
            }
            8 => act(entry, 14, [self.word(), 0, 0, 0, 0]),
            _ => {
                let kind = self.below(15) as u32;
                let mut operands = [self.word(), self.word(), self.word(), self.word(), self.times()];
                // Copies and fills of gibibytes trap at once or take the time of their program; both are tried.
                if kind == 1 {
                    operands[1] = operands[1].wrapping_sub(SCRIPT);
                }
                act(entry, kind, operands)
            }
        }
    }

    /// What has been of interest before, or anything.
    fn word(&mut self) -> u32 {
        const MEMORY: u32 = 8 << 20;
        let words = [
            0, 1, 2, 3, 4, 5, 16, 64, 255, 1000, 0xffff, BOARD, BOARD + 12, BOARD + 60, OWN_OUT, SCRIPT, FREE,
            END - 1, END, END + 1, END - 4, MEMORY, MEMORY + (1 << 20), i32::MAX as u32, 1 << 31, u32::MAX,
            u32::MAX - 1, u32::MAX - 3, 65_535, 262_144,
        ];
        match self.below(40) {
            index @ 0..30 => words[index],
            30..33 => u32::from(self.byte()),
            33..36 => END - u32::from(self.byte()),
            36..38 => FREE + u32::from(self.byte()),
            _ => u32::from_le_bytes([self.byte(), self.byte(), self.byte(), self.byte()]),
        }
    }

    /// How often; 0 is without end.
    fn times(&mut self) -> u32 {
        self.one_of(&[1, 1, 2, 3, 100, 20_000, 0, 1])
    }

    fn name(&mut self) -> &'static [u8] {
        let names: [&[u8]; 12] = [
            b"mirror", b"gate", b"pay", b"outside", b"fail", b"$import", b"$search", b"$describe", b"", b"nosuch",
            b"\xff\0", b"$import2",
        ];
        names[self.below(names.len())]
    }

    /// A value in wire form, or nearly.
    fn value(&mut self) -> Vec<u8> {
        let values: [&[u8]; 16] = [
            b"\x0e\x00",
            b"\x01",
            b"\x0e\x01\x06amount\x04\x02",
            b"\x0e\x01\x03key\x07\x01a",
            b"\x0e\x01\x03key\x07\x02no",
            b"\x0e\x01\x05query\x07\x03pay",
            b"\x0e\x01\x04name\x07\x04gate",
            b"\x07\xff\xff\xff\xff\x0f",
            b"\x0c\xff\xff\xff\xff\x0f",
            b"\x0c\x02\x0e\x00\x12\x01",
            b"\x0c\x01\x12\x00",
            b"\x12\x07",
            b"\xff",
            b"\x0c\x03\x04\x02\x04\x02\x04\x02",
            b"\x0e\x02\x01a\x01\x01a\x01",
            b"\x07\x02\xc3\xbc",
        ];
        let mut value = values[self.below(values.len())].to_vec();
        match self.below(8) {
            // Deep, then the value.
            6 => {
                let depth = 2 * usize::from(self.byte());
                value = b"\x0c\x01".iter().copied().cycle().take(depth * 8).chain(value).collect();
            }
            // A byte of it is another.
            7 => {
                let place = self.below(value.len());
                value[place] = self.byte();
            }
            _ => {}
        }
        value
    }
}
