//! Voice activity against labels: `bench vad`.
//!
//! Labels are TEN VAD's `.scv` files beside the sounds: `name,start,end,1|0,start,end,1|0,…`, seconds.

use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::Serialize;

use super::error::{entries, read_text};
use super::{BenchError, sound};
use crate::config::Config;
use crate::daemon::assemble::catalogue;
use crate::daemon::ingest::PerceiverSet;
use crate::media::SAMPLE_RATE;
use crate::perceive::voice::VadState;

/// Samples of one decision.
const FRAME: usize = 512;
/// Probability from which a frame counts as speech, before any padding.
const THRESHOLD: f32 = 0.5;

/// `bench vad`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct VadScores {
    /// Of the frames called speech, what is speech.
    pub precision: f64,
    /// Of the speech frames, what was called speech.
    pub recall: f64,
    /// Harmonic mean of both.
    pub f1: f64,
    /// Labelled frames of 32 ms.
    pub frames: u64,
    /// Sounds.
    pub files: usize,
    /// Processing time per time of sound, one core.
    pub real_time_factor: f64,
}

/// A labelled stretch: start, end, speech.
type SpeechSegment = (f64, f64, bool);

/// Reads an `.scv` line.
fn labels(text: &str) -> Option<Vec<SpeechSegment>> {
    let fields: Vec<&str> = text.trim().split(',').skip(1).collect();
    if fields.is_empty() || !fields.len().is_multiple_of(3) {
        return None;
    }
    let stretch = |three: &[&str]| {
        let (start, end) = (three[0].trim().parse().ok()?, three[1].trim().parse().ok()?);
        let speech = match three[2].trim() {
            "1" => true,
            "0" => false,
            _ => return None,
        };
        Some((start, end, speech))
    };
    fields.chunks_exact(3).map(stretch).collect()
}

/// The sound that a label file belongs to.
fn sound_of(scv: &Path) -> Option<PathBuf> {
    ["wav", "flac", "ogg", "mp3"]
        .into_iter()
        .map(|kind| scv.with_extension(kind))
        .find(|path| path.exists())
}

/// Judges every labelled frame of every sound in `dir` with the configured set's model.
///
/// # Errors
/// When there are no labels, or a file or the model cannot be read.
pub fn measure(config: &Config, dir: &Path) -> Result<VadScores, BenchError> {
    let set = PerceiverSet::choose(config, &catalogue(config)?)?;
    let Some(mut vad) = set.voice_activity()? else {
        return Err(BenchError::NoModel { job: "speech", reasons: set.degraded.join("; ") });
    };
    let mut out = VadScores::default();
    let (mut hits, mut false_alarms, mut misses) = (0_u64, 0_u64, 0_u64);
    let (mut taken, mut heard) = (0.0, 0.0);
    for scv in entries(dir)?.into_iter().filter(|path| path.extension().is_some_and(|e| e == "scv"))
    {
        let form = |reason: &str| BenchError::Form { path: scv.clone(), reason: reason.to_owned() };
        let stretches = labels(&read_text(&scv)?)
            .ok_or_else(|| form("a label file is one line: name,start,end,1|0,start,end,1|0,…"))?;
        let sound =
            sound::read(&sound_of(&scv).ok_or_else(|| form("its sound is not beside it"))?)?;
        let begun = Instant::now();
        let mut state = VadState::default();
        for (number, frame) in sound.chunks_exact(FRAME).enumerate() {
            let called = vad.probability(&mut state, frame)? >= THRESHOLD;
            let centre = (number * FRAME + FRAME / 2) as f64 / f64::from(SAMPLE_RATE);
            let label = stretches.iter().find(|(start, end, _)| *start <= centre && centre < *end);
            let Some((_, _, speech)) = label else { continue };
            out.frames += 1;
            hits += u64::from(called && *speech);
            false_alarms += u64::from(called && !speech);
            misses += u64::from(!called && *speech);
        }
        taken += begun.elapsed().as_secs_f64();
        heard += sound.len() as f64 / f64::from(SAMPLE_RATE);
        out.files += 1;
    }
    if hits == 0 {
        let reason =
            "no frame of labelled speech was found; it wants NAME.scv beside NAME.wav".into();
        return Err(BenchError::TooLittle { path: dir.to_owned(), reason });
    }
    out.precision = hits as f64 / (hits + false_alarms) as f64;
    out.recall = hits as f64 / (hits + misses) as f64;
    out.f1 = 2.0 * out.precision * out.recall / (out.precision + out.recall);
    out.real_time_factor = taken / heard;
    Ok(out)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn label_lines_are_read_and_broken_ones_refused() {
        let stretches = labels("a,0.000,0.403,0,0.403,1.204,1\n").unwrap();
        assert_eq!(stretches, [(0.0, 0.403, false), (0.403, 1.204, true)]);
        for broken in ["", "a", "a,0,1", "a,0,1,2", "a,x,1,0"] {
            assert_eq!(labels(broken), None, "{broken}");
        }
    }
}
