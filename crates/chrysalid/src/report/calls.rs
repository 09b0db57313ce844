//! The calls of a program: how each stands, and what the text says of those that need attention.

use std::fmt::Write;

use chrysalid_policy::DecisionKind;
use serde::Serialize;

use super::guard::guarded_line;
use super::room::{Piece, start};
use crate::call::{CallRecord, CallStatus};

/// Characters of a tool's name that are shown.
const NAME: usize = 100;

/// A call that was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ReportCall {
    /// Its id, such as `1.2`.
    pub call: String,
    /// Name of its tool.
    pub name: String,
    /// How it stands.
    pub status: CallStatus,
    /// How long it ran in milliseconds, once it has ended.
    pub ms: Option<u64>,
    /// Where in the program it was made, such as `line 4`, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// What a person decided, if one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<DecisionKind>,
    /// Who decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The grant that allowed it in a person's place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grant: Option<u32>,
}

impl ReportCall {
    /// A call with this id, such as `1.2`.
    pub fn new(call: impl Into<String>, name: impl Into<String>, status: CallStatus) -> Self {
        Self {
            call: call.into(),
            name: name.into(),
            status,
            ms: None,
            place: None,
            decision: None,
            by: None,
            grant: None,
        }
    }

    pub(super) fn of(record: &CallRecord) -> Self {
        Self {
            place: record.place.as_ref().map(ToString::to_string),
            decision: record.decided.as_ref().map(|decided| decided.decision),
            by: record.decided.as_ref().and_then(|decided| decided.by.clone()),
            grant: record.grant,
            ms: record.duration.and_then(|duration| u64::try_from(duration.as_millis()).ok()),
            ..Self::new(record.id.to_string(), &record.name, record.status)
        }
    }
}

/// Statuses in the order of the text, and what stands before the calls of that status.
const LABELS: [(CallStatus, Option<&str>); 10] = [
    (CallStatus::Completed, None),
    (CallStatus::Failed, Some("failed")),
    (CallStatus::Denied, Some("denied (by the rules; not done)")),
    (CallStatus::Rejected, Some("rejected (by a person; not done)")),
    (CallStatus::Abandoned, Some("abandoned (withdrawn before they ran)")),
    (CallStatus::Unknown, Some("unknown (begun, but perhaps not done; find out before repeating them)")),
    (CallStatus::Started, None),
    (CallStatus::Waiting, None),
    (CallStatus::Outside, None),
    (CallStatus::Queued, None),
];

/// What the text says of the calls; nothing if all went well. Those that completed are named if the program failed, for
/// then their effects are what is left of it.
pub(super) fn pieces(calls: &[ReportCall], program_failed: bool) -> Vec<Piece> {
    let of = |status| calls.iter().filter(move |call| call.status == status);
    let troubled = LABELS.iter().any(|(status, label)| label.is_some() && of(*status).next().is_some());
    if calls.is_empty() || !(troubled || program_failed) {
        return Vec::new();
    }
    let counts = LABELS.iter().map(|(status, _)| (of(*status).count(), status.name())).filter(|(count, _)| *count > 0);
    let counts: Vec<_> = counts.map(|(count, name)| format!("{count} {name}")).collect();
    let mut pieces = vec![Piece::whole(counts.join(", "))];
    if program_failed && of(CallStatus::Completed).next().is_some() {
        pieces.push(list("completed", &by_name(of(CallStatus::Completed))));
    }
    for (status, label) in LABELS {
        let named: Vec<_> = of(status).map(|call| format!("{} {}", call.call, shown_name(&call.name))).collect();
        pieces.extend(label.filter(|_| !named.is_empty()).map(|label| list(label, &named)));
    }
    pieces
}

fn list(label: &str, items: &[String]) -> Piece {
    let text = format!("{label}: {}", items.join(", "));
    Piece::start(text, 1)
}

/// Each name once, in the order of the first call, with how often.
fn by_name<'c>(calls: impl Iterator<Item = &'c ReportCall>) -> Vec<String> {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for call in calls {
        match counts.iter_mut().find(|(name, _)| *name == call.name) {
            Some((_, count)) => *count += 1,
            None => counts.push((&call.name, 1)),
        }
    }
    let text = |(name, count): (&str, usize)| {
        let mut text = shown_name(name);
        if count > 1 {
            let _ = write!(text, " ×{count}");
        }
        text
    };
    counts.into_iter().map(text).collect()
}

/// A tool's name, on one line and not too long.
pub(super) fn shown_name(name: &str) -> String {
    start(&guarded_line(name), NAME)
}
