//! What the tests share: engines, a world of tools whose time is virtual, and a driver over the step machine.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, LazyLock, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use chrysalid::{
    Approval, Call, CallId, CallResult, CallStatus, Capabilities, Capability, Decision, Ended, Engine, EngineBuilder,
    Failure, Key, Limits, Object, Pause, PendingCall, Restore, Rules, Session, SessionOptions, Step, Timer, ToolError,
    Value,
};

/// The engine that tests share unless they need another.
pub(crate) static ENGINE: LazyLock<Engine> = LazyLock::new(|| builder().pool_slots(16).build().unwrap());

pub(crate) fn key() -> Key {
    Key::from_bytes([7; 32])
}

pub(crate) fn builder() -> EngineBuilder {
    Engine::builder().pool_slots(0).key(key())
}

/// An engine that shares nothing with the others but the key.
pub(crate) fn fresh_engine() -> Engine {
    builder().build().unwrap()
}

/// An engine with these rules that shares nothing with the others but the key.
#[track_caller]
pub(crate) fn ruled(rules: &str) -> Engine {
    let rules = Rules::parse(rules).unwrap_or_else(|error| panic!("{error}"));
    builder().rules(rules).build().unwrap()
}

pub(crate) fn session() -> Session {
    ENGINE.session(&Capabilities::none()).unwrap()
}

pub(crate) fn with_limits(change: impl FnOnce(&mut Limits)) -> SessionOptions {
    let mut limits = Limits::default();
    change(&mut limits);
    let mut options = SessionOptions::default();
    options.limits = Some(limits);
    options
}

/// Whether the session stays where it is at a pause, or goes through a snapshot into a fresh engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Stay,
    Move,
}

pub(crate) const BOTH: [Way; 2] = [Way::Stay, Way::Move];

impl Way {
    pub(crate) fn pass(self, session: Session, tools: &Capabilities) -> Session {
        match self {
            Self::Stay => session,
            Self::Move => moved(session, tools),
        }
    }

    /// As [`Way::pass`], with options, into an engine that the function makes.
    pub(crate) fn pass_into(
        self,
        mut session: Session,
        tools: &Capabilities,
        options: SessionOptions,
        engine: impl FnOnce() -> Engine,
    ) -> Session {
        if self == Self::Stay {
            return session;
        }
        let bytes = session.snapshot().unwrap();
        drop(session);
        engine().restore_with(&bytes, tools, Restore::Resume, options).unwrap()
    }
}

/// Through a snapshot into a fresh engine.
pub(crate) fn moved(mut session: Session, tools: &Capabilities) -> Session {
    let bytes = session.snapshot().unwrap();
    drop(session);
    fresh_engine().restore(&bytes, tools, Restore::Resume).unwrap()
}

// ---- values ----

/// A value from JSON.
pub(crate) fn json(value: serde_json::Value) -> Value {
    Value::from_json(value).unwrap()
}

pub(crate) fn object<const N: usize>(fields: [(&str, Value); N]) -> Value {
    Value::from(fields.into_iter().collect::<Object>())
}

pub(crate) fn text(value: &str) -> Value {
    Value::from(value)
}

pub(crate) fn list<const N: usize>(items: [Value; N]) -> Value {
    Value::Array(items.into())
}

pub(crate) fn id(text: &str) -> CallId {
    text.parse().unwrap()
}

// ---- halts ----

/// Where a driver had to stop.
#[derive(Debug)]
pub(crate) enum Halt {
    Paused(Pause),
    Ended(Ended),
}

impl Halt {
    #[track_caller]
    pub(crate) fn ended(self) -> Ended {
        match self {
            Self::Ended(ended) => ended,
            Self::Paused(pause) => panic!("paused: {pause:?}"),
        }
    }

    #[track_caller]
    pub(crate) fn value(self) -> Value {
        let ended = self.ended();
        ended.result.unwrap_or_else(|failure| panic!("failed: {failure:?}"))
    }

