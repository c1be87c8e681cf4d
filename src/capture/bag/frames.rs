//! The tree of coordinate frames (REP 105) that TF messages tell, and where the robot stands in it.

use std::collections::BTreeMap;

use crate::media::Pose;
use crate::time::Timestamp;

/// The robot's own frame: the first of these that is in the tree.
const BASES: [&str; 2] = ["base_footprint", "base_link"];
/// Frames that stand still, best first.
const FIXED: [&str; 3] = ["map", "odom", "world"];
/// A chain of more frames than this is a circle.
const MAX_CHAIN: usize = 64;
/// Frames that are kept; more are no robot's.
const MAX_FRAMES: usize = 10_000;

/// One frame in another.
#[derive(Clone, Debug, PartialEq)]
pub struct Transform {
    /// Since when it holds.
    pub stamp: Option<Timestamp>,
    /// The frame that it is told in.
    pub parent: String,
    /// The frame that is told.
    pub child: String,
    /// Metres.
    pub translation: [f64; 3],
    /// Unit quaternion x, y, z, w.
    pub rotation: [f64; 4],
}

/// Every frame's latest place in its parent.
#[derive(Debug, Default)]
pub(super) struct FrameTree {
    by_child: BTreeMap<String, Transform>,
}

impl FrameTree {
    /// Takes a transform; gives the robot's pose when that moved it.
    pub(super) fn take(&mut self, transform: Transform) -> Option<(Option<Timestamp>, Pose)> {
        let (stamp, child) = (transform.stamp, transform.child.clone());
        if self.by_child.len() < MAX_FRAMES || self.by_child.contains_key(&child) {
            self.by_child.insert(child.clone(), transform);
        }
        let base = BASES.into_iter().find(|base| self.by_child.contains_key(*base))?;
        let (pose, moved) = self.pose(base, &child)?;
        moved.then_some((stamp, pose))
    }

    /// The pose of `base` in the best fixed frame above it, and whether `changed` is on the way.
    fn pose(&self, base: &str, changed: &str) -> Option<(Pose, bool)> {
        let (mut position, mut rotation) = ([0.0; 3], [0.0, 0.0, 0.0, 1.0]);
        let (mut at, mut moved) = (base, false);
        // Rank of the frame, and what is known when it is reached.
        let mut best: Option<(usize, [f64; 3], [f64; 4], bool)> = None;
        for _ in 0..MAX_CHAIN {
            let Some(step) = self.by_child.get(at) else { break };
            moved |= at == changed;
            position = turn(step.rotation, position);
            for (value, offset) in position.iter_mut().zip(step.translation) {
                *value += offset;
            }
            rotation = multiply(step.rotation, rotation);
            at = &step.parent;
            if let Some(rank) = FIXED.iter().position(|name| *name == at)
                && best.as_ref().is_none_or(|(held, ..)| rank < *held)
            {
                best = Some((rank, position, rotation, moved));
            }
        }
        let (rank, [x, y, _], rotation, moved) = best?;
        let yaw = yaw(rotation);
        let finite = x.is_finite() && y.is_finite() && yaw.is_finite();
        let frame = FIXED.get(rank)?.to_string();
        finite.then_some((Pose { stamp: Timestamp::EPOCH, x, y, yaw, frame }, moved))
    }
}

/// Rotation about z of a unit quaternion, radians.
pub(super) fn yaw([x, y, z, w]: [f64; 4]) -> f64 {
    (2.0 * (w * z + x * y)).atan2(1.0 - 2.0 * (y * y + z * z))
}

fn multiply([ax, ay, az, aw]: [f64; 4], [bx, by, bz, bw]: [f64; 4]) -> [f64; 4] {
    [
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    ]
}

fn turn(rotation: [f64; 4], [x, y, z]: [f64; 3]) -> [f64; 3] {
    let [qx, qy, qz, qw] = rotation;
    let [x, y, z, _] = multiply(multiply(rotation, [x, y, z, 0.0]), [-qx, -qy, -qz, qw]);
    [x, y, z]
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn transform(parent: &str, child: &str, x: f64, yaw: f64) -> Transform {
        Transform {
            stamp: None,
            parent: parent.to_owned(),
            child: child.to_owned(),
            translation: [x, 0.0, 0.0],
            rotation: [0.0, 0.0, (yaw / 2.0).sin(), (yaw / 2.0).cos()],
        }
    }

    #[test]
    fn the_robot_stands_where_the_chain_of_frames_puts_it() {
        let mut tree = FrameTree::default();
        let quarter = std::f64::consts::FRAC_PI_2;
        assert_eq!(tree.take(transform("map", "odom", 10.0, quarter)), None);
        let (_, pose) = tree.take(transform("odom", "base_link", 2.0, 0.0)).unwrap();
        assert!((pose.x - 10.0).abs() < 1e-12 && (pose.y - 2.0).abs() < 1e-12, "{pose:?}");
        assert_eq!(pose.frame, "map");
        assert!((pose.yaw - quarter).abs() < 1e-12);
        assert_eq!(tree.take(transform("base_link", "camera", 1.0, 0.0)), None, "not the robot");
    }

    #[test]
    fn a_circle_of_frames_ends() {
        let mut tree = FrameTree::default();
        tree.take(transform("base_link", "odom", 1.0, 0.0));
        let round = tree.take(transform("odom", "base_link", 1.0, 0.0));
        assert_eq!(round.map(|(_, pose)| pose.frame), Some("odom".to_owned()));
    }
}
