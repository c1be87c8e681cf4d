//! Face detection: what every detector gives, and what all of them share.

pub(super) mod input;
pub(super) mod mtcnn;
pub(super) mod scrfd;
pub(super) mod ultraface;
pub(super) mod yunet;
use image::RgbImage;

use super::FaceError;
use crate::geometry::{Point, Rect};
use crate::perceive::nms::non_maximum_suppression;

/// One face in one picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Detection {
    /// Box in px of the picture; may reach beyond its edge.
    pub bbox: Rect,
    /// Left eye, right eye, nose, left and right corner of the mouth, as seen in the picture, px.
    pub landmarks: [Point; 5],
    /// Confidence, 0–1, on a scale common to all detectors: 0.6 and above is to be believed.
    pub score: f32,
}

/// Finds faces in a picture.
pub trait FaceDetector: Send {
    /// All faces, highest score first; the same picture gives the same faces, bit for bit.
    ///
    /// # Errors
    /// When the model cannot run or gives outputs of unexpected shape.
    fn detect(&mut self, picture: &RgbImage) -> Result<Vec<Detection>, FaceError>;

    /// Whether a part that is cut out of a picture is searched at the same scale, or a finer one, for less. So it is not
    /// where every picture is brought to one size.
    fn likes_parts(&self) -> bool {
        false
    }
}

/// A detector's raw score on the common scale: its `working_point`, from which a face is to be believed,
/// becomes 0.6, linear on both sides. So one `face.min_score` holds for every detector.
pub(super) fn on_common_scale(raw: f32, working_point: f32) -> f32 {
    const BELIEVED: f32 = 0.6;
    let raw = raw.clamp(0.0, 1.0);
    if raw < working_point {
        BELIEVED * raw / working_point
    } else {
        BELIEVED + (1.0 - BELIEVED) * (raw - working_point) / (1.0 - working_point)
    }
}

/// [`non_maximum_suppression`] of detections by intersection over union.
pub(super) fn suppress(detections: Vec<Detection>, threshold: f32) -> Vec<Detection> {
    non_maximum_suppression(detections, threshold, |d| (d.score, d.bbox), Rect::iou)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn detection() -> impl Strategy<Value = Detection> {
        (0f32..200.0, 0f32..200.0, 5f32..80.0, 5f32..80.0, 0f32..1.0).prop_map(
            |(x, y, w, h, score)| Detection {
                bbox: Rect { x, y, w, h },
                landmarks: [Point::default(); 5],
                score,
            },
        )
    }

    proptest! {
        #[test]
        fn suppression_keeps_the_best_and_no_two_that_overlap(
            detections in proptest::collection::vec(detection(), 0..40), threshold in 0.1f32..0.9
        ) {
            let kept = suppress(detections.clone(), threshold);
            for (i, a) in kept.iter().enumerate() {
                for b in &kept[i + 1..] {
                    prop_assert!(a.score >= b.score);
                    prop_assert!(a.bbox.iou(b.bbox) <= threshold);
                }
            }
            // Whatever was dropped overlaps a kept one that is at least as good.
            for d in &detections {
                prop_assert!(kept.iter().any(|k| k == d
                    || (k.score >= d.score && k.bbox.iou(d.bbox) > threshold)));
            }
            let mut reversed = detections;
            reversed.reverse();
            prop_assert_eq!(suppress(reversed, threshold), kept);
        }
    }
}