    #[track_caller]
    pub(crate) fn failure(self) -> Failure {
        self.ended().result.expect_err("the program should fail")
    }

    /// As [`Halt::paused`], where only that it waits is of interest.
    #[track_caller]
    pub(crate) fn waits(self) {
        drop(self.paused());
    }

    #[track_caller]
    pub(crate) fn paused(self) -> Pause {
        match self {
            Self::Paused(pause) => pause,
            Self::Ended(ended) => panic!("ended: {ended:?}"),
        }
    }
}

/// `1.1 gate { q: 'a' }` for each pending call.
pub(crate) fn shown(pause: &Pause) -> Vec<String> {
    pause.pending.iter().map(|call| format!("{} {} {}", call.id, call.name, call.argument)).collect()
}

/// Why a person is asked, in words.
pub(crate) fn reasons(call: &PendingCall) -> Vec<String> {
    call.reasons.iter().map(ToString::to_string).collect()
}

/// `private by budget.read (call 1.1, line 1)` for each effect that was met.
pub(crate) fn met(session: &Session) -> Vec<String> {
    session.taint().provenance().iter().map(|brought| format!("{} by {}", brought.effect, brought.by)).collect()
}

/// `1.1 gate waiting` for each call of the session's record.
pub(crate) fn record(session: &Session) -> Vec<String> {
    session.calls().iter().map(|call| format!("{} {} {}", call.id, call.name, call.status.name())).collect()
}

pub(crate) fn status(session: &Session, call: &str) -> CallStatus {
    let call = id(call);
    session.calls().iter().find(|record| record.id == call).expect("no such call").status
}

// ---- the world ----

/// Tools with a memory, on a clock that moves only when everything waits.
#[derive(Clone)]
pub(crate) struct World(Arc<Mutex<Inner>>);

struct Inner {
    now: SystemTime,
    paid: Vec<f64>,
    calls: Vec<String>,
    due: Vec<SystemTime>,
    running: usize,
    peak: usize,
}

/// 2027-01-15 08:00:00 UTC.
pub(crate) fn begin() -> SystemTime {
    UNIX_EPOCH + Duration::from_hours(500_000)
}

type CallFuture = Pin<Box<dyn Future<Output = CallResult> + Send>>;

