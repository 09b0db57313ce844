//! A hostile guest whose every act is made from bytes, and what must hold for whatever it does: the host answers with a
//! value, a failure or an error that is none of its own faults, in bounded time, and sessions beside it do not notice.

mod acts;

use std::cell::RefCell;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use chrysalid::{
    CallStatus, Capabilities, Capability, Decision, Engine, Error, ErrorKind, Modules, Restore, Session,
    SessionOptions, Step, ToolError, Value,
};

use crate::script::{WAT, source};
use crate::support::{World, begin, builder, with_limits};
use acts::Choices;

static HOSTILE: LazyLock<Engine> =
    LazyLock::new(|| builder().no_cache().guest(wat::parse_str(WAT).unwrap()).build().unwrap());

/// How long the programs of one input may take, on a machine that does other work.
const PATIENCE: Duration = Duration::from_secs(20);
const MAX_PROGRAMS: u32 = 3;
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
}

/// Up to three programs in a session whose guest does what the bytes say.
pub(crate) fn guest_garbage(bytes: &[u8]) -> Tally {
    let mut choices = Choices::new(bytes);
    let mut tally = Tally::default();
    let begun = Instant::now();
    let mut session = Some(HOSTILE.session_with(&tools(), options()).unwrap());
    while let Some(taken_over) = session.take()
        && tally.programs < MAX_PROGRAMS
    {
        let acts = choices.acts();
        tally.programs += 1;
        session = one(taken_over, &source(&acts), &mut choices, &mut tally);
        if choices.is_empty() {
            break;
        }
    }
    assert!(begun.elapsed() < PATIENCE, "took {:?}", begun.elapsed());
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
