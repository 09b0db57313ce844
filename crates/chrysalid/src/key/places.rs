//! Where command line and bindings look for the key: environment, then a file of the user, made at
//! first use.
//!
//! A Rust engine takes its key from the builder alone and never comes here. A file that others can
//! reach is refused, and two processes that make the file at the same time end with the same key.
//! Unix only, for the file's mode.

use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

use super::{Key, KeyError, fill_with_randomness, hex};

const TEXT_VARIABLE: &str = "CHRYSALID_KEY";
const FILE_VARIABLE: &str = "CHRYSALID_KEY_FILE";
/// Bytes read of a key file; a key with its line end has 65.
const LONGEST_FILE: u16 = 1024;

/// The places of a key, in this order: `CHRYSALID_KEY`, the file that `CHRYSALID_KEY_FILE` names,
/// and the file `chrysalid/key` in the user's state directory (`$XDG_STATE_HOME`, else
/// `~/.local/state`).
///
/// The first that is set decides, even when what it holds is not a key: a mistyped or empty
/// variable must not end in another key.
pub struct KeyPlaces {
    text: Option<OsString>,
    file: Option<PathBuf>,
    state_file: Option<PathBuf>,
}

impl KeyPlaces {
    /// The places that the process's environment gives.
    #[must_use]
    pub fn from_process() -> Self {
        Self::from_variables(|name| std::env::var_os(name))
    }

    /// The places that other variables give, for a host whose environment is not the process's.
    #[must_use]
    pub fn from_variables(variable: impl Fn(&str) -> Option<OsString>) -> Self {
        // The XDG specification has relative paths ignored, and an empty one is relative.
        let directory = |name| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let state = directory("XDG_STATE_HOME").or_else(|| directory("HOME").map(|home| home.join(".local/state")));
        Self {
            text: variable(TEXT_VARIABLE),
            file: variable(FILE_VARIABLE).map(PathBuf::from),
            state_file: state.map(|state| state.join("chrysalid/key")),
        }
    }

    /// The key that is there. Makes none, so it fits a command that only opens snapshots.
    ///
    /// # Errors
    ///
    /// The first place that is set holds no key, or its file cannot be read or is open to others.
    pub fn find(&self) -> Result<Option<Key>, KeyError> {
        if let Some(text) = &self.text {
            return key_of(TEXT_VARIABLE, text).map(Some);
        }
        if let Some(path) = &self.file {
            return read(path).map(Some);
        }
        match self.state_file.as_deref().map(read) {
            Some(Err(KeyError::File { reason, .. })) if reason.kind() == ErrorKind::NotFound => Ok(None),
            found => found.transpose(),
        }
    }

    /// The key that is there, or a new one in the state directory's file, which then has mode 0600.
    ///
    /// `None` when no place is set and no state directory is known.
    ///
    /// # Errors
    ///
    /// Those of [`find`](Self::find), and a file that cannot be made.
    pub fn find_or_make(&self) -> Result<Option<Key>, KeyError> {
        match (self.find()?, &self.state_file) {
            (None, Some(path)) => make(path).map(Some),
            (found, _) => Ok(found),
        }
    }
}

fn key_of(place: &str, text: &OsStr) -> Result<Key, KeyError> {
    Key::from_text_of(place, &Zeroizing::new(text.to_string_lossy().into_owned()))
}

fn read(path: &Path) -> Result<Key, KeyError> {
    let failed = |reason| KeyError::File { action: "read", path: path.to_owned(), reason };
    let file = File::open(path).map_err(failed)?;
    let mode = file.metadata().map_err(failed)?.mode() & 0o7777;
    if mode & 0o077 != 0 {
        return Err(KeyError::Exposed { path: path.to_owned(), mode });
    }
    let mut bytes = Zeroizing::new(Vec::with_capacity(usize::from(LONGEST_FILE)));
    file.take(u64::from(LONGEST_FILE)).read_to_end(&mut bytes).map_err(failed)?;
    Key::from_text_of(
        &format!("key file {}", path.display()),
        &Zeroizing::new(String::from_utf8_lossy(&bytes).into_owned()),
    )
}

