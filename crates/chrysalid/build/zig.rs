//! The compiler, in exactly one version: `$ZIG`, else `zig` on the PATH, else the PyPI wheel, installed into the
//! target directory. `guest/zig-requirements.txt` pins the wheel's bytes.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Error, Result};

/// The caller holds the lock of the target directory: two builds may come here at once.
pub(crate) fn find(version: &str, folder: &Path, target: &Path) -> Result<PathBuf> {
    if let Some(given) = env::var_os("ZIG").filter(|path| !path.is_empty()) {
        return match version_of(&given)? {
            found if found == version => absolute(&given),
            found => Err(Error::new(format!("$ZIG is zig {found}, the guest needs {version}"))),
        };
    }
    if version_of(OsStr::new("zig")).is_ok_and(|found| found == version) {
        return Ok(PathBuf::from("zig"));
    }
    let home = target.join(format!("zig-{version}"));
    let zig = home.join("ziglang").join(format!("zig{}", env::consts::EXE_SUFFIX));
    if version_of(zig.as_os_str()).is_ok_and(|found| found == version) {
        return Ok(zig);
    }
    install(folder, &home).map_err(|error| {
        Error::new(format!(
            "cannot install zig {version}, the guest's compiler\n{error}\n\
             set ZIG to a zig {version}, or CHRYSALID_GUEST to a guest.wasm that is already built"
        ))
    })?;
    match version_of(zig.as_os_str())? {
        found if found == version => Ok(zig),
        found => Err(Error::new(format!("guest/zig-requirements.txt pins zig {found}, guest.lock {version}"))),
    }
}

fn version_of(zig: &OsStr) -> Result<String> {
    let output = super::output(Command::new(zig).arg("version"))?;
    Ok(String::from_utf8_lossy(&output).trim().to_owned())
}

/// The compiler is started from another folder; a bare name is still looked up on the PATH.
fn absolute(zig: &OsStr) -> Result<PathBuf> {
    let path = PathBuf::from(zig);
    if path.components().count() < 2 {
        return Ok(path);
    }
    std::path::absolute(&path).map_err(|error| Error::file("find", &path, &error))
}

/// With the pip of some Python, else with the pip of a virtual environment: Debian's Python comes without.
fn install(folder: &Path, home: &Path) -> Result<()> {
    let new = home.with_added_extension("new");
    super::remove_folder(&new)?;
    let mut errors = Vec::new();
    for python in ["python3", "python"] {
        let installed = pip(OsStr::new(python), folder, &new).or_else(|without| {
            let venv = home.with_added_extension("venv");
            let made = virtual_environment(python, &venv).and_then(|python| pip(python.as_os_str(), folder, &new));
            super::remove_folder(&venv)?;
            made.map_err(|with| Error::new(format!("{without}\n{with}")))
        });
        match installed {
            Ok(()) => {
                super::remove_folder(home)?;
                return fs::rename(&new, home).map_err(|error| Error::file("move", &new, &error));
            }
            Err(error) => errors.push(error.to_string()),
        }
    }
    Err(Error::new(errors.join("\n")))
}

fn pip(python: &OsStr, folder: &Path, to: &Path) -> Result<()> {
    let mut command = Command::new(python);
    command.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]);
    command.args(["--only-binary", ":all:", "--require-hashes", "--target"]).arg(to);
    command.arg("--requirement").arg(folder.join("zig-requirements.txt"));
    super::output(&mut command).map(drop)
}

fn virtual_environment(python: &str, at: &Path) -> Result<PathBuf> {
    super::remove_folder(at)?;
    super::output(Command::new(python).args(["-m", "venv"]).arg(at))?;
    Ok(if cfg!(windows) { at.join("Scripts").join("python.exe") } else { at.join("bin").join("python") })
}
