//! Modules in a folder of this machine: the files that a program may `import`.
//!
//! A key is a path below the folder, with `/`. `stats` means the file `stats`, else `stats.js`, `stats.ts`,
//! `stats.mjs`, `stats/index.js` or `stats/index.ts`. Files are opened from the folder's descriptor and never outside of
//! it: a link counts as not there if it leads out, or if it is absolute. Nor are hidden files there, and what is no
//! regular file.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chrysalid::Modules;
use rustix::fs::{Dir, FileType, Mode, OFlags, fstat};
use rustix::io::Errno;

use crate::exit::Refusal;
use crate::text_file::of_regular_file;

/// Endings of what is looked for, and of what is listed but for the first.
const ENDINGS: [&str; 4] = ["", ".js", ".ts", ".mjs"];
/// Files that stand for the folder in which they are.
const INDEXES: [&str; 2] = ["index.js", "index.ts"];
/// Most names that are listed.
const MAX_NAMES: usize = 1_000;
/// Most entries of folders that are looked at to list names.
const MAX_ENTRIES: usize = 10_000;
/// Folders below one another in which names are looked for.
const MAX_DEPTH: usize = 16;
/// How a file is opened to see what it is; on Linux without opening a device.
#[cfg(target_os = "linux")]
const LOOK: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const LOOK: OFlags = READ;
/// How a file is opened; no pipe is waited for.
const READ: OFlags = OFlags::NONBLOCK.union(OFlags::NOCTTY);

/// The modules of a folder, none without one. Each may have at most `bound` bytes.
pub(crate) fn load(folder: Option<&Path>, bound: usize) -> Result<Modules, Refusal> {
    let Some(path) = folder else { return Ok(Modules::none()) };
    let folder = Arc::new(Folder::open(path).map_err(|error| Refusal::unreadable(path, &error))?);
    let names = folder.names();
    Ok(Modules::resolver(names, move |key| {
        let folder = folder.clone();
        let read = tokio::task::spawn_blocking(move || folder.source(&key, bound));
        async move { read.await.unwrap_or_else(|_| Err("its file cannot be read".to_owned())) }
    }))
}

/// An open folder.
struct Folder {
    handle: OwnedFd,
    /// Where it was when it was opened, without links.
    path: PathBuf,
}

