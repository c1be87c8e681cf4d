//! How far a stream's stamps lie from where its samples are put, seen over longer stretches, and when that is made good.
//!
//! What is delivered comes late, never early: the least late of a stretch tells where the sound belongs (a minimum filter,
//! as NTP's clock filter). Where even that one is off, the two clocks differ; times are then moved by a little at once,
//! between two blocks and in a quiet moment. Samples are neither left out nor put in.

/// Samples of a stretch that is looked at: 10 s.
const STRETCH: usize = 160_000;
/// Less is not made good: 20 ms.
const LEAST_NANOS: i64 = 20_000_000;
/// More than this waits for no quiet moment: 35 ms, before it counts as a gap.
const MOST_NANOS: i64 = 35_000_000;
/// Moved by no more at once, so that blocks stay in order: less than half of a block.
pub(in crate::capture) const STEP_NANOS: i64 = 45_000_000;
/// Blocks over which the usual loudness is taken.
const LOUDNESS_BLOCKS: f64 = 20.0;

/// What is known of one stream since its sound began.
#[derive(Debug, Default)]
pub(in crate::capture) struct Drift {
    /// How late the least late run of this stretch was, nanoseconds; negative: early.
    least: Option<i64>,
    /// Samples of this stretch.
    heard: usize,
    /// By how much times are to be moved, nanoseconds.
    due: i64,
    /// Usual power of a block; `None` before any.
    usual: Option<f64>,
}

impl Drift {
    /// A run of sound came so much later than its samples say.
    pub(in crate::capture) fn late(&mut self, nanos: i64) {
        self.least = Some(self.least.map_or(nanos, |least| least.min(nanos)));
    }

    /// So many samples were put where they belong.
    pub(in crate::capture) fn heard(&mut self, samples: usize) {
        self.heard += samples;
        if self.heard >= STRETCH {
            self.heard = 0;
            let off = self.least.take().unwrap_or(0).clamp(-STEP_NANOS, STEP_NANOS);
            self.due = if off.abs() > LEAST_NANOS { off } else { 0 };
        }
    }

    /// By how much what follows this block is moved, nanoseconds.
    pub(in crate::capture) fn step(&mut self, block: &[f32]) -> i64 {
        let sum: f64 = block.iter().map(|v| f64::from(*v).powi(2)).sum();
        let power = if sum.is_finite() { sum / block.len().max(1) as f64 } else { 0.0 };
        let before = self.usual.unwrap_or(power);
        let usual = before + (power - before) / LOUDNESS_BLOCKS;
        self.usual = Some(usual);
        if self.due.abs() <= MOST_NANOS && power > usual / 2.0 {
            return 0;
        }
        let step = std::mem::take(&mut self.due);
        self.least = self.least.map(|least| least.saturating_sub(step));
        step
    }
}
