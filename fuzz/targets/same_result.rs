//! Programs made at random end the same way with and without snapshots. Runs without coverage, which would mean a build
//! of wasmtime of its own: `same_result [-seed=N] [-max_total_time=SECONDS] [FILE…]`. Files are run first; an input that
//! fails is written to `artifacts/same_result`.

#[allow(dead_code)]
#[path = "../../crates/chrysalid/tests/generated.rs"]
mod generated;
#[allow(dead_code)]
#[path = "../../crates/chrysalid/tests/support.rs"]
mod support;

use std::panic::catch_unwind;
use std::path::Path;
use std::time::{Duration, Instant};

fn main() {
    let (mut seed, mut seconds) = (0x9e37_79b9_7f4a_7c15_u64, 60_u64);
    for argument in std::env::args().skip(1) {
        if let Some(text) = argument.strip_prefix("-seed=") {
            seed = text.parse().expect("a number");
        } else if let Some(text) = argument.strip_prefix("-max_total_time=") {
            seconds = text.parse().expect("a number of seconds");
        } else {
            files(Path::new(&argument)).for_each(|(name, bytes)| check(&name, &bytes));
        }
    }
    let begun = Instant::now();
    let mut runs = 0_u64;
    while begun.elapsed() < Duration::from_secs(seconds) {
        let length = next(&mut seed) % 200;
        let bytes: Vec<u8> = (0..length).map(|_| next(&mut seed).to_le_bytes()[7]).collect();
        check(&format!("run {runs}"), &bytes);
        runs += 1;
    }
    println!("{runs} programs in {} s", begun.elapsed().as_secs());
}

fn files(path: &Path) -> impl Iterator<Item = (String, Vec<u8>)> {
    let inside = std::fs::read_dir(path).into_iter().flatten().map(|file| file.expect("a file").path());
    let own = path.is_file().then(|| path.to_owned());
    let paths: Vec<_> = inside.chain(own).collect();
    paths.into_iter().map(|path| (path.display().to_string(), std::fs::read(&path).expect("a readable file")))
}

fn check(name: &str, bytes: &[u8]) {
    if catch_unwind(|| generated::same_result(bytes)).is_ok() {
        return;
    }
    let folder = Path::new("artifacts/same_result");
    std::fs::create_dir_all(folder).expect("a folder can be made");
    let path = folder
        .join(format!("crash-{:016x}", bytes.iter().fold(7_u64, |sum, byte| sum.wrapping_mul(31) ^ u64::from(*byte))));
    std::fs::write(&path, bytes).expect("a file can be written");
    eprintln!("{name} failed, its bytes are in {}:\n{}", path.display(), generated::program(bytes));
    std::process::exit(1);
}

/// A linear congruential generator; its upper bits are random enough for choices.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state
}
