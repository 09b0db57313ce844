//! The Python package: staged for its tests, and built as a wheel.
//!
//! Virtual environments are made in the target directory, from the pinned files in `crates/chrysalid-python/requirements`,
//! and made again when a file changes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

/// The crate, below the root.
const PACKAGE: &str = "crates/chrysalid-python";

/// Our packages that go into the extension; released without the assertions that the tests' build has.
const OURS: [&str; 3] = ["chrysalid", "chrysalid-policy", "chrysalid-python"];

/// Writes the compiled guest into the file that is its argument.
const PRECOMPILE: &str = "import sys, chrysalid._native as native; open(sys.argv[1], 'wb').write(native.precompile())";

/// How long a first program may take, from the start of its process, and how often that is tried.
const FIRST_PROGRAM: Duration = Duration::from_millis(300);
const FIRST_TURNS: u32 = 5;

/// A virtual environment with what one file pins.
pub(crate) struct Environment {
    home: PathBuf,
}

impl Environment {
    /// The environment of `requirements/<name>.txt`, made if it is not there as the file is now.
    pub(crate) fn of(name: &str) -> Result<Self> {
        let requirements = package().join("requirements").join(name).with_extension("txt");
        let wanted =
            fs::read_to_string(&requirements).with_context(|| format!("cannot read {}", requirements.display()))?;
        let environment = Self { home: home()?.join(name) };
        let mark = environment.home.join("requirements.txt");
        if fs::read_to_string(&mark).is_ok_and(|there| there == wanted) && environment.starts() {
            return Ok(environment);
        }
        println!("installing the Python packages of {name}");
        if environment.home.exists() {
            fs::remove_dir_all(&environment.home)
                .with_context(|| format!("cannot remove {}", environment.home.display()))?;
        }
        said(Command::new("python3").args(["-m", "venv"]).arg(&environment.home))?;
        let mut pip = environment.python();
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--require-hashes"]);
        said(pip.args(["--only-binary", ":all:", "--requirement"]).arg(&requirements))?;
        fs::write(&mark, wanted).with_context(|| format!("cannot write {}", mark.display()))?;
        Ok(environment)
    }

    fn starts(&self) -> bool {
        self.python().arg("--version").output().is_ok_and(|output| output.status.success())
    }

    /// Its Python.
    pub(crate) fn python(&self) -> Command {
        Command::new(self.program("python"))
    }

    fn program(&self, name: &str) -> PathBuf {
        self.home.join("bin").join(name)
    }
}

fn package() -> PathBuf {
    crate::root().join(PACKAGE)
}

fn target() -> Result<PathBuf> {
    Ok(PathBuf::from(crate::text(&crate::metadata()?, "target_directory")))
}

fn home() -> Result<PathBuf> {
    let home = target()?.join("python");
    fs::create_dir_all(&home).with_context(|| format!("cannot make {}", home.display()))?;
    Ok(home)
}

/// The folder with the package as tests import it: its sources, and the extension with its assertions.
pub(crate) fn stage() -> Result<PathBuf> {
    let arguments = ["build", "--release", "--quiet", "--package", "chrysalid-python"];
    if !crate::cargo(&arguments).status().context("cannot run cargo")?.success() {
        bail!("the extension does not compile");
    }
    let stage = home()?.join("stage");
    let there = stage.join("chrysalid");
    if there.exists() {
        fs::remove_dir_all(&there).with_context(|| format!("cannot remove {}", there.display()))?;
    }
    copy_sources(&package().join("python").join("chrysalid"), &there)?;
    let library = target()?.join("release").join("libchrysalid_python.so");
    fs::copy(&library, there.join("_native.abi3.so")).with_context(|| format!("cannot copy {}", library.display()))?;
    Ok(stage)
}

