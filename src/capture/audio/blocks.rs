//! Runs of sound as they come → equal blocks with exact times.
//!
//! A block's time is the time of its first sample, counted in samples from where the sound began: jitter of the stamps
//! neither moves nor tears speech.
//!
//! - **Begin**: sound begins where its first stamp says. Where stamps are times of arrival, those of a second are looked at
//!   first: arrival is only ever late, so the least late (stamp less samples before it) says where the sound began, when
//!   the first is more than 40 ms later than that.
//! - **Late**: a run more than 40 ms late waits, and so do those behind it. When one of them is in time again it was a
//!   stall, and all go on without a seam. When none is for a second (live: 0.3 s), or it is more than 1.5 s late, samples
//!   are missing: a gap, and the sound begins anew.
//! - **Early**: up to 1.5 s early is late delivery of what was before; it goes on without a seam. What is earlier lies
//!   before sound that was already taken, and is left out.
//! - **Drift**: two clocks never agree; [`Drift`] moves the times by a little, in quiet moments, and loses nothing.
//!
//! Nothing here looks at a clock, and no more than 1.5 s of sound (and the run that was last) waits.

use super::drift::Drift;
use crate::ids::SourceId;
use crate::media::{Block, SAMPLE_RATE};
use crate::time::Timestamp;

/// Samples in a block: 100 ms.
pub const BLOCK_SAMPLES: usize = 1600;
/// Length of a sample; a whole number of nanoseconds at 16 kHz.
const SAMPLE_NANOS: i64 = 1_000_000_000 / SAMPLE_RATE as i64;
/// Stamps that are off by no more are jitter.
const TOLERANCE_NANOS: i64 = 40_000_000;
/// What is later than this will not catch up; what is earlier was there already.
const MOST_OFF_NANOS: i64 = 1_500_000_000;
/// Sound that ends or pauses before it is known: later than this it came after a gap.
const MOST_OFF_AT_END_NANOS: i64 = 250_000_000;
/// Samples that wait, but for those of the run that came last: 1.5 s.
const MOST_WAITING: usize = 24_000;

/// What a stream's stamps are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stamps {
    /// A file's: what is off by more than 40 ms is a gap or an overlap, at once.
    Exact,
    /// Taken at capture, by a clock that may jitter.
    AtCapture,
    /// Maybe those of delivery or recording, which lie a little or a lot after capture.
    AtArrival,
}

impl Stamps {
    /// Late sound may catch up for so long, nanoseconds.
    fn patience(self) -> i64 {
        match self {
            Self::Exact => 0,
            Self::AtCapture => 300_000_000,
            Self::AtArrival => 1_000_000_000,
        }
    }

    /// Where sound begins, the least late is looked for so long, nanoseconds.
    fn patience_at_begin(self) -> i64 {
        if self == Self::AtArrival { self.patience() } else { 0 }
    }

    fn most_early(self) -> i64 {
        if self == Self::Exact { TOLERANCE_NANOS } else { MOST_OFF_NANOS }
    }
}

/// A run of sound that waits.
#[derive(Clone, Copy, Debug)]
struct Run {
    stamp: i64,
    /// Samples that wait before it.
    before: usize,
}

impl Run {
    /// How much later it is than samples that follow each other from `line` on.
    fn late(&self, line: i64) -> i64 {
        self.stamp.saturating_sub(after(line, self.before))
    }
}

/// So many samples later.
fn after(at: i64, samples: usize) -> i64 {
    at.saturating_add((samples as i64).saturating_mul(SAMPLE_NANOS))
}

/// Cuts one microphone's sound into blocks of [`BLOCK_SAMPLES`]; shorter only before a gap and at the end.
#[derive(Debug)]
pub struct Blocks {
    source: SourceId,
    stamps: Stamps,
    /// Time of the first pending sample; `None` before any sound.
    at: Option<i64>,
    pending: Vec<f32>,
    /// Sound that begins, or is late: it is not yet known where it belongs.
    waiting: Vec<f32>,
    runs: Vec<Run>,
    drift: Drift,
}

impl Blocks {
    /// For one microphone.
    #[must_use]
    pub fn new(source: SourceId, stamps: Stamps) -> Self {
        Self {
            source,
            stamps,
            at: None,
            pending: Vec::with_capacity(2 * BLOCK_SAMPLES),
            waiting: Vec::new(),
            runs: Vec::new(),
            drift: Drift::default(),
        }
    }

    /// Takes 16 kHz mono samples of which the first was captured at `stamp`; full blocks go to `out`.
    ///
    /// Gives back how many samples were left out because they lie before sound that was already taken
    /// (stamps that went back by more than jitter and delivery explain).
    pub fn push(&mut self, stamp: Timestamp, samples: &[f32], out: &mut Vec<Block>) -> usize {
        let (mut stamp, mut samples) = (stamp.as_nanos(), samples);
        let mut overlapped = 0;
        if let Some(expected) = self.expected() {
            let early = expected.saturating_sub(stamp);
            if early > self.stamps.most_early() {
                let before = early / SAMPLE_NANOS;
                overlapped = usize::try_from(before).unwrap_or(usize::MAX).min(samples.len());
                samples = &samples[overlapped..];
                stamp = expected;
            }
            if samples.is_empty() {
                return overlapped;
            }
        }
        if self.expected().is_some_and(|expected| stamp.saturating_sub(expected) > MOST_OFF_NANOS) {
            // It comes after a gap, whatever becomes of what waits before it.
            self.settle(out);
        }
        self.runs.push(Run { stamp, before: self.waiting.len() });
        self.waiting.extend_from_slice(samples);
        self.decide(false, out);
        overlapped
    }

