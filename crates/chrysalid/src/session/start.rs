//! What becomes of an admitted call: queued until there is room, handed out to a driver, or over its time.

use std::collections::HashMap;
use std::sync::Arc;

use super::admit::millis;
use super::{Running, Session, Slot};
use crate::audit::AuditEvent;
use crate::call::{Call, CallContext, CallStatus, CancelSignal, ToolError};
use crate::capability::{Capability, Handler};
use crate::defence::{Defence, stands};
use crate::engine::abi;
use crate::event::Event;
use crate::idempotency::IdempotencyKey;
use crate::value::wire;

/// The calls that run.
#[derive(Default)]
struct InFlight {
    calls: usize,
    /// What their arguments take while their tools have them.
    bytes: usize,
    by_name: HashMap<String, u32>,
}

impl InFlight {
    fn add(&mut self, name: &str, bytes: usize) {
        self.calls += 1;
        self.bytes = self.bytes.saturating_add(bytes);
        match self.by_name.get_mut(name) {
            Some(count) => *count += 1,
            None => drop(self.by_name.insert(name.to_owned(), 1)),
        }
    }
}

impl Session {
    /// The queued calls that may begin now, marked as started; when the slice is over, the rest in the next step.
    pub(super) fn startable(&mut self) -> Vec<Call> {
        let queued: Vec<u32> = self.state.calls.with_status(CallStatus::Queued).map(|(number, _)| number).collect();
        let mut calls = Vec::new();
        if let Some(member) = &mut self.member {
            member.want_nothing();
        }
        let mut flight = self.in_flight();
        for number in queued {
            calls.extend(self.start_call(number, &mut flight));
            if !calls.is_empty() && self.meter.slice_is_over() {
                break;
            }
        }
        calls
    }

    fn start_call(&mut self, number: u32, flight: &mut InFlight) -> Option<Call> {
        let name = &self.state.calls.get(number)?.name;
        let full = flight.calls >= self.limits.calls_in_flight as usize && stands(Defence::CallsInFlight);
        if full && name != abi::MODULE_CALL && self.capabilities.get(name).is_some() {
            return None;
        }
        let name = name.as_str().to_owned();
        if name == abi::MODULE_CALL {
            let handler = self.options.modules.handler().cloned();
            return self.hand_out(number, name, handler, None);
        }
        let Some(capability) = self.capabilities.shared(&name) else {
            let error = ToolError::named("ToolUnavailable", format!("{name} is not available"));
            self.answer_error(number, CallStatus::Failed, error);
            return None;
        };
        let bytes = self.value_bytes(number);
        let same = flight.by_name.get(&name).copied().unwrap_or(0);
        if flight.calls > 0 && flight.bytes.saturating_add(bytes) > self.limits.host_memory
            || capability.concurrency_limit().is_some_and(|bound| same >= bound)
        {
            return None;
        }
        if capability.handler().is_none() {
            // Nothing here runs it: whoever is outside answers.
            if !self.room_for(self.value_bytes(number)) {
                let error = self.no_room_for_arguments(&name);
                self.answer_error(number, CallStatus::Failed, error);
                return None;
            }
            self.state.calls.get_mut(number)?.status = CallStatus::Outside;
            return None;
        }
        // A subagent's own calls need slots while this one runs: it takes none, or the last one would wait for itself.
        let slot = match self.member.as_mut().filter(|_| !capability.is_subagent()) {
            Some(member) => Some(member.take_slot()?),
            None => None,
        };
        let call = self.hand_out(number, name.clone(), capability.handler().cloned(), slot)?;
        flight.add(&name, bytes);
        Some(call)
    }

    /// Marks a call as started; what its driver gets.
    fn hand_out(
        &mut self,
        number: u32,
        name: String,
        handler: Option<Arc<dyn Handler>>,
        slot: Option<Slot>,
    ) -> Option<Call> {
        let now = self.meter.last_host_millis();
        let id = self.id_of(number);
        let bounds = self.argument_bounds();
        let session = self.state.session;
        let call = self.state.calls.get_mut(number)?;
        let open = call.open.as_mut()?;
        let argument = wire::decode(&open.argument, &bounds).ok()?;
        call.status = CallStatus::Started;
        open.started_millis = Some(now);
        let key = IdempotencyKey::new(session, id, &open.argument);
        let cancel = CancelSignal::default();
        self.running.insert(number, Running { cancel: cancel.clone(), _slot: slot });
        if self.is_audited() {
            let event = AuditEvent::Started { call: id.to_string(), name: name.clone(), key: key.as_str().to_owned() };
            if !self.audit(&event) && name != abi::MODULE_CALL && stands(Defence::AuditKept) {
                self.deny_unwritten(number);
                return None;
            }
        }
        self.tell(&Event::CallStarted { id, name: &name });
        let context = CallContext { id, cancel, key };
        Some(Call { context, name, argument, handler })
    }

    fn in_flight(&self) -> InFlight {
        let mut flight = InFlight::default();
        for (number, call) in self.state.calls.with_status(CallStatus::Started) {
            flight.add(&call.name, self.value_bytes(number));
        }
        flight
    }

    fn value_bytes(&self, number: u32) -> usize {
        let open = self.state.calls.get(number).and_then(|call| call.open.as_ref());
        open.map_or(0, |open| open.value_bytes)
    }

    /// When the first running call times out, in milliseconds since 1970.
    pub(super) fn next_timeout(&self) -> Option<f64> {
        self.timeouts().map(|(_, due)| due).reduce(f64::min)
    }

    /// Fails the running calls whose time is over.
    pub(super) fn expire_calls(&mut self) {
        let now = self.meter.last_host_millis();
        let over: Vec<u32> = self.timeouts().filter(|(_, due)| *due <= now).map(|(number, _)| number).collect();
        for number in over {
            if let Some(running) = self.running.remove(&number) {
                running.cancel.cancel();
            }
            let Some(call) = self.state.calls.get(number) else {
                continue;
            };
            let limit = self.capabilities.get(&call.name).and_then(Capability::timeout_limit).unwrap_or_default();
            let message = format!("{} did not answer within {limit:?}", call.name);
            let error = ToolError { retryable: true, ..ToolError::named("ToolTimeout", message) };
            self.answer_error(number, CallStatus::Failed, error);
        }
    }

    fn timeouts(&self) -> impl Iterator<Item = (u32, f64)> {
        self.state.calls.with_status(CallStatus::Started).filter_map(|(number, call)| {
            let timeout = self.capabilities.get(&call.name)?.timeout_limit()?;
            Some((number, call.open.as_ref()?.started_millis? + millis(timeout)))
        })
    }
}
