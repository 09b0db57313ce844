//! The session of the prompt, and the file that holds it.
//!
//! A program that waits and has a file is in it at every pause, unclaimed: somebody else may resume it meanwhile. Before
//! it goes on here the file is claimed as `resume` claims it, and only if it still holds this very pause. So of all who
//! have the pause, one goes on. An idle session has nothing to do once: its file is only read, and what was loaded from
//! it is a fork, whose idempotency keys are its own.

use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use chrysalid::{
    CallId, CallRecord, Decision, Engine, ErrorKind, EventSink, Outcome, ReportStatus, Restore, Session, TokioTimer,
};

use super::show::Lines;
use crate::arguments::ReplArguments;
use crate::claim::{self, Claim, Decided, Draft, Forwarded, Image, Record, SavedFile, Target};
use crate::console::Console;
use crate::drive::{hex, is_cancelled};
use crate::exit::Refusal;
use crate::guests;
use crate::host::session_options;
use crate::report::Form;
use crate::save::Keeping;
use crate::signals::Signals;
use crate::tools;

/// Signals after which a program that does not end takes the process along.
const LAST_SIGNAL: u32 = 3;

/// A session and what surrounds it.
pub(super) struct Live {
    pub(super) session: Session,
    console: Arc<Console>,
    file: Option<InFile>,
    /// The place in the claimed file, while the program goes on.
    keeping: Keeping,
    /// Programs that were started in it.
    programs: u32,
    pub(super) cpu_used: Duration,
    /// When the program that waits goes on by itself.
    pub(super) wake_at: Option<SystemTime>,
    /// Decisions that the program has not gone on with yet.
    pub(super) decided: Vec<(CallId, Decision)>,
    /// Who decides, as records name them.
    by: Option<String>,
}

/// What a file holds of this session.
struct InFile {
    path: PathBuf,
    image: Image,
    /// Whether a program waits in it.
    paused: bool,
}

/// How a program came back.
pub(super) struct CameBack {
    pub(super) outcome: Outcome,
    pub(super) notes: Vec<String>,
    /// Whether a signal interrupted it.
    pub(super) signalled: bool,
}

impl Live {
    /// A fresh session. The tools and the names of modules are read again.
    pub(super) fn fresh(arguments: &ReplArguments, engine: &Engine) -> Result<Self, Refusal> {
        let console = Console::new(Form::Text);
        let capabilities = tools::load(arguments.tools.as_deref(), &console)?;
        let modules = arguments.host.load_modules()?;
        let options = session_options(Arc::new(Lines(console.clone())) as Arc<dyn EventSink>, modules);
        let session = engine.session_with(&capabilities, options)?;
        Ok(Self::new(session, console, 0, arguments))
    }

    /// The session of a saved file, which is only read.
    pub(super) fn load(arguments: &ReplArguments, path: &Path) -> Result<Self, Refusal> {
        let contents = claim::read(path)?;
        if let Some(taken) = contents.taken(path) {
            return Err(taken);
        }
        let corrupt = || Refusal::of_kind(ErrorKind::Corrupt, "it holds no image").within(path);
        let image = contents.image.ok_or_else(corrupt)?;
        let within = |error: chrysalid::Error| Refusal::from(error).within(path);
        let console = Console::new(Form::Text);
        let capabilities = tools::load(arguments.tools.as_deref(), &console)?;
        let modules = arguments.host.load_modules()?;
        let engine = arguments.host.engine_for(&image.snapshot)?;
        let sealed = engine.inspect(&image.snapshot).map_err(within)?.sealed;
        let policy = sealed.as_ref().and_then(|sealed| sealed.policy.as_deref());
        if let Some(policy) = policy.filter(|_| arguments.host.policy.is_none()) {
            let message = format!("was saved under policy {policy}: begin the repl with --policy");
            return Err(Refusal::usage(message).within(path));
        }
        let (paused, programs) = sealed.map_or((true, 0), |sealed| (sealed.paused, sealed.programs));
        let restore = if paused { Restore::Resume } else { Restore::Fork };
        let options = session_options(Arc::new(Lines(console.clone())) as Arc<dyn EventSink>, modules);
        let session = engine.restore_with(&image.snapshot, &capabilities, restore, options).map_err(within)?;
        let wake_at = image.wake_at;
        let file = Some(InFile { path: path.to_owned(), image, paused });
        Ok(Self { file, wake_at, ..Self::new(session, console, programs, arguments) })
    }

