//! The one order of checks that every call goes through, from the guest's request to its place in the record; rule.rs and
//! start.rs go on.
//!
//! Arguments are bytes already, read once by the guest. Name → handles → schema → budget → rules, on exactly these bytes →
//! recorded as requested → ask, deny or queue → started. A call that is refused before the budget spends none.
//! Effects join the session's taint when a call is allowed, before its answer, so that parallel calls cannot race.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use chrysalid_policy::{Effects, Exhausted};

use super::Session;
use super::imports::Request;
use super::lookup::{DESCRIBE, SEARCH};
use super::state::{Answer, AnswerError, OpenCall, Program, REVEAL_CALL, StoredCall};
use crate::audit::AuditEvent;
use crate::call::{CallId, CallPlace, CallStatus, ToolError};
use crate::capability::{Capability, Delivery};
use crate::clock::CpuMark;
use crate::defence::{Defence, stands};
use crate::engine::abi;
use crate::event::Event;
use crate::value::{Object, Value, wire};

/// Calls that may be refused for what they are, beside the budget of calls, before arguments are no longer read.
const MORE_REFUSED: u32 = 256;
/// The longest name of a capability, in bytes. What is longer is none, and is not kept in full.
const MAX_NAME: usize = 256;

/// A call whose arguments were checked.
pub(super) struct Checked {
    pub(super) definition: [u8; 16],
    /// Canonical wire form of what the tool would get.
    pub(super) bytes: Vec<u8>,
    pub(super) value_bytes: usize,
    /// The argument as the program gave it, with handles as handles.
    pub(super) given: Value,
    pub(super) holds_handles: bool,
    pub(super) declared: Effects,
    /// Effects of the handles in it.
    pub(super) carried: Effects,
    pub(super) asks: bool,
    /// Whether the capability's own predicate asks about the argument.
    pub(super) predicate: bool,
    pub(super) delivery: Delivery,
    pub(super) place: Option<CallPlace>,
    /// A budget that is spent, where that asks for more.
    pub(super) over: Option<Exhausted>,
}

impl Session {
    /// Takes requests through the order of checks for as long as the slice lasts. Whether all went through; a stop drops
    /// the rest.
    pub(super) fn admit_all(&mut self) -> bool {
        while self.meter.may_go_on() || !stands(Defence::Slices) {
            let Some(request) = self.requests.pop_front() else { break };
            self.meter.works();
            let stopped = self.meter.is_interrupted() || self.meter.timed_out();
            if stopped && stands(Defence::StopEndsCalls) {
                self.drop_requests();
                break;
            }
            self.requests_held = self.requests_held.saturating_sub(request.held());
            self.admit(&request);
        }
        self.requests.is_empty()
    }

    pub(super) fn drop_requests(&mut self) {
        self.requests.clear();
        self.requests_held = 0;
    }

