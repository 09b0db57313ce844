//! Carrying out what a person decided about a call: the schema and the rules are asked again, with what would run now.
//!
//! A later denial wins. A later question to the same role is not asked twice; one to a role that whoever decided does not
//! have is. A call that is put in place of another is ruled on as if the program had made it.

use chrysalid_policy::{Ask, Decision as Ruling, DecisionKind, Effects};

use super::Session;
use super::admit::Checked;
use super::rule::{Ruled, denied};
use super::state::{PROGRAM_CALL, REVEAL_CALL, StoredAsk, StoredDecision, StoredVerdict};
use crate::audit::AuditEvent;
use crate::call::{CallStatus, DecidedBy, ToolError};
use crate::decision::has_passed;
use crate::defence::{Defence, stands};
use crate::error::{Error, ErrorKind, Result};
use crate::event::Event;
use crate::key::hex;
use crate::value::{Value, wire};

impl Session {
    /// Ends the calls for which nobody decided in time, and carries out the stored decisions about the others.
    pub(super) fn apply_decisions(&mut self) {
        let now = self.meter.last_host_millis();
        let open: Vec<u32> = self.state.calls.open().map(|(number, _)| number).collect();
        for number in open {
            let Some(call) = self.state.calls.get_mut(number) else { continue };
            let (waits, name) = (call.status == CallStatus::Waiting, call.name.as_str().to_owned());
            let Some(open) = &mut call.open else { continue };
            if waits && has_passed(open.ask.expires_millis, now) && stands(Defence::ApprovalExpiry) {
                self.expire(number, &name);
                continue;
            }
            let Some(verdict) = open.decision.take() else { continue };
            match name.as_str() {
                PROGRAM_CALL => self.apply_to_program(number, verdict),
                _ => self.apply(number, verdict),
            }
        }
    }

    fn expire(&mut self, number: u32, name: &str) {
        self.audit(&AuditEvent::Expired { call: self.id_of(number).to_string(), name: name.to_owned() });
        let message = format!("{name}: nobody decided in time");
        let error = ToolError::named("ApprovalExpired", message);
        if name == PROGRAM_CALL {
            return self.end_program_unrun(number, error);
        }
        self.answer_error(number, CallStatus::Rejected, error);
    }

    fn apply(&mut self, number: u32, verdict: StoredVerdict) {
        let kind = verdict.decision.kind();
        let StoredVerdict { decision, by, roles } = verdict;
        let decided = DecidedBy { decision: kind, by };
        match decision {
            StoredDecision::Approve => self.approve(number, None, decided, &roles),
            StoredDecision::Edit { name: None, argument } => self.approve(number, Some(argument), decided, &roles),
            StoredDecision::Edit { name: Some(name), argument } => self.replace_call(number, &name, argument, decided),
            StoredDecision::Respond(value) => {
                if self.decided(number, decided, None) {
                    self.settle_bytes(number, &value);
                } else {
                    self.deny_unwritten(number);
                }
            }
            StoredDecision::Reject(reason) => {
                self.decided(number, decided, None);
                self.reject(number, reason);
            }
        }
    }

    /// Notes who decided what; whether the audit trail has it.
    pub(super) fn decided(&mut self, number: u32, decided: DecidedBy, digest: Option<[u8; 32]>) -> bool {
        let Some(call) = self.state.calls.get_mut(number) else { return true };
        let event = AuditEvent::Decided {
            call: call.id(number).to_string(),
            name: call.name.as_str().to_owned(),
            decision: decided.decision.name().to_owned(),
            by: decided.by.clone(),
            digest: digest.map(|digest| hex(&digest)),
        };
        call.decided = Some(decided);
        self.audit(&event) || !stands(Defence::AuditKept)
    }

    /// Nothing is done that the audit trail does not have.
    pub(super) fn deny_unwritten(&mut self, number: u32) {
        let name = self.state.calls.get(number).map(|call| call.name.as_str().to_owned()).unwrap_or_default();
        let error = ToolError::named("Denied", format!("{name}: the audit trail cannot be written"));
        self.answer_error(number, CallStatus::Denied, error);
    }

