//! `cargo xtask counts`: what work costs without a clock, compared with `bench/counts.toml`.
//!
//! The program is built as the tests are, debug assertions and all, which is also how `cargo build --release` makes the
//! command line; so nothing is compiled for it alone.

use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result, bail};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Recorded {
    Compare,
    Write,
}

pub(crate) fn run(recorded: Recorded) -> Result<ExitCode> {
    // With the tests' features and targets, else half of the tree would be compiled again.
    let build = ["build", "--release", "--workspace", "--all-features", "--bins", "--examples", "--quiet"];
    if !crate::cargo(&build).status().context("cannot run cargo")?.success() {
        bail!("cannot build the program that counts");
    }
    let metadata = crate::metadata()?;
    let release = Path::new(crate::text(&metadata, "target_directory")).join("release");
    let mut command = Command::new(release.join(format!("chrysalid-counts{}", std::env::consts::EXE_SUFFIX)));
    command.arg(if recorded == Recorded::Write { "record" } else { "check" });
    command.arg(crate::root().join("bench").join("counts.toml"));
    for (name, version) in compilers()? {
        command.arg("--with").arg(format!("{name}={version}"));
    }
    let status = command.status().context("cannot run the program that counts")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What made the machine code that is counted: the compilers of Rust and of C, and the C library. Where one cannot be
/// asked it has no version, which is then not that of another machine.
fn compilers() -> Result<Vec<(&'static str, String)>> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let said = Command::new(rustc).arg("-vV").output().context("cannot run rustc")?;
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    let flags = std::env::var("RUSTFLAGS").unwrap_or_default();
    let cc = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let mut libc = Command::new("getconf");
    libc.arg("GNU_LIBC_VERSION");
    let mut versions = vec![
        ("rustc", said.lines().next().unwrap_or_default().to_owned()),
        ("target", said.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default().to_owned()),
        ("cc", first_line(Command::new(cc).arg("--version"))),
        ("libc", first_line(&mut libc)),
    ];
    if !flags.is_empty() {
        versions.push(("rustflags", flags));
    }
    Ok(versions)
}

fn first_line(command: &mut Command) -> String {
    let output = command.output().map(|output| output.stdout).unwrap_or_default();
    String::from_utf8_lossy(&output).lines().next().unwrap_or_default().trim().to_owned()
}
