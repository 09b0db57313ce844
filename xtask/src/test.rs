//! `cargo xtask test`: everything that must hold before a change goes in. One failure does not hide the next.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::{counts, node, python};

/// An example whose text has this sentence is run, without input; all others are only compiled.
const RUN_ME: &str = "Run by `cargo xtask test`.";

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    long: bool,
    /// The Python package alone.
    python: bool,
    filter: Option<String>,
}

impl Options {
    pub(crate) fn parse(words: &[&str]) -> Option<Self> {
        let mut options = Self::default();
        for word in words {
            match *word {
                "--long" => options.long = true,
                "--python" => options.python = true,
                option if option.starts_with('-') => return None,
                filter => options.filter.replace(filter.to_owned()).map_or(Some(()), |_| None)?,
            }
        }
        Some(options)
    }
}

pub(crate) fn run(options: &Options) -> ExitCode {
    let mut failed = Vec::new();
    let mut check = |name: &'static str, passed: Result<bool>| {
        let passed = passed.unwrap_or_else(|error| {
            eprintln!("error: {name}: {error:#}");
            false
        });
        failed.extend((!passed).then_some(name));
    };

    let whole = options.filter.is_none() && !options.python;
    if whole {
        check("formatting", formatting());
        check("clippy", clippy());
        check("layers", layers());
        check("cargo-deny", deny());
    }
    let mut count = Count::default();
    if !options.python {
        check("tests", tests(options, Slices::Long, &mut count));
        if options.long {
            check("tests with short slices", tests(options, Slices::Short, &mut count));
        }
    }
    if whole {
        check("counts", recorded_counts());
        check("examples", examples());
    }
    check("python", python_tests(options, &mut count));

    if !failed.is_empty() {
        println!("not passed: {}", failed.join(", "));
    }
    println!("{} passed, {} failed", count.passed, count.failed);
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn formatting() -> Result<bool> {
    title("formatting");
    if !installed("fmt") {
        return missing("rustfmt");
    }
    succeeds(&mut crate::cargo(&["fmt", "--all", "--check"]))
}

/// In the tests' profile, so that build scripts and macros are compiled once for both.
fn clippy() -> Result<bool> {
    title("clippy");
    if !installed("clippy") {
        return missing("clippy");
    }
    let scope = ["clippy", "--release", "--workspace", "--all-targets", "--all-features", "--quiet"];
    succeeds(crate::cargo(&scope).args(["--", "--deny", "warnings"]))
}

fn layers() -> Result<bool> {
    title("layers");
    Ok(crate::layers::check()? == ExitCode::SUCCESS)
}

fn deny() -> Result<bool> {
    title("cargo-deny");
    if !installed("deny") {
        println!("skipped: cargo-deny is not installed");
        return Ok(true);
    }
    succeeds(&mut crate::cargo(&["deny", "--all-features", "check"]))
}

/// Where a program's slices end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Slices {
    /// When their time is over.
    Long,
    /// By chance as well, at every place where one may end on a busy machine.
    Short,
}

fn tests(options: &Options, slices: Slices, count: &mut Count) -> Result<bool> {
    title(if slices == Slices::Short { "tests with short slices" } else { "tests" });
    let mut command = crate::cargo(&["test", "--release", "--workspace", "--all-features", "--no-fail-fast"]);
    if let Some(filter) = &options.filter {
        command.args(["--", filter]);
    }
    match slices {
        Slices::Long if options.long => drop(command.env("CHRYSALID_LONG_TESTS", "1")),
        Slices::Long => {}
        Slices::Short => drop(command.env("CHRYSALID_SHORT_SLICES", "1")),
    }
    match node::find() {
        Ok(node) => drop(command.env(node::VARIABLE, node)),
        // The tests that need it say so.
        Err(error) => eprintln!("error: {error:#}"),
    }
    let mut child = command.stdout(Stdio::piped()).spawn().context("cannot run cargo")?;
    for line in child.stdout.take().map(BufReader::new).into_iter().flat_map(BufReader::lines) {
        let line = line.context("cannot read the tests' output")?;
        println!("{line}");
        count.add(&line);
    }
    let passed = child.wait().context("cannot wait for cargo")?.success();
    if !passed && count.failed == 0 {
        // It did not compile, or a test took its whole process down before the runner could say so.
        count.failed = 1;
    }
    Ok(passed)
}

