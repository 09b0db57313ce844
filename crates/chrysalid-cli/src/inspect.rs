//! `chrysalid inspect`: what a saved file says, without changing or locking it. Without the key, the clear fields.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use chrysalid::{
    Capabilities, Capability, Engine, Inspection, Limits, Outcome, Reason, Report, ReportCall, ReportPending, Rules,
    SealedInspection,
};
use serde::Serialize;

use crate::arguments::InspectArguments;
use crate::claim::{self, Claim, Contents, Ended, Forwarded, Image};
use crate::drive::hex;
use crate::exit::{Exit, Refusal};
use crate::guests;
use crate::host::{KeyUse, engine, find_key};
use crate::look::look;
use crate::report::text::pending_text;
use crate::report::{Form, print_json, printable, time_text};

/// Most memory of an image that is opened to be looked at.
const MAX_MEMORY: usize = 2 << 30;

/// The document.
#[derive(Debug, Serialize)]
pub(crate) struct Inspected {
    file: String,
    /// `waiting`, `claimed`, `forwarded` or `ended`.
    state: &'static str,
    size: u64,
    image: Option<ImageReport>,
    /// What the sealed part says; absent without the key.
    sealed: Option<SealedReport>,
    pending: Vec<ReportPending>,
    wake_at: Option<String>,
    claims: Vec<ClaimReport>,
    forwarded: Option<Forwarded>,
    ended: Option<Ended>,
}

#[derive(Debug, Serialize)]
struct ImageReport {
    size: usize,
    format: u16,
    guest: String,
    guest_is_known: bool,
    key: String,
    memory: u64,
}

#[derive(Debug, Serialize)]
struct SealedReport {
    run: String,
    programs: u32,
    paused: bool,
    at: Option<String>,
    taint: Vec<TaintReport>,
    grants: Vec<GrantReport>,
    calls: Vec<ReportCall>,
}

#[derive(Debug, Serialize)]
struct GrantReport {
    number: u32,
    terms: String,
    left: u32,
    expires_at: Option<String>,
    by: Option<String>,
}

#[derive(Debug, Serialize)]
struct TaintReport {
    effect: String,
    by: String,
}

#[derive(Debug, Serialize)]
struct ClaimReport {
    #[serde(flatten)]
    claim: Claim,
    calls: Vec<ReportCall>,
}

/// Looks at a saved file.
pub(crate) fn inspect(arguments: &InspectArguments) -> Result<Inspected, Refusal> {
    let contents = claim::read(&arguments.file)?;
    let mut inspected = Inspected::of_file(&arguments.file, &contents);
    if let Some(image) = &contents.image {
        let key = find_key(arguments.key_file.as_deref(), KeyUse::Open)?;
        let engine =
            guests::engine_for(&image.snapshot, |older| engine(wide_limits(), Rules::default(), key.clone(), older))?;
        inspected.open(image, &engine).map_err(|refusal| refusal.within(&arguments.file))?;
        if !arguments.values {
            inspected.pending.iter_mut().for_each(|call| call.args = None);
        }
    }
    Ok(inspected)
}

pub(crate) fn wide_limits() -> Limits {
    let mut limits = Limits::default();
    limits.memory = MAX_MEMORY;
    limits
}

impl Inspected {
    fn of_file(path: &Path, contents: &Contents) -> Self {
        Self {
            file: path.display().to_string(),
            state: match (&contents.forwarded, &contents.ended, contents.claims.is_empty()) {
                (Some(_), _, _) => "forwarded",
                (_, Some(_), _) => "ended",
                (_, _, false) => "claimed",
                _ => "waiting",
            },
            size: contents.length,
            image: None,
            sealed: None,
            pending: Vec::new(),
            wake_at: contents.image.as_ref().and_then(|image| image.wake_at).and_then(time_text),
            claims: contents
                .claims
                .iter()
                .map(|made| ClaimReport { claim: made.claim.clone(), calls: made.calls.clone() })
                .collect(),
            forwarded: contents.forwarded.clone(),
            ended: contents.ended.clone(),
        }
    }

    fn open(&mut self, image: &Image, engine: &Engine) -> Result<(), Refusal> {
        let inspection = engine.inspect(&image.snapshot)?;
        if let Some(sealed) = inspection.sealed.as_ref().filter(|_| inspection.guest_is_known) {
            self.pending = pending(engine, image, sealed)?;
        }
        self.sealed = inspection.sealed.as_ref().map(SealedReport::from);
        self.image = Some(ImageReport::from(&inspection));
        Ok(())
    }

    /// Prints the document.
    pub(crate) fn print(&self, form: Form) -> Exit {
        match form {
            Form::Json => print_json(self),
            Form::Text => {
                let _ = write!(std::io::stdout(), "{}", printable(&self.text()));
            }
        }
        Exit::Done
    }

