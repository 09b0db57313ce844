//! Decisions about calls that wait, at the terminal or from whatever gives lines: each call is shown with its arguments,
//! and somebody approves, rejects, answers or edits it, or quits.

use std::io::{BufRead, IsTerminal, Write};

use chrysalid::{CallId, Decision, DecisionKind, PendingCall, ReportPending, Reviewer, Session, Value, Verdict};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::Timespec;

use crate::json;
use crate::report::printable;
use crate::report::text::pending_in_full;
use crate::signals::Signals;

/// Most lines that are dropped at one time; a terminal keeps fewer.
const MAX_TYPED: usize = 4096;

/// Where the words of somebody who decides come from.
pub(crate) trait Answers {
    /// The line that answers a question; nothing at the end of input, or when somebody wants to stop.
    async fn line(&mut self, question: &str) -> Option<String>;

    /// Forgets what was typed before a question was shown: it cannot have been meant for it.
    fn forget(&mut self);

    /// Whether a word that is no answer is asked about again. Else it is as if somebody quit.
    fn asks_again(&self) -> bool {
        true
    }
}

/// A person at this process's terminal.
pub(crate) struct Terminal(Reviewer);

/// What came of asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Decided,
    Quit,
}

impl Terminal {
    /// The terminal, if there is somebody to ask: stdin to read from, and stderr to write to. `reviewer` is who sits there.
    pub(crate) fn open(reviewer: Reviewer) -> Option<Self> {
        (std::io::stdin().is_terminal() && std::io::stderr().is_terminal()).then_some(Self(reviewer))
    }

    /// Asks about every call that waits.
    pub(crate) async fn decide(&self, session: &mut Session, signals: &mut Signals) -> Answer {
        decide(session, &mut AtTerminal(signals), &self.0, |_, _| {}).await
    }
}

/// Asks about every call that waits. Each decision that the session took is told to `taken`.
pub(crate) async fn decide(
    session: &mut Session,
    answers: &mut impl Answers,
    reviewer: &Reviewer,
    mut taken: impl FnMut(CallId, &Decision),
) -> Answer {
    let waiting: Vec<PendingCall> = session.pending().into_iter().filter(|call| !call.decided).collect();
    for call in waiting {
        answers.forget();
        show(&call);
        loop {
            let Some(decision) = ask(&call, answers).await else { return Answer::Quit };
            match session.decide_with(Verdict::of(&call, decision.clone()).by(reviewer.clone())) {
                Ok(()) => {
                    taken(call.id, &decision);
                    break;
                }
                Err(error) => say(&format!("{error}\n")),
            }
        }
    }
    Answer::Decided
}

/// One decision; nothing when somebody quits.
async fn ask(call: &PendingCall, answers: &mut impl Answers) -> Option<Decision> {
    loop {
        let word = answers.line(&format!("{} / quit? ", choices(call))).await?;
        let kind = match word.trim() {
            "q" | "quit" => return None,
            "a" | "approve" | "y" | "yes" => Some(DecisionKind::Approve),
            "r" | "reject" | "n" | "no" => Some(DecisionKind::Reject),
            "s" | "respond" => Some(DecisionKind::Respond),
            "e" | "edit" => Some(DecisionKind::Edit),
            _ => None,
        };
        let Some(kind) = kind.filter(|kind| call.allowed.contains(kind)) else {
            if answers.asks_again() {
                continue;
            }
            say(&format!("{:?} is none of: {} / quit\n", word.trim(), choices(call)));
            return None;
        };
        return Some(match kind {
            DecisionKind::Approve => Decision::Approve,
            DecisionKind::Reject => {
                let reason = answers.line("reason, or nothing: ").await?;
                Decision::Reject(Some(reason.trim().to_owned()).filter(|reason| !reason.is_empty()))
            }
            DecisionKind::Respond => Decision::Respond(value("answer in its place, as JSON: ", answers).await?),
            DecisionKind::Edit => Decision::Edit(value("arguments in their place, as JSON: ", answers).await?),
        });
    }
}

async fn value(question: &str, answers: &mut impl Answers) -> Option<Value> {
    loop {
        let json = answers.line(question).await?;
        match json::value(json.trim().as_bytes()) {
            Ok(value) => return Some(value),
            Err(error) => {
                say(&format!("not one JSON value: {error}\n"));
                if !answers.asks_again() {
                    return None;
                }
            }
        }
    }
}

/// Lines of stdin, until the process is asked to end.
struct AtTerminal<'s>(&'s mut Signals);

impl Answers for AtTerminal<'_> {
    fn forget(&mut self) {
        forget_typed_lines();
    }

    async fn line(&mut self, question: &str) -> Option<String> {
        say(question);
        let read = tokio::task::spawn_blocking(|| {
            let mut line = String::new();
            match std::io::stdin().lock().read_line(&mut line) {
                Ok(1..) => Some(line),
                _ => None,
            }
        });
        tokio::select! {
            line = read => line.ok().flatten(),
            () = self.0.received() => None,
        }
    }
}

/// Drops the lines that were typed at the terminal and that nobody has read.
pub(crate) fn forget_typed_lines() {
    let stdin = std::io::stdin();
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    for _ in 0..MAX_TYPED {
        let mut polled = [PollFd::new(&stdin, PollFlags::IN)];
        let is_there = poll(&mut polled, Some(&at_once)) == Ok(1);
        if !is_there || !matches!(rustix::io::read(&stdin, &mut [0; 4096]), Ok(1..)) {
            return;
        }
    }
}

fn choices(call: &PendingCall) -> String {
    call.allowed.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(" / ")
}

fn show(call: &PendingCall) {
    say(&format!("\nthe program waits for a decision\n{}", pending_in_full(&ReportPending::from(call))));
}

fn say(text: &str) {
    let _ = write!(std::io::stderr(), "{}", printable(text));
}
