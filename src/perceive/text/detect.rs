//! Where text is: differentiable binarization (Liao et al. 2020, arXiv 1911.08947), as PaddleOCR's PP-OCRv4 has it.
//!
//! The network gives each pixel its probability of lying in the shrunken middle of a line. What is above a threshold and
//! hangs together is a line; the smallest rectangle around it is grown back by what training shrank it.

use std::path::Path;

use image::RgbImage;
use ndarray::{Array4, ArrayView2, Axis};

use super::min_area_rect::RotatedRect;
use super::rectify::bilinear;
use super::{Quad, TextError};
use crate::geometry::Point;
use crate::runtime::onnx::{self, Device, Session};

/// Sides of the network's input are multiples of it, px.
const STRIDE: u32 = 32;
/// The shorter side is enlarged to at least so many px, the longer one never beyond that many.
const LEAST_SIDE: f32 = 480.0;
const MOST_SIDE: f32 = 1280.0;
/// A pixel above it is text.
const PIXEL_THRESHOLD: f32 = 0.3;
/// A line whose pixels are text with less on the average is none.
const LINE_THRESHOLD: f32 = 0.5;
/// How much a rectangle is grown: by its area times this over its circumference.
const UNCLIP_RATIO: f32 = 1.6;
/// A line's rectangle is at least so high, before and after it is grown; px of the input.
const LEAST_HEIGHT: f32 = 3.0;
const LEAST_GROWN: f32 = 5.0;
/// Lines of a picture, at most.
const MOST_LINES: usize = 200;

/// Finds lines of text in a picture.
pub trait TextDetector: Send {
    /// Where lines are, from top to bottom; the same picture gives the same lines, bit for bit.
    ///
    /// # Errors
    /// When the model cannot run or gives outputs of unexpected shape.
    fn detect(&mut self, picture: &RgbImage) -> Result<Vec<Quad>, TextError>;
}

/// A network for differentiable binarization: `[1,3,H,W]`, blue first, -1..1, sides multiples of 32; gives `[1,1,H,W]`.
pub struct DbNet {
    session: Session,
    input: String,
    output: String,
    /// Of the picture before.
    memory: Vec<f32>,
}

impl DbNet {
    /// Opens the model and runs it once on grey, so that a file of another kind is refused at once.
    ///
    /// # Errors
    /// When the file is absent, or another model.
    pub fn open(path: &Path, threads: usize, device: Device) -> Result<Self, TextError> {
        let session = onnx::open_of_any_size(path, threads, device)?;
        let (inputs, outputs) = (session.inputs(), session.outputs());
        let ([(input, _)], [(output, _), ..]) = (inputs.as_slice(), outputs.as_slice()) else {
            return Err(misfit(&session, format!("it has {} inputs", inputs.len())));
        };
        let (input, output) = (input.clone(), output.clone());
        let mut net = Self { session, input, output, memory: Vec::new() };
        net.detect(&RgbImage::from_pixel(STRIDE, STRIDE, image::Rgb([127; 3])))?;
        Ok(net)
    }
}

fn misfit(session: &Session, reason: String) -> TextError {
    TextError::Model { model: session.model().to_owned(), job: "text detector", reason }
}

impl TextDetector for DbNet {
    fn detect(&mut self, picture: &RgbImage) -> Result<Vec<Quad>, TextError> {
        let Some((width, height)) = input_size(picture.dimensions()) else { return Ok(Vec::new()) };
        let shape = (1, 3, height as usize, width as usize);
        let mut memory = std::mem::take(&mut self.memory);
        memory.clear();
        memory.resize(3 * shape.2 * shape.3, 0.0);
        let mut tensor =
            Array4::from_shape_vec(shape, memory).unwrap_or_else(|_| Array4::zeros(shape));
        fill(picture, &mut tensor);
        let [output] =
            self.session.run(&[(&self.input, tensor.view().into())], [self.output.as_str()])?;
        self.memory = tensor.into_raw_vec_and_offset().0;
        let found = output.shape().to_vec();
        let text = output.into_shape_with_order((shape.2, shape.3)).map_err(|_| {
            misfit(
                &self.session,
                format!("its output is {found:?} instead of [1,1,{height},{width}]"),
            )
        })?;
        let across = picture.width() as f32 / width as f32;
        let down = picture.height() as f32 / height as f32;
        let back = |p: Point| Point {
            // A pixel's centre lies at half a pixel.
            x: ((p.x + 0.5) * across).clamp(0.0, picture.width() as f32),
            y: ((p.y + 0.5) * down).clamp(0.0, picture.height() as f32),
        };
        Ok(lines(text.view()).into_iter().map(|rect| rect.corners().map(back)).collect())
    }
}

/// Width and height of the network's input; `None` of an empty picture.
fn input_size((width, height): (u32, u32)) -> Option<(u32, u32)> {
    let (shorter, longer) = (width.min(height) as f32, width.max(height) as f32);
    if shorter == 0.0 {
        return None;
    }
    let scale = (LEAST_SIDE / shorter).max(1.0).min(MOST_SIDE / longer);
    let side = |length: u32| {
        // As PaddleOCR rounds: 720 lines become 704.
        let steps = (length as f32 * scale / STRIDE as f32).round_ties_even() as u32;
        STRIDE * steps.max(1)
    };
    Some((side(width), side(height)))
}

