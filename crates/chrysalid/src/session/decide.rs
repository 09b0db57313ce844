//! Answers from outside: results of calls, and decisions of people. Both are stored and run no guest code; the next
//! step carries them out. Answers bind to a call id, never to an order.

use super::Session;
use super::state::{AnswerError, PROGRAM_CALL, StoredCall, StoredDecision, StoredVerdict};
use crate::audit::AuditEvent;
use crate::call::{CallId, CallResult, CallStatus, ToolError};
use crate::capability::Delivery;
use crate::decision::{Decision, Verdict, has_passed};
use crate::defence::{Defence, stands};
use crate::engine::abi;
use crate::error::{Error, ErrorKind, Result};
use crate::event::Event;
use crate::value::{Value, wire};

impl Session {
    /// Gives a call its result. For calls that run, wait for something outside, or are unknown. A value that is too large, or
    /// for which [`Limits::host_memory`](crate::Limits::host_memory) has no room, is `ResultTooLarge` to the program.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownCall`] for an id that was never handed out or is forgotten, [`ErrorKind::AlreadyDecided`] for a call that has
    /// ended, [`ErrorKind::NotWaiting`] for one that nobody has begun.
    pub fn settle(&mut self, id: CallId, result: CallResult) -> Result<()> {
        let number = self.number(id)?;
        let status = self.state.calls.get(number).map(|call| call.status);
        match status {
            Some(CallStatus::Started | CallStatus::Outside | CallStatus::Unknown) => {}
            Some(CallStatus::Queued | CallStatus::Waiting) => {
                return Err(Error::new(ErrorKind::NotWaiting, format!("call {id} has not begun")));
            }
            _ if stands(Defence::SettledOnce) => return Err(self.already(id)),
            _ => {}
        }
        if self.state.calls.get(number).is_some_and(|call| call.name == abi::MODULE_CALL) {
            self.module_settled(number, result);
            return Ok(());
        }
        match result {
            Ok(value) => self.settle_value(number, value),
            Err(error) => {
                let error = self.error_for_program(number, error);
                self.answer_error(number, CallStatus::Failed, error);
            }
        }
        Ok(())
    }

    /// Says that a call which runs waits for somebody itself, as a tool does that asks a person or whose own session is
    /// paused. It is [`CallStatus::Outside`] from then on: it takes no place among the calls in flight, its timeout no longer
    /// runs, its signal is not set and may be dropped. So the program can pause and be saved, and [`Session::settle`] answers
    /// the call later, before or after a restore. Its effect may be half done, so its program stays open until then.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownCall`] for an id that was never handed out or is forgotten, [`ErrorKind::AlreadyDecided`] for a
    /// call that has ended, [`ErrorKind::NotWaiting`] for one that does not run, and for the fetch of a module.
    pub fn suspend_call(&mut self, id: CallId) -> Result<()> {
        let number = self.number(id)?;
        let Some(call) = self.state.calls.get(number).filter(|call| call.open.is_some()) else {
            return Err(self.already(id));
        };
        let problem = match call.status {
            CallStatus::Started if call.name == abi::MODULE_CALL => "fetches a module, and cannot be suspended",
            CallStatus::Started => {
                self.wait_outside(number);
                return Ok(());
            }
            CallStatus::Unknown => "does not run here",
            CallStatus::Outside if call.is_suspended() => "is suspended already",
            _ => "has not begun",
        };
        Err(Error::new(ErrorKind::NotWaiting, format!("call {id} {problem}")))
    }

    fn wait_outside(&mut self, number: u32) {
        let Some(call) = self.state.calls.get_mut(number) else { return };
        call.status = CallStatus::Outside;
        let (id, name) = (call.id(number), call.name.as_str().to_owned());
        self.running.remove(&number);
        self.audit(&AuditEvent::Suspended { call: id.to_string(), name: name.clone() });
        self.tell(&Event::CallSuspended { id, name: &name });
    }

    fn delivery(&self, number: u32) -> Delivery {
        let open = self.state.calls.get(number).and_then(|call| call.open.as_ref());
        open.map_or(Delivery::Value, |open| open.delivery)
    }

    /// What an error says comes from where the result would have come from.
    fn error_for_program(&self, number: u32, error: ToolError) -> ToolError {
        if self.delivery(number) == Delivery::Value || !stands(Defence::DeliveredErrors) {
            return error;
        }
        let name = self.state.calls.get(number).map_or("", |call| call.name.as_str());
        ToolError {
            retryable: error.retryable,
            ..ToolError::new(format!("{name} failed; its result is not for the program to read"))
        }
    }

