//! MoveNet Lightning: 17 key points of one person in a crop of 192 px, by Google (Votel, Li 2021).

use std::path::Path;

use image::RgbImage;
use image::imageops::{FilterType, crop_imm, replace, resize};
use ndarray::{Array4, Ix3};

use super::{ActionError, PoseEstimator};
use crate::geometry::{Point, Rect};
use crate::perceive::turn::Turn;
use crate::percept::{KeyPoint, Skeleton};
use crate::runtime::onnx::{self, Device, Session};

/// Side of the input, px.
const SIDE: u32 = 192;
/// The crop's side: so many times the longer side of the body's box.
const ROOM: f32 = 1.25;
/// A box so much wider than high may be of somebody who lies, whom the network knows upright only: the crop is turned, too.
const WIDE: f32 = 1.2;
/// A turned crop counts where its points are surer by so much on the average: people who stand arm in arm are wide, too.
const SURER: f32 = 0.1;
/// What the head shows tells nothing of how the body lies.
const HEAD: usize = 5;
/// A point so near to the picture's edge is where the picture ends, not where the joint is: share of the side.
const EDGE: f32 = 0.01;
const INPUT: &str = "image";
const OUTPUT: &str = "points";

/// A MoveNet as `models/export/movenet.py` writes it.
pub struct MoveNet {
    session: Session,
}

impl MoveNet {
    /// Opens the model.
    ///
    /// # Errors
    /// When the file is absent, or has other ends.
    pub fn open(path: &Path, threads: usize, device: Device) -> Result<Self, ActionError> {
        let mut network = Self { session: onnx::open(path, threads, device)? };
        network.points(&RgbImage::new(SIDE, SIDE))?;
        Ok(network)
    }

    /// Of a crop of [`SIDE`] px: the points, as shares of its sides.
    fn points(&mut self, crop: &RgbImage) -> Result<[KeyPoint; Skeleton::POINTS], ActionError> {
        let side = SIDE as usize;
        let tensor = Array4::from_shape_fn((1, 3, side, side), |(_, channel, y, x)| {
            f32::from(crop.get_pixel(x as u32, y as u32).0[channel])
        });
        let [found] = self.session.run(&[(INPUT, tensor.view().into())], [OUTPUT])?;
        let shape = found.shape().to_vec();
        let fits = shape == [1, Skeleton::POINTS, 3];
        let found = found.into_dimensionality::<Ix3>().ok().filter(|_| fits);
        let Some(found) = found else {
            return Err(ActionError::Model {
                model: self.session.model().to_owned(),
                reason: format!("its output is {shape:?} instead of [1,{},3]", Skeleton::POINTS),
            });
        };
        Ok(std::array::from_fn(|number| {
            let value = |at: usize| Some(found[[0, number, at]]).filter(|value| value.is_finite());
            let at = Point { x: value(1).unwrap_or_default(), y: value(0).unwrap_or_default() };
            KeyPoint { at, score: value(2).unwrap_or_default().clamp(0.0, 1.0) }
        }))
    }
}

impl PoseEstimator for MoveNet {
    fn estimate(&mut self, picture: &RgbImage, body: Rect) -> Result<Skeleton, ActionError> {
        let square = Square::around(body);
        let Some(crop) = square.cut(picture) else { return Ok(Skeleton::unknown()) };
        let mut best = (None, self.points(&crop)?);
        if body.w > WIDE * body.h {
            let upright = sureness(&best.1);
            for turn in Turn::BOTH {
                let points = self.points(&turn.picture(&crop))?;
                let known = sureness(&best.1);
                if sureness(&points) > known.max(upright + SURER) {
                    best = (Some(turn), points);
                }
            }
        }
        let (turn, points) = best;
        let (width, height) = (picture.width() as f32, picture.height() as f32);
        let inside = |at: Point| {
            (EDGE * width..=(1.0 - EDGE) * width).contains(&at.x)
                && (EDGE * height..=(1.0 - EDGE) * height).contains(&at.y)
        };
        Ok(Skeleton(points.map(|KeyPoint { at, score }| {
            let at = square.back(turn.map_or(at, |turn: Turn| turn.back(at)));
            KeyPoint { at, score: if inside(at) { score } else { 0.0 } }
        })))
    }
}

