//! The end of a program: its value, its failure, a stop, a trap. Nothing ends as a false success.
//!
//! A stop is not an exception: the host's own flag decides the outcome, no call leaves the guest after it, and the
//! stopped program's jobs, timers and reactions are dropped. A program that failed by itself runs no further either,
//! but calls that had begun are waited for, so that the record says how they ended.

use super::driver::Next;
use super::instance::{Board, Entry, NoRoom, Outbox};
use super::place::refused;
use super::state::{Phase, StoredFailure};
use super::{Base, Doing, Session};
use crate::call::{CallRecord, CallStatus};
use crate::defence::{Defence, stands};
use crate::engine::{Checkpoint, abi};
use crate::error::Result;
use crate::event::Event;
use crate::outcome::{Ended, Failure, FailureKind, Heap, LogLine, Step};
use crate::program;
use crate::value::{ErrorValue, Layout, Style, Value, render, wire};

/// Why a program's value, or its reason, is not there.
enum Unread {
    /// The program fails with this.
    Failed(Failure),
    /// No sound guest says this.
    Fault(&'static str),
}

impl Session {
    /// The guest came back from an entry.
    pub(super) fn returned(&mut self, status: i32) -> Result<Option<Step>> {
        match std::mem::replace(&mut self.doing, Doing::Nothing) {
            Doing::Nothing | Doing::Running => {}
            Doing::Loose => self.abandon_loose(),
            Doing::Collecting => self.done.collected = true,
            Doing::Outcome(which) => return self.take_outcome(which, status),
            Doing::Finishing(result) if status == abi::STATUS_OK && !self.state.handles.is_empty() => {
                self.enter(Doing::Freeing(result), vec![Entry::Freed]);
            }
            Doing::Freeing(result) => {
                self.take_freed(&result);
                return self.finished(*result, abi::STATUS_OK).map(Some);
            }
            Doing::Finishing(result) => return self.finished(*result, status).map(Some),
        }
        Ok(None)
    }

    /// Forgets the results whose handles are gone.
    fn take_freed(&mut self, result: &std::result::Result<Value, Failure>) {
        let most = usize::try_from(self.state.last_handle).unwrap_or(usize::MAX);
        let freed = self.guest.here().and_then(|instance| instance.freed(most).ok()).unwrap_or_default();
        // What the program came to is the host's to look at until the next one begins.
        let shown = result.as_ref().map(Value::handles).unwrap_or_default();
        for handle in freed {
            if shown.contains_key(&handle) {
                self.shown_handles.push(handle);
            } else {
                self.state.handles.remove(&handle);
            }
        }
    }

    /// The program is gone from the guest. A heap that is over its limit even so would let no other begin.
    fn finished(&mut self, result: std::result::Result<Value, Failure>, status: i32) -> Result<Step> {
        if status != abi::STATUS_NO_MEMORY {
            return Ok(self.ended(result, Heap::Intact));
        }
        if matches!(self.base, Base::Nothing) {
            // What was done after the pause is done; only the heap is of no use any more.
            self.recover()?;
            return Ok(self.ended(result, Heap::Lost));
        }
        let result = result.and_then(|_| Err(self.out_of_memory()));
        self.recover()?;
        Ok(self.ended(result, Heap::Reset))
    }

    /// Withdraws the calls that wait for an answer which nothing open waits for.
    fn abandon_loose(&mut self) {
        self.done.loose_known = true;
        let bound = self.state.calls.len().saturating_mul(4);
        let Some(numbers) = self.guest.here().and_then(|instance| instance.outbox(bound).ok()).map(<[u8]>::to_vec)
        else {
            return;
        };
        let (words, _) = numbers.as_chunks::<4>();
        let loose: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
        let waiting: Vec<u32> =
            self.state.calls.open().filter(|(_, call)| call.is_pending()).map(|(number, _)| number).collect();
        // One that something waits for may lead to code that looks at the others.
        if waiting.iter().all(|number| loose.contains(number) && self.is_waiting(*number)) {
            for number in waiting {
                self.withdraw(number);
            }
        }
    }

    fn is_waiting(&self, number: u32) -> bool {
        self.state.calls.get(number).is_some_and(|call| call.status == CallStatus::Waiting)
    }

    fn withdraw(&mut self, number: u32) {
        self.state.calls.end(number, CallStatus::Abandoned, self.meter.last_host_millis());
        let (id, name) = (self.id_of(number), self.state.calls.get(number).map(|call| call.name.as_str().to_owned()));
        self.tell(&Event::CallEnded { id, name: &name.unwrap_or_default(), status: CallStatus::Abandoned });
    }

