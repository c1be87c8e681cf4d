//! rosbag2's packed files and messages.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| engram::capture::bag::fuzz::rosbag2_packed(bytes));
