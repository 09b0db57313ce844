//! Attacks on resources, each on a session in a process of its own: what they used, by which limit they ended, and
//! whether the session lived on. The same programs run on other QuickJS hosts (`bench/peers`).
//!
//! ```text
//! attacks.rs            the run over all attacks
//! attacks/list.rs       the programs, read out of bench/attacks
//! attacks/subject.rs    the process that is attacked, for Chrysalid
//! attacks/peer.rs       other hosts, as the same kind of process
//! attacks/watch.rs      one such process from outside: what it says, what it takes, when it is killed
//! attacks/judgement.rs  several runs of one attack, and the most that it may use
//! attacks/table.rs      Markdown and JSON
//! ```

mod judgement;
mod list;
mod peer;
mod subject;
mod table;
mod watch;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow, bail};

use judgement::Judgement;
use list::Attack;
use peer::Peer;
use watch::Patience;

pub(crate) use subject::run as subject;

/// The limits that every attack meets; all others are the defaults of its host.
pub(crate) const MEMORY: usize = 64 << 20;
pub(crate) const TIME: Duration = Duration::from_millis(500);

/// Runs of each attack on Chrysalid, for a median. A peer has one: where it does not stop, each takes a minute.
const TURNS: usize = 3;

/// A process that goes on after this is killed.
const PATIENCE: Patience = Patience { time: Duration::from_mins(1), memory: 4 << 30 };

pub(crate) const USAGE: &str = "usage: chrysalid-bench attacks --json FILE [--peer NAME PROGRAM SCRIPT]... [--only TEXT] \
[--patience SECONDS] [--jobs N] [--version NAME=VERSION]...";

struct Options {
    json: PathBuf,
    peers: Vec<Peer>,
    /// Part of `kind/name`.
    only: String,
    patience: Patience,
    jobs: usize,
    versions: Vec<(String, String)>,
}

/// What was seen of one attack.
struct Row {
    attack: Attack,
    ours: Judgement,
    /// In the order of the peers.
    theirs: Vec<Judgement>,
}

/// Runs all attacks. Fails when one of them got more out of Chrysalid than it may have.
pub(crate) fn run(words: impl Iterator<Item = String>) -> Result<ExitCode> {
    let options = Options::parse(words)?;
    let machine = crate::report::machine();
    let rows = rows(&options)?;
    print!("{}", table::markdown(&rows, &options.peers));
    let json = serde_json::to_string_pretty(&table::json(&rows, &options, &machine))?;
    std::fs::write(&options.json, json + "\n").with_context(|| format!("cannot write {}", options.json.display()))?;
    let broken = rows.iter().filter(|row| row.ours.complaints(row.attack.kind).next().is_some());
    let broken: Vec<String> = broken.map(|row| row.attack.path()).collect();
    if broken.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!("over their bounds: {}", broken.join(", "));
    Ok(ExitCode::FAILURE)
}

/// One after the other, or as many at a time as there are jobs.
fn rows(options: &Options) -> Result<Vec<Row>> {
    let attacks: Vec<Attack> = list::attacks().filter(|attack| attack.path().contains(&options.only)).collect();
    let next = Mutex::new(attacks.into_iter().enumerate());
    let take = || next.lock().ok().and_then(|mut attacks| attacks.next());
    let work = || -> Result<Vec<(usize, Row)>> {
        let mut rows = Vec::new();
        while let Some((index, attack)) = take() {
            let row = row(attack, options)?;
            eprintln!("{}", table::line(&row));
            row.ours.complaints(row.attack.kind).for_each(|complaint| eprintln!("  {complaint}"));
            rows.push((index, row));
        }
        Ok(rows)
    };
    let done: Vec<_> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..options.jobs).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(std::thread::ScopedJoinHandle::join).collect()
    });
    let mut rows = Vec::new();
    for worker in done {
        rows.extend(worker.map_err(|_| anyhow!("a worker panicked"))??);
    }
    rows.sort_unstable_by_key(|(index, _)| *index);
    Ok(rows.into_iter().map(|(_, row)| row).collect())
}

fn row(attack: Attack, options: &Options) -> Result<Row> {
    let here = std::env::current_exe().context("this program has no path")?;
    let ours =
        (0..TURNS).map(|_| watch::watch(&[here.as_os_str(), "attacked".as_ref()], &attack.source, options.patience));
    let ours = Judgement::new(ours.collect::<Result<_>>().with_context(|| attack.path())?);
    let theirs = options.peers.iter().map(|peer| {
        let seen = watch::watch(&peer.command(), &attack.source, options.patience)?;
        Ok(Judgement::new(vec![seen]))
    });
    let theirs = theirs.collect::<Result<_>>().with_context(|| attack.path())?;
    Ok(Row { attack, ours, theirs })
}

impl Options {
    fn parse(mut words: impl Iterator<Item = String>) -> Result<Self> {
        let (mut json, mut peers, mut only) = (None, Vec::new(), String::new());
        let (mut patience, mut jobs, mut versions) = (PATIENCE, 1, Vec::new());
        while let Some(word) = words.next() {
            let value = words.next().with_context(|| format!("{word} needs a value\n{USAGE}"))?;
            match word.as_str() {
                "--json" => json = Some(PathBuf::from(value)),
                "--peer" => {
                    let mut path = || words.next().map(PathBuf::from).context(USAGE);
                    peers.push(Peer { name: value, program: path()?, script: path()? });
                }
                "--only" => only = value,
                "--patience" => patience.time = Duration::from_secs(value.parse().context(USAGE)?),
                "--jobs" => jobs = value.parse().context(USAGE)?,
                "--version" => {
                    let (name, version) = value.split_once('=').context(USAGE)?;
                    versions.push((name.to_owned(), version.to_owned()));
                }
                _ => bail!("unknown option {word}\n{USAGE}"),
            }
        }
        Ok(Self { json: json.context(USAGE)?, peers, only, patience, jobs, versions })
    }
}
