//! The speakers of sliding chunks, tied together over a turn.
//!
//! Neighbouring chunks share sound: a speaker of one chunk and a stream so far are one where they speak at the same time
//! in it, by the assignment that agrees most (the permutation of arXiv 2104.04045, section 3); who is silent for longer
//! than that is a new one. How many speak at once is the mean over the chunks, rounded, and so many of the strongest
//! streams are active (as pyannote's pipeline: Bredin 2023, "pyannote.audio 2.1 speaker diarization pipeline").

use super::{Activity, SPEAKERS, SpeakerSegmentation};
use crate::media::SAMPLE_RATE;
use crate::perceive::voice::VoiceError;
use crate::perceive::voice::segment::turns::STEP;

/// How a turn is looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StreamSettings {
    /// Length of a chunk, seconds: what the network was trained on.
    pub chunk_secs: f64,
    /// From one chunk to the next, seconds.
    pub step_secs: f64,
    /// Probability from which a speaker speaks.
    pub threshold: f32,
    /// A speaker goes on from chunk to chunk when it speaks in the common sound for at least so long, seconds.
    pub min_common_secs: f64,
}

impl Default for StreamSettings {
    /// As published, but for the step: 0.5 s there, at five times the cost, and no better on mixed LibriSpeech readers.
    fn default() -> Self {
        Self { chunk_secs: 5.0, step_secs: 2.5, threshold: 0.5, min_common_secs: 0.1 }
    }
}

/// Who speaks when in a turn, on a grid of 10 ms.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Streams {
    /// For each speaker, in order of appearance, whether it speaks in each step.
    active: Vec<Vec<bool>>,
    steps: usize,
}

impl Streams {
    /// How many steps of 10 ms.
    #[must_use]
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// How many speakers.
    #[must_use]
    pub fn count(&self) -> usize {
        self.active.len()
    }

    /// The speakers of a step, in order of appearance.
    pub fn at(&self, step: usize) -> impl Iterator<Item = usize> + '_ {
        let speaks = move |stream: &usize| {
            self.active.get(*stream).is_some_and(|active| active.get(step) == Some(&true))
        };
        (0..self.active.len()).filter(speaks)
    }

    /// How many speak in a step.
    #[must_use]
    pub fn voices_at(&self, step: usize) -> usize {
        self.at(step).count()
    }

    /// In how many of these steps a speaker speaks.
    #[must_use]
    pub fn spoken(&self, stream: usize, steps: std::ops::Range<usize>) -> usize {
        let Some(active) = self.active.get(stream) else { return 0 };
        let within = steps.start.min(active.len())..steps.end.min(active.len());
        active.get(within).unwrap_or_default().iter().filter(|speaks| **speaks).count()
    }

    #[cfg(test)]
    pub(in crate::perceive::voice) fn of(active: Vec<Vec<bool>>) -> Self {
        Self { steps: active.first().map_or(0, Vec::len), active }
    }
}

/// Looks at `sound` (16 kHz) chunk by chunk, from its start on at fixed places; the last chunk ends with it.
///
/// # Errors
/// What the network gives.
pub fn streams(
    sound: &[f32],
    network: &mut dyn SpeakerSegmentation,
    settings: &StreamSettings,
) -> Result<Streams, VoiceError> {
    let all = sound.len() / STEP;
    let (chunk, hop) = (steps(settings.chunk_secs).max(1), steps(settings.step_secs).max(1));
    let mut seen = Seen::new(all);
    let mut start = 0;
    loop {
        // A turn that is no whole number of steps longer has its last chunk a little earlier.
        let from = start.min(all.saturating_sub(chunk));
        let heard = sound.get(from * STEP..(from + chunk).min(all) * STEP).unwrap_or_default();
        seen.add(from, &network.activity(heard)?, settings);
        if start + chunk >= all {
            return Ok(seen.streams());
        }
        start += hop;
    }
}

/// What the chunks so far say.
struct Seen {
    /// Chunks that looked at a step.
    looks: Vec<u16>,
    /// Speakers they found in it, summed.
    voices: Vec<u16>,
    /// For each stream its probability, summed.
    sums: Vec<Vec<f32>>,
}

impl Seen {
    fn new(steps: usize) -> Self {
        Self { looks: vec![0; steps], voices: vec![0; steps], sums: Vec::new() }
    }

