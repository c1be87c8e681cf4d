//! Points and boxes in a picture: pixels, x to the right, y down, origin at the top left corner.

use serde::{Deserialize, Serialize};

/// A point in pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// To the right.
    pub x: f32,
    /// Down.
    pub y: f32,
}

/// An upright box in pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rect {
    /// Left edge.
    pub x: f32,
    /// Top edge.
    pub y: f32,
    /// Width, not negative.
    pub w: f32,
    /// Height, not negative.
    pub h: f32,
}

impl Rect {
    /// From left, top, right, bottom.
    #[must_use]
    pub fn from_corners(x1: f32, y1: f32, x2: f32, y2: f32) -> Self {
        Self { x: x1, y: y1, w: (x2 - x1).max(0.0), h: (y2 - y1).max(0.0) }
    }

    /// Right edge.
    #[must_use]
    pub fn right(self) -> f32 {
        self.x + self.w
    }

    /// Bottom edge.
    #[must_use]
    pub fn bottom(self) -> f32 {
        self.y + self.h
    }

    /// Area in px².
    #[must_use]
    pub fn area(self) -> f32 {
        self.w * self.h
    }

    /// Centre.
    #[must_use]
    pub fn centre(self) -> Point {
        Point { x: self.x + 0.5 * self.w, y: self.y + 0.5 * self.h }
    }

    /// Area that both cover, px².
    #[must_use]
    pub fn intersection_area(self, other: Self) -> f32 {
        let w = self.right().min(other.right()) - self.x.max(other.x);
        let h = self.bottom().min(other.bottom()) - self.y.max(other.y);
        w.max(0.0) * h.max(0.0)
    }

    /// Intersection over union, 0–1; 0 for empty boxes.
    #[must_use]
    pub fn iou(self, other: Self) -> f32 {
        let both = self.intersection_area(other);
        let union = self.area() + other.area() - both;
        if union > 0.0 { both / union } else { 0.0 }
    }

    /// The part of the box inside a picture of that size.
    #[must_use]
    pub fn clamped(self, width: f32, height: f32) -> Self {
        Self::from_corners(
            self.x.clamp(0.0, width),
            self.y.clamp(0.0, height),
            self.right().clamp(0.0, width),
            self.bottom().clamp(0.0, height),
        )
    }

    /// Whether the point lies inside (left and top edge included).
    #[must_use]
    pub fn contains(self, p: Point) -> bool {
        p.x >= self.x && p.x < self.right() && p.y >= self.y && p.y < self.bottom()
    }
}
/// In which third of a picture's width a point at that share of it lies: 0 left, 1 in the middle, 2 right.
#[must_use]
pub fn third(share: f32) -> usize {
    usize::from(share >= 1.0 / 3.0) + usize::from(share >= 2.0 / 3.0)
}
