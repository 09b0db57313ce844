//! A session that several tasks may use: programs queue in the order in which they were asked for.
//!
//! One program at a time. When the one ahead pauses, those behind it end unrun with `SessionPaused`. A program asked for
//! by a tool of the same session would wait for itself, so it is `SessionBusy`: while a call's future is polled, its
//! session is written down for the thread.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use super::{Interrupt, Session};
use crate::call::{CallId, CallResult, PendingCall};
use crate::clock::Timer;
use crate::decision::Decision;
use crate::error::{Error, ErrorKind, Result};
use crate::outcome::Outcome;

/// A cloneable handle to one session, usable from any task or thread.
#[derive(Clone, Debug)]
pub struct SharedSession(Arc<Shared>);

struct Shared {
    queue: Mutex<Queue>,
    interrupt: Interrupt,
    id: [u8; 16],
}

#[derive(Debug)]
struct Queue {
    /// Absent while somebody uses it.
    session: Option<Session>,
    waiting: VecDeque<(u64, Waker)>,
    next_ticket: u64,
}

impl SharedSession {
    /// Shares a session.
    #[must_use]
    pub fn new(session: Session) -> Self {
        Self(Arc::new(Shared {
            interrupt: session.interrupt_handle(),
            id: session.id(),
            queue: Mutex::new(Queue { session: Some(session), waiting: VecDeque::new(), next_ticket: 0 }),
        }))
    }

    /// Runs a program when those asked for before have ended.
    ///
    /// # Errors
    /// As [`Session::run`]; [`ErrorKind::SessionBusy`] inside a tool of this session, [`ErrorKind::SessionPaused`] behind
    /// a program that waits for somebody.
    pub async fn run(&self, source: &str, timer: &dyn Timer) -> Result<Outcome> {
        let mut turn = self.turn()?.await;
        turn.session()?.run(source, timer).await
    }

    /// Goes on with the program that waits, when those asked for before have ended.
    ///
    /// # Errors
    /// As [`Session::resume`].
    pub async fn resume(&self, timer: &dyn Timer) -> Result<Outcome> {
        let mut turn = self.turn()?.await;
        turn.session()?.resume(timer).await
    }

    /// As [`Session::decide`].
    ///
    /// # Errors
    /// As [`Session::decide`].
    pub async fn decide(&self, id: CallId, decision: Decision) -> Result<()> {
        self.turn()?.await.session()?.decide(id, decision)
    }

    /// As [`Session::settle`].
    ///
    /// # Errors
    /// As [`Session::settle`].
    pub async fn settle(&self, id: CallId, result: CallResult) -> Result<()> {
        self.turn()?.await.session()?.settle(id, result)
    }

    /// As [`Session::snapshot`].
    ///
    /// # Errors
    /// As [`Session::snapshot`].
    pub async fn snapshot(&self) -> Result<Vec<u8>> {
        self.turn()?.await.session()?.snapshot()
    }

    /// As [`Session::pending`].
    ///
    /// # Errors
    /// [`ErrorKind::SessionBusy`] inside a tool of this session.
    pub async fn pending(&self) -> Result<Vec<PendingCall>> {
        Ok(self.turn()?.await.session()?.pending())
    }

    /// A handle that stops the program; needs no turn.
    #[must_use]
    pub fn interrupt_handle(&self) -> Interrupt {
        self.0.interrupt.clone()
    }

    fn turn(&self) -> Result<WaitForTurn> {
        if POLLED.with_borrow(|polled| polled.contains(&self.0.id)) {
            return Err(Error::new(
                ErrorKind::SessionBusy,
                "a tool of this session asked for it while the program that called the tool runs",
            ));
        }
        let mut queue = self.0.lock();
        let ticket = queue.next_ticket;
        queue.next_ticket += 1;
        queue.waiting.push_back((ticket, Waker::noop().clone()));
        Ok(WaitForTurn { shared: self.0.clone(), ticket, served: false })
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("queue", &self.queue).finish_non_exhaustive()
    }
}

impl Queue {
    fn wake_first(&self) {
        if let Some((_, waker)) = self.waiting.front() {
            waker.wake_by_ref();
        }
    }
}

struct WaitForTurn {
    shared: Arc<Shared>,
    ticket: u64,
    served: bool,
}

impl Future for WaitForTurn {
    type Output = Turn;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Turn> {
        let shared = self.shared.clone();
        let mut queue = shared.lock();
        let first = queue.waiting.front().is_some_and(|(ticket, _)| *ticket == self.ticket);
        if first && let Some(session) = queue.session.take() {
            queue.waiting.pop_front();
            self.served = true;
            return Poll::Ready(Turn { shared: shared.clone(), session: Some(session) });
        }
        if let Some((_, waker)) = queue.waiting.iter_mut().find(|(ticket, _)| *ticket == self.ticket) {
            waker.clone_from(cx.waker());
        }
        Poll::Pending
    }
}

