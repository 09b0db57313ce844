//! The one order of checks that every call goes through, from the guest's request to its place in the record; start.rs goes on.
//!
//! Arguments are bytes already, read once by the guest. Name → schema → budget → rules, on exactly these bytes →
//! recorded as requested → ask, deny or queue → started. A call that is refused before the budget spends none.
//! Effects join the session's taint when a call is allowed, before its answer, so that parallel calls cannot race.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use chrysalid_policy::{Decision as Ruling, Effects, Request as PolicyRequest, RuleOfTwo, Rules, decide};

use super::Session;
use super::imports::Request;
use super::lookup::{DESCRIBE, SEARCH};
use super::state::{Answer, AnswerError, OpenCall, Program, StoredCall};
use crate::call::{CallId, CallStatus, ToolError};
use crate::capability::Capability;
use crate::clock::thread_cpu_nanos;
use crate::defence::{Defence, stands};
use crate::engine::abi;
use crate::event::Event;
use crate::value::{Object, Value, wire};

/// Calls that may be refused for what they are, beside the budget of calls, before arguments are no longer read.
const MORE_REFUSED: u32 = 256;
/// The longest name of a capability, in bytes. What is longer is none, and is not kept in full.
const MAX_NAME: usize = 256;

/// A call whose arguments were checked.
struct Checked {
    definition: [u8; 16],
    bytes: Vec<u8>,
    value_bytes: usize,
    effects: Effects,
    asks: bool,
}

impl Session {
    /// Takes requests through the order of checks for as long as the slice lasts. Whether all went through; a stop drops
    /// the rest.
    pub(super) fn admit_all(&mut self) -> bool {
        let mut before = thread_cpu_nanos();
        while let Some(request) = self.requests.pop_front() {
            let stopped = self.meter.is_interrupted() || self.meter.timed_out();
            if stopped && stands(Defence::StopEndsCalls) {
                self.drop_requests();
                break;
            }
            self.requests_held = self.requests_held.saturating_sub(request.held());
            self.admit(&request);
            let now = thread_cpu_nanos();
            self.charge(Duration::from_nanos(now.saturating_sub(before)));
            before = now;
            if self.meter.slice_is_over() && stands(Defence::Slices) {
                break;
            }
        }
        self.requests.is_empty()
    }

    pub(super) fn drop_requests(&mut self) {
        self.requests.clear();
        self.requests_held = 0;
    }

    pub(super) fn charge(&self, time: Duration) {
        if stands(Defence::CallsCharged) {
            self.meter.charge(time);
        }
    }

