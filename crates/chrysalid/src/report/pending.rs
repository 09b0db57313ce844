//! Calls that wait, and what a model should know about a pause.

use chrysalid_policy::{Brought, DecisionKind};
use serde::Serialize;
use serde_json::Value as Json;

use super::calls::shown_name;
use super::guard::{guarded_block, guarded_line};
use super::room::Piece;
use super::time_text;
use crate::call::{CallStatus, PendingCall};
use crate::key::hex;
use crate::value::Value;

/// A call that waits.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ReportPending {
    /// Its id, such as `1.2`.
    pub call: String,
    /// Name of its tool.
    pub name: String,
    /// How the program reaches it, such as `tools.mail.send`.
    pub path: String,
    /// Where in the program the call was made, if that is known.
    pub line: Option<u32>,
    /// In code points, counted from 1.
    pub column: Option<u32>,
    /// The module or earlier program that the place is in; absent for this program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Its argument exactly as it would run, or a text that says why it has no JSON form, or the beginning of one that has
    /// more than 64 KiB. A surface that must not show values takes it out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub args: Option<Json>,
    /// How many bytes of JSON the argument is, where `args` is only the beginning of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub args_cut: Option<usize>,
    /// SHA-256 of the canonical argument, in hex.
    pub digest: String,
    /// What a decision is bound to: this run, call, tool and argument, in hex.
    pub token: String,
    /// SHA-256 of the program, in hex.
    pub program: String,
    /// Why a person is asked.
    pub reasons: Vec<String>,
    /// What the call does: `private`, `untrusted`, `acts`.
    pub effects: Vec<&'static str>,
    /// What the session has met: `[{"effect", "by"}]`.
    pub met: Vec<ReportMet>,
    /// Version of the policy that asked, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// Roles that whoever decides must have, every one.
    pub roles: Vec<String>,
    /// Until when the call waits: ISO 8601 in UTC.
    pub expires_at: Option<String>,
    /// Decisions that are accepted.
    pub allowed: Vec<DecisionKind>,
    /// What it waits for. Not part of the JSON form, where [`super::Report::calls`] has it.
    #[serde(skip)]
    pub status: CallStatus,
    /// Its argument as JavaScript, bounded in depth, width and length; empty for `undefined`. Not part of the JSON form.
    #[serde(skip)]
    pub rendered: String,
}

/// An effect that the session has met.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ReportMet {
    /// `private`, `untrusted` or `acts`.
    pub effect: String,
    /// The call that brought it first, such as `budget.read (call 1.2, line 4)`.
    pub by: String,
}

/// Largest JSON of an argument that is shown as it is, in bytes.
const ARGS: usize = 64 << 10;

/// The argument as JSON, and how long it is if that is only its beginning.
fn args_of(argument: &Value) -> (Json, Option<usize>) {
    let json = argument.to_json().unwrap_or_else(|error| Json::String(format!("[no JSON form: {error}]")));
    let text = json.to_string();
    if text.len() <= ARGS {
        return (json, None);
    }
    let shown = text.get(..text.floor_char_boundary(ARGS)).unwrap_or_default();
    (Json::String(format!("{shown}[cut: {} bytes more]", text.len() - shown.len())), Some(text.len()))
}

impl From<&PendingCall> for ReportPending {
    fn from(call: &PendingCall) -> Self {
        let (args, args_cut) = args_of(&call.argument);
        let met = |met: &Brought| ReportMet { effect: met.effect.to_string(), by: met.by.clone() };
        Self {
            call: call.id.to_string(),
            name: call.name.clone(),
            path: call.path.clone(),
            line: call.place.as_ref().map(|place| place.line),
            column: call.place.as_ref().map(|place| place.column),
            file: call.place.as_ref().and_then(|place| place.file.clone()),
            args: Some(args),
            args_cut,
            digest: hex(&call.digest),
            token: hex(&call.token),
            program: hex(&call.program),
            met: call.met.iter().map(met).collect(),
            policy: call.policy.clone(),
            roles: call.roles.clone(),
            expires_at: call.expires_at.and_then(time_text),
            reasons: call.reasons.iter().map(ToString::to_string).collect(),
            effects: call.effects.names().collect(),
            allowed: call.allowed.clone(),
            status: call.status,
            rendered: if call.argument.is_undefined() { String::new() } else { call.argument.to_string() },
        }
    }
}

impl ReportPending {
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