    fn new(session: Session, console: Arc<Console>, programs: u32, arguments: &ReplArguments) -> Self {
        Self {
            session,
            console,
            file: None,
            keeping: Keeping::nowhere(),
            programs,
            cpu_used: Duration::ZERO,
            wake_at: None,
            decided: Vec::new(),
            by: arguments.who.name.clone(),
        }
    }

    /// Whether a program waits.
    pub(super) fn is_waiting(&self) -> bool {
        self.session.program_source().is_some()
    }

    /// The file that holds the program that waits.
    pub(super) fn held_by(&self) -> Option<&Path> {
        self.file.as_ref().filter(|file| file.paused && self.is_waiting()).map(|file| file.path.as_path())
    }

    /// Calls of the last program.
    pub(super) fn calls(&self) -> Vec<CallRecord> {
        let mut calls = self.session.calls();
        calls.retain(|call| call.id.program == self.programs);
        calls
    }

    /// Begins a program; nothing of it runs yet.
    pub(super) fn start(&mut self, source: &str) -> Result<(), Refusal> {
        self.session.start(source)?;
        self.programs += 1;
        self.cpu_used = Duration::ZERO;
        Ok(())
    }

    /// Goes on with the program, claiming the file that holds it. The first signal interrupts it.
    pub(super) async fn go_on(&mut self, signals: &mut Signals) -> Result<CameBack, Refusal> {
        self.claim()?;
        let began = thread_time();
        let run = self.run(signals).await;
        self.cpu_used += thread_time().saturating_sub(began);
        let (outcome, signalled) = run?;
        let notes = self.keep(&outcome)?;
        Ok(CameBack { outcome, notes, signalled })
    }

    /// Ends the program that waits. Nothing of it runs, so the file that holds it stays as it is.
    pub(super) async fn cancel(&mut self, signals: &mut Signals) -> Result<CameBack, Refusal> {
        let held_by = self.held_by().map(|path| format!("{} still holds the program", path.display()));
        self.file = None;
        self.decided.clear();
        self.session.interrupt_handle().interrupt();
        let mut came_back = self.go_on(signals).await?;
        came_back.notes.extend(held_by);
        Ok(came_back)
    }

    async fn run(&mut self, signals: &mut Signals) -> Result<(Outcome, bool), Refusal> {
        let interrupt = self.session.interrupt_handle();
        let mut resumed = pin!(self.session.resume(&TokioTimer));
        let mut received = 0;
        loop {
            tokio::select! {
                // First, because Ctrl-C may also have hit a command that had only just begun.
                biased;
                () = signals.received() => {
                    received += 1;
                    if received == LAST_SIGNAL {
                        std::process::exit(130);
                    }
                    interrupt.interrupt();
                }
                outcome = &mut resumed => return Ok((outcome?, received > 0)),
            }
        }
    }

    fn claim(&mut self) -> Result<(), Refusal> {
        let decided = std::mem::take(&mut self.decided);
        let Some(file) = self.file.take_if(|file| file.paused) else { return Ok(()) };
        match self.claim_file(&file, &decided) {
            Ok(()) => Ok(()),
            Err(refusal) => {
                (self.file, self.decided) = (Some(file), decided);
                Err(refusal)
            }
        }
    }

