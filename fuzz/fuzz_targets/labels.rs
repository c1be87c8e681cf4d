//! Labels: RTTM and engram-truth/1.
#![no_main]

use std::path::Path;

use engram::bench::labels::Labels;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = Labels::read(&String::from_utf8_lossy(bytes), Path::new("a.wav"));
});
