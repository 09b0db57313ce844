//! A stop is not an exception: whatever a program does to hold on, nothing of it runs after the host's stop, neither in its
//! own program nor in later ones, and what a later program does itself is its own.

use std::task::{Context, Poll, Waker};
use std::time::Duration;

use chrysalid::{CallStatus, Ended, FailureKind, Session, Step, Value};

use crate::support::{World, text, with_limits};

const PAY: &str = "tools.pay({ amount: 1 })";

/// Ways to hold on. `STOP` becomes statements that hit a limit, `PAY` a call.
const CATCHERS: &[&str] = &[
    "try { STOP } catch { PAY }",
    "try { STOP } finally { PAY }",
    "for (;;) { try { STOP } catch { PAY } finally { PAY; continue } }",
    "new Promise(() => { STOP }).catch(() => PAY); 1",
    "await new Promise(() => { STOP }).then(() => PAY, () => PAY)",
    "await new Promise((_, no) => { try { STOP } finally { no(PAY) } })",
    "Promise.resolve().then(() => { STOP }).then(() => PAY, () => PAY); 1",
    "await Promise.resolve().then(() => { STOP }).finally(() => PAY)",
    "await Promise.allSettled([new Promise(() => { STOP })]).then(() => PAY)",
    "await Promise.race([new Promise(() => { STOP }), 1]).catch(() => 0).then(() => PAY)",
    "await Promise.try(() => { STOP }).catch(() => PAY)",
    "async function f() { STOP } f().catch(() => PAY); 1",
    "async function f() { try { await null; STOP } catch { await PAY } finally { await PAY } } await f()",
    "function* g() { try { yield 1; STOP } finally { PAY } } const i = g(); i.next(); i.next()",
    "function* g() { try { yield 1; yield 2 } finally { PAY } } for (const x of g()) { STOP }",
    "function* g() { try { yield* (function* () { STOP })() } catch { PAY } } [...g()]",
    "async function* g() { try { yield 1; STOP } finally { await PAY } } for await (const x of g());",
    "async function* g() { try { yield 1 } finally { await PAY } } for await (const x of g()) { STOP }",
    "for (const x of { [Symbol.iterator]: () => ({ next: () => ({ done: false }), return() { PAY; return {} } }) }) { STOP }",
    "for await (const x of { [Symbol.asyncIterator]: () => ({ next: async () => ({ done: false }), return: async () => { PAY; return {} } }) }) { STOP }",
    "const [a] = { [Symbol.iterator]: () => ({ next() { STOP }, return() { PAY; return {} } }) }",
    "new Map({ [Symbol.iterator]: () => ({ next: () => ({ done: false, value: { get 0() { STOP } } }), return() { PAY; return {} } }) })",
    "{ using d = { [Symbol.dispose]() { PAY } }; STOP }",
    "{ await using d = { async [Symbol.asyncDispose]() { await PAY } }; STOP }",
    "{ using d = { [Symbol.dispose]() { PAY } }, e = { [Symbol.dispose]() { STOP } }; }",
    "queueMicrotask(() => PAY); STOP",
    "Promise.resolve().then(() => PAY); STOP",
    "(async () => { await null; await PAY })(); STOP",
    "setTimeout(() => PAY, 0); STOP",
    "setInterval(() => PAY, 1); STOP",
    "setTimeout(() => { try { STOP } catch {} PAY }, 0); await new Promise(() => {})",
    "const c = new AbortController(); c.signal.addEventListener('abort', () => PAY); try { STOP } finally { c.abort() }",
    "AbortSignal.timeout(1).addEventListener('abort', () => PAY); STOP",
    "const t = new EventTarget(); t.addEventListener('x', () => { STOP }); t.addEventListener('x', () => PAY); t.dispatchEvent(new Event('x')); PAY",
    "tools.mirror({ get x() { try { STOP } finally { PAY } } })",
    "JSON.stringify({ toJSON() { try { STOP } finally { PAY } } }); PAY",
    "console.log('%s', { toString() { try { STOP } finally { PAY } } }); STOP",
    "new FinalizationRegistry(() => PAY).register({}, 1); STOP",
    "(() => { const r = new FinalizationRegistry(() => PAY); globalThis.r = r; for (let i = 0; i < 100; i++) r.register({}, i) })(); STOP",
    "tools.slow({ ms: 1000, v: 1 }).then(() => PAY, () => PAY); STOP",
    "tools.gate({ q: 1 }).finally(() => PAY); STOP",
    "tools.echo({ v: 1 }).then(() => PAY); STOP",
    "await tools.echo({ v: 1 }); try { STOP } finally { await PAY }",
    "import('nowhere').catch(() => PAY); STOP",
    "await ({ then(f) { try { STOP } catch {} PAY; f(1) } })",
    "[1, 2].sort(() => { STOP }); PAY",
    "try { 'x'.replace(/x/, () => { STOP }) } catch {} PAY",
    "const p = new Proxy({}, { get() { try { STOP } finally { PAY } } }); p.x",
    "class A { static { try { STOP } catch {} PAY } }",
    "Error.prepareStackTrace = () => { try { STOP } finally { PAY } }; new Error('x').stack; PAY",
    "label: { try { STOP } finally { PAY; break label } } PAY",
    "globalThis.later = () => PAY; Object.defineProperty(globalThis, 'x', { get: later, configurable: true }); STOP",
];

/// Something that a session is stopped by, as statements, and what the program then ended with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Time,
    Memory,
    Interrupt,
}

