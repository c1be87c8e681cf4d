//! From which score two embeddings of one model are taken for the same face or voice.

use serde::{Deserialize, Serialize};

/// The operating points of one embedding model, cosines. `maybe < accept < merge`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MatchThresholds {
    /// From here on a percept is taken for a known face or voice (if the margin holds too).
    pub accept: f32,
    /// Below it a percept is nobody known; between the two it stays undecided.
    pub maybe: f32,
    /// By how much the best must beat the second best.
    pub margin: f32,
    /// From here on two galleries are taken for one.
    pub merge: f32,
}

impl MatchThresholds {
    /// MobileFaceNet, 112x112 five-point chips: equal error at 0.28 for single pictures; galleries of
    /// different people stay below 0.35, of the same person above 0.49.
    pub const MOBILEFACENET: Self = Self { accept: 0.42, maybe: 0.34, margin: 0.06, merge: 0.62 };
    /// face-api's 128-d descriptor on aligned chips. All its vectors point much the same way: tracks of
    /// different people reach 0.924, of the same person across scenes stay above 0.975 (single pictures of
    /// LFW: others up to 0.92, same from 0.90, 95 % from 0.93).
    pub const FACE_API: Self = Self { accept: 0.945, maybe: 0.93, margin: 0.012, merge: 0.97 };
    /// GE2E (Resemblyzer weights): clean turns of one voice 0.75–0.92, of two voices at most 0.69.
    pub const GE2E: Self = Self { accept: 0.74, maybe: 0.66, margin: 0.05, merge: 0.84 };
    /// ERes2NetV2 (published checkpoint): same voice usually above 0.5, others below 0.3.
    pub const ERES2NETV2: Self = Self { accept: 0.45, maybe: 0.33, margin: 0.06, merge: 0.62 };

    /// The same operating points moved so that `accept` is the given cosine.
    #[must_use]
    pub fn with_accept(self, accept: f32) -> Self {
        let by = accept - self.accept;
        Self { accept, maybe: self.maybe + by, merge: (self.merge + by).min(0.98), ..self }
    }

    /// Below which cosine something is nobody known, when it rests on that many seconds.
    ///
    /// The more was heard or seen, the less chance is in the score, the narrower is the undecided band:
    /// from `maybe` at 2 s to three quarters of the way to `accept` at 8 s.
    #[must_use]
    pub fn nobody_below(self, secs: f64) -> f32 {
        let share = ((secs - 2.0) / 6.0).clamp(0.0, 1.0) as f32;
        self.maybe + 0.75 * share * (self.accept - self.maybe)
    }

    /// From which cosine two samples show the same view: one of them is enough for a gallery.
    #[must_use]
    pub fn same_view(self) -> f32 {
        0.5 * (1.0 + self.merge)
    }

    /// A score as confidence, 0–1: 0.4 at `maybe`, 0.7 at `accept`, 0.95 at `merge`.
    #[must_use]
    pub fn confidence(self, score: f32) -> f32 {
        let between =
            |low: f32, high: f32| ((score - low) / (high - low).max(1e-6)).clamp(0.0, 1.0);
        if score < self.maybe {
            0.4 * (score / self.maybe).clamp(0.0, 1.0)
        } else if score < self.accept {
            0.4 + 0.3 * between(self.maybe, self.accept)
        } else {
            0.7 + 0.25 * between(self.accept, self.merge)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_undecided_band_narrows_and_confidence_rises() {
        let t = MatchThresholds::GE2E;
        assert!(t.nobody_below(1.0) <= t.nobody_below(4.0));
        assert!(t.nobody_below(100.0) < t.accept);
        let mut last = -1.0;
        for step in 0..=100 {
            let now = t.confidence(step as f32 / 100.0);
            assert!(now >= last && (0.0..=1.0).contains(&now));
            last = now;
        }
    }
}
