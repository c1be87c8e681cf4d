//! The tree of coordinate frames (REP 105) that TF messages tell, and where the robot stands in it.

use std::collections::BTreeMap;

use crate::config::{BASE_FRAMES, FIXED_FRAMES};
use crate::media::Pose;
use crate::time::Timestamp;

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

/// What the frames are called between which the robot's pose is told: by the last part of their names, so that
/// `robot1/base_link` is a `base_link`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameNames {
    /// The robot's own, best first.
    pub bases: Vec<String>,
    /// Those that stand still, best first.
    pub fixed: Vec<String>,
}

impl Default for FrameNames {
    /// Those that the configuration has by default.
    fn default() -> Self {
        let owned = |names: [&str; 4]| names.map(str::to_owned).to_vec();
        Self { bases: owned(BASE_FRAMES), fixed: owned(FIXED_FRAMES) }
    }
}

/// What stands before the last part of a frame's name; empty where there is but one part.
fn namespace(frame: &str) -> &str {
    frame.rsplit_once('/').map_or("", |(namespace, _)| namespace)
}

/// How deep a frame's name is nested.
fn depth(frame: &str) -> usize {
    frame.matches('/').count()
}

/// Which of the names the frame has, by its last part.
fn rank(names: &[String], frame: &str) -> Option<usize> {
    let last = frame.rsplit('/').next().unwrap_or_default();
    names.iter().position(|name| *name == last || *name == frame)
}

/// Every frame's latest place in its parent.
#[derive(Debug, Default)]
pub(in crate::capture::bag) struct FrameTree {
    names: FrameNames,
    by_child: BTreeMap<String, Transform>,
    /// The robot's own frame, of those that were told so far, and its place among their names.
    base: Option<(usize, String)>,
}

impl FrameTree {
    /// A tree in which the frames are called so.
    pub(in crate::capture::bag) fn new(names: FrameNames) -> Self {
        Self { names, ..Self::default() }
    }

    /// Looks whether a frame that is new in the tree is the robot's: of several robots' it is the one that is nested the
    /// least, else was told first; of one robot's the one with the better name.
    fn meet(&mut self, frame: &str) {
        let Some(rank) = rank(&self.names.bases, frame) else { return };
        let is_better = self.base.as_ref().is_none_or(|(held, base)| {
            depth(frame) < depth(base) || (namespace(frame) == namespace(base) && rank < *held)
        });
        if is_better {
            self.base = Some((rank, frame.to_owned()));
        }
    }

    /// Takes a transform; gives the robot's pose when that moved it.
    pub(in crate::capture::bag) fn take(
        &mut self,
        transform: Transform,
    ) -> Option<(Option<Timestamp>, Pose)> {
        let (stamp, child) = (transform.stamp, transform.child.clone());
        if self.by_child.contains_key(&child) {
            self.by_child.insert(child.clone(), transform);
        } else if self.by_child.len() < MAX_FRAMES {
            self.meet(&child);
            self.by_child.insert(child.clone(), transform);
        }
        let (_, base) = self.base.as_ref()?;
        let (pose, moved) = self.pose(base, &child)?;
        moved.then_some((stamp, pose))
    }

    /// The pose of `base` in the best fixed frame above it, and whether `changed` is on the way.
    fn pose(&self, base: &str, changed: &str) -> Option<(Pose, bool)> {
        let (mut position, mut rotation) = ([0.0; 3], [0.0, 0.0, 0.0, 1.0]);
        let (mut at, mut moved) = (base, false);
        // Rank and depth of the frame, and what is known when it is reached.
        let mut best: Option<((usize, usize), Pose, bool)> = None;
        for _ in 0..MAX_CHAIN {
            let Some(step) = self.by_child.get(at) else { break };
            moved |= at == changed;
            position = turn(step.rotation, position);
            for (value, offset) in position.iter_mut().zip(step.translation) {
                *value += offset;
            }
            rotation = multiply(step.rotation, rotation);
            at = &step.parent;
            let place = rank(&self.names.fixed, at).map(|rank| (rank, depth(at)));
            if let Some(place) = place
                && best.as_ref().is_none_or(|(held, ..)| place < *held)
            {
                let ([x, y, _], yaw, frame) = (position, yaw(rotation), at.to_owned());
                best = Some((place, Pose { stamp: Timestamp::EPOCH, x, y, yaw, frame }, moved));
            }
        }
        let (_, pose, moved) = best?;
        let finite = pose.x.is_finite() && pose.y.is_finite() && pose.yaw.is_finite();
        finite.then_some((pose, moved))
    }
}

/// Rotation about z of a unit quaternion, radians.
pub(in crate::capture::bag) fn yaw([x, y, z, w]: [f64; 4]) -> f64 {
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
    fn frames_are_known_by_the_last_part_of_their_names() {
        let mut tree = FrameTree::default();
        // A part of the robot that has a base of its own comes first; another robot, later.
        tree.take(transform("robot1/arm_mount", "robot1/arm/base_link", 0.5, 0.0));
        let (_, pose) = tree.take(transform("robot1/odom", "robot1/base_link", 2.0, 0.0)).unwrap();
        assert_eq!((pose.x, pose.frame.as_str()), (2.0, "robot1/odom"));
        assert_eq!(tree.take(transform("robot2/odom", "robot2/base_footprint", 7.0, 0.0)), None);
        let (_, pose) = tree.take(transform("map", "robot1/odom", 10.0, 0.0)).unwrap();
        assert_eq!((pose.x, pose.frame.as_str()), (12.0, "map"));
        // The same robot says better what it means.
        tree.take(transform("robot1/odom", "robot1/base_footprint", 3.0, 0.0));
        let (_, pose) = tree.take(transform("map", "robot1/odom", 10.0, 0.0)).unwrap();
        assert_eq!(pose.x, 13.0);
    }

    #[test]
    fn a_robot_may_call_its_frames_otherwise() {
        let mut tree = FrameTree::default();
        let (_, pose) = tree.take(transform("vision", "body", 2.0, 0.0)).unwrap();
        assert_eq!((pose.x, pose.frame.as_str()), (2.0, "vision"));
        let names = |name: &str| vec![name.to_owned()];
        let own = FrameNames { bases: names("torso"), fixed: names("hall") };
        let mut tree = FrameTree::new(own);
        assert_eq!(tree.take(transform("map", "base_link", 1.0, 0.0)), None);
        let (_, pose) = tree.take(transform("hall", "torso", 4.0, 0.0)).unwrap();
        assert_eq!((pose.x, pose.frame.as_str()), (4.0, "hall"));
    }

    #[test]
    fn a_circle_of_frames_ends() {
        let mut tree = FrameTree::default();
        tree.take(transform("base_link", "odom", 1.0, 0.0));
        let round = tree.take(transform("odom", "base_link", 1.0, 0.0));
        assert_eq!(round.map(|(_, pose)| pose.frame), Some("odom".to_owned()));
    }
}
