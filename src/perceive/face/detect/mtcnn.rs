//! MTCNN: three small nets in a cascade, five landmarks (Zhang et al. 2016, arXiv 1604.02878; steps and
//! roundings as in facenet-pytorch's `detect_face`, whose weights the nets carry).

use std::path::Path;

use image::RgbImage;
use ndarray::{Array4, ArrayD, Axis};

use super::{Detection, FaceDetector, on_common_scale};
use crate::geometry::{Point, Rect};
use crate::perceive::face::FaceError;
use crate::perceive::face::picture::{AreaTable, PixelRect};
use crate::perceive::nms::non_maximum_suppression;
use crate::runtime::onnx;
use crate::runtime::onnx::{Device, RuntimeError, Session};

/// Ratio of one pyramid level to the one above.
const PYRAMID: f64 = 0.709;
/// P-Net sees cells of this side, every [`STRIDE`] px.
const CELL: f32 = 12.0;
const STRIDE: f32 = 2.0;
/// Scores from which a box goes on, for P-Net, R-Net and O-Net.
const THRESHOLDS: [f32; 3] = [0.6, 0.7, 0.7];
/// O-Net's score from which a face is to be believed: on labelled recordings false faces reach 0.88, true ones begin at 0.97.
const WORKING_POINT: f32 = 0.92;
/// The picture's longer side over this is the smallest face looked for, so that cost does not grow with resolution.
const SMALLEST_SHARE: f32 = 16.0;

/// P-Net, R-Net, O-Net.
pub struct Mtcnn {
    pnet: Session,
    rnet: Session,
    onet: Session,
    min_face_px: f32,
    min_score: f32,
}

/// Corners and score of a box on its way through the cascade.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    x1: f32,
    y1: f32,
    x2: f32,
    y2: f32,
    score: f32,
    regression: [f32; 4],
}

impl Mtcnn {
    /// Opens the three nets. `min_face_px`: side of the smallest face looked for in a picture of up to
    /// 640 px (larger pictures: a sixteenth of the longer side); detections below `min_score` are not
    /// reported (the last net's own threshold, 0.7, is 0.46 on the common scale).
    ///
    /// # Errors
    /// When a file is absent or no ONNX model.
    pub fn open(
        [pnet, rnet, onet]: [&Path; 3],
        min_face_px: f32,
        min_score: f32,
        threads: usize,
        device: Device,
    ) -> Result<Self, FaceError> {
        // Every level of the pyramid is of another size, and every picture has another number of boxes.
        let device = onnx::for_changing_shapes(device);
        Ok(Self {
            pnet: onnx::open(pnet, threads, device)?,
            rnet: onnx::open(rnet, threads, device)?,
            onet: onnx::open(onet, threads, device)?,
            min_face_px: min_face_px.max(CELL),
            min_score,
        })
    }

    /// Boxes from the picture's pyramid.
    fn propose(
        &mut self,
        table: &AreaTable,
        picture: &RgbImage,
    ) -> Result<Vec<Candidate>, FaceError> {
        let (width, height) = (f64::from(picture.width()), f64::from(picture.height()));
        let longer = picture.width().max(picture.height()) as f32;
        let smallest = self.min_face_px.max(longer / SMALLEST_SHARE);
        let mut scale = f64::from(CELL / smallest);
        let mut shorter = width.min(height) * scale;
        let mut all = Vec::new();
        while shorter >= f64::from(CELL) {
            let (w, h) = ((width * scale + 1.0) as usize, (height * scale + 1.0) as usize);
            let mut image = Array4::zeros((1, 3, h, w));
            table.average(table.whole(), image.index_axis_mut(Axis(0), 0), 127.5, 1.0 / 128.0);
            let [boxes, scores] =
                self.pnet.run(&[("image", image.view().into())], ["box", "score"])?;
            let found = cells(&self.pnet, &boxes, &scores, scale as f32)?;
            all.extend(suppress(found, 0.5));
            scale *= PYRAMID;
            shorter *= PYRAMID;
        }
        let mut kept = suppress(all, 0.7);
        for candidate in &mut kept {
            let (w, h) = (candidate.x2 - candidate.x1, candidate.y2 - candidate.y1);
            candidate.regress(w, h);
            candidate.make_square();
        }
        Ok(kept)
    }

    /// R-Net: drops most boxes, moves the others.
    fn refine(
        &mut self,
        table: &AreaTable,
        picture: &RgbImage,
        boxes: Vec<Candidate>,
    ) -> Result<Vec<Candidate>, FaceError> {
        let Some((mut boxes, crops)) = crops(table, picture, boxes, 24) else {
            return Ok(Vec::new());
        };
        let [moves, scores] = self.rnet.run(&[("image", crops.view().into())], ["box", "score"])?;
        read(&self.rnet, &moves, &scores, &mut boxes)?;
        boxes.retain(|candidate| candidate.score > THRESHOLDS[1]);
        let mut kept = suppress(boxes, 0.7);
        for candidate in &mut kept {
            candidate.regress_inclusive();
            candidate.make_square();
        }
        Ok(kept)
    }

