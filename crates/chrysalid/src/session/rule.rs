//! The rules about one call, asked with exactly the bytes that would run: allow, ask a person, or deny.
//!
//! What comes together here: the policy crate's decision; a budget that asks for more; a plan that a person approved as a
//! whole; grants, which answer in a person's place. Nothing but this file and approve.rs lets a call through.

use chrysalid_policy::{
    Ask, Decision as Ruling, DecisionKind, Effects, Reason, Request as PolicyRequest, Rules, Taint, decide,
};
use sha2::{Digest, Sha256};

use super::Session;
use super::admit::Checked;
use super::state::{ApprovedProgram, OpenCall, StoredAsk};
use crate::audit::{self, AuditEvent};
use crate::call::{CallPlace, CallStatus, ToolError};
use crate::capability::Delivery;
use crate::decision::expiry_millis;
use crate::defence::{Defence, stands};
use crate::event::Event;
use crate::value::{Value, wire};

impl Checked {
    /// As the rules see it: handles are closed to them, so that no answer of theirs tells what one holds.
    pub(super) fn request<'a>(&'a self, name: &'a str) -> PolicyRequest<'a> {
        PolicyRequest { name, argument: &self.given, effects: self.declared, carried: self.carried, ask: self.asks }
    }
}

impl Session {
    /// Decides about a call whose arguments were checked, and records it.
    pub(super) fn rule(&mut self, number: u32, name: &str, mut checked: Checked) {
        self.settle_delivery(name, &mut checked);
        let ruling = self.ruling(name, &checked);
        let (ruling, grant) = self.use_grant(name, &checked, ruling);
        let Ruled { ruling, open, place, kept } = self.open_ruled(number, name, checked, ruling, grant);
        if !kept {
            let error = ToolError::named("Denied", format!("{name}: the audit trail cannot be written"));
            return self.refuse(number, name, CallStatus::Denied, error);
        }
        match ruling {
            Ruling::Allow => {
                let joins = open.joins();
                self.record_ruled(number, name, CallStatus::Queued, open, place);
                if let Some(call) = self.state.calls.get_mut(number) {
                    call.grant = grant;
                }
                // In words only where it is news: every call comes by here.
                if !self.state.taint.effects().contains(joins) {
                    self.join_taint(joins, &self.told(number, name));
                }
            }
            Ruling::Ask(_) => self.ask(number, name, open, place),
            Ruling::Deny { reasons } => self.refuse(number, name, CallStatus::Denied, denied(name, &reasons)),
        }
    }

    /// Makes of a ruling the call as it is kept, with what is asked about it, and writes the ruling into the audit trail.
    pub(super) fn open_ruled(
        &mut self,
        number: u32,
        name: &str,
        checked: Checked,
        ruling: Ruling,
        grant: Option<u32>,
    ) -> Ruled {
        let ask = match &ruling {
            Ruling::Ask(ask) => self.stored_ask(ask.clone()),
            Ruling::Allow | Ruling::Deny { .. } => StoredAsk::default(),
        };
        let place = checked.place.clone();
        let open = self.open_call(name, checked, ask);
        let kept = self.audit_ruling(number, name, &About::of(&open, place.as_ref()), &ruling, grant);
        Ruled { ruling, open, place, kept: kept || !stands(Defence::AuditKept) }
    }

    /// What the rules, the capability, the approved plan and the budgets say.
    pub(super) fn ruling(&self, name: &str, checked: &Checked) -> Ruling {
        let mut ruling = decide(&checked.request(name), &self.state.taint, &self.rules);
        // A result that the program cannot read brings the session nothing.
        let kept = checked.delivery != Delivery::Value && !self.refined(name, checked).contains(Effects::ACTS);
        if kept || !stands(Defence::RuleOfTwo) {
            ruling = without_rule_of_two(ruling);
        }
        if checked.predicate {
            ruling = ruling.and_ask(Reason::Predicate { why: String::new() }, &self.rules);
        }
        ruling = self.with_terms(name, ruling);
        let approved = self.state.program.as_ref().and_then(|program| program.approved.as_ref());
        if let (Ruling::Ask(ask), Some(approved)) = (&ruling, approved)
            && covers(approved, name, ask, &self.rules)
        {
            ruling = Ruling::Allow;
        }
        if approved.is_some_and(|approved| !approved.has(name)) && stands(Defence::ApprovedPlan) {
            ruling = ruling.and_ask(Reason::Unplanned, &self.rules);
        }
        if let Some(over) = &checked.over {
            ruling = ruling.and_ask(over.reason(), &self.rules);
        }
        self.with_terms(name, ruling)
    }

