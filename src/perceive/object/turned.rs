//! People who lie: detectors, which learned from pictures of people who stand, find them in the picture turned on its side.

use image::RgbImage;

use super::{Detection, ObjectDetector, ObjectError};
use crate::geometry::Rect;
use crate::perceive::nms::non_maximum_suppression;
use crate::perceive::turn::Turn;

/// A body is found but once where boxes overlap so much (intersection over union).
pub(super) const ONE_BODY: f32 = 0.5;

/// Those of that label who are wider than high and are found in the picture turned either way; px of the picture, highest score
/// first.
///
/// # Errors
/// When the detector cannot run.
pub(super) fn lying(
    detector: &mut dyn ObjectDetector,
    picture: &RgbImage,
    label: &str,
) -> Result<Vec<Detection>, ObjectError> {
    let mut found = Vec::new();
    for turn in Turn::BOTH {
        let here =
            detector.detect(&turn.picture(picture))?.into_iter().filter(|one| &*one.label == label);
        let back = |one: Detection| {
            let bbox = turn.box_back(one.bbox, picture.dimensions());
            Detection { bbox, ..one }
        };
        found.extend(here.map(back).filter(|one| one.bbox.w > one.bbox.h));
    }
    Ok(non_maximum_suppression(found, ONE_BODY, |one| (one.score, one.bbox), Rect::iou))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use image::Rgb;

    use super::*;

    /// Finds the white box, as a person where it is higher than wide.
    struct White;

    impl ObjectDetector for White {
        fn detect(&mut self, picture: &RgbImage) -> Result<Vec<Detection>, ObjectError> {
            let white = || picture.enumerate_pixels().filter(|(.., pixel)| pixel.0 == [255; 3]);
            let range = |of: fn(u32, u32) -> u32| {
                let all = || white().map(|(x, y, _)| of(x, y));
                (all().min().unwrap() as f32, all().max().unwrap() as f32 + 1.0)
            };
            let ((left, right), (top, bottom)) = (range(|x, _| x), range(|_, y| y));
            let bbox = Rect { x: left, y: top, w: right - left, h: bottom - top };
            let label = if bbox.h > bbox.w { "person" } else { "bench" };
            Ok(vec![Detection { bbox, label: label.into(), score: 0.7, least: 0.4 }])
        }
    }

    fn scene(bbox: (u32, u32, u32, u32)) -> RgbImage {
        let (left, top, wide, high) = bbox;
        let inside = |x, y| (left..left + wide).contains(&x) && (top..top + high).contains(&y);
        RgbImage::from_fn(64, 48, |x, y| if inside(x, y) { Rgb([255; 3]) } else { Rgb([0; 3]) })
    }

    #[test]
    fn who_lies_is_found_once_where_he_lies_and_who_stands_is_not() {
        let found = lying(&mut White, &scene((10, 30, 20, 8)), "person").unwrap();
        let boxes: Vec<Rect> = found.iter().map(|one| one.bbox).collect();
        assert_eq!(boxes, [Rect { x: 10.0, y: 30.0, w: 20.0, h: 8.0 }]);
        assert_eq!(lying(&mut White, &scene((10, 5, 8, 30)), "person").unwrap(), []);
    }
}
