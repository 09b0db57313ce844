//! Text that a file or stdin holds: UTF-8, and no more of it read than a bound.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use chrysalid::ErrorKind;
use rustix::fs::{Mode, OFlags, open};

use crate::exit::Refusal;

/// Why there is no text.
#[derive(Debug)]
pub(crate) enum Wrong {
    Unreadable(io::Error),
    /// A folder, a device, a pipe.
    NotAFile,
    /// The size, if it is known, and the bound, in bytes.
    TooLarge(Option<u64>, usize),
    NotUtf8,
}

/// The text of a file, a pipe or a device. A pipe is waited for.
pub(crate) fn of_any(path: &Path, bound: usize) -> Result<String, Wrong> {
    of_file(&File::open(path).map_err(Wrong::Unreadable)?, bound)
}

/// The text of a regular file; anything else is not read, and not waited for.
pub(crate) fn of_regular(path: &Path, bound: usize) -> Result<String, Wrong> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = open(path, flags, Mode::empty()).map_err(|error| Wrong::Unreadable(error.into()))?;
    of_regular_file(&file.into(), bound)
}

/// The same of an open file.
pub(crate) fn of_regular_file(file: &File, bound: usize) -> Result<String, Wrong> {
    if file.metadata().map_err(Wrong::Unreadable)?.is_file() { of_file(file, bound) } else { Err(Wrong::NotAFile) }
}

/// The text of stdin, up to its end.
pub(crate) fn of_stdin(bound: usize) -> Result<String, Wrong> {
    of_reader(io::stdin().lock(), None, bound)
}

fn of_file(file: &File, bound: usize) -> Result<String, Wrong> {
    let metadata = file.metadata().map_err(Wrong::Unreadable)?;
    let size = metadata.is_file().then_some(metadata.len());
    if size.is_some_and(|size| size > bound as u64) {
        return Err(Wrong::TooLarge(size, bound));
    }
    of_reader(file, size, bound)
}

fn of_reader(reader: impl Read, size: Option<u64>, bound: usize) -> Result<String, Wrong> {
    let mut bytes = Vec::new();
    reader.take(bound as u64 + 1).read_to_end(&mut bytes).map_err(Wrong::Unreadable)?;
    if bytes.len() > bound {
        // A file that grew meanwhile is as large as it was found to be, at least.
        return Err(Wrong::TooLarge(size.filter(|size| *size > bound as u64), bound));
    }
    String::from_utf8(bytes).map_err(|_| Wrong::NotUtf8)
}

impl Wrong {
    /// As the refusal of a program's source.
    pub(crate) fn source_refusal(self, path: &Path) -> Refusal {
        match self {
            Self::TooLarge(..) => Refusal::of_kind(ErrorKind::SourceTooLarge, self.words("source")).within(path),
            other => other.refusal("source", path),
        }
    }

    /// As the refusal of a file that the arguments name; `what` is in it.
    pub(crate) fn refusal(self, what: &str, path: &Path) -> Refusal {
        match self {
            Self::Unreadable(error) => Refusal::unreadable(path, &error),
            other => Refusal::usage(other.words(what)).within(path),
        }
    }

    /// What is wrong, without the name of the file.
    pub(crate) fn words(&self, what: &str) -> String {
        match self {
            Self::Unreadable(error) => format!("cannot be read: {error}"),
            Self::NotAFile => "is not a regular file".to_owned(),
            Self::TooLarge(Some(size), bound) => {
                format!("{what} of {size} bytes is more than the limit of {bound} bytes")
            }
            Self::TooLarge(None, bound) => format!("{what} is more than the limit of {bound} bytes"),
            Self::NotUtf8 => "not UTF-8 text".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use rustix::fs::{CWD, FileType};

    use super::*;

    fn words(read: Result<String, Wrong>) -> Result<String, String> {
        read.map_err(|wrong| wrong.words("text"))
    }

    #[test]
    fn no_more_is_read_than_the_bound() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, "abcd").unwrap();
        assert_eq!(words(of_regular(&path, 4)), Ok("abcd".into()));
        assert_eq!(words(of_any(&path, 3)), Err("text of 4 bytes is more than the limit of 3 bytes".into()));
        assert_eq!(words(of_any(Path::new("/dev/zero"), 3)), Err("text is more than the limit of 3 bytes".into()));
        assert_eq!(words(of_reader(&b"abcd"[..], None, 3)), Err("text is more than the limit of 3 bytes".into()));
        assert_eq!(words(of_reader(&b"\xe4"[..], None, 3)), Err("not UTF-8 text".into()));
    }

    #[test]
    fn what_is_no_regular_file_is_neither_read_nor_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        rustix::fs::mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        for path in [pipe.as_path(), folder.path(), Path::new("/dev/zero")] {
            assert_eq!(words(of_regular(path, 9)), Err("is not a regular file".into()), "{}", path.display());
        }
    }
}
