//! Finds `guest.wasm` and hands it to the crate as `CHRYSALID_GUEST_WASM` (a path, for `include_bytes!`) and
//! `CHRYSALID_GUEST_SHA256` (hex).
//!
//! Three places, in this order: the file named by the variable `CHRYSALID_GUEST`, as it is; `guest.wasm` beside this
//! file, which only a published package has; a build from the repository's `guest/` folder, compared with
//! `guest/guest.lock`.

#[path = "build/guest.rs"]
mod guest;

use std::env;
use std::path::{Path, PathBuf};

use guest::{Error, Kind, Result};

fn main() {
    println!("cargo::rerun-if-env-changed=CHRYSALID_GUEST");
    println!("cargo::rerun-if-env-changed=ZIG");
    // The parser of programs needs more stack where it is not optimised: `program/stack.rs`.
    println!("cargo::rustc-check-cfg=cfg(chrysalid_unoptimized)");
    if !matches!(env::var("OPT_LEVEL").as_deref(), Ok("2" | "3")) {
        println!("cargo::rustc-cfg=chrysalid_unoptimized");
    }
    println!("cargo::rustc-env=CHRYSALID_TARGET={}", env::var("TARGET").unwrap_or_default());
    if let Err(error) = embed() {
        for line in error.to_string().lines() {
            println!("cargo::error={line}");
        }
    }
}

fn embed() -> Result<()> {
    let package = folder("CARGO_MANIFEST_DIR")?;
    let out = folder("OUT_DIR")?;
    let wasm = guest::read(&find(&package, &out)?)?;
    let path = out.join("guest.wasm");
    guest::write(&path, &wasm)?;
    println!("cargo::rustc-env=CHRYSALID_GUEST_WASM={}", path.display());
    println!("cargo::rustc-env=CHRYSALID_GUEST_SHA256={}", guest::sha256(&wasm));
    if env::var_os("CARGO_FEATURE_WEAKEN").is_some() {
        let weakened = guest::build(&source(&package), target(&out), Kind::Weakened)?;
        println!("cargo::rustc-env=CHRYSALID_WEAKENED_WASM={}", weakened.path.display());
    }
    Ok(())
}

fn find(package: &Path, out: &Path) -> Result<PathBuf> {
    if let Some(given) = env::var_os("CHRYSALID_GUEST").filter(|path| !path.is_empty()) {
        let given = PathBuf::from(given);
        println!("cargo::rerun-if-changed={}", given.display());
        return Ok(given);
    }
    let packaged = package.join("guest.wasm");
    if packaged.exists() {
        println!("cargo::rerun-if-changed={}", packaged.display());
        return Ok(packaged);
    }
    // Relative for Cargo, which may keep the line for another checkout with the same target directory.
    println!("cargo::rerun-if-changed=../../guest");
    let built = guest::build(&source(package), target(out), Kind::Shipped)?;
    built.pinned.admit(&built.found)?;
    Ok(built.path)
}

/// The repository's `guest/` folder.
fn source(package: &Path) -> PathBuf {
    package.ancestors().nth(2).unwrap_or(package).join("guest")
}

/// Cargo marks the target directory with `CACHEDIR.TAG`, wherever its settings have put it.
fn target(out: &Path) -> &Path {
    out.ancestors().find(|folder| folder.join("CACHEDIR.TAG").exists()).unwrap_or(out)
}

fn folder(variable: &str) -> Result<PathBuf> {
    let path = env::var_os(variable).ok_or_else(|| Error::new(format!("{variable} is not set by Cargo")))?;
    Ok(PathBuf::from(path))
}
