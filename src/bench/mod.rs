//! Measuring engram against labelled recordings and folders: the figures of `engramd bench`.
//!
//! Every figure comes of the code that runs in the daemon: recordings are replayed into a store of their
//! own, embedders are those of the configured set, recall reads a real store. All randomness has a fixed
//! seed.

pub mod answers;
pub mod assignment;
pub mod av_sync;
pub mod calibration;
pub mod channels;
pub mod checkerboard;
pub mod colours;
pub mod conversations;
pub mod day;
pub mod devices;
pub mod diarization;
pub mod erase;
mod error;
mod exact;
pub mod filler;
pub mod forget;
pub mod judge;
pub mod labels;
pub mod m3_bench;
pub mod memory;
pub mod people;
pub mod perception;
pub mod random;
pub mod readers;
pub mod recall;
pub mod rehearsal;
mod scratch;
pub mod script;
pub mod sound;
pub mod strangers;
pub mod text;
pub mod told;
pub mod vad;
pub mod vectors;
pub mod verify;
pub mod word_error;
pub mod words;
pub mod year;

pub use error::BenchError;
