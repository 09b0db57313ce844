//! Cases of concurrency, each named by its id: several programs for one session, and sessions on several threads.

use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex, OnceLock};
use std::task::{Context, Poll, Waker};

use chrysalid::{Capabilities, Capability, Decision, ErrorKind, Outcome, Session, SharedSession, ToolError, Value};

use crate::support::{RealTime, World, block_on, builder, eval, session, text};

fn value(outcome: Outcome) -> Value {
    match outcome {
        Outcome::Done(ended) => ended.result.unwrap(),
        other => panic!("{other:?}"),
    }
}

fn poll<T>(future: std::pin::Pin<&mut impl Future<Output = T>>) -> Option<T> {
    match future.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

/// A tool that answers when it is told to.
fn slow() -> (Capability, Arc<OnceLock<()>>) {
    let told = Arc::new(OnceLock::new());
    let answer = told.clone();
    let slow = Capability::raw("slow", move |_, _| {
        let answer = answer.clone();
        async move {
            std::future::poll_fn(|_| if answer.get().is_some() { Poll::Ready(()) } else { Poll::Pending }).await;
            Ok(Value::Undefined)
        }
    });
    (slow, told)
}

const FIRST: &str = "await tools.slow({ms: 300}); globalThis.a = 1; \"A\"";

#[test]
fn c01_two_programs_at_once_run_in_order() {
    block_on(async {
        let (slow, told) = slow();
        let session = builder().build().unwrap().session(&Capabilities::new([slow]).unwrap()).unwrap();
        let shared = SharedSession::new(session);
        let mut first = pin!(shared.run(FIRST, &RealTime));
        assert!(poll(first.as_mut()).is_none());
        let mut second = pin!(shared.run("globalThis.b = 2; [typeof a, \"B\"].join()", &RealTime));
        assert!(poll(second.as_mut()).is_none());
        // One that fails, one that is given up while it waits, one that is no program.
        let mut failing = pin!(shared.run("throw new Error('mine alone')", &RealTime));
        assert!(poll(failing.as_mut()).is_none());
        let mut given_up = Box::pin(shared.run("globalThis.c = 3", &RealTime));
        assert!(poll(given_up.as_mut()).is_none());
        drop(given_up);
        let too_long = " ".repeat(300 << 10);
        let mut refused = pin!(shared.run(&too_long, &RealTime));
        assert!(poll(refused.as_mut()).is_none());
        told.set(()).unwrap();
        assert_eq!(value(first.await.unwrap()), text("A"));
        assert_eq!(value(second.await.unwrap()), text("number,B"));
        let Outcome::Failed(ended) = failing.await.unwrap() else { panic!("no failure") };
        assert_eq!(ended.result.unwrap_err().to_string(), "Error: mine alone");
        assert_eq!(refused.await.unwrap_err().kind(), ErrorKind::SourceTooLarge);
        let last = shared.run("[a, b, typeof c].join()", &RealTime).await.unwrap();
        assert_eq!(value(last), text("1,2,undefined"));
    });
}

#[test]
fn c05_any_thread_may_use_a_session() {
    fn on_a_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
        std::thread::spawn(work).join().unwrap()
    }
    let world = World::new();
    let (one, two, three) = (world.clone(), world.clone(), world.clone());
    let session: Session = on_a_thread(move || one.session());
    let session = on_a_thread(move || {
        let mut session = session;
        two.run(&mut session, "let n = 1; await tools.gate({q: 1}); n += 1; await tools.pay({amount: n}); n").waits();
        session
    });
    let session = on_a_thread(move || {
        let mut session = session;
        assert_eq!(three.decide(&mut session, "1.1", Decision::Approve).value(), Value::from(2));
        session
    });
    on_a_thread(move || drop(session));
    assert_eq!(world.paid(), [2.0]);
}

#[test]
fn c07_nothing_leaks_between_sessions() {
    let engine = builder().pool_slots(1).build().unwrap();
    let none = Capabilities::none();
    let change = "globalThis.secret = \"s1\"; Object.prototype.p = 1; Math.random = () => 4";
    let look = "[typeof secret, ({}).p, Math.random() === 4].join()";
    let mut first = engine.session(&none).unwrap();
    eval(&mut first, change);
    // Beside it, on demand; and after it, in its slot.
    assert_eq!(eval(&mut engine.session(&none).unwrap(), look), text("undefined,,false"));
    drop(first);
    assert_eq!(eval(&mut engine.session(&none).unwrap(), look), text("undefined,,false"));
}

#[test]
fn c09_a_tool_that_calls_back_into_its_session_is_told_that_it_is_busy() {
    let inner: Arc<OnceLock<SharedSession>> = Arc::default();
    let kinds = Arc::new(Mutex::new(Vec::new()));
    let (shared, noted) = (inner.clone(), kinds.clone());
    let nested = Capability::raw("runsEvalInside", move |_, argument| {
        let (shared, noted) = (shared.get().unwrap().clone(), noted.clone());
        async move {
            let code = argument.get("code").and_then(Value::as_str).unwrap_or_default().to_owned();
            match shared.run(&code, &RealTime).await {
                Ok(outcome) => Ok(value(outcome)),
                Err(error) => {
                    noted.lock().unwrap().push(error.kind());
                    Err(ToolError::new(error.to_string()))
                }
            }
        }
    });
    let own = builder().build().unwrap().session(&Capabilities::new([nested]).unwrap()).unwrap();
    let shared = SharedSession::new(own);
    inner.set(shared.clone()).unwrap();
    let source = "try { await tools.runsEvalInside({code: \"1+1\"}) } catch (e) { [e.name, e.message].join(': ') }";
    let told = block_on(shared.run(source, &RealTime)).unwrap();
    let message = "ToolError: a tool of this session asked for it while the program that called the tool runs";
    assert_eq!(value(told), text(message));
    assert_eq!(*kinds.lock().unwrap(), [ErrorKind::SessionBusy]);
    // Another session is free.
    assert_eq!(eval(&mut session(), "1 + 1"), Value::from(2));
}
