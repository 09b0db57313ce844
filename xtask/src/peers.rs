//! Other hosts of QuickJS for `cargo xtask bench --attacks --peers`, installed into the target directory. The files in
//! `bench/peers` pin their versions and bytes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::guest::build;

/// One host, and how it is started.
pub(crate) struct Peer {
    pub(crate) name: &'static str,
    pub(crate) version: String,
    pub(crate) program: PathBuf,
    pub(crate) script: PathBuf,
}

pub(crate) fn install(target: &Path) -> Result<Vec<Peer>> {
    let home = target.join("bench").join("peers");
    build::create_folder(&home)?;
    Ok(vec![quickjs_rs(&home)?, quickjs_wasi(&home)?])
}

/// From PyPI, in a virtual environment.
fn quickjs_rs(home: &Path) -> Result<Peer> {
    let (name, script) = ("quickjs-rs", home.join("on_quickjs_rs.py"));
    let requirements = source("requirements.txt");
    fs::copy(source("on_quickjs_rs.py"), &script).context("cannot copy a script")?;
    let venv = home.join("venv");
    let python = venv.join("bin").join("python");
    said(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
    let mut pip = Command::new(&python);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary", ":all:"]);
    said(pip.args(["--require-hashes", "--requirement"]).arg(&requirements))?;
    let text = String::from_utf8(build::read(&requirements)?)?;
    Ok(Peer { name, version: pinned(&text, name)?, program: python, script })
}

/// From npm.
fn quickjs_wasi(home: &Path) -> Result<Peer> {
    let (name, folder) = ("quickjs-wasi", home.join("node"));
    build::create_folder(&folder)?;
    for file in ["package.json", "package-lock.json", "on_quickjs_wasi.mjs"] {
        fs::copy(source(file), folder.join(file)).with_context(|| format!("cannot copy {file}"))?;
    }
    let mut npm = Command::new("npm");
    said(npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel", "error"]).current_dir(&folder))?;
    let package: serde_json::Value = serde_json::from_slice(&build::read(&folder.join("package.json"))?)?;
    let version = package.pointer("/dependencies/quickjs-wasi").and_then(|version| version.as_str());
    let version = version.context("package.json names no quickjs-wasi")?.to_owned();
    Ok(Peer { name, version, program: crate::node::find()?, script: folder.join("on_quickjs_wasi.mjs") })
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
