//! Builds `guest.wasm` from the repository's `guest/` folder; part of the build script and of `cargo xtask guest`.
//!
//! All that the compiler may read is first laid out under fixed names in a folder of the target directory, and the
//! compiler runs there with relative paths. So the bytes depend neither on where the repository lies nor on where it
//! is built, and one hash over that folder tells whether anything has changed.
//!
//! ```text
//! <target>/guest/<hash of the inputs>.wasm   results, shared by all profiles
//! <target>/guest/lock                        held while building or installing
//! <target>/guest/stage/                      the layout above, while building or after a failure
//! <target>/guest/cache/                      zig's own
//! <target>/zig-<version>/                    the compiler, when neither `$ZIG` nor the PATH has it
//! ```

mod interpreter;
mod lock;
pub(crate) mod source;
pub(crate) mod zig;

use std::fmt::{self, Write as _};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha256};

pub(crate) use lock::Lock;
use source::Source;

const FLAGS: &[&str] = &[
    "cc",
    "-target",
    "wasm32-wasi",
    "-mexec-model=reactor",
    "-O3",
    // How often each line of QuickJS runs, written by `bench/profile/profile.py`: the compiler puts into line what is called
    // often, and leaves what is not small. It finds lines by debug information, which `-s` drops again at the end.
    "-fprofile-sample-use=guest/guest.prof",
    "-gline-tables-only",
    "-s",
    // The ends of the interpreter's handlers look alike. Merging some parts of them keeps more values alive around all of them.
    "-mllvm",
    "-simplifycfg-sink-common=0",
    "-DNDEBUG",
    "-D_GNU_SOURCE",
    "-DFE_DOWNWARD=0",
    "-DFE_UPWARD=0",
    // Our files are held to this; QuickJS is not, since `-isystem` silences what comes from there.
    "-Wall",
    "-Wextra",
    "-Werror",
    "-isystem",
    "quickjs",
    "-Iguest",
    "-Wl,--export=__stack_pointer",
    "-Wl,--export=board",
    "-Wl,-z,stack-size=1048576",
    "-o",
    "guest.wasm",
];

/// `main.c` includes `quickjs.c` and the rest of our own; the others are one `#include` each, see [`source`].
const UNITS: &[&str] = &["guest/main.c", "libregexp.c", "libunicode.c", "dtoa.c"];

/// Variables that would let the machine's settings into the result.
const UNSET: &[&str] =
    &["CCC_OVERRIDE_OPTIONS", "CPATH", "C_INCLUDE_PATH", "SOURCE_DATE_EPOCH", "ZIG_LIB_DIR", "ZIG_LIBC"];

/// What the build for tests has beside [`FLAGS`]: single defences of it can be taken away.
const WEAKENED: &[&str] = &["-DCHRYSALID_WEAKENED", "-Wl,--export=weakened"];

/// Which of the two guests.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Shipped,
    Weakened,
}

impl Kind {
    fn flags(self) -> Vec<&'static str> {
        let more = if self == Self::Weakened { WEAKENED } else { &[] };
        FLAGS.iter().chain(more).copied().collect()
    }
}

/// A guest that was built, or found already built from the same inputs.
pub(crate) struct Guest {
    pub(crate) path: PathBuf,
    /// What `guest.lock` says.
    pub(crate) pinned: Lock,
    /// What it would have to say to admit this guest.
    pub(crate) found: Lock,
}

/// Builds what `folder` (the repository's `guest/`) holds. It does not compare the result with `guest.lock`: see
/// [`Lock::admit`].
pub(crate) fn build(folder: &Path, target: &Path, kind: Kind) -> Result<Guest> {
    let pinned = Lock::read(folder)?;
    let source = Source::read(folder)?.divided()?;
    let work = target.join("guest");
    create_folder(&work)?;
    let _held = hold(&work.join("lock"))?;

    let path = work.join(format!("{}.wasm", source.hash(&[&kind.flags(), UNITS, &[&pinned.zig]])));
    if !path.exists() {
        let zig = zig::find(&pinned.zig, folder, target)?;
        compile(&zig, &source, kind, &work, &path)?;
    }
    let found = Lock {
        quickjs_ng: source.quickjs_ng,
        rquickjs_sys: source.rquickjs_sys,
        zig: pinned.zig.clone(),
        guest_sha256: sha256(&read(&path)?),
    };
    Ok(Guest { path, pinned, found })
}

/// The guard is the open file: its lock ends with it, also when the process is killed.
pub(crate) fn hold(path: &Path) -> Result<File> {
    let file = File::create(path).map_err(|error| Error::file("open", path, &error))?;
    file.lock().map_err(|error| Error::file("lock", path, &error))?;
    Ok(file)
}

fn compile(zig: &Path, source: &Source, kind: Kind, work: &Path, to: &Path) -> Result<()> {
    let stage = work.join("stage");
    source.lay_out(&stage)?;
    let mut command = Command::new(zig);
    command.args(kind.flags()).args(UNITS).current_dir(&stage);
    for variable in UNSET {
        command.env_remove(variable);
    }
    // zig's cache does not look at the profile, so the name of the result, a hash over all inputs, has to tell it of a new one.
    let inputs = to.file_stem().unwrap_or_default().to_string_lossy();
    command.arg(format!("-DCHRYSALID_INPUTS={inputs}"));
    let cache = work.join("cache");
    command.env("ZIG_GLOBAL_CACHE_DIR", &cache).env("ZIG_LOCAL_CACHE_DIR", &cache);
    output(&mut command).map_err(|error| Error::new(format!("cannot compile the guest\n{error}")))?;

    let wasm = stage.join("guest.wasm");
    fs::rename(&wasm, to).map_err(|error| Error::file("move", &wasm, &error))?;
    remove_folder(&stage)
}

/// The standard output of a command that has to succeed.
pub(crate) fn output(command: &mut Command) -> Result<Vec<u8>> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| Error::new(format!("cannot run `{program}`: {error}")))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let message = String::from_utf8_lossy(&output.stderr);
    Err(Error::new(format!("`{program}` failed, {}\n{}", output.status, message.trim_end())))
}

pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

pub(crate) fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(|error| Error::file("read", path, &error))
}

/// Whoever reads `path` meanwhile sees the old bytes or the new ones, never a part.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let new = path.with_added_extension(format!("{}.new", std::process::id()));
    fs::write(&new, bytes).map_err(|error| Error::file("write", &new, &error))?;
    fs::rename(&new, path).map_err(|error| Error::file("replace", path, &error))
}

pub(crate) fn create_folder(path: &Path) -> Result<()> {
    fs::create_dir_all(path).map_err(|error| Error::file("create", path, &error))
}

fn remove_folder(path: &Path) -> Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::file("remove", path, &error)),
        _ => Ok(()),
    }
}

/// Why there is no guest, in words for the person who builds.
#[derive(Debug)]
pub(crate) struct Error(String);

pub(crate) type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    fn file(verb: &str, path: &Path, error: &io::Error) -> Self {
        Self(format!("cannot {verb} {}: {error}", path.display()))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}
