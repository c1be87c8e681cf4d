//! The joints of a body, by name.

use crate::geometry::Point;
use crate::percept::{KeyPoint, Skeleton};

/// A point that is less sure is not known. MoveNet's authors draw from 0.3 on; of wrists that are hidden, one in a hundred was surer.
const SURE: f32 = 0.3;

/// One of both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Right,
}

impl Side {
    pub(super) const BOTH: [Self; 2] = [Self::Left, Self::Right];
}

/// A joint that there are two of; by the number of the left one in COCO's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Joint {
    Eye = 1,
    Shoulder = 5,
    Elbow = 7,
    Wrist = 9,
    Hip = 11,
    Knee = 13,
    Ankle = 15,
}

impl Skeleton {
    /// One with no known point.
    #[must_use]
    pub fn unknown() -> Self {
        Self([KeyPoint { at: Point { x: 0.0, y: 0.0 }, score: 0.0 }; Self::POINTS])
    }

    fn known(&self, number: usize) -> Option<KeyPoint> {
        self.0.get(number).copied().filter(|point| point.score >= SURE)
    }

    pub(super) fn nose(&self) -> Option<KeyPoint> {
        self.known(0)
    }

    pub(super) fn joint(&self, joint: Joint, side: Side) -> Option<KeyPoint> {
        self.known(joint as usize + usize::from(side == Side::Right))
    }

    /// The middle of both, or the one that is seen: from the side the other is hidden.
    pub(super) fn middle(&self, joint: Joint) -> Option<KeyPoint> {
        match Side::BOTH.map(|side| self.joint(joint, side)) {
            [Some(a), Some(b)] => Some(KeyPoint {
                at: Point { x: 0.5 * (a.at.x + b.at.x), y: 0.5 * (a.at.y + b.at.y) },
                score: 0.5 * (a.score + b.score),
            }),
            [one, other] => one.or(other),
        }
    }
}

/// From one place to another, px.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Way {
    pub(super) x: f32,
    pub(super) y: f32,
}

impl Way {
    pub(super) fn between(from: Point, to: Point) -> Self {
        Self { x: to.x - from.x, y: to.y - from.y }
    }

    pub(super) fn length(self) -> f32 {
        (self.x * self.x + self.y * self.y).sqrt()
    }

    pub(super) fn dot(self, other: Self) -> f32 {
        self.x * other.x + self.y * other.y
    }
}
