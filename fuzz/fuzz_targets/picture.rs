//! Pictures that come in: JPEG and PNG, from bags, cameras and enrolments.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| engram::capture::bag::fuzz::picture(bytes));