    /// A value that a person gave in place of a result.
    pub(super) fn settle_bytes(&mut self, number: u32, bytes: &[u8]) {
        match wire::decode(bytes, &self.bounds(usize::MAX)) {
            Ok(value) => self.settle_value(number, value),
            Err(error) => self.answer_error(number, CallStatus::Failed, ToolError::new(error.to_string())),
        }
    }

    fn settle_value(&mut self, number: u32, mut value: Value) {
        let delivery = self.delivery(number);
        if delivery == Delivery::Declassified {
            match self.declassified(number, &value) {
                Ok(fitted) => value = fitted,
                Err(error) => return self.answer_error(number, CallStatus::Failed, error),
            }
        }
        let call = self.state.calls.get(number);
        let name = call.map(|call| call.name.as_str().to_owned()).unwrap_or_default();
        // The program must see that a person changed what it asked for, or it asks again.
        let edited =
            call.and_then(StoredCall::edited).and_then(|bytes| wire::decode(bytes, &self.argument_bounds()).ok());
        if let (Some(edited), Value::Object(object), Delivery::Value) = (edited, &mut value, delivery) {
            object.insert("edited_by_human", edited);
        }
        let bound = if stands(Defence::CallResultSize) { self.limits.call_result_size } else { usize::MAX };
        let encoded = wire::encode(&value, &self.bounds(bound)).map_err(|error| error.to_string());
        let encoded = encoded.and_then(|bytes| {
            if self.room_for(bytes.len()) {
                Ok(bytes)
            } else {
                self.tell_sizes(&name);
                Err(self.no_room(&format!("its {} bytes", bytes.len())))
            }
        });
        if let Ok(bytes) = &encoded {
            self.spend_result(bytes.len());
        }
        let encoded = match (encoded, delivery) {
            (Ok(bytes), Delivery::Handle) => {
                self.keep_result(number, bytes).ok_or_else(|| "no handle is left".to_owned())
            }
            (encoded, _) => encoded,
        };
        match encoded {
            Ok(bytes) => self.answer(number, CallStatus::Completed, Ok(bytes)),
            Err(error) => {
                // The words of the error speak of the value.
                let hidden = delivery != Delivery::Value && stands(Defence::DeliveredErrors);
                let error = if hidden { "it is too large, or cannot be passed on".to_owned() } else { error };
                let error = ToolError::named("ResultTooLarge", format!("result of {name}: {error}"));
                self.answer(number, CallStatus::Completed, Err(AnswerError { error, tool: name }));
            }
        }
    }

    /// The one form that a declassified result has, if it fits.
    fn declassified(&self, number: u32, value: &Value) -> std::result::Result<Value, ToolError> {
        let name = self.state.calls.get(number).map(|call| call.name.as_str().to_owned()).unwrap_or_default();
        let capability = self.capabilities.get(&name);
        let fitted = capability.and_then(|capability| capability.narrow()).and_then(|narrow| narrow.fit(value));
        match fitted {
            Some(fitted) => Ok(fitted),
            None if !stands(Defence::DeclassifiedFits) => Ok(value.clone()),
            None => Err(ToolError::new(format!("the result of {name} does not fit its output schema"))),
        }
    }

    /// Gives a waiting call a person's decision. Checked at once: id, single use, allowed decisions, edited arguments.
    ///
    /// # Errors
    /// As [`Session::decide_with`].
    pub fn decide(&mut self, id: CallId, decision: Decision) -> Result<()> {
        self.decide_with(Verdict::new(id, decision))
    }

