//! How a camera moved between two analysed pictures: a robot that turns shifts all that it sees.
//!
//! A rotation about the vertical is a shift of the whole picture, so a shift is all that is looked for. A worker makes a
//! [`GreyPicture`]; in time order and one camera at a time [`CameraMotion`] compares it with the one before. Where most of what
//! can be told from its surroundings is where it was, the camera stood, whatever moves before it, and nothing else is reckoned.
//! Else the shift is searched under which the pictures fit (`shift`). Trackers take it out of where they expect what they
//! follow; what is remembered claims nothing of things while a camera moves.
//!
//! Whole numbers but for the last division: what comes out is the same on any machine.

mod grey;
mod shift;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;

use serde::{Deserialize, Serialize};

pub use grey::GreyPicture;

use crate::geometry::Point;
use crate::time::{Span, Timestamp};

/// By how much what stands still has moved in the picture since the one before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CameraShift {
    /// To the right, px.
    pub x: f32,
    /// Down, px.
    pub y: f32,
    /// Width and height of the picture, px.
    pub picture: (u32, u32),
}

impl CameraShift {
    /// Whether a point lies in the picture.
    #[must_use]
    pub fn shows(&self, point: Point) -> bool {
        let (width, height) = (self.picture.0 as f32, self.picture.1 as f32);
        (0.0..width).contains(&point.x) && (0.0..height).contains(&point.y)
    }
}

/// Tells how one camera moves. Its state goes into checkpoints.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CameraMotion {
    last: Option<(Timestamp, GreyPicture)>,
    /// When it moved since the last boundary, in time order.
    moves: Vec<Span>,
}

impl CameraMotion {
    /// Takes the next analysed picture, in time order. `None`: the camera stood, or nobody can tell.
    pub fn step(&mut self, at: Timestamp, picture: GreyPicture) -> Option<CameraShift> {
        let last = self.last.replace((at, picture.clone()));
        let (before_at, before) = last?;
        let shift = shift::between(&before, &picture)?;
        match self.moves.last_mut().filter(|last| last.end == before_at) {
            Some(last) => last.end = at,
            None => self.moves.push(Span::new(before_at, at)),
        }
        Some(shift)
    }

    /// Takes the stretches in which it moved before `border`, each from the last picture before to the last one that moved.
    pub fn until(&mut self, border: Timestamp) -> Vec<Span> {
        let (before, later) =
            std::mem::take(&mut self.moves).into_iter().partition(|span| span.end < border);
        self.moves = later;
        before
    }
}
