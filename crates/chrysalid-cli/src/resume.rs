//! `chrysalid resume`: goes on with a saved program, once.
//!
//! The order is what keeps effects from happening twice: lock the file, restore, check every decision, take the places
//! that will be written, claim, and only then let the session step. Nothing before the claim changes what the file says.

use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use chrysalid::{
    Budget, Capabilities, Cost, Effects, Engine, ErrorKind, EventSink, Ledger, Outcome, Restore, Session, Verdict,
};

use crate::arguments::{Decided as Given, ResumeArguments};
use crate::claim::{Claim, Decided, Draft, Image, Journal, Record, SavedFile, Target};
use crate::console::Console;
use crate::drive::{Drive, hex};
use crate::exit::Refusal;
use crate::host::{PARK_AFTER, session_options};
use crate::look::look;
use crate::prompt::Terminal;
use crate::report::{Document, Form};
use crate::save::Keeping;
use crate::signals::Signals;
use crate::tools;

/// Goes on with a saved program until it ends or pauses again.
pub(crate) async fn resume(arguments: &ResumeArguments) -> Result<Document, Refusal> {
    let form = Form::of(arguments.json);
    let console = Console::new(form);
    let capabilities = tools::load(arguments.tools.as_deref(), &console)?;
    let modules = arguments.host.load_modules()?;
    let saved = SavedFile::open(&arguments.file)?;
    let image = check_state(arguments, &saved)?;
    let engine = arguments.host.engine_for(&image.snapshot)?;
    let restore = if arguments.fork { Restore::Fork } else { Restore::Resume };
    let within = |error: chrysalid::Error| Refusal::from(error).within(&arguments.file);
    let mut options = session_options(console.clone() as Arc<dyn EventSink>, modules);
    let sealed = engine.inspect(&image.snapshot).map_err(within)?.sealed;
    let other_policy = check_policy(arguments, sealed.as_ref().and_then(|sealed| sealed.policy.as_deref()))?;
    options.ledger = sealed.map(|sealed| ledger(sealed.ledger, &saved));
    arguments.given.open_audit(&mut options)?;
    let mut session = engine.restore_with(&image.snapshot, &capabilities, restore, options).map_err(within)?;
    if session.is_idle() {
        return Err(Refusal::of_kind(ErrorKind::NotRunning, "no program waits in it").within(&arguments.file));
    }
    for decided in &arguments.decisions.0 {
        session.decide_with(verdict(arguments, &session, decided)?).map_err(within)?;
    }
    if let Some(mut unchanged) = unchanged(arguments, &engine, &image, &capabilities).map_err(within)? {
        unchanged.report.run = Some(hex(&session.id()));
        return Ok(unchanged);
    }
    // Only from here on is there something to end in order; before, a signal ends the process as usual.
    let signals = Signals::listen();
    let notes = unknown_calls(&saved).into_iter().chain(other_policy).collect();
    let (keeping, journal) = claim(arguments, saved, &image, &session)?;
    if let Some(journal) = journal {
        console.journal(journal);
    }
    arguments.given.give_grants(&mut session)?;
    if let Some(calls) = arguments.more_calls {
        let more = Budget { calls: Some(calls), ..Budget::default() };
        session.raise_budget(&more, &arguments.given.who.reviewer()).map_err(within)?;
    }
    let terminal = if form == Form::Text { Terminal::open(arguments.given.who.reviewer()) } else { None };
    Ok(Drive { session, console, keeping, terminal, signals, notes }.finish().await)
}

/// A decision as the library takes it. What was shown is compared by how its token begins.
fn verdict(arguments: &ResumeArguments, session: &Session, decided: &Given) -> Result<Verdict, Refusal> {
    let verdict = Verdict::new(decided.call, decided.decision.clone()).by(arguments.given.who.reviewer());
    let Some(begins) = &decided.token else { return Ok(verdict) };
    let pending = session.pending();
    let token = pending.iter().find(|call| call.id == decided.call).map(|call| call.token);
    if let Some(token) = token.filter(|token| hex(token).starts_with(begins)) {
        return Ok(verdict.token(token));
    }
    let message = format!("no call {} with the token {begins}", decided.call);
    Err(Refusal::of_kind(ErrorKind::UnknownCall, message).within(&arguments.file))
}