    fn add(&mut self, from: usize, chunk: &Activity, settings: &StreamSettings) {
        let heard = |speaker: usize| chunk.iter().any(|row| row[speaker] >= settings.threshold);
        let speakers: Vec<usize> = (0..SPEAKERS).filter(|speaker| heard(*speaker)).collect();
        let agreement: Vec<Vec<f32>> = speakers
            .iter()
            .map(|speaker| {
                self.sums.iter().map(|sum| self.common(sum, from, chunk, *speaker)).collect()
            })
            .collect();
        let least = (settings.min_common_secs * 100.0) as f32;
        let mut chosen = best(&agreement, least);
        for (n, speaker) in speakers.iter().enumerate() {
            let stream = *chosen[n].get_or_insert_with(|| {
                self.sums.push(vec![0.0; self.looks.len()]);
                self.sums.len() - 1
            });
            for (sum, row) in self.sums[stream].iter_mut().skip(from).zip(chunk) {
                *sum += row[*speaker];
            }
        }
        for (step, row) in chunk.iter().enumerate() {
            let voices = row.iter().filter(|p| **p >= settings.threshold).count();
            if let (Some(looks), Some(sum)) =
                (self.looks.get_mut(from + step), self.voices.get_mut(from + step))
            {
                *looks += 1;
                *sum += voices as u16;
            }
        }
    }

    /// How far a speaker of the chunk and a stream speak at the same time, steps.
    fn common(&self, sum: &[f32], from: usize, chunk: &Activity, speaker: usize) -> f32 {
        let known = sum.iter().zip(&self.looks).skip(from);
        known
            .zip(chunk)
            .filter(|((_, looks), _)| **looks > 0)
            .map(|((sum, looks), row)| sum / f32::from(*looks) * row[speaker])
            .sum()
    }

    fn streams(self) -> Streams {
        let steps = self.looks.len();
        let mut active = vec![vec![false; steps]; self.sums.len()];
        for (step, (voices, looks)) in self.voices.iter().zip(&self.looks).enumerate() {
            let mean = f32::from(*voices) / f32::from((*looks).max(1));
            let mut order: Vec<usize> =
                (0..self.sums.len()).filter(|stream| self.sums[*stream][step] > 0.0).collect();
            order
                .sort_by(|a, b| self.sums[*b][step].total_cmp(&self.sums[*a][step]).then(a.cmp(b)));
            for stream in order.into_iter().take(mean.round_ties_even() as usize) {
                active[stream][step] = true;
            }
        }
        // A speaker that no step is given to was none.
        active.retain(|stream| stream.contains(&true));
        // A network numbers its speakers as it likes.
        active.sort_by_key(|stream| stream.iter().position(|speaks| *speaks));
        Streams { active, steps }
    }
}

/// For each row the column it is, one to one, so that the agreement is greatest; pairs below `least` are none. Rows are
/// at most [`SPEAKERS`], so that all ways are tried.
fn best(agreement: &[Vec<f32>], least: f32) -> Vec<Option<usize>> {
    fn go(
        agreement: &[Vec<f32>],
        least: f32,
        taken: &mut Vec<Option<usize>>,
        value: f32,
        top: &mut (f32, Vec<Option<usize>>),
    ) {
        let Some(row) = agreement.get(taken.len()) else {
            if value > top.0 {
                *top = (value, taken.clone());
            }
            return;
        };
        for (column, gain) in row.iter().enumerate() {
            if *gain >= least && !taken.contains(&Some(column)) {
                taken.push(Some(column));
                go(agreement, least, taken, value + gain, top);
                taken.pop();
            }
        }
        taken.push(None);
        go(agreement, least, taken, value, top);
        taken.pop();
    }
    let mut top = (-1.0, vec![None; agreement.len()]);
    go(agreement, least, &mut Vec::new(), 0.0, &mut top);
    top.1
}