/// Puts the package into a Python's site-packages as its wheel would: the extension that was just built, the compiled guest,
/// and bytecode.
pub(crate) fn install_built(python: &Path, site_packages: &Path) -> Result<()> {
    let there = site_packages.join("chrysalid");
    empty(&there)?;
    copy_sources(&package().join("python").join("chrysalid"), &there)?;
    let built = target()?.join("release").join("libchrysalid_python.so");
    fs::copy(&built, there.join("_native.abi3.so")).with_context(|| format!("cannot copy {}", built.display()))?;
    said(Command::new(python).args(["-c", PRECOMPILE]).arg(there.join("guest.cwasm")))?;
    said(Command::new(python).args(["-m", "compileall", "-q"]).arg(&there))
}

fn copy_sources(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).with_context(|| format!("cannot make {}", to.display()))?;
    for entry in fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))? {
        let path = entry.context("cannot read a folder")?.path();
        let name = path.file_name().unwrap_or_default();
        let source = path.extension().is_some_and(|end| end == "py" || end == "pyi" || end == "typed");
        if path.is_dir() && name != "__pycache__" {
            copy_sources(&path, &to.join(name))?;
        } else if source || name == "py.typed" {
            fs::copy(&path, to.join(name)).with_context(|| format!("cannot copy {}", path.display()))?;
        }
    }
    Ok(())
}

/// How many tests passed and failed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
}

/// Runs pytest over a part of the tests.
pub(crate) fn pytest(environment: &Environment, stage: &Path, arguments: &[&str]) -> Result<Tally> {
    let mut command = environment.python();
    command.args(["-m", "pytest", "-q", "-p", "no:cacheprovider"]);
    command.args(arguments).current_dir(package());
    command.env("PYTHONPATH", stage).env("PYTHONDONTWRITEBYTECODE", "1").stdin(Stdio::null());
    let output = command.stderr(Stdio::inherit()).output().context("cannot run pytest")?;
    let text = String::from_utf8_lossy(&output.stdout);
    print!("{text}");
    let mut tally = Tally::of(&text);
    // 5: no test was selected.
    if !output.status.success() && output.status.code() != Some(5) && tally.failed == 0 {
        tally.failed = 1;
    }
    Ok(tally)
}

impl Tally {
    /// Reads the runner's last line, such as `2 failed, 40 passed, 1 error in 3.21s`.
    fn of(output: &str) -> Self {
        let last = output
            .lines()
            .rev()
            .find(|line| line.contains(" passed") || line.contains(" failed") || line.contains(" error"));
        let mut tally = Self::default();
        for part in last.unwrap_or_default().trim_matches('=').split(',') {
            let mut words = part.split_whitespace();
            let (number, word) = (words.next().and_then(|word| word.parse::<u64>().ok()), words.next());
            match (number, word) {
                (Some(number), Some("passed")) => tally.passed += number,
                (Some(number), Some("failed" | "error" | "errors")) => tally.failed += number,
                _ => {}
            }
        }
        tally
    }
}

/// Types, stubs and style of the package.
pub(crate) fn checks(environment: &Environment, stage: &Path) -> Result<bool> {
    let mut passed = true;
    for arguments in [
        ["-m", "mypy", "--strict", "-p", "chrysalid"].as_slice(),
        &["-m", "mypy.stubtest", "chrysalid._native"],
        &["-m", "ruff", "check", "."],
        &["-m", "ruff", "format", "--check", "."],
    ] {
        let mut command = environment.python();
        command.args(arguments).current_dir(package());
        command.env("MYPYPATH", stage).env("PYTHONPATH", stage).env("MYPY_CACHE_DIR", home()?.join("mypy"));
        let succeeded = command.env("RUFF_NO_CACHE", "true").status().context("cannot run python")?.success();
        if !succeeded {
            eprintln!("error: python {} failed", arguments.join(" "));
        }
        passed &= succeeded;
    }
    Ok(passed)
}

