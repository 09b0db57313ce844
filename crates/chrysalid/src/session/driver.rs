//! The step machine: from a time that comes in to the next thing that is needed from outside.
//!
//! Checkpoints, snapshots, requests, answers and rules happen only between entries, when no frame of the guest is live.
//! One turn of the loop: let the guest run, look at what it left, decide what comes next.

use std::task::Poll;
use std::time::{Duration, SystemTime};

use super::admit::millis;
use super::imports::{Line, Request};
use super::instance::{Board, Entry, Guest};
use super::messages::put_answer;
use super::modules::Static;
use super::open::lost;
use super::place::refused;
use super::state::{Answer, Phase, Program, StoredLine};
use super::{Doing, Member, Session, SinceRun};
use crate::call::CallStatus;
use crate::clock::{from_millis, to_millis};
use crate::defence::{Defence, stands};
use crate::engine::abi;
use crate::error::{Error, ErrorKind, Result};
use crate::event::Event;
use crate::outcome::{Failure, FailureKind, LogLevel, LogLine, Pause, Step};
use crate::program::{self, Prepared};
use crate::value::{Style, console_line, wire};

/// Timers later than this do not keep a driver waiting, unless the options say otherwise.
const PARK_AFTER: Duration = Duration::from_secs(30);

/// How soon a program whose calls wait for other sessions of its run is stepped again.
const SLOT_EVERY: Duration = Duration::from_millis(10);

/// Bytes of answers that go into the guest at one time, if it is more than one answer.
const MAX_DELIVERY: usize = 4 << 20;

/// What the machine does next.
#[expect(clippy::large_enum_variant, reason = "made and taken apart at once")]
pub(super) enum Next {
    /// The guest runs these entries.
    Enter(Doing, Vec<Entry>),
    /// The caller gets this.
    Return(Step),
}

impl Session {
    /// Begins a program. Nothing of it runs before the next [`Session::step`].
    ///
    /// # Errors
    /// [`ErrorKind::SessionBusy`] or [`ErrorKind::SessionPaused`] while another one is there,
    /// [`ErrorKind::SourceTooLarge`], [`ErrorKind::SessionLost`].
    pub fn start(&mut self, source: &str) -> Result<()> {
        if self.is_lost() {
            return Err(lost());
        }
        if self.state.program.is_some() {
            return Err(self.occupied());
        }
        if source.len() > self.limits.source_size && stands(Defence::SourceSize) {
            return Err(Error::new(
                ErrorKind::SourceTooLarge,
                format!("source of {} bytes is more than {}", source.len(), self.limits.source_size),
            ));
        }
        let prepared = program::prepare(source);
        self.checkpoint()?;
        self.state.calls.forget_oldest();
        self.forget_grants();
        for handle in std::mem::take(&mut self.shown_handles) {
            self.state.handles.remove(&handle);
        }
        self.state.programs += 1;
        let asks_first = self.options.approve_program;
        self.state.program = Some(Program { asks_first, ..Program::new(self.state.programs, source) });
        self.meter.begin_program(self.limits.cpu_time, Duration::ZERO);
        if let Some(instance) = self.guest.here() {
            instance.state().begin_program();
        }
        self.doing = Doing::Nothing;
        self.awake_since = None;
        self.done = SinceRun::default();
        match prepared {
            Ok(prepared) => self.take_prepared(prepared),
            Err(refusal) => self.begin_failing(refused(source, refusal)),
        }
        Ok(())
    }

    pub(super) fn take_prepared(&mut self, prepared: Prepared) {
        let Some(program) = &mut self.state.program else { return };
        // The engine's `return` wants something behind it.
        program.code = (prepared.code + "\n").into();
        program.notes = prepared.notes;
        program.value_name = prepared.value_name;
        self.positions = Some((program.number, prepared.positions));
        // Nothing is fetched for a program that a person has yet to see.
        if program.approved.is_some() || !program.asks_first {
            self.want_modules(&prepared.imports);
        }
    }

    fn occupied(&self) -> Error {
        let waiting =
            self.names_of(|status| matches!(status, CallStatus::Waiting | CallStatus::Outside | CallStatus::Unknown));
        let moving = matches!(self.guest, Guest::Away(_)) || self.state.calls.count(CallStatus::Started) > 0;
        if moving || waiting.is_empty() {
            Error::new(ErrorKind::SessionBusy, "a program runs in this session")
        } else {
            Error::new(ErrorKind::SessionPaused, format!("a program of this session waits for: {waiting}"))
        }
    }