    fn take_outcome(&mut self, which: u32, status: i32) -> Result<Option<Step>> {
        if which == abi::OUTCOME_HANGS {
            let failure = self.deadlock(status);
            self.begin_failing(failure);
            return Ok(None);
        }
        let board = self.guest.here().map(|instance| instance.board()).unwrap_or_default();
        let failed = which == abi::OUTCOME_FAILURE || board.program == abi::PROGRAM_REJECTED;
        let bound = match failed {
            true => self.failure_bound(),
            false if stands(Defence::ResultSize) => self.limits.result_size,
            false => usize::MAX,
        };
        let value = match self.read_outcome(status, bound) {
            Ok(value) => Ok(value),
            Err(Unread::Failed(failure)) => Err(failure),
            Err(Unread::Fault(what)) => return self.trapped(&wasmtime::Error::msg(what)).map(Some),
        };
        if !failed {
            self.enter(Doing::Finishing(Box::new(value)), vec![Entry::Finish]);
            return Ok(None);
        }
        let failure = match value {
            Ok(value) => self.failure_of(&board, &value),
            Err(failure) => failure,
        };
        if which == abi::OUTCOME_FAILURE {
            let from = match board.failure_kind {
                abi::FAILURE_TIMER => "the error was thrown in a timer",
                abi::FAILURE_JOB => "the error was thrown in a microtask",
                _ => "the error came from a promise that nobody awaited",
            };
            self.note(from.to_owned());
        }
        self.begin_failing(failure);
        Ok(None)
    }

    /// What is shown of a failure, in bytes.
    fn failure_bound(&self) -> usize {
        self.limits.result_size.max(abi::FAILURE_BYTES) + abi::FAILURE_SLACK
    }

    fn read_outcome(&mut self, status: i32, bound: usize) -> std::result::Result<Value, Unread> {
        let too_large = |message: String| Unread::Failed(Failure::of(FailureKind::ResultTooLarge, message));
        let over = || too_large(format!("the program's value is larger than {bound} bytes or deeper than the limit"));
        match status {
            abi::STATUS_OK => {}
            abi::STATUS_TOO_LARGE => return Err(over()),
            abi::STATUS_NO_MEMORY => return Err(Unread::Failed(self.out_of_memory())),
            _ => return Err(Unread::Fault("the guest has no outcome of a program that it says has ended")),
        }
        let bounds = self.bounds(bound);
        let instance = self.guest.here().ok_or(Unread::Fault("the guest is gone"))?;
        let bytes = instance.outbox(bound).map_err(|why| match why {
            Outbox::TooLarge => over(),
            Outbox::Outside => Unread::Fault("the outcome is outside of the guest's memory"),
        })?;
        wire::decode(bytes, &bounds).map_err(|error| {
            if error.is_bound() {
                too_large(format!("the program's value: {error}"))
            } else {
                Unread::Fault("the outcome is no value")
            }
        })
    }

    fn failure_of(&mut self, board: &Board, thrown: &Value) -> Failure {
        let full = board.memory_hits > 0;
        match thrown {
            Value::Null if full => self.out_of_memory(),
            Value::Error(error) if is_out_of_memory(error, full) => self.out_of_memory(),
            Value::Error(error) => {
                if let Some(refused) = self.failed_command(error) {
                    return refused;
                }
                let stack = self.original_stack(error.stack.as_deref().unwrap_or_default());
                Failure {
                    name: error.name.clone(),
                    position: self.position_in(&stack, &error.message),
                    stack,
                    value: Some(thrown.clone()),
                    ..Failure::of(FailureKind::Exception, &error.message)
                }
            }
            other => Failure {
                name: "Thrown".to_owned(),
                value: Some(thrown.clone()),
                ..Failure::of(
                    FailureKind::Exception,
                    render(other, &Style { layout: Layout::Line, ..Style::default() }),
                )
            },
        }
    }

    /// A shell command that began to run as JavaScript.
    fn failed_command(&self, error: &ErrorValue) -> Option<Failure> {
        let source = &*self.state.program.as_ref()?.source;
        let refusal = (error.name == "ReferenceError").then(|| program::failed_command(source, &error.message))??;
        Some(refused(source, refusal))
    }