    fn approve(&mut self, number: u32, edited: Option<Vec<u8>>, decided: DecidedBy, roles: &[String]) {
        let Some(call) = self.state.calls.get(number) else { return };
        let (name, status) = (call.name.as_str().to_owned(), call.status);
        if name == REVEAL_CALL {
            return self.approve_reveal(number, decided, roles);
        }
        let bytes = edited.as_ref().or(call.open.as_ref().map(|open| &open.argument)).cloned().unwrap_or_default();
        if let (Some(_), Some(open)) = (&edited, self.state.calls.get_mut(number).and_then(|call| call.open.as_mut())) {
            // A person wrote what would run now.
            open.given = None;
        }
        let checked = match self.check_again(number, &name, &bytes) {
            Ok(checked) => checked,
            Err((status, error)) => return self.answer_error(number, status, error),
        };
        match self.ruling(&name, &checked) {
            Ruling::Deny { reasons } => {
                self.decided(number, decided, None);
                return self.answer_error(number, CallStatus::Denied, denied(&name, &reasons));
            }
            Ruling::Ask(ask)
                if status == CallStatus::Waiting
                    && (!has_roles(roles, &ask)
                        || !ask.terms.takes(decided.decision) && stands(Defence::AllowedDecisions)) =>
            {
                let ask = self.stored_ask(ask);
                return self.ask_anew(number, ask);
            }
            _ => {}
        }
        let open = self.open_call(&name, checked, StoredAsk::default());
        if !self.decided(number, decided, Some(open.digest())) {
            return self.deny_unwritten(number);
        }
        let mut joins = open.joins();
        if let Some(call) = self.state.calls.get_mut(number) {
            if let Some(before) = &mut call.open {
                joins |= before.joins();
                before.definition = open.definition;
                before.argument = open.argument;
                before.value_bytes = open.value_bytes;
                before.effects |= open.effects;
                before.carried |= open.carried;
                before.given = open.given.or(before.given.take());
                before.approved = true;
            }
            // What another person put in before stays told.
            if edited.is_some() {
                call.changed.get_or_insert_default().edited = edited;
            }
            call.status = CallStatus::Queued;
        }
        self.join_taint(joins, &self.told(number, &name));
    }

    /// The same question, to somebody else.
    pub(super) fn ask_anew(&mut self, number: u32, ask: StoredAsk) {
        let Some(call) = self.state.calls.get_mut(number) else { return };
        if let Some(open) = &mut call.open {
            open.ask = ask;
        }
        let (id, name) = (call.id(number), call.name.as_str().to_owned());
        self.tell(&Event::CallWaiting { id, name: &name });
    }

    /// What would run, checked as if it had just been asked for, less the budgets.
    fn check_again(
        &mut self,
        number: u32,
        name: &str,
        bytes: &[u8],
    ) -> std::result::Result<Checked, (CallStatus, ToolError)> {
        let failed = |error| (CallStatus::Failed, error);
        let Some(capability) = self.capabilities.shared(name) else {
            return Err(failed(ToolError::named("ToolUnavailable", format!("{name} is not available"))));
        };
        let argument = wire::decode(bytes, &self.argument_bounds())
            .map_err(|_| failed(ToolError::input(format!("{name}: the arguments cannot be read"))))?;
        let open = self.state.calls.get(number).and_then(|call| call.open.as_ref());
        let (carried, delivery) =
            open.map_or((Effects::NONE, capability.delivers()), |open| (open.carried, open.delivery));
        let mut checked = match self.check_argument(&capability, argument) {
            Ok(checked) => checked,
            Err(error) if carried.is_empty() => return Err(failed(error)),
            // The words of the error may say what a handle holds.
            Err(_) => return Err(failed(ToolError::input(format!("{name}: does not take these arguments any more")))),
        };
        checked.carried |= carried;
        checked.delivery = delivery;
        // The rules see handles closed now as they did before.
        let given = self.state.calls.get(number).and_then(|call| call.open.as_ref()?.given.as_ref());
        if let Some(given) = given.and_then(|given| wire::decode(given, &self.argument_bounds()).ok()) {
            checked.given = given;
        }
        Ok(checked)
    }

    /// A person put another call in the place of one.
    fn replace_call(&mut self, number: u32, name: &str, argument: Vec<u8>, decided: DecidedBy) {
        let Some(call) = self.state.calls.get(number) else { return };
        let place = call.place.clone();
        if let Some(open) = self.state.calls.get_mut(number).and_then(|call| call.open.as_mut()) {
            open.given = None;
        }
        let mut checked = match self.check_again(number, name, &argument) {
            Ok(checked) => checked,
            Err((status, error)) => return self.answer_error(number, status, error),
        };
        checked.delivery =
            self.capabilities.get(name).map_or(checked.delivery, crate::capability::Capability::delivers);
        let capability = self.capabilities.shared(name);
        match capability.map(|capability| self.spend(&capability, checked.bytes.len())) {
            Some(Ok(over)) => checked.over = over,
            Some(Err(error)) => return self.answer_error(number, CallStatus::Failed, error),
            None => {}
        }
        self.settle_delivery(name, &mut checked);
        checked.place = place;
        let ruling = self.ruling(name, &checked);
        let decided = self.decided(number, decided, None);
        let Ruled { ruling, open, place, kept } = self.open_ruled(number, name, checked, ruling, None);
        let status = match &ruling {
            Ruling::Deny { reasons } => {
                return self.answer_error(number, CallStatus::Denied, denied(name, reasons));
            }
            Ruling::Ask(_) => CallStatus::Waiting,
            Ruling::Allow => CallStatus::Queued,
        };
        if !decided || !kept {
            return self.deny_unwritten(number);
        }
        let joins = open.joins();
        if let Some(call) = self.state.calls.get_mut(number) {
            let changed = call.changed.get_or_insert_default();
            changed.called_as.get_or_insert_with(|| call.name.as_str().to_owned());
            changed.edited = Some(argument);
            call.name = name.into();
            call.open = Some(Box::new(open));
            call.status = status;
            call.place = place;
        }
        match status {
            CallStatus::Queued => self.join_taint(joins, &self.told(number, name)),
            _ => self.tell(&Event::CallWaiting { id: self.id_of(number), name }),
        }
    }