impl Folder {
    fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = rustix::fs::open(path, flags, Mode::empty())?;
        Ok(Self { handle, path: path.canonicalize()? })
    }

    /// The source under a key; nothing if there is none.
    fn source(&self, key: &str, bound: usize) -> Result<Option<String>, String> {
        if !is_key(key) {
            return Ok(None);
        }
        for ending in ENDINGS {
            if let Some(file) = self.file(&format!("{key}{ending}"))? {
                return read(&file, bound).map(Some);
            }
        }
        for index in INDEXES {
            let name = format!("{key}/{index}");
            if let Some(file) = self.file(&name)? {
                return read(&file, bound).map(|source| Some(all_of(&name, &source)));
            }
        }
        Ok(None)
    }

    /// A regular file.
    fn file(&self, name: &str) -> Result<Option<File>, String> {
        let opened = match self.kind(name) {
            Ok(FileType::RegularFile) => self.beneath(name, READ),
            Ok(_) => return Ok(None),
            Err(error) => Err(error),
        };
        match opened {
            Ok(file) => Ok(Some(file.into())),
            Err(error) if is_absence(error) => Ok(None),
            Err(error) => Err(format!("cannot be read: {}", io::Error::from(error))),
        }
    }

    /// What a name means, links followed.
    fn kind(&self, name: &str) -> rustix::io::Result<FileType> {
        Ok(FileType::from_raw_mode(fstat(self.beneath(name, LOOK)?)?.st_mode))
    }

    /// Opens what is in the folder, links followed but none that leads out of it.
    #[cfg(target_os = "linux")]
    fn beneath(&self, name: &str, flags: OFlags) -> rustix::io::Result<OwnedFd> {
        use rustix::fs::{ResolveFlags, openat2};

        /// How often a file is looked for while folders are moved around it.
        const ATTEMPTS: usize = 8;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        for _ in 0..ATTEMPTS {
            match openat2(&self.handle, name, flags | OFlags::CLOEXEC, Mode::empty(), resolve) {
                Err(Errno::AGAIN) => {}
                // An older kernel, or a filter that does not know the call.
                Err(Errno::NOSYS | Errno::PERM) => return self.compared(name, flags),
                opened => return opened,
            }
        }
        Err(Errno::AGAIN)
    }

    #[cfg(not(target_os = "linux"))]
    fn beneath(&self, name: &str, flags: OFlags) -> rustix::io::Result<OwnedFd> {
        self.compared(name, flags)
    }

    /// The same where the system does not confine the path: whoever can change the folder meanwhile could lead out of
    /// it.
    fn compared(&self, name: &str, flags: OFlags) -> rustix::io::Result<OwnedFd> {
        let path = self.path.join(name).canonicalize().map_err(|_| Errno::NOENT)?;
        if !path.starts_with(&self.path) {
            return Err(Errno::XDEV);
        }
        rustix::fs::open(&path, flags | OFlags::CLOEXEC | OFlags::NOFOLLOW, Mode::empty())
    }

    /// Names of modules, sorted: what is nearest to the folder if there are many.
    fn names(&self) -> Vec<String> {
        let mut names = Vec::new();
        let mut left = MAX_ENTRIES;
        let mut folders = VecDeque::from([(String::new(), 0)]);
        while let Some((folder, depth)) = folders.pop_front() {
            for (name, kind) in self.entries(&folder, &mut left) {
                match kind {
                    FileType::Directory if depth < MAX_DEPTH => folders.push_back((format!("{name}/"), depth + 1)),
                    FileType::RegularFile if has_ending(&name) => names.push(name),
                    FileType::Symlink if has_ending(&name) && self.kind(&name) == Ok(FileType::RegularFile) => {
                        names.push(name);
                    }
                    _ => {}
                }
            }
            if names.len() >= MAX_NAMES {
                break;
            }
        }
        names.sort_unstable();
        names.truncate(MAX_NAMES);
        names
    }

    /// What is in a folder, by its path and kind, without what is hidden.
    fn entries(&self, folder: &str, left: &mut usize) -> Vec<(String, FileType)> {
        let path = if folder.is_empty() { "." } else { folder };
        let Ok(entries) = self.beneath(path, OFlags::RDONLY | OFlags::DIRECTORY).and_then(Dir::new) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        for entry in entries.flatten() {
            let Some(rest) = left.checked_sub(1) else { break };
            *left = rest;
            let Ok(name) = entry.file_name().to_str() else { continue };
            let path = format!("{folder}{name}");
            if is_key(&path) {
                let kind = match entry.file_type() {
                    FileType::Unknown => self.kind(&path).unwrap_or(FileType::Unknown),
                    kind => kind,
                };
                found.push((path, kind));
            }
        }
        found
    }
}

/// Whether a key may mean a file of the folder: names with slashes between them, none of them hidden.
fn is_key(key: &str) -> bool {
    !key.chars().any(char::is_control) && key.split('/').all(|name| !name.is_empty() && !name.starts_with('.'))
}

fn has_ending(name: &str) -> bool {
    ENDINGS.iter().any(|ending| !ending.is_empty() && name.ends_with(ending))
}

/// Whether an error means that there is no such file in the folder.
fn is_absence(error: Errno) -> bool {
    let absent = [
        Errno::NOENT,
        Errno::NOTDIR,
        Errno::ISDIR,
        Errno::XDEV,
        Errno::LOOP,
        Errno::NAMETOOLONG,
        Errno::INVAL,
        Errno::AGAIN,
        Errno::NXIO,
    ];
    absent.contains(&error)
}

fn read(file: &File, bound: usize) -> Result<String, String> {
    of_regular_file(file, bound).map_err(|wrong| wrong.words("source"))
}