    /// The program waits for what nothing will settle: where, as far as the guest knows.
    fn deadlock(&mut self, status: i32) -> Failure {
        let mut failure =
            Failure::of(FailureKind::Deadlock, "the program waits for a promise that nothing will settle");
        let Ok(hangs) = self.read_outcome(status, self.failure_bound()) else { return failure };
        let awaits = self.awaits(&hangs);
        if let Some((_, position)) = awaits.first() {
            failure.position.clone_from(position);
        }
        let places: Vec<String> = awaits.into_iter().map(|(place, _)| place).collect();
        if !places.is_empty() {
            failure.message = format!("{}: {}", failure.message, places.join("; "));
        }
        failure
    }

    /// The program failed: what has not begun is withdrawn, and no guest code runs any more.
    pub(super) fn begin_failing(&mut self, failure: Failure) {
        self.close_guest();
        self.drop_imports();
        self.withdraw_unbegun();
        let value = failure
            .value
            .as_ref()
            .and_then(|value| wire::encode_record(value, &self.bounds(self.failure_bound())).ok());
        if let Some(program) = &mut self.state.program {
            program.answers.clear();
            program.phase = Phase::Failing(StoredFailure {
                kind: failure.kind,
                name: failure.name,
                message: failure.message,
                stack: failure.stack,
                hint: failure.hint,
                position: failure.position,
                value,
            });
        }
    }

    /// Waits for the calls that had begun, then ends.
    pub(super) fn fail_on(&mut self) -> Next {
        if self.state.calls.count(CallStatus::Started) > 0 {
            let wake_at = self.next_timeout().map(crate::clock::from_millis);
            return Next::Return(Step::Wait { wake_at });
        }
        if self.state.calls.open().any(|(_, call)| call.is_suspended()) {
            return Next::Return(Step::Paused(self.pause(None)));
        }
        let Some(Phase::Failing(stored)) = self.state.program.as_ref().map(|program| program.phase.clone()) else {
            return finish(Err(Failure::of(FailureKind::Trap, "the program failed in an unknown way")));
        };
        let value = stored.value.and_then(|bytes| wire::decode(&bytes, &self.bounds(self.failure_bound())).ok());
        finish(Err(Failure {
            kind: stored.kind,
            name: stored.name,
            message: stored.message,
            stack: stored.stack,
            hint: stored.hint,
            position: stored.position,
            value,
        }))
    }

    /// A stop by the host: ends at once. Calls that had begun are told, and recorded as unknown until they answer.
    pub(super) fn stop(&mut self, failure: Failure) -> Next {
        self.close_guest();
        self.give_up_calls();
        finish(Err(failure))
    }

    fn reset_note(&self) -> &'static str {
        match (&self.base, self.making.engine.options().checkpoint) {
            (Base::Baseline, Checkpoint::Never) => "the session's heap is empty again",
            (_, Checkpoint::Never) => "the session's heap is back at the snapshot that it came from",
            _ => "the session is back at what it was before this program",
        }
    }

    fn close_guest(&mut self) {
        if let Some(instance) = self.guest.here() {
            instance.state().closed = true;
        }
    }

    fn withdraw_unbegun(&mut self) {
        if let Some(member) = &mut self.member {
            member.want_nothing();
        }
        let unbegun: Vec<u32> =
            self.state.calls.open().filter(|(_, call)| !call.has_begun()).map(|(number, _)| number).collect();
        for number in unbegun {
            self.withdraw(number);
        }
    }

    fn give_up_calls(&mut self) {
        self.drop_imports();
        self.withdraw_unbegun();
        for running in self.running.drain().map(|(_, running)| running) {
            running.cancel.cancel();
        }
        self.close_begun();
    }

    /// What has begun and has no answer is unknown, and no later program waits for it.
    fn close_begun(&mut self) {
        let begun = self.state.calls.open().filter(|(_, call)| call.has_begun());
        let begun: Vec<u32> = begun.map(|(number, _)| number).collect();
        for number in begun {
            self.state.calls.end(number, CallStatus::Unknown, self.meter.last_host_millis());
        }
    }