    /// Work on calls that the program made is the program's time, or it could keep the host busy for ever.
    pub(super) fn charged<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let begun = thread_cpu_nanos();
        let done = work(self);
        self.charge(Duration::from_nanos(thread_cpu_nanos().saturating_sub(begun)));
        done
    }

    /// Takes one request of the guest through the order of checks.
    fn admit(&mut self, request: &Request) {
        let number = request.number;
        self.state.last_call = self.state.last_call.max(number);
        let name = match request.name.split_at_checked(MAX_NAME) {
            Some((head, [_, ..])) => String::from_utf8_lossy(head).into_owned() + "...",
            _ => String::from_utf8_lossy(&request.name).into_owned(),
        };
        match name.as_str() {
            abi::MODULE_CALL => match self.refused_enough(&name) {
                Some(error) => return self.refuse(number, &name, CallStatus::Failed, error),
                None => return self.admit_import(number, &request.argument),
            },
            SEARCH | DESCRIBE => match self.refused_enough(&name) {
                Some(error) => return self.refuse(number, &name, CallStatus::Failed, error),
                None => return self.look_up(number, &name, &request.argument),
            },
            _ => {}
        }
        match self.check(&name, &request.argument) {
            Ok(checked) => self.rule(number, &name, checked),
            Err(error) => self.refuse(number, &name, CallStatus::Failed, error),
        }
    }

    /// Why nothing of a request is looked at any more: reading and checking is the host's work, and calls that are
    /// refused spend no budget.
    fn refused_enough(&self, name: &str) -> Option<ToolError> {
        let bound = self.limits.calls.saturating_add(MORE_REFUSED);
        let refused = self.state.program.as_ref().is_some_and(|program| program.refused >= bound);
        (refused && stands(Defence::RefusedBudget)).then(|| {
            let message = format!("{name}: {bound} calls of this program were refused already");
            ToolError::named("CallBudgetExceeded", message)
        })
    }

    fn check(&mut self, name: &str, argument: &[u8]) -> Result<Checked, ToolError> {
        if let Some(error) = self.refused_enough(name) {
            return Err(error);
        }
        let capability = self
            .capabilities
            .get(name)
            .cloned()
            .ok_or_else(|| ToolError::named("ToolUnavailable", self.capabilities.catalogue().unknown_tool(name)))?;
        let argument = wire::decode(argument, &self.argument_bounds()).map_err(|error| {
            let kind = if error.is_bound() { "ArgumentTooLarge" } else { "ToolInputError" };
            ToolError::named(kind, format!("{name}: {error}"))
        })?;
        let checked = self.check_argument(&capability, argument)?;
        self.spend(&capability, checked.bytes.len())?;
        Ok(checked)
    }

    /// What does not depend on budgets: also asked for arguments that a person edited.
    fn check_argument(&self, capability: &Capability, argument: Value) -> Result<Checked, ToolError> {
        let name = capability.name();
        // Every tool takes one object; leaving it out means an empty one.
        let argument = match argument {
            Value::Undefined | Value::Null => Value::Object(Object::default()),
            argument => argument,
        };
        if let Some(schema) = capability.schema().filter(|_| stands(Defence::Schema)) {
            schema.check(&argument, self.limits.argument_size).map_err(ToolError::input)?;
        }
        let bytes = wire::encode_canonical(&argument, &self.argument_bounds())
            .map_err(|error| ToolError::named("ArgumentTooLarge", format!("{name}: {error}")))?;
        Ok(Checked {
            definition: capability.definition(),
            asks: capability.asks(&argument) && stands(Defence::Approval),
            effects: self.effects_of(capability),
            value_bytes: argument.footprint(),
            bytes,
        })
    }

    fn spend(&mut self, capability: &Capability, bytes: usize) -> Result<(), ToolError> {
        let room = self.room_for(bytes);
        let Some(program) = &mut self.state.program else {
            return Err(ToolError::new("no program runs"));
        };
        let over = |message: String| Err(ToolError::named("CallBudgetExceeded", message));
        let name = capability.name();
        if program.calls_made >= self.limits.calls && stands(Defence::CallBudget) {
            return over(format!("{name}: this program may make {} calls and has made them", self.limits.calls));
        }
        let by_name = program.calls_by_name.get(name).copied().unwrap_or(0);
        if let Some(bound) =
            capability.max_calls_limit().filter(|bound| by_name >= *bound && stands(Defence::ToolBudget))
        {
            return over(format!("{name}: this program may call it {bound} times and has done so"));
        }
        if !room {
            return Err(self.no_room_for_arguments(name));
        }
        program.calls_made += 1;
        program.calls_by_name.insert(name.to_owned(), by_name + 1);
        Ok(())
    }

    pub(super) fn no_room_for_arguments(&self, name: &str) -> ToolError {
        ToolError::named("CallBudgetExceeded", self.no_room(&format!("{name}: its arguments")))
    }

    /// An unlabelled capability counts as having all effects once any is labelled.
    pub(super) fn effects_of(&self, capability: &Capability) -> Effects {
        capability.declared_effects().unwrap_or(if self.capabilities.declare_effects() {
            Effects::ALL
        } else {
            Effects::NONE
        })
    }

    fn rule(&mut self, number: u32, name: &str, checked: Checked) {
        let request = PolicyRequest { name, effects: checked.effects, ask: checked.asks };
        let rules = self.making.engine.rules(&self.capabilities);
        let rules = if stands(Defence::RuleOfTwo) { rules } else { Rules::with_rule_of_two(RuleOfTwo::Off) };
        let ruling = decide(&request, &self.state.taint, &rules);
        let open = OpenCall {
            argument: checked.bytes,
            value_bytes: checked.value_bytes,
            definition: checked.definition,
            effects: checked.effects,
            reasons: Vec::new(),
            requested_millis: self.meter.last_host_millis(),
            started_millis: None,
            decision: None,
            approved: false,
        };
        match ruling {
            Ruling::Allow => self.allow(number, name, open),
            Ruling::Ask { reasons } => {
                if self.state.calls.count(CallStatus::Waiting) >= self.limits.pending_approvals as usize
                    && stands(Defence::PendingApprovals)
                {
                    let bound = self.limits.pending_approvals;
                    let error = ToolError::named(
                        "CallBudgetExceeded",
                        format!("{name}: {bound} calls wait for a person already"),
                    );
                    return self.refuse(number, name, CallStatus::Failed, error);
                }
                if !self.room_for(open.argument.len().saturating_add(open.value_bytes)) {
                    let error = self.no_room_for_arguments(name);
                    return self.refuse(number, name, CallStatus::Failed, error);
                }
                self.record_call(number, name, CallStatus::Waiting, Some(OpenCall { reasons, ..open }));
                self.tell(&Event::CallWaiting { id: self.id_of(number), name });
            }
            Ruling::Deny { reasons } => {
                let reasons: Vec<String> = reasons.iter().map(ToString::to_string).collect();
                let error = ToolError::named("Denied", format!("{name}: {}", reasons.join("; ")));
                self.refuse(number, name, CallStatus::Denied, error);
            }
        }
    }

    fn allow(&mut self, number: u32, name: &str, open: OpenCall) {
        let effects = open.effects;
        self.record_call(number, name, CallStatus::Queued, Some(open));
        let by = format!("{name} (call {})", self.id_of(number));
        self.state.taint.join(effects, &by);
    }

    /// A person said yes. The rules are asked again: a later denial wins, a later question is not asked twice.
    pub(super) fn approve(&mut self, number: u32, edited: Option<Vec<u8>>) {
        let Some(call) = self.state.calls.get(number) else {
            return;
        };
        let name = call.name.clone();
        let Some(capability) = self.capabilities.get(&name).cloned() else {
            let error = ToolError::named("ToolUnavailable", format!("{name} is not available"));
            return self.answer_error(number, CallStatus::Failed, error);
        };
        let bytes = edited.as_ref().or(call.open.as_ref().map(|open| &open.argument));
        let argument = bytes.and_then(|bytes| wire::decode(bytes, &self.argument_bounds()).ok());
        let checked = argument
            .ok_or_else(|| ToolError::input(format!("{name}: the arguments cannot be read")))
            .and_then(|argument| self.check_argument(&capability, argument));
        let checked = match checked {
            Ok(checked) => checked,
            Err(error) => return self.answer_error(number, CallStatus::Failed, error),
        };
        let request = PolicyRequest { name: &name, effects: checked.effects, ask: checked.asks };
        if let Ruling::Deny { reasons } =
            decide(&request, &self.state.taint, &self.making.engine.rules(&self.capabilities))
        {
            let reasons: Vec<String> = reasons.iter().map(ToString::to_string).collect();
            let error = ToolError::named("Denied", format!("{name}: {}", reasons.join("; ")));
            return self.answer_error(number, CallStatus::Denied, error);
        }
        let mut effects = checked.effects;
        if let Some(call) = self.state.calls.get_mut(number) {
            if let Some(open) = &mut call.open {
                open.definition = checked.definition;
                open.argument = checked.bytes;
                open.value_bytes = checked.value_bytes;
                open.effects |= effects;
                effects = open.effects;
                open.approved = true;
            }
            call.edited = edited;
            call.status = CallStatus::Queued;
        }
        let by = format!("{name} (call {})", self.id_of(number));
        self.state.taint.join(effects, &by);
    }

    /// Whether edited arguments would be accepted, asked when the decision is given.
    pub(super) fn check_edit(&self, name: &str, argument: &Value) -> Result<Vec<u8>, ToolError> {
        let capability = self
            .capabilities
            .get(name)
            .ok_or_else(|| ToolError::named("ToolUnavailable", format!("{name} is not available")))?;
        if !stands(Defence::EditsChecked) {
            let bounds = self.argument_bounds();
            return wire::encode_canonical(argument, &bounds).map_err(|error| ToolError::input(error.to_string()));
        }
        Ok(self.check_argument(capability, argument.clone())?.bytes)
    }

    /// Refuses a call that was never recorded.
    pub(super) fn refuse(&mut self, number: u32, name: &str, status: CallStatus, error: ToolError) {
        // A program that only makes bad calls must not fill the record.
        if self.state.program.as_ref().is_some_and(|program| program.refused < self.limits.calls) {
            self.record_call(number, name, status, None);
        }
        if let Some(program) = &mut self.state.program {
            program.refused += 1;
            let result = Err(AnswerError { error, tool: name.to_owned() });
            program.answers.push(Answer { call: number, result, module: false });
        }
        self.tell(&Event::CallEnded { id: self.id_of(number), name, status });
    }

    pub(super) fn record_call(&mut self, number: u32, name: &str, status: CallStatus, open: Option<OpenCall>) {
        let program = self.state.program.as_ref().map_or(0, |program| program.number);
        let call = StoredCall {
            program,
            name: name.to_owned(),
            status,
            open: open.map(Box::new),
            took_millis: None,
            edited: None,
        };
        self.state.calls.insert(number, call);
    }

    /// Ends a recorded call with an error for the program.
    pub(super) fn answer_error(&mut self, number: u32, status: CallStatus, error: ToolError) {
        let tool = self.state.calls.get(number).map(|call| call.name.clone()).unwrap_or_default();
        self.answer(number, status, Err(AnswerError { error, tool }));
    }

    /// Ends a recorded call and keeps its answer for the next step.
    pub(super) fn answer(&mut self, number: u32, status: CallStatus, result: Result<Vec<u8>, AnswerError>) {
        self.state.calls.end(number, status, self.meter.last_host_millis());
        self.cancels.remove(&number);
        let Some(call) = self.state.calls.get(number) else {
            return;
        };
        let (id, name) = (call.id(number), call.name.clone());
        let its_own = |program: &&mut Program| program.number == id.program || !stands(Defence::JobsDropped);
        if let Some(program) = self.state.program.as_mut().filter(its_own) {
            program.answers.push(Answer { call: number, result, module: false });
        }
        self.tell(&Event::CallEnded { id, name: &name, status });
    }

    pub(super) fn id_of(&self, number: u32) -> CallId {
        let program = self
            .state
            .calls
            .get(number)
            .map(|call| call.program)
            .or_else(|| self.state.program.as_ref().map(|program| program.number));
        CallId { program: program.unwrap_or(0), number }
    }

    pub(super) fn tell(&self, event: &Event<'_>) {
        if let Some(sink) = &self.options.events {
            // A sink that panics must not lose a call.
            let _ = std::panic::catch_unwind(AssertUnwindSafe(|| sink.event(*event)));
        }
    }
}

pub(super) fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}
