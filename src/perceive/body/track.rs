//! Following bodies, and where two come so close that they could be exchanged.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::colour::ColourVotes;
use crate::config::Objects;
use crate::geometry::Rect;
use crate::ids::{SourceId, TrackId};
use crate::perceive::action::ActionHistory;
use crate::perceive::camera_motion::CameraShift;
use crate::perceive::track::{
    GatingThresholds, OpenTrack, Outline, Part, TrackPayload, Tracker, TrackerSettings,
};
use crate::percept::{Action, BodyTrack, Clothes, Object};
use crate::time::{Span, Timestamp};

/// A body that is not found for so long is gone; whoever comes then is somebody new. Seconds.
const MAX_LOST_SECS: f64 = 1.0;
/// Bodies of which one covers so much of the other could be exchanged: share of the smaller box.
const CONTACT: f32 = 0.3;
/// Less alike than this from one frame to the next no clothes were (5 frames a second: at least 0.73 in 900 pairs of one
/// person, 0.51 in the least alike twentieth of two people's).
const OTHER_CLOTHES: f32 = 0.5;
/// Clothes never find a lost body again: others wear the same.
const NEVER: f32 = 2.0;
/// What the newest look counts in what is known of the clothes.
const NEWEST: f32 = 0.3;

impl TrackerSettings {
    /// From the configuration and the analysed frames per second.
    #[must_use]
    pub fn of_bodies(settings: &Objects, analyse_fps: f64) -> Self {
        let step_secs = 1.0 / analyse_fps.max(0.1);
        let looks_secs = settings.every.max(1) as f64 * step_secs;
        Self {
            min_score: settings.min_body_score,
            max_lost_secs: MAX_LOST_SECS.max(1.5 * looks_secs),
            step_secs,
            coast_secs: 1.5 * looks_secs,
            gates: Some(GatingThresholds { same: NEVER, differ: OTHER_CLOTHES }),
        }
    }
}

/// What the track of a body knows of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BodyHistory {
    clothes: Option<Clothes>,
    /// See [`BodyTrack::crowded`].
    crowded: bool,
    colours: ColourVotes,
    /// What it does.
    does: ActionHistory,
    /// What it did in the clip that is given out.
    did: Vec<Action>,
}

impl BodyHistory {
    /// When it fell, where it lies since.
    #[must_use]
    pub fn fell(&self) -> Option<Timestamp> {
        self.does.fell()
    }
}

impl TrackPayload for BodyHistory {
    type Detection = Object;
    type Track = BodyTrack;

    fn outline(object: &Object) -> Outline {
        Outline { bbox: object.bbox, score: object.score, bearing: object.bearing }
    }

    fn begin(object: &Object) -> Self {
        Self {
            clothes: object.clothes.clone(),
            crowded: false,
            colours: ColourVotes::default(),
            does: ActionHistory::default(),
            did: Vec::new(),
        }
    }

    fn see(&mut self, at: Timestamp, object: &Object) {
        // Of a crowd the box shows another's clothes, too, and another's joints.
        if self.crowded {
            return;
        }
        self.colours.see(object.colours);
        self.does.see(at, object);
        let Some(new) = object.clothes.as_ref() else { return };
        match &mut self.clothes {
            Some(known) => {
                for (known, new) in known.0.iter_mut().zip(&new.0) {
                    *known += (new - *known) * NEWEST;
                }
            }
            none => *none = Some(new.clone()),
        }
    }

    fn admits(&self, _object: &Object, _iou: f32) -> bool {
        true
    }

    fn likeness(&self, object: &Object) -> Option<f32> {
        Some(self.clothes.as_ref()?.likeness(object.clothes.as_ref()?))
    }

    fn goes_on_as(&self, at: Timestamp, object: &Object) -> bool {
        self.does.may_have_fallen(at, object)
    }

    fn shift(&mut self, x: f32, y: f32) {
        self.does.shift(x, y);
    }

    fn split(&mut self, border: Timestamp) -> Self {
        let did = self.does.split(border);
        Self { did, ..self.clone() }
    }

    fn convinces(&self) -> bool {
        false
    }

    fn track(self, part: Part, step_secs: f64) -> BodyTrack {
        let Part { id, source, span, sightings, continued } = part;
        let lasts = |action: Action| {
            let end = action.span.end.plus_secs(step_secs).min(span.end);
            let span = Span::new(action.span.start, end.max(action.span.end));
            Action { span, ..action }
        };
        let actions = self.did.into_iter().map(lasts).collect();
        let (crowded, colours) = (self.crowded, self.colours.settled());
        BodyTrack { id, source, span, sightings, continued, crowded, colours, actions }
    }
}

/// Follows the bodies of one camera. Its state goes into checkpoints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BodyTracker {
    tracker: Tracker<BodyHistory>,
    /// Where each body was in the frame before.
    before: Vec<(TrackId, Rect)>,
    /// Those that are close to another.
    crowded: BTreeSet<TrackId>,
}