    fn reject(&mut self, number: u32, reason: Option<String>) {
        let Some(call) = self.state.calls.get(number) else { return };
        // One that had begun was not refused: the person says that it was not done.
        let (what, status, error) = match call.status {
            CallStatus::Unknown => ("failed", CallStatus::Failed, "ToolError"),
            _ => ("was rejected", CallStatus::Rejected, "ToolRejected"),
        };
        let message = match reason {
            Some(reason) => format!("{} {what}: {reason}", call.name),
            None => format!("{} {what}", call.name),
        };
        self.answer_error(number, status, ToolError::named(error, message));
    }

    /// Whether edited arguments would be accepted, asked when the decision is given.
    pub(super) fn check_edit(&mut self, name: &str, argument: &Value, roles: &[String]) -> Result<Vec<u8>> {
        if !stands(Defence::EditsChecked) {
            return wire::encode_canonical(argument, &self.argument_bounds())
                .map_err(|error| Error::new(ErrorKind::InvalidArguments, error.to_string()));
        }
        let (checked, ruling) = self.check_written(name, argument)?;
        match ruling {
            Ruling::Ask(ask) if !has_roles(roles, &ask) => {
                let message =
                    format!("{name} with these arguments is to be decided by: {}", ask.terms.roles.join(", "));
                Err(Error::new(ErrorKind::DecisionNotAllowed, message))
            }
            // The rules about these arguments may be others than those about the program's own.
            Ruling::Ask(ask) if !ask.terms.takes(DecisionKind::Edit) && stands(Defence::AllowedDecisions) => {
                let message = format!("{name} with these arguments does not take Edit");
                Err(Error::new(ErrorKind::DecisionNotAllowed, message))
            }
            _ => self.as_given(&checked),
        }
    }

    /// Whether another call may be put in place of one: all but a denial.
    pub(super) fn check_replacement(&mut self, name: &str, argument: &Value) -> Result<Vec<u8>> {
        let (checked, _) = self.check_written(name, argument)?;
        self.as_given(&checked)
    }

    /// What a person wrote, by schema and rules; they may ask about it, and not deny it.
    fn check_written(&mut self, name: &str, argument: &Value) -> Result<(Checked, Ruling)> {
        let Some(capability) = self.capabilities.shared(name) else {
            return Err(Error::new(ErrorKind::MissingCapability, format!("{name} is not available")));
        };
        let checked = self.check_argument(&capability, argument.clone()).map_err(invalid)?;
        match self.ruling(name, &checked) {
            Ruling::Deny { reasons } => Err(Error::new(ErrorKind::DecisionNotAllowed, denied(name, &reasons).message)),
            ruling => Ok((checked, ruling)),
        }
    }

    /// The same with handles as handles: they are filled when the call is decided, with what they bring.
    fn as_given(&self, checked: &Checked) -> Result<Vec<u8>> {
        if !checked.holds_handles {
            return Ok(checked.bytes.clone());
        }
        wire::encode_canonical(&checked.given, &self.argument_bounds())
            .map_err(|error| Error::new(ErrorKind::InvalidArguments, error.to_string()))
    }
}

fn invalid(error: ToolError) -> Error {
    Error::new(ErrorKind::InvalidArguments, error.message)
}

pub(super) fn has_roles(roles: &[String], ask: &Ask) -> bool {
    ask.terms.roles.iter().all(|role| roles.contains(role)) || !stands(Defence::ApprovalRoles)
}

impl StoredDecision {
    pub(super) fn kind(&self) -> DecisionKind {
        match self {
            Self::Approve => DecisionKind::Approve,
            Self::Edit { .. } => DecisionKind::Edit,
            Self::Reject(_) => DecisionKind::Reject,
            Self::Respond(_) => DecisionKind::Respond,
        }
    }
}