/// The Python package's tests: all of them with the newest packages that it supports, and what needs LangChain with the oldest.
fn python_tests(options: &Options, count: &mut Count) -> Result<bool> {
    title("python");
    let newest = python::Environment::of("newest")?;
    let stage = python::stage()?;
    let mut passed = true;
    if options.filter.is_none() {
        passed &= python::checks(&newest, &stage)?;
    }
    let mut run = |environment: &python::Environment, tests: &[&'static str]| -> Result<bool> {
        let mut arguments = tests.to_vec();
        arguments.extend(options.filter.as_deref().into_iter().flat_map(|filter| ["-k", filter]));
        let tally = python::pytest(environment, &stage, &arguments)?;
        count.passed += tally.passed;
        count.failed += tally.failed;
        Ok(tally.failed == 0)
    };
    // Two runs: the folders have a conftest.py each, and names of files in common. The second mostly waits for processes.
    let langchain = ["tests/langchain", "--numprocesses", "2", "--dist", "loadfile"];
    passed &= run(&newest, &["tests", "--ignore", "tests/langchain"])?;
    passed &= run(&newest, &langchain)?;
    passed &= run(&python::Environment::of("oldest")?, &langchain)?;
    Ok(passed)
}

/// What work costs: see `counts.rs`.
fn recorded_counts() -> Result<bool> {
    title("counts");
    Ok(counts::run(counts::Recorded::Compare)? == ExitCode::SUCCESS)
}

fn examples() -> Result<bool> {
    title("examples");
    let metadata = crate::metadata()?;
    let release = Path::new(crate::text(&metadata, "target_directory")).join("release").join("examples");
    let examples = examples_to_run(&metadata)?;
    if examples.is_empty() {
        return Ok(true);
    }
    // With the tests' features, else half of the tree would be compiled again.
    let build = ["build", "--release", "--workspace", "--all-features", "--examples", "--quiet"];
    let mut passed = succeeds(&mut crate::cargo(&build))?;
    for name in examples {
        println!("example {name}");
        let program = release.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
        if !succeeds(Command::new(&program).current_dir(crate::root()).stdin(Stdio::null()))? {
            eprintln!("example {name} failed");
            passed = false;
        }
    }
    Ok(passed)
}

fn examples_to_run(metadata: &Value) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for target in crate::list(metadata, "packages").flat_map(|package| crate::list(package, "targets")) {
        if !crate::list(target, "kind").any(|kind| kind == "example") {
            continue;
        }
        let path = PathBuf::from(crate::text(target, "src_path"));
        let source = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        if source.contains(RUN_ME) {
            names.push(crate::text(target, "name").to_owned());
        }
    }
    Ok(names)
}

fn title(name: &str) {
    println!("== {name}");
}

fn installed(subcommand: &str) -> bool {
    let mut command = crate::cargo(&[subcommand, "--version"]);
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

fn missing(component: &str) -> Result<bool> {
    anyhow::bail!("{component} is not installed; `rustup component add {component}` adds it")
}

fn succeeds(command: &mut Command) -> Result<bool> {
    let status = command.status();
    Ok(status.with_context(|| format!("cannot run {}", command.get_program().display()))?.success())
}

/// Sums the runner's lines, one for each test binary and each crate's documentation.
#[derive(Debug, Default, PartialEq, Eq)]
struct Count {
    passed: u64,
    failed: u64,
}

impl Count {
    fn add(&mut self, line: &str) {
        let Some(result) = line.strip_prefix("test result: ") else {
            return;
        };
        let number = |word: &str| {
            let part = result.split([';', '.']).find_map(|part| part.trim().strip_suffix(word))?;
            part.trim().parse::<u64>().ok()
        };
        self.passed += number("passed").unwrap_or_default();
        self.failed += number("failed").unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_runners_lines_are_summed() {
        let mut count = Count::default();
        count.add("running 3 tests");
        count.add("test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 3 filtered out; finished in 0.01s");
        count.add("test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.5s");
        assert_eq!(count, Count { passed: 14, failed: 1 });
    }

    #[test]
    fn one_filter_and_no_unknown_option() {
        let options = |words: &[&str]| Options::parse(words);
        assert_eq!(options(&[]), Some(Options::default()));
        let long = Options { long: true, filter: Some("taint".into()), ..Options::default() };
        assert_eq!(options(&["--long", "taint"]), Some(long));
        assert_eq!(options(&["taint", "seal"]), None);
        assert_eq!(options(&["--short"]), None);
    }
}
