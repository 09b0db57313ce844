//! The inputs of the fuzz targets that are kept, each through what its target checks.

use std::path::Path;

use chrysalid::fuzzing;

/// Each file of `fuzz/corpus/<target>`, with its name.
fn inputs(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let files = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = files.map(|file| file.unwrap().path());
    let mut inputs: Vec<_> = paths.map(|path| (path.display().to_string(), std::fs::read(&path).unwrap())).collect();
    inputs.sort();
    assert!(inputs.len() >= 10, "{target} has {} inputs", inputs.len());
    inputs
}

fn passes(target: &str, check: fn(&[u8])) {
    for (name, bytes) in inputs(target) {
        if std::panic::catch_unwind(|| check(&bytes)).is_err() {
            panic!("{name} fails");
        }
    }
}

#[test]
fn values() {
    passes("value_decoding", fuzzing::value_decoding);
}

#[test]
fn snapshots() {
    passes("snapshot_decoding", fuzzing::snapshot_decoding);
}

#[test]
fn programs_and_modules() {
    passes("transform", fuzzing::transform);
}

#[test]
fn catalogues() {
    passes("catalogue", fuzzing::catalogue);
}

#[test]
fn reports() {
    passes("report", fuzzing::report);
}

#[test]
fn generated_programs() {
    passes("same_result", crate::generated::same_result);
}
