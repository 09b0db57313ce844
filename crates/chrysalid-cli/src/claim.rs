//! A saved file, and how it is claimed: whoever resumes it writes so into the file before the first effect, and nobody
//! resumes it again.
//!
//! ```text
//! magic 8 | version u16 | record …
//! record: kind u8 | length u32 | check of these 4 | check of all 8 | payload
//! ```
//!
//! Integers are little endian; the check is the start of a SHA-256 over kind, length and payload. Records:
//!
//! | kind | record | payload |
//! |---|---|---|
//! | 1 | image | when to go on even if nobody decides, u64 milliseconds since 1970, or all ones; then a sealed snapshot |
//! | 2 | claimed | JSON: run id, whether it is a fork, decisions, where the next image goes |
//! | 3 | started | JSON: call and name, flushed before its command starts |
//! | 4 | completed | JSON: call, name and status, flushed when its command has ended |
//! | 5 | forwarded | JSON: the file that holds the next image |
//! | 6 | ended | JSON: run id and status |
//! | 7 | met | JSON: an effect and the call that brought it, flushed before that call starts |
//!
//! A file begins as one image. `resume` locks it, restores the image, checks every decision, and then appends *claimed*.
//! Calls append *started* and *completed*. At the next pause the file is replaced, whole and by a rename, by one with
//! the successor's image, or by *forwarded* if that image went elsewhere; at the program's end by *ended*. So each state
//! after a crash says what may have happened: without *claimed* nothing did; with it, each call that is *started* and not
//! *completed* may have, and the image of before is still there for a fork. What a crash cut off at the end of the file
//! was not flushed, so nothing had followed from it, and it is ignored.
//!
//! The records beside the image are in the clear. They hold no value: of arguments and answers that a person gave, only
//! a SHA-256 is kept. A file that is a snapshot and nothing else, as the library makes it, is read too; claiming makes
//! it one of these.
//!
//! The lock is on the file, not on its name: after locking, the name is looked at again, since a rename leaves those who
//! waited with the old file.

mod draft;
mod record;
#[cfg(test)]
mod schedules;

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use chrysalid::{CallStatus, ErrorKind, ReportCall};

use crate::exit::Refusal;
pub(crate) use draft::{Draft, Target};
pub(crate) use record::{CallEnded, CallStarted, Claim, Contents, Decided, Ended, Forwarded, Image, Met, Record};
use record::{ContentsError, Made};

/// How long to wait before looking again at a file that another process has locked.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// A saved file, open and locked.
pub(crate) struct SavedFile {
    path: PathBuf,
    file: File,
    pub(crate) contents: Contents,
}

/// What a file says, without locking it. Appends and renames keep every moment of it readable.
pub(crate) fn read(path: &Path) -> Result<Contents, Refusal> {
    let file = File::open(path).map_err(|error| Refusal::unreadable(path, &error))?;
    contents_of(&file, path)
}

fn contents_of(mut file: &File, path: &Path) -> Result<Contents, Refusal> {
    let unreadable = |error: io::Error| Refusal::unreadable(path, &error);
    let mut bytes = Vec::new();
    file.take(record::HEAD).read_to_end(&mut bytes).map_err(unreadable)?;
    // A file of another kind may be large, or have no end.
    if record::may_be_ours(&bytes) {
        file.read_to_end(&mut bytes).map_err(unreadable)?;
    }
    Contents::decode(&bytes).map_err(|error| refuse_contents(path, &error))
}

fn refuse_contents(path: &Path, error: &ContentsError) -> Refusal {
    let kind = match error {
        ContentsError::NotOurs => ErrorKind::NotASnapshot,
        ContentsError::OtherVersion(_) => ErrorKind::OtherVersion,
        ContentsError::Corrupt(_) => ErrorKind::Corrupt,
    };
    Refusal::of_kind(kind, error.to_string()).within(path)
}

