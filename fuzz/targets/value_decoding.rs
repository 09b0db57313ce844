//! A value as the guest sends it.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| chrysalid_parts::fuzzing::value_decoding(bytes));
