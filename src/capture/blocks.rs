//! Runs of sound as they come → equal blocks with exact times.
//!
//! A block's time is the time of its first sample, counted in samples from where the sound began, so
//! that jitter in the source's stamps never moves or tears speech. Only a real gap starts a new count.

use crate::ids::SourceId;
use crate::media::{Block, SAMPLE_RATE};
use crate::time::Timestamp;

/// Samples in a block: 100 ms.
pub const BLOCK_SAMPLES: usize = 1600;
/// Length of a sample; a whole number of nanoseconds at 16 kHz.
const SAMPLE_NANOS: i64 = 1_000_000_000 / SAMPLE_RATE as i64;
/// Stamps that are off by more than this are believed: there is a gap or an overlap.
const TOLERANCE_NANOS: i64 = 40_000_000;

/// Cuts one microphone's sound into blocks of [`BLOCK_SAMPLES`]; shorter only before a gap and at the end.
#[derive(Debug)]
pub struct Blocks {
    source: SourceId,
    /// Time of the first pending sample; `None` before any sound.
    at: Option<i64>,
    pending: Vec<f32>,
}

impl Blocks {
    /// For one microphone.
    #[must_use]
    pub fn new(source: SourceId) -> Self {
        Self { source, at: None, pending: Vec::with_capacity(2 * BLOCK_SAMPLES) }
    }

    /// Takes 16 kHz mono samples of which the first was captured at `stamp`; full blocks go to `out`.
    ///
    /// Gives back how many samples were left out because they lie before sound that was already taken
    /// (stamps that went back by more than 40 ms).
    pub fn push(&mut self, stamp: Timestamp, samples: &[f32], out: &mut Vec<Block>) -> usize {
        let stamp = stamp.as_nanos();
        let mut samples = samples;
        let mut overlapped = 0;
        match self.end_nanos() {
            None => self.at = Some(stamp),
            Some(expected) if stamp.saturating_sub(expected) > TOLERANCE_NANOS => {
                self.flush(out);
                self.at = Some(stamp);
            }
            Some(expected) if expected.saturating_sub(stamp) > TOLERANCE_NANOS => {
                let before = expected.saturating_sub(stamp) / SAMPLE_NANOS;
                overlapped = usize::try_from(before).unwrap_or(usize::MAX).min(samples.len());
                samples = &samples[overlapped..];
            }
            Some(_) => {}
        }
        self.pending.extend_from_slice(samples);
        let mut taken = 0;
        while self.pending.len() - taken >= BLOCK_SAMPLES {
            self.emit(taken..taken + BLOCK_SAMPLES, out);
            taken += BLOCK_SAMPLES;
        }
        self.pending.drain(..taken);
        overlapped
    }

    /// Gives out what is pending as a shorter block: the sound ends or pauses here.
    pub fn flush(&mut self, out: &mut Vec<Block>) {
        if !self.pending.is_empty() {
            self.emit(0..self.pending.len(), out);
            self.pending.clear();
        }
    }

    /// Capture time of the first sample that is pending.
    #[must_use]
    pub fn pending_start(&self) -> Option<Timestamp> {
        self.at.filter(|_| !self.pending.is_empty()).map(Timestamp::from_nanos)
    }

    /// The instant after the last sample taken, while some are pending.
    #[must_use]
    pub fn pending_end(&self) -> Option<Timestamp> {
        self.end_nanos().filter(|_| !self.pending.is_empty()).map(Timestamp::from_nanos)
    }

    /// The instant after the last sample taken; `None` before any.
    #[must_use]
    pub fn end(&self) -> Option<Timestamp> {
        self.end_nanos().map(Timestamp::from_nanos)
    }

    fn end_nanos(&self) -> Option<i64> {
        self.at.map(|at| at.saturating_add(self.pending.len() as i64 * SAMPLE_NANOS))
    }

    fn emit(&mut self, range: std::ops::Range<usize>, out: &mut Vec<Block>) {
        let at = self.at.unwrap_or_default();
        self.at = Some(at.saturating_add(range.len() as i64 * SAMPLE_NANOS));
        out.push(Block {
            source: self.source.clone(),
            at: Timestamp::from_nanos(at),
            samples: self.pending[range].into(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ms(ms: i64) -> Timestamp {
        Timestamp::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn a_gap_starts_a_new_count_and_jitter_does_not() {
        let mut blocks = Blocks::new(SourceId::new("m"));
        let mut out = Vec::new();
        blocks.push(ms(0), &[0.0; 2000], &mut out);
        blocks.push(ms(125 + 39), &[0.0; 2000], &mut out);
        assert_eq!(out.iter().map(|b| b.at).collect::<Vec<_>>(), [ms(0), ms(100)]);
        blocks.push(ms(1000), &[0.0; 1600], &mut out);
        assert_eq!(out[2].at, ms(200), "the rest before the gap");
        assert_eq!(out[2].samples.len(), 800);
        assert_eq!(out[3].at, ms(1000));
    }

    #[test]
    fn sound_that_goes_back_is_cut_where_it_overlaps() {
        let mut blocks = Blocks::new(SourceId::new("m"));
        let mut out = Vec::new();
        assert_eq!(blocks.push(ms(0), &[0.0; 1600], &mut out), 0);
        assert_eq!(blocks.push(ms(50), &[0.0; 1600], &mut out), 800);
        assert_eq!(blocks.push(ms(-5000), &[0.0; 1600], &mut out), 1600);
        blocks.flush(&mut out);
        assert_eq!(out[1].at, ms(100));
        assert_eq!(out[1].samples.len(), 800);
    }

    proptest! {
        /// However the sound is portioned, the same blocks come out and no sample is lost.
        #[test]
        fn portions_do_not_matter(portions in proptest::collection::vec(1_usize..5000, 1..20)) {
            let whole: Vec<f32> = (0..portions.iter().sum()).map(|n| n as f32).collect();
            let mut blocks = Blocks::new(SourceId::new("m"));
            let (mut out, mut from) = (Vec::new(), 0);
            for portion in portions {
                let stamp = Timestamp::from_nanos(from as i64 * SAMPLE_NANOS);
                blocks.push(stamp, &whole[from..from + portion], &mut out);
                from += portion;
            }
            blocks.flush(&mut out);
            let mut next = 0;
            for block in &out {
                prop_assert_eq!(block.at.as_nanos(), next as i64 * SAMPLE_NANOS);
                prop_assert_eq!(&block.samples[..], &whole[next..next + block.samples.len()]);
                next += block.samples.len();
            }
            prop_assert_eq!(next, whole.len());
        }
    }
}
