//! The root of another crate: what of this one needs no WebAssembly, so that fuzz targets build in minutes and all of it
//! is instrumented. `fuzz/Cargo.toml` names this file; `lib.rs` does not.

#![allow(dead_code, unused_imports, missing_docs, unreachable_pub, reason = "the engine uses and documents the rest")]

mod call;
mod capability;
mod catalogue;
mod defence;
mod error;
pub mod fuzzing;
mod key;
mod limits;
mod outcome;
mod plan;
mod program;
mod report;
mod value;

mod snapshot {
    pub(crate) mod format;
    pub(crate) mod pages;
    pub(crate) mod seal;
}

pub use capability::{Capabilities, Capability, Delivery};
pub use chrysalid_policy::{Budget, DecisionKind, Effects, Rules};
pub use error::{Error, ErrorKind, Result};
pub use key::{Key, KeyError};
pub use outcome::Failure;
pub use value::{Object, Value, from_value, to_value};
