//! Other hosts of QuickJS, each as a process that speaks as [`super::subject`] does.

use std::ffi::OsStr;
use std::path::PathBuf;

pub(crate) struct Peer {
    pub(crate) name: String,
    /// An interpreter, and the script for it.
    pub(crate) program: PathBuf,
    pub(crate) script: PathBuf,
}

impl Peer {
    pub(crate) fn command(&self) -> [&OsStr; 2] {
        [self.program.as_os_str(), self.script.as_os_str()]
    }
}
