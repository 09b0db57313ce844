//! `cargo xtask bench`: builds both sides of the benchmark and runs it.
//!
//! ```text
//! <target>/bench/native-<hash>  bench/native.c with the guest's own QuickJS source, by the guest's own compiler
//! <target>/bench.json           what was measured
//! <target>/attacks.json         what attacks got
//! <target>/peers.json           what was measured beside peers
//! <target>/scaling.json         what was measured of many sessions and large heaps
//! <target>/bench/peers/         peers, for `--peers` alone
//! ```
//!
//! Our own crates are built without the debug assertions that all their other builds have; a profile of its own would
//! build wasmtime a second time.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result, bail};

use crate::guest::build;
use crate::{peers, python};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Length {
    Full,
    /// Fewer turns: a look, not a result.
    Quick,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Against {
    Chrysalid,
    /// Other hosts as well, which takes much longer: many of them do not stop.
    Peers,
}

/// The flags of the guest less those that only a WebAssembly file has. Portable, as the guest is and as native builds of
/// QuickJS-ng are handed out: not for this machine's processor alone.
const FLAGS: &[&str] = &[
    "cc",
    "-O3",
    "-s",
    "-DNDEBUG",
    "-D_GNU_SOURCE",
    "-mcpu=baseline",
    "-fno-sanitize=undefined",
    "-isystem",
    "quickjs",
];

/// Beside `native.c`, which includes `quickjs.c`.
const UNITS: &[&str] = &["libregexp.c", "libunicode.c", "dtoa.c", "-lm", "-lpthread"];

pub(crate) fn run(length: Length) -> Result<ExitCode> {
    let metadata = crate::metadata()?;
    let target = PathBuf::from(crate::text(&metadata, "target_directory"));
    let folder = crate::root().join("guest");
    let guest = build::build(&folder, &target, build::Kind::Shipped)?;
    let native = native(&folder, &target, &guest.pinned.zig)?;
    program(&metadata)?;

    let mut command = bench(&target);
    command.arg("--native").arg(native).arg("--json").arg(target.join("bench.json"));
    if length == Length::Quick {
        command.arg("--quick");
    }
    finish(command, &guest.found)
}

/// Whether what was measured goes into docs/performance.md.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Record {
    Nothing,
    Page,
}

/// What stands behind `--peers` and `--scaling`.
pub(crate) fn options(words: &[&str]) -> Option<(Length, Record)> {
    let (mut length, mut record) = (Length::Full, Record::Nothing);
    for word in words {
        match *word {
            "--quick" => length = Length::Quick,
            "--record" => record = Record::Page,
            _ => return None,
        }
    }
    Some((length, record))
}

/// The same work on Chrysalid and on its peers, which are installed first.
pub(crate) fn beside(length: Length, record: Record) -> Result<ExitCode> {
    let metadata = crate::metadata()?;
    let target = PathBuf::from(crate::text(&metadata, "target_directory"));
    let folder = crate::root().join("guest");
    let guest = build::build(&folder, &target, build::Kind::Shipped)?;
    let native = native(&folder, &target, &guest.pinned.zig)?;
    program(&metadata)?;
    let peers = peers::install(&target)?;
    let mut extension = crate::cargo(&["build", "--release", "--quiet", "--package", "chrysalid-python"]);
    without_assertions(&mut extension, &metadata);
    if !extension.status().context("cannot run cargo")?.success() {
        bail!("the extension does not compile");
    }
    python::install_built(&peers.python, &peers::site_packages(&peers.python)?)?;

    let mut command = bench(&target);
    command.arg("beside").arg("--native").arg(native).arg("--json").arg(target.join("peers.json"));
    command
        .arg("--command-line")
        .arg(target.join("release").join(format!("chrysalid{}", std::env::consts::EXE_SUFFIX)));
    command.arg("--python").arg(&peers.python).arg("--node").arg(&peers.node).arg("--scripts").arg(&peers.scripts);
    for (name, version) in &peers.versions {
        command.arg("--version").arg(format!("{name}={version}"));
    }
    finish(shortened(command, length, record), &guest.found)
}

/// Many sessions, large heaps, long sessions.
pub(crate) fn scaling(length: Length, record: Record) -> Result<ExitCode> {
    let metadata = crate::metadata()?;
    let target = PathBuf::from(crate::text(&metadata, "target_directory"));
    let guest = build::build(&crate::root().join("guest"), &target, build::Kind::Shipped)?;
    program(&metadata)?;
    let mut command = bench(&target);
    command.arg("scaling").arg("--json").arg(target.join("scaling.json"));
    finish(shortened(command, length, record), &guest.found)
}

fn shortened(mut command: Command, length: Length, record: Record) -> Command {
    if length == Length::Quick {
        command.arg("--quick");
    }
    if record == Record::Page {
        command.arg("--page").arg(crate::root().join("docs").join("performance.md"));
    }
    command
}

