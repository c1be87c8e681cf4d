//! Motion of a box between analysed frames: constant velocity, one small Kalman filter per coordinate.

use serde::{Deserialize, Serialize};

use crate::geometry::Rect;

/// Noise of a detected coordinate, in box heights.
const MEASUREMENT: f64 = 0.05;
/// How hard a head accelerates, in box heights per s²; things do less.
const ACCELERATION: f64 = 3.0;
/// What is unseen for longer is expected where it would be by then, seconds.
const HORIZON_SECS: f64 = 0.5;

/// Position and velocity of one coordinate with their covariance.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Axis {
    position: f64,
    velocity: f64,
    covariance: [f64; 3],
}

impl Axis {
    fn at_rest(position: f64, size: f64) -> Self {
        let (p, v) = (MEASUREMENT * size, ACCELERATION * size * 0.5);
        Self { position, velocity: 0.0, covariance: [p * p, 0.0, v * v] }
    }

    fn predict(&mut self, dt: f64, size: f64) {
        let [pp, pv, vv] = self.covariance;
        let q = (ACCELERATION * size).powi(2);
        self.position += self.velocity * dt;
        self.covariance = [
            pp + 2.0 * dt * pv + dt * dt * vv + q * dt.powi(4) / 4.0,
            pv + dt * vv + q * dt.powi(3) / 2.0,
            vv + q * dt * dt,
        ];
    }

    fn correct(&mut self, measured: f64, size: f64) {
        let [pp, pv, vv] = self.covariance;
        let total = pp + (MEASUREMENT * size).powi(2);
        let (gain_p, gain_v) = (pp / total, pv / total);
        let error = measured - self.position;
        self.position += gain_p * error;
        self.velocity += gain_v * error;
        self.covariance = [(1.0 - gain_p) * pp, (1.0 - gain_p) * pv, vv - gain_v * pv];
    }
}

/// Centre, width and height of a box in motion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Motion {
    axes: [Axis; 4],
}

fn measure(bbox: Rect) -> [f64; 4] {
    let centre = bbox.centre();
    [centre.x, centre.y, bbox.w, bbox.h].map(f64::from)
}

fn size_of(bbox: Rect) -> f64 {
    f64::from(bbox.h).max(1.0)
}

impl Motion {
    /// A box seen for the first time, at rest.
    pub(super) fn at_rest(bbox: Rect) -> Self {
        Self { axes: measure(bbox).map(|value| Axis::at_rest(value, size_of(bbox))) }
    }

    /// Where the box should be `dt` seconds after it was last seen.
    pub(super) fn expected(&self, dt: f64) -> Rect {
        let [x, y, w, h] =
            self.axes.map(|axis| axis.position + axis.velocity * dt.clamp(0.0, HORIZON_SECS));
        let (w, h) = (w.max(1.0), h.max(1.0));
        Rect { x: (x - 0.5 * w) as f32, y: (y - 0.5 * h) as f32, w: w as f32, h: h as f32 }
    }

    /// The camera moved: the box is elsewhere in the picture, and goes on as it went.
    pub(super) fn shift(&mut self, x: f32, y: f32) {
        self.axes[0].position += f64::from(x);
        self.axes[1].position += f64::from(y);
    }

    /// The box was seen again, `dt` seconds after the last time.
    pub(super) fn seen(&mut self, bbox: Rect, dt: f64) {
        let size = size_of(bbox);
        for (axis, measured) in self.axes.iter_mut().zip(measure(bbox)) {
            axis.predict(dt, size);
            axis.correct(measured, size);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steady_motion_is_foreseen() {
        let place = |t: f64| Rect { x: (100.0 + 80.0 * t) as f32, y: 50.0, w: 60.0, h: 80.0 };
        let mut motion = Motion::at_rest(place(0.0));
        for step in 1..=10 {
            motion.seen(place(0.2 * f64::from(step)), 0.2);
        }
        let expected = motion.expected(0.2);
        assert!(expected.iou(place(2.2)) > 0.9, "{expected:?}");
    }
}