    /// Gives a waiting call a person's decision, bound to what that person was shown. Checked at once: id, token, time,
    /// single use, allowed decisions, roles, and arguments that were edited, by schema and rules. The next step carries it
    /// out; it expires with the approval.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownCall`] also for a token of another session, call, capability or argument;
    /// [`ErrorKind::AlreadyDecided`], [`ErrorKind::NotWaiting`], [`ErrorKind::ApprovalExpired`],
    /// [`ErrorKind::DecisionNotAllowed`] also for a role that is missing and for an edit that the rules deny,
    /// [`ErrorKind::InvalidArguments`], [`ErrorKind::MissingCapability`].
    pub fn decide_with(&mut self, verdict: Verdict) -> Result<()> {
        let id = verdict.call;
        let number = self.number(id)?;
        let Some(call) = self.state.calls.get(number) else {
            return Err(Error::new(ErrorKind::UnknownCall, format!("no call {id} in this session")));
        };
        if !call.is_pending() {
            return Err(match call.status {
                CallStatus::Queued | CallStatus::Started if call.open.as_ref().is_none_or(|open| !open.approved) => {
                    Error::new(ErrorKind::NotWaiting, format!("call {id} waits for nobody's decision"))
                }
                _ => self.already(id),
            });
        }
        let Some(open) = &call.open else { return Err(self.already(id)) };
        if open.decision.is_some() && stands(Defence::DecidedOnce) {
            let message = format!("call {id} has its decision already; the next step carries it out");
            return Err(Error::new(ErrorKind::AlreadyDecided, message));
        }
        let token = self.token(number);
        if verdict.token.is_some_and(|shown| Some(shown) != token) && stands(Defence::ApprovalBound) {
            return Err(Error::new(
                ErrorKind::UnknownCall,
                format!("no call {id} with what was shown in this session"),
            ));
        }
        let expires = open.ask.expires_millis.filter(|_| call.status == CallStatus::Waiting);
        if has_passed(expires, self.meter.last_host_millis()) && stands(Defence::ApprovalExpiry) {
            return Err(Error::new(ErrorKind::ApprovalExpired, format!("the approval of call {id} has expired")));
        }
        if !call.allowed().contains(&verdict.decision.kind()) && stands(Defence::AllowedDecisions) {
            return Err(Error::new(
                ErrorKind::DecisionNotAllowed,
                format!("call {id} is {}, and does not take {:?}", call.status.name(), verdict.decision.kind()),
            ));
        }
        let missing: Vec<&str> =
            open.ask.roles.iter().filter(|role| !verdict.by.roles.contains(role)).map(String::as_str).collect();
        if !missing.is_empty() && stands(Defence::ApprovalRoles) {
            let message = format!("call {id} is to be decided by: {}", missing.join(", "));
            return Err(Error::new(ErrorKind::DecisionNotAllowed, message));
        }
        let name = call.name.as_str().to_owned();
        let decision = self.store_decision(id, &name, verdict.decision, &verdict.by.roles)?;
        if let Some(open) = self.state.calls.get_mut(number).and_then(|call| call.open.as_mut()) {
            open.decision = Some(StoredVerdict { decision, by: verdict.by.name, roles: verdict.by.roles });
        }
        Ok(())
    }

    fn store_decision(
        &mut self,
        id: CallId,
        name: &str,
        decision: Decision,
        roles: &[String],
    ) -> Result<StoredDecision> {
        let invalid = |what: String| Error::new(ErrorKind::InvalidArguments, format!("call {id}: {what}"));
        let about = |error: Error| Error::new(error.kind(), format!("call {id}: {error}"));
        let stored = match decision {
            Decision::Approve => StoredDecision::Approve,
            Decision::Reject(reason) => StoredDecision::Reject(reason),
            Decision::Respond(value) => {
                if self.delivery(id.number) == Delivery::Declassified {
                    self.declassified(id.number, &value).map_err(|error| invalid(error.message))?;
                }
                StoredDecision::Respond(
                    wire::encode(&value, &self.bounds(self.limits.call_result_size))
                        .map_err(|error| invalid(error.to_string()))?,
                )
            }
            Decision::Edit(source) if name == PROGRAM_CALL => {
                StoredDecision::Edit { name: None, argument: self.check_source(&source).map_err(about)? }
            }
            Decision::EditCall { .. } if name == PROGRAM_CALL => {
                return Err(Error::new(
                    ErrorKind::DecisionNotAllowed,
                    format!("call {id} is a program, and no other call"),
                ));
            }
            Decision::Edit(argument) => {
                StoredDecision::Edit { name: None, argument: self.check_edit(name, &argument, roles).map_err(about)? }
            }
            Decision::EditCall { name: other, argument } => {
                let name = (other != name).then_some(other);
                let argument = match &name {
                    None => self.check_edit(&call_name(self, id), &argument, roles),
                    // Whoever is to decide about the other call is asked in turn.
                    Some(other) => self.check_replacement(other, &argument),
                };
                StoredDecision::Edit { name, argument: argument.map_err(about)? }
            }
        };
        match stored.size() {
            size if self.room_for(size) => Ok(stored),
            size => Err(invalid(self.no_room(&format!("its {size} bytes")))),
        }
    }

    fn already(&self, id: CallId) -> Error {
        let status = self.state.calls.get(id.number).map_or("gone", |call| call.status.name());
        Error::new(ErrorKind::AlreadyDecided, format!("call {id} was decided already: it is {status}"))
    }
}

fn call_name(session: &Session, id: CallId) -> String {
    session.state.calls.get(id.number).map(|call| call.name.as_str().to_owned()).unwrap_or_default()
}