    /// O-Net: the final word, with landmarks.
    fn settle(
        &mut self,
        table: &AreaTable,
        picture: &RgbImage,
        boxes: Vec<Candidate>,
    ) -> Result<Vec<Detection>, FaceError> {
        let Some((mut boxes, crops)) = crops(table, picture, boxes, 48) else {
            return Ok(Vec::new());
        };
        let [moves, landmarks, scores] =
            self.onet.run(&[("image", crops.view().into())], ["box", "landmarks", "score"])?;
        read(&self.onet, &moves, &scores, &mut boxes)?;
        if landmarks.shape() != [boxes.len(), 10] {
            return Err(shape_error(&self.onet, "landmarks", &landmarks));
        }
        let mut found = Vec::new();
        for (mut candidate, points) in boxes.into_iter().zip(landmarks.outer_iter()) {
            let score = on_common_scale(candidate.score, WORKING_POINT);
            if candidate.score <= THRESHOLDS[2] || score < self.min_score {
                continue;
            }
            let (w, h) = (candidate.x2 - candidate.x1 + 1.0, candidate.y2 - candidate.y1 + 1.0);
            let landmarks = std::array::from_fn(|i| Point {
                x: w * points[i] + candidate.x1 - 1.0,
                y: h * points[5 + i] + candidate.y1 - 1.0,
            });
            candidate.regress_inclusive();
            found.push(Detection { bbox: candidate.rect(), landmarks, score });
        }
        Ok(non_maximum_suppression(found, 0.7, |d| (d.score, d.bbox), over_smaller))
    }
}

impl FaceDetector for Mtcnn {
    fn detect(&mut self, picture: &RgbImage) -> Result<Vec<Detection>, FaceError> {
        let table = AreaTable::new(picture);
        let proposed = self.propose(&table, picture)?;
        let refined = self.refine(&table, picture, proposed)?;
        self.settle(&table, picture, refined)
    }

    fn likes_parts(&self) -> bool {
        true
    }
}

/// O-Net alone: landmarks of a face that another detector found.
pub(in crate::perceive::face) struct LandmarkNet {
    onet: Session,
}

impl LandmarkNet {
    /// Opens the net.
    ///
    /// # Errors
    /// When the file is absent or no ONNX model.
    pub(in crate::perceive::face) fn open(
        path: &Path,
        threads: usize,
        device: Device,
    ) -> Result<Self, FaceError> {
        Ok(Self { onet: onnx::open(path, threads, device)? })
    }

    /// O-Net's score, 0–1, and the landmarks within a square of the picture; `None` where it lies outside.
    ///
    /// # Errors
    /// When the model cannot run or gives outputs of unexpected shape.
    pub(in crate::perceive::face) fn find(
        &mut self,
        table: &AreaTable,
        picture: &RgbImage,
        square: Rect,
    ) -> Result<Option<(f32, [Point; 5])>, FaceError> {
        let candidate = Candidate {
            x1: square.x,
            y1: square.y,
            x2: square.right(),
            y2: square.bottom(),
            score: 0.0,
            regression: [0.0; 4],
        };
        let Some((mut boxes, crops)) = crops(table, picture, vec![candidate], 48) else {
            return Ok(None);
        };
        let [moves, points, scores] =
            self.onet.run(&[("image", crops.view().into())], ["box", "landmarks", "score"])?;
        read(&self.onet, &moves, &scores, &mut boxes)?;
        if points.shape() != [1, 10] {
            return Err(shape_error(&self.onet, "landmarks", &points));
        }
        let landmarks = std::array::from_fn(|i| Point {
            x: square.w * points[[0, i]] + square.x,
            y: square.h * points[[0, 5 + i]] + square.y,
        });
        Ok(boxes.first().map(|candidate| (candidate.score, landmarks)))
    }
}

impl Candidate {
    fn rect(&self) -> Rect {
        Rect::from_corners(self.x1, self.y1, self.x2, self.y2)
    }

    /// Moves the corners by the regression, in units of `w` and `h`.
    fn regress(&mut self, w: f32, h: f32) {
        self.x1 += self.regression[0] * w;
        self.y1 += self.regression[1] * h;
        self.x2 += self.regression[2] * w;
        self.y2 += self.regression[3] * h;
    }

