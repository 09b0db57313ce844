//! Runs a session to its end or to a pause that somebody else has to end, and keeps what comes of it.

use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::time::SystemTime;

use chrysalid::{Outcome, Pause, Session, TokioTimer};

use crate::claim::Image;
use crate::console::Console;
use crate::exit::Refusal;
use crate::guests;
use crate::prompt::{Answer, Terminal};
use crate::report::{CallReport, LineReport, Report, Status};
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
    pub(crate) async fn finish(mut self) -> Report {
        let outcome = self.outcome().await;
        let run = hex(&self.session.id());
        let notes = std::mem::take(&mut self.notes);
        let console = self.console.clone();
        let mut report = match outcome {
            Ok(outcome) => self.keep(&run, outcome).unwrap_or_else(Report::refused),
            Err(refusal) => Report::refused(refusal),
        };
        report.run = Some(run);
        report.logs = console.lines().iter().map(LineReport::from).collect();
        report.notes.splice(0..0, notes);
        report.notes.extend(console.trouble());
        console.close_journal();
        report
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
                continue;
            }
            let Some(terminal) = &self.terminal else { return Ok(Outcome::Paused(pause)) };
            if terminal.decide(&mut self.session, &mut self.signals).await == Answer::Quit {
                return Ok(Outcome::Paused(pause));
            }
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

    fn keep(mut self, run: &str, outcome: Outcome) -> Result<Report, Refusal> {
        match outcome {
            Outcome::Paused(pause) => self.keep_pause(run, &pause),
            // A claimed file is left as it is, so that an interrupted run can be forked from its last pause.
            Outcome::Done(ended) | Outcome::Failed(ended) if Report::is_cancelled(&ended) => {
                let mut report = Report::ended(ended);
                if self.keeping.keeps_pauses() && self.console.close_journal().is_some() {
                    report.notes.push("the pause before is still in the file: go on from it with --fork".to_owned());
                }
                Ok(report)
            }
            Outcome::Done(ended) | Outcome::Failed(ended) => {
                let status = if ended.result.is_ok() { Status::Done } else { Status::Failed };
                let mut report = Report::ended(ended);
                if let Err(refusal) = self.keeping.ended(run, status.name()) {
                    report.notes.push(format!("the file does not say that the run ended: {refusal}"));
                }
                Ok(report)
            }
        }
    }

    fn keep_pause(&mut self, run: &str, pause: &Pause) -> Result<Report, Refusal> {
        let calls: Vec<CallReport> = self.session.calls().into_iter().map(Into::into).collect();
        let saved = self.save(run, pause).map_err(|refusal| refusal.with_calls(calls.clone()))?;
        let mut report = Report::paused(&pause.pending, pause.wake_at, saved.as_deref());
        report.calls = calls;
        Ok(report)
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

/// Bytes as lower-case hexadecimal text.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let halves = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    halves.filter_map(|half| char::from_digit(u32::from(half), 16)).collect()
}
