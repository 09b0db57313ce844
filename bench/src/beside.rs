//! The same work on Chrysalid and on its peers, for `cargo xtask bench --peers`: one process a side, and all sides take
//! turns in one run, so that what a busy machine does meets all of them alike.
//!
//! ```text
//! beside.rs             the run over turns, works and sides
//! beside/sides.rs       who takes part, and what their processes are
//! beside/rows.rs        the work, and the design's targets
//! beside/process.rs     a side as a process that does work when it is asked
//! beside/subject.rs     Chrysalid from Rust as such a process; peers are scripts in bench/peers/work
//! beside/memory.rs      resident memory from outside
//! beside/cell.rs        what is known of one side's way with one work
//! beside/table.rs       Markdown and JSON
//! ```

mod cell;
mod memory;
mod process;
mod rows;
mod sides;
mod subject;
mod table;

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Map, Value, json};

use crate::native::Native;
use crate::page;
use crate::work::{self, Work as Program};
use cell::{Cell, Gap};
use process::{Answer, Done, Process};
use rows::{How, WORKS, Work};
use sides::{NATIVE, Places, SIDES, Side, Sort};

pub(crate) use subject::{cold, run as subject};

/// Sandboxes of which the memory is one's mean.
const LIVE: u32 = 100;

/// Processes that are looked at for memory.
const MEMORY_TURNS: u32 = 5;

/// What a work may take in one turn, and what of a run one side's way with one work may take, in seconds.
const TURN: f64 = 0.05;
const BUDGET: f64 = 30.0;

/// Over so many seconds nothing gets faster by being done again: the first time counts.
const SLOW: f64 = 5.0;

/// Seconds that a program has on a side.
const PATIENCE: u64 = 10;

pub(crate) const USAGE: &str = "usage: chrysalid-bench beside --native RUNNER --command-line PROGRAM --python PROGRAM \
--node PROGRAM --scripts FOLDER --json FILE [--page FILE] [--quick] [--only SIDE,…] [--version NAME=VERSION]...";

struct Options {
    native: PathBuf,
    places: Places,
    json: PathBuf,
    /// Gets the tables, between its marks.
    page: Option<PathBuf>,
    turns: u32,
    /// Keys of sides; empty for all.
    only: Vec<String>,
    versions: Map<String, Value>,
}

