//! Instrumented frames are larger, so the parser's stack is reckoned as in a build without optimisation.

fn main() {
    println!("cargo::rustc-cfg=chrysalid_unoptimized");
    println!("cargo::rerun-if-changed=build.rs");
}
