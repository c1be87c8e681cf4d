#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| engram::capture::bag::fuzz::definition(bytes));