/// `cargo xtask wheel`: the wheel, with the compiled guest in it; its path is the last line.
pub(crate) fn wheel() -> Result<ExitCode> {
    let environment = Environment::of("build")?;
    let folder = target()?.join("wheels");
    for file in ["LICENSE-APACHE", "LICENSE-MIT", "THIRD-PARTY-NOTICES"] {
        let copy = package().join(file);
        fs::copy(crate::root().join(file), &copy).with_context(|| format!("cannot write {}", copy.display()))?;
    }
    let out = home()?.join("maturin");
    empty(&out)?;
    let mut maturin = Command::new(environment.program("maturin"));
    maturin.args(["build", "--release", "--locked", "--out"]).arg(&out);
    for name in OURS {
        maturin.args(["--config", &format!("profile.release.package.{name}.debug-assertions=false")]);
        maturin.args(["--config", &format!("profile.release.package.{name}.overflow-checks=false")]);
    }
    if !maturin.current_dir(package()).status().context("cannot run maturin")?.success() {
        bail!("maturin built no wheel");
    }
    let unpacked = home()?.join("unpacked");
    empty(&unpacked)?;
    said(environment.python().args(["-m", "wheel", "unpack", "--dest"]).arg(&unpacked).arg(only_entry(&out)?))?;
    let tree = only_entry(&unpacked)?;
    let compiled = tree.join("chrysalid").join("guest.cwasm");
    said(environment.python().args(["-c", PRECOMPILE]).arg(&compiled).env("PYTHONPATH", &tree))?;
    remove_caches(&tree)?;
    empty(&folder)?;
    said(environment.python().args(["-m", "wheel", "pack", "--dest-dir"]).arg(&folder).arg(&tree))?;
    let wheel = only_entry(&folder)?;
    first_program(&wheel)?;
    println!("{} bytes", fs::metadata(&wheel)?.len());
    println!("{}", wheel.display());
    Ok(ExitCode::SUCCESS)
}

/// Installs the wheel as a user would who has neither compiler nor network, and runs a first program with an empty home.
fn first_program(wheel: &Path) -> Result<()> {
    let fresh = home()?.join("fresh");
    empty(&fresh)?;
    let venv = fresh.join("venv");
    said(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
    let python = venv.join("bin").join("python");
    let mut pip = Command::new(&python);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", "--no-compile"]);
    said(pip.arg(wheel))?;
    let program = "import chrysalid; print(chrysalid.Engine().session().run('20 + 22').value)";
    let mut took = Vec::new();
    for turn in 0..FIRST_TURNS {
        let empty_home = fresh.join(format!("home-{turn}"));
        fs::create_dir_all(&empty_home)?;
        let mut command = Command::new(&python);
        command.args(["-c", program]).env_clear().env("HOME", &empty_home);
        let began = Instant::now();
        let output = command.output().context("cannot run the fresh Python")?;
        took.push(began.elapsed());
        if output.stdout != b"42\n" {
            bail!("the first program gave {:?}: {}", output.stdout, String::from_utf8_lossy(&output.stderr));
        }
    }
    let best = took.iter().min().copied().unwrap_or_default();
    println!(
        "first program in a new process, nothing cached: {best:?} (best of {FIRST_TURNS}), at most {FIRST_PROGRAM:?}"
    );
    if best > FIRST_PROGRAM {
        bail!("the first program takes longer than {FIRST_PROGRAM:?}");
    }
    Ok(())
}

fn empty(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))
}

fn only_entry(folder: &Path) -> Result<PathBuf> {
    let mut entries = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let first = entries.next().with_context(|| format!("{} is empty", folder.display()))?;
    Ok(first.context("cannot read a folder")?.path())
}

fn remove_caches(folder: &Path) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() && path.file_name().is_some_and(|name| name == "__pycache__") {
            fs::remove_dir_all(&path)?;
        } else if path.is_dir() {
            remove_caches(&path)?;
        }
    }
    Ok(())
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
    use super::Tally;

    #[test]
    fn the_runners_last_line_is_read() {
        let tally = |line: &str| Tally::of(&format!("......\n{line}\n"));
        assert_eq!(tally("40 passed in 3.21s"), Tally { passed: 40, failed: 0 });
        assert_eq!(tally("2 failed, 40 passed, 3 errors in 3.21s"), Tally { passed: 40, failed: 5 });
        assert_eq!(tally("=== 1 failed, 1 warning, 2 passed in 0.1s ==="), Tally { passed: 2, failed: 1 });
        assert_eq!(tally("no tests ran in 0.01s"), Tally::default());
    }
}