    /// Runs the guest until it needs something. `now` is the time; one that is before an earlier one counts as that.
    /// The thread is kept for one slice at most.
    ///
    /// # Errors
    /// [`ErrorKind::NotRunning`] without a program, [`ErrorKind::SessionLost`], [`ErrorKind::Guest`] when a new guest
    /// is needed after a trap and cannot be had. How the program fails is no error: see [`Step::Ended`].
    pub fn step(&mut self, now: SystemTime) -> Result<Step> {
        if self.is_lost() {
            return Err(lost());
        }
        if self.state.program.is_none() {
            return Err(Error::new(ErrorKind::NotRunning, "no program was started in this session"));
        }
        let (guest, engine) = (self.making.guest.clone(), self.making.engine.clone());
        let _ticking = guest.runtime(engine.options(), self.pooled)?.ticker().hold();
        self.begin_step(now);
        let step = self.advance();
        self.end_step(step.as_ref().ok());
        self.meter.end_step();
        let step = step?;
        Ok(step)
    }

    fn begin_step(&mut self, now: SystemTime) {
        self.meter.begin_step(to_millis(now));
        let now = self.meter.last_host_millis();
        if !self.clock_set {
            self.meter.set_origin(now, self.state.elapsed_millis);
            self.clock_set = true;
        }
        self.count_wall(now);
    }

    fn end_step(&mut self, step: Option<&Step>) {
        if let Some(Step::Paused(pause)) = step {
            self.awake_since = None;
            self.tell(&Event::Paused { pending: pause.pending.len() });
        }
        let Some(member) = &mut self.member else { return };
        if let Some(Step::Start(_) | Step::Wait { .. } | Step::Busy) = step {
            member.end_step();
        } else {
            member.leave();
            member.sleep();
        }
    }

    fn advance(&mut self) -> Result<Step> {
        loop {
            if !self.admit_all() {
                return Ok(Step::Busy);
            }
            if let Some(fault) = self.fault.take() {
                return self.trapped(&fault);
            }
            if matches!(self.guest, Guest::Away(_)) {
                let Poll::Ready(status) = self.guest.poll(&self.meter) else {
                    return Ok(Step::Busy);
                };
                self.absorb();
                match status {
                    Ok(status) => {
                        if let Some(step) = self.returned(status)? {
                            return Ok(step);
                        }
                    }
                    Err(error) => self.fault = Some(error),
                }
                continue;
            }
            match self.next()? {
                Next::Return(step) => return Ok(step),
                Next::Enter(doing, entries) => self.enter(doing, entries),
            }
        }
    }

    pub(super) fn enter(&mut self, doing: Doing, mut entries: Vec<Entry>) {
        if self.setup.configure {
            self.setup.configure = false;
            entries.insert(0, Entry::Configure(self.configuration()));
        }
        if matches!(doing, Doing::Running) {
            self.done = SinceRun::default();
        }
        let may_hold = self.room();
        match std::mem::replace(&mut self.guest, Guest::Gone) {
            Guest::Here(mut instance) => {
                instance.state().may_hold = may_hold;
                self.guest = instance.enter(entries);
                self.doing = doing;
            }
            other => self.guest = other,
        }
    }

    /// Takes in what the guest asked for and wrote.
    fn absorb(&mut self) {
        let Some(instance) = self.guest.here() else { return };
        let (requests, lines) = instance.state().take();
        let dropped = std::mem::take(&mut instance.state().lines_dropped) > 0;
        if let Some(program) = &mut self.state.program {
            program.lines_dropped |= dropped;
        }
        for line in lines {
            self.write_line(&line);
        }
        self.requests_held += requests.iter().map(Request::held).sum::<usize>();
        self.requests.extend(requests);
    }

    fn write_line(&mut self, line: &Line) {
        let bounds = self.bounds(self.limits.console_size.saturating_mul(2).saturating_add(4096));
        let style = Style { text: usize::MAX, bytes: self.limits.console_size, ..Style::default() };
        let text = match wire::decode(&line.values, &bounds) {
            Ok(values) => console_line(&values, &style),
            Err(_) => "[unreadable line]".to_owned(),
        };
        let level = match line.level {
            abi::LEVEL_INFO => LogLevel::Info,
            abi::LEVEL_DEBUG => LogLevel::Debug,
            abi::LEVEL_WARN => LogLevel::Warn,
            abi::LEVEL_ERROR => LogLevel::Error,
            _ => LogLevel::Log,
        };
        let bound = self.limits.console_size;
        let Some(program) = &mut self.state.program else {
            return;
        };
        let left = if stands(Defence::ConsoleSize) { bound.saturating_sub(program.log_bytes) } else { usize::MAX };
        let text = cut(text, left);
        program.log_bytes += text.len() + 1;
        if left > 0 {
            program.logs.push(StoredLine { level, text: text.clone() });
            self.tell(&Event::Line(&LogLine { level, text }));
        }
    }

