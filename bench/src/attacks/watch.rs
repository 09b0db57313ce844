//! One attacked process from outside.

use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use serde_json::Value;

/// Wall time that a process has, over its CPU time.
const WAIT: u32 = 8;

/// How often the memory of a process is looked at.
const LOOK: Duration = Duration::from_millis(5);

/// Longest CPU time and most resident memory, in bytes, before a process is killed. Wall time has [`WAIT`] as much: on a
/// busy machine it says little, and a process may sleep.
#[derive(Clone, Copy)]
pub(crate) struct Patience {
    pub(crate) time: Duration,
    pub(crate) memory: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The host got an answer: kind and text.
    Outcome(String, String),
    /// It did not come as far as the attack.
    Unready,
    /// The process ended by itself, and said nothing.
    Died(String),
    /// It was killed for its time.
    RanOn,
    /// It was killed for its memory.
    Grew,
}

/// What was seen of one run of an attack.
pub(crate) struct Sighting {
    pub(crate) end: End,
    /// Seconds of the program's thread; of the whole process, where it did not say.
    pub(crate) cpu: f64,
    /// Seconds.
    pub(crate) wall: f64,
    /// Seconds of CPU for the report of the outcome.
    pub(crate) report: f64,
    /// Bytes over the idle session.
    pub(crate) growth: u64,
    /// How `1 + 1` did afterwards, and a look at what the session held before: `yes`, a kind of failure, or nothing.
    pub(crate) lives: String,
    pub(crate) kept: String,
}

/// Runs one attack in a process of its own.
pub(crate) fn watch(command: &[&OsStr], source: &str, patience: Patience) -> Result<Sighting> {
    let (program, arguments) = command.split_first().context("an empty command")?;
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .with_context(|| format!("cannot run {}", program.display()))?;
    let lines = lines(&mut child)?;
    child.stdin.take().context("no input")?.write_all(source.as_bytes())?;

    let watched = follow(&mut child, &lines, patience);
    let _ = child.kill();
    let status = child.wait().context("cannot wait for an attacked process")?;
    Ok(watched.unwrap_or_else(Watched::unready).sighting(status))
}

/// The lines that the process says, from a thread, which ends with the process.
fn lines(child: &mut Child) -> Result<Receiver<Value>> {
    let out = BufReader::new(child.stdout.take().context("no output")?);
    let (send, receive) = channel();
    std::thread::spawn(move || {
        for line in out.split(b'\n').map_while(std::result::Result::ok) {
            let value = line.strip_prefix(b"@").and_then(|json| serde_json::from_slice(json).ok());
            if value.is_some_and(|value| send.send(value).is_err()) {
                return;
            }
        }
    });
    Ok(receive)
}

struct Watched {
    idle: u64,
    began: Instant,
    most: u64,
    /// CPU time of the process since it was idle.
    cpu: Duration,
    killed: Option<End>,
    ended: Option<(Value, Duration)>,
    after: Option<Value>,
}

/// Until the process has said all, is gone, or has to be killed. `None`: it never was ready.
fn follow(child: &mut Child, lines: &Receiver<Value>, patience: Patience) -> Option<Watched> {
    let idle = lines.recv_timeout(patience.time * WAIT).ok()?.get("idle")?.as_u64()?;
    let began = Instant::now();
    let id = child.id().to_string();
    let before = cpu_time(&id).unwrap_or_default();
    let mut watched = Watched { idle, began, most: idle, cpu: Duration::ZERO, killed: None, ended: None, after: None };
    while watched.after.is_none() && watched.killed.is_none() {
        match lines.recv_timeout(LOOK) {
            Ok(line) if watched.ended.is_none() => watched.ended = Some((line, began.elapsed())),
            Ok(line) => watched.after = Some(line),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                let resident = status_bytes(&id, "VmRSS:").unwrap_or(0);
                watched.most = watched.most.max(resident);
                watched.cpu = cpu_time(&id).map_or(watched.cpu, |cpu| cpu.saturating_sub(before));
                if resident > patience.memory {
                    watched.killed = Some(End::Grew);
                } else if watched.cpu > patience.time || began.elapsed() > patience.time * WAIT {
                    watched.killed = Some(End::RanOn);
                }
            }
        }
    }
    Some(watched)
}

impl Watched {
    /// A process that did not come as far as the attack.
    fn unready() -> Self {
        let began = Instant::now();
        Self { idle: 0, began, most: 0, cpu: Duration::ZERO, killed: None, ended: None, after: None }
    }

    fn sighting(self, status: ExitStatus) -> Sighting {
        let number = |key: &str| self.ended.as_ref().and_then(|(line, _)| line.get(key)?.as_f64());
        let text = |key: &str| self.ended.as_ref().and_then(|(line, _)| Some(line.get(key)?.as_str()?.to_owned()));
        let peak = self.ended.as_ref().and_then(|(line, _)| line.get("peak")?.as_u64()).unwrap_or(self.most);
        let so_far = self.ended.as_ref().map_or(self.began.elapsed(), |(_, at)| *at).as_secs_f64();
        let end = match (text("outcome"), self.killed) {
            (Some(outcome), _) => End::Outcome(outcome, text("text").unwrap_or_default()),
            (None, Some(killed)) => killed,
            (None, None) if self.idle == 0 => End::Unready,
            (None, None) => End::Died(manner(status)),
        };
        let after = |key: &str| {
            let word = self.after.as_ref().and_then(|line| line.get(key)?.as_str());
            word.unwrap_or_default().to_owned()
        };
        Sighting {
            end,
            cpu: number("cpu").unwrap_or(self.cpu.as_secs_f64()),
            wall: number("wall").unwrap_or(so_far),
            report: number("report").unwrap_or(0.0),
            growth: peak.saturating_sub(self.idle),
            lives: after("lives"),
            kept: after("kept"),
        }
    }
}

fn manner(status: ExitStatus) -> String {
    match (status.signal(), status.code()) {
        (Some(signal), _) => format!("signal {signal}"),
        (None, code) => format!("status {}", code.unwrap_or_default()),
    }
}

/// CPU time of all threads of a process, in the kernel's ticks of 10 ms.
fn cpu_time(process: &str) -> Option<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name in parentheses may hold anything.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut times = fields.split_ascii_whitespace().skip(11).map_while(|field| field.parse::<u64>().ok());
    Some(Duration::from_millis((times.next()? + times.next()?) * 10))
}

/// A size that the kernel tells about a process, in bytes.
pub(crate) fn status_bytes(process: &str, field: &str) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}
