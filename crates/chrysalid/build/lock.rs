//! `guest/guest.lock`: which sources and compiler make the guest, and the hash of the result. The zig version is taken
//! from here; the rest is compared after a build and written anew by `cargo xtask guest --bless`.

use std::fmt;
use std::path::Path;

use super::{Error, Result};

const UNLOCKED: &str = "unlocked";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lock {
    pub(crate) quickjs_ng: String,
    pub(crate) rquickjs_sys: String,
    pub(crate) zig: String,
    /// Hex, or `unlocked`, which admits every guest.
    pub(crate) guest_sha256: String,
}

impl Lock {
    pub(crate) fn read(folder: &Path) -> Result<Self> {
        let path = folder.join("guest.lock");
        let text = String::from_utf8_lossy(&super::read(&path)?).into_owned();
        Self::parse(&text).map_err(|error| Error::new(format!("{}: {error}", path.display())))
    }

    fn parse(text: &str) -> Result<Self> {
        let mut lock = Self {
            quickjs_ng: String::new(),
            rquickjs_sys: String::new(),
            zig: String::new(),
            guest_sha256: String::new(),
        };
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let (key, value) = entry(line).ok_or_else(|| Error::new(format!("not `key = \"value\"`: {line}")))?;
            match key {
                "quickjs_ng" => lock.quickjs_ng = value,
                "rquickjs_sys" => lock.rquickjs_sys = value,
                "zig" => lock.zig = value,
                "guest_sha256" => lock.guest_sha256 = value,
                _ => return Err(Error::new(format!("unknown key `{key}`"))),
            }
        }
        if let Some((key, _)) = lock.entries().iter().find(|(_, value)| value.is_empty()) {
            return Err(Error::new(format!("`{key}` is missing")));
        }
        Ok(lock)
    }

    /// An error unless `found` is what this lock pins.
    pub(crate) fn admit(&self, found: &Self) -> Result<()> {
        for ((key, pinned), (_, found)) in self.entries().into_iter().zip(found.entries()) {
            if pinned != found && pinned != UNLOCKED {
                return Err(Error::new(format!(
                    "the guest is not the one that guest/guest.lock pins\n\
                     {key} is {found}\n\
                     {key} in guest.lock is {pinned}\n\
                     if the change is meant, run `cargo xtask guest --bless`"
                )));
            }
        }
        Ok(())
    }

    fn entries(&self) -> [(&'static str, &str); 4] {
        [
            ("quickjs_ng", &self.quickjs_ng),
            ("rquickjs_sys", &self.rquickjs_sys),
            ("zig", &self.zig),
            ("guest_sha256", &self.guest_sha256),
        ]
    }
}

fn entry(line: &str) -> Option<(&str, String)> {
    let (key, value) = line.split_once('=')?;
    let value = value.trim().strip_prefix('"')?.strip_suffix('"')?;
    Some((key.trim(), value.to_owned()))
}

impl fmt::Display for Lock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "# Written by `cargo xtask guest --bless`; a build refuses any other guest.")?;
        for (key, value) in self.entries() {
            writeln!(f, "{key} = \"{value}\"")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lock(guest_sha256: &str) -> Lock {
        Lock {
            quickjs_ng: "0.16.2".into(),
            rquickjs_sys: "0.14.0".into(),
            zig: "0.15.2".into(),
            guest_sha256: guest_sha256.into(),
        }
    }

    #[test]
    fn what_is_written_reads_back() {
        assert_eq!(Lock::parse(&lock("ab").to_string()).unwrap(), lock("ab"));
    }

    #[test]
    fn a_missing_key_and_an_unknown_one_are_named() {
        assert_eq!(Lock::parse("zig = \"1\"").unwrap_err().to_string(), "`quickjs_ng` is missing");
        assert_eq!(Lock::parse("zag = \"1\"").unwrap_err().to_string(), "unknown key `zag`");
        assert_eq!(Lock::parse("zig").unwrap_err().to_string(), "not `key = \"value\"`: zig");
    }

    #[test]
    fn only_the_pinned_guest_is_admitted() {
        lock("ab").admit(&lock("ab")).unwrap();
        assert_eq!(
            lock("ab").admit(&lock("cd")).unwrap_err().to_string(),
            "the guest is not the one that guest/guest.lock pins\n\
             guest_sha256 is cd\n\
             guest_sha256 in guest.lock is ab\n\
             if the change is meant, run `cargo xtask guest --bless`"
        );
    }

    #[test]
    fn an_unlocked_hash_admits_any_guest_but_no_other_source() {
        lock(UNLOCKED).admit(&lock("cd")).unwrap();
        let other = Lock { quickjs_ng: "0.17.0".into(), ..lock("cd") };
        assert!(lock(UNLOCKED).admit(&other).is_err());
    }
}
