//! Memory graphs of M3-Agent, as JSON lines.
#![no_main]

use engram::memory::M3Graph;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = M3Graph::read(bytes);
});
