//! Grants: approvals that a person gave beforehand, for some calls of one kind. They answer in that person's place, are counted
//! down, and end with their program unless they are for the session.

use std::time::SystemTime;

use chrysalid_policy::{Ask, Decision as Ruling, DecisionKind, Grant, GrantScope, Reason};

use super::Session;
use super::admit::Checked;
use super::state::{State, StoredGrant};
use crate::audit::AuditEvent;
use crate::clock::{from_millis, to_millis};
use crate::decision::{Reviewer, expiry_millis, has_passed};
use crate::defence::{Defence, stands};
use crate::error::{Error, ErrorKind, Result};

/// Grants that a session keeps.
const MOST: usize = 256;

/// A grant as it stands.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct GrantRecord {
    /// Its number, which the records of calls name.
    pub number: u32,
    /// What it allows.
    pub grant: Grant,
    /// How many more calls.
    pub left: u32,
    /// When it ends.
    pub expires_at: Option<SystemTime>,
    /// Who gave it, as the host said.
    pub by: Option<String>,
}

impl Session {
    /// Allows some calls beforehand, in a person's place; its number. It answers whatever would be asked about a call that
    /// surely fits it, the rule of two included; but no denial, no budget that is spent, nothing for which the reviewer lacks a
    /// role, and nothing that a rule does not let be approved. It lasts from `now`. A fork does not inherit it.
    ///
    /// # Errors
    /// [`ErrorKind::NotRunning`] for a grant that ends with the program where there is none; [`ErrorKind::Config`] when
    /// there are 256 already.
    pub fn grant(&mut self, grant: Grant, by: &Reviewer, now: SystemTime) -> Result<u32> {
        let program = self.state.program.as_ref().map(|program| program.number);
        let program = match (grant.scope(), program) {
            (GrantScope::Session, _) => None,
            (_, Some(program)) => Some(program),
            _ => return Err(Error::new(ErrorKind::NotRunning, "a grant for one program needs a program that runs")),
        };
        self.meter.see(to_millis(now));
        self.forget_grants();
        if self.state.grants.len() >= MOST {
            return Err(Error::new(ErrorKind::Config, format!("a session keeps {MOST} grants and has them")));
        }
        self.state.last_grant += 1;
        let number = self.state.last_grant;
        let event = AuditEvent::Granted { grant: number, terms: grant.to_string(), by: by.name.clone() };
        if !self.audit(&event) && stands(Defence::AuditKept) {
            return Err(Error::new(ErrorKind::Io, "the audit trail cannot be written"));
        }
        let expires_millis = expiry_millis(self.now_millis(), grant.lasts());
        self.state.grants.push(StoredGrant {
            number,
            left: grant.count(),
            grant,
            expires_millis,
            program,
            by: by.name.clone(),
            roles: by.roles.clone(),
        });
        Ok(number)
    }

    /// The grants that still allow something.
    #[must_use]
    pub fn grants(&self) -> Vec<GrantRecord> {
        self.state.grants()
    }

    /// What is left of a ruling after the grants were asked, and the one that answered.
    pub(super) fn use_grant(&mut self, name: &str, checked: &Checked, ruling: Ruling) -> (Ruling, Option<u32>) {
        let Ruling::Ask(ask) = &ruling else { return (ruling, None) };
        let is_open = |reason: &Reason| {
            matches!(
                reason,
                Reason::Always
                    | Reason::Predicate { .. }
                    | Reason::Rule { .. }
                    | Reason::Default { .. }
                    | Reason::RuleOfTwo { .. }
            )
        };
        if !ask.reasons.iter().all(is_open) || !ask.terms.takes(DecisionKind::Approve) {
            return (ruling, None);
        }
        let now = self.meter.last_host_millis();
        let request = checked.request(name);
        let bounded = stands(Defence::GrantBounds);
        let fits = |stored: &&mut StoredGrant| {
            stored.grant.covers(&request)
                && (stored.left > 0 && !has_passed(stored.expires_millis, now) || !bounded)
                && has_roles(stored, ask)
        };
        let Some(stored) = self.state.grants.iter_mut().find(fits) else { return (ruling, None) };
        stored.left = stored.left.saturating_sub(1);
        let number = stored.number;
        (Ruling::Allow, Some(number))
    }

    /// Drops grants of programs that have ended, and those that allow nothing more.
    pub(super) fn forget_grants(&mut self) {
        let now = self.meter.last_host_millis();
        let program = self.state.program.as_ref().map(|program| program.number);
        self.state.grants.retain(|stored| {
            stored.left > 0
                && !has_passed(stored.expires_millis, now)
                && (stored.program.is_none() || stored.program == program)
        });
    }
}

impl State {
    pub(crate) fn grants(&self) -> Vec<GrantRecord> {
        let record = |stored: &StoredGrant| GrantRecord {
            number: stored.number,
            grant: stored.grant.clone(),
            left: stored.left,
            expires_at: stored.expires_millis.map(from_millis),
            by: stored.by.clone(),
        };
        self.grants.iter().map(record).collect()
    }
}

fn has_roles(stored: &StoredGrant, ask: &Ask) -> bool {
    ask.terms.roles.iter().all(|role| stored.roles.contains(role)) || !stands(Defence::ApprovalRoles)
}