impl BodyTracker {
    /// One that has seen nothing.
    #[must_use]
    pub fn new(source: SourceId, settings: TrackerSettings) -> Self {
        let tracker = Tracker::new(source, settings);
        Self { tracker, before: Vec::new(), crowded: BTreeSet::new() }
    }

    /// Takes the people in the next frame that was looked at, in time order; `cut`: it shows another scene.
    pub fn follow(&mut self, at: Timestamp, cut: bool, people: &[&Object]) {
        if cut {
            // Clothes are no reason to go on in another scene.
            self.end_all();
        }
        self.tracker.follow(at, cut, people.iter().copied());
        self.lose_hidden(at);
        self.part_from_each_other(at);
    }

    /// The camera moved since the frame before: everybody is expected elsewhere.
    pub fn shift(&mut self, shift: CameraShift) {
        self.tracker.shift(shift);
    }

    /// Takes the next analysed frame, in which nobody looked.
    pub fn coast(&mut self, at: Timestamp, cut: bool) {
        if cut {
            self.end_all();
        }
        self.tracker.coast(at, cut);
        self.before = self.tracker.places_at(at);
    }

    /// Whether everybody is known for a while, stands still and holds the hands still; so is an empty scene.
    #[must_use]
    pub fn steady(&self, at: Timestamp) -> bool {
        self.tracker.steady(at) && !self.tracker.followed().any(|body| body.does.is_busy())
    }

    /// Whether somebody who is followed lies, or may lie since a moment ago.
    #[must_use]
    pub fn may_lie(&self, at: Timestamp) -> bool {
        self.tracker.open().iter().any(|body| body.followed.does.may_lie(at, body.last))
    }

    /// Whether nobody is followed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tracker.is_empty()
    }

    /// The tracks that were in the frame of `at`, the last one taken, and where.
    #[must_use]
    pub fn seen_at(&self, at: Timestamp) -> Vec<(TrackId, Rect)> {
        self.tracker.seen_at(at)
    }

    /// Those that are followed and are not so close to others that they could be exchanged.
    #[must_use]
    pub fn open(&self) -> Vec<OpenTrack<'_, BodyHistory>> {
        let mut open = self.tracker.open();
        open.retain(|track| !self.crowded.contains(&track.id));
        open
    }

    /// The tracks of the clip that ends at `border`.
    pub fn seal(&mut self, border: Timestamp) -> Vec<BodyTrack> {
        self.tracker.seal(border)
    }

    fn end_all(&mut self) {
        self.tracker.end_all();
        self.before.clear();
        self.crowded.clear();
    }

    /// Ends the tracks of those who were close to another and are not found any more: hidden behind him, and whoever comes out
    /// on either side may be either of them.
    fn lose_hidden(&mut self, at: Timestamp) {
        let seen = self.tracker.seen_at(at);
        let is_seen = |id: &TrackId| seen.iter().any(|(seen, _)| seen == id);
        let hidden: Vec<TrackId> = self.crowded.iter().copied().filter(|id| !is_seen(id)).collect();
        for id in hidden {
            self.tracker.end(id);
            self.crowded.remove(&id);
        }
    }

    /// Ends the tracks of those who have come close to each other, or have gone apart, and begins others in their place:
    /// which of them is which is not known any more. Out of sight counts as near where somebody else now stands.
    fn part_from_each_other(&mut self, at: Timestamp) {
        let now = self.tracker.places_at(at);
        let mut close = BTreeSet::new();
        let mut passed = BTreeSet::new();
        for (number, (one, here)) in now.iter().enumerate() {
            for (other, there) in &now[number + 1..] {
                if overlap(*here, *there) > CONTACT {
                    close.extend([*one, *other]);
                } else if self.passed((*one, *here), (*other, *there)) {
                    passed.extend([*one, *other]);
                }
            }
        }
        let changed =
            |id: &TrackId| close.contains(id) != self.crowded.contains(id) || passed.contains(id);
        let changed: Vec<TrackId> = now.iter().map(|(id, _)| *id).filter(changed).collect();
        for id in changed {
            let is_close = close.remove(&id);
            if let Some(new) = self.tracker.renew(id, at, |history| {
                (history.crowded, history.does) = (is_close, ActionHistory::default());
            }) && is_close
            {
                close.insert(new);
            }
        }
        self.crowded = close;
        self.before = self.tracker.places_at(at);
    }

    /// Whether two have gone past each other since the frame before: the left one is the right one now, and they are of
    /// one height in the picture.
    fn passed(&self, one: (TrackId, Rect), other: (TrackId, Rect)) -> bool {
        let was = |id: TrackId| {
            self.before.iter().find(|(before, _)| *before == id).map(|(_, bbox)| *bbox)
        };
        let (Some(one_was), Some(other_was)) = (was(one.0), was(other.0)) else { return false };
        let side = |a: Rect, b: Rect| a.centre().x - b.centre().x;
        let crossed = side(one_was, other_was) * side(one.1, other.1) < 0.0;
        let near = side(one_was, other_was).abs() < one_was.w + other_was.w;
        let level = one.1.y < other.1.bottom() && other.1.y < one.1.bottom();
        crossed && near && level
    }
}