    /// The rules' terms and the capability's own, the strictest of each.
    fn with_terms(&self, name: &str, ruling: Ruling) -> Ruling {
        match (ruling, self.capabilities.get(name)) {
            (Ruling::Ask(mut ask), Some(capability)) => {
                ask.terms.join(&capability.terms());
                Ruling::Ask(ask)
            }
            (ruling, _) => ruling,
        }
    }

    /// The effects of a call as the rules refine them, with those of its handles.
    pub(super) fn refined(&self, name: &str, checked: &Checked) -> Effects {
        self.rules.effects(&checked.request(name)) | checked.carried
    }

    pub(super) fn open_call(&self, name: &str, checked: Checked, ask: StoredAsk) -> OpenCall {
        OpenCall {
            effects: self.refined(name, &checked),
            carried: checked.carried,
            delivery: checked.delivery,
            given: checked.holds_handles.then(|| self.encode_given(&checked.given)).flatten(),
            argument: checked.bytes,
            value_bytes: checked.value_bytes,
            definition: checked.definition,
            ask,
            requested_millis: self.meter.last_host_millis(),
            started_millis: None,
            decision: None,
            approved: false,
        }
    }

    fn ask(&mut self, number: u32, name: &str, open: OpenCall, place: Option<CallPlace>) {
        let error = if let Some(error) = self.too_many_wait(name) {
            Some(error)
        } else if self.room_for(open.argument.len().saturating_add(open.value_bytes)) {
            None
        } else {
            Some(self.no_room_for_arguments(name))
        };
        if let Some(error) = error {
            return self.refuse(number, name, CallStatus::Failed, error);
        }
        self.record_ruled(number, name, CallStatus::Waiting, open, place);
        self.tell(&Event::CallWaiting { id: self.id_of(number), name });
    }

    /// Why nothing more is asked now.
    pub(super) fn too_many_wait(&self, name: &str) -> Option<ToolError> {
        let bound = self.limits.pending_approvals;
        let many = self.state.calls.count(CallStatus::Waiting) >= bound as usize && stands(Defence::PendingApprovals);
        many.then(|| ToolError::named("CallBudgetExceeded", format!("{name}: {bound} calls wait for a person already")))
    }

    pub(super) fn stored_ask(&self, ask: Ask) -> StoredAsk {
        StoredAsk {
            reasons: ask.reasons,
            roles: ask.terms.roles,
            expires_millis: expiry_millis(self.meter.last_host_millis(), ask.terms.expires),
            decisions: ask.terms.decisions,
        }
    }

    pub(super) fn record_ruled(
        &mut self,
        number: u32,
        name: &str,
        status: CallStatus,
        open: OpenCall,
        place: Option<CallPlace>,
    ) {
        self.record_call(number, name, status, Some(open));
        if let Some(call) = self.state.calls.get_mut(number) {
            call.place = place;
        }
    }

    fn encode_given(&self, given: &Value) -> Option<Vec<u8>> {
        wire::encode_canonical(given, &self.argument_bounds()).ok()
    }

    /// A call in words, such as `budget.read (call 1.2, line 4)`.
    pub(super) fn told(&self, number: u32, name: &str) -> String {
        let place = self.state.calls.get(number).and_then(|call| call.place.as_ref());
        let place = place.map_or_else(String::new, |place| format!(", {place}"));
        format!("{name} (call {}{place})", self.id_of(number))
    }