fn steps(secs: f64) -> usize {
    (secs * f64::from(SAMPLE_RATE) / STEP as f64).round() as usize
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Reads who speaks out of the samples: 1 = a, 2 = b, 4 = c. Its order of speakers turns with every call.
    struct Told(usize);

    impl SpeakerSegmentation for Told {
        fn activity(&mut self, sound: &[f32]) -> Result<Activity, VoiceError> {
            self.0 += 1;
            let turned = self.0;
            let row = |step: &[f32]| {
                std::array::from_fn(|n| {
                    let bit = 1 << ((n + turned) % SPEAKERS);
                    if step[0] as u32 & bit > 0 { 0.9 } else { 0.02 }
                })
            };
            Ok(sound.chunks_exact(STEP).map(row).collect())
        }
    }

    /// `(who, seconds)`.
    fn sound(parts: &[(u8, f64)]) -> Vec<f32> {
        parts.iter().flat_map(|(who, secs)| vec![f32::from(*who); steps(*secs) * STEP]).collect()
    }

    fn heard(sound: &[f32]) -> Streams {
        streams(sound, &mut Told(0), &StreamSettings::default()).unwrap()
    }

    #[test]
    fn speakers_go_on_through_the_chunks_whatever_their_order() {
        let parts = [(1, 4.0), (3, 1.0), (2, 1.5), (0, 0.4), (1, 2.0), (3, 2.0), (1, 2.0)];
        let found = heard(&sound(&parts));
        assert_eq!(found.count(), 2);
        let mut at = 0;
        for (who, secs) in parts {
            for step in at..at + steps(secs) {
                let bits = found.at(step).fold(0, |bits, stream| bits | 1 << stream);
                assert_eq!(bits, who, "step {step}");
            }
            at += steps(secs);
        }
        assert_eq!(found.steps(), at);
        assert_eq!(found.spoken(1, 0..1000), 360);
        // Who is silent for longer than two chunks have in common is nobody known.
        assert_eq!(heard(&sound(&[(1, 4.0), (2, 8.0), (1, 3.0)])).count(), 3);
    }

    #[test]
    fn a_short_turn_is_one_chunk_and_silence_has_no_speaker() {
        assert_eq!(heard(&sound(&[(1, 0.3)])).count(), 1);
        assert_eq!(heard(&sound(&[(0, 6.0)])).count(), 0);
        assert_eq!(heard(&[]).count(), 0);
    }

    #[test]
    fn the_number_of_voices_is_the_mean_over_the_chunks() {
        let mut seen = Seen::new(3);
        let settings = StreamSettings::default();
        seen.add(0, &vec![[0.9, 0.6, 0.0], [0.9, 0.6, 0.0], [0.9, 0.0, 0.0]], &settings);
        seen.add(0, &vec![[0.9, 0.7, 0.0], [0.9, 0.4, 0.0], [0.9, 0.3, 0.0]], &settings);
        seen.add(0, &vec![[0.9, 0.8, 0.0], [0.9, 0.4, 0.0], [0.9, 0.3, 0.0]], &settings);
        let found = seen.streams();
        let voices: Vec<usize> = (0..3).map(|step| found.voices_at(step)).collect();
        assert_eq!(voices, [2, 1, 1]);
    }

    proptest! {
        #[test]
        fn the_best_assignment_is_one_to_one_and_none_is_better(
            values in proptest::collection::vec(0.0_f32..20.0, 12)
        ) {
            let rows: Vec<Vec<f32>> = values.chunks(4).map(<[f32]>::to_vec).collect();
            let found = best(&rows, 5.0);
            let gain = |ways: &[Option<usize>]| -> f32 {
                ways.iter().enumerate().filter_map(|(n, c)| c.map(|c| rows[n][c])).sum()
            };
            for (n, column) in found.iter().enumerate() {
                prop_assert!(column.is_none_or(|c| rows[n][c] >= 5.0));
                prop_assert!(found.iter().enumerate().all(|(m, c)| m == n || c.is_none() || c != column));
            }
            for a in 0..4 {
                for b in 0..4 {
                    for c in 0..4 {
                        let ways = [Some(a), Some(b), Some(c)];
                        let fair = a != b && b != c && a != c
                            && (0..3).all(|n| ways[n].is_some_and(|w| rows[n][w] >= 5.0));
                        prop_assert!(!fair || gain(&ways) <= gain(&found) + 1e-4);
                    }
                }
            }
        }

        #[test]
        fn at_most_as_many_are_active_as_were_heard(
            parts in proptest::collection::vec((0_u8..8, 1_usize..300), 1..8)
        ) {
            let parts: Vec<(u8, f64)> = parts.iter().map(|(who, n)| (*who, *n as f64 * 0.01)).collect();
            let found = heard(&sound(&parts));
            let mut at = 0;
            for (who, secs) in &parts {
                for step in at..at + steps(*secs) {
                    prop_assert_eq!(found.voices_at(step), who.count_ones() as usize);
                }
                at += steps(*secs);
            }
        }
    }
}
