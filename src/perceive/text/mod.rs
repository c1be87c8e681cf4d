//! Words in view: signs, labels, screens, name badges are found, read and followed.
//!
//! The way of a picture: [`ReadingSchedule`] tells which pictures are worth reading (still ones that show something new);
//! a worker's [`TextDetector`] finds lines of text in one, [`rectify`] cuts each out upright, a [`TextRecognizer`] reads it,
//! and lines that belong together are one text ([`layout`]). In time order and one camera at a time [`TextTracker`] joins
//! what is read at one place to one percept, and settles on the reading that is surest by then.

mod detect;
mod layout;
mod min_area_rect;
mod perceptor;
mod recognize;
mod rectify;
mod schedule;
mod track;

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod golden;

pub use detect::{DbNet, TextDetector};
pub use perceptor::{SharedNetworks, TextFiles, TextNetworks, TextReader};
pub use recognize::{CtcRecognizer, TextRecognizer};
pub use schedule::{READING_LAG, ReadingSchedule};
pub use track::TextTracker;

use crate::geometry::{Point, Rect};
use crate::runtime::onnx::RuntimeError;

/// What goes wrong while words in view are looked for.
#[derive(Debug, thiserror::Error)]
pub enum TextError {
    /// A model could not be opened or run.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    /// A model file is of another kind than its job demands.
    #[error("using {model} as {job}: {reason}; run `engramd models verify`")]
    Model {
        /// File name of the model.
        model: String,
        /// What it was to do.
        job: &'static str,
        /// Expected and found.
        reason: String,
    },
}

/// The corners of a line of text in px of the picture: top left, top right, bottom right, bottom left as it is read.
pub type Quad = [Point; 4];

/// A line of text as it was read in one picture.
#[derive(Clone, Debug, PartialEq)]
pub struct TextLine {
    /// Where it is.
    pub quad: Quad,
    /// What it says; not empty.
    pub text: String,
    /// Mean probability of its characters, 0–1.
    pub confidence: f32,
}

/// A text of one or more lines as it was read in one picture.
#[derive(Clone, Debug, PartialEq)]
pub struct TextBlock {
    /// Upright box around it, px of the picture.
    pub bbox: Rect,
    /// Its lines from top to bottom, a space between two.
    pub text: String,
    /// Of its least sure line, 0–1.
    pub confidence: f32,
    /// Width and height of the picture, px.
    pub picture: (u32, u32),
}

/// Around a quadrilateral.
fn bounds(quad: &Quad) -> Rect {
    let fold = |pick: fn(&Point) -> f32, best: fn(f32, f32) -> f32, from: f32| {
        quad.iter().map(pick).fold(from, best)
    };
    Rect::from_corners(
        fold(|p| p.x, f32::min, f32::INFINITY),
        fold(|p| p.y, f32::min, f32::INFINITY),
        fold(|p| p.x, f32::max, f32::NEG_INFINITY),
        fold(|p| p.y, f32::max, f32::NEG_INFINITY),
    )
}

/// Around both.
fn around(a: Rect, b: Rect) -> Rect {
    let (right, bottom) = (a.right().max(b.right()), a.bottom().max(b.bottom()));
    Rect::from_corners(a.x.min(b.x), a.y.min(b.y), right, bottom)
}
