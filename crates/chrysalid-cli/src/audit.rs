//! The audit trail of a run: a file to which each decision is appended, and `chrysalid audit verify`.

use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use chrysalid::{AuditSink, AuditTrail, ErrorKind};
use serde::Serialize;

use crate::arguments::{AuditCommand, VerifyArguments};
use crate::claim;
use crate::drive::hex;
use crate::exit::{Exit, Refusal};
use crate::guests;
use crate::host::{KeyUse, engine, find_key};
use crate::inspect::wide_limits;
use crate::report::{Form, print_json, printable};

/// Longest line of a trail that is read, in bytes.
const MAX_LINE: u64 = 1 << 20;

/// A file that lines are appended to.
pub(crate) struct Trail(Mutex<File>);

impl Trail {
    /// Opens it, or makes it for its owner alone.
    pub(crate) fn open(path: &Path) -> Result<Self, Refusal> {
        let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path);
        let file = file.map_err(|error| Refusal::unwritable(path, &error))?;
        Ok(Self(Mutex::new(file)))
    }
}

impl AuditSink for Trail {
    fn append(&self, line: &str) -> io::Result<()> {
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // At once, so that lines of two processes do not mix.
        file.write_all(format!("{line}\n").as_bytes())?;
        file.sync_data()
    }
}

#[derive(Serialize)]
struct Verified {
    file: String,
    lines: usize,
    runs: Vec<Run>,
}

#[derive(Serialize)]
struct Run {
    #[serde(rename = "run")]
    id: String,
    lines: u64,
    head: String,
}

pub(crate) fn audit(command: &AuditCommand) -> Result<Exit, Refusal> {
    let AuditCommand::Verify(arguments) = command;
    let (trail, lines) = read(&arguments.file)?;
    if let Some(session) = &arguments.session {
        ends_with(&trail, session, arguments)?;
    }
    let runs = trail.runs.iter().map(|(run, audited)| Run {
        id: run.clone(),
        lines: audited.length,
        head: audited.head.clone(),
    });
    let verified = Verified { file: arguments.file.display().to_string(), lines, runs: runs.collect() };
    match Form::of(arguments.json) {
        Form::Json => print_json(&verified),
        Form::Text => {
            let mut text = format!("{}: {lines} lines hold\n", verified.file);
            for run in &verified.runs {
                let _ = writeln!(text, "  run {}: {} lines, the last {}", run.id, run.lines, run.head);
            }
            let _ = write!(std::io::stdout(), "{}", printable(&text));
        }
    }
    Ok(Exit::Done)
}

fn read(path: &Path) -> Result<(AuditTrail, usize), Refusal> {
    let unreadable = |error: io::Error| Refusal::unreadable(path, &error);
    let mut reader = BufReader::new(File::open(path).map_err(unreadable)?);
    let (mut trail, mut number, mut line) = (AuditTrail::default(), 0, Vec::new());
    loop {
        line.clear();
        let read = io::Read::take(&mut reader, MAX_LINE).read_until(b'\n', &mut line).map_err(unreadable)?;
        if read == 0 {
            return Ok((trail, number));
        }
        number += 1;
        let corrupt = |what: String| Refusal::of_kind(ErrorKind::Corrupt, what).within(path);
        let whole = line.strip_suffix(b"\n").ok_or_else(|| corrupt(format!("line {number}: has no end")))?;
        // What is not UTF-8 is no line of ours, and the hash says so.
        trail.add(number, &String::from_utf8_lossy(whole)).map_err(|error| corrupt(error.to_string()))?;
    }
}

/// Whether the trail has all that a saved program says it should.
fn ends_with(trail: &AuditTrail, session: &Path, arguments: &VerifyArguments) -> Result<(), Refusal> {
    let corrupt = |what: String| Refusal::of_kind(ErrorKind::Corrupt, what).within(&arguments.file);
    let contents = claim::read(session)?;
    let image =
        contents.image.ok_or_else(|| Refusal::of_kind(ErrorKind::Corrupt, "it holds no image").within(session))?;
    let key = find_key(arguments.key_file.as_deref(), KeyUse::Open)?;
    let engine = guests::engine_for(&image.snapshot, |older| {
        engine(wide_limits(), chrysalid::Rules::default(), key.clone(), older)
    })?;
    let within = |error: chrysalid::Error| Refusal::from(error).within(session);
    let sealed = engine.inspect(&image.snapshot).map_err(within)?.sealed;
    let sealed =
        sealed.ok_or_else(|| Refusal::of_kind(ErrorKind::UnknownKey, "its key is not here").within(session))?;
    let (length, head) = sealed.audit_head;
    let run = hex(&sealed.session);
    let found = trail.runs.get(&run).map_or(0, |audited| audited.length);
    let known = trail.head_at(&run, length);
    match known {
        _ if length == 0 => Ok(()),
        Some(known) if known == hex(&head) => Ok(()),
        Some(_) => Err(corrupt(format!("line {length} of run {run} is not the one that the saved program knows"))),
        None => Err(corrupt(format!("run {run} has {found} lines where the saved program knows of {length}"))),
    }
}
