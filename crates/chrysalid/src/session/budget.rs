//! Budgets of calls, bytes and subagents: of one program, of the session, and of the run (`run_budget.rs`).
//!
//! What is spent is counted when a call is admitted, in the sealed header, and never comes back: not by a restore, not by a
//! fork. A budget that is spent ends in an error, or asks a person for more: [`Limits::when_spent`](crate::Limits::when_spent).

use std::collections::BTreeMap;

use chrysalid_policy::{Budget, Cost, Exhausted, Resource, Scope, Spent, Taint};

use super::Session;
use super::admit::Checked;
use super::state::{REVEAL_CALL, State};
use crate::audit::AuditEvent;
use crate::call::ToolError;
use crate::capability::{Capability, Delivery};
use crate::decision::Reviewer;
use crate::defence::{Defence, stands};
use crate::error::{Error, ErrorKind, Result};
use crate::limits::{Limits, WhenSpent};

/// What a run is known to have met and used, kept by a host beside snapshots: an older image then lowers nothing.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct Ledger {
    /// Effects met, and which call brought each.
    pub taint: Taint,
    /// What the session's programs have used together.
    pub spent: Spent,
    /// Bits that declassified results may have told.
    pub declassified_bits: u64,
    /// Calls that are left of each grant that was given, by its number; those that are used up are absent.
    pub grants: BTreeMap<u32, u32>,
    /// How many grants were given.
    pub last_grant: u32,
}

/// The budgets of a session that are the same for each call, one for each of their defences.
pub(super) struct Budgets {
    /// Calls of a program, and what it may spawn.
    calls: Budget,
    spawns: Budget,
    /// What the session may use, with what was added; and how deep what it spawns may be.
    session: Budget,
    levels: Budget,
}

impl Budgets {
    pub(super) fn of(limits: &Limits, extra: &Budget) -> Self {
        Self {
            calls: Budget { calls: Some(limits.calls), ..Budget::of(Scope::Program) },
            spawns: Budget { spawns: limits.spawns, ..Budget::of(Scope::Program) },
            session: Budget { scope: Scope::Session, depth: None, ..plus(&limits.session, extra) },
            levels: Budget { depth: limits.session.depth, ..Budget::of(Scope::Session) },
        }
    }
}

impl Session {
    /// What it has met and used so far: for [`SessionOptions::ledger`](crate::SessionOptions::ledger) of a later restore.
    #[must_use]
    pub fn ledger(&self) -> Ledger {
        self.state.ledger()
    }

    /// Adds to the budget of the session: a person gave more. Bounds that are absent in `more` stay as they are.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] when that cannot be written into the audit trail.
    pub fn raise_budget(&mut self, more: &Budget, by: &Reviewer) -> Result<()> {
        let numbers = [
            more.calls.map(|calls| format!("{calls} calls")),
            more.bytes.map(|bytes| format!("{bytes} bytes")),
            more.spawns.map(|spawns| format!("{spawns} subagents")),
        ];
        let of_one = more.calls_by_name.iter().map(|(name, calls)| format!("{calls} calls of {name}"));
        let told: Vec<String> = numbers.into_iter().flatten().chain(of_one).collect();
        let event = AuditEvent::Raised { budget: told.join(", "), by: by.name.clone() };
        if !self.audit(&event) && stands(Defence::AuditKept) {
            return Err(Error::new(ErrorKind::Io, "the audit trail cannot be written"));
        }
        self.state.extra = both(&self.state.extra, more);
        self.budgets = Budgets::of(&self.limits, &self.state.extra);
        Ok(())
    }

    /// Counts a call; what is spent already, if that is to be asked about.
    pub(super) fn spend(
        &mut self,
        capability: &Capability,
        bytes: usize,
    ) -> std::result::Result<Option<Exhausted>, ToolError> {
        let name = capability.name();
        if !self.room_for(bytes) {
            return Err(self.no_room_for_arguments(name));
        }
        let spawns = u32::from(capability.is_subagent());
        let depth = if spawns > 0 { self.options.depth.saturating_add(1) } else { 0 };
        let cost = Cost { call: Some(name), bytes: bytes as u64, spawns, depth };
        if let Some(over) = self.too_deep(&cost) {
            return Err(ToolError::named("CallBudgetExceeded", format!("{name}: {over}")));
        }
        let over = self.over_budget(capability, &cost);
        if over.as_ref().is_some_and(|over| over.what == Resource::Bytes) {
            self.tell_sizes(name);
        }
        let asks = self.limits.when_spent == WhenSpent::Ask;
        if let Some(over) = over.as_ref().filter(|_| !asks) {
            return Err(ToolError::named("CallBudgetExceeded", format!("{name}: {over}")));
        }
        if let Some(run) = &self.options.run {
            // Another session of the run may have spent the rest since.
            run.spend(&cost, asks || !stands(Defence::RunBudget))
                .map_err(|over| ToolError::named("CallBudgetExceeded", format!("{name}: {over}")))?;
        }
        if let Some(program) = &mut self.state.program {
            program.spent.spend(&cost);
        }
        self.state.spent.spend(&cost);
        Ok(over)
    }

    fn too_deep(&self, cost: &Cost<'_>) -> Option<Exhausted> {
        let levels = Cost { depth: cost.depth, ..Cost::default() };
        self.state.spent.would_exceed(&self.budgets.levels, &levels).filter(|_| stands(Defence::SpawnBudget))
    }

