//! YuNet: one small convolutional net with five landmarks (Wu, Peng, Yu 2023, "YuNet: a tiny
//! millisecond-level face detector"; decoding as in libfacedetection).

use std::path::Path;

use image::RgbImage;

use super::input::{InputSize, grid};
use super::{Detection, FaceDetector, on_common_scale, suppress};
use crate::geometry::{Point, Rect};
use crate::perceive::face::FaceError;
use crate::perceive::face::picture::{Channels, letterbox};
use crate::runtime::onnx;
use crate::runtime::onnx::{Device, Session};

const STRIDES: [u32; 3] = [8, 16, 32];
/// As in OpenCV's `FaceDetectorYN`.
const NMS_IOU: f32 = 0.3;
/// Raw score from which a face is to be believed: on labelled recordings and photos false faces reach
/// 0.80, true ones begin at 0.89.
const WORKING_POINT: f32 = 0.82;
/// Longer side that a model of free size gets at most, px.
const FREE_SIDE: u32 = 640;

/// YuNet with an input of fixed or of free size.
pub struct YuNet {
    session: Session,
    input: String,
    size: InputSize,
    min_score: f32,
    /// Of the picture before.
    memory: Vec<f32>,
}

impl YuNet {
    /// Opens the model; detections below `min_score` are not reported.
    ///
    /// # Errors
    /// When the file is absent or no YuNet.
    pub fn open(
        path: &Path,
        min_score: f32,
        threads: usize,
        device: Device,
    ) -> Result<Self, FaceError> {
        let session = onnx::open(path, threads, device)?;
        let fail = |reason: &str| FaceError::Model {
            model: session.model().to_owned(),
            job: "YuNet face detector",
            reason: reason.to_owned(),
        };
        let inputs = session.inputs();
        let [(input, shape)] = inputs.as_slice() else {
            return Err(fail("it must have one input"));
        };
        let Some(size) = InputSize::of(shape) else {
            return Err(fail("its input must be [1,3,height,width]"));
        };
        let names: Vec<String> = session.outputs().into_iter().map(|(name, _)| name).collect();
        for name in output_names() {
            if !names.contains(&name) {
                return Err(fail(&format!("it has no output {name}")));
            }
        }
        Ok(Self { input: input.clone(), session, size, min_score, memory: Vec::new() })
    }
}

fn output_names() -> Vec<String> {
    ["cls", "obj", "bbox", "kps"]
        .iter()
        .flat_map(|kind| STRIDES.iter().map(move |stride| format!("{kind}_{stride}")))
        .collect()
}

impl FaceDetector for YuNet {
    fn detect(&mut self, picture: &RgbImage) -> Result<Vec<Detection>, FaceError> {
        let size = self.size.for_picture(picture.dimensions(), FREE_SIDE);
        let memory = std::mem::take(&mut self.memory);
        let boxed = letterbox(picture, size, Channels::Bgr, 0.0, 1.0, memory);
        let names = output_names();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let outputs =
            self.session.run_named(&[(&self.input, boxed.tensor.view().into())], &names)?;
        let scale = boxed.scale;
        self.memory = boxed.into_memory();
        let mut found = Vec::new();
        for (level, stride) in STRIDES.into_iter().enumerate() {
            let flat = |kind: usize| outputs[kind * 3 + level].as_slice().unwrap_or_default();
            let (cls, obj, bbox, kps) = (flat(0), flat(1), flat(2), flat(3));
            let (columns, rows) = grid(size, stride);
            let cells = columns * rows;
            if [cls.len(), obj.len(), bbox.len(), kps.len()]
                != [cells, cells, 4 * cells, 10 * cells]
            {
                return Err(FaceError::Model {
                    model: self.session.model().to_owned(),
                    job: "YuNet face detector",
                    reason: format!(
                        "stride {stride} must have {cells} cells, cls has {}",
                        cls.len()
                    ),
                });
            }
            let s = stride as f32;
            for cell in 0..cells {
                let raw = (cls[cell].clamp(0.0, 1.0) * obj[cell].clamp(0.0, 1.0)).sqrt();
                let score = on_common_scale(raw, WORKING_POINT);
                if score < self.min_score {
                    continue;
                }
                let (column, row) = ((cell % columns) as f32, (cell / columns) as f32);
                let b = &bbox[4 * cell..4 * cell + 4];
                let (w, h) = (b[2].exp() * s, b[3].exp() * s);
                let (x, y) = ((column + b[0]) * s - 0.5 * w, (row + b[1]) * s - 0.5 * h);
                let k = &kps[10 * cell..10 * cell + 10];
                let landmarks = std::array::from_fn(|i| Point {
                    x: (k[2 * i] + column) * s / scale,
                    y: (k[2 * i + 1] + row) * s / scale,
                });
                let bbox = Rect { x: x / scale, y: y / scale, w: w / scale, h: h / scale };
                found.push(Detection { bbox, landmarks, score });
            }
        }
        Ok(suppress(found, NMS_IOU))
    }

    fn likes_parts(&self) -> bool {
        // Parts come in all sizes, and TensorRT compiles an engine for each.
        self.size.is_free() && self.session.device() != Device::TensorRt
    }
}
