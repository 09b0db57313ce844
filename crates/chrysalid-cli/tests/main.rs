//! Drives the real binary in folders of its own: one module per noun of the command line.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests assert by panicking"
)]

mod catalogue;
mod claim;
mod json;
mod modules;
mod prompt;
mod repl;
mod resume;
mod run;
mod sandbox;
mod tools;
mod wedding;