    /// The guest trapped, or could not take a message. Its heap is not trusted any more.
    pub(super) fn trapped(&mut self, error: &wasmtime::Error) -> Result<Step> {
        // A result that was known before the trap stands; the heap does not.
        let known = match std::mem::replace(&mut self.doing, Doing::Nothing) {
            Doing::Finishing(result) => Some(*result),
            _ => None,
        };
        let failure = if self.meter.is_interrupted() {
            Failure::of(FailureKind::Cancelled, "the program was interrupted")
        } else if self.meter.timed_out() {
            self.timeout()
        } else if let Some(failure) = self.wall_timeout().filter(|_| self.meter.wall_is_over()) {
            failure
        } else if error.is::<NoRoom>() || gave_up(error) && self.met_memory_limit() {
            self.out_of_memory()
        } else {
            Failure::of(FailureKind::Trap, format!("the sandbox stopped the program: {}", trap_name(error)))
        };
        self.give_up_calls();
        self.recover()?;
        let heap = if matches!(self.base, Base::Nothing) { Heap::Lost } else { Heap::Reset };
        Ok(self.ended(known.unwrap_or(Err(failure)), heap))
    }

    /// Whether an allocation was refused.
    fn met_memory_limit(&mut self) -> bool {
        self.guest.here().is_some_and(|instance| instance.board().memory_hits > 0)
    }

    /// Puts together what the caller gets, and makes room for the next program.
    fn ended(&mut self, result: std::result::Result<Value, Failure>, heap: Heap) -> Step {
        self.drop_requests();
        self.module_results.clear();
        self.drop_imports();
        self.withdraw_unbegun();
        self.close_begun();
        let calls = self.records();
        let logs = self.take_lines();
        if heap == Heap::Intact {
            // A session that was restored half-way has somewhere to go back to from here on.
            if matches!(self.base, Base::Nothing) {
                self.base = Base::Baseline;
            }
        }
        self.meter.clear_interrupt();
        self.awake_since = None;
        let (value_name, mut notes) = match self.state.program.take() {
            Some(program) => {
                if heap != Heap::Intact {
                    // Nothing in the heap it went back to knows of them, and nothing would tell that they are gone.
                    let is_empty = matches!(self.base, Base::Baseline);
                    self.state.handles.retain(|_, held| !is_empty && held.call.program < program.number);
                }
                let over = program.log_bytes >= self.limits.console_size;
                let mut notes = program.notes;
                if over || program.lines_dropped {
                    notes.push(format!("console output over {} bytes was dropped", self.limits.console_size));
                }
                (program.value_name, notes)
            }
            None => (None, Vec::new()),
        };
        self.forget_grants();
        if heap != Heap::Intact {
            // Asked for again, whether the heap still has them or not.
            self.state.modules.clear();
        }
        match heap {
            Heap::Intact => {}
            Heap::Reset => notes.push(self.reset_note().to_owned()),
            Heap::Lost => notes.push("the session's heap is lost".to_owned()),
        }
        Step::Ended(Ended { result, logs, notes, calls, heap, value_name })
    }

    /// The calls of the program that runs, in the order they were made.
    pub(super) fn records(&self) -> Vec<CallRecord> {
        let program = self.state.program.as_ref().map_or(0, |program| program.number);
        // Their count first: there may be many, and records are large.
        let calls = self.state.calls.of_program(program);
        calls.into_iter().map(|(number, call)| self.record(number, call)).collect()
    }

    pub(super) fn take_notes(&mut self) -> Vec<String> {
        self.state.program.as_mut().map(|program| std::mem::take(&mut program.notes)).unwrap_or_default()
    }

    /// Console lines that were not handed over before.
    pub(super) fn take_lines(&mut self) -> Vec<LogLine> {
        let lines = self.state.program.as_mut().map(|program| std::mem::take(&mut program.logs)).unwrap_or_default();
        lines.into_iter().map(|line| LogLine { level: line.level, text: line.text }).collect()
    }
}

fn finish(result: std::result::Result<Value, Failure>) -> Next {
    Next::Enter(Doing::Finishing(Box::new(result)), vec![Entry::Finish])
}

/// The engine's error at the limit; its regular expressions make a `SyntaxError` of it.
fn is_out_of_memory(error: &ErrorValue, full: bool) -> bool {
    (error.name == "InternalError" || full && error.name == "SyntaxError") && error.message == "out of memory"
}

/// Whether the guest ended itself, as the engine does where it cannot do without an allocation.
fn gave_up(error: &wasmtime::Error) -> bool {
    error.downcast_ref() == Some(&wasmtime::Trap::UnreachableCodeReached)
}

/// What kind of trap it was, without addresses or paths of the host.
fn trap_name(error: &wasmtime::Error) -> String {
    error.downcast_ref::<wasmtime::Trap>().map_or_else(|| "a fault of the guest".to_owned(), ToString::to_string)
}
