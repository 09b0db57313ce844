//! Programs that a person lets run as a whole: asked once, with the source and what it can reach, before any of it runs.
//!
//! The question is a call named `$program` that the host makes. Its answer covers what the reviewer could see: calls of the
//! listed capabilities that their own declaration or the rules would ask about. The rule of two, which depends on data, still
//! asks, and a call that is not in the plan waits for a person of its own, however the program came by it.

use chrysalid_policy::{Effects, Reason};
use sha2::{Digest, Sha256};

use super::Session;
use super::place::refused;
use super::state::{ApprovedProgram, OpenCall, PROGRAM_CALL, Phase, StoredAsk, StoredDecision, StoredVerdict};
use crate::audit::AuditEvent;
use crate::call::{CallStatus, DecidedBy, ToolError};
use crate::capability::Delivery;
use crate::decision::expiry_millis;
use crate::error::{Error, ErrorKind, Result};
use crate::event::Event;
use crate::key::hex;
use crate::outcome::{Failure, FailureKind};
use crate::plan::Plan;
use crate::program;
use crate::value::{Object, Value, wire};

impl Session {
    /// Asks about the program that was just given, if that is wanted.
    pub(super) fn ask_about_program(&mut self) {
        let Some(program) = &self.state.program else { return };
        if program.begun || matches!(program.phase, Phase::Failing(_)) {
            return;
        }
        if !program.asks_first || program.approved.is_some() || self.awaits_program_approval() {
            return;
        }
        let source = program.source.clone();
        let Some(number) = self.next_number() else {
            // What nobody can be asked about does not run.
            let message = "a person cannot be asked about the program: no call of this session has a number left";
            let failure = Failure { name: "Denied".into(), ..Failure::of(FailureKind::Rejected, message) };
            return self.begin_failing(failure);
        };
        let argument = self.shown_program(&source);
        let bytes = wire::encode_canonical(&argument, &self.bounds(usize::MAX)).unwrap_or_default();
        let ask = StoredAsk {
            reasons: vec![Reason::Program],
            expires_millis: expiry_millis(self.now_millis(), self.rules.terms().expires),
            ..StoredAsk::default()
        };
        let open = OpenCall {
            value_bytes: argument.footprint(),
            argument: bytes,
            given: None,
            definition: [0; 16],
            effects: Effects::NONE,
            carried: Effects::NONE,
            delivery: Delivery::Value,
            ask,
            requested_millis: self.now_millis(),
            started_millis: None,
            decision: None,
            approved: false,
        };
        self.record_ruled(number, PROGRAM_CALL, CallStatus::Waiting, open, None);
        self.tell(&Event::CallWaiting { id: self.id_of(number), name: PROGRAM_CALL });
    }

    /// What a reviewer sees of a program.
    fn shown_program(&self, source: &str) -> Value {
        let mut shown = Object::from_iter([("source", Value::from(source))]);
        if let Ok(plan) = Plan::of(source, &self.capabilities) {
            shown.insert("plan_text", plan.to_string());
            let plan = serde_json::to_value(&plan).ok().and_then(|json| Value::from_json(json).ok());
            shown.insert("plan", plan.unwrap_or_default());
        }
        Value::Object(shown)
    }

    /// Whether a person has yet to say whether it may run.
    pub(super) fn awaits_program_approval(&self) -> bool {
        self.state.calls.with_status(CallStatus::Waiting).any(|(_, call)| call.name == PROGRAM_CALL)
    }

    /// The source that a person puts in place of a program's, as it is kept until the next step.
    pub(super) fn check_source(&self, source: &Value) -> Result<Vec<u8>> {
        let invalid = |what: String| Error::new(ErrorKind::InvalidArguments, what);
        let text = source.as_str().or_else(|| source.get("source").and_then(Value::as_str));
        let text = text.ok_or_else(|| invalid("a program is edited by giving its text".to_owned()))?;
        if text.len() > self.limits.source_size {
            let bound = self.limits.source_size;
            return Err(invalid(format!("source of {} bytes is more than {bound}", text.len())));
        }
        if let Err(refusal) = program::prepare(text) {
            return Err(invalid(refused(text, refusal).to_string()));
        }
        wire::encode(&Value::from(text), &self.bounds(usize::MAX)).map_err(|error| invalid(error.to_string()))
    }