/// How sure the points of trunk and limbs are on the average, 0–1.
fn sureness(points: &[KeyPoint; Skeleton::POINTS]) -> f32 {
    let body = &points[HEAD..];
    body.iter().map(|point| point.score).sum::<f32>() / body.len() as f32
}

/// A square around a body, whole px of the picture, which it may leave.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Square {
    left: i64,
    top: i64,
    side: i64,
}

impl Square {
    fn around(body: Rect) -> Self {
        let (centre, side) = (body.centre(), (ROOM * body.w.max(body.h)).ceil().max(1.0));
        let edge = |middle: f32| (middle - 0.5 * side).floor() as i64;
        Self { left: edge(centre.x), top: edge(centre.y), side: side as i64 }
    }

    /// The picture in it, [`SIDE`] px, black where there is none; `None` where there is none at all.
    fn cut(self, picture: &RgbImage) -> Option<RgbImage> {
        let Self { left, top, side } = self;
        // Of an axis: from where to where in the picture, and the same in the crop.
        let axis = |from: i64, size: u32| {
            let (start, end) = (from.max(0), (from + side).min(i64::from(size)));
            let place = |at: i64| ((at - from) * i64::from(SIDE) + side / 2) / side;
            let (first, last) = (place(start), place(end));
            (start < end && first < last).then_some((start, end - start, first, last - first))
        };
        let (x, width, at_x, wide) = axis(left, picture.width())?;
        let (y, height, at_y, high) = axis(top, picture.height())?;
        let part = crop_imm(picture, x as u32, y as u32, width as u32, height as u32);
        let part = resize(&*part, wide as u32, high as u32, FilterType::Triangle);
        let mut crop = RgbImage::new(SIDE, SIDE);
        replace(&mut crop, &part, at_x, at_y);
        Some(crop)
    }

    /// A place in the crop, shares of its sides, as one in the picture, px.
    fn back(self, Point { x, y }: Point) -> Point {
        let side = self.side as f32;
        Point { x: self.left as f32 + x * side, y: self.top as f32 + y * side }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use image::Rgb;

    #[test]
    fn a_square_that_leaves_the_picture_is_black_there_and_maps_back() {
        let picture = RgbImage::from_pixel(100, 60, Rgb([200, 10, 10]));
        let square = Square::around(Rect { x: 80.0, y: 20.0, w: 16.0, h: 40.0 });
        assert_eq!(square, Square { left: 63, top: 15, side: 50 });
        let crop = square.cut(&picture).unwrap();
        assert_eq!(crop.dimensions(), (SIDE, SIDE));
        // 37 of 50 px across and 45 down are in the picture.
        assert_eq!(crop.get_pixel(20, 20).0, [200, 10, 10]);
        assert_eq!((crop.get_pixel(150, 20).0, crop.get_pixel(20, 180).0), ([0; 3], [0; 3]));
        let middle = square.back(Point { x: 0.5, y: 0.5 });
        assert_eq!(middle, Point { x: 88.0, y: 40.0 });
        assert_eq!(Square { left: 200, top: 0, side: 9 }.cut(&picture), None);
    }

    #[test]
    fn a_turned_crop_maps_back() {
        let mut crop = RgbImage::new(SIDE, SIDE);
        crop.put_pixel(30, 10, Rgb([255; 3]));
        let share = |at: u32| (at as f32 + 0.5) / SIDE as f32;
        for turn in Turn::BOTH {
            let turned = turn.picture(&crop);
            let white = turned.enumerate_pixels().find(|(_, _, pixel)| pixel.0 == [255; 3]);
            let (x, y, _) = white.unwrap();
            let back = turn.back(Point { x: share(x), y: share(y) });
            assert!((back.x - share(30)).abs() < 1e-5 && (back.y - share(10)).abs() < 1e-5);
        }
    }
}
