//! Matching thresholds of a model.
#![no_main]

use std::path::Path;

use engram::models::Thresholds;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(read) = Thresholds::parse(text, Path::new("thresholds")) {
        assert!(read.maybe <= read.accept && read.accept.abs() <= 1.0 && read.merge.is_finite());
    }
});