    /// Decides now where that belongs which waits for more to tell.
    pub fn settle(&mut self, out: &mut Vec<Block>) {
        self.decide(true, out);
    }

    /// Gives out what is pending as a shorter block: the sound ends or pauses here.
    pub fn flush(&mut self, out: &mut Vec<Block>) {
        self.settle(out);
        self.emit_rest(out);
    }

    /// No sample that is still inside was captured before this; `None` when none is inside.
    #[must_use]
    pub fn pending_start(&self) -> Option<Timestamp> {
        let begins = |run: &Run| run.stamp.saturating_sub(MOST_OFF_NANOS);
        let waiting = self.runs.first().map(|run| self.line().unwrap_or_else(|| begins(run)));
        let pending = self.at.filter(|_| !self.pending.is_empty());
        pending.or(waiting).map(Timestamp::from_nanos)
    }

    /// The instant after the last sample taken, while some are inside.
    #[must_use]
    pub fn pending_end(&self) -> Option<Timestamp> {
        self.end().filter(|_| !self.pending.is_empty() || !self.runs.is_empty())
    }

    /// The instant after the last sample taken; `None` before any.
    #[must_use]
    pub fn end(&self) -> Option<Timestamp> {
        let last = self.runs.last().map(|run| after(run.stamp, self.waiting.len() - run.before));
        last.or(self.line()).map(Timestamp::from_nanos)
    }

    /// Where samples belong that follow those whose place is known.
    fn line(&self) -> Option<i64> {
        self.at.map(|at| after(at, self.pending.len()))
    }

    /// When the next sample is expected.
    fn expected(&self) -> Option<i64> {
        let begin = self.line().or(self.runs.first().map(|run| run.stamp));
        begin.map(|begin| after(begin, self.waiting.len()))
    }

    /// Finds where that belongs which waits; `ended`: no more of it is waited for.
    fn decide(&mut self, ended: bool, out: &mut Vec<Block>) {
        let (Some(first), Some(last)) = (self.runs.first().copied(), self.runs.last().copied())
        else {
            return;
        };
        let line = self.line();
        let most_late = if ended { MOST_OFF_AT_END_NANOS } else { TOLERANCE_NANOS };
        if let Some(line) = line.filter(|line| last.late(*line) <= most_late) {
            return self.go_on(line, out);
        }
        let begins = line.is_none_or(|line| first.late(line) > MOST_OFF_NANOS);
        let patience =
            if begins { self.stamps.patience_at_begin() } else { self.stamps.patience() };
        let waited = last.stamp.saturating_sub(first.stamp);
        if !ended && waited < patience && self.waiting.len() < MOST_WAITING {
            return;
        }
        let least = self.runs.iter().map(|run| run.late(first.stamp)).min().unwrap_or(0);
        let back = if least < -TOLERANCE_NANOS { least } else { 0 };
        let begin = first.stamp.saturating_add(back);
        if let Some(line) = line.filter(|line| begin.saturating_sub(*line) <= TOLERANCE_NANOS) {
            return self.go_on(line, out);
        }
        self.emit_rest(out);
        self.at = Some(begin);
        self.drift = Drift::default();
        self.go_on(begin, out);
    }

    /// What waits belongs at `line`, the end of what is pending.
    fn go_on(&mut self, line: i64, out: &mut Vec<Block>) {
        if self.stamps != Stamps::Exact {
            self.runs.iter().for_each(|run| self.drift.late(run.late(line)));
            self.drift.heard(self.waiting.len());
        }
        self.runs.clear();
        self.pending.append(&mut self.waiting);
        let mut taken = 0;
        while self.pending.len() - taken >= BLOCK_SAMPLES {
            let whole = taken..taken + BLOCK_SAMPLES;
            let step = self.drift.step(&self.pending[whole.clone()]);
            self.emit(whole, out);
            self.at = self.at.map(|at| at.saturating_add(step));
            taken += BLOCK_SAMPLES;
        }
        self.pending.drain(..taken);
    }

    fn emit_rest(&mut self, out: &mut Vec<Block>) {
        if !self.pending.is_empty() {
            self.emit(0..self.pending.len(), out);
            self.pending.clear();
        }
    }

    fn emit(&mut self, range: std::ops::Range<usize>, out: &mut Vec<Block>) {
        let at = self.at.unwrap_or_default();
        self.at = Some(after(at, range.len()));
        out.push(Block {
            source: self.source.clone(),
            at: Timestamp::from_nanos(at),
            samples: self.pending[range].into(),
        });
    }
}

#[cfg(test)]
mod tests;
