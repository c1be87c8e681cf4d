//! From which score two embeddings of one model are taken for the same face or voice.

use serde::{Deserialize, Serialize};

/// The operating points of one embedding model, cosines. `maybe < accept < merge`.
///
/// Reads from a file of `calibration/thresholds/`; one without `merge` puts it as far above `accept` as
/// `accept` is above `maybe`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "ThresholdFile")]
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

/// What of a threshold file counts here; the rest of it is for people.
#[derive(Deserialize)]
struct ThresholdFile {
    accept: f32,
    maybe: f32,
    margin: f32,
    merge: Option<f32>,
}

impl From<ThresholdFile> for MatchThresholds {
    fn from(file: ThresholdFile) -> Self {
        let ThresholdFile { accept, maybe, margin, merge } = file;
        let merge = merge.unwrap_or((2.0 * accept - maybe).min(0.98));
        Self { accept, maybe, margin, merge }
    }
}

impl MatchThresholds {
    /// MobileFaceNet, 112x112 five-point chips: equal error at 0.28 for single pictures; tracks of
    /// different people stay below 0.22, of the same person above 0.85 (LFW: right for 0.30–0.50).
    pub const MOBILEFACENET: Self = Self { accept: 0.42, maybe: 0.34, margin: 0.06, merge: 0.62 };
    /// face-api's 128-d descriptor on aligned chips. All its vectors point much the same way: tracks of
    /// different people reach 0.924, of the same person across scenes stay above 0.975; single pictures of
    /// LFW: others up to 0.91, same from 0.90, 95 % from 0.94 (five people are five for `accept` 0.914–0.926).
    pub const FACE_API: Self = Self { accept: 0.926, maybe: 0.916, margin: 0.01, merge: 0.97 };
    /// GE2E (Resemblyzer weights): clean turns of one voice 0.75–0.92, of two voices at most 0.69. The six
    /// LibriSpeech voices in turns of 1.6, 2.5, 4 s and whole are six, unmixed, for `accept` 0.70–0.74.
    pub const GE2E: Self = Self { accept: 0.72, maybe: 0.65, margin: 0.05, merge: 0.84 };
    /// ERes2NetV2 (published checkpoint): same voice usually above 0.5, others below 0.3.
    pub const ERES2NETV2: Self = Self { accept: 0.45, maybe: 0.33, margin: 0.06, merge: 0.62 };

    /// The same operating points moved so that `accept` is the given cosine.
    #[must_use]
    pub fn with_accept(self, accept: f32) -> Self {
        let by = accept - self.accept;
        Self { accept, maybe: self.maybe + by, merge: (self.merge + by).min(0.98), ..self }
    }

    /// From which cosine two things are one, when the lesser rests on that many seconds.
    ///
    /// The more was heard or seen, the less chance is in the score: what is the same scores higher. From
    /// `accept` at 2 s it rises by two fifths of the way to `merge` at 8 s.
    #[must_use]
    pub fn same_from(self, secs: f64) -> f32 {
        self.accept + 0.4 * evidence(secs) * (self.merge - self.accept)
    }

    /// Below which cosine something is nobody known, when the lesser rests on that many seconds.
    ///
    /// The undecided band narrows for the same reason: from `maybe` at 2 s to three quarters of the way to
    /// [`Self::same_from`] at 8 s.
    #[must_use]
    pub fn nobody_below(self, secs: f64) -> f32 {
        self.maybe + 0.75 * evidence(secs) * (self.same_from(secs) - self.maybe)
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

/// How far chance is averaged out, 0 at 2 s to 1 at 8 s.
fn evidence(secs: f64) -> f32 {
    ((secs - 2.0) / 6.0).clamp(0.0, 1.0) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_file_need_not_tell_all() {
        let text = "model = \"x\"\naccept = 0.5\nmaybe = 0.4\nmargin = 0.1\nhow = \"measured\"";
        let read: Result<MatchThresholds, _> = toml::from_str(text);
        assert!(read.is_ok_and(|t| (t.merge - 0.6).abs() < 1e-6));
    }

    #[test]
    fn the_undecided_band_narrows_and_confidence_rises() {
        let t = MatchThresholds::GE2E;
        assert!(t.nobody_below(1.0) <= t.nobody_below(4.0));
        assert!(t.nobody_below(100.0) < t.same_from(100.0));
        assert!(t.same_from(100.0) < t.merge);
        let mut last = -1.0;
        for step in 0..=100 {
            let now = t.confidence(step as f32 / 100.0);
            assert!(now >= last && (0.0..=1.0).contains(&now));
            last = now;
        }
    }
}
