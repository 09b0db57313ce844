//! The session's side of the audit trail: lines are chained in the sealed header, and kept before what they tell is done.

use chrysalid_policy::Rules;

use super::{Session, Trail};
use crate::audit::AuditEvent;
use crate::key::hex;

impl Session {
    pub(super) fn is_audited(&self) -> bool {
        self.options.audit.is_some()
    }

    /// Writes a line, if there is a trail; whether it is kept.
    pub(super) fn audit(&mut self, event: &AuditEvent) -> bool {
        let Some(sink) = self.options.audit.clone() else { return true };
        if self.trail == Trail::Unopened {
            self.trail = Trail::Opened;
            let forked_from = self.state.lineage.last().map(|session| hex(session));
            let policy = self.policy_version();
            let opened = AuditEvent::Opened { forked_from, policy };
            if !self.append(&*sink, &opened) {
                self.trail = Trail::Unopened;
                return false;
            }
        }
        self.append(&*sink, event)
    }

    fn append(&mut self, sink: &dyn crate::audit::AuditSink, event: &AuditEvent) -> bool {
        let at = self.now_millis();
        let (line, next) = self.state.chain.line(&self.state.session, at, event);
        // A sink that panics keeps nothing.
        let kept =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| sink.append(&line).is_ok())).unwrap_or(false);
        if kept {
            self.state.chain = next;
        }
        kept
    }

    /// How many lines the audit trail of this session has, and the hash of the last: what a copy of it must end with.
    #[must_use]
    pub fn audit_head(&self) -> (u64, [u8; 32]) {
        (self.state.chain.length, self.state.chain.head)
    }

    /// Version of the rules, if they come from a file.
    pub(super) fn policy_version(&self) -> Option<String> {
        Some(self.rules.version().to_owned()).filter(|version| version != Rules::default().version())
    }

    /// The latest time that the session knows, in milliseconds since 1970.
    pub(super) fn now_millis(&self) -> f64 {
        self.meter.last_host_millis()
    }
}