/// Writes a complete file under another name, then links it to `path`: whoever comes second finds a
/// key there and takes it.
fn make(path: &Path) -> Result<Key, KeyError> {
    let key = Key::generate()?;
    let mut suffix = [0; 8];
    fill_with_randomness(&mut suffix)?;
    match link_new_file(path, &hex(&suffix), &key) {
        Ok(()) => Ok(key),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => read(path),
        Err(reason) => Err(KeyError::File { action: "make", path: path.to_owned(), reason }),
    }
}

fn link_new_file(path: &Path, suffix: &str, key: &Key) -> io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("/"));
    DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    let draft = Draft(directory.join(format!(".key-{suffix}")));
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft.0)?;
    file.write_all(Zeroizing::new(key.to_text()).as_bytes())?;
    file.write_all(b"\n")?;
    // A key that a crash takes back would leave snapshots that nothing opens.
    file.sync_all()?;
    fs::hard_link(&draft.0, path)?;
    File::open(directory)?.sync_all()
}

/// The file's first name, removed in every outcome.
struct Draft(PathBuf);

impl Drop for Draft {
    fn drop(&mut self) {
        // One that stays behind holds a key in use or one that nothing was sealed with, and only
        // the owner can read it.
        let _ = fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::sync::Barrier;

    use tempfile::TempDir;

    use super::*;

    fn places(variables: &[(&str, &OsStr)]) -> KeyPlaces {
        KeyPlaces::from_variables(|name| {
            variables.iter().find(|(variable, _)| *variable == name).map(|(_, value)| (*value).to_owned())
        })
    }

    fn write_key(path: &Path, key: &Key, mode: u32) {
        fs::write(path, key.to_text() + "\n").unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    fn mode_of(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o7777
    }

    #[test]
    fn the_order_is_text_then_file_then_state_directory() {
        let home = TempDir::new().unwrap();
        let file = home.path().join("named");
        let [text, named] = [Key::from_bytes([1; 32]), Key::from_bytes([2; 32])];
        write_key(&file, &named, 0o600);
        let text_value = OsString::from(text.to_text());
        let state = ("XDG_STATE_HOME", home.path().as_os_str());
        let file_variable = (FILE_VARIABLE, file.as_os_str());
        let all = places(&[(TEXT_VARIABLE, &text_value), file_variable, state]);
        assert_eq!(all.find_or_make().unwrap().unwrap().id(), text.id());
        assert_eq!(places(&[file_variable, state]).find_or_make().unwrap().unwrap().id(), named.id());
        assert!(!home.path().join("chrysalid").exists());
        let made = places(&[state]).find_or_make().unwrap().unwrap();
        assert!(![text.id(), named.id()].contains(&made.id()));
    }

    #[test]
    fn the_state_directory_is_xdgs_or_under_home() {
        let state_file = |variables: &[(&str, &str)]| {
            let variables: Vec<_> = variables.iter().map(|(name, value)| (*name, OsStr::new(value))).collect();
            places(&variables).state_file
        };
        assert_eq!(state_file(&[("XDG_STATE_HOME", "/s"), ("HOME", "/h")]), Some("/s/chrysalid/key".into()));
        let under_home = Some("/h/.local/state/chrysalid/key".into());
        assert_eq!(state_file(&[("HOME", "/h")]), under_home);
        assert_eq!(state_file(&[("XDG_STATE_HOME", ""), ("HOME", "/h")]), under_home);
        assert_eq!(state_file(&[("XDG_STATE_HOME", "s"), ("HOME", "/h")]), under_home);
        assert_eq!(state_file(&[("HOME", "h")]), None);
        assert!(places(&[]).find_or_make().unwrap().is_none());
    }

    #[test]
    fn finding_makes_nothing_and_making_lasts() {
        let home = TempDir::new().unwrap();
        let places = places(&[("HOME", home.path().as_os_str())]);
        assert!(places.find().unwrap().is_none());
        assert_eq!(fs::read_dir(&home).unwrap().count(), 0);
        let made = places.find_or_make().unwrap().unwrap();
        assert_eq!(places.find().unwrap().unwrap().id(), made.id());
        assert_eq!(places.find_or_make().unwrap().unwrap().id(), made.id());
        let directory = home.path().join(".local/state/chrysalid");
        assert_eq!(mode_of(&directory.join("key")), 0o600);
        assert_eq!(mode_of(&directory), 0o700);
        assert_eq!(fs::read_to_string(directory.join("key")).unwrap(), made.to_text() + "\n");
        assert_eq!(fs::read_dir(directory).unwrap().count(), 1);
    }

    #[test]
    fn makers_at_the_same_time_agree() {
        for _ in 0..20 {
            let home = TempDir::new().unwrap();
            let path = home.path().join("state/chrysalid/key");
            let barrier = Barrier::new(8);
            let ids: Vec<_> = std::thread::scope(|scope| {
                let start = || {
                    barrier.wait();
                    make(&path).unwrap().id()
                };
                let makers: Vec<_> = (0..8).map(|_| scope.spawn(start)).collect();
                makers.into_iter().map(|maker| maker.join().unwrap()).collect()
            });
            let kept = read(&path).unwrap().id();
            assert_eq!(ids, [kept; 8]);
            assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
        }
    }

    #[test]
    fn a_file_that_others_can_reach_is_refused() {
        let home = TempDir::new().unwrap();
        let path = home.path().join("key");
        for mode in [0o640, 0o604, 0o620, 0o644, 0o777] {
            write_key(&path, &Key::from_bytes([1; 32]), mode);
            let error = places(&[(FILE_VARIABLE, path.as_os_str())]).find_or_make().unwrap_err();
            assert_eq!(
                error.to_string(),
                format!(
                    "key file {} has mode {mode:04o}, so others can reach it: set its mode to 0600",
                    path.display()
                )
            );
        }
        write_key(&path, &Key::from_bytes([1; 32]), 0o400);
        assert!(places(&[(FILE_VARIABLE, path.as_os_str())]).find().unwrap().is_some());
    }

    #[test]
    fn a_place_that_is_set_and_holds_no_key_is_an_error() {
        let home = TempDir::new().unwrap();
        let state = ("HOME", home.path().as_os_str());
        let missing = home.path().join("missing");
        let empty = home.path().join("empty");
        fs::write(&empty, "").unwrap();
        fs::set_permissions(&empty, fs::Permissions::from_mode(0o600)).unwrap();
        let long = home.path().join("long");
        fs::write(&long, "a".repeat(5000)).unwrap();
        fs::set_permissions(&long, fs::Permissions::from_mode(0o600)).unwrap();
        let message = |name, value: &OsStr| places(&[(name, value), state]).find_or_make().unwrap_err().to_string();
        let starts = [
            (message(TEXT_VARIABLE, OsStr::new("")), "CHRYSALID_KEY is not a key: ".to_owned()),
            (message(TEXT_VARIABLE, OsStr::new("hunter2")), "CHRYSALID_KEY is not a key: ".to_owned()),
            (message(FILE_VARIABLE, OsStr::new("")), "cannot read key file : No such file".to_owned()),
            (
                message(FILE_VARIABLE, missing.as_os_str()),
                format!("cannot read key file {}: No such", missing.display()),
            ),
            (message(FILE_VARIABLE, empty.as_os_str()), format!("key file {} is not a key: ", empty.display())),
            (message(FILE_VARIABLE, long.as_os_str()), format!("key file {} is not a key: ", long.display())),
        ];
        for (message, start) in starts {
            assert!(message.starts_with(&start), "{message}");
            assert!(!message.contains("hunter2"));
        }
        assert!(!home.path().join(".local").exists());
    }

    #[test]
    fn a_link_to_nothing_is_not_written_through() {
        let home = TempDir::new().unwrap();
        let (path, target) = (home.path().join("key"), home.path().join("target"));
        std::os::unix::fs::symlink(&target, &path).unwrap();
        assert!(matches!(make(&path), Err(KeyError::File { action: "read", .. })));
        assert!(!target.exists());
    }
}