    pub(super) fn apply_to_program(&mut self, number: u32, verdict: StoredVerdict) {
        let StoredVerdict { decision, by, roles } = verdict;
        let decided = DecidedBy { decision: decision.kind(), by: by.clone() };
        match decision {
            StoredDecision::Reject(reason) => {
                self.decided(number, decided, None);
                let message = reason.map_or_else(String::new, |reason| format!(": {reason}"));
                let error = ToolError::named("ToolRejected", format!("a person did not let the program run{message}"));
                return self.end_program_unrun(number, error);
            }
            StoredDecision::Edit { argument, .. } => {
                let source = wire::decode(&argument, &self.bounds(usize::MAX)).ok();
                let source = source.as_ref().and_then(Value::as_str);
                if let (Some(program), Some(source)) = (&mut self.state.program, source) {
                    program.source = source.into();
                }
            }
            StoredDecision::Approve | StoredDecision::Respond(_) => {}
        }
        let Some(source) = self.state.program.as_ref().map(|program| program.source.clone()) else { return };
        let kept = self.decided(number, decided, Some(Sha256::digest(source.as_bytes()).into()));
        if !kept {
            let error = ToolError::named("Denied", "the audit trail cannot be written");
            return self.end_program_unrun(number, error);
        }
        // What could not be told from the text is no part of what was approved.
        let tools =
            Plan::of(&source, &self.capabilities).map(|plan| plan.tools.into_iter().map(|tool| tool.name).collect());
        if let Some(program) = &mut self.state.program {
            program.approved = Some(ApprovedProgram { tools: tools.unwrap_or_default(), by, roles });
        }
        self.state.calls.end(number, CallStatus::Completed, self.now_millis());
        match program::prepare(&source) {
            Ok(prepared) => self.take_prepared(prepared),
            Err(refusal) => self.begin_failing(refused(&source, refusal)),
        }
    }

    /// The program ends before any of it ran.
    pub(super) fn end_program_unrun(&mut self, number: u32, error: ToolError) {
        self.state.calls.end(number, CallStatus::Rejected, self.now_millis());
        let failure = Failure { name: error.name, ..Failure::of(FailureKind::Rejected, error.message) };
        self.begin_failing(failure);
    }

    /// Notes in the audit trail what will run; whether that is kept.
    pub(super) fn audit_program(&mut self) -> bool {
        let Some(program) = self.state.program.as_ref().filter(|_| self.is_audited()) else { return true };
        let sha256 = hex(&Sha256::digest(program.source.as_bytes()));
        let event = AuditEvent::Program { program: program.number, sha256 };
        self.audit(&event)
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::abi;
    use crate::testing::step;
    use crate::{Capabilities, Engine, FailureKind, Modules, Session, SessionOptions, Step};

    /// A session that has numbered all the calls that it can.
    fn numberless(change: impl FnOnce(&mut SessionOptions)) -> Session {
        let mut options = SessionOptions::default();
        change(&mut options);
        let engine = Engine::builder().pool_slots(0).build().unwrap();
        let mut session = engine.session_with(&Capabilities::none(), options).unwrap();
        session.guest.here().unwrap().state().last_number = abi::CALL_REFUSED - 1;
        session
    }

    #[track_caller]
    fn failure(session: &mut Session, source: &str) -> (FailureKind, String) {
        session.start(source).unwrap();
        let Step::Ended(ended) = step(session) else { panic!("has not ended") };
        assert_eq!((ended.logs, ended.calls), (vec![], vec![]));
        let failure = ended.result.unwrap_err();
        (failure.kind, failure.to_string())
    }

    #[test]
    fn a_program_that_nobody_can_be_asked_about_does_not_run() {
        let mut session = numberless(|options| options.approve_program = true);
        let told = "Denied: a person cannot be asked about the program: no call of this session has a number left";
        assert_eq!(failure(&mut session, "console.log('ran')"), (FailureKind::Rejected, told.to_owned()));
    }

    #[test]
    fn a_module_whose_fetch_has_no_number_is_not_waited_for() {
        let mut session = numberless(|options| options.modules = Modules::fixed([("a", "export const a = 1")]));
        let told = "CallBudgetExceeded: module \"a\": no call of this session has a number left";
        let source = "import { a } from 'a'; console.log(a)";
        assert_eq!(failure(&mut session, source), (FailureKind::Exception, told.to_owned()));
    }
}
