//! The fuzz targets that need the engine, run without coverage: an instrumented wasmtime takes too long to build and to
//! run. `fuzz TARGET [-seed=N] [-max_total_time=SECONDS] [-max_len=BYTES] [-artifact_prefix=FOLDER/] [FILE…]`.
//!
//! Files, and those in folders, are run first; then bytes that follow from the seed, for the time that is given (none). An
//! input that fails is written to the folder, `fuzz/artifacts/TARGET/` unless told otherwise.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "what does not hold ends in a panic"
)]

mod generated;
mod guest_garbage;
#[allow(dead_code, reason = "the tests use the rest")]
#[path = "garbage/script.rs"]
mod script;
#[allow(dead_code, reason = "the tests use the rest")]
mod storing;
#[allow(dead_code, reason = "the tests use the rest")]
mod support;

use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

const USAGE: &str = "fuzz same_result|guest_garbage [-seed=N] [-max_total_time=SECONDS] [-max_len=BYTES] \
                     [-artifact_prefix=FOLDER/] [FILE…]";

/// More than the process may grow by, engine and pool included, whatever a guest does: two heaps of 8 MiB with their
/// copies, and twice what the host keeps.
const MAX_GROWTH: u64 = 96 << 20;

/// What runs were good for.
#[derive(Default)]
struct Sum {
    inputs: u64,
    programs: u64,
    values: u64,
    pauses: u64,
    restored: u64,
    /// Inputs that differed by chance, or errors in place of an end.
    others: u64,
    longest: Duration,
    /// Bytes that the process grew by within one input.
    growth: u64,
}

struct Target {
    check: fn(&[u8], &mut Sum),
    /// A text of the input, for whoever looks at a failure.
    shown: fn(&[u8]) -> String,
    others: &'static str,
    bounded: bool,
}

const SAME_RESULT: Target = Target {
    check: |bytes, sum| {
        let tally = generated::same_result(bytes);
        sum.programs += u64::from(tally.programs);
        sum.values += u64::from(tally.values);
        sum.pauses += u64::from(tally.pauses);
        sum.restored += u64::from(tally.restored);
        sum.others += u64::from(tally.by_chance);
    },
    shown: |bytes| generated::programs(bytes).join("\n----\n"),
    others: "inputs that differed once and not again",
    bounded: false,
};

const GUEST_GARBAGE: Target = Target {
    check: |bytes, sum| {
        let tally = guest_garbage::guest_garbage(bytes);
        sum.programs += u64::from(tally.programs);
        sum.values += u64::from(tally.values);
        sum.pauses += u64::from(tally.pauses);
        sum.restored += u64::from(tally.restored);
        sum.others += u64::from(tally.refused);
    },
    shown: |bytes| format!("{bytes:02x?}"),
    others: "refusals",
    bounded: true,
};

struct Options {
    seed: u64,
    time: Duration,
    max_len: u64,
    artifacts: String,
    files: Vec<PathBuf>,
}

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let name = words.next().unwrap_or_default();
    let target = match name.as_str() {
        "same_result" => SAME_RESULT,
        "guest_garbage" => GUEST_GARBAGE,
        _ => return usage(),
    };
    let Some(options) = options(&name, words) else { return usage() };
    if run(&target, &options) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn usage() -> ExitCode {
    eprintln!("{USAGE}");
    ExitCode::FAILURE
}

fn options(target: &str, words: impl Iterator<Item = String>) -> Option<Options> {
    let artifacts = format!("fuzz/artifacts/{target}/");
    let mut options = Options { seed: 1, time: Duration::ZERO, max_len: 300, artifacts, files: Vec::new() };
    for word in words {
        match word.split_once('=') {
            Some(("-seed", text)) => options.seed = text.parse().ok()?,
            Some(("-max_total_time", text)) => options.time = Duration::from_secs(text.parse().ok()?),
            Some(("-max_len", text)) => options.max_len = text.parse().ok()?,
            Some(("-artifact_prefix", text)) => text.clone_into(&mut options.artifacts),
            _ if word.starts_with('-') => return None,
            _ => options.files.extend(files(Path::new(&word))),
        }
    }
    Some(options)
}

fn files(path: &Path) -> Vec<PathBuf> {
    let mut inside: Vec<_> = fs::read_dir(path).into_iter().flatten().map(|file| file.unwrap().path()).collect();
    inside.sort();
    if inside.is_empty() { vec![path.to_owned()] } else { inside }
}

/// Whether all inputs passed.
fn run(target: &Target, options: &Options) -> bool {
    let begun = Instant::now();
    let mut sum = Sum::default();
    let mut seed = options.seed;
    let given = options.files.iter().map(|path| fs::read(path).expect("a readable file"));
    let made = std::iter::from_fn(|| {
        let length = next(&mut seed) % options.max_len.max(1);
        (begun.elapsed() < options.time).then(|| (0..length).map(|_| next(&mut seed).to_le_bytes()[0]).collect())
    });
    let mut passed = true;
    for bytes in given.chain(made) {
        let before = resident().map(|(now, _)| now);
        let begun = Instant::now();
        let result = catch_unwind(|| {
            let mut one = Sum::default();
            (target.check)(&bytes, &mut one);
            one.longest = begun.elapsed();
            // The first input pays for the engine.
            if let (true, Some(before), Some((_, peak))) = (sum.inputs > 0, before, resident()) {
                one.growth = peak.saturating_sub(before);
                assert!(!target.bounded || one.growth < MAX_GROWTH, "the process grew from {before} to {peak} bytes");
            }
            one
        });
        sum.inputs += 1;
        let Ok(one) = result else {
            keep(&options.artifacts, &bytes, &(target.shown)(&bytes));
            passed = false;
            break;
        };
        sum.add(&one);
    }
    let seconds = begun.elapsed().as_secs();
    let Sum { inputs, programs, values, pauses, restored, others, longest, growth } = sum;
    println!(
        "{inputs} inputs in {seconds} s: {programs} programs, {values} ended with a value; {pauses} pauses; \
         {restored} snapshots gone on from; {others} {}; the longest input took {longest:?}; the process grew by {} \
         KiB at most within one",
        target.others,
        growth >> 10
    );
    passed
}

impl Sum {
    fn add(&mut self, one: &Self) {
        self.programs += one.programs;
        self.values += one.values;
        self.pauses += one.pauses;
        self.restored += one.restored;
        self.others += one.others;
        self.longest = self.longest.max(one.longest);
        self.growth = self.growth.max(one.growth);
    }
}

fn keep(folder: &str, bytes: &[u8], shown: &str) {
    let name = bytes.iter().fold(7_u64, |sum, byte| sum.wrapping_mul(31) ^ u64::from(*byte));
    let path = format!("{folder}crash-{name:016x}");
    if let Some(folder) = Path::new(&path).parent() {
        fs::create_dir_all(folder).expect("a folder can be made");
    }
    fs::write(&path, bytes).expect("a file can be written");
    eprintln!("{path} fails:\n{shown}");
}

/// Memory of this process in bytes, now and at most since this was last asked; only Linux tells.
fn resident() -> Option<(u64, u64)> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    fs::write("/proc/self/clear_refs", "5").ok()?;
    let line = |name| status.lines().find_map(|line: &str| line.strip_prefix(name)?.split_whitespace().next());
    let bytes = |name| Some(line(name)?.parse::<u64>().ok()? << 10);
    Some((bytes("VmRSS:")?, bytes("VmHWM:")?))
}

/// A linear congruential generator; its upper bits, moved down, are random enough for choices.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}
