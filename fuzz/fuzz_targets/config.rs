//! The configuration file.
#![no_main]

use std::path::Path;

use engram::config::Config;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let _ = Config::parse(Path::new("engram.toml"), text, &[]);
});
