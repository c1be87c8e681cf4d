//! Pictures on their side: networks know people as they stand.

use image::RgbImage;
use image::imageops::{rotate90, rotate270};

use crate::geometry::{Point, Rect};

/// How a picture is turned before a network sees it, by 90°.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::perceive) enum Turn {
    /// To the left: for who lies with the head to the right.
    Left,
    /// To the right.
    Right,
}

impl Turn {
    pub(in crate::perceive) const BOTH: [Self; 2] = [Self::Left, Self::Right];

    /// The picture, turned.
    pub(in crate::perceive) fn picture(self, picture: &RgbImage) -> RgbImage {
        match self {
            Self::Left => rotate270(picture),
            Self::Right => rotate90(picture),
        }
    }

    /// A place in the turned picture as one in the picture, shares of the sides.
    pub(in crate::perceive) fn back(self, Point { x, y }: Point) -> Point {
        match self {
            Self::Left => Point { x: 1.0 - y, y: x },
            Self::Right => Point { x: y, y: 1.0 - x },
        }
    }

    /// A box of the turned picture as one of the picture, which is so wide and high; px.
    pub(in crate::perceive) fn box_back(
        self,
        Rect { x, y, w, h }: Rect,
        (width, height): (u32, u32),
    ) -> Rect {
        let (x, y) = match self {
            Self::Left => (width as f32 - y - h, x),
            Self::Right => (y, height as f32 - x - w),
        };
        Rect { x, y, w: h, h: w }
    }
}
