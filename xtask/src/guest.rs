//! `cargo xtask guest`: builds `guest.wasm` with the code of the crate's build script, and pins it.

#[path = "../../crates/chrysalid/build/guest.rs"]
pub(crate) mod build;

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;

/// What happens to `guest/guest.lock`.
#[derive(Clone, Copy)]
pub(crate) enum Lockfile {
    /// Another guest than it pins is an error.
    Compare,
    Write,
}

pub(crate) fn build(lockfile: Lockfile) -> Result<ExitCode> {
    let folder = crate::root().join("guest");
    let metadata = crate::metadata()?;
    let target = Path::new(crate::text(&metadata, "target_directory"));

    let built = build::build(&folder, target, build::Kind::Shipped)?;
    println!("path    {}", built.path.display());
    println!("bytes   {}", build::read(&built.path)?.len());
    println!("sha256  {}", built.found.guest_sha256);
    match lockfile {
        Lockfile::Compare => built.pinned.admit(&built.found)?,
        Lockfile::Write if built.pinned == built.found => println!("guest/guest.lock pins it already"),
        Lockfile::Write => {
            build::write(&folder.join("guest.lock"), built.found.to_string().as_bytes())?;
            println!("guest/guest.lock pins it now");
        }
    }
    Ok(ExitCode::SUCCESS)
}