    /// The first budget that does not have room for a call.
    fn over_budget(&self, capability: &Capability, cost: &Cost<'_>) -> Option<Exhausted> {
        let (name, budgets) = (capability.name(), &self.budgets);
        let of_program = &self.state.program.as_ref()?.spent;
        let of_session = &self.state.spent;
        let more = self.state.extra.calls_by_name.get(name).copied().unwrap_or(0);
        let session_calls = capability.session_calls_limit().map(|calls| calls.saturating_add(more));
        let checks: [(Defence, &dyn Fn() -> Option<Exhausted>); 6] = [
            (Defence::CallBudget, &|| of_program.would_exceed(&budgets.calls, cost)),
            (Defence::ToolBudget, &|| of_program.no_call_left(Scope::Program, name, capability.max_calls_limit()?)),
            (Defence::SpawnBudget, &|| of_program.would_exceed(&budgets.spawns, cost)),
            (Defence::SessionBudget, &|| of_session.no_call_left(Scope::Session, name, session_calls?)),
            (Defence::SessionBudget, &|| of_session.would_exceed(&budgets.session, cost)),
            (Defence::RunBudget, &|| self.options.run.as_ref()?.would_exceed(cost)),
        ];
        checks.iter().filter(|(defence, _)| stands(*defence)).find_map(|(_, over)| over())
    }

    /// Revealing is a call as well. What it brings counts as a result does.
    pub(super) fn spend_reveal(&mut self) -> std::result::Result<(), ToolError> {
        let (cost, budgets) = (Cost { call: Some(REVEAL_CALL), ..Cost::default() }, &self.budgets);
        let Some(program) = &mut self.state.program else { return Ok(()) };
        let over = program.spent.would_exceed(&budgets.calls, &cost);
        let over = over.or_else(|| self.state.spent.would_exceed(&budgets.session, &cost));
        let over = over.or_else(|| self.options.run.as_ref()?.spend(&cost, !stands(Defence::RunBudget)).err());
        if let Some(over) = over {
            return Err(ToolError::named("CallBudgetExceeded", format!("reveal: {over}")));
        }
        program.spent.spend(&cost);
        self.state.spent.spend(&cost);
        Ok(())
    }

    /// Counts the bytes of a result.
    pub(super) fn spend_result(&mut self, bytes: usize) {
        let cost = Cost { bytes: bytes as u64, ..Cost::default() };
        if let Some(program) = &mut self.state.program {
            program.spent.spend(&cost);
        }
        self.state.spent.spend(&cost);
        if let Some(run) = &self.options.run {
            // It is here already: what comes next is refused.
            let _ = run.spend(&cost, true);
        }
    }

    /// Takes the bits of a declassified result; without enough of them it is delivered as a value.
    pub(super) fn settle_delivery(&mut self, name: &str, checked: &mut Checked) {
        if checked.delivery != Delivery::Declassified {
            return;
        }
        let bits = self.capabilities.get(name).and_then(Capability::narrow).map_or(u32::MAX, super::Narrow::bits);
        let told = self.state.declassified_bits.saturating_add(u64::from(bits));
        if told > u64::from(self.limits.declassified_bits) && stands(Defence::DeclassifiedBits) {
            checked.delivery = Delivery::Value;
            let bound = self.limits.declassified_bits;
            let note = format!(
                "{name}: the session's {bound} bits of declassified results are used up: results count as read"
            );
            if self.state.program.as_ref().is_some_and(|program| !program.notes.contains(&note)) {
                self.note(note);
            }
        } else {
            self.state.declassified_bits = told;
        }
    }
}

impl State {
    pub(crate) fn ledger(&self) -> Ledger {
        Ledger {
            taint: self.taint.clone(),
            spent: self.spent.clone(),
            declassified_bits: self.declassified_bits,
            grants: self.grants.iter().map(|stored| (stored.number, stored.left)).collect(),
            last_grant: self.last_grant,
        }
    }
}

/// What was added before, and what is added now.
fn both(one: &Budget, other: &Budget) -> Budget {
    let words = |one: Option<u32>, other: Option<u32>| one.into_iter().chain(other).reduce(u32::saturating_add);
    let mut sum = one.clone();
    sum.calls = words(one.calls, other.calls);
    sum.bytes = one.bytes.into_iter().chain(other.bytes).reduce(u64::saturating_add);
    sum.spawns = words(one.spawns, other.spawns);
    for (name, calls) in &other.calls_by_name {
        let so_far = sum.calls_by_name.entry(name.clone()).or_default();
        *so_far = so_far.saturating_add(*calls);
    }
    sum
}

/// A budget with more.
fn plus(budget: &Budget, more: &Budget) -> Budget {
    let mut sum = budget.clone();
    sum.calls = sum.calls.map(|calls| calls.saturating_add(more.calls.unwrap_or(0)));
    sum.bytes = sum.bytes.map(|bytes| bytes.saturating_add(more.bytes.unwrap_or(0)));
    sum.spawns = sum.spawns.map(|spawns| spawns.saturating_add(more.spawns.unwrap_or(0)));
    for (name, calls) in &mut sum.calls_by_name {
        *calls = calls.saturating_add(more.calls_by_name.get(name).copied().unwrap_or(0));
    }
    sum
}
