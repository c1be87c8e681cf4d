//! Poses that are worth a row: where the robot went and how long it stayed, not every time that it said so.
//!
//! Robots tell where they are ten times a second and more; standing at its dock for a day, one would fill the store with the
//! same point. Of a stay the first pose is kept, one every [`EVERY_SECS`], and the last one before it moves on; of a way a
//! pose wherever it has moved or turned by [`STANDS_WITHIN`]. Which are kept hangs on the poses of the session alone.

use std::collections::BTreeMap;

use crate::media::Pose;

/// So often a stay is told, seconds. (A pose holds for a minute.)
pub(super) const EVERY_SECS: f64 = 10.0;
/// After so long at one point it has stayed, seconds.
const STAYED_SECS: f64 = 1.0;
/// Moved and turned by no more, it stands. Metres, radians.
pub(super) const STANDS_WITHIN: (f64, f64) = (0.1, 0.09);

/// Whether the robot stands where it stood.
pub(super) fn stands(before: &Pose, now: &Pose) -> bool {
    let Some((away, turned)) = before.moved(now) else { return false };
    let is_lost = |pose: &Pose| !(pose.x.is_finite() && pose.y.is_finite());
    if is_lost(before) || is_lost(now) {
        return is_lost(before) == is_lost(now);
    }
    away <= STANDS_WITHIN.0 && (turned <= STANDS_WITHIN.1 || turned.is_nan())
}

/// Those of a clip's poses (in time order) that are kept; `before`: the session's that were kept last, in time order.
pub(crate) fn kept<'a>(poses: &'a [Pose], before: impl Iterator<Item = &'a Pose>) -> Vec<&'a Pose> {
    // By frame: the last one that was kept, and the last one that was not.
    let mut last: BTreeMap<&str, (&Pose, Option<&Pose>)> =
        before.map(|pose| (pose.frame.as_str(), (pose, None))).collect();
    let mut kept: Vec<&Pose> = Vec::new();
    for pose in poses {
        let known = last.get(pose.frame.as_str()).copied();
        let Some((newest, passed)) = known else {
            kept.push(pose);
            last.insert(&pose.frame, (pose, None));
            continue;
        };
        let moved = !stands(newest, pose);
        if !moved && pose.stamp.secs_since(newest.stamp) < EVERY_SECS {
            last.insert(&pose.frame, (newest, Some(pose)));
            continue;
        }
        let stayed = |end: &&Pose| end.stamp.secs_since(newest.stamp) >= STAYED_SECS;
        kept.extend(passed.filter(|_| moved).filter(stayed));
        kept.push(pose);
        last.insert(&pose.frame, (pose, None));
    }
    kept.sort_by_key(|pose| pose.stamp);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Timestamp;

    fn pose(secs: f64, x: f64, yaw: f64) -> Pose {
        let stamp = Timestamp::EPOCH.plus_secs(secs);
        Pose { stamp, x, y: 0.0, yaw, frame: "map".to_owned() }
    }

    fn times(kept: &[&Pose]) -> Vec<f64> {
        let tenths = |pose: &&Pose| (10.0 * pose.stamp.secs_since(Timestamp::EPOCH)).round() / 10.0;
        kept.iter().map(tenths).collect()
    }

    #[test]
    fn a_stay_is_a_stay_and_its_end_is_told() {
        // It stands for 25 s with the noise of odometry, then drives off at 0.5 m/s, ten poses a second.
        let noise = |n: u32| if n.is_multiple_of(2) { 0.01 } else { -0.01 };
        let poses: Vec<Pose> = (0..300_u32)
            .map(|n| {
                pose(f64::from(n) / 10.0, noise(n) + f64::from(n.saturating_sub(250)) * 0.05, 0.0)
            })
            .collect();
        let found = times(&kept(&poses, std::iter::empty()));
        assert_eq!(found[..3], [0.0, 10.0, 20.0]);
        assert!((24.8..=25.2).contains(&found[3]), "the end of the stay: {found:?}");
        let way = &found[4..];
        assert!((15..=26).contains(&way.len()), "a pose for every tenth of a metre: {found:?}");
        // What came before in the session counts on.
        let before = &poses[..1];
        assert_eq!(times(&kept(&poses[1..], before.iter())), found[1..]);
    }

    #[test]
    fn turning_is_moving_and_who_is_lost_stays_lost() {
        let turns = [pose(0.0, 0.0, 0.0), pose(0.1, 0.0, 6.25), pose(0.2, 0.0, 0.2)];
        assert_eq!(
            times(&kept(&turns, std::iter::empty())),
            [0.0, 0.2],
            "6.25 is nearly a whole turn"
        );
        let lost: Vec<Pose> =
            (0..50).map(|n| pose(f64::from(n) / 10.0, f64::NAN, f64::NAN)).collect();
        assert_eq!(times(&kept(&lost, std::iter::empty())), [0.0]);
        let mut other = lost.clone();
        other[30] = pose(3.0, 1.0, 0.0);
        assert_eq!(times(&kept(&other, std::iter::empty())), [0.0, 2.9, 3.0, 3.1]);
        // Two frames are two ways.
        let mut odom = pose(0.05, 0.0, 0.0);
        odom.frame = "odom".to_owned();
        let both = [pose(0.0, 0.0, 0.0), odom, pose(0.1, 0.0, 0.0)];
        assert_eq!(times(&kept(&both, std::iter::empty())).len(), 2);
    }
}
