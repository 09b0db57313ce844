//! Results that stay with the host: handed out as handles, put in the place of handles in arguments, and revealed.
//!
//! A handle is a number to the guest. What it stands for never goes into the guest's memory before `reveal`, so a hostile
//! guest can pass on the handles of its session and nothing more.

use chrysalid_policy::{Decision as Ruling, Effects, Request as PolicyRequest, decide};

use super::Session;
use super::approve::has_roles;
use super::imports::Request;
use super::rule::{About, denied};
use super::state::{AnswerError, OpenCall, REVEAL_CALL, StoredAsk, StoredHandle};
use crate::call::{CallPlace, CallStatus, DecidedBy, ToolError};
use crate::capability::Delivery;
use crate::defence::{Defence, stands};
use crate::event::Event;
use crate::value::{Handle, Value, wire};

/// An argument with what its handles hold in their place.
pub(super) struct Filled {
    pub(super) value: Value,
    pub(super) effects: Effects,
}

impl Session {
    /// Puts values in the place of handles; nothing if there is no handle.
    pub(super) fn fill_handles(&mut self, name: &str, given: &Value) -> Result<Option<Filled>, ToolError> {
        let places = given.handles();
        if places.is_empty() {
            return Ok(None);
        }
        let (mut effects, mut bytes) = (Effects::NONE, 0_usize);
        for (id, count) in &places {
            let held = self.state.handles.get(id);
            let held =
                held.ok_or_else(|| ToolError::input(format!("{name}: handle {id} is not one of this session")))?;
            // It is copied to every place.
            bytes = bytes.saturating_add(held.value.len().saturating_mul(*count));
            effects |= held.effects;
        }
        let effects = if stands(Defence::HandlesCarry) { effects } else { Effects::NONE };
        if bytes > self.limits.argument_size {
            // How large it is says something about it.
            self.join_taint(effects, &format!("{name}, which does not take as much as a handle holds"));
            let message = format!("{name}: what its handles hold is larger than {} bytes", self.limits.argument_size);
            return Err(ToolError::named("ArgumentTooLarge", message));
        }
        let bounds = self.bounds(usize::MAX);
        let mut values = std::collections::BTreeMap::new();
        for id in places.into_keys() {
            let Some(held) = self.state.handles.get(&id) else { continue };
            let value = wire::decode(&held.value, &bounds).map_err(|error| ToolError::new(error.to_string()))?;
            values.insert(id, value);
        }
        Ok(Some(Filled { value: given.with_handles_filled(&values), effects }))
    }

    /// `reveal(handle)`: the value for the effects.
    pub(super) fn admit_reveal(&mut self, number: u32, request: &Request) {
        let place = self.place_of(request);
        let argument = wire::decode(&request.argument, &self.argument_bounds()).unwrap_or_default();
        let Value::Handle(handle) = &argument else {
            let error = ToolError::input("reveal takes one handle");
            return self.refuse(number, REVEAL_CALL, CallStatus::Failed, error);
        };
        let Some(effects) = self.state.handles.get(&handle.id).map(|held| held.effects) else {
            let error = ToolError::input(format!("handle {} is not one of this session", handle.id));
            return self.refuse(number, REVEAL_CALL, CallStatus::Failed, error);
        };
        if let Err(error) = self.spend_reveal() {
            return self.refuse(number, REVEAL_CALL, CallStatus::Failed, error);
        }
        let bytes = wire::encode_canonical(&argument, &self.argument_bounds()).unwrap_or_default();
        let ruling = self.reveal_ruling(&argument, effects);
        let asked_too_often = matches!(ruling, Ruling::Ask(_)).then(|| self.too_many_wait("reveal")).flatten();
        if let Some(error) = asked_too_often {
            return self.refuse(number, REVEAL_CALL, CallStatus::Failed, error);
        }
        let ask = match &ruling {
            Ruling::Ask(ask) => self.stored_ask(ask.clone()),
            _ => StoredAsk::default(),
        };
        let open = OpenCall {
            argument: bytes,
            given: None,
            value_bytes: argument.footprint(),
            definition: [0; 16],
            effects,
            carried: Effects::NONE,
            delivery: Delivery::Value,
            ask,
            requested_millis: self.meter.last_host_millis(),
            started_millis: None,
            decision: None,
            approved: false,
        };
        if !self.audit_ruling(number, REVEAL_CALL, &About::of(&open, place.as_ref()), &ruling, None)
            && stands(Defence::AuditKept)
        {
            let error = ToolError::named("Denied", "reveal: the audit trail cannot be written");
            return self.refuse(number, REVEAL_CALL, CallStatus::Denied, error);
        }
        match ruling {
            Ruling::Allow => {
                self.record_ruled(number, REVEAL_CALL, CallStatus::Queued, open, place);
                self.reveal(number);
            }
            Ruling::Ask(_) => self.record_waiting(number, open, place),
            Ruling::Deny { reasons } => {
                self.refuse(number, REVEAL_CALL, CallStatus::Denied, denied(REVEAL_CALL, &reasons));
            }
        }
    }