    /// Joins what was met elsewhere and comes into this session, as with the result of a subagent.
    pub fn meet(&mut self, taint: &Taint) {
        for brought in taint.provenance() {
            self.join_taint(brought.effect, &brought.by);
        }
    }

    /// The session has met these effects, and its run has.
    pub(super) fn join_taint(&mut self, effects: Effects, by: &str) {
        for effect in self.state.taint.effects().missing_from(effects).each() {
            self.tell(&Event::Met { effect, by });
        }
        self.state.taint.join(effects, by);
    }

    /// Writes a ruling into the audit trail; whether it is kept.
    pub(super) fn audit_ruling(
        &mut self,
        number: u32,
        name: &str,
        about: &About<'_>,
        ruling: &Ruling,
        grant: Option<u32>,
    ) -> bool {
        if !self.is_audited() {
            return true;
        }
        let (decision, reasons) = match ruling {
            Ruling::Allow => ("allow", &[][..]),
            Ruling::Ask(ask) => ("ask", ask.reasons.as_slice()),
            Ruling::Deny { reasons } => ("deny", reasons.as_slice()),
        };
        let event = AuditEvent::Ruled(audit::Ruled {
            call: self.id_of(number).to_string(),
            name: name.to_owned(),
            place: about.place.map(ToString::to_string),
            digest: crate::key::hex(&Sha256::digest(about.argument)),
            effects: about.effects.names().collect(),
            met: self.state.taint.effects().names().collect(),
            decision,
            reasons: reasons.iter().map(ToString::to_string).collect(),
            grant,
        });
        self.audit(&event)
    }
}

/// A call that the rules decided about, as it would be kept.
pub(super) struct Ruled {
    pub(super) ruling: Ruling,
    pub(super) open: OpenCall,
    pub(super) place: Option<CallPlace>,
    /// Whether the audit trail has the decision.
    pub(super) kept: bool,
}

/// What a ruling was about.
pub(super) struct About<'a> {
    argument: &'a [u8],
    effects: Effects,
    place: Option<&'a CallPlace>,
}

impl<'a> About<'a> {
    pub(super) fn of(open: &'a OpenCall, place: Option<&'a CallPlace>) -> Self {
        Self { argument: &open.argument, effects: open.effects, place }
    }
}

impl OpenCall {
    /// What the session meets with this call. A result that the program cannot read brings nothing that it could pass on.
    pub(super) fn joins(&self) -> Effects {
        match self.delivery {
            Delivery::Value => self.effects,
            Delivery::Handle | Delivery::Declassified if self.effects.contains(Effects::ACTS) => Effects::ACTS,
            Delivery::Handle | Delivery::Declassified => Effects::NONE,
        }
    }
}

fn without_rule_of_two(ruling: Ruling) -> Ruling {
    let Ruling::Ask(mut ask) = ruling else { return ruling };
    ask.reasons.retain(|reason| !matches!(reason, Reason::RuleOfTwo { .. }));
    if ask.reasons.is_empty() { Ruling::Allow } else { Ruling::Ask(ask) }
}

/// Whether the approval of a program as a whole answers this question about one of its calls. What depends on data that the
/// reviewer could not see does not: the rule of two, and rules about what was met.
fn covers(approved: &ApprovedProgram, name: &str, ask: &Ask, rules: &Rules) -> bool {
    let of_the_text = |reason: &Reason| match reason {
        Reason::Rule { line, .. } => !rules.depends_on_met(*line),
        Reason::Always | Reason::Default { .. } | Reason::Predicate { .. } => true,
        _ => false,
    };
    approved.has(name)
        && ask.terms.takes(DecisionKind::Approve)
        && ask.reasons.iter().all(of_the_text)
        && ask.terms.roles.iter().all(|role| approved.roles.contains(role))
}

pub(super) fn denied(name: &str, reasons: &[Reason]) -> ToolError {
    let reasons: Vec<String> = reasons.iter().map(ToString::to_string).collect();
    ToolError::named("Denied", format!("{name}: {}", reasons.join("; ")))
}
