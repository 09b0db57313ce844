//! The benchmark's program, started by `cargo xtask bench`, which builds it and the native runner. Both sides take
//! turns in one run, since a shared machine is not the same a minute later; medians are compared.

mod attacks;
mod beside;
mod micro;
mod native;
mod page;
mod plot;
mod report;
mod samples;
mod scaling;
mod work;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};

use native::Native;
use report::Report;
use work::{Keep, Work};

/// Turns of the programs and of the small things; a turn of the latter is many samples.
const TURNS: u32 = 15;
const QUICK_TURNS: u32 = 5;

const USAGE: &str = "usage: chrysalid-bench --native RUNNER --json FILE [--quick] [--version NAME=VERSION]...";

/// What `cargo xtask bench` says.
struct Options {
    native: PathBuf,
    json: PathBuf,
    quick: bool,
    versions: Vec<(String, String)>,
}

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<ExitCode> {
    let mut words = std::env::args().skip(1).peekable();
    match words.peek().map(String::as_str) {
        Some("attacks") => attacks::run(words.skip(1)),
        Some("beside") => beside::run(words.skip(1)),
        Some("scaling") => scaling::run(words.skip(1)),
        Some("side") => beside::subject().map(|()| ExitCode::SUCCESS),
        Some("cold") => beside::cold().map(|()| ExitCode::SUCCESS),
        Some("attacked") => attacks::subject().map(|()| ExitCode::SUCCESS),
        _ => work(words),
    }
}

fn work(words: impl Iterator<Item = String>) -> Result<ExitCode> {
    let options = Options::parse(words)?;
    let report = measure(&options)?;
    print!("{}", report.markdown());
    let json = serde_json::to_string_pretty(&report.json(&options))?;
    std::fs::write(&options.json, json + "\n").with_context(|| format!("cannot write {}", options.json.display()))?;
    let broken: Vec<&str> = report.work.iter().filter(|work| work.breaks_the_rule()).map(|work| work.name).collect();
    if broken.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!("over {} times native: {}", work::MOST, broken.join(", "));
    Ok(ExitCode::FAILURE)
}

fn measure(options: &Options) -> Result<Report> {
    let mut native = Native::start(&options.native)?;
    let engine = micro::engine()?;
    let machine = report::machine();
    let mut work: Vec<Work> = work::programs();
    let (mut micros, sizes) = micro::micros(&engine)?;

    work::turn(&mut work, &mut native, &engine, Keep::Nothing)?;
    for micro in &mut micros {
        micro.warm_up()?;
    }
    for _ in 0..if options.quick { QUICK_TURNS } else { TURNS } {
        work::turn(&mut work, &mut native, &engine, Keep::Times)?;
        for micro in &mut micros {
            micro.turn()?;
        }
    }
    Ok(Report { machine, work, micros, sizes })
}

impl Options {
    fn parse(mut words: impl Iterator<Item = String>) -> Result<Self> {
        let (mut native, mut json, mut quick, mut versions) = (None, None, false, Vec::new());
        while let Some(word) = words.next() {
            let mut next = || words.next().with_context(|| format!("{word} needs a value\n{USAGE}"));
            match word.as_str() {
                "--native" => native = Some(PathBuf::from(next()?)),
                "--json" => json = Some(PathBuf::from(next()?)),
                "--quick" => quick = true,
                "--version" => {
                    let pair = next()?;
                    let (name, version) = pair.split_once('=').context(USAGE)?;
                    versions.push((name.to_owned(), version.to_owned()));
                }
                _ => bail!("unknown option {word}\n{USAGE}"),
            }
        }
        let (native, json) = (native.context(USAGE)?, json.context(USAGE)?);
        Ok(Self { native, json, quick, versions })
    }
}
