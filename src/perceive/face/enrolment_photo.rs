//! Faces of a portrait: a still picture that somebody took of a face, which may fill it.
//!
//! Detectors learned faces that are small in their pictures. One that fills a picture is seen the better, the more is
//! around it, so where nothing is seen clearly the picture is searched within black borders, too. (Of 50 portraits cut
//! 10 % inside their face's box and enlarged, YuNet finds 17 as they are and all 50 so; 25 % inside 1 and 48.)

use std::borrow::Cow;

use image::RgbImage;
use image::imageops::{self, FilterType};

use super::FaceError;
use super::analyse::FaceAnalyser;
use crate::geometry::{Point, Rect};
use crate::ids::SourceId;
use crate::percept::{Face, FrameFaces};
use crate::time::Timestamp;

/// Widths of the borders, in longer sides of the picture.
const BORDERS: [f32; 2] = [0.5, 1.0];
/// A face with this score is seen clearly enough: on the common scale, most are above it.
const CLEAR: f32 = 0.75;
/// A larger picture is made smaller before borders are put around it, longer side in px.
const LONGEST_PX: u32 = 640;

impl FaceAnalyser {
    /// All faces of a portrait of which something can be learned, highest score first, as [`FaceAnalyser::analyse`] finds
    /// them at the scale at which one of them is seen clearest; boxes and landmarks in px of the picture.
    ///
    /// # Errors
    /// When a model cannot run.
    pub fn analyse_portrait(
        &mut self,
        source: &SourceId,
        at: Timestamp,
        picture: &RgbImage,
    ) -> Result<FrameFaces, FaceError> {
        let mut best = self.usable(source, at, picture)?;
        if clearest(&best) >= CLEAR || picture.width() == 0 || picture.height() == 0 {
            return Ok(best);
        }
        let small = reduced(picture);
        let longer = small.width().max(small.height());
        for share in BORDERS {
            let border = (share * longer as f32).round() as u32;
            let found = self.usable(source, at, &framed(&small, border))?;
            if clearest(&found) > clearest(&best) {
                let scale = picture.width() as f32 / small.width() as f32;
                let back = |face| moved(face, border as f32, scale, (best.width, best.height));
                best.faces = found.faces.into_iter().map(back).collect();
            }
        }
        Ok(best)
    }

    /// Without the faces that could only be followed.
    fn usable(
        &mut self,
        source: &SourceId,
        at: Timestamp,
        picture: &RgbImage,
    ) -> Result<FrameFaces, FaceError> {
        let mut found = self.analyse(source, at, picture)?;
        found.faces.retain(|face| face.chip.is_some() || face.quality > 0.0);
        Ok(found)
    }
}

/// The highest score; 0 where there is no face.
fn clearest(found: &FrameFaces) -> f32 {
    found.faces.iter().map(|face| face.score).fold(0.0, f32::max)
}

/// The picture, made smaller where it is too large.
fn reduced(picture: &RgbImage) -> Cow<'_, RgbImage> {
    let (width, height) = picture.dimensions();
    let longer = width.max(height);
    if longer <= LONGEST_PX {
        return Cow::Borrowed(picture);
    }
    let share = f64::from(LONGEST_PX) / f64::from(longer);
    let side = |length: u32| ((f64::from(length) * share).round() as u32).max(1);
    Cow::Owned(imageops::resize(picture, side(width), side(height), FilterType::Triangle))
}

fn framed(picture: &RgbImage, border: u32) -> RgbImage {
    let (width, height) = picture.dimensions();
    let mut canvas = RgbImage::new(width + 2 * border, height + 2 * border);
    imageops::replace(&mut canvas, picture, i64::from(border), i64::from(border));
    canvas
}

/// A face found within borders, back at its place in the picture.
fn moved(mut face: Face, border: f32, scale: f32, (width, height): (u32, u32)) -> Face {
    let back = |value: f32| (value - border) * scale;
    let Rect { x, y, w, h } = face.bbox;
    let bbox = Rect { x: back(x), y: back(y), w: w * scale, h: h * scale };
    face.bbox = bbox.clamped(width as f32, height as f32);
    face.landmarks = face.landmarks.map(|Point { x, y }| Point { x: back(x), y: back(y) });
    face
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use image::Rgb;

    use super::*;
    use crate::config::FacePerception;
    use crate::perceive::face::{Detection, FaceDetector};

    /// Takes what is not black for a face; the smaller in its picture, the surer it is.
    struct Shy;

    impl FaceDetector for Shy {
        fn detect(&mut self, picture: &RgbImage) -> Result<Vec<Detection>, FaceError> {
            let bright = || picture.enumerate_pixels().filter(|(.., pixel)| pixel.0 != [0; 3]);
            let (left, right) = (
                bright().map(|(x, ..)| x).min().unwrap(),
                bright().map(|(x, ..)| x).max().unwrap(),
            );
            let (top, bottom) = (
                bright().map(|(_, y, _)| y).min().unwrap(),
                bright().map(|(_, y, _)| y).max().unwrap(),
            );
            let bbox = Rect::from_corners(
                left as f32,
                top as f32,
                (right + 1) as f32,
                (bottom + 1) as f32,
            );
            let share = bbox.h / picture.height() as f32;
            let place = |x: f32, y: f32| Point { x: bbox.x + x * bbox.w, y: bbox.y + y * bbox.h };
            let landmarks = [(0.3, 0.4), (0.7, 0.4), (0.5, 0.6), (0.35, 0.8), (0.65, 0.8)]
                .map(|(x, y)| place(x, y));
            Ok(vec![Detection { bbox, landmarks, score: 1.0 - 0.6 * share }])
        }
    }

    fn portrait(picture: &RgbImage) -> FrameFaces {
        let settings = FacePerception { min_quality: 0.0, ..FacePerception::default() };
        let mut analyser = FaceAnalyser::from_parts(Box::new(Shy), None, &settings);
        analyser.analyse_portrait(&SourceId::new("photo"), Timestamp::EPOCH, picture).unwrap()
    }

    #[test]
    fn a_face_that_fills_its_picture_is_seen_within_borders_and_stays_in_its_place() {
        for (width, height) in [(120, 160), (960, 1280)] {
            let found = portrait(&RgbImage::from_pixel(width, height, Rgb([200, 150, 120])));
            assert_eq!((found.width, found.height), (width, height));
            let [face] = found.faces.as_slice() else { panic!("{:?}", found.faces) };
            assert!((face.score - 0.8).abs() < 1e-3, "{}", face.score);
            let whole = Rect { x: 0.0, y: 0.0, w: width as f32, h: height as f32 };
            assert!(face.bbox.iou(whole) > 0.99, "{:?}", face.bbox);
            let nose = face.landmarks[2];
            assert!((nose.x - 0.5 * whole.w).abs() < 2.0 && (nose.y - 0.6 * whole.h).abs() < 2.0);
        }
    }

    #[test]
    fn a_face_that_is_seen_clearly_is_looked_at_once() {
        let picture = framed(&RgbImage::from_pixel(60, 60, Rgb([200, 150, 120])), 60);
        let settings = FacePerception { min_quality: 0.0, ..FacePerception::default() };
        let mut analyser = FaceAnalyser::from_parts(Box::new(Shy), None, &settings);
        let source = SourceId::new("photo");
        let plain = analyser.analyse(&source, Timestamp::EPOCH, &picture).unwrap();
        let found = portrait(&picture);
        assert!(plain.faces[0].score >= CLEAR);
        assert_eq!(format!("{:?}", found.faces), format!("{:?}", plain.faces));
    }
}
