//! The text of a run whose every part is hostile.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| chrysalid_parts::fuzzing::report(bytes));
