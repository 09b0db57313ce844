//! The check of counts notices work that became slower: each kind of guest work, and one of the host's.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "what does not hold ends in a panic")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn counts(command: &str, file: &Path, slow: Option<&str>) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_chrysalid-counts"));
    program.arg(command).arg(file);
    // Without valgrind on the path: what it would count has a test of its own.
    program.env("PATH", "");
    if let Some(name) = slow {
        program.args(["--slow", name]);
    }
    program.output().expect("the program starts")
}