impl World {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::new(Inner {
            now: begin(),
            paid: Vec::new(),
            calls: Vec::new(),
            due: Vec::new(),
            running: 0,
            peak: 0,
        })))
    }

    fn inner<T>(&self, look: impl FnOnce(&mut Inner) -> T) -> T {
        look(&mut self.0.lock().unwrap())
    }

    /// What `pay` was called with.
    pub(crate) fn paid(&self) -> Vec<f64> {
        self.inner(|inner| inner.paid.clone())
    }

    /// Every call that ran, as `name argument`.
    pub(crate) fn calls(&self) -> Vec<String> {
        self.inner(|inner| inner.calls.clone())
    }

    /// How many calls of `slow` ran at one time at most.
    pub(crate) fn peak(&self) -> usize {
        self.inner(|inner| inner.peak)
    }

    pub(crate) fn time(&self) -> SystemTime {
        self.inner(|inner| inner.now)
    }

    pub(crate) fn advance_to(&self, at: SystemTime) {
        self.inner(|inner| inner.now = inner.now.max(at));
    }

    pub(crate) fn advance(&self, by: Duration) {
        self.inner(|inner| inner.now += by);
    }

    pub(crate) fn next_due(&self) -> Option<SystemTime> {
        self.inner(|inner| inner.due.iter().copied().filter(|due| *due > inner.now).min())
    }

    /// A tool that is noted down, then does what the function says.
    fn tool(&self, name: &str, act: impl Fn(&Inner, &Value) -> CallResult + Send + Sync + 'static) -> Capability {
        let world = self.clone();
        let own_name = name.to_owned();
        Capability::raw(name, move |_, argument| {
            let result = world.inner(|inner| {
                inner.calls.push(format!("{own_name} {argument}"));
                act(inner, &argument)
            });
            std::future::ready(result)
        })
    }

    /// Gives the same each time.
    pub(crate) fn answering(&self, name: &str, value: Value) -> Capability {
        self.tool(name, move |_, _| Ok(value.clone()))
    }

    /// Fails in the same way each time.
    pub(crate) fn failing(&self, name: &str, error: ToolError) -> Capability {
        self.tool(name, move |_, _| Err(error.clone()))
    }

    pub(crate) fn echo(&self) -> Capability {
        self.tool("echo", |_, argument| Ok(field(argument, "v")))
    }

    /// Gives back its whole argument.
    pub(crate) fn mirror(&self) -> Capability {
        self.tool("mirror", |_, argument| Ok(argument.clone()))
    }

    pub(crate) fn show(&self) -> Capability {
        self.tool("show", |_, argument| Ok(Value::from(field(argument, "v").to_string())))
    }

    pub(crate) fn fail(&self) -> Capability {
        self.tool("fail", |_, argument| Err(ToolError::new(field(argument, "msg").as_str().unwrap_or("failed"))))
    }

    pub(crate) fn big(&self) -> Capability {
        self.tool("big", |_, argument| {
            let length = field(argument, "n").as_f64().unwrap_or(0.0);
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a test's own small number")]
            Ok(Value::from("x".repeat(length as usize)))
        })
    }

    fn pay_as(&self, name: &str) -> Capability {
        let world = self.clone();
        let own_name = name.to_owned();
        Capability::raw(name, move |_, argument| {
            let amount = field(&argument, "amount").as_f64().unwrap_or(f64::NAN);
            let n = world.inner(|inner| {
                inner.calls.push(format!("{own_name} {argument}"));
                inner.paid.push(amount);
                u32::try_from(inner.paid.len()).unwrap()
            });
            let receipt = object([("ok", Value::from(true)), ("n", Value::from(n)), ("amount", Value::from(amount))]);
            std::future::ready(Ok(receipt))
        })
    }

    pub(crate) fn pay(&self) -> Capability {
        self.pay_as("pay")
    }

    pub(crate) fn pay_gated(&self) -> Capability {
        self.pay_as("payGated").approval(Approval::Ask)
    }

    /// Needs approval; answers `yes`.
    pub(crate) fn gate(&self) -> Capability {
        self.tool("gate", |_, _| Ok(Value::from("yes"))).approval(Approval::Ask)
    }

    /// Needs approval; answers what it was asked, `q`.
    pub(crate) fn asked(&self) -> Capability {
        self.tool("gate", |_, argument| Ok(field(argument, "q"))).approval(Approval::Ask)
    }

    /// Answers nothing.
    pub(crate) fn note(&self) -> Capability {
        self.tool("note", |_, _| Ok(Value::Undefined))
    }

    fn waiting(&self, name: &str, end: fn(&Value) -> CallResult) -> Capability {
        let world = self.clone();
        let own_name = name.to_owned();
        Capability::raw(name, move |_, argument| {
            let wait = field(&argument, "ms").as_f64().unwrap_or(0.0);
            let due = world.inner(|inner| {
                inner.calls.push(format!("{own_name} {argument}"));
                inner.running += 1;
                inner.peak = inner.peak.max(inner.running);
                let due = inner.now + Duration::from_secs_f64(wait / 1000.0);
                inner.due.push(due);
                due
            });
            let world = world.clone();
            async move {
                std::future::poll_fn(|_| if world.time() >= due { Poll::Ready(()) } else { Poll::Pending }).await;
                world.inner(|inner| inner.running -= 1);
                end(&argument)
            }
        })
    }

    /// Answers `v` after `ms` of virtual time.
    pub(crate) fn slow(&self) -> Capability {
        self.waiting("slow", |argument| Ok(field(argument, "v")))
    }

    /// Fails after `ms` of virtual time.
    pub(crate) fn slow_fail(&self) -> Capability {
        self.waiting("slowFail", |_| Err(ToolError::new("slow failure")))
    }

    pub(crate) fn tools(&self) -> Capabilities {
        Capabilities::new([
            self.echo(),
            self.mirror(),
            self.show(),
            self.fail(),
            self.big(),
            self.pay(),
            self.pay_gated(),
            self.gate(),
            self.slow(),
            self.slow_fail(),
        ])
        .unwrap()
    }

    pub(crate) fn session(&self) -> Session {
        ENGINE.session(&self.tools()).unwrap()
    }

    pub(crate) fn session_with(&self, options: SessionOptions) -> Session {
        ENGINE.session_with(&self.tools(), options).unwrap()
    }

    /// Starts a program and drives it.
    #[track_caller]
    pub(crate) fn run(&self, session: &mut Session, source: &str) -> Halt {
        session.start(source).unwrap();
        self.drive(session)
    }

    /// Steps, begins calls, settles what is ready; moves the clock when nothing is.
    #[track_caller]
    pub(crate) fn drive(&self, session: &mut Session) -> Halt {
        let mut flight: Vec<(CallId, CallFuture)> = Vec::new();
        for _ in 0..1_000_000 {
            match session.step(self.time()).unwrap() {
                Step::Start(calls) => flight.extend(calls.iter().map(|call| (call.id(), call.invoke()))),
                Step::Busy => {}
                Step::Wait { wake_at } => {
                    if !settle_ready(session, &mut flight) {
                        let next = wake_at.into_iter().chain(self.next_due()).min();
                        self.advance_to(next.expect("waits, and for nothing"));
                    }
                }
                Step::Paused(pause) => return Halt::Paused(pause),
                Step::Ended(ended) => return Halt::Ended(ended),
            }
            settle_ready(session, &mut flight);
        }
        panic!("the program does not come to an end: {session:?}, {:?}", session.program_source());
    }

    /// As [`World::drive`] for sessions side by side: each in its turn until it waits. The clock moves when all of them do.
    #[track_caller]
    pub(crate) fn drive_together<const N: usize>(&self, mut sessions: [&mut Session; N]) -> [Halt; N] {
        let mut halts = [const { None }; N];
        let mut flights: [Vec<(CallId, CallFuture)>; N] = [const { Vec::new() }; N];
        for _ in 0..100_000 {
            let (mut next, mut settled) = (None, false);
            for (at, session) in sessions.iter_mut().enumerate() {
                while halts[at].is_none() {
                    match session.step(self.time()).unwrap() {
                        Step::Start(calls) => flights[at].extend(calls.iter().map(|call| (call.id(), call.invoke()))),
                        Step::Busy => {}
                        Step::Wait { wake_at } => {
                            next = wake_at.into_iter().chain(next).min();
                            break;
                        }
                        Step::Paused(pause) => halts[at] = Some(Halt::Paused(pause)),
                        Step::Ended(ended) => halts[at] = Some(Halt::Ended(ended)),
                    }
                }
                settled |= settle_ready(session, &mut flights[at]);
            }
            if halts.iter().all(Option::is_some) {
                return halts.map(Option::unwrap);
            }
            if !settled {
                let next = next.into_iter().chain(self.next_due()).min();
                self.advance_to(next.expect("all wait, and for nothing"));
            }
        }
        panic!("the programs do not come to an end: {sessions:?}");
    }

    /// Decides about one call, then drives on.
    #[track_caller]
    pub(crate) fn decide(&self, session: &mut Session, call: &str, decision: Decision) -> Halt {
        session.decide(id(call), decision).unwrap();
        self.drive(session)
    }
}