/// What attacks get out of a session, and out of other hosts of QuickJS where they are asked for.
pub(crate) fn attacks(against: Against) -> Result<ExitCode> {
    let metadata = crate::metadata()?;
    let target = PathBuf::from(crate::text(&metadata, "target_directory"));
    let guest = build::build(&crate::root().join("guest"), &target, build::Kind::Shipped)?;
    program(&metadata)?;

    let mut command = bench(&target);
    command.arg("attacks").arg("--json").arg(target.join("attacks.json"));
    if against == Against::Peers {
        for peer in peers::install(&target)?.attacked()? {
            command.arg("--peer").arg(peer.name).arg(peer.program).arg(peer.script);
            command.arg("--version").arg(format!("{}={}", peer.name, peer.version));
        }
    }
    finish(command, &guest.found)
}

fn bench(target: &Path) -> Command {
    Command::new(target.join("release").join(format!("chrysalid-bench{}", std::env::consts::EXE_SUFFIX)))
}

fn finish(mut command: Command, lock: &build::Lock) -> Result<ExitCode> {
    let versions = [
        ("chrysalid", env!("CARGO_PKG_VERSION").to_owned()),
        ("guest_sha256", lock.guest_sha256.clone()),
        ("quickjs_ng", lock.quickjs_ng.clone()),
        ("zig", lock.zig.clone()),
        ("wasmtime", locked_version("wasmtime")?),
        ("rustc", rustc_version()?),
    ];
    for (name, version) in versions {
        command.arg("--version").arg(format!("{name}={version}"));
    }
    let status = command.status().context("cannot run the benchmark")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn native(folder: &Path, target: &Path, zig_version: &str) -> Result<PathBuf> {
    let source = build::source::Source::read(folder)?;
    let runner = crate::root().join("bench").join("native.c");
    let text = String::from_utf8(build::read(&runner)?).context("bench/native.c is not UTF-8")?;
    let work = target.join("bench");
    build::create_folder(&work)?;
    let _held = build::hold(&work.join("lock"))?;

    let hash = source.hash(&[FLAGS, UNITS, &[zig_version, &text]]);
    let path = work.join(format!("native-{hash}{}", std::env::consts::EXE_SUFFIX));
    if path.exists() {
        return Ok(path);
    }
    let stage = work.join("stage");
    source.lay_out(&stage)?;
    let mut command = Command::new(build::zig::find(zig_version, folder, target)?);
    command.args(FLAGS).arg(&runner).args(UNITS);
    command.arg("-o").arg(&path).current_dir(&stage);
    let cache = work.join("cache");
    command.env("ZIG_GLOBAL_CACHE_DIR", &cache).env("ZIG_LOCAL_CACHE_DIR", &cache);
    build::output(&mut command).context("cannot compile the native runner")?;
    Ok(path)
}

/// Builds the benchmark's program and the command line, so that wasmtime is the one of `cargo build`.
fn program(metadata: &serde_json::Value) -> Result<()> {
    let mut command =
        crate::cargo(&["build", "--release", "--quiet", "--bin", "chrysalid-bench", "--bin", "chrysalid"]);
    command.args(["--package", "chrysalid-bench", "--package", "chrysalid-cli"]);
    without_assertions(&mut command, metadata);
    if !command.status().context("cannot run cargo")?.success() {
        bail!("cannot build the benchmark");
    }
    Ok(())
}

fn without_assertions(command: &mut Command, metadata: &serde_json::Value) {
    for package in crate::list(metadata, "packages") {
        let name = crate::text(package, "name");
        for check in ["debug-assertions", "overflow-checks"] {
            command.arg("--config").arg(format!("profile.release.package.{name}.{check}=false"));
        }
    }
}

fn locked_version(package: &str) -> Result<String> {
    let lock = String::from_utf8(build::read(&crate::root().join("Cargo.lock"))?)?;
    version_in(&lock, package).map(str::to_owned).with_context(|| format!("Cargo.lock has no {package}"))
}

fn version_in<'a>(lock: &'a str, package: &str) -> Option<&'a str> {
    let name = format!("name = \"{package}\"");
    let mut lines = lock.lines().skip_while(|line| *line != name);
    lines.nth(1)?.strip_prefix("version = \"")?.strip_suffix('"')
}

fn rustc_version() -> Result<String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = build::output(Command::new(rustc).arg("--version"))?;
    Ok(String::from_utf8_lossy(&output).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::version_in;

    #[test]
    fn a_version_is_that_of_the_whole_name() {
        let lock = "[[package]]\nname = \"wasm\"\nversion = \"1.0.0\"\n\n[[package]]\nname = \"wasmtime\"\nversion = \"48.0.1\"\n";
        assert_eq!(version_in(lock, "wasmtime"), Some("48.0.1"));
        assert_eq!(version_in(lock, "time"), None);
    }
}
