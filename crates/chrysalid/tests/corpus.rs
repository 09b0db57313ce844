//! The inputs of the fuzz targets that are kept, each through what its target checks.

use std::panic::RefUnwindSafe;
use std::path::Path;

use chrysalid::fuzzing;

use crate::{generated, guest_garbage};

/// The inputs of a target, each through its check.
fn passes<T>(target: &str, inputs: usize, check: impl Fn(&[u8]) -> T + RefUnwindSafe) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let files = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    paths.sort();
    for path in &paths {
        let bytes = std::fs::read(path).unwrap();
        let passed = std::panic::catch_unwind(|| drop(check(&bytes))).is_ok();
        assert!(passed, "{} fails", path.display());
    }
    assert_eq!(paths.len(), inputs, "inputs of {target}");
}

#[test]
fn values() {
    passes("value_decoding", 37, fuzzing::value_decoding);
}

#[test]
fn snapshots() {
    passes("snapshot_decoding", 27, fuzzing::snapshot_decoding);
}

#[test]
fn programs_and_modules() {
    passes("transform", 36, fuzzing::transform);
}

#[test]
fn catalogues() {
    passes("catalogue", 25, fuzzing::catalogue);
}

#[test]
fn reports() {
    passes("report", 19, fuzzing::report);
}

#[test]
fn generated_programs() {
    passes("same_result", 14, generated::same_result);
}

#[test]
fn guests_made_of_garbage() {
    passes("guest_garbage", 25, guest_garbage::guest_garbage);
}