    /// Work outside of a step on what the program asked for is the program's time, or it could keep the host busy for ever.
    pub(super) fn charged<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let begun = CpuMark::here();
        let done = work(self);
        if stands(Defence::CallsCharged) {
            self.meter.charge(Duration::from_nanos(begun.spent()));
        }
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
            REVEAL_CALL => match self.refused_enough(&name) {
                Some(error) => return self.refuse(number, &name, CallStatus::Failed, error),
                None => return self.admit_reveal(number, request),
            },
            SEARCH | DESCRIBE => match self.refused_enough(&name) {
                Some(error) => return self.refuse(number, &name, CallStatus::Failed, error),
                None => return self.look_up(number, &name, &request.argument),
            },
            _ => {}
        }
        match self.check(&name, request) {
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

    fn check(&mut self, name: &str, request: &Request) -> Result<Checked, ToolError> {
        if let Some(error) = self.refused_enough(name) {
            return Err(error);
        }
        let capability = self
            .capabilities
            .shared(name)
            .ok_or_else(|| ToolError::named("ToolUnavailable", self.capabilities.catalogue().unknown_tool(name)))?;
        let given = wire::decode(&request.argument, &self.argument_bounds()).map_err(|error| {
            let kind = if error.is_bound() { "ArgumentTooLarge" } else { "ToolInputError" };
            ToolError::named(kind, format!("{name}: {error}"))
        })?;
        let mut checked = self.check_argument(&capability, given)?;
        checked.place = self.place_of(request);
        checked.over = self.spend(&capability, checked.bytes.len())?;
        Ok(checked)
    }

    /// What does not depend on budgets: also asked for arguments that a person edited.
    pub(super) fn check_argument(&mut self, capability: &Capability, given: Value) -> Result<Checked, ToolError> {
        let name = capability.name();
        // Every tool takes one object; leaving it out means an empty one.
        let given = match given {
            Value::Undefined | Value::Null => Value::Object(Object::default()),
            given => given,
        };
        let filled = self.fill_handles(name, &given)?;
        let argument = filled.as_ref().map_or(&given, |filled| &filled.value);
        let carried = filled.as_ref().map_or(Effects::NONE, |filled| filled.effects);
        let holds_handles = filled.is_some();
        let checked = self.check_filled(capability, argument);
        let (bytes, predicate, value_bytes) = match (checked, carried.is_empty()) {
            (Ok(checked), _) => checked,
            (Err(error), true) => return Err(error),
            // That it does not fit says something about what the handle holds, and its words may say all.
            (Err(_), false) => {
                self.join_taint(carried, &format!("{name}, which does not take what a handle holds"));
                return Err(ToolError::input(format!("{name}: does not take what a handle in its argument holds")));
            }
        };
        Ok(Checked {
            definition: capability.definition(),
            bytes,
            value_bytes,
            asks: capability.asks() && stands(Defence::Approval),
            predicate,
            declared: self.effects_of(capability),
            carried,
            delivery: capability.delivers(),
            given,
            holds_handles,
            place: None,
            over: None,
        })
    }

    fn check_filled(&self, capability: &Capability, argument: &Value) -> Result<(Vec<u8>, bool, usize), ToolError> {
        if let Some(schema) = capability.schema().filter(|_| stands(Defence::Schema)) {
            schema.check(argument, self.limits.argument_size).map_err(ToolError::input)?;
        }
        let bytes = wire::encode_canonical(argument, &self.argument_bounds())
            .map_err(|error| ToolError::named("ArgumentTooLarge", format!("{}: {error}", capability.name())))?;
        Ok((bytes, capability.asks_about(argument) && stands(Defence::Approval), argument.footprint()))
    }

    /// How much room there is says how large is what handles hold.
    pub(super) fn tell_sizes(&mut self, name: &str) {
        let held = self.state.handles.values().fold(Effects::NONE, |sum, held| sum | held.effects);
        self.join_taint(held, &format!("{name}, for which what handles hold leaves no room"));
    }

    pub(super) fn no_room_for_arguments(&mut self, name: &str) -> ToolError {
        self.tell_sizes(name);
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

    /// Refuses a call that was never recorded.
    pub(super) fn refuse(&mut self, number: u32, name: &str, status: CallStatus, error: ToolError) {
        if status != CallStatus::Denied && self.is_audited() {
            let event = AuditEvent::Refused {
                call: self.id_of(number).to_string(),
                name: name.to_owned(),
                error: error.name.clone(),
            };
            self.audit(&event);
        }
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
            name: name.into(),
            status,
            open: open.map(Box::new),
            took_millis: None,
            place: None,
            decided: None,
            grant: None,
            changed: None,
        };
        self.state.calls.insert(number, call);
    }

    /// Ends a recorded call with an error for the program.
    pub(super) fn answer_error(&mut self, number: u32, status: CallStatus, error: ToolError) {
        let tool = self.state.calls.get(number).map(|call| call.name.as_str().to_owned()).unwrap_or_default();
        self.answer(number, status, Err(AnswerError { error, tool }));
    }

    /// Ends a recorded call and keeps its answer for the next step.
    pub(super) fn answer(&mut self, number: u32, status: CallStatus, result: Result<Vec<u8>, AnswerError>) {
        self.state.calls.end(number, status, self.meter.last_host_millis());
        self.running.remove(&number);
        let Some(call) = self.state.calls.get(number) else {
            return;
        };
        let (id, name) = (call.id(number), call.name.as_str().to_owned());
        let its_own = |program: &&mut Program| program.number == id.program || !stands(Defence::JobsDropped);
        if let Some(program) = self.state.program.as_mut().filter(its_own) {
            program.answers.push(Answer { call: number, result, module: false });
        }
        if self.is_audited() {
            self.audit(&AuditEvent::Ended {
                call: id.to_string(),
                name: name.clone(),
                status: status.name().to_owned(),
            });
        }
        self.tell(&Event::CallEnded { id, name: &name, status });
    }

    /// Where the guest says that a call was made.
    pub(super) fn place_of(&mut self, request: &Request) -> Option<CallPlace> {
        let name = String::from_utf8_lossy(&request.name);
        request.place.as_ref().map(|place| self.place_of_call(place, &name))
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
