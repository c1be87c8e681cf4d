//! Pauses inside turns, told by loudness.
//!
//! A turn that is heard again has no speech probabilities any more, only how many seconds of it were speech
//! ([`SpeechTurn::speech_secs`]). So many of its steps as were none, the quietest ones, are its silence: where voice activity
//! heard speech all along there is no pause, however quiet it grows.

use super::segment::SpeechSegment;
use crate::media::SAMPLE_RATE;
use crate::perceive::voice::segment::turns::STEP;
use crate::percept::SpeechTurn;

/// Steps of 10 ms before and after a step that its loudness is averaged over.
const AROUND: usize = 3;
/// A pause is so much quieter than the turn's speech, dB.
const QUIETER_DB: f32 = 6.0;

/// Pauses of at least so many seconds, `[start, end)` in samples of the stretch, in order.
pub(super) fn pauses(stretch: &SpeechSegment, least_secs: f64) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    let mut at = 0;
    for turn in &stretch.turns {
        for (start, end) in silence(turn) {
            match found.last_mut() {
                // Where turns touch, it mostly is in a pause.
                Some(last) if last.1 == at + start => last.1 = at + end,
                _ => found.push((at + start, at + end)),
            }
        }
        at += turn.sound.len();
    }
    found.retain(|(start, end)| (end - start) as f64 / f64::from(SAMPLE_RATE) >= least_secs);
    found
}

/// Runs of a turn's quietest steps, as many as voice activity took for no speech, `[start, end)` in samples.
fn silence(turn: &SpeechTurn) -> Vec<(usize, usize)> {
    let loudness = loudness(&turn.sound);
    let secs = turn.sound.len() as f64 / f64::from(SAMPLE_RATE);
    let silent = ((secs - turn.speech_secs) * 100.0).round().max(0.0) as usize;
    let mut sorted = loudness.clone();
    sorted.sort_by(f64::total_cmp);
    let last = silent.min(sorted.len()).checked_sub(1);
    let Some(limit) = last.and_then(|last| sorted.get(last)).filter(|_| !turn.overlapped) else {
        return Vec::new();
    };
    let quiet = 10.0_f64.powf(f64::from(turn.level_dbfs - QUIETER_DB) / 10.0);
    let limit = f64::min(*limit, quiet);
    let mut found: Vec<(usize, usize)> = Vec::new();
    for (step, _) in loudness.iter().enumerate().filter(|(_, power)| **power <= limit) {
        let (start, end) = (step * STEP, ((step + 1) * STEP).min(turn.sound.len()));
        match found.last_mut() {
            Some(last) if last.1 == start => last.1 = end,
            _ => found.push((start, end)),
        }
    }
    found
}

/// Mean power of each 10 ms and what is around it.
fn loudness(sound: &[f32]) -> Vec<f64> {
    let power: Vec<f64> = sound
        .chunks(STEP)
        .map(|step| {
            let sum: f64 = step.iter().map(|v| f64::from(*v) * f64::from(*v)).sum();
            sum / step.len() as f64
        })
        .collect();
    (0..power.len())
        .map(|n| {
            let near = &power[n.saturating_sub(AROUND)..(n + AROUND + 1).min(power.len())];
            near.iter().sum::<f64>() / near.len() as f64
        })
        .collect()
}
