//! What becomes of an admitted call: queued until there is room, handed out to a driver, or over its time.

use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::Session;
use super::admit::millis;
use crate::audit::AuditEvent;
use crate::call::{Call, CallContext, CallId, CallStatus, CancelSignal, ToolError};
use crate::capability::{Capability, Handler};
use crate::defence::{Defence, stands};
use crate::engine::abi;
use crate::event::Event;
use crate::key::hex;
use crate::value::wire;

impl Session {
    /// The queued calls that may begin now, marked as started; when the slice is over, the rest in the next step.
    pub(super) fn startable(&mut self) -> Vec<Call> {
        let queued: Vec<u32> = self.state.calls.with_status(CallStatus::Queued).map(|(number, _)| number).collect();
        let mut calls = Vec::new();
        for number in queued {
            calls.extend(self.start_call(number));
            if !calls.is_empty() && self.meter.slice_is_over() {
                break;
            }
        }
        calls
    }

    fn start_call(&mut self, number: u32) -> Option<Call> {
        let name = self.state.calls.get(number)?.name.clone();
        if name == abi::MODULE_CALL {
            let handler = self.options.modules.handler().cloned();
            return self.hand_out(number, name, handler);
        }
        let Some(capability) = self.capabilities.get(&name).cloned() else {
            let error = ToolError::named("ToolUnavailable", format!("{name} is not available"));
            self.answer_error(number, CallStatus::Failed, error);
            return None;
        };
        let running = self.state.calls.count(CallStatus::Started);
        let same = self.state.calls.with_status(CallStatus::Started).filter(|(_, call)| call.name == name).count();
        if running >= self.limits.calls_in_flight as usize && stands(Defence::CallsInFlight)
            || running > 0 && self.in_flight_memory(number) > self.limits.host_memory
            || capability.concurrency_limit().is_some_and(|bound| same >= bound as usize)
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
        self.hand_out(number, name, capability.handler().cloned())
    }

    /// Marks a call as started; what its driver gets.
    fn hand_out(&mut self, number: u32, name: String, handler: Option<Arc<dyn Handler>>) -> Option<Call> {
        let now = self.meter.last_host_millis();
        let id = self.id_of(number);
        let bounds = self.argument_bounds();
        let session = self.state.session;
        let call = self.state.calls.get_mut(number)?;
        let open = call.open.as_mut()?;
        let argument = wire::decode(&open.argument, &bounds).ok()?;
        call.status = CallStatus::Started;
        open.started_millis = Some(now);
        let idempotency_key = idempotency_key(&session, id, &open.digest());
        let cancel = CancelSignal::default();
        self.cancels.insert(number, cancel.clone());
        let event = AuditEvent::Started { call: id.to_string(), name: name.clone(), key: idempotency_key.clone() };
        if !self.audit(&event) && name != abi::MODULE_CALL && stands(Defence::AuditKept) {
            self.deny_unwritten(number);
            return None;
        }
        self.tell(&Event::CallStarted { id, name: &name });
        let context = CallContext { id, idempotency_key, cancel };
        Some(Call { context, name, argument, handler })
    }

    /// What the arguments of running calls, and of one more, take while their tools have them.
    fn in_flight_memory(&self, more: u32) -> usize {
        let running = self.state.calls.with_status(CallStatus::Started).map(|(number, _)| number);
        running.chain([more]).map(|number| self.value_bytes(number)).fold(0, usize::saturating_add)
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
            if let Some(cancel) = self.cancels.remove(&number) {
                cancel.cancel();
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

/// A fork has another session id, so it never repeats a key.
fn idempotency_key(session: &[u8; 16], id: CallId, digest: &[u8; 32]) -> String {
    let mut hash = Sha256::new();
    hash.update(b"chrysalid idempotency key");
    hash.update(session);
    hash.update(id.program.to_le_bytes());
    hash.update(id.number.to_le_bytes());
    hash.update(digest);
    hex(&hash.finalize())
}