/// A module that has all of another one. What a file imports goes by the path under which the file is known, so that
/// must not be its folder's.
fn all_of(key: &str, source: &str) -> String {
    let key = serde_json::Value::from(key);
    let default = if source.contains("default") { "export default all.default;" } else { "" };
    format!("import * as all from {key}; export * from {key}; {default}")
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use rustix::fs::{CWD, mknodat};

    use super::*;

    const BOUND: usize = 100;

    fn folder() -> (tempfile::TempDir, Folder) {
        let outer = tempfile::tempdir().unwrap();
        let path = outer.path().join("lib");
        fs::create_dir_all(path.join("deep/er")).unwrap();
        fs::write(outer.path().join("secret.js"), "secret").unwrap();
        for (name, text) in [
            ("a.js", "a"),
            ("b.ts", "b"),
            ("c.mjs", "c"),
            ("plain", "plain"),
            ("deep/index.js", "index"),
            (".h.js", "h"),
        ] {
            fs::write(path.join(name), text).unwrap();
        }
        fs::write(path.join("deep/er/d.js"), "d").unwrap();
        let folder = Folder::open(&path).unwrap();
        (outer, folder)
    }

    fn found(folder: &Folder, key: &str) -> Option<String> {
        folder.source(key, BOUND).unwrap()
    }

    #[test]
    fn a_key_finds_a_file_with_or_without_its_ending() {
        let (_outer, folder) = folder();
        for (key, source) in [("a", "a"), ("a.js", "a"), ("b", "b"), ("c", "c"), ("plain", "plain"), ("deep/er/d", "d")]
        {
            assert_eq!(found(&folder, key).as_deref(), Some(source), "{key}");
        }
        let all = "import * as all from \"deep/index.js\"; export * from \"deep/index.js\"; ";
        assert_eq!(found(&folder, "deep").as_deref(), Some(all));
        fs::write(folder.path.join("deep.js"), "beside").unwrap();
        assert_eq!(found(&folder, "deep").as_deref(), Some("beside"));
    }

    #[test]
    fn nothing_outside_is_there() {
        let (outer, folder) = folder();
        let secret = outer.path().join("secret.js");
        symlink("../secret.js", folder.path.join("out.js")).unwrap();
        symlink(&secret, folder.path.join("absolute.js")).unwrap();
        symlink("..", folder.path.join("up")).unwrap();
        symlink("loop.js", folder.path.join("loop.js")).unwrap();
        symlink("/proc/self/cwd", folder.path.join("magic")).unwrap();
        let absolute = secret.to_str().unwrap();
        let long = "x".repeat(10_000);
        for key in [
            "out.js",
            "absolute.js",
            "up/secret.js",
            "loop.js",
            "magic/Cargo.toml",
            absolute,
            "../secret.js",
            "deep/../../secret.js",
            "deep/../a.js",
            "./a.js",
            "a.js/",
            "//a.js",
            "",
            ".",
            ".h.js",
            "deep/.h",
            "a\0.js",
            "a.js/b",
            &long,
        ] {
            assert_eq!(found(&folder, key), None, "{key}");
        }
    }

    #[test]
    fn links_inside_are_followed() {
        let (_outer, folder) = folder();
        symlink("a.js", folder.path.join("link.js")).unwrap();
        symlink("../../a.js", folder.path.join("deep/er/up.js")).unwrap();
        symlink("deep", folder.path.join("way")).unwrap();
        for (key, source) in [("link", "a"), ("deep/er/up", "a"), ("way/er/d", "d")] {
            assert_eq!(found(&folder, key).as_deref(), Some(source), "{key}");
        }
        // A folder behind a link is not listed twice.
        let names = ["a.js", "b.ts", "c.mjs", "deep/er/d.js", "deep/er/up.js", "deep/index.js", "link.js"];
        assert_eq!(folder.names(), names);
    }

    #[test]
    fn where_the_system_does_not_confine_the_paths_are_compared() {
        let (_outer, folder) = folder();
        symlink("../secret.js", folder.path.join("out.js")).unwrap();
        symlink("a.js", folder.path.join("link.js")).unwrap();
        assert_eq!(folder.compared("out.js", READ).unwrap_err(), Errno::XDEV);
        assert_eq!(folder.compared("gone.js", READ).unwrap_err(), Errno::NOENT);
        assert_eq!(read(&folder.compared("link.js", READ).unwrap().into(), BOUND).as_deref(), Ok("a"));
    }

    #[test]
    fn only_regular_files_of_text_within_the_bound_are_read() {
        let (_outer, folder) = folder();
        mknodat(CWD, folder.path.join("pipe.js"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        assert_eq!(found(&folder, "pipe.js"), None);
        let _socket = std::os::unix::net::UnixListener::bind(folder.path.join("socket.js")).unwrap();
        assert_eq!(found(&folder, "socket.js"), None);
        fs::write(folder.path.join("big.js"), "x".repeat(BOUND + 1)).unwrap();
        let big = "source of 101 bytes is more than the limit of 100 bytes".to_owned();
        assert_eq!(folder.source("big", BOUND), Err(big));
        fs::write(folder.path.join("latin.js"), b"'\xe4'").unwrap();
        assert_eq!(folder.source("latin", BOUND), Err("not UTF-8 text".into()));
    }

    #[test]
    fn few_names_of_many_are_listed() {
        let (_outer, folder) = folder();
        fs::create_dir(folder.path.join("many")).unwrap();
        for number in 0..MAX_NAMES {
            fs::write(folder.path.join(format!("many/{number:04}.js")), "").unwrap();
        }
        let names = folder.names();
        assert_eq!((names.len(), names.first().map(String::as_str)), (MAX_NAMES, Some("a.js")));
    }
}
