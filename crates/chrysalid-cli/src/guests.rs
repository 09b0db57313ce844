//! Guest builds that saved programs belong to, kept beside the key: `chrysalid/guests/<sha256>.wasm` in the user's state
//! folder. A program that was saved before an upgrade is resumed with the guest that it was saved with.
//!
//! A guest is believed by its hash alone, and what it can do is what any guest can do: nothing but its four imports.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use chrysalid::Engine;
use sha2::{Digest, Sha256};

use crate::drive::hex;
use crate::exit::Refusal;

/// Keeps the guest of a program that is being saved, unless it is there. One that cannot be kept is no reason not to
/// save: it is needed only after an upgrade.
pub(crate) fn keep(guest: &[u8]) {
    let hash: [u8; 32] = Sha256::digest(guest).into();
    if let Some(folder) = folder()
        && !path(&folder, &hash).exists()
    {
        let _ = write(&folder, &hash, guest);
    }
}

/// The engine for a snapshot: the usual one, or with the older guest that the snapshot asks for.
pub(crate) fn engine_for(
    snapshot: &[u8],
    make: impl Fn(Option<Vec<u8>>) -> Result<Engine, Refusal>,
) -> Result<Engine, Refusal> {
    let engine = make(None)?;
    // What else is wrong with the snapshot is told by whoever restores it.
    let Ok(inspection) = engine.inspect(snapshot) else { return Ok(engine) };
    if inspection.guest_is_known {
        return Ok(engine);
    }
    match folder().and_then(|folder| fs::read(path(&folder, &inspection.guest)).ok()) {
        Some(guest) => make(Some(guest)),
        None => Ok(engine),
    }
}

fn write(folder: &Path, hash: &[u8; 32], guest: &[u8]) -> std::io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let draft = folder.join(format!("{}.draft", std::process::id()));
    let mut file = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
    file.write_all(guest)?;
    fs::rename(&draft, path(folder, hash))
}

fn path(folder: &Path, hash: &[u8; 32]) -> PathBuf {
    folder.join(format!("{}.wasm", hex(hash)))
}

fn folder() -> Option<PathBuf> {
    Some(state_folder()?.join("guests"))
}

/// The folder `chrysalid` in the user's state folder; it need not exist.
pub(crate) fn state_folder() -> Option<PathBuf> {
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = absolute("XDG_STATE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local/state")))?;
    Some(state.join("chrysalid"))
}
