//! Following things: boxes of one label, by the tracker that faces have.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::config::Objects;
use crate::perceive::track::{Outline, Part, TrackPayload, Tracker, TrackerSettings};
use crate::percept::{Object, ObjectTrack};
use crate::time::Timestamp;

/// A thing that is not found for so long, or in so many looks, is gone; seconds.
const MAX_LOST_SECS: f64 = 2.0;
const MAX_LOST_LOOKS: f64 = 3.0;

/// Follows the things of one camera. Its state goes into checkpoints.
pub type ObjectTracker = Tracker<ObjectHistory>;

impl TrackerSettings {
    /// From the configuration and the analysed frames per second.
    #[must_use]
    pub fn of_objects(settings: &Objects, analyse_fps: f64) -> Self {
        let step_secs = settings.every.max(1) as f64 / analyse_fps.max(0.1);
        Self {
            min_score: settings.min_score,
            max_lost_secs: MAX_LOST_SECS.max(MAX_LOST_LOOKS * step_secs),
            step_secs,
            coast_secs: 0.0,
            gates: None,
        }
    }
}

/// What the track of a thing knows of it: its label, which it keeps, and the size of the pictures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ObjectHistory {
    label: Arc<str>,
    picture: (u32, u32),
}

impl TrackPayload for ObjectHistory {
    type Detection = Object;
    type Track = ObjectTrack;

    fn outline(object: &Object) -> Outline {
        Outline { bbox: object.bbox, score: object.score, bearing: object.bearing }
    }

    fn begin(object: &Object) -> Self {
        Self { label: object.label.clone(), picture: object.picture }
    }

    fn see(&mut self, _at: Timestamp, object: &Object) {
        self.picture = object.picture;
    }

    /// ByteTrack keeps classes apart.
    fn admits(&self, object: &Object) -> bool {
        self.label == object.label
    }

    fn likeness(&self, _object: &Object) -> Option<f32> {
        None
    }

    fn split(&mut self, _border: Timestamp) -> Self {
        self.clone()
    }

    fn convinces(&self) -> bool {
        false
    }

    fn track(self, part: Part, _step_secs: f64) -> ObjectTrack {
        let Part { id, source, span, sightings, continued } = part;
        let Self { label, picture } = self;
        ObjectTrack { id, source, span, label, picture, sightings, continued }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::geometry::Rect;
    use crate::ids::{SourceId, TrackId};

    fn tracker() -> ObjectTracker {
        let settings = Objects { every: 1, ..Objects::default() };
        ObjectTracker::new(SourceId::new("front"), TrackerSettings::of_objects(&settings, 5.0))
    }

    fn at(step: i64) -> Timestamp {
        Timestamp::from_nanos(step * 200_000_000)
    }

    fn thing(label: &str, x: f32, score: f32) -> Object {
        let bbox = Rect { x, y: 100.0, w: 60.0, h: 40.0 };
        Object {
            bbox,
            label: label.into(),
            score,
            bearing: None,
            picture: (640, 480),
            clothes: None,
        }
    }

    #[test]
    fn labels_are_followed_apart_and_weak_sightings_go_on() {
        let mut tracker = tracker();
        for step in 0..10 {
            // A cup before a book, at the same place; the cup is hard to see now and then.
            let cup =
                thing("cup", 100.0 + 4.0 * step as f32, if step % 3 == 1 { 0.3 } else { 0.8 });
            tracker.follow(at(step), false, &[thing("book", 104.0, 0.9), cup]);
        }
        tracker.follow(at(10), false, &[thing("cat", 400.0, 0.9)]);
        let tracks = tracker.seal(at(11));
        let told: Vec<(&str, usize)> =
            tracks.iter().map(|track| (track.label.as_ref(), track.sightings.len())).collect();
        assert_eq!(told, [("book", 10), ("cup", 10)], "a cat seen once is a false alarm");
        assert_eq!(tracks[0].span.start, at(0));
    }

    #[test]
    fn a_border_cuts_a_track_and_a_scene_cut_ends_it() {
        let mut tracker = tracker();
        for step in 0..6 {
            tracker.follow(at(step), false, &[thing("cup", 100.0, 0.8)]);
        }
        let first = tracker.seal(at(3));
        let config = bincode::config::standard();
        let bytes = bincode::serde::encode_to_vec(&tracker, config).unwrap();
        let mut tracker: ObjectTracker =
            bincode::serde::decode_from_slice(&bytes, config).unwrap().0;
        tracker.cut();
        for step in 6..9 {
            tracker.follow(at(step), false, &[thing("cup", 100.0, 0.8)]);
        }
        let second = tracker.seal(at(9));
        let told = |tracks: &[ObjectTrack]| -> Vec<(TrackId, bool, usize)> {
            tracks.iter().map(|t| (t.id, t.continued, t.sightings.len())).collect()
        };
        assert_eq!(told(&first), [(TrackId(1), false, 3)]);
        assert_eq!(told(&second), [(TrackId(1), true, 3), (TrackId(2), false, 3)]);
    }
}
