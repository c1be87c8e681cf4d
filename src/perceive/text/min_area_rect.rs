//! The smallest rectangle around points, turned as it may be (Freeman, Shapira 1975: one side lies on the convex hull).

use crate::geometry::Point;

/// A rectangle at any angle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RotatedRect {
    /// Its centre.
    pub(super) centre: Point,
    /// Unit vector along its width.
    pub(super) along: Point,
    /// Along `along`.
    pub(super) width: f32,
    /// Across it.
    pub(super) height: f32,
}

impl RotatedRect {
    /// The smallest around the points; of several the first that the hull gives. `None` of no points.
    pub(super) fn around(points: &[(i32, i32)]) -> Option<Self> {
        let hull = convex_hull(points);
        let &(x, y) = hull.first()?;
        let mut best: Option<(f64, Self)> = None;
        for (at, &(x0, y0)) in hull.iter().enumerate() {
            let (x1, y1) = hull[(at + 1) % hull.len()];
            let (dx, dy) = (f64::from(x1 - x0), f64::from(y1 - y0));
            let length = dx.hypot(dy);
            if length == 0.0 {
                continue;
            }
            let (ux, uy) = (dx / length, dy / length);
            let (mut u, mut v) = (Extent::EMPTY, Extent::EMPTY);
            for &(x, y) in &hull {
                let (x, y) = (f64::from(x), f64::from(y));
                u.take(x * ux + y * uy);
                v.take(y * ux - x * uy);
            }
            let area = u.length() * v.length();
            if best.as_ref().is_none_or(|(least, _)| area < *least) {
                let (cu, cv) = (u.middle(), v.middle());
                let rect = Self {
                    centre: Point { x: (cu * ux - cv * uy) as f32, y: (cu * uy + cv * ux) as f32 },
                    along: Point { x: ux as f32, y: uy as f32 },
                    width: u.length() as f32,
                    height: v.length() as f32,
                };
                best = Some((area, rect));
            }
        }
        let lone = Self {
            centre: Point { x: x as f32, y: y as f32 },
            along: Point { x: 1.0, y: 0.0 },
            width: 0.0,
            height: 0.0,
        };
        Some(best.map_or(lone, |(_, rect)| rect))
    }

    /// With every side moved outwards by so much.
    pub(super) fn grown(self, by: f32) -> Self {
        Self { width: self.width + 2.0 * by, height: self.height + 2.0 * by, ..self }
    }

    /// The shorter side.
    pub(super) fn least_side(self) -> f32 {
        self.width.min(self.height)
    }

    /// Whether a point lies inside, border included.
    pub(super) fn contains(self, p: Point) -> bool {
        let (dx, dy) = (p.x - self.centre.x, p.y - self.centre.y);
        let along = dx * self.along.x + dy * self.along.y;
        let across = dy * self.along.x - dx * self.along.y;
        along.abs() <= self.width / 2.0 && across.abs() <= self.height / 2.0
    }

    /// Its corners, as PaddleOCR orders them: of the two on the left the upper one first, then the upper right, the lower
    /// right, the lower left one.
    pub(super) fn corners(self) -> [Point; 4] {
        let (w, h) = (self.width / 2.0, self.height / 2.0);
        let corner = |a: f32, b: f32| Point {
            x: self.centre.x + a * w * self.along.x - b * h * self.along.y,
            y: self.centre.y + a * w * self.along.y + b * h * self.along.x,
        };
        let mut all = [corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)];
        all.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
        let [a, b, c, d] = all;
        let (left, lower_left) = if b.y > a.y { (a, b) } else { (b, a) };
        let (right, lower_right) = if d.y > c.y { (c, d) } else { (d, c) };
        [left, right, lower_right, lower_left]
    }
}

/// From the least to the greatest of some values.
struct Extent(f64, f64);

impl Extent {
    const EMPTY: Self = Self(f64::INFINITY, f64::NEG_INFINITY);

    fn take(&mut self, value: f64) {
        *self = Self(self.0.min(value), self.1.max(value));
    }

    fn length(&self) -> f64 {
        self.1 - self.0
    }

    fn middle(&self) -> f64 {
        f64::midpoint(self.0, self.1)
    }
}

/// Corners of the convex hull in order, by Andrew's monotone chain.
fn convex_hull(points: &[(i32, i32)]) -> Vec<(i32, i32)> {
    let mut points = points.to_vec();
    points.sort_unstable();
    points.dedup();
    if points.len() < 3 {
        return points;
    }
    let turns_left = |o: (i32, i32), a: (i32, i32), b: (i32, i32)| {
        let (ax, ay) = (i64::from(a.0 - o.0), i64::from(a.1 - o.1));
        let (bx, by) = (i64::from(b.0 - o.0), i64::from(b.1 - o.1));
        ax * by - ay * bx > 0
    };
    let chain = |points: &mut dyn Iterator<Item = (i32, i32)>| {
        let mut hull: Vec<(i32, i32)> = Vec::new();
        for point in points {
            while let [.., o, a] = hull.as_slice()
                && !turns_left(*o, *a, point)
            {
                hull.pop();
            }
            hull.push(point);
        }
        hull.pop();
        hull
    };
    let mut hull = chain(&mut points.iter().copied());
    hull.extend(chain(&mut points.iter().rev().copied()));
    hull
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_turned_bar_is_measured_along_itself() {
        // A bar of 40 x 10 along (4, 3) / 5.
        let points: Vec<(i32, i32)> = (0..=40)
            .flat_map(|a| (0..=10).map(move |b| (a, b)))
            .map(|(a, b)| {
                (f64::from(a) * 0.8 - f64::from(b) * 0.6, f64::from(a) * 0.6 + f64::from(b) * 0.8)
            })
            .map(|(x, y)| (x.round() as i32 + 50, y.round() as i32 + 20))
            .collect();
        let rect = RotatedRect::around(&points).unwrap();
        let (long, short) = (rect.width.max(rect.height), rect.least_side());
        assert!((long - 40.0).abs() < 1.5 && (short - 10.0).abs() < 1.5, "{rect:?}");
        let [top_left, top_right, ..] = rect.corners();
        let slope = (top_right.y - top_left.y) / (top_right.x - top_left.x);
        assert!((slope - 0.75).abs() < 0.06, "{slope}");
        assert_eq!(RotatedRect::around(&[]), None);
        assert_eq!(RotatedRect::around(&[(3, 4)]).unwrap().least_side(), 0.0);
        assert_eq!(RotatedRect::around(&[(3, 4), (9, 4)]).unwrap().width, 6.0);
    }

    proptest! {
        #[test]
        fn it_holds_every_point(points in proptest::collection::vec((-300i32..300, -300i32..300), 1..60)) {
            let rect = RotatedRect::around(&points).unwrap().grown(0.01);
            for (x, y) in points {
                prop_assert!(rect.contains(Point { x: x as f32, y: y as f32 }), "{rect:?} {x} {y}");
            }
        }
    }
}
