//! A program or module as text.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| chrysalid_parts::fuzzing::transform(bytes));
