//! Other hosts of QuickJS, each as a process that speaks as [`super::subject`] does.

use std::ffi::OsStr;

/// `NAME=PROGRAM ARGUMENT...`, split at spaces.
pub(crate) struct Peer {
    pub(crate) name: String,
    words: Vec<String>,
}

impl Peer {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (name, command) = text.split_once('=')?;
        let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
        Some(Self { name: name.to_owned(), words })
    }

    pub(crate) fn command(&self) -> Vec<&OsStr> {
        self.words.iter().map(OsStr::new).collect()
    }
}
