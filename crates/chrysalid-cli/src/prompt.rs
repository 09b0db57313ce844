//! Decisions at the terminal, for a run that is not saved: each waiting call is shown with its arguments, and somebody
//! approves, rejects, answers or edits it, or quits.

use std::io::{BufRead, IsTerminal, Write};

use chrysalid::{Decision, DecisionKind, PendingCall, Session, Value};

use crate::report::{PendingReport, Values, arguments, decision_name, printable};
use crate::signals::Signals;

/// A person at this process's terminal.
pub(crate) struct Terminal(());

/// What came of asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Decided,
    Quit,
}

impl Terminal {
    /// The terminal, if there is somebody to ask: stdin to read from, and stderr to write to.
    pub(crate) fn open() -> Option<Self> {
        (std::io::stdin().is_terminal() && std::io::stderr().is_terminal()).then_some(Self(()))
    }

    /// Asks about every call that waits.
    pub(crate) async fn decide(&self, session: &mut Session, signals: &mut Signals) -> Answer {
        let waiting: Vec<PendingCall> = session.pending().into_iter().filter(|call| !call.decided).collect();
        for call in waiting {
            show(&call);
            loop {
                let Some(decision) = ask(&call, signals).await else { return Answer::Quit };
                match session.decide(call.id, decision) {
                    Ok(()) => break,
                    Err(error) => say(&format!("{error}\n")),
                }
            }
        }
        Answer::Decided
    }
}

/// One decision; nothing when somebody quits.
async fn ask(call: &PendingCall, signals: &mut Signals) -> Option<Decision> {
    loop {
        say(&format!("{} / quit? ", choices(call)));
        let word = line(signals).await?;
        let kind = match word.trim() {
            "q" | "quit" => return None,
            "a" | "approve" | "y" | "yes" => DecisionKind::Approve,
            "r" | "reject" | "n" | "no" => DecisionKind::Reject,
            "s" | "respond" => DecisionKind::Respond,
            "e" | "edit" => DecisionKind::Edit,
            _ => continue,
        };
        if !call.allowed.contains(&kind) {
            continue;
        }
        return Some(match kind {
            DecisionKind::Approve => Decision::Approve,
            DecisionKind::Reject => {
                say("reason, or nothing: ");
                let reason = line(signals).await?;
                Decision::Reject(Some(reason.trim().to_owned()).filter(|reason| !reason.is_empty()))
            }
            DecisionKind::Respond => Decision::Respond(value("answer in its place, as JSON: ", signals).await?),
            DecisionKind::Edit => Decision::Edit(value("arguments in their place, as JSON: ", signals).await?),
        });
    }
}

async fn value(question: &str, signals: &mut Signals) -> Option<Value> {
    loop {
        say(question);
        let json = line(signals).await?;
        let value = serde_json::from_str(json.trim())
            .map_err(|error| error.to_string())
            .and_then(|json| Value::from_json(json).map_err(|error| error.to_string()));
        match value {
            Ok(value) => return Some(value),
            Err(error) => say(&format!("not one JSON value: {error}\n")),
        }
    }
}

/// A line of stdin; nothing at its end, or when the process is asked to end.
async fn line(signals: &mut Signals) -> Option<String> {
    let read = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        match std::io::stdin().lock().read_line(&mut line) {
            Ok(1..) => Some(line),
            _ => None,
        }
    });
    tokio::select! {
        line = read => line.ok().flatten(),
        () = signals.received() => None,
    }
}

fn choices(call: &PendingCall) -> String {
    call.allowed.iter().map(|kind| decision_name(*kind)).collect::<Vec<_>>().join(" / ")
}

fn show(call: &PendingCall) {
    let json = serde_json::to_string_pretty(&arguments(call)).unwrap_or_default();
    say(&format!("\nthe program waits for a decision\n{}{json}\n", PendingReport::new(call, Values::Hidden)));
}

fn say(text: &str) {
    let _ = write!(std::io::stderr(), "{}", printable(text));
}