    /// What comes next at a quiescent point.
    fn next(&mut self) -> Result<Next> {
        let board = self.guest.here().map(|instance| instance.board()).unwrap_or_default();
        if let Some(failure) = self.stop_cause(&board) {
            return Ok(self.stop(failure));
        }
        self.take_modules();
        self.expire_calls();
        self.ask_about_program();
        self.apply_decisions();
        let Some(program) = &mut self.state.program else {
            return Err(Error::internal("the machine runs without a program"));
        };
        if let Phase::Failing(_) = program.phase {
            return Ok(self.fail_on());
        }
        // A program that failed runs no further, however fast its calls answer.
        if board.program == abi::PROGRAM_REJECTED {
            return Ok(Next::Enter(Doing::Outcome(abi::OUTCOME_VALUE), vec![Entry::Outcome(abi::OUTCOME_VALUE)]));
        }
        if self.awaits_program_approval() {
            return Ok(self.wait(None));
        }
        if self.state.program.as_ref().is_some_and(|program| program.begun) {
            self.finish_imports();
        } else {
            match self.static_imports() {
                Static::Ready if !self.audit_program() && stands(Defence::AuditKept) => {
                    let message = "the audit trail cannot be written";
                    let failure = Failure { name: "Denied".into(), ..Failure::of(FailureKind::Rejected, message) };
                    self.begin_failing(failure);
                    return Ok(self.fail_on());
                }
                Static::Ready => return Ok(self.begin_program()),
                Static::Failed(failure) => {
                    self.begin_failing(failure);
                    return Ok(self.fail_on());
                }
                Static::Waiting => {}
            }
        }
        let calls = self.startable();
        if !calls.is_empty() {
            return Ok(Next::Return(Step::Start(calls)));
        }
        if self.state.program.as_ref().is_some_and(|program| !program.begun) {
            return Ok(self.wait(None));
        }
        if self.has_answers() {
            return Ok(self.if_slice_is_left(Self::deliver));
        }
        let now = self.meter.last_host_millis().floor();
        if board.jobs || board.next_due.is_some_and(|due| due <= now) {
            return Ok(self.if_slice_is_left(|_| Next::Enter(Doing::Running, vec![Entry::Pump])));
        }
        Ok(self.dry(&board))
    }

    fn if_slice_is_left(&mut self, next: impl FnOnce(&mut Self) -> Next) -> Next {
        if self.meter.may_go_on() { next(self) } else { Next::Return(Step::Busy) }
    }

    fn begin_program(&mut self) -> Next {
        let mut entries = Vec::with_capacity(5);
        let tools = self.tools_digest();
        if self.setup.tools != tools {
            self.setup.tools = tools;
            entries.push(Entry::Tools(self.tool_names()));
        }
        entries.extend(self.take_static_modules());
        if let Some(program) = &mut self.state.program {
            program.begun = true;
            entries.push(Entry::Start { program: program.number, source: program.code.clone() });
        }
        Next::Enter(Doing::Running, entries)
    }

    fn has_answers(&self) -> bool {
        self.state.program.as_ref().is_some_and(|program| !program.answers.is_empty())
    }

    /// Hands over answers, and lets the program work on them before there are more in the guest than it has room for.
    fn deliver(&mut self) -> Next {
        let mut batch = Vec::new();
        if let Some(program) = &mut self.state.program {
            let mut bytes = 0;
            let mut fits = |answer: &Answer| {
                let before = bytes;
                bytes += answer.held();
                before == 0 || bytes <= MAX_DELIVERY
            };
            let count = program.answers.iter().map_while(|answer| fits(answer).then_some(())).count();
            program.answers.drain(..count).for_each(|answer| put_answer(&mut batch, answer));
        }
        Next::Enter(Doing::Running, vec![Entry::Settle(batch)])
    }

    /// Nothing is left for the guest to do: the program has ended, waits, or hangs.
    fn dry(&mut self, board: &Board) -> Next {
        match board.program {
            abi::PROGRAM_FULFILLED => self.at_value(board),
            _ => self.at_await(board),
        }
    }

    /// The value is known: started calls and one-shot timers are waited for, and calls that something open waits for.
    fn at_value(&mut self, board: &Board) -> Next {
        // A timer without a time would be waited for without end.
        let timer = board.next_due.filter(|_| board.timers > 0);
        let moving = self.is_moving() || timer.is_some();
        // Asked last: what still runs may come to wait for a call that nothing waits for now.
        if !moving && self.waits_for_someone() && !self.done.loose_known {
            return Next::Enter(Doing::Loose, vec![Entry::Loose]);
        }
        if moving || self.waits_for_someone() {
            return self.wait(timer);
        }
        let which = if board.failures > 0 { abi::OUTCOME_FAILURE } else { abi::OUTCOME_VALUE };
        if board.intervals > 0 {
            self.note(format!("{} intervals were still set and have been cleared", board.intervals));
        }
        Next::Enter(Doing::Outcome(which), vec![Entry::Outcome(which)])
    }

