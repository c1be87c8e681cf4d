//! The sound of a file, whole: what voices and voice activity are measured on.

use std::path::Path;

use super::BenchError;
use crate::capture::{Recording, ReplayOptions};
use crate::media::{Item, SAMPLE_RATE};
use crate::time::Timestamp;

/// Decodes the first microphone of anything that can be replayed: 16 kHz mono, [-1, 1], from the file's
/// start; gaps are silence.
///
/// # Errors
/// When the file cannot be decoded or holds no sound.
pub fn read(path: &Path) -> Result<Vec<f32>, BenchError> {
    let options = ReplayOptions { start_time: Some(Timestamp::EPOCH), ..ReplayOptions::default() };
    let recording = Recording::open(path, &options)?;
    let Some(microphone) = recording.microphones().first() else {
        return Err(BenchError::Form { path: path.to_owned(), reason: "it holds no sound".into() });
    };
    let mut playback = recording.play()?;
    let mut sound: Vec<f32> = Vec::new();
    while let Some(item) = playback.next()? {
        let Item::Block(block) = item else { continue };
        if block.source != *microphone {
            continue;
        }
        let at = (block.at.secs_since(Timestamp::EPOCH) * f64::from(SAMPLE_RATE)).round();
        // A decoder's first block may begin a little before 0.
        let at = at.max(0.0) as usize;
        sound.resize(at.max(sound.len()), 0.0);
        sound.truncate(at);
        sound.extend_from_slice(&block.samples);
    }
    Ok(sound)
}
