//! The guest's inputs, under the names that the compiler sees:
//!
//! ```text
//! guest/*.c, *.h, *.prof  the repository's guest folder
//! quickjs/*.c, *.h        QuickJS-ng, out of the package rquickjs-sys; changed for the guest (see [`interpreter`])
//! libregexp.c …           one `#include` each, so that QuickJS's files count as system headers
//! ```

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{Error, Result, interpreter};

const CARRIER: &str = "rquickjs-sys";
const INTERPRETER: &str = "quickjs/quickjs.c";
const MATCHER: &str = "quickjs/libregexp.c";

pub(crate) struct Source {
    files: BTreeMap<String, Vec<u8>>,
    pub(crate) quickjs_ng: String,
    pub(crate) rquickjs_sys: String,
}

impl Source {
    pub(crate) fn read(folder: &Path) -> Result<Self> {
        let (quickjs, rquickjs_sys) = carrier(folder)?;
        let mut files = BTreeMap::new();
        collect(&mut files, folder, "guest")?;
        collect(&mut files, &quickjs, "quickjs")?;
        generate(&mut files);
        let header = files.get("quickjs/quickjs.h").map(|bytes| String::from_utf8_lossy(bytes));
        let quickjs_ng = header
            .and_then(|text| quickjs_version(&text))
            .ok_or_else(|| Error::new(format!("{} has no quickjs.h that tells its version", quickjs.display())))?;
        Ok(Self { files, quickjs_ng, rquickjs_sys })
    }

    /// With interpreter and matcher as the guest has them; as they are read, they are QuickJS's own.
    pub(crate) fn divided(mut self) -> Result<Self> {
        let text = |name| self.files.get(name).map(|bytes| String::from_utf8_lossy(bytes)).unwrap_or_default();
        let divided = interpreter::in_two(&text(INTERPRETER), &text("guest/often.h"))?;
        let matcher = interpreter::with_search(&text(MATCHER))?;
        self.files.insert(INTERPRETER.to_owned(), divided.into_bytes());
        self.files.insert(MATCHER.to_owned(), matcher.into_bytes());
        Ok(self)
    }

    /// One hash over all files and over `settings`. Lengths go in too, so that no two lists look alike.
    pub(crate) fn hash(&self, settings: &[&[&str]]) -> String {
        let mut hash = Sha256::new();
        let mut add = |bytes: &[u8]| {
            hash.update(bytes.len().to_le_bytes());
            hash.update(bytes);
        };
        for (name, bytes) in &self.files {
            add(name.as_bytes());
            add(bytes);
        }
        for list in settings {
            add(&list.len().to_le_bytes());
            list.iter().for_each(|setting| add(setting.as_bytes()));
        }
        super::hex(&hash.finalize())
    }

    /// Makes `stage` hold these files and nothing else.
    pub(crate) fn lay_out(&self, stage: &Path) -> Result<()> {
        super::remove_folder(stage)?;
        for (name, bytes) in &self.files {
            let path = stage.join(name);
            super::create_folder(path.parent().unwrap_or(stage))?;
            fs::write(&path, bytes).map_err(|error| Error::file("write", &path, &error))?;
        }
        Ok(())
    }
}

/// The QuickJS folder of the pinned package, which Cargo downloads if need be, and the package's version.
fn carrier(folder: &Path) -> Result<(PathBuf, String)> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let manifest = folder.join("quickjs").join("Cargo.toml");
    let mut command = Command::new(cargo);
    command.args(["metadata", "--locked", "--format-version", "1", "--manifest-path"]).arg(&manifest);
    let metadata: Value = serde_json::from_slice(&super::output(&mut command)?)
        .map_err(|error| Error::new(format!("cannot read what `cargo metadata` says: {error}")))?;

    let packages = metadata.get("packages").and_then(Value::as_array);
    let package = packages.into_iter().flatten().find(|package| text(package, "name") == Some(CARRIER));
    let found = package.and_then(|package| {
        let quickjs = Path::new(text(package, "manifest_path")?).parent()?.join("quickjs");
        Some((quickjs, text(package, "version")?.to_owned()))
    });
    found.ok_or_else(|| Error::new(format!("{} does not lead to {CARRIER}", manifest.display())))
}

fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key).and_then(Value::as_str)
}

fn collect(files: &mut BTreeMap<String, Vec<u8>>, folder: &Path, name: &str) -> Result<()> {
    let cannot_list = |error| Error::file("list", folder, &error);
    for entry in fs::read_dir(folder).map_err(cannot_list)? {
        let path = entry.map_err(cannot_list)?.path();
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        let file = path.file_name().and_then(|file| file.to_str()).unwrap_or_default();
        if ["c", "h", "prof"].contains(&extension) && !file.starts_with('.') {
            files.insert(format!("{name}/{file}"), super::read(&path)?);
        }
    }
    Ok(())
}

fn generate(files: &mut BTreeMap<String, Vec<u8>>) {
    for unit in super::UNITS.iter().filter(|unit| !unit.contains('/')) {
        files.insert((*unit).to_owned(), format!("#include <{unit}>\n").into_bytes());
    }
}

fn quickjs_version(header: &str) -> Option<String> {
    let part = |name: &str| {
        header.lines().find_map(|line| line.strip_prefix("#define QJS_VERSION_")?.strip_prefix(name)).map(str::trim)
    };
    Some(format!("{}.{}.{}", part("MAJOR ")?, part("MINOR ")?, part("PATCH ")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_comes_from_three_lines() {
        let header = "#define QJS_VERSION_MAJOR 0\n#define QJS_VERSION_MINOR 16\n#define QJS_VERSION_PATCH 2\n";
        assert_eq!(quickjs_version(header).as_deref(), Some("0.16.2"));
        assert_eq!(quickjs_version("#define QJS_VERSION_MAJOR 0\n"), None);
    }

    #[test]
    fn the_hash_sees_names_contents_and_settings() {
        let source = |name: &str, text: &str| Source {
            files: BTreeMap::from([(name.to_owned(), text.as_bytes().to_vec())]),
            quickjs_ng: String::new(),
            rquickjs_sys: String::new(),
        };
        let hash = source("a", "bc").hash(&[&["-O3"]]);
        assert_eq!(hash, source("a", "bc").hash(&[&["-O3"]]));
        assert_ne!(hash, source("ab", "c").hash(&[&["-O3"]]));
        assert_ne!(hash, source("a", "bd").hash(&[&["-O3"]]));
        assert_ne!(hash, source("a", "bc").hash(&[&["-O2"]]));
        assert_ne!(hash, source("a", "bc").hash(&[&[], &["-O3"]]));
    }
}