    fn claim_file(&mut self, file: &InFile, decided: &[(CallId, Decision)]) -> Result<(), Refusal> {
        let mut saved = file.open()?;
        saved.give_records()?;
        self.keeping = Keeping::claimed(&file.path, None)?;
        let claim = Claim {
            run: hex(&self.session.id()),
            fork: false,
            decisions: decided
                .iter()
                .map(|(call, decision)| Decided::new(*call, decision, self.by.as_deref()))
                .collect(),
            save: None,
        };
        self.console.journal(saved.claim(claim).inspect_err(|_| self.keeping = Keeping::nowhere())?);
        Ok(())
    }

    /// Writes the next pause or the end into the file that was claimed.
    fn keep(&mut self, outcome: &Outcome) -> Result<Vec<String>, Refusal> {
        let mut notes: Vec<String> = self.console.trouble().into_iter().collect();
        let keeping = std::mem::take(&mut self.keeping);
        let run = hex(&self.session.id());
        match outcome {
            Outcome::Paused(pause) => {
                self.wake_at = pause.wake_at;
                if keeping.keeps_pauses() {
                    guests::keep(self.session.guest());
                    let image = Image { wake_at: pause.wake_at, snapshot: self.session.snapshot()? };
                    if let Some(path) = keeping.paused(&run, image.clone())? {
                        self.file = Some(InFile { path, image, paused: true });
                    }
                }
            }
            // As `resume` leaves it, so that it can be forked from its last pause.
            Outcome::Done(ended) | Outcome::Failed(ended) if is_cancelled(ended) => {
                if keeping.keeps_pauses() {
                    notes.push(
                        "the pause before is still in the file: `chrysalid resume --fork` goes on from it".into(),
                    );
                }
            }
            Outcome::Done(ended) | Outcome::Failed(ended) => {
                let status = if ended.result.is_ok() { ReportStatus::Done } else { ReportStatus::Failed };
                if let Err(refusal) = keeping.ended(&run, status.name()) {
                    notes.push(format!("the file does not say that the run ended: {refusal}"));
                }
            }
        }
        self.console.close_journal();
        Ok(notes)
    }

    /// Saves the session, idle or waiting. From then on the file is the place of what waits; one that held it before says
    /// so.
    pub(super) fn save(&mut self, path: &Path) -> Result<(), Refusal> {
        let paused = self.is_waiting();
        let image = Image { wake_at: self.wake_at.filter(|_| paused), snapshot: self.session.snapshot()? };
        guests::keep(self.session.guest());
        let records = [Record::Image(image.clone())];
        match &self.file {
            Some(file) if same_file(&file.path, path) => {
                let _locked = file.open()?;
                Draft::reserve(path, Target::Own)?.publish(&records)?;
            }
            Some(file) if file.paused => {
                let _locked = file.open()?;
                let old = Draft::reserve(&file.path, Target::Own)?;
                // First the new file, then the word in the old one: a crash between them loses nothing.
                Draft::reserve(path, Target::Named)?.publish(&records)?;
                let to = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
                let to = to.display().to_string();
                old.publish(&[Record::Forwarded(Forwarded { run: hex(&self.session.id()), to })])?;
            }
            _ => drop(Draft::reserve(path, Target::Named)?.publish(&records)?),
        }
        self.file = Some(InFile { path: path.to_owned(), image, paused });
        Ok(())
    }
}

impl InFile {
    /// The file, locked, if it still holds what this session put there or read from it.
    fn open(&self) -> Result<SavedFile, Refusal> {
        let saved = SavedFile::open(&self.path)?;
        match saved.contents.taken(&self.path) {
            Some(taken) => Err(taken),
            None if saved.contents.image.as_ref() == Some(&self.image) => Ok(saved),
            None => {
                let message = "was changed meanwhile, and holds something else";
                Err(Refusal::of_kind(ErrorKind::AlreadyDecided, message).within(&self.path))
            }
        }
    }
}

/// CPU time of this thread, on which programs run.
fn thread_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    Duration::from_secs(seconds) + Duration::from_nanos(u64::try_from(time.tv_nsec).unwrap_or_default())
}

fn same_file(one: &Path, other: &Path) -> bool {
    matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}