/// How much of the smaller box the other covers, 0–1.
fn overlap(a: Rect, b: Rect) -> f32 {
    let wide = a.right().min(b.right()) - a.x.max(b.x);
    let high = a.bottom().min(b.bottom()) - a.y.max(b.y);
    let least = a.area().min(b.area());
    if wide <= 0.0 || high <= 0.0 || least <= 0.0 { 0.0 } else { wide * high / least }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::percept::Sighting;

    fn tracker() -> BodyTracker {
        let settings = Objects { every: 5, ..Objects::default() };
        BodyTracker::new(SourceId::new("hall"), TrackerSettings::of_bodies(&settings, 5.0))
    }

    fn at(step: i64) -> Timestamp {
        Timestamp::from_nanos(step * 200_000_000)
    }

    fn person(x: f32) -> Object {
        let bbox = Rect { x, y: 100.0, w: 60.0, h: 160.0 };
        let clothes = Some(Clothes(vec![1.0]));
        let label = "person".into();
        let (picture, colours, skeleton) = ((640, 480), None, None);
        Object {
            bbox,
            label,
            score: 0.8,
            least: 0.0,
            bearing: None,
            picture,
            clothes,
            colours,
            skeleton,
        }
    }

    fn follow(tracker: &mut BodyTracker, step: i64, places: &[f32]) {
        let people: Vec<Object> = places.iter().map(|x| person(*x)).collect();
        tracker.follow(at(step), false, &people.iter().collect::<Vec<_>>());
    }

    #[test]
    fn who_walks_is_one_track_and_who_stands_is_not_looked_at_all_the_time() {
        let mut tracker = tracker();
        for step in 0..10 {
            follow(&mut tracker, step, &[100.0 + 15.0 * step as f32]);
        }
        assert!(!tracker.is_empty());
        for step in 10..14 {
            follow(&mut tracker, step, &[235.0]);
        }
        assert!(tracker.steady(at(13)));
        for step in 14..17 {
            tracker.coast(at(step), false);
        }
        follow(&mut tracker, 17, &[235.0]);
        let tracks = tracker.seal(at(18));
        assert_eq!(tracks.len(), 1);
        assert_eq!((tracks[0].sightings.len(), tracks[0].crowded), (18, false));
    }

    #[test]
    fn two_who_cross_are_nobodys_continuation() {
        let mut tracker = tracker();
        for step in 0..30 {
            let x = 14.0 * step as f32;
            follow(&mut tracker, step, &[100.0 + x, 506.0 - x]);
        }
        let tracks = tracker.seal(at(30));
        let before = tracks.iter().filter(|track| track.span.start == at(0)).count();
        let after = tracks.iter().filter(|track| track.span.end == at(30)).count();
        assert_eq!((before, after), (2, 2));
        let both = |track: &&BodyTrack| track.span.start == at(0) && track.span.end == at(30);
        assert_eq!(tracks.iter().filter(both).count(), 0);
        // While they are close nobody's face is one body's alone.
        assert!(tracks.iter().any(|track| track.crowded));
        for track in tracks.iter().filter(|track| track.span.end == at(30)) {
            assert!(!track.crowded && !track.continued);
        }
    }

    #[test]
    fn who_was_hidden_behind_another_comes_out_as_somebody_new() {
        let mut tracker = tracker();
        for step in 0..30 {
            // The one behind is not found while the other covers him.
            let x = 14.0 * step as f32;
            let (behind, before) = (100.0 + x, 506.0 - x);
            let hidden = (behind - before).abs() < 35.0;
            let places = if hidden { vec![before] } else { vec![behind, before] };
            follow(&mut tracker, step, &places);
        }
        let tracks = tracker.seal(at(30));
        for track in &tracks {
            let goes_right = |pair: &[Sighting]| pair[1].bbox.x > pair[0].bbox.x + 1.0;
            let goes_left = |pair: &[Sighting]| pair[1].bbox.x < pair[0].bbox.x - 1.0;
            let ways = track.sightings.windows(2);
            let (right, left) = (ways.clone().any(goes_right), ways.clone().any(goes_left));
            assert!(!(right && left), "{track:?} is one and then the other");
        }
        assert!(tracks.iter().filter(|track| track.span.end == at(30)).count() == 2);
    }

    #[test]
    fn who_passes_another_without_touching_begins_anew_too() {
        let mut tracker = tracker();
        for step in 0..20 {
            let x = 20.0 * step as f32;
            let nearer =
                Object { bbox: Rect { x: 480.0 - x, y: 230.0, w: 60.0, h: 160.0 }, ..person(0.0) };
            tracker.follow(at(step), false, &[&person(100.0 + x), &nearer]);
        }
        let tracks = tracker.seal(at(20));
        assert_eq!(tracks.len(), 4);
        assert!(tracks.iter().all(|track| !track.crowded && track.sightings.len() < 20));
    }
}
