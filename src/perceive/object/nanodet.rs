//! NanoDet-g: 80 classes of COCO at 416 px, quick on a processor.
//!
//! Generalized focal loss (Li et al. 2020, arXiv 2006.04388): every cell of three strides tells a probability per class, and
//! of each side of its box how likely each of eleven distances is; the expectation is the distance.

use std::path::Path;

use image::RgbImage;
use ndarray::{Array4, ArrayView1, Axis, Ix3};

use super::ObjectError;
use super::detect::{Candidate, Detection, ObjectDetector, WEAK_SHARE, suppress};
use super::labels::Labels;
use super::letterbox::Letterbox;
use crate::geometry::Rect;
use crate::runtime::onnx::{self, Device, Session};

/// Longer side of the input, px, and what its sides are multiples of.
const LONGEST: u32 = 416;
const STRIDE: u32 = 32;
/// Cells of the three outputs, px of the input.
const STRIDES: [u32; 3] = [8, 16, 32];
/// Distances of a side that are told apart, in strides: 0 to 10.
const BINS: usize = 11;
/// Mean and deviation of blue, green and red, of 255.
const MEAN: [f32; 3] = [103.53, 116.28, 123.675];
const DEVIATION: [f32; 3] = [57.375, 57.12, 58.395];
const INPUT: &str = "image";
const OUTPUTS: [&str; 2] = ["score", "bins"];

/// The classes of COCO, in the network's order, each with the score from which it is believed: measured on composed stills
/// (`benches/things`), 0.6 for what is not among them. People are followed: the tracker decides.
const CLASSES: &str = include_str!("coco.txt");

/// A NanoDet as `models/export/nanodet.py` writes it.
pub struct NanoDet {
    session: Session,
    labels: Labels,
    /// From which score each class is believed.
    least: Vec<f32>,
    min_score: f32,
    nms_iou: f32,
}

impl NanoDet {
    /// Opens the model. Things below `min_score`, or far below what their class is believed from, are not reported; of one class, what overlaps more than `nms_iou` is one.
    ///
    /// # Errors
    /// When the file is absent, or has other ends.
    pub fn open(
        path: &Path,
        (min_score, nms_iou): (f32, f32),
        threads: usize,
        device: Device,
    ) -> Result<Self, ObjectError> {
        let session = onnx::open(path, threads, device)?;
        let fail =
            |reason: String| ObjectError::Model { model: session.model().to_owned(), reason };
        let (names, least) = classes();
        let labels = Labels::parse(&names).map_err(&fail)?;
        let mut nanodet = Self { session, labels, least, min_score, nms_iou };
        nanodet.detect(&RgbImage::new(STRIDE, STRIDE))?;
        Ok(nanodet)
    }

    fn candidates(
        &mut self,
        picture: &RgbImage,
        boxed: Letterbox,
        (width, height): (u32, u32),
    ) -> Result<Vec<Candidate>, ObjectError> {
        // Black around the picture, as it was trained.
        let mut tensor = Array4::zeros((1, 3, height as usize, width as usize));
        let normal = |channel: usize, value: f32| (value - MEAN[channel]) / DEVIATION[channel];
        for (channel, mut plane) in tensor.axis_iter_mut(Axis(1)).enumerate() {
            plane.fill(normal(channel, 0.0));
        }
        boxed.draw(picture, tensor.index_axis_mut(Axis(0), 0), |channel, value| {
            let channel = 2 - channel;
            (channel, normal(channel, value))
        });
        let [score, bins] = self.session.run(&[(INPUT, tensor.view().into())], OUTPUTS)?;
        let fail = |found: &[usize]| ObjectError::Model {
            model: self.session.model().to_owned(),
            reason: format!("its outputs must be [1,n,80] and [1,n,44], one is {found:?}"),
        };
        let cells: usize =
            STRIDES.iter().map(|stride| (width / stride * (height / stride)) as usize).sum();
        let classes = self.labels.count();
        if score.shape() != [1, cells, classes] {
            return Err(fail(score.shape()));
        }
        if bins.shape() != [1, cells, 4 * BINS] {
            return Err(fail(bins.shape()));
        }
        let (Ok(score), Ok(bins)) =
            (score.into_dimensionality::<Ix3>(), bins.into_dimensionality::<Ix3>())
        else {
            return Ok(Vec::new());
        };
        let mut found = Vec::new();
        for (number, centre) in centres(width, height).enumerate() {
            let scores = score.slice(ndarray::s![0, number, ..]);
            let sure = |(class, score): &(usize, &f32)| {
                let least =
                    self.least.get(*class).map(|least| self.min_score.max(least * WEAK_SHARE));
                least.is_some_and(|least| **score >= least)
            };
            for (class, score) in scores.iter().enumerate().filter(sure) {
                let bbox = centre.bbox(bins.slice(ndarray::s![0, number, ..]));
                found.push(Candidate { bbox, class, score: score.min(1.0) });
            }
        }
        Ok(found)
    }
}

/// Names, one a line, and the least score of each.
fn classes() -> (String, Vec<f32>) {
    let lines = CLASSES.lines().filter_map(|line| line.split_once('\t'));
    let (names, scores): (Vec<&str>, Vec<&str>) = lines.unzip();
    (names.join("\n"), scores.into_iter().filter_map(|score| score.parse().ok()).collect())
}