/// By work, then by side. A program is the work `program: its name`.
type Cells = BTreeMap<(String, &'static str), Cell>;

struct Run {
    options: Options,
    processes: BTreeMap<&'static str, Process>,
    native: Native,
    programs: Vec<Program>,
    /// What each program's value has to be.
    values: BTreeMap<&'static str, String>,
    cells: Cells,
}

pub(crate) fn run(words: impl Iterator<Item = String>) -> Result<ExitCode> {
    let options = Options::parse(words)?;
    let machine = crate::report::machine();
    let mut run = Run::start(options)?;
    for turn in 0..run.options.turns {
        eprintln!("turn {} of {}", turn + 1, run.options.turns);
        run.turn(turn)?;
    }
    let table = table::Table { cells: &run.cells, machine: &machine, options: &run.options };
    let markdown = table.markdown();
    print!("{markdown}");
    let json = serde_json::to_string_pretty(&table.json())? + "\n";
    let path = &run.options.json;
    std::fs::write(path, &json).with_context(|| format!("cannot write {}", path.display()))?;
    if let Some(path) = &run.options.page {
        let copy = path.with_extension("").join("peers.json");
        std::fs::write(&copy, &json).with_context(|| format!("cannot write {}", copy.display()))?;
        page::replace(path, "peers", &markdown)?;
    }
    Ok(ExitCode::SUCCESS)
}

impl Run {
    /// Starts all sides and lets each do everything once, so that it is warm and known how long it takes.
    fn start(options: Options) -> Result<Self> {
        let native = Native::start(&options.native)?;
        let mut run = Self {
            options,
            processes: BTreeMap::new(),
            native,
            programs: work::programs(),
            values: BTreeMap::new(),
            cells: Cells::new(),
        };
        for side in run.sides().filter(|side| side.serves) {
            eprintln!("warming up {}", side.title);
            let process = Process::start(side.command(&run.options.places)?).with_context(|| side.title)?;
            run.processes.insert(side.key, process);
            for work in WORKS.iter().filter(|work| work.how == How::Asked) {
                run.warm_up(side, work);
            }
        }
        for index in 0..run.programs.len() {
            run.program(index, Keep::Nothing)?;
        }
        for side in run.sides() {
            if side.cold_command(&run.options.places)?.is_some() {
                run.cold(side)?;
            }
        }
        run.cells.retain(|(work, _), _| work != rows::COLD);
        Ok(run)
    }

    fn sides(&self) -> impl Iterator<Item = &'static Side> + use<> {
        let only = self.options.only.clone();
        SIDES.iter().filter(move |side| only.is_empty() || only.iter().any(|key| key == side.key))
    }

    /// Everything once on each side, one after the other.
    fn turn(&mut self, turn: u32) -> Result<()> {
        for work in WORKS {
            for side in self.sides() {
                match work.how {
                    How::Asked => self.ask(side, work),
                    How::Cold => self.cold(side)?,
                    How::Memory if turn < MEMORY_TURNS && side.serves => self.memory(side),
                    How::Memory => {}
                }
            }
        }
        (0..self.programs.len()).try_for_each(|index| self.program(index, Keep::Times))
    }

    fn warm_up(&mut self, side: &'static Side, work: &Work) {
        if !self.processes.get(side.key).is_some_and(|process| process.can(work.key)) {
            return;
        }
        let Some(first) = self.done(side, work.key, 1) else { return };
        let took: f64 = first.samples.iter().sum();
        if took > SLOW {
            let cell = self.cell(work.key, side.key);
            cell.samples.add_value(took);
            cell.repeat = 1;
            return;
        }
        let repeat = times(took, work.repeat);
        if repeat > 1 && self.done(side, work.key, repeat).is_none() {
            return;
        }
        let again = self.done(side, work.key, 1).unwrap_or_default();
        let cell = self.cell(work.key, side.key);
        cell.repeat = times(again.samples.iter().sum(), work.repeat);
        cell.spent = 0.0;
    }

    fn ask(&mut self, side: &'static Side, work: &Work) {
        let Some(cell) = self.cells.get(&(work.key.to_owned(), side.key)) else { return };
        if cell.gap.is_some() || cell.spent > BUDGET {
            return;
        }
        let Some(done) = self.done(side, work.key, cell.repeat) else { return };
        let cell = self.cell(work.key, side.key);
        done.samples.iter().for_each(|seconds| cell.samples.add_value(*seconds));
        cell.bytes = done.bytes.or(cell.bytes);
        cell.zipped = done.zipped.or(cell.zipped);
    }

    /// What the side's process says, if it could; else the reason is kept.
    fn done(&mut self, side: &'static Side, work: &str, repeat: u32) -> Option<Done> {
        self.asked(side, work, work, repeat, &Value::Null)
    }

    /// The same for work that is known here under another name.
    fn asked(&mut self, side: &'static Side, name: &str, work: &str, repeat: u32, more: &Value) -> Option<Done> {
        let process = self.processes.get_mut(side.key)?;
        let began = Instant::now();
        let answer = process.ask(work, repeat, more);
        let spent = began.elapsed().as_secs_f64();
        let cell = self.cell(name, side.key);
        cell.spent += spent;
        match answer {
            Ok(Answer::Done(done)) => return Some(done),
            Ok(Answer::Absent(why)) => cell.gap = Some(Gap::Absent(why)),
            Err(error) => {
                eprintln!("{}: {name}: {error:#}", side.title);
                cell.gap = Some(Gap::Failed(format!("{error:#}")));
            }
        }
        None
    }

    fn cell(&mut self, work: &str, side: &'static str) -> &mut Cell {
        self.cells.entry((work.to_owned(), side)).or_default()
    }

    fn cold(&mut self, side: &'static Side) -> Result<()> {
        let Some(mut command) = side.cold_command(&self.options.places)? else { return Ok(()) };
        let seconds = first_line(&mut command).with_context(|| format!("{} from the start", side.title))?;
        self.cell(rows::COLD, side.key).samples.add_value(seconds);
        Ok(())
    }

    fn memory(&mut self, side: &'static Side) {
        if self.cells.get(&(rows::MEMORY.to_owned(), side.key)).is_some_and(|cell| cell.gap.is_some()) {
            return;
        }
        let answer = memory_of_one(side, &self.options.places);
        let cell = self.cell(rows::MEMORY, side.key);
        match answer {
            Ok(Ok(bytes)) => cell.samples.add_value(bytes),
            Ok(Err(why)) => cell.gap = Some(Gap::Absent(why)),
            Err(error) => {
                eprintln!("{}: memory: {error:#}", side.title);
                cell.gap = Some(Gap::Failed(format!("{error:#}")));
            }
        }
    }

    fn program(&mut self, index: usize, keep: Keep) -> Result<()> {
        let Some(program) = self.programs.get(index) else { return Ok(()) };
        let (name, source) = (program.name, program.source);
        let work = format!("program: {name}");
        let native = self.native.run(source)?;
        let value = self.values.entry(name).or_insert_with(|| native.value.clone()).clone();
        ensure!(native.value == value, "{name}: another value than before in native QuickJS-ng");
        if keep == Keep::Times {
            self.cell(&work, NATIVE).samples.add(native.took);
        }
        for side in self.sides().filter(|side| side.serves) {
            let cell = self.cell(&work, side.key);
            if cell.gap.is_some() || cell.spent > BUDGET {
                continue;
            }
            let more = json!({ "source": source, "patience": PATIENCE });
            let Some(done) = self.asked(side, &work, "program", 1, &more) else { continue };
            let cell = self.cell(&work, side.key);
            match done.value {
                None => cell.gap = Some(Gap::Over(PATIENCE)),
                Some(other) if other != value => {
                    bail!("{name}: {other:?} on {}, {value:?} in native QuickJS-ng", side.title)
                }
                Some(_) if keep == Keep::Times => {
                    done.samples.iter().for_each(|seconds| cell.samples.add_value(*seconds));
                }
                Some(_) => {}
            }
        }
        Ok(())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keep {
    Times,
    Nothing,
}

/// As often as fits a turn.
fn times(seconds: f64, most: u32) -> u32 {
    (1..=most).take_while(|count| f64::from(*count) * seconds <= TURN).last().unwrap_or(1)
}

/// Seconds from the start of a process to its first line, which has to be the sum of one and one.
fn first_line(command: &mut Command) -> Result<f64> {
    let began = Instant::now();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().context("it does not start")?;
    let mut line = String::new();
    let read = BufReader::new(child.stdout.take().context("no output")?).read_line(&mut line);
    let took = began.elapsed().as_secs_f64();
    child.wait()?;
    read?;
    ensure!(line.trim() == "2", "it said {line:?}, not 2");
    Ok(took)
}

/// Bytes, or why there are no sandboxes to look at.
fn memory_of_one(side: &Side, places: &Places) -> Result<Result<f64, String>> {
    let mut process = Process::start(side.command(places)?)?;
    // The first one brings what all of them share.
    if let Answer::Absent(why) = process.ask("live", 1, &json!({ "count": 1 }))? {
        return Ok(Err(why));
    }
    let before = memory::resident(process.id())?;
    process.ask("live", 1, &json!({ "count": LIVE }))?;
    let after = memory::resident(process.id())?;
    #[expect(clippy::cast_precision_loss, reason = "bytes of a process")]
    let growth = after.saturating_sub(before) as f64;
    Ok(Ok(growth / f64::from(LIVE)))
}

impl Options {
    fn parse(mut words: impl Iterator<Item = String>) -> Result<Self> {
        let mut paths = BTreeMap::new();
        let (mut quick, mut only, mut versions) = (false, Vec::new(), Map::new());
        while let Some(word) = words.next() {
            if word == "--quick" {
                quick = true;
                continue;
            }
            let value = words.next().with_context(|| format!("{word} needs a value\n{USAGE}"))?;
            match word.as_str() {
                "--native" | "--command-line" | "--python" | "--node" | "--scripts" | "--json" | "--page" => {
                    paths.insert(word, PathBuf::from(value));
                }
                "--only" => only = value.split(',').map(str::to_owned).collect(),
                "--version" => {
                    let (name, version) = value.split_once('=').context(USAGE)?;
                    versions.insert(name.to_owned(), Value::from(version));
                }
                _ => bail!("unknown option {word}\n{USAGE}"),
            }
        }
        let page = paths.remove("--page");
        let mut path = |name: &str| paths.remove(name).context(USAGE);
        let places = Places {
            command_line: path("--command-line")?,
            python: path("--python")?,
            node: path("--node")?,
            scripts: path("--scripts")?,
        };
        let turns = if quick { 3 } else { 15 };
        Ok(Self { native: path("--native")?, places, json: path("--json")?, page, turns, only, versions })
    }
}

/// Whether a side is one that Chrysalid is compared with.
fn is_peer(side: &Side) -> bool {
    matches!(side.sort, Sort::SameKind | Sort::Other)
}

#[cfg(test)]
mod tests {
    use super::times;

    #[test]
    fn a_turn_is_filled_and_no_longer() {
        assert_eq!(times(0.01, 40), 5);
        assert_eq!(times(1e-6, 40), 40);
        assert_eq!(times(3.0, 40), 1);
    }
}
