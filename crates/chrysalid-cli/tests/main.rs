//! Drives the real binary in folders of its own: one module per noun of the command line.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests assert by panicking"
)]

mod approvals;
mod audit;
mod catalogue;
mod claim;
mod delivery;
mod json;
mod modules;
mod plan;
mod policy;
mod prompt;
mod repl;
mod resume;
mod run;
mod sandbox;
mod tools;
mod wedding;
