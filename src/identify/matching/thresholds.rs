//! From which score two embeddings of one model are taken for the same face or voice.

use crate::models::Thresholds;
use crate::models::thresholds::Others;

/// No threshold is moved beyond these: one and the same face is no more alike from photo to photo.
const MOST_ACCEPT: f32 = 0.975;
const MOST_MERGE: f32 = 0.98;

/// Faces seen at once, or voices told apart, for longer than this are not one because of a common counterpart, seconds.
pub(in crate::identify) const TOGETHER_SECS: f64 = 0.5;

/// The operating points of one embedding model, cosines. `maybe < accept < merge`.
///
/// What they are for a model stands in `calibration/thresholds/<model>.toml` and nowhere else.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MatchThresholds {
    /// From here on a percept is taken for a known face or voice (if the margin holds too).
    pub accept: f32,
    /// Below it a percept is nobody known; between the two it stays undecided.
    pub maybe: f32,
    /// By how much the best must beat the second best.
    pub margin: f32,
    /// From here on two galleries are taken for one.
    pub merge: f32,
    /// Whether more seconds say more: a longer turn has more of the voice's sounds in it; a longer look at a
    /// face is the same view again.
    pub seconds_count: bool,
    /// How alike others are; `None`: nobody measured it, so that it does not matter how many are known.
    pub others: Option<Others>,
}

/// Of so many percepts of somebody who is unknown one may be taken for a known one.
const WRONG_ONE_IN: f64 = 1000.0;

impl From<&Thresholds> for MatchThresholds {
    fn from(calibrated: &Thresholds) -> Self {
        let Thresholds { accept, maybe, margin, merge, others, .. } = *calibrated;
        Self { accept, maybe, margin, merge, seconds_count: true, others }
    }
}

impl MatchThresholds {
    /// For a model that nobody calibrated, or none at all: no similarity says anything, so all stays open.
    pub const UNKNOWN: Self = Self {
        accept: 1.0,
        maybe: -1.0,
        margin: 2.0,
        merge: 1.0,
        seconds_count: false,
        others: None,
    };

    /// The same operating points moved so that `accept` is the given cosine.
    #[must_use]
    pub fn with_accept(self, accept: f32) -> Self {
        let by = accept - self.accept;
        Self { accept, maybe: self.maybe + by, merge: (self.merge + by).min(MOST_MERGE), ..self }
    }

    /// The same where so many are known: each of them is one more who may be taken for whoever comes.
    ///
    /// Somebody unknown is taken wrongly for one of `known` about `known` × FAR(`accept`) times, where FAR is the share of
    /// pairs of two people that are at least so alike. `accept` is no less than keeps that below one in [`WRONG_ONE_IN`]; the
    /// tail beyond what was measured is that of a normal distribution with the measured mean and deviation. Up to some tens of
    /// known ones that is less than what was calibrated, and nothing moves.
    #[must_use]
    pub fn among(self, known: usize) -> Self {
        let Some(others) = self.others else { return self };
        let far = 1.0 / (WRONG_ONE_IN * known.max(1) as f64);
        let accept = others.mean + others.deviation * deviations_above(far) as f32;
        if accept > self.accept { self.with_accept(accept.min(MOST_ACCEPT)) } else { self }
    }

    /// The same for what seconds say nothing about: views of a face.
    #[must_use]
    pub fn of_views(self) -> Self {
        Self { seconds_count: false, ..self }
    }

    /// From which cosine two things are one, when the lesser rests on that many seconds.
    ///
    /// The more was heard or seen, the less chance is in the score: what is the same scores higher. From
    /// `accept` at 2 s it rises by two fifths of the way to `merge` at 8 s.
    #[must_use]
    pub fn same_from(self, secs: f64) -> f32 {
        self.accept + 0.4 * self.evidence(secs) * (self.merge - self.accept)
    }