/// As [`World::drive`], with the session replaced after each step where the function gives another; approves the last of
/// the waiting calls at each pause.
pub(crate) fn drive_through_snapshots(
    world: &World,
    mut session: Session,
    mut replace: impl FnMut(&mut Session) -> Option<Session>,
) -> Ended {
    let mut flight: Vec<(CallId, CallFuture)> = Vec::new();
    let (mut logs, mut notes) = (Vec::new(), Vec::new());
    for _ in 0..1_000_000 {
        let mut step = session.step(world.time()).unwrap();
        if let Step::Paused(pause) = &mut step {
            logs.append(&mut pause.logs);
            notes.append(&mut pause.notes);
        }
        match step {
            Step::Start(calls) => flight.extend(calls.iter().map(|call| (call.id(), call.invoke()))),
            Step::Busy => {}
            Step::Wait { wake_at } => {
                let next = wake_at.into_iter().chain(world.next_due()).min();
                world.advance_to(next.expect("waits, and for nothing"));
            }
            // What is in flight is unknown to the restored session, so it is nothing that it waits for.
            Step::Paused(_) if !flight.is_empty() => {
                if let Some(next) = world.next_due() {
                    world.advance_to(next);
                }
            }
            Step::Paused(pause) => match pause.pending.last() {
                Some(call) => session.decide(call.id, Decision::Approve).unwrap(),
                None => world.advance_to(pause.wake_at.expect("a pause for nothing")),
            },
            Step::Ended(mut ended) => {
                // As if nothing had been handed over before the end.
                logs.append(&mut ended.logs);
                notes.append(&mut ended.notes);
                (ended.logs, ended.notes) = (logs, notes);
                return ended;
            }
        }
        settle_ready(&mut session, &mut flight);
        if let Some(other) = replace(&mut session) {
            session = other;
        }
    }
    panic!("the program does not come to an end");
}