    fn at_await(&mut self, board: &Board) -> Next {
        if self.is_moving() || board.next_due.is_some() || self.waits_for_someone() {
            return self.wait(board.next_due);
        }
        if board.failures > 0 {
            return Next::Enter(Doing::Outcome(abi::OUTCOME_FAILURE), vec![Entry::Outcome(abi::OUTCOME_FAILURE)]);
        }
        Next::Enter(Doing::Outcome(abi::OUTCOME_HANGS), vec![Entry::Outcome(abi::OUTCOME_HANGS)])
    }

    /// Whether calls run, or will when other sessions of the run leave them room.
    fn is_moving(&self) -> bool {
        self.state.calls.count(CallStatus::Started) > 0 || self.waits_for_slot()
    }

    fn waits_for_slot(&self) -> bool {
        self.member.as_ref().is_some_and(Member::waits)
    }

    fn waits_for_someone(&self) -> bool {
        self.state.calls.open().any(|(_, call)| call.is_pending())
    }

    fn wait(&mut self, timer_due: Option<f64>) -> Next {
        let now = self.meter.last_host_millis();
        let moving = self.is_moving();
        let park_after = millis(self.options.park_after.unwrap_or(PARK_AFTER));
        let soon = timer_due.is_some_and(|due| due - now <= park_after);
        // Timers that are set again and again must not keep a program from its pause for ever.
        let asked = self.state.calls.open().filter(|(_, call)| call.is_pending());
        let asked = asked.filter_map(|(_, call)| call.open.as_ref()).map(|open| open.requested_millis).reduce(f64::min);
        let patient = asked.is_none_or(|asked| now - asked < park_after);
        let timer_counts = soon && (patient || !stands(Defence::PauseDespiteTimers));
        if !moving && !timer_counts {
            // A pause may be saved, and what is garbage need not be.
            if !self.done.collected && self.state.program.as_ref().is_some_and(|program| program.begun) {
                return Next::Enter(Doing::Collecting, vec![Entry::Collect]);
            }
            return Next::Return(Step::Paused(self.pause(timer_due)));
        }
        // Nothing tells a step machine that another session left a slot; the async driver is woken.
        let slot_due = self.waits_for_slot().then(|| now + millis(SLOT_EVERY));
        let due = [timer_due, self.next_timeout(), self.wall_end(), slot_due];
        let wake_at = due.into_iter().flatten().reduce(f64::min);
        Next::Return(Step::Wait { wake_at: wake_at.map(from_millis) })
    }

    pub(super) fn pause(&mut self, timer_due: Option<f64>) -> Pause {
        Pause {
            pending: self.pending(),
            wake_at: timer_due.map(from_millis),
            logs: self.take_lines(),
            notes: self.take_notes(),
            calls: self.records(),
        }
    }

    /// Why the program must end now, whatever it does.
    fn stop_cause(&self, board: &Board) -> Option<Failure> {
        let program = self.state.program.as_ref()?;
        if self.meter.is_interrupted() {
            return Some(Failure::of(FailureKind::Cancelled, "the program was interrupted"));
        }
        if matches!(program.phase, Phase::Failing(_)) {
            return None;
        }
        if self.meter.timed_out() {
            return Some(self.timeout());
        }
        if board.stop == abi::STOP_MEMORY {
            return Some(self.out_of_memory());
        }
        self.wall_timeout()
    }

    pub(super) fn timeout(&self) -> Failure {
        let limit = self.limits.cpu_time;
        Failure::of(FailureKind::Timeout, format!("the program used more than {limit:?} of CPU time"))
    }

    pub(super) fn out_of_memory(&self) -> Failure {
        let limit = self.limits.memory;
        Failure::of(FailureKind::OutOfMemory, format!("the program used more than {limit} bytes of memory"))
    }

    pub(super) fn note(&mut self, note: String) {
        if let Some(program) = &mut self.state.program {
            program.notes.push(note);
        }
    }
}

/// The text, cut to at most this many bytes, never inside a character.
fn cut(mut text: String, bytes: usize) -> String {
    if text.len() > bytes {
        let mut end = bytes;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn a_cut_is_never_inside_a_character() {
        assert_eq!(cut("äöü".into(), 3), "ä");
        assert_eq!(cut("abc".into(), 3), "abc");
    }
}