    fn text(&self) -> String {
        let mut text = format!("{}: {}, {} bytes\n", self.file, self.state, self.size);
        // Writing into a string does not fail.
        let _ = self.write_history(&mut text).and_then(|()| self.write_image(&mut text));
        text
    }

    fn write_history(&self, text: &mut String) -> std::fmt::Result {
        if let Some(forwarded) = &self.forwarded {
            writeln!(text, "run {} goes on in {}", forwarded.run, forwarded.to)?;
        }
        if let Some(ended) = &self.ended {
            writeln!(text, "run {} is {}", ended.run, ended.status)?;
        }
        for made in &self.claims {
            let what = if made.claim.fork { "forked as" } else { "resumed by" };
            writeln!(text, "{what} run {}, which has not ended", made.claim.run)?;
            for decided in &made.claim.decisions {
                let reason = decided.reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
                writeln!(text, "  {} {}{reason}", decided.decision, decided.call)?;
            }
            write_calls(text, &made.calls)?;
        }
        Ok(())
    }

    fn write_image(&self, text: &mut String) -> std::fmt::Result {
        let Some(image) = &self.image else { return Ok(()) };
        let theirs = if image.guest_is_known { "" } else { ", which this chrysalid does not have" };
        writeln!(text, "snapshot: {} bytes, format {}, memory {} bytes", image.size, image.format, image.memory)?;
        writeln!(text, "guest: {}{theirs}", image.guest)?;
        writeln!(text, "key: {}", image.key)?;
        let Some(sealed) = &self.sealed else {
            return writeln!(text, "the rest is sealed, and its key is not here");
        };
        writeln!(text, "run: {}", sealed.run)?;
        if let Some(at) = &sealed.at {
            writeln!(text, "saved at: {at}")?;
        }
        for taint in &sealed.taint {
            writeln!(text, "has met: {}, by {}", taint.effect, taint.by)?;
        }
        for grant in &sealed.grants {
            write!(text, "grant {}: {} more of {}", grant.number, grant.left, grant.terms)?;
            grant.by.iter().try_for_each(|by| write!(text, ", by {by}"))?;
            grant.expires_at.iter().try_for_each(|at| write!(text, ", until {at}"))?;
            writeln!(text)?;
        }
        writeln!(text, "calls: {}", sealed.calls.len())?;
        write_calls(text, &sealed.calls)?;
        if let Some(at) = &self.wake_at {
            writeln!(text, "goes on by itself from {at}")?;
        }
        writeln!(text, "waits for a decision: {}", self.pending.len())?;
        self.pending.iter().try_for_each(|call| text.write_str(&pending_text(call)))
    }
}

fn write_calls(text: &mut String, calls: &[ReportCall]) -> std::fmt::Result {
    calls.iter().try_for_each(|call| writeln!(text, "  {} {}: {}", call.call, call.name, call.status.name()))
}

/// The calls that wait. Restoring needs a capability for each, so they get one that runs nothing.
fn pending(engine: &Engine, image: &Image, sealed: &SealedInspection) -> Result<Vec<ReportPending>, Refusal> {
    if !sealed.paused {
        return Ok(Vec::new());
    }
    let names: BTreeSet<&String> = sealed.calls.iter().map(|(_, name, _)| name).collect();
    let stand_ins =
        names.into_iter().filter_map(|name| Capabilities::new([Capability::external(name)]).ok().map(|_| name));
    let capabilities = Capabilities::new(stand_ins.map(Capability::external))?;
    let Some(mut pause) = look(engine, &image.snapshot, &capabilities, wide_limits())? else { return Ok(Vec::new()) };
    for call in &mut pause.pending {
        // A stand-in always differs from what was there.
        call.reasons.retain(|reason| *reason != Reason::Changed);
    }
    Ok(Report::of(&Outcome::Paused(pause)).pending)
}

impl From<&Inspection> for ImageReport {
    fn from(inspection: &Inspection) -> Self {
        Self {
            size: inspection.size,
            format: inspection.format,
            guest: hex(&inspection.guest),
            guest_is_known: inspection.guest_is_known,
            key: inspection.key.clone(),
            memory: inspection.memory,
        }
    }
}

impl From<&SealedInspection> for SealedReport {
    fn from(sealed: &SealedInspection) -> Self {
        Self {
            run: hex(&sealed.session),
            programs: sealed.programs,
            paused: sealed.paused,
            at: time_text(sealed.at),
            taint: sealed
                .taint
                .provenance()
                .iter()
                .map(|brought| TaintReport { effect: brought.effect.to_string(), by: brought.by.clone() })
                .collect(),
            grants: sealed
                .grants
                .iter()
                .map(|grant| GrantReport {
                    number: grant.number,
                    terms: grant.grant.to_string(),
                    left: grant.left,
                    expires_at: grant.expires_at.and_then(time_text),
                    by: grant.by.clone(),
                })
                .collect(),
            calls: sealed
                .calls
                .iter()
                .map(|(id, name, status)| ReportCall::new(id.to_string(), name, *status))
                .collect(),
        }
    }
}
