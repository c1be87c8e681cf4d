//! MCAP, rosbag1 and SQLite files: the first bytes decide which reader runs.
#![no_main]

use std::sync::LazyLock;

/// In memory where there is such a folder.
static SCRATCH: LazyLock<tempfile::NamedTempFile> = LazyLock::new(|| {
    let memory = std::path::Path::new("/dev/shm");
    let made = if memory.is_dir() {
        tempfile::NamedTempFile::new_in(memory)
    } else {
        tempfile::NamedTempFile::new()
    };
    made.expect("a scratch file")
});

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    engram::capture::bag::exercise::bag(SCRATCH.path(), bytes);
});