    /// Below which cosine something is nobody known, when the lesser rests on that many seconds.
    ///
    /// The undecided band narrows for the same reason: from `maybe` at 2 s to three quarters of the way to
    /// [`Self::same_from`] at 8 s. Less than 4 s must be clearly unlike: a known voice through a door is
    /// easily half a step below `maybe`.
    #[must_use]
    pub fn nobody_below(self, secs: f64) -> f32 {
        let short =
            if self.seconds_count { ((4.0 - secs) / 2.5).clamp(0.0, 1.0) as f32 } else { 0.0 };
        let narrowed = 0.75 * self.evidence(secs) * (self.same_from(secs) - self.maybe);
        self.maybe + narrowed - short * (self.accept - self.maybe)
    }

    /// From which cosine something is rather a known one than not, when no more evidence will come: `maybe`; for views, of
    /// which one says little, midway to `accept`.
    #[must_use]
    pub fn likely(self) -> f32 {
        if self.seconds_count { self.maybe } else { 0.5 * (self.maybe + self.accept) }
    }

    /// The same where so many come into question. Where `accept` has to rise for them, the one most like a stranger lies
    /// between `maybe` and `accept` as a rule, and nothing below `accept` is likely.
    #[must_use]
    pub fn likely_among(self, known: usize) -> f32 {
        let among = self.among(known);
        if among.accept > self.accept { among.accept } else { among.likely() }
    }

    /// From which cosine, against a gallery as it is, a turn that was found to be that voice may teach it: midway from `maybe`
    /// to `accept`. What joined it for being like another turn, and is less like it, would pull it along.
    #[must_use]
    pub fn teaches_from(self) -> f32 {
        0.5 * (self.maybe + self.accept)
    }

    /// From which cosine two samples show the same view: one of them is enough for a gallery.
    #[must_use]
    pub fn same_view(self) -> f32 {
        0.5 * (1.0 + self.merge)
    }

    /// How far chance is averaged out, 0 at 2 s to 1 at 8 s.
    fn evidence(self, secs: f64) -> f32 {
        if self.seconds_count { ((secs - 2.0) / 6.0).clamp(0.0, 1.0) as f32 } else { 0.0 }
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

/// Above how many standard deviations that share of a normal distribution lies, 0 < `share` ≤ 0.02: Abramowitz and Stegun,
/// 26.2.23, to 4.5e-4.
fn deviations_above(share: f64) -> f64 {
    let t = (-2.0 * share.ln()).sqrt();
    let over = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    t - over / (1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identify::testing::calibrated;

    #[test]
    fn the_more_are_known_the_more_is_asked_and_among_few_nothing_more() {
        // of the normal distribution: 1e-3, 1e-5, 1e-7
        for (share, wanted) in [(1e-3, 3.0902), (1e-5, 4.2649), (1e-7, 5.1993)] {
            assert!((deviations_above(share) - wanted).abs() < 1e-3, "{share}");
        }
        for model in ["mobilefacenet", "mobilefacenet192", "campplus", "faceapi_descriptor"] {
            let t = calibrated(model);
            assert_eq!(t.among(10), t, "{model}");
            assert_eq!(t.likely_among(10), t.likely(), "{model}");
            let mut last = t;
            for known in [100, 1000, 10_000] {
                let now = t.among(known);
                assert!(now.accept > last.accept && now.maybe > last.maybe, "{model} {known}");
                assert_eq!(t.likely_among(known), now.accept, "{model} {known}");
                assert!(now.maybe < now.accept && now.accept < now.merge && now.merge < 1.0);
                last = now;
            }
        }
        let unmeasured = MatchThresholds { others: None, ..calibrated("campplus") };
        assert_eq!(unmeasured.among(10_000), unmeasured);
    }

    #[test]
    fn the_undecided_band_narrows_and_confidence_rises() {
        let t = calibrated("ge2e");
        assert!(t.nobody_below(1.0) <= t.nobody_below(4.0));
        assert!(t.nobody_below(100.0) < t.same_from(100.0));
        assert!(t.same_from(100.0) < t.merge);
        let views = t.of_views();
        assert_eq!(views.nobody_below(1.0), views.nobody_below(60.0), "a long look is one view");
        assert_eq!(views.same_from(60.0), views.accept);
        let mut last = -1.0;
        for step in 0..=100 {
            let now = t.confidence(step as f32 / 100.0);
            assert!(now >= last && (0.0..=1.0).contains(&now));
            last = now;
        }
    }
}