/// Writes the picture into the tensor, blue first, -1..1.
fn fill(picture: &RgbImage, tensor: &mut Array4<f32>) {
    let (_, _, height, width) = tensor.dim();
    let as_is = picture.dimensions() == (width as u32, height as u32);
    let (across, down) =
        (picture.width() as f32 / width as f32, picture.height() as f32 / height as f32);
    for y in 0..height {
        for x in 0..width {
            let value = match as_is {
                true => picture.get_pixel(x as u32, y as u32).0.map(f32::from),
                false => {
                    let at = Point { x: (x as f32 + 0.5) * across, y: (y as f32 + 0.5) * down };
                    bilinear(picture, at)
                }
            };
            for channel in 0..3 {
                tensor[[0, 2 - channel, y, x]] = value[channel] / 127.5 - 1.0;
            }
        }
    }
}

/// The lines of a map of probabilities `[height, width]`, from top to bottom, in its px.
fn lines(text: ArrayView2<'_, f32>) -> Vec<RotatedRect> {
    let mut found = Vec::new();
    for outline in components(text) {
        let Some(rect) = RotatedRect::around(&outline) else { continue };
        if rect.least_side() < LEAST_HEIGHT || mean_inside(text, rect) < LINE_THRESHOLD {
            continue;
        }
        let by = UNCLIP_RATIO * rect.width * rect.height / (2.0 * (rect.width + rect.height));
        let grown = rect.grown(by);
        if grown.least_side() >= LEAST_GROWN && found.len() < MOST_LINES {
            found.push(grown);
        }
    }
    found
}

/// What hangs together (8 neighbours) of the pixels that are text, each by the first and last pixel of its rows; from top to
/// bottom. A pixel right of or below one that is text counts as text, too: letters that nearly touch do.
fn components(text: ArrayView2<'_, f32>) -> Vec<Vec<(i32, i32)>> {
    let (height, width) = text.dim();
    let is_text = |y: usize, x: usize| text[[y, x]] > PIXEL_THRESHOLD;
    let mut open: Vec<bool> = Vec::with_capacity(height * width);
    for y in 0..height {
        for x in 0..width {
            let (above, left) = (y.saturating_sub(1), x.saturating_sub(1));
            open.push(
                is_text(y, x) || is_text(above, x) || is_text(y, left) || is_text(above, left),
            );
        }
    }
    let mut found = Vec::new();
    let mut stack = Vec::new();
    for start in 0..open.len() {
        if !std::mem::take(&mut open[start]) {
            continue;
        }
        let top = start / width;
        let mut rows: Vec<(usize, usize)> = Vec::new();
        stack.push(start);
        while let Some(at) = stack.pop() {
            let (y, x) = (at / width, at % width);
            let row = y - top;
            if rows.len() <= row {
                rows.resize(row + 1, (x, x));
            }
            rows[row] = (rows[row].0.min(x), rows[row].1.max(x));
            for ny in y.saturating_sub(1)..(y + 2).min(height) {
                for nx in x.saturating_sub(1)..(x + 2).min(width) {
                    if std::mem::take(&mut open[ny * width + nx]) {
                        stack.push(ny * width + nx);
                    }
                }
            }
        }
        let ends = rows.into_iter().enumerate().flat_map(|(row, (first, last))| {
            let y = (top + row) as i32;
            [(first as i32, y), (last as i32, y)]
        });
        found.push(ends.collect());
    }
    found
}

/// Mean probability of the pixels inside a rectangle.
fn mean_inside(text: ArrayView2<'_, f32>, rect: RotatedRect) -> f32 {
    let corners = rect.corners();
    let range = |pick: fn(&Point) -> f32, length: usize| {
        let low = corners.iter().map(pick).fold(f32::INFINITY, f32::min).floor();
        let high = corners.iter().map(pick).fold(f32::NEG_INFINITY, f32::max).ceil();
        (low.max(0.0) as usize)..(high.max(0.0) as usize + 1).min(length)
    };
    let (mut sum, mut count) = (0.0_f64, 0_u32);
    for y in range(|p| p.y, text.len_of(Axis(0))) {
        for x in range(|p| p.x, text.len_of(Axis(1))) {
            if rect.contains(Point { x: x as f32, y: y as f32 }) {
                sum += f64::from(text[[y, x]]);
                count += 1;
            }
        }
    }
    (sum / f64::from(count.max(1))) as f32
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use ndarray::Array2;

    use super::*;

    #[test]
    fn pixels_that_hang_together_are_one_line_and_specks_are_none() {
        let mut text = Array2::<f32>::zeros((60, 120));
        text.slice_mut(ndarray::s![10..18, 20..80]).fill(0.9);
        // Broken by one column: still one line.
        text.slice_mut(ndarray::s![.., 50]).fill(0.0);
        text.slice_mut(ndarray::s![40..42, 5..7]).fill(0.9);
        let found = lines(text.view());
        assert_eq!(found.len(), 1, "{found:?}");
        let line = found[0];
        let (long, short) = (line.width.max(line.height), line.least_side());
        // 60 x 8, dilated by one, grown by 1.6 * area / circumference on each side.
        let by = 1.6 * 60.0 * 8.0 / (2.0 * 68.0);
        assert!(
            (long - 60.0 - 2.0 * by).abs() < 1.0 && (short - 8.0 - 2.0 * by).abs() < 1.0,
            "{line:?}"
        );
        // A weak one is none, however large.
        let mut weak = Array2::<f32>::zeros((60, 120));
        weak.slice_mut(ndarray::s![10..18, 20..80]).fill(0.4);
        assert!(lines(weak.view()).is_empty());
    }

    #[test]
    fn small_pictures_are_enlarged_and_large_ones_are_not_read_whole() {
        assert_eq!(input_size((640, 480)), Some((640, 480)));
        assert_eq!(input_size((320, 240)), Some((640, 480)));
        assert_eq!(input_size((1280, 720)), Some((1280, 704)));
        assert_eq!(input_size((3840, 2160)), Some((1280, 704)));
        assert_eq!(input_size((5000, 10)), Some((1280, 32)));
        assert_eq!(input_size((0, 10)), None);
    }
}