impl SavedFile {
    /// Opens and locks a file. While another process has it, this waits, unless that process claimed it.
    pub(crate) fn open(path: &Path) -> Result<Self, Refusal> {
        let unreadable = |error: io::Error| Refusal::unreadable(path, &error);
        loop {
            let file = OpenOptions::new().read(true).write(true).open(path).map_err(unreadable)?;
            match file.try_lock() {
                Ok(()) if is_at(&file, path).map_err(unreadable)? => {
                    let contents = contents_of(&file, path)?;
                    return Ok(Self { path: path.to_owned(), file, contents });
                }
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    if !read(path)?.claims.is_empty() {
                        let message = "another process is going on with it";
                        return Err(Refusal::of_kind(ErrorKind::AlreadyDecided, message).within(path));
                    }
                    std::thread::sleep(LOOK_AGAIN);
                }
                Err(TryLockError::Error(error)) => return Err(unreadable(error)),
            }
        }
    }

    /// Makes a file that is a snapshot and nothing else one that holds the snapshot as a record.
    pub(crate) fn give_records(&mut self) -> Result<(), Refusal> {
        if let Some(image) = self.contents.bare_image() {
            let records = [Record::Image(image)];
            self.file = Draft::reserve(&self.path, Target::Own)?.publish(&records)?;
            self.contents.length = self.file.metadata().map_or(0, |metadata| metadata.len());
        }
        Ok(())
    }

    /// Claims it. From here on it says so, whatever happens to this process.
    pub(crate) fn claim(mut self, claim: Claim) -> Result<Journal, Refusal> {
        let unwritable = |error: io::Error| Refusal::unwritable(&self.path, &error);
        // What a crash left behind the last whole record goes.
        self.file.set_len(self.contents.length).map_err(unwritable)?;
        let length = self.file.seek(SeekFrom::End(0)).map_err(unwritable)?;
        let mut journal = Journal(self.file);
        journal.append(&Record::Claimed(claim)).map_err(|error| {
            // Nothing was run, so the file is as it was.
            let _ = journal.0.set_len(length);
            Refusal::unwritable(&self.path, &error)
        })?;
        Ok(journal)
    }
}

/// The end of a claimed file, locked, where calls are written down.
pub(crate) struct Journal(File);

impl Journal {
    /// A journal behind what was just written to a file.
    pub(crate) fn behind(mut file: File) -> io::Result<Self> {
        file.seek(SeekFrom::End(0))?;
        Ok(Self(file))
    }

    /// Appends a record and flushes it to the disk.
    pub(crate) fn append(&mut self, record: &Record) -> io::Result<()> {
        self.0.write_all(&record.encode())?;
        self.0.sync_data()
    }
}

/// Whether the name still means this file.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let ours = file.metadata()?;
    match std::fs::metadata(path) {
        Ok(named) => Ok((ours.dev(), ours.ino()) == (named.dev(), named.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

impl Contents {
    /// Why the file cannot be resumed any more, except by a fork.
    pub(crate) fn taken(&self, path: &Path) -> Option<Refusal> {
        let message = match (&self.forwarded, &self.ended, self.claims.last()) {
            (Some(forwarded), _, _) => format!("was resumed already; its run goes on in {}", forwarded.to),
            (_, Some(ended), _) => format!("was resumed already; its run {} is {}", ended.run, ended.status),
            (_, _, Some(made)) => self.crashed(made),
            _ => return None,
        };
        let refusal = Refusal::of_kind(ErrorKind::AlreadyDecided, message).within(path);
        Some(refusal.with_calls(self.calls_made()))
    }

    fn crashed(&self, last: &Made) -> String {
        let unknown = self.unknown_calls();
        let calls = match unknown.as_slice() {
            [] => "no call was left unanswered".to_owned(),
            calls => format!("begun, and whether they were done is not known: {}", calls.join(", ")),
        };
        let elsewhere = last
            .claim
            .save
            .as_ref()
            .map_or_else(String::new, |save| format!("; its next pause was to go to {save}, look there first"));
        format!(
            "was resumed already, and that process ended without a word; {calls}{elsewhere}; \
             --fork goes on from the pause before it"
        )
    }

    /// Calls that were begun and not answered, in words.
    pub(crate) fn unknown_calls(&self) -> Vec<String> {
        let unknown = self.calls_made().into_iter().filter(|call| call.status == CallStatus::Unknown);
        unknown.map(|call| format!("{} {}", call.call, call.name)).collect()
    }

    /// Calls that were begun since the image.
    pub(crate) fn calls_made(&self) -> Vec<ReportCall> {
        self.claims.iter().flat_map(|made| made.calls.iter().cloned()).collect()
    }
}