impl Drop for WaitForTurn {
    fn drop(&mut self) {
        if !self.served {
            let mut queue = self.shared.lock();
            queue.waiting.retain(|(ticket, _)| *ticket != self.ticket);
            queue.wake_first();
        }
    }
}

/// The session, until it is dropped.
struct Turn {
    shared: Arc<Shared>,
    session: Option<Session>,
}

impl Turn {
    fn session(&mut self) -> Result<&mut Session> {
        self.session.as_mut().ok_or_else(|| Error::internal("a turn without its session"))
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut queue = self.shared.lock();
        queue.session = self.session.take();
        queue.wake_first();
    }
}

thread_local! {
    /// Sessions whose calls are being polled on this thread, the innermost last.
    static POLLED: RefCell<Vec<[u8; 16]>> = const { RefCell::new(Vec::new()) };
}

/// Polls the calls of a session; what they poll knows whose call it is.
pub(super) fn while_polled<T>(session: [u8; 16], poll: impl FnOnce() -> T) -> T {
    struct Leave;
    impl Drop for Leave {
        fn drop(&mut self) {
            POLLED.with_borrow_mut(Vec::pop);
        }
    }
    POLLED.with_borrow_mut(|polled| polled.push(session));
    let _leave = Leave;
    poll()
}

#[cfg(test)]
#[cfg(feature = "tokio")]
mod tests {
    use std::sync::{Arc, Mutex, OnceLock};

    use super::SharedSession;
    use crate::{
        Approval, Capabilities, Capability, Decision, Engine, ErrorKind, Outcome, TokioTimer, ToolError, Value,
    };

    fn engine() -> Engine {
        Engine::builder().pool_slots(0).build().unwrap()
    }

    fn value(outcome: Outcome) -> Value {
        match outcome {
            Outcome::Done(done) => done.result.unwrap(),
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test]
    async fn programs_run_in_the_order_in_which_they_were_asked_for() {
        let slow = Capability::new("slow", |(): ()| async {
            tokio::task::yield_now().await;
            Ok::<_, ToolError>(())
        });
        let tools = Capabilities::new([slow]).unwrap();
        let shared = SharedSession::new(engine().session(&tools).unwrap());
        let program = |n: u32| format!("globalThis.seen ??= []; await tools.slow(); seen.push({n}); seen.join()");
        let (first, second, third) = (program(1), program(2), program(3));
        let (a, b, c) = tokio::join!(
            shared.run(&first, &TokioTimer),
            shared.run(&second, &TokioTimer),
            shared.run(&third, &TokioTimer)
        );
        let values = [a, b, c].map(|outcome| value(outcome.unwrap()));
        assert_eq!(values, ["1", "1,2", "1,2,3"].map(Value::from));
    }

    #[tokio::test]
    async fn programs_behind_a_paused_one_end_unrun() {
        let gate = Capability::new("gate", |(): ()| async { Ok::<_, ToolError>("yes") }).approval(Approval::Ask);
        let tools = Capabilities::new([gate]).unwrap();
        let shared = SharedSession::new(engine().session(&tools).unwrap());
        let (first, second) =
            tokio::join!(shared.run("await tools.gate()", &TokioTimer), shared.run("globalThis.ran = 1", &TokioTimer));
        let Outcome::Paused(pause) = first.unwrap() else { panic!("not paused") };
        let error = second.unwrap_err();
        assert_eq!(
            (error.kind(), error.to_string()),
            (ErrorKind::SessionPaused, "a program of this session waits for: 1.1 gate".to_owned())
        );
        shared.decide(pause.pending[0].id, Decision::Approve).await.unwrap();
        assert_eq!(value(shared.resume(&TokioTimer).await.unwrap()), Value::from("yes"));
        assert_eq!(value(shared.run("typeof ran", &TokioTimer).await.unwrap()), Value::from("undefined"));
    }

    #[tokio::test]
    async fn a_tool_that_runs_a_program_of_its_own_session_is_told_that_it_is_busy() {
        let inner: Arc<OnceLock<SharedSession>> = Arc::default();
        let told = Arc::new(Mutex::new(None));
        let (tool_session, tool_told) = (inner.clone(), told.clone());
        let nested = Capability::new("nested", move |(): ()| {
            let (session, told) = (tool_session.get().unwrap().clone(), tool_told.clone());
            async move {
                *told.lock().unwrap() = session.run("1", &TokioTimer).await.err().map(|error| error.kind());
                Ok::<_, ToolError>("done")
            }
        });
        let shared = SharedSession::new(engine().session(&Capabilities::new([nested]).unwrap()).unwrap());
        inner.set(shared.clone()).unwrap();
        assert_eq!(value(shared.run("await tools.nested()", &TokioTimer).await.unwrap()), Value::from("done"));
        assert_eq!(*told.lock().unwrap(), Some(ErrorKind::SessionBusy));
    }
}
