//! Measuring engram against labelled recordings and folders: the figures of `engramd bench`.

pub mod assignment;
pub mod diarization;
pub mod labels;
pub mod perception;
