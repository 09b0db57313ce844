//! The program of `cargo xtask counts`: counts what work costs, and compares it with what was recorded or records it.
//!
//! ```text
//! chrysalid-counts check FILE [--slow NAME] [--with NAME=VERSION]…    fails when a count is not as recorded
//! chrysalid-counts record FILE [--slow NAME] [--with NAME=VERSION]…
//! chrysalid-counts host NAME ROUNDS                                    what it runs of itself under valgrind
//! ```
//!
//! Each piece of work is done in twenty rounds. `--slow` does one round more of the one that is named: that is how a test
//! sees that the check notices.

mod callgrind;
mod guest;
mod recorded;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};

use recorded::{Counts, Recorded};

const USAGE: &str = "usage: chrysalid-counts check|record FILE [--slow NAME] [--with NAME=VERSION]...";

const ROUNDS: u32 = 20;

/// Which work gets a round more than it should.
struct Pace(Option<String>);

impl Pace {
    fn rounds(&self, name: &str) -> u32 {
        ROUNDS + u32::from(self.0.as_deref() == Some(name))
    }
}

struct Options {
    file: PathBuf,
    pace: Pace,
    /// What the count of instructions depends on beside the source, as far as this program cannot tell itself.
    with: Counts<String>,
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
    let mut words = std::env::args().skip(1);
    match words.next().as_deref() {
        Some("check") => check(&Options::parse(words)?),
        Some("record") => record(&Options::parse(words)?),
        Some("host") => {
            let name = words.next().context(USAGE)?;
            let rounds = words.next().and_then(|word| word.parse().ok()).context(USAGE)?;
            callgrind::work(&name, rounds).map(|()| ExitCode::SUCCESS)
        }
        _ => bail!("{USAGE}"),
    }
}

fn check(options: &Options) -> Result<ExitCode> {
    let recorded = Recorded::read(&options.file)?;
    let mut wrong = recorded::compare("fuel", &recorded.fuel, &guest::count(&options.pace)?);
    println!("fuel of guest work: {} counts", recorded.fuel.len());
    match callgrind::with(&options.with) {
        None => println!("instructions of the host: skipped, {}", callgrind::NO_VALGRIND),
        Some(with) if with != recorded.with => {
            println!("instructions of the host: skipped, {}", recorded::difference(&recorded.with, &with));
        }
        Some(_) => {
            wrong.extend(recorded::compare(
                recorded::INSTRUCTIONS,
                &recorded.instructions,
                &callgrind::count(&options.pace)?,
            ));
            println!("instructions of the host: {} counts", recorded.instructions.len());
        }
    }
    for line in &wrong {
        eprintln!("not as recorded: {line}");
    }
    if wrong.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!("if it must be so: `cargo xtask counts --bless` records it in bench/counts.toml");
    Ok(ExitCode::FAILURE)
}

fn record(options: &Options) -> Result<ExitCode> {
    let mut recorded = if options.file.exists() { Recorded::read(&options.file)? } else { Recorded::default() };
    recorded.fuel = guest::count(&options.pace)?;
    match callgrind::with(&options.with) {
        None => println!("instructions of the host: left as they are, {}", callgrind::NO_VALGRIND),
        Some(with) => (recorded.with, recorded.instructions) = (with, callgrind::count(&options.pace)?),
    }
    recorded.write(&options.file)?;
    println!("recorded {} counts of fuel, {} of instructions", recorded.fuel.len(), recorded.instructions.len());
    Ok(ExitCode::SUCCESS)
}

impl Options {
    fn parse(mut words: impl Iterator<Item = String>) -> Result<Self> {
        let file = PathBuf::from(words.next().context(USAGE)?);
        let mut options = Self { file, pace: Pace(None), with: Counts::new() };
        while let Some(word) = words.next() {
            let value = words.next().with_context(|| format!("{word} needs a value\n{USAGE}"))?;
            match word.as_str() {
                "--slow" => options.pace = Pace(Some(value)),
                "--with" => {
                    let (name, version) = value.split_once('=').context(USAGE)?;
                    options.with.insert(name.to_owned(), version.to_owned());
                }
                _ => bail!("unknown option {word}\n{USAGE}"),
            }
        }
        Ok(options)
    }
}
