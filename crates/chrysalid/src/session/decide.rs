//! Answers from outside: results of calls, and decisions of people. Both are stored and run no guest code; the next
//! step carries them out. Answers bind to a call id, never to an order.

use super::Session;
use super::state::{AnswerError, StoredDecision};
use crate::call::{CallId, CallResult, CallStatus, Decision, ToolError};
use crate::defence::{Defence, stands};
use crate::engine::abi;
use crate::error::{Error, ErrorKind, Result};
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
            Err(error) => self.answer_error(number, CallStatus::Failed, error),
        }
        Ok(())
    }

    fn settle_value(&mut self, number: u32, mut value: Value) {
        let call = self.state.calls.get(number);
        let name = call.map(|call| call.name.clone()).unwrap_or_default();
        // The program must see that a person changed what it asked for, or it asks again.
        let edited = call
            .and_then(|call| call.edited.as_deref())
            .and_then(|bytes| wire::decode(bytes, &self.argument_bounds()).ok());
        if let (Some(edited), Value::Object(object)) = (edited, &mut value) {
            object.insert("edited_by_human", edited);
        }
        let bound = if stands(Defence::CallResultSize) { self.limits.call_result_size } else { usize::MAX };
        let encoded = wire::encode(&value, &self.bounds(bound)).map_err(|error| error.to_string());
        let encoded = encoded.and_then(|bytes| {
            if self.room_for(bytes.len()) {
                Ok(bytes)
            } else {
                Err(self.no_room(&format!("its {} bytes", bytes.len())))
            }
        });
        match encoded {
            Ok(bytes) => self.answer(number, CallStatus::Completed, Ok(bytes)),
            Err(error) => {
                let error = ToolError::named("ResultTooLarge", format!("result of {name}: {error}"));
                self.answer(number, CallStatus::Completed, Err(AnswerError { error, tool: name }));
            }
        }
    }

    /// Gives a waiting call a person's decision. Checked at once: id, single use, allowed decisions, edited arguments.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownCall`], [`ErrorKind::AlreadyDecided`], [`ErrorKind::NotWaiting`],
    /// [`ErrorKind::DecisionNotAllowed`], [`ErrorKind::InvalidArguments`], [`ErrorKind::MissingCapability`].
    pub fn decide(&mut self, id: CallId, decision: Decision) -> Result<()> {
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
        if !call.allowed().contains(&decision.kind()) && stands(Defence::AllowedDecisions) {
            return Err(Error::new(
                ErrorKind::DecisionNotAllowed,
                format!("call {id} is {}, and does not take {:?}", call.status.name(), decision.kind()),
            ));
        }
        let name = call.name.clone();
        let stored = self.store_decision(id, &name, decision)?;
        if let Some(open) = self.state.calls.get_mut(number).and_then(|call| call.open.as_mut()) {
            open.decision = Some(stored);
        }
        Ok(())
    }

    fn store_decision(&self, id: CallId, name: &str, decision: Decision) -> Result<StoredDecision> {
        let invalid = |what: String| Error::new(ErrorKind::InvalidArguments, format!("call {id}: {what}"));
        let stored = match decision {
            Decision::Approve => StoredDecision::Approve,
            Decision::Reject(reason) => StoredDecision::Reject(reason),
            Decision::Respond(value) => StoredDecision::Respond(
                wire::encode(&value, &self.bounds(self.limits.call_result_size))
                    .map_err(|error| invalid(error.to_string()))?,
            ),
            Decision::Edit(argument) => {
                StoredDecision::Edit(self.check_edit(name, &argument).map_err(|error| invalid(error.message))?)
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

    /// Carries out the stored decisions.
    pub(super) fn apply_decisions(&mut self) {
        let open: Vec<u32> = self.state.calls.open().map(|(number, _)| number).collect();
        for number in open {
            let open = self.state.calls.get_mut(number).and_then(|call| call.open.as_mut());
            let Some(decision) = open.and_then(|open| open.decision.take()) else { continue };
            match decision {
                StoredDecision::Approve => self.approve(number, None),
                StoredDecision::Edit(argument) => self.approve(number, Some(argument)),
                StoredDecision::Respond(value) => self.answer(number, CallStatus::Completed, Ok(value)),
                StoredDecision::Reject(reason) => self.reject(number, reason),
            }
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
}