impl ObjectDetector for NanoDet {
    fn detect(&mut self, picture: &RgbImage) -> Result<Vec<Detection>, ObjectError> {
        let from = picture.dimensions();
        let size = Letterbox::free_size(from, LONGEST, STRIDE);
        let Some(boxed) = Letterbox::at_the_top_left(from, size) else { return Ok(Vec::new()) };
        let candidates = self.candidates(picture, boxed, size)?;
        let detection = |one: Candidate| {
            let bbox = boxed.back(one.bbox).clamped(from.0 as f32, from.1 as f32);
            let label = self.labels.get(one.class)?.clone();
            let least = self.least.get(one.class).copied().unwrap_or_default();
            (bbox.area() > 0.0).then_some(Detection { bbox, label, score: one.score, least })
        };
        Ok(suppress(candidates, self.nms_iou).into_iter().filter_map(detection).collect())
    }
}

/// A cell's centre, px of the input, and its stride.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Centre {
    x: f32,
    y: f32,
    stride: f32,
}

impl Centre {
    /// The box whose sides are so far from it: left, top, right, bottom, each [`BINS`] values before softmax.
    fn bbox(self, bins: ArrayView1<'_, f32>) -> Rect {
        let mut sides = [0.0; 4];
        for (side, of_side) in sides.iter_mut().zip(bins.exact_chunks(BINS)) {
            *side = expectation(of_side) * self.stride;
        }
        let [left, top, right, bottom] = sides;
        Rect::from_corners(self.x - left, self.y - top, self.x + right, self.y + bottom)
    }
}

/// The cells of an input of that size in the order of the outputs: stride by stride, row by row.
fn centres(width: u32, height: u32) -> impl Iterator<Item = Centre> {
    STRIDES.into_iter().flat_map(move |stride| {
        let cells =
            (0..height / stride).flat_map(move |y| (0..width / stride).map(move |x| (x, y)));
        let middle = move |cell: u32| (cell as f32 + 0.5) * stride as f32;
        cells.map(move |(x, y)| Centre { x: middle(x), y: middle(y), stride: stride as f32 })
    })
}

/// Mean of 0, 1, 2, …, weighted by the softmax of the values.
fn expectation(values: ArrayView1<'_, f32>) -> f32 {
    let greatest = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let (mut total, mut sum) = (0.0, 0.0);
    for (bin, value) in values.iter().enumerate() {
        let weight = (value - greatest).exp();
        total += weight;
        sum += weight * bin as f32;
    }
    sum / total
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::perceive::face::fixtures::{model, photo, shared};
    use ndarray::Array1;

    /// People in the upper left square of `multiface_6.jpg`, by the published graph in float64 and a decoding of its own
    /// (`models/export/nanodet.py`): score; left, top, width, height, px.
    const PEOPLE: [(f32, [f32; 4]); 3] = [
        (0.7715, [86.6, 207.4, 352.7, 422.6]),
        (0.6088, [353.4, 77.6, 261.3, 551.7]),
        (0.4709, [508.7, 7.5, 121.3, 424.1]),
    ];

    #[test]
    fn people_are_found_as_an_independent_computation_finds_them() {
        let (Some(path), Some(file)) =
            (model("nanodet.onnx"), shared("recordings/faces/multiface_6.jpg"))
        else {
            return;
        };
        let mut nanodet = NanoDet::open(&path, (0.45, 0.5), 1, Device::Cpu).unwrap();
        let picture = photo(&file);
        let side = picture.height();
        let picture = image::imageops::crop_imm(&picture, 0, 0, side, side).to_image();
        let found = nanodet.detect(&picture).unwrap();
        assert_eq!(found.len(), PEOPLE.len(), "{found:?}");
        for (one, (score, [x, y, w, h])) in found.iter().zip(PEOPLE) {
            assert_eq!(&*one.label, "person");
            assert!((one.score - score).abs() < 2e-3, "{one:?}");
            assert!(one.bbox.iou(Rect { x, y, w, h }) > 0.99, "{one:?}");
        }
        assert_eq!(nanodet.detect(&picture).unwrap(), found);
    }

    #[test]
    fn every_class_has_a_name_and_a_score() {
        let (names, least) = classes();
        let labels = Labels::parse(&names).unwrap();
        assert_eq!((labels.count(), least.len()), (80, 80));
        assert_eq!((labels.get(0).unwrap().as_ref(), least[0]), ("person", 0.0));
        assert_eq!(labels.get(41).unwrap().as_ref(), "cup");
        assert!(least[1..].iter().all(|least| (0.4..0.9).contains(least)));
    }

    #[test]
    fn a_side_is_the_expectation_of_its_bins() {
        let mut bins = Array1::from_elem(4 * BINS, -50.0);
        for (side, bin) in [1, 2, 3, 4].into_iter().enumerate() {
            bins[side * BINS + bin] = 50.0;
        }
        // Between the fourth and the fifth.
        bins[3 * BINS + 5] = 50.0;
        let centre = Centre { x: 100.0, y: 80.0, stride: 16.0 };
        let bbox = centre.bbox(bins.view());
        assert_eq!(bbox, Rect::from_corners(84.0, 48.0, 148.0, 152.0));
    }

    #[test]
    fn cells_come_stride_by_stride_and_row_by_row() {
        let all: Vec<Centre> = centres(416, 320).collect();
        assert_eq!(all.len(), 52 * 40 + 26 * 20 + 13 * 10);
        assert_eq!(all[53], Centre { x: 12.0, y: 12.0, stride: 8.0 });
        assert_eq!(all[52 * 40], Centre { x: 8.0, y: 8.0, stride: 16.0 });
        assert_eq!(all[all.len() - 1], Centre { x: 400.0, y: 304.0, stride: 32.0 });
    }
}
