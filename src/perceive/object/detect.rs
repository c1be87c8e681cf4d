//! Object detection: what every detector gives.

use std::collections::BTreeMap;
use std::sync::Arc;

use image::RgbImage;

use super::ObjectError;
use crate::geometry::Rect;
use crate::perceive::nms::non_maximum_suppression;

/// Share of `objects.min_score`, and of a class's own threshold, down to which things are handed on: weak ones may continue a track (ByteTrack),
/// never begin one.
pub const WEAK_SHARE: f32 = 0.6;
/// Boxes that overlap so much show one thing, whatever it is called (intersection over union).
pub(super) const ONE_BOX: f32 = 0.8;
/// Things of one picture, at most; the surest are kept.
const MOST: usize = 300;

/// One thing in one picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Detection {
    /// Box in px of the picture, clamped to it, not empty.
    pub bbox: Rect,
    /// What it is, in the detector's words.
    pub label: Arc<str>,
    /// The detector's confidence, 0–1.
    pub score: f32,
    /// From which confidence its class is believed, 0–1.
    pub least: f32,
}

/// Finds things in a picture.
pub trait ObjectDetector: Send {
    /// All things, highest score first; the same picture gives the same things, bit for bit.
    ///
    /// # Errors
    /// When the model cannot run or gives outputs of unexpected shape.
    fn detect(&mut self, picture: &RgbImage) -> Result<Vec<Detection>, ObjectError>;
}

/// A box of one class; px of the network's input while it is decoded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Candidate {
    pub(super) bbox: Rect,
    pub(super) class: usize,
    pub(super) score: f32,
}

/// Highest score first; ties: further left, then further up, then the lower class. The surest [`MOST`] stay.
pub(super) fn ranked(mut candidates: Vec<Candidate>) -> Vec<Candidate> {
    candidates.sort_by(|a, b| {
        b.score
            .total_cmp(&a.score)
            .then(a.bbox.x.total_cmp(&b.bbox.x))
            .then(a.bbox.y.total_cmp(&b.bbox.y))
            .then(a.class.cmp(&b.class))
    });
    candidates.truncate(MOST);
    candidates
}

/// Non-maximum suppression within each class, by intersection over union.
pub(super) fn suppress(candidates: Vec<Candidate>, threshold: f32) -> Vec<Candidate> {
    let mut classes: BTreeMap<usize, Vec<Candidate>> = BTreeMap::new();
    for candidate in candidates {
        classes.entry(candidate.class).or_default().push(candidate);
    }
    let kept = classes.into_values().flat_map(|of_class| {
        non_maximum_suppression(of_class, threshold, |c| (c.score, c.bbox), Rect::iou)
    });
    ranked(kept.collect())
}

/// Of detections of different classes in one box the surest stays: a mandarin is no ball, too. `apart` tells those that are
/// never taken for others.
pub(super) fn one_per_box(
    mut found: Vec<Detection>,
    apart: impl Fn(&Detection) -> bool,
) -> Vec<Detection> {
    found.sort_by(|a, b| b.score.total_cmp(&a.score));
    let mut kept: Vec<Detection> = Vec::with_capacity(found.len());
    for one in found {
        let is_taken = |other: &Detection| !apart(other) && other.bbox.iou(one.bbox) >= ONE_BOX;
        if apart(&one) || !kept.iter().any(is_taken) {
            kept.push(one);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn candidate() -> impl Strategy<Value = Candidate> {
        (0f32..200.0, 0f32..200.0, 5f32..80.0, 5f32..80.0, 0f32..1.0, 0usize..3).prop_map(
            |(x, y, w, h, score, class)| Candidate { bbox: Rect { x, y, w, h }, class, score },
        )
    }

    #[test]
    fn one_box_is_one_thing_and_a_person_is_beside_what_he_holds() {
        let detection = |label: &str, x: f32, score: f32| Detection {
            bbox: Rect { x, y: 100.0, w: 80.0, h: 80.0 },
            label: label.into(),
            score,
            least: 0.4,
        };
        let found = vec![
            detection("sports ball", 101.0, 0.59),
            detection("orange", 100.0, 0.61),
            detection("person", 100.0, 0.9),
            detection("orange", 130.0, 0.5),
        ];
        let kept = one_per_box(found, |one| &*one.label == "person");
        let told: Vec<(&str, f32)> = kept.iter().map(|one| (&*one.label, one.score)).collect();
        assert_eq!(told, [("person", 0.9), ("orange", 0.61), ("orange", 0.5)]);
    }

    proptest! {
        #[test]
        fn of_each_class_the_best_stay_and_no_two_that_overlap(
            candidates in proptest::collection::vec(candidate(), 0..60), threshold in 0.1f32..0.9
        ) {
            let kept = suppress(candidates.clone(), threshold);
            for (index, a) in kept.iter().enumerate() {
                for b in &kept[index + 1..] {
                    prop_assert!(a.score >= b.score);
                    prop_assert!(a.class != b.class || a.bbox.iou(b.bbox) <= threshold);
                }
            }
            // Whatever was dropped overlaps a kept one of its class that is at least as good.
            for c in &candidates {
                prop_assert!(kept.iter().any(|k| k == c
                    || (k.class == c.class && k.score >= c.score && k.bbox.iou(c.bbox) > threshold)));
            }
            // A class is suppressed as if it were alone.
            for class in 0..3 {
                let of = |all: &[Candidate]| -> Vec<Candidate> {
                    all.iter().copied().filter(|c| c.class == class).collect()
                };
                prop_assert_eq!(of(&kept), suppress(of(&candidates), threshold));
            }
            let mut reversed = candidates;
            reversed.reverse();
            prop_assert_eq!(suppress(reversed, threshold), kept);
        }
    }
}