impl By {
    fn statements(self) -> &'static str {
        match self {
            Self::Time | Self::Interrupt => "for (;;) {}",
            // The first time that memory is full may be caught, the second time is the end.
            Self::Memory => {
                "{ const full = []; for (;;) { try { for (;;) full.push(new Array(100).fill(0)) } catch {} } }"
            }
        }
    }

    fn kind(self) -> FailureKind {
        match self {
            Self::Time => FailureKind::Timeout,
            Self::Memory => FailureKind::OutOfMemory,
            Self::Interrupt => FailureKind::Cancelled,
        }
    }

    fn session(self, world: &World) -> Session {
        world.session_with(with_limits(|limits| {
            limits.memory = 8 << 20;
            if self == Self::Time {
                limits.cpu_time = Duration::from_millis(30);
            }
        }))
    }

    /// Answers what can be answered at once; interrupts a program as soon as it keeps the thread.
    fn drive(self, world: &World, session: &mut Session) -> Ended {
        loop {
            match session.step(world.time()).unwrap() {
                Step::Busy if self == Self::Interrupt => session.interrupt_handle().interrupt(),
                Step::Busy => {}
                Step::Start(calls) => {
                    for call in calls {
                        let polled = call.invoke().as_mut().poll(&mut Context::from_waker(Waker::noop()));
                        if let Poll::Ready(result) = polled {
                            session.settle(call.id(), result).unwrap();
                        }
                    }
                }
                Step::Wait { wake_at } => world.advance_to(wake_at.expect("waits, and for nothing")),
                Step::Paused(pause) => panic!("paused: {pause:?}"),
                Step::Ended(ended) => return ended,
            }
        }
    }
}

/// What comes after a stop: answers that are late, and programs that give leftovers every chance.
fn nothing_is_left(world: &World, session: &mut Session, source: &str) {
    let late = session.calls().into_iter().filter(|call| call.status == CallStatus::Unknown).map(|call| call.id);
    for call in late.collect::<Vec<_>>() {
        session.settle(call, Ok(Value::from(1))).unwrap();
    }
    for (program, value) in [
        ("await new Promise(r => setTimeout(r, 5000)); 'waited'", text("waited")),
        (
            "const rubbish = Array.from({ length: 1000 }, () => ({})); for (let i = 0; i < 50; i++) await null; rubbish.length",
            Value::from(1000),
        ),
        ("await tools.echo({ v: 3 })", Value::from(3)),
    ] {
        assert_eq!(world.run(session, program).value(), value, "after {source}");
    }
    assert_eq!(world.paid(), [0.0; 0], "{source}");
    assert_eq!(world.run(session, "(await tools.pay({ amount: 7 })).n").value(), Value::from(1), "{source}");
    assert_eq!(world.paid(), [7.0], "{source}");
}

fn all_catchers(by: By) {
    for catcher in CATCHERS {
        let world = World::new();
        let mut session = by.session(&world);
        let source = catcher.replace("STOP", by.statements()).replace("PAY", PAY);
        session.start(&source).unwrap();
        let ended = by.drive(&world, &mut session);
        let failure = ended.result.expect_err(&source);
        assert_eq!(failure.kind, by.kind(), "{source}: {failure:?}");
        assert_eq!(world.paid(), [0.0; 0], "{source}");
        nothing_is_left(&world, &mut session, &source);
    }
}

#[test]
fn nothing_holds_on_to_a_program_that_used_up_its_time() {
    all_catchers(By::Time);
}

#[test]
fn nothing_holds_on_to_a_program_that_used_up_its_memory() {
    all_catchers(By::Memory);
}

#[test]
fn nothing_holds_on_to_a_program_that_was_interrupted() {
    all_catchers(By::Interrupt);
}

#[test]
fn a_value_runs_no_code_so_nothing_of_it_can_hold_on() {
    let world = World::new();
    let mut session = By::Time.session(&world);
    for source in [
        "({ get x() { for (;;) PAY } })",
        "({ toJSON() { for (;;) PAY }, valueOf() { for (;;) PAY }, toString() { for (;;) PAY } })",
        "new Proxy({}, { get() { for (;;) PAY }, ownKeys() { for (;;) PAY } })",
        "class A { get [Symbol.toStringTag]() { for (;;) PAY } } new A()",
        "const e = new Error('x'); Object.defineProperty(e, 'message', { get() { for (;;) PAY } }); e",
    ] {
        let ended = world.run(&mut session, &source.replace("PAY", PAY)).ended();
        ended.result.unwrap_or_else(|failure| panic!("{source}: {failure:?}"));
    }
    nothing_is_left(&world, &mut session, "values");
}

#[test]
fn what_a_later_program_calls_of_a_stopped_one_is_its_own() {
    let world = World::new();
    let mut session = By::Time.session(&world);
    let source = "let settle; const p = new Promise(r => { settle = r }); p.then(() => tools.pay({ amount: 1 })); const f = () => tools.pay({ amount: 2 }); for (;;) {}";
    assert_eq!(world.run(&mut session, source).failure().kind, FailureKind::Timeout);
    assert_eq!(world.run(&mut session, "(await f()).n").value(), Value::from(1));
    assert_eq!(world.paid(), [2.0]);
    // The reaction hangs on a promise that this program resolves.
    assert_eq!(world.run(&mut session, "settle(1); await null; 'resolved'").value(), text("resolved"));
    assert_eq!(world.paid(), [2.0, 1.0]);
}
