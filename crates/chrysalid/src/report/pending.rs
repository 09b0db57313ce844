//! Calls that wait, and what a model should know about a pause.

use serde::Serialize;
use serde_json::Value as Json;

use super::calls::shown_name;
use super::guard::{guarded_block, guarded_line};
use super::room::Piece;
use crate::call::{CallStatus, DecisionKind, PendingCall};

/// A call that waits.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ReportPending {
    /// Its id, such as `1.2`.
    pub call: String,
    /// Name of its tool.
    pub name: String,
    /// Its argument exactly as it would run, or a text that says why it has no JSON form. A surface that must not show
    /// values takes it out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub args: Option<Json>,
    /// Why a person is asked.
    pub reasons: Vec<String>,
    /// What the call does: `private`, `untrusted`, `acts`.
    pub effects: Vec<&'static str>,
    /// Decisions that are accepted.
    pub allowed: Vec<DecisionKind>,
    /// What it waits for. Not part of the JSON form, where [`super::Report::calls`] has it.
    #[serde(skip)]
    pub status: CallStatus,
    /// Its argument as JavaScript, bounded in depth, width and length; empty for `undefined`. Not part of the JSON form.
    #[serde(skip)]
    pub rendered: String,
}

impl ReportPending {
    pub(super) fn of(call: &PendingCall) -> Self {
        let args = call.argument.to_json().unwrap_or_else(|error| Json::String(format!("[no JSON form: {error}]")));
        Self {
            call: call.id.to_string(),
            name: call.name.clone(),
            args: Some(args),
            reasons: call.reasons.iter().map(ToString::to_string).collect(),
            effects: call.effects.names().collect(),
            allowed: call.allowed.clone(),
            status: call.status,
            rendered: if call.argument.is_undefined() { String::new() } else { call.argument.to_string() },
        }
    }

    fn text(&self) -> String {
        let arguments = guarded_block(&self.rendered, 2);
        let waits = match self.status {
            CallStatus::Outside => "waits for an answer from outside",
            CallStatus::Unknown => "was begun, but whether it was done is not known; waits for a person to say",
            _ => "waits for a person",
        };
        let mut text = format!("{} {}({arguments})\n  {waits}", self.call, shown_name(&self.name));
        if !self.reasons.is_empty() {
            text.push_str(": ");
            text.push_str(&guarded_line(&self.reasons.join("; ")));
        }
        text
    }
}

/// What the text says of a pause.
pub(super) fn pieces(pending: &[ReportPending], wake_at: Option<&str>) -> Vec<Piece> {
    let mut pieces = vec![Piece::whole(about(pending.len(), wake_at))];
    pieces.extend(pending.iter().map(|call| Piece::ends(call.text(), 1, "")));
    pieces
}

fn about(pending: usize, wake_at: Option<&str>) -> String {
    let (calls, them) = match pending {
        0 => {
            let until = wake_at
                .map_or_else(String::new, |at| format!(" until {} and goes on from here then", guarded_line(at)));
            return format!("The program is paused{until}. Do not run it again.");
        }
        1 => ("1 call waits".to_owned(), "this call"),
        _ => (format!("{pending} calls wait"), "these calls"),
    };
    let wakes = wake_at.map_or_else(String::new, |at| format!(", and at {} in any case", guarded_line(at)));
    format!(
        "The program is paused, not failed: {calls} for an answer, which you cannot give. Do not run the program or make \
         {them} again; it goes on from here once there is an answer{wakes}."
    )
}
