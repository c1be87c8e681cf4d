//! Following things: boxes, and what they are called, by the tracker that faces have.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::detect::ONE_BOX;
use crate::colour::ColourVotes;
use crate::config::Objects;
use crate::perceive::track::{
    GatingThresholds, Outline, Part, TrackPayload, Tracker, TrackerSettings,
};
use crate::percept::{Object, ObjectTrack};
use crate::time::Timestamp;

/// A thing that is not found for so long, or in so many looks, is gone; seconds.
const MAX_LOST_SECS: f64 = 2.0;
const MAX_LOST_LOOKS: f64 = 3.0;

/// A label never finds a lost thing again: others are called the same.
const NEVER: f32 = 2.0;

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
            gates: Some(GatingThresholds { same: NEVER, differ: 0.0 }),
        }
    }
}

/// A look names another colour than the one that is settled from so sure on; where it takes so much of the place, the thing is the
/// same in another light, else it is another thing.
const OTHER_COLOUR: f32 = 0.6;
const SAME_PLACE: f32 = 0.5;

/// What the track of a thing knows of it: what it was called and how surely in all, by label, the size of the pictures, and its colour.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ObjectHistory {
    votes: BTreeMap<Arc<str>, f32>,
    picture: (u32, u32),
    colours: ColourVotes,
}

impl ObjectHistory {
    /// Whether the look shows a thing of clearly another colour.
    fn is_otherwise_coloured(&self, object: &Object) -> bool {
        let named = object.colours.filter(|named| named.sure >= OTHER_COLOUR);
        let known = self.colours.settled().zip(named);
        known.is_some_and(|(known, named)| known.differ(named.colours))
    }

    /// What it was called most surely so far.
    fn label(&self) -> Arc<str> {
        let best = self.votes.iter().rev().max_by(|a, b| a.1.total_cmp(b.1));
        best.map_or_else(|| "".into(), |(label, _)| label.clone())
    }
}

impl TrackPayload for ObjectHistory {
    type Detection = Object;
    type Track = ObjectTrack;

    fn outline(object: &Object) -> Outline {
        Outline { bbox: object.bbox, score: object.score, bearing: object.bearing }
    }

    fn is_strong(object: &Object, min_score: f32) -> bool {
        object.score >= object.least.max(min_score)
    }

    fn begin(object: &Object) -> Self {
        Self { votes: BTreeMap::new(), picture: object.picture, colours: ColourVotes::default() }
    }

    fn see(&mut self, _at: Timestamp, object: &Object) {
        self.picture = object.picture;
        self.colours.see(object.colours);
        *self.votes.entry(object.label.clone()).or_default() += object.score;
    }

    /// ByteTrack keeps classes apart; what takes all of its place is it under another name.
    fn admits(&self, object: &Object, iou: f32) -> bool {
        if iou < SAME_PLACE && self.is_otherwise_coloured(object) {
            return false;
        }
        self.votes.contains_key(&object.label) || iou >= ONE_BOX
    }

    /// How much of what it was called so far is that label, 0–1.
    fn likeness(&self, object: &Object) -> Option<f32> {
        let all: f32 = self.votes.values().sum();
        Some(self.votes.get(&object.label).copied().unwrap_or_default() / all.max(f32::EPSILON))
    }

    fn split(&mut self, _border: Timestamp) -> Self {
        self.clone()
    }

    fn convinces(&self) -> bool {
        false
    }

    fn track(self, part: Part, _step_secs: f64) -> ObjectTrack {
        let Part { id, source, span, sightings, continued } = part;
        let (label, picture, colours) = (self.label(), self.picture, self.colours.settled());
        ObjectTrack { id, source, span, label, picture, sightings, continued, colours }
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
            least: 0.0,
            bearing: None,
            picture: (640, 480),
            clothes: None,
            colours: None,
            skeleton: None,
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
    fn one_thing_under_two_names_is_what_it_was_called_more_surely() {
        let mut tracker = tracker();
        for step in 0..9 {
            let label = if step % 3 == 2 { "sports ball" } else { "orange" };
            tracker.follow(at(step), false, &[thing(label, 100.0 + step as f32, 0.6)]);
        }
        // Something else that comes to stand half before it is another thing.
        tracker.follow(at(9), false, &[thing("cup", 130.0, 0.8), thing("orange", 108.0, 0.6)]);
        tracker.follow(at(10), false, &[thing("cup", 130.0, 0.8), thing("orange", 108.0, 0.6)]);
        let tracks = tracker.seal(at(11));
        let told: Vec<(&str, usize)> =
            tracks.iter().map(|track| (track.label.as_ref(), track.sightings.len())).collect();
        assert_eq!(told, [("orange", 11), ("cup", 2)]);
    }

    #[test]
    fn what_is_less_sure_than_its_class_must_be_goes_on_and_never_begins() {
        let mut tracker = tracker();
        let unsure = |score: f32| Object { least: 0.6, ..thing("chair", 100.0, score) };
        for step in 0..3 {
            tracker.follow(at(step), false, &[unsure(0.5)]);
        }
        assert!(tracker.is_empty());
        for step in 3..9 {
            tracker.follow(at(step), false, &[unsure(if step == 3 { 0.7 } else { 0.4 })]);
        }
        let tracks = tracker.seal(at(9));
        assert_eq!((tracks.len(), tracks[0].sightings.len()), (1, 6));
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
