//! A detector of the YOLO family as an ONNX file: YOLOv5 to v11, YOLOv10 and 26, and whatever has their input and output.

use std::path::Path;

use image::RgbImage;
use ndarray::{Array4, Axis};

use super::ObjectError;
use super::decode::{Layout, decode};
use super::detect::{Candidate, Detection, ObjectDetector, ranked, suppress};
use super::labels::Labels;
use super::letterbox::Letterbox;
use crate::runtime::onnx::{self, Device, Session};

/// Longer side that a model of free size gets, px, and what its sides are multiples of.
const FREE_SIDE: u32 = 640;
const STRIDE: u32 = 32;
/// Longer sides has no detector, larger batches neither.
const MOST_SIDE: i64 = 4096;
const MOST_BATCH: i64 = 64;

/// A YOLO with one input `[batch, 3, height, width]` (RGB, 0–1), sides and batch fixed or free.
pub struct Yolo {
    session: Session,
    input: String,
    output: String,
    /// Width and height of the fixed input; `None`: free.
    size: Option<(u32, u32)>,
    /// 1, or as many pictures as the model insists on.
    batch: usize,
    labels: Labels,
    min_score: f32,
    nms_iou: f32,
}

impl Yolo {
    /// Opens the model and runs it once on grey, so that a file of another kind is refused at once. Without `labels` the
    /// names that an exporter wrote into the file are taken. Things below `min_score` are not reported.
    ///
    /// # Errors
    /// When a file is absent, or none that is understood.
    pub fn open(
        path: &Path,
        labels: Option<&Path>,
        (min_score, nms_iou): (f32, f32),
        threads: usize,
        device: Device,
    ) -> Result<Self, ObjectError> {
        let session = onnx::open(path, threads, device)?;
        let fail =
            |reason: String| ObjectError::Model { model: session.model().to_owned(), reason };
        let labels = match labels {
            Some(labels) => Labels::read(labels)?,
            None => {
                let none =
                    || "it has no names of its classes in it: set `objects.labels`".to_owned();
                let written = session.metadata("names").ok_or_else(none).map_err(fail)?;
                Labels::of_metadata(&written)
                    .map_err(|why| fail(format!("the names of its classes: {why}")))?
            }
        };
        let inputs = session.inputs();
        let [(input, shape)] = inputs.as_slice() else {
            return Err(fail(format!("it has {} inputs", inputs.len())));
        };
        let &[batch, 3, height, width] = shape.as_slice() else {
            return Err(fail(format!("its input is {shape:?}")));
        };
        let sound = |side: i64| side == -1 || (1..=MOST_SIDE).contains(&side);
        if !sound(height) || !sound(width) || batch > MOST_BATCH {
            return Err(fail(format!("its input is {shape:?}")));
        }
        let size = match (width, height) {
            (-1, -1) => None,
            // One side free: square.
            (-1, side) | (side, -1) => Some((side as u32, side as u32)),
            (width, height) => Some((width as u32, height as u32)),
        };
        let outputs = session.outputs();
        let Some((output, _)) = outputs.first() else {
            return Err(fail("it has no output".to_owned()));
        };
        let (input, output) = (input.clone(), output.clone());
        let batch = batch.max(1) as usize;
        let mut yolo = Self { session, input, output, size, batch, labels, min_score, nms_iou };
        yolo.detect(&RgbImage::from_pixel(STRIDE, STRIDE, image::Rgb([114; 3])))?;
        Ok(yolo)
    }

    fn candidates(
        &mut self,
        picture: &RgbImage,
        boxed: Letterbox,
        (width, height): (u32, u32),
    ) -> Result<Vec<Candidate>, ObjectError> {
        let mut tensor = Array4::zeros((self.batch, 3, height as usize, width as usize));
        boxed.fill(picture, tensor.index_axis_mut(Axis(0), 0));
        let [output] =
            self.session.run(&[(&self.input, tensor.view().into())], [self.output.as_str()])?;
        let fail =
            |reason: String| ObjectError::Model { model: self.session.model().to_owned(), reason };
        let (shape, classes) = (output.shape().to_vec(), self.labels.count());
        let layout = Layout::of(&shape, classes, (width, height)).map_err(fail)?;
        let output = output.as_standard_layout();
        let values = output.as_slice().unwrap_or_default();
        let found = decode(layout, values, &shape, classes, self.min_score).map_err(fail)?;
        Ok(if layout == Layout::Finished { ranked(found) } else { suppress(found, self.nms_iou) })
    }
}

impl ObjectDetector for Yolo {
    fn detect(&mut self, picture: &RgbImage) -> Result<Vec<Detection>, ObjectError> {
        let from = picture.dimensions();
        let size = self.size.unwrap_or_else(|| Letterbox::free_size(from, FREE_SIDE, STRIDE));
        let Some(boxed) = Letterbox::new(from, size) else { return Ok(Vec::new()) };
        let candidates = self.candidates(picture, boxed, size)?;
        let detection = |one: Candidate| {
            let bbox = boxed.back(one.bbox).clamped(from.0 as f32, from.1 as f32);
            let label = self.labels.get(one.class)?.clone();
            let least = 0.0;
            (bbox.area() > 0.0).then_some(Detection { bbox, label, score: one.score, least })
        };
        Ok(candidates.into_iter().filter_map(detection).collect())
    }
}
