//! Runs a session to its end or to a pause that somebody else has to end, and keeps what comes of it.

use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::time::SystemTime;

use chrysalid::{Ended, FailureKind, Outcome, Pause, Session, TokioTimer};

use crate::claim::Image;
use crate::console::Console;
use crate::exit::Refusal;
use crate::guests;
use crate::prompt::{Answer, Terminal};
use crate::report::Document;
use crate::save::Keeping;
use crate::signals::Signals;

/// A session that is about to go on, and everything around it.
pub(crate) struct Drive {
    pub(crate) session: Session,
    pub(crate) console: Arc<Console>,
    pub(crate) keeping: Keeping,
    /// Somebody to ask, where a pause is not kept.
    pub(crate) terminal: Option<Terminal>,
    pub(crate) signals: Signals,
    /// Notes that stand in the report before all others.
    pub(crate) notes: Vec<String>,
}

impl Drive {
    /// Goes on with the program that was started or restored.
    pub(crate) async fn finish(mut self) -> Document {
        let outcome = self.outcome().await;
        let run = hex(&self.session.id());
        let notes = std::mem::take(&mut self.notes);
        let console = self.console.clone();
        let mut document = match outcome {
            Ok(outcome) => self.keep(&run, &outcome).unwrap_or_else(Document::refused),
            Err(refusal) => Document::refused(refusal),
        };
        let report = &mut document.report;
        report.run = Some(run);
        report.logs = console.lines();
        report.notes.splice(0..0, notes);
        report.notes.extend(console.trouble());
        console.close_journal();
        document
    }

    async fn outcome(&mut self) -> Result<Outcome, Refusal> {
        loop {
            let pause = match self.go_on().await? {
                Outcome::Paused(pause) => pause,
                ended => return Ok(ended),
            };
            if self.keeping.keeps_pauses() {
                return Ok(Outcome::Paused(pause));
            }
            if let ([], Some(at)) = (pause.pending.as_slice(), pause.wake_at) {
                self.wait(at).await;
            } else {
                let Some(terminal) = &self.terminal else { return Ok(Outcome::Paused(pause)) };
                if terminal.decide(&mut self.session, &mut self.signals).await == Answer::Quit {
                    return Ok(Outcome::Paused(pause));
                }
            }
            // Each note is handed over once.
            self.notes.extend(pause.notes);
        }
    }

    /// Lets the session run. A first signal interrupts the program; at the second the process ends.
    async fn go_on(&mut self) -> Result<Outcome, Refusal> {
        let interrupt = self.session.interrupt_handle();
        let mut resumed = pin!(self.session.resume(&TokioTimer));
        let mut signalled = false;
        loop {
            tokio::select! {
                outcome = &mut resumed => return Ok(outcome?),
                () = self.signals.received() => {
                    if signalled {
                        std::process::exit(130);
                    }
                    signalled = true;
                    interrupt.interrupt();
                }
            }
        }
    }

    /// A run that is not kept sits out its late timers.
    async fn wait(&mut self, until: SystemTime) {
        let left = until.duration_since(SystemTime::now()).unwrap_or_default();
        tokio::select! {
            () = tokio::time::sleep(left) => {}
            () = self.signals.received() => self.session.interrupt_handle().interrupt(),
        }
    }

    fn keep(mut self, run: &str, outcome: &Outcome) -> Result<Document, Refusal> {
        let mut document = Document::of(outcome);
        match outcome {
            Outcome::Paused(pause) => {
                let calls = document.report.calls.clone();
                let saved = self.save(run, pause).map_err(|refusal| refusal.with_calls(calls))?;
                document = document.saved_in(saved.as_deref());
            }
            // A claimed file is left as it is, so that an interrupted run can be forked from its last pause.
            Outcome::Done(ended) | Outcome::Failed(ended) if is_cancelled(ended) => {
                if self.keeping.keeps_pauses() && self.console.close_journal().is_some() {
                    let note = "the pause before is still in the file: go on from it with --fork";
                    document.report.notes.push(note.to_owned());
                }
            }
            Outcome::Done(_) | Outcome::Failed(_) => {
                if let Err(refusal) = self.keeping.ended(run, document.report.status.name()) {
                    document.report.notes.push(format!("the file does not say that the run ended: {refusal}"));
                }
            }
        }
        Ok(document)
    }

    fn save(&mut self, run: &str, pause: &Pause) -> Result<Option<PathBuf>, Refusal> {
        let keeping = std::mem::take(&mut self.keeping);
        if !keeping.keeps_pauses() {
            return Ok(None);
        }
        guests::keep(self.session.guest());
        keeping.paused(run, Image { wake_at: pause.wake_at, snapshot: self.session.snapshot()? })
    }
}

/// Whether a program was interrupted from outside.
pub(crate) fn is_cancelled(ended: &Ended) -> bool {
    matches!(&ended.result, Err(failure) if failure.kind == FailureKind::Cancelled)
}

/// Bytes as lower-case hexadecimal text.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let halves = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    halves.filter_map(|half| char::from_digit(u32::from(half), 16)).collect()
}
