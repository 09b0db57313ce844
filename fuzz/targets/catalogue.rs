//! Tools with hostile schemas, and their arguments.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| chrysalid_parts::fuzzing::catalogue(bytes));
