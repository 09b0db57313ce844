//! A place for a saved file, taken before anything runs: a second file beside it, which a rename puts in its place.
//!
//! The draft has a fixed name and is locked, so two processes cannot prepare the same file, and one that a crash left
//! behind is used again.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::record::encode;
use super::{Record, is_at};
use crate::exit::Refusal;

/// What may be replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// The file that this process has locked.
    Own,
    /// A file that the user named: nothing, an empty one, or a saved file with nothing left to resume.
    Named,
}

/// A place for a saved file.
pub(crate) struct Draft {
    /// The name as the user gave it.
    shown: PathBuf,
    /// The name that is renamed to, without links.
    path: PathBuf,
    beside: PathBuf,
    file: Option<File>,
}

impl Draft {
    /// Takes the place, so that a folder that is missing or closed is known before anything runs.
    pub(crate) fn reserve(shown: &Path, target: Target) -> Result<Self, Refusal> {
        if target == Target::Named {
            check_free(shown)?;
        }
        let unwritable = |error: io::Error| Refusal::unwritable(shown, &error);
        // A link stays one: what it points to is replaced.
        let path = shown.canonicalize().unwrap_or_else(|_| shown.to_owned());
        let mut name = OsString::from(".");
        name.push(path.file_name().ok_or_else(|| Refusal::usage("not the name of a file").within(shown))?);
        name.push(".draft");
        let beside = folder(&path).join(name);
        let file = open_locked(&beside).map_err(unwritable)?;
        let place = Self { shown: shown.to_owned(), path, beside, file: Some(file) };
        if let Some(file) = &place.file {
            file.set_len(0).map_err(unwritable)?;
        }
        Ok(place)
    }

    /// The name as the user gave it.
    pub(crate) fn shown(&self) -> &Path {
        &self.shown
    }

    /// Puts a file of these records in its place, whole or not at all. The file comes back locked.
    pub(crate) fn publish(mut self, records: &[Record]) -> Result<File, Refusal> {
        self.write(records).map_err(|error| Refusal::unwritable(&self.shown, &error))
    }

    fn write(&mut self, records: &[Record]) -> io::Result<File> {
        let file = self.file.as_mut().ok_or(io::ErrorKind::NotFound)?;
        file.write_all(&encode(records))?;
        if let Ok(replaced) = fs::metadata(&self.path) {
            file.set_permissions(replaced.permissions())?;
        }
        file.sync_all()?;
        fs::rename(&self.beside, &self.path)?;
        let file = self.file.take().ok_or(io::ErrorKind::NotFound)?;
        File::open(folder(&self.path))?.sync_all()?;
        Ok(file)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if self.file.is_some() {
            // Still a draft, and still locked, so it is ours to remove.
            let _ = fs::remove_file(&self.beside);
        }
    }
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn check_free(path: &Path) -> Result<(), Refusal> {
    match fs::metadata(path) {
        Ok(metadata) if !metadata.is_file() => return Err(Refusal::usage("is not a regular file").within(path)),
        Ok(metadata) if metadata.len() == 0 => return Ok(()),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Refusal::unreadable(path, &error)),
    }
    let message = match super::read(path) {
        Ok(contents) if contents.image.is_none() => return Ok(()),
        Ok(contents) if contents.claims.is_empty() => "holds a program that still waits: resume it, or remove the file",
        Ok(_) => "holds a program that was resumed and has not ended: see `chrysalid inspect`, or remove the file",
        Err(_) => "is a file of another kind, and is not replaced",
    };
    Err(Refusal::usage(message).within(path))
}

fn open_locked(draft: &Path) -> io::Result<File> {
    loop {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(draft)?;
        match file.try_lock() {
            Ok(()) if is_at(&file, draft)? => return Ok(file),
            // Renamed or removed by whoever had it.
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(io::Error::new(io::ErrorKind::WouldBlock, "another process is about to"));
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Contents, Ended, Image, Record};
    use super::*;

    fn image() -> Record {
        Record::Image(Image { wake_at: None, snapshot: vec![1, 2, 3] })
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_draft_is_gone_or_published() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.chry");
        drop(Draft::reserve(&path, Target::Named).unwrap());
        assert!(names(folder.path()).is_empty());
        // What a crash left behind is used again.
        fs::write(folder.path().join(".a.chry.draft"), "torn").unwrap();
        Draft::reserve(&path, Target::Named).unwrap().publish(&[image()]).unwrap();
        assert_eq!(names(folder.path()), ["a.chry"]);
        assert!(Contents::decode(&fs::read(&path).unwrap()).unwrap().image.is_some());
    }

    #[test]
    fn two_cannot_prepare_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.chry");
        let first = Draft::reserve(&path, Target::Named).unwrap();
        let second = Draft::reserve(&path, Target::Named).map(|_| ()).unwrap_err();
        assert_eq!(second.message, format!("cannot write {}: another process is about to", path.display()));
        first.publish(&[image()]).unwrap();
    }

    #[test]
    fn what_is_worth_keeping_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let refused = |bytes: &[u8]| {
            fs::write(&path, bytes).unwrap();
            Draft::reserve(&path, Target::Named).map(|_| ()).map_err(|refusal| refusal.message)
        };
        let start = format!("{}: ", path.display());
        assert_eq!(refused(b""), Ok(()));
        let ended = Record::Ended(Ended { run: "x".into(), status: "done".into() });
        assert_eq!(refused(&encode(&[ended])), Ok(()));
        assert_eq!(refused(b"code"), Err(start.clone() + "is a file of another kind, and is not replaced"));
        let device = Draft::reserve(Path::new("/dev/null"), Target::Named).map(|_| ()).unwrap_err();
        assert_eq!(device.message, "/dev/null: is not a regular file");
        let waits = start + "holds a program that still waits: resume it, or remove the file";
        assert_eq!(refused(&encode(&[image()])), Err(waits));
    }

    #[test]
    fn a_link_and_a_mode_stay() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        Draft::reserve(&link, Target::Named).unwrap().publish(&[image()]).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
    }
}
