//! rosbag2's `metadata.yaml`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| engram::capture::bag::fuzz::rosbag2_metadata(bytes));
