//! The async driver: a thin loop over `step` and `settle`. It owns the futures of the calls that run; dropping it makes
//! those calls unknown, and [`Session::resume`] goes on.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::SystemTime;

use super::Session;
use super::shared::while_polled;
use crate::call::{CallId, CallResult, CallStatus, CancelSignal};
use crate::clock::Timer;
use crate::engine::abi;
use crate::error::Result;
use crate::outcome::{Ended, Outcome, Step};

impl Session {
    /// Runs a program until it ends or waits for somebody.
    ///
    /// # Errors
    /// As [`Session::start`] and [`Session::step`].
    pub async fn run(&mut self, source: &str, timer: &dyn Timer) -> Result<Outcome> {
        self.start(source)?;
        self.resume(timer).await
    }

    /// Goes on with the program, after decisions, a restore, or a `run` that was dropped.
    ///
    /// # Errors
    /// As [`Session::step`].
    pub async fn resume(&mut self, timer: &dyn Timer) -> Result<Outcome> {
        let mut flight = Flight { session: self, calls: Vec::new() };
        loop {
            match flight.session.step(timer.now())? {
                Step::Start(calls) => {
                    for call in calls {
                        let future = call.invoke();
                        flight.calls.push(InFlight { id: call.id(), cancel: call.cancel_signal().clone(), future });
                    }
                }
                Step::Busy => yield_now().await,
                Step::Wait { wake_at } => flight.wait(wake_at, timer).await,
                Step::Paused(pause) => return Ok(Outcome::Paused(pause)),
                Step::Ended(ended) => return Ok(outcome(ended)),
            }
            flight.settle_ready();
        }
    }
}

fn outcome(ended: Ended) -> Outcome {
    if ended.result.is_ok() { Outcome::Done(ended) } else { Outcome::Failed(ended) }
}

struct InFlight {
    id: CallId,
    cancel: CancelSignal,
    future: Pin<Box<dyn Future<Output = CallResult> + Send>>,
}

struct Flight<'a> {
    session: &'a mut Session,
    calls: Vec<InFlight>,
}

impl Flight<'_> {
    /// Ready when a call answered, the time has come, another session of the run left room for a call, or the program was
    /// interrupted.
    async fn wait(&mut self, wake_at: Option<SystemTime>, timer: &dyn Timer) {
        let mut sleep = wake_at.map(|at| timer.sleep_until(at));
        std::future::poll_fn(|cx| {
            self.session.meter.wake_on_interrupt(cx.waker());
            let slot = self.session.member.as_ref().is_some_and(|member| member.wake_for_slot(cx.waker()));
            let woken = slot
                || self.session.meter.is_interrupted()
                || sleep.as_mut().is_some_and(|sleep| sleep.as_mut().poll(cx).is_ready());
            if self.poll_calls(cx) || woken { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }

    /// Settles the calls that are ready without waiting.
    fn settle_ready(&mut self) {
        // Woken again by the next wait, which polls every call.
        self.poll_calls(&mut Context::from_waker(std::task::Waker::noop()));
    }

    /// Polls each call once; whether one answered.
    fn poll_calls(&mut self, cx: &mut Context<'_>) -> bool {
        let mut answered = false;
        let session = &mut *self.session;
        self.calls.retain_mut(|call| {
            if call.cancel.is_cancelled() {
                return false;
            }
            let polled = while_polled(session.state.session, || call.future.as_mut().poll(cx));
            let Poll::Ready(result) = polled else { return true };
            answered = true;
            // One that timed out meanwhile has its answer already.
            let _ = session.settle(call.id, result);
            false
        });
        answered
    }
}

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        for call in &self.calls {
            call.cancel.cancel();
            if let Some(stored) = self.session.state.calls.get_mut(call.id.number)
                && stored.status == CallStatus::Started
                && stored.name != abi::MODULE_CALL
            {
                stored.status = CallStatus::Unknown;
            }
            self.session.running.remove(&call.id.number);
        }
        if let Some(member) = &mut self.session.member {
            member.leave();
        }
        self.session.requeue_fetches();
    }
}

/// Lets other tasks of the executor run once.
async fn yield_now() {
    let mut yielded = false;
    std::future::poll_fn(|cx| {
        if yielded {
            return Poll::Ready(());
        }
        yielded = true;
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
