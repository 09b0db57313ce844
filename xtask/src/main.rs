//! Development commands: `cargo xtask guest | test | wheel | layers | bench | counts`.

mod bench;
mod counts;
mod guest;
mod layers;
mod node;
mod peers;
mod python;
mod test;

use std::env;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

const USAGE: &str = "\
usage: cargo xtask COMMAND

  guest [--bless]         build guest.wasm, print its path, size and hash;
                          --bless pins it in guest/guest.lock
  test [--long] [--python] [FILTER]
                          formatting, clippy, layers, cargo-deny, all tests, examples;
                          with FILTER only the tests whose name contains it;
                          --python only the Python package;
                          --long also runs the tests that take minutes, and all tests
                          once more with slices that end by chance
  wheel                   build the Python wheel, print its size and path
  layers                  check which crate depends on which
  counts [--bless]        count the fuel of guest work and the instructions of the host's,
                          compare them with bench/counts.toml; --bless records them there
  bench [--quick]         measure work in the guest against native QuickJS-ng, and what a
                          session costs; fails when the guest is over twice native
  bench --peers [--quick] [--record]
                          measure the same work on Chrysalid from Rust, its command line and
                          its Python package, and on peers, which it installs from PyPI and
                          npm; --record writes the tables into docs/performance.md
  bench --scaling [--quick] [--record]
                          measure many sessions, large heaps and long sessions; --record
                          also draws docs/performance/*.svg
  bench --attacks [--peers]
                          run programs that attack a session's limits; fails when one gets
                          more than it may; --peers also runs them on other hosts of
                          QuickJS, which it installs from PyPI and npm (an hour)";

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
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["guest"] => guest::build(guest::Lockfile::Compare),
        ["guest", "--bless"] => guest::build(guest::Lockfile::Write),
        ["wheel"] => python::wheel(),
        ["layers"] => layers::check(),
        ["counts"] => counts::run(counts::Recorded::Compare),
        ["counts", "--bless"] => counts::run(counts::Recorded::Write),
        ["bench"] => bench::run(bench::Length::Full),
        ["bench", "--quick"] => bench::run(bench::Length::Quick),
        ["bench", "--peers", options @ ..] => match bench::options(options) {
            Some((length, record)) => bench::beside(length, record),
            None => usage(),
        },
        ["bench", "--scaling", options @ ..] => match bench::options(options) {
            Some((length, record)) => bench::scaling(length, record),
            None => usage(),
        },
        ["bench", "--attacks"] => bench::attacks(bench::Against::Chrysalid),
        ["bench", "--attacks", "--peers"] => bench::attacks(bench::Against::Peers),
        ["test", options @ ..] => match test::Options::parse(options) {
            Some(options) => Ok(test::run(&options)),
            None => usage(),
        },
        _ => usage(),
    }
}

fn usage() -> Result<ExitCode> {
    bail!("{USAGE}")
}

/// From the environment of this run: checkouts that share a target directory share this program too.
fn root() -> PathBuf {
    let package = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into()));
    package.parent().map(PathBuf::from).unwrap_or_default()
}

/// Cargo as it was called, in the root of the workspace.
fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(root());
    command
}

/// `cargo metadata` of the workspace's own packages.
fn metadata() -> Result<Value> {
    let output = cargo(&["metadata", "--no-deps", "--format-version", "1"]).output().context("cannot run cargo")?;
    if !output.status.success() {
        bail!("cargo metadata failed: {}", String::from_utf8_lossy(&output.stderr).trim_end());
    }
    serde_json::from_slice(&output.stdout).context("cannot read what cargo metadata says")
}

/// The objects in the list `key` of `value`.
fn list<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    value.get(key).and_then(Value::as_array).into_iter().flatten()
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}