    /// R-Net and O-Net count the last pixel as part of the box.
    fn regress_inclusive(&mut self) {
        self.regress(self.x2 - self.x1 + 1.0, self.y2 - self.y1 + 1.0);
    }

    /// Grows the shorter side about the centre.
    fn make_square(&mut self) {
        let (w, h) = (self.x2 - self.x1, self.y2 - self.y1);
        let side = w.max(h);
        self.x1 += 0.5 * w - 0.5 * side;
        self.y1 += 0.5 * h - 0.5 * side;
        self.x2 = self.x1 + side;
        self.y2 = self.y1 + side;
    }

    /// The whole pixels inside the picture, or `None` when there are none.
    fn pixels(&self, picture: &RgbImage) -> Option<PixelRect> {
        // One-based and inclusive, as the original counts.
        let (x, y) = ((self.x1 as i64).max(1), (self.y1 as i64).max(1));
        let right = (self.x2 as i64).min(i64::from(picture.width()));
        let bottom = (self.y2 as i64).min(i64::from(picture.height()));
        (right >= x && bottom >= y).then(|| PixelRect {
            x0: (x - 1) as u32,
            y0: (y - 1) as u32,
            x1: right as u32,
            y1: bottom as u32,
        })
    }
}

fn suppress(candidates: Vec<Candidate>, threshold: f32) -> Vec<Candidate> {
    non_maximum_suppression(candidates, threshold, |c| (c.score, c.rect()), Rect::iou)
}

/// Intersection over the smaller box, the last pixel counted as part of it.
fn over_smaller(a: Rect, b: Rect) -> f32 {
    let grow = |r: Rect| Rect { w: r.w + 1.0, h: r.h + 1.0, ..r };
    let (a, b) = (grow(a), grow(b));
    a.intersection_area(b) / a.area().min(b.area())
}

/// P-Net's cells above the threshold as boxes of the picture.
fn cells(
    session: &Session,
    boxes: &ArrayD<f32>,
    scores: &ArrayD<f32>,
    scale: f32,
) -> Result<Vec<Candidate>, FaceError> {
    let (&[1, 2, rows, columns], &[1, 4, box_rows, box_columns]) = (scores.shape(), boxes.shape())
    else {
        return Err(shape_error(session, "score", scores));
    };
    if (rows, columns) != (box_rows, box_columns) {
        return Err(shape_error(session, "box", boxes));
    }
    let mut found = Vec::new();
    for row in 0..rows {
        for column in 0..columns {
            let score = scores[[0, 1, row, column]];
            if score < THRESHOLDS[0] {
                continue;
            }
            let near = |cell: usize| ((STRIDE * cell as f32 + 1.0) / scale).floor();
            let far = |cell: usize| ((STRIDE * cell as f32 + CELL) / scale).floor();
            found.push(Candidate {
                x1: near(column),
                y1: near(row),
                x2: far(column),
                y2: far(row),
                score,
                regression: std::array::from_fn(|i| boxes[[0, i, row, column]]),
            });
        }
    }
    Ok(found)
}

/// Cuts every box out of the picture, `[N, 3, side, side]`; boxes wholly outside are dropped, `None` when all are.
fn crops(
    table: &AreaTable,
    picture: &RgbImage,
    boxes: Vec<Candidate>,
    side: usize,
) -> Option<(Vec<Candidate>, Array4<f32>)> {
    let (boxes, rects): (Vec<_>, Vec<_>) =
        boxes.into_iter().filter_map(|b| Some((b, b.pixels(picture)?))).unzip();
    let mut images = Array4::zeros((boxes.len(), 3, side, side));
    for (image, rect) in images.outer_iter_mut().zip(rects) {
        table.average(rect, image, 127.5, 1.0 / 128.0);
    }
    (!boxes.is_empty()).then_some((boxes, images))
}

/// Puts a net's scores and regressions into the boxes.
fn read(
    session: &Session,
    moves: &ArrayD<f32>,
    scores: &ArrayD<f32>,
    boxes: &mut [Candidate],
) -> Result<(), FaceError> {
    if moves.shape() != [boxes.len(), 4] {
        return Err(shape_error(session, "box", moves));
    }
    if scores.shape() != [boxes.len(), 2] {
        return Err(shape_error(session, "score", scores));
    }
    for (index, candidate) in boxes.iter_mut().enumerate() {
        candidate.score = scores[[index, 1]];
        candidate.regression = std::array::from_fn(|i| moves[[index, i]]);
    }
    Ok(())
}

fn shape_error(session: &Session, output: &str, found: &ArrayD<f32>) -> FaceError {
    FaceError::Runtime(RuntimeError::Output {
        model: session.model().to_owned(),
        output: output.to_owned(),
        reason: format!("unexpected shape {:?}", found.shape()),
    })
}
