//! MCAP files.
#![no_main]

mod bag;

use engram::capture::bag::fuzz;
use libfuzzer_sys::Corpus;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| -> Corpus { bag::read(fuzz::MCAP, bytes) });
