//! What fuzz targets and the test over their corpus check, one function a target. Not part of the API.
//!
//! Each takes the bytes of one input and panics where something does not hold. None of them needs the engine.

#![allow(
    clippy::expect_used,
    clippy::missing_panics_doc,
    clippy::panic,
    reason = "a check that does not hold ends in a panic"
)]

mod bytes;
mod guest;
mod report;
mod schema;
mod slices;
mod snapshot;
mod text;
mod value;

pub(crate) use guest::compares_pages;
pub use guest::{comparing_pages, memory};
pub use report::report;
pub use schema::catalogue;
pub(crate) use slices::slice_ends_here;
pub use snapshot::snapshot_decoding;
pub use text::transform;
pub use value::value_decoding;