/// A policy is not part of a saved file, and must not be lost by being forgotten. What to say if it is another one now.
fn check_policy(arguments: &ResumeArguments, saved: Option<&str>) -> Result<Option<String>, Refusal> {
    let Some(saved) = saved else { return Ok(None) };
    if arguments.host.policy.is_none() && !arguments.without_policy {
        let message = format!("was saved under policy {saved}: give it with --policy, or say --without-policy");
        return Err(Refusal::usage(message).within(&arguments.file));
    }
    let now = arguments.host.rules()?;
    let note = match arguments.host.policy {
        None => format!("it was saved under policy {saved} and goes on without one"),
        Some(_) => format!("it was saved under policy {saved} and goes on under {}", now.version()),
    };
    Ok(Some(note).filter(|_| now.version() != saved))
}

/// What the run has met and used since the image, as the journal of a process that crashed tells.
fn ledger(mut ledger: Ledger, saved: &SavedFile) -> Ledger {
    for made in &saved.contents.claims {
        for met in &made.met {
            if let Some(effect) = Effects::from_name(&met.effect) {
                ledger.taint.join(effect, &met.by);
            }
        }
        for call in &made.calls {
            ledger.spent.spend(&Cost { call: Some(&call.name), ..Cost::default() });
        }
    }
    ledger
}

/// The image to go on from, if the file still has one for this.
fn check_state(arguments: &ResumeArguments, saved: &SavedFile) -> Result<Image, Refusal> {
    let taken = saved.contents.taken(&arguments.file);
    match (saved.contents.image.clone(), taken) {
        (Some(image), None) => Ok(image),
        (Some(image), Some(_)) if arguments.fork => Ok(image),
        (_, Some(taken)) => Err(taken),
        (None, None) => Err(Refusal::of_kind(ErrorKind::Corrupt, "it holds no image").within(&arguments.file)),
    }
}

/// The pause as it was, if the program would wait just as before. The file is untouched.
fn unchanged(
    arguments: &ResumeArguments,
    engine: &Engine,
    image: &Image,
    capabilities: &Capabilities,
) -> chrysalid::Result<Option<Document>> {
    let gives = !arguments.given.grants.is_empty() || arguments.more_calls.is_some();
    if arguments.fork || gives || !arguments.decisions.0.is_empty() {
        return Ok(None);
    }
    let Some(pause) = look(engine, &image.snapshot, capabilities, arguments.host.limits())? else { return Ok(None) };
    let now = SystemTime::now();
    let has_expired = pause.pending.iter().filter_map(|call| call.expires_at).any(|at| at <= now);
    let waits = match pause.wake_at {
        _ if has_expired => false,
        Some(at) => at > now + PARK_AFTER,
        None => !pause.pending.is_empty(),
    };
    Ok(waits.then(|| Document::of(&Outcome::Paused(pause)).saved_in(Some(&arguments.file))))
}

/// What whoever forks after a crash must know.
fn unknown_calls(saved: &SavedFile) -> Vec<String> {
    let unknown = saved.contents.unknown_calls().into_iter();
    unknown.map(|call| format!("call {call} was begun before, and may have been done")).collect()
}

/// Takes every place that will be written, then claims the file of this run, if it has one.
fn claim(
    arguments: &ResumeArguments,
    mut saved: SavedFile,
    image: &Image,
    session: &Session,
) -> Result<(Keeping, Option<Journal>), Refusal> {
    let file = arguments.file.as_path();
    let elsewhere = arguments.save.as_deref().filter(|save| !same_file(save, file));
    let claim = Claim {
        run: hex(&session.id()),
        fork: arguments.fork,
        decisions: arguments
            .decisions
            .0
            .iter()
            .map(|decided| Decided::new(decided.call, &decided.decision, arguments.given.who.name.as_deref()))
            .collect(),
        save: elsewhere.map(|save| save.display().to_string()),
    };
    if !arguments.fork {
        saved.give_records()?;
        let keeping = Keeping::claimed(file, elsewhere)?;
        return Ok((keeping, Some(saved.claim(claim)?)));
    }
    match elsewhere {
        // The fork gets a file of its own, claimed from its first moment.
        Some(path) => {
            let records = [Record::Image(image.clone()), Record::Claimed(Claim { save: None, ..claim })];
            let published = Draft::reserve(path, Target::Named)?.publish(&records)?;
            let journal = Journal::behind(published).map_err(|error| Refusal::unwritable(path, &error))?;
            Ok((Keeping::claimed(path, None)?, Some(journal)))
        }
        // After a crash the fork takes the place of the original.
        None if !saved.contents.claims.is_empty() => {
            let keeping = Keeping::claimed(file, None)?;
            Ok((keeping, Some(saved.claim(claim)?)))
        }
        None => Ok((Keeping::nowhere(), None)),
    }
}

fn same_file(one: &Path, other: &Path) -> bool {
    matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}