/// One step, and more while it is only the slice that is over: a machine that does other work may end one at any place.
#[track_caller]
pub(crate) fn step(session: &mut Session, now: SystemTime) -> Step {
    loop {
        match session.step(now).unwrap() {
            Step::Busy => {}
            step => return step,
        }
    }
}

/// Steps until this many calls were handed out: a slice may be over between two of them.
#[track_caller]
pub(crate) fn step_to_calls(session: &mut Session, now: SystemTime, count: usize) -> Vec<Call> {
    let mut begun = Vec::new();
    while begun.len() < count {
        match step(session, now) {
            Step::Start(calls) => begun.extend(calls),
            other => panic!("{} of {count} calls, then {other:?}", begun.len()),
        }
    }
    assert_eq!(begun.len(), count, "{begun:?}");
    begun
}

fn settle_ready(session: &mut Session, flight: &mut Vec<(CallId, CallFuture)>) -> bool {
    let before = flight.len();
    flight.retain_mut(|(call, future)| {
        let polled = future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        let Poll::Ready(result) = polled else { return true };
        // One that was given up meanwhile is none of this driver's business.
        let _ = session.settle(*call, result);
        false
    });
    flight.len() < before
}

pub(crate) fn field(argument: &Value, name: &str) -> Value {
    argument.get(name).cloned().unwrap_or_default()
}

// ---- programs without tools ----

#[track_caller]
pub(crate) fn run(session: &mut Session, source: &str) -> Ended {
    World::new().run(session, source).ended()
}

#[track_caller]
pub(crate) fn eval(session: &mut Session, source: &str) -> Value {
    run(session, source).result.unwrap_or_else(|failure| panic!("{source}: {failure:?}"))
}

#[track_caller]
pub(crate) fn fails(session: &mut Session, source: &str) -> Failure {
    run(session, source).result.expect_err("the program should fail")
}

// ---- the async driver ----

/// Waits in real time; there for tests of `run` and `resume`.
pub(crate) struct RealTime;

impl Timer for RealTime {
    fn sleep_until(&self, at: SystemTime) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(tokio::time::sleep(at.duration_since(SystemTime::now()).unwrap_or_default()))
    }
}

pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
}