    fn reveal_ruling(&self, argument: &Value, effects: Effects) -> Ruling {
        let asked = PolicyRequest { name: REVEAL_CALL, argument, effects, carried: Effects::NONE, ask: false };
        decide(&asked, &self.state.taint, &self.rules)
    }

    fn record_waiting(&mut self, number: u32, open: OpenCall, place: Option<CallPlace>) {
        self.record_ruled(number, REVEAL_CALL, CallStatus::Waiting, open, place);
        self.tell(&Event::CallWaiting { id: self.id_of(number), name: REVEAL_CALL });
    }

    pub(super) fn approve_reveal(&mut self, number: u32, decided: DecidedBy, roles: &[String]) {
        let ruling = self.shown_handle(number).map(|handle| {
            let effects = self.state.handles.get(&handle.id).map_or(Effects::NONE, |held| held.effects);
            self.reveal_ruling(&Value::Handle(handle), effects)
        });
        match ruling {
            Some(Ruling::Deny { reasons }) => {
                self.decided(number, decided, None);
                return self.answer_error(number, CallStatus::Denied, denied(REVEAL_CALL, &reasons));
            }
            Some(Ruling::Ask(ask)) if !has_roles(roles, &ask) => {
                let ask = self.stored_ask(ask);
                return self.ask_anew(number, ask);
            }
            _ => {}
        }
        if self.decided(number, decided, None) {
            self.reveal(number);
        } else {
            self.deny_unwritten(number);
        }
    }

    /// The handle that a call would reveal.
    fn shown_handle(&self, number: u32) -> Option<Handle> {
        let argument = &self.state.calls.get(number)?.open.as_ref()?.argument;
        wire::decode(argument, &self.argument_bounds()).ok()?.as_handle().cloned()
    }

    /// Gives the program what a handle holds. The session meets the effects first.
    fn reveal(&mut self, number: u32) {
        let held = self.shown_handle(number).and_then(|handle| self.state.handles.get(&handle.id).cloned());
        let Some(held) = held else {
            let error = ToolError::input("the handle is gone");
            return self.answer_error(number, CallStatus::Failed, error);
        };
        if stands(Defence::RevealTaints) {
            let by = format!("reveal of {}", self.told(number, &held.name));
            self.join_taint(held.effects, &by);
        }
        if self.room_for(held.value.len()) {
            self.answer(number, CallStatus::Completed, Ok(held.value));
        } else {
            let message = format!("result of reveal: {}", self.no_room(&format!("its {} bytes", held.value.len())));
            let error = ToolError::named("ResultTooLarge", message);
            self.answer(number, CallStatus::Completed, Err(AnswerError { error, tool: REVEAL_CALL.to_owned() }));
        }
    }

    /// Keeps a result here; what the program gets for it.
    pub(super) fn keep_result(&mut self, number: u32, value: Vec<u8>) -> Option<Vec<u8>> {
        let call = self.state.calls.get(number)?;
        let effects = call.open.as_ref().map_or(Effects::ALL, |open| open.effects);
        let (name, id) = (call.name.as_str().to_owned(), call.id(number));
        self.state.last_handle = self.state.last_handle.checked_add(1)?;
        let handle = Handle::new(self.state.last_handle, name.clone());
        self.state.handles.insert(handle.id, StoredHandle { name, call: id, value, effects });
        wire::encode(&Value::Handle(handle), &self.bounds(usize::MAX)).ok()
    }

    /// What a handle holds, for the host: to show it to a person, for example.
    #[must_use]
    pub fn handle_value(&self, handle: &Handle) -> Option<Value> {
        let held = self.state.handles.get(&handle.id)?;
        wire::decode(&held.value, &self.bounds(usize::MAX)).ok()
    }
}
