//! When a followed face was in view.

use crate::percept::FaceTrack;
use crate::time::Timestamp;

/// A face missed by the detector for less than twice this is still visible, seconds.
const GAP_SECS: f64 = 0.6;

/// Whether the track is seen at that time, or just before and just after.
pub(in crate::identify) fn visible_at(track: &FaceTrack, at: Timestamp) -> bool {
    let sightings = &track.sightings;
    let after = sightings.partition_point(|s| s.at < at);
    let near =
        |index: usize| sightings.get(index).is_some_and(|s| s.at.secs_since(at).abs() <= GAP_SECS);
    sightings.get(after).is_some_and(|s| s.at == at) || after > 0 && near(after - 1) && near(after)
}
