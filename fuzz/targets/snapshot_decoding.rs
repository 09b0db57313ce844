//! A snapshot, its pages and its seal.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| chrysalid_parts::fuzzing::snapshot_decoding(bytes));
