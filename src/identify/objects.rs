//! Object tracks → objects.
//!
//! A thing is known by its label and its place: at one place, things of one label are the ones that are known there
//! until more are seen at once than are known; then there is one more. Of several that it may be, it is the one that was
//! seen last at the nearest spot. A place is where the robot stands; where no poses tell, it is the camera. So a cup that
//! is carried across the kitchen stays `object_1`, and one in another room is another.
//!
//! Colours part what places do not: two whose settled colours are clearly other ones are never one, whatever their place; of
//! several that a thing may be, one of its colour comes first; and the only one of its label and colour, seen within minutes, is
//! known again at another place.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::identified::IdentifiedObject;
use super::pending::PendingObject;
use super::writer::{IdentityRows, IdentityWriter};
use crate::colour::{Colour, Colours};
use crate::geometry::Rect;
use crate::ids::{EntityId, EntityKind, SourceId, TrackId};
use crate::media::Pose;
use crate::memory::model::ObjectTrackRow;
use crate::percept::{ClipPercepts, ObjectTrack, Sighting};
use crate::time::{Span, Timestamp};

/// A pose holds for what is seen up to so long after it, seconds.
pub(super) const POSE_HOLDS_SECS: f64 = 60.0;
/// The robot is at the place where it was when it is this near, metres.
const AT_PLACE_M: f64 = 2.5;
/// It has not moved when it turned and drove by less: boxes can be compared. Metres, radians.
const STILL_M: f64 = 0.2;
const STILL_RAD: f64 = 0.1;
/// A track that was not seen for longer does not go on, seconds.
const FORGOTTEN_SECS: f64 = 900.0;

/// At another place a thing is known again by its colour within so long, seconds.
const REMEMBERED_SECS: f64 = 600.0;
/// Colours that so much has that they tell nothing of where else a thing was seen.
const COMMON: [Colour; 3] = [Colour::Black, Colour::White, Colour::Grey];

/// Where an object was seen last.
#[derive(Clone, Debug, PartialEq)]
struct Known {
    label: Arc<str>,
    source: SourceId,
    last: Sighting,
    /// End of that track's span.
    until: Timestamp,
    pose: Option<Pose>,
    /// What colour it is, as far as that was ever settled.
    colours: Option<Colours>,
}

/// Every object that a detector ever found.
#[derive(Clone, Debug, Default)]
pub(super) struct Objects {
    known: BTreeMap<EntityId, Known>,
    /// The robot's newest pose.
    pose: Option<Pose>,
}

impl Objects {
    pub(super) fn from_rows(rows: &IdentityRows) -> Self {
        let known = rows.objects.iter().filter_map(|(row, pose)| {
            let last = row.sightings.last()?;
            let (label, source) = (row.label.clone(), row.source.clone());
            let (until, pose, colours) = (row.span.end, pose.clone(), row.colours);
            let known = Known { label, source, last, until, pose, colours };
            Some((row.object?, known))
        });
        Self { known: known.collect(), pose: rows.pose.clone() }
    }

    /// Gives every object track of a clip its object, in canonical order, and writes the rows.
    pub(super) fn resolve(
        &mut self,
        clip: &ClipPercepts,
        open: &mut Vec<PendingObject>,
        writer: &mut dyn IdentityWriter,
    ) -> Vec<IdentifiedObject> {
        let mut tracks: Vec<&ObjectTrack> =
            clip.objects.iter().filter(|track| !track.sightings.is_empty()).collect();
        tracks
            .sort_by(|a, b| (a.span.start, &a.source, a.id).cmp(&(b.span.start, &b.source, b.id)));
        let session = clip.clip.session;
        open.retain(|one| {
            let lately = clip.span.start.secs_since(one.last) <= FORGOTTEN_SECS;
            one.session == session && lately && self.known.contains_key(&one.object)
        });
        // Tracks that go on keep their object; the others find one that is free.
        let mut given: BTreeMap<TrackId, EntityId> = BTreeMap::new();
        let mut busy: Vec<(EntityId, Span)> = Vec::new();
        for track in &tracks {
            let goes_on = open.iter().find(|one| one.track == track.id);
            if let Some(one) = goes_on.filter(|one| !self.is_otherwise_coloured(one.object, track))
            {
                given.insert(track.id, one.object);
                busy.push((one.object, track.span));
            }
        }
        let mut found = Vec::new();
        for track in tracks {
            let pose = self.pose_for(clip, track);
            let object = given.get(&track.id).copied().unwrap_or_else(|| {
                let object = self.which(track, pose.as_ref(), &busy);
                let object = object.unwrap_or_else(|| writer.mint(EntityKind::Object));
                busy.push((object, track.span));
                object
            });
            let before = self.known.get(&object).map(|known| known.until);
            self.learn(object, track, pose);
            open.retain(|one| one.track != track.id);
            open.push(PendingObject { session, track: track.id, object, last: track.span.end });
            let colours = self.known.get(&object).and_then(|known| known.colours);
            writer.object_track(row(clip, track, object, colours));
            found.push(IdentifiedObject { track: track.id, object, before });
        }
        let newest = clip.poses.iter().max_by_key(|pose| pose.stamp);
        if let Some(newest) =
            newest.filter(|pose| self.pose.as_ref().is_none_or(|p| p.stamp <= pose.stamp))
        {
            self.pose = Some(newest.clone());
        }
        found
    }

    /// Where the robot was when the track was seen last.
    fn pose_for(&self, clip: &ClipPercepts, track: &ObjectTrack) -> Option<Pose> {
        let at = track.span.end;
        let holds = |pose: &&Pose| {
            pose.stamp <= at && at.secs_since(pose.stamp) <= POSE_HOLDS_SECS && pose.x.is_finite()
        };
        clip.poses.iter().chain(&self.pose).filter(holds).max_by_key(|pose| pose.stamp).cloned()
    }

    fn learn(&mut self, object: EntityId, track: &ObjectTrack, pose: Option<Pose>) {
        let Some(last) = track.sightings.last().copied() else { return };
        let until = track.span.end;
        let before = self.known.get(&object).and_then(|known| known.colours);
        let colours = track.colours.or(before);
        // Of two tracks of one object the one that ended later tells.
        if self.known.get(&object).is_some_and(|known| known.until > until) {
            return;
        }
        let (label, source) = (track.label.clone(), track.source.clone());
        self.known.insert(object, Known { label, source, last, until, pose, colours });
    }

    /// Whether a track shows a thing of clearly another colour.
    fn is_otherwise_coloured(&self, object: EntityId, track: &ObjectTrack) -> bool {
        let known = self.known.get(&object).and_then(|known| known.colours);
        known.zip(track.colours).is_some_and(|(known, seen)| known.differ(seen))
    }

    /// The only known object of that label and colour, where it was seen a short while ago: at whatever place.
    fn by_colour(&self, track: &ObjectTrack) -> Option<EntityId> {
        let colours =
            track.colours.filter(|colours| !COMMON.iter().any(|one| colours.has(*one)))?;
        let alike = |known: &Known| {
            known.label == track.label && known.colours.is_none_or(|known| !known.differ(colours))
        };
        let mut alike = self.known.iter().filter(|(_, known)| alike(known));
        let (id, known) = alike.next().filter(|_| alike.next().is_none())?;
        let lately = track.span.start.secs_since(known.until) <= REMEMBERED_SECS;
        (known.colours == Some(colours) && lately).then_some(*id)
    }

    /// The known object that a new track shows; `None`: one more.
    fn which(
        &self,
        track: &ObjectTrack,
        pose: Option<&Pose>,
        busy: &[(EntityId, Span)],
    ) -> Option<EntityId> {
        let first = track.sightings.first()?;
        let free = |id: &EntityId, known: &Known| {
            let taken = busy.iter().any(|(one, span)| {
                one == id && span.start < track.span.end && track.span.start < span.end
            });
            known.label == track.label && known.until <= track.span.start && !taken
        };
        // Tracks of this clip that are not learned yet are in `busy`, those of earlier ones in `known`.
        let fits = |id: &EntityId, known: &Known| {
            free(id, known) && !self.is_otherwise_coloured(*id, track)
        };
        let candidates = self.known.iter().filter(|(id, known)| fits(id, known));
        let elsewhere = || {
            let id = self.by_colour(track)?;
            self.known.get(&id).is_some_and(|known| fits(&id, known)).then_some(id)
        };
        let is_alike = |known: &Known| known.colours.is_some() && known.colours == track.colours;
        let distances = candidates.filter_map(|(id, known)| {
            let (rank, far) = distance(known, first, &track.source, pose)?;
            Some(((!is_alike(known), rank, far), *id, known.until))
        });
        distances
            .min_by(|a, b| {
                let ((unlike, rank, far), (other_unlike, other_rank, other_far)) = (a.0, b.0);
                unlike
                    .cmp(&other_unlike)
                    .then(rank.cmp(&other_rank))
                    .then(far.total_cmp(&other_far))
                    .then(b.2.cmp(&a.2))
                    .then(a.1.cmp(&b.1))
            })
            .map(|(_, id, _)| id)
            .or_else(elsewhere)
    }
}

/// How far from where an object was seen last: how well that is known (0 best), and the distance on that scale. `None` at
/// another place.
fn distance(
    known: &Known,
    seen: &Sighting,
    source: &SourceId,
    pose: Option<&Pose>,
) -> Option<(u8, f64)> {
    let (still, poses) = match (&known.pose, pose) {
        (Some(then), Some(now)) => {
            let (away, turned) = then.moved(now)?;
            if away > AT_PLACE_M {
                return None;
            }
            (away <= STILL_M && turned <= STILL_RAD, Some((then, now)))
        }
        // Without poses the camera is the place.
        _ if known.source == *source => (true, None),
        _ => return None,
    };
    if still && known.source == *source {
        return Some((0, boxes_apart(known.last.bbox, seen.bbox)));
    }
    let bearings = known.last.bearing.zip(seen.bearing).zip(poses);
    Some(match bearings {
        Some(((then, now), (there, here))) => {
            let around =
                angle(f64::from(then.azimuth) + there.yaw - f64::from(now.azimuth) - here.yaw);
            (1, around.abs())
        }
        None => (2, 0.0),
    })
}

/// Between the centres, in sizes of the larger box.
fn boxes_apart(a: Rect, b: Rect) -> f64 {
    let (here, there) = (a.centre(), b.centre());
    let size = a.w.max(b.w).hypot(a.h.max(b.h)).max(1.0);
    f64::from((here.x - there.x).hypot(here.y - there.y) / size)
}

/// Into -π..π.
fn angle(radians: f64) -> f64 {
    let turn = std::f64::consts::TAU;
    (radians + 0.5 * turn).rem_euclid(turn) - 0.5 * turn
}

fn row(
    clip: &ClipPercepts,
    track: &ObjectTrack,
    object: EntityId,
    colours: Option<Colours>,
) -> ObjectTrackRow {
    let scores: f64 = track.sightings.iter().map(|sighting| f64::from(sighting.score)).sum();
    ObjectTrackRow {
        clip: clip.clip,
        track: track.id,
        source: track.source.clone(),
        span: track.span,
        label: track.label.clone(),
        picture: track.picture,
        sightings: track.sightings.as_slice().into(),
        object: Some(object),
        confidence: (scores / track.sightings.len().max(1) as f64) as f32,
        colours,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::identify::testing::TestWriter;
    use crate::ids::ClipId;
    use crate::ids::SessionId;
    use crate::percept::ClipCounts;

    fn at(secs: f64) -> Timestamp {
        Timestamp::EPOCH.plus_secs(secs)
    }

    fn seen(id: u64, label: &str, from: f64, to: f64, x: f32) -> ObjectTrack {
        let sighting = |secs: f64| Sighting {
            at: at(secs),
            bbox: Rect { x, y: 100.0, w: 40.0, h: 40.0 },
            score: 0.8,
            bearing: None,
        };
        ObjectTrack {
            id: TrackId(id),
            source: SourceId::new("front"),
            span: Span::new(at(from), at(to)),
            label: label.into(),
            picture: (640, 480),
            sightings: vec![sighting(from), sighting(to - 0.2)],
            continued: false,
            colours: None,
        }
    }

    fn clip(session: u32, index: u32, objects: Vec<ObjectTrack>) -> ClipPercepts {
        let start = 30.0 * f64::from(index);
        ClipPercepts {
            bodies: Vec::new(),
            clip: ClipId { session: SessionId(session), index },
            span: Span::new(at(start), at(start + 30.0)),
            tracks: Vec::new(),
            objects,
            texts: Vec::new(),
            turns: Vec::new(),
            mouths: Vec::new(),
            sounds: Vec::new(),
            sound_events: Vec::new(),
            camera_moves: Vec::new(),
            poses: Vec::new(),
            key_frames: Vec::new(),
            counts: ClipCounts::default(),
            looked: Vec::new(),
        }
    }

    /// As [`clip`], with the robot standing there.
    fn standing(mut clip: ClipPercepts, x: f64, y: f64, yaw: f64) -> ClipPercepts {
        let stamp = clip.span.start;
        clip.poses.push(Pose { stamp, x, y, yaw, frame: "map".into() });
        clip
    }

    /// Numbers of the objects, by track; resumed from rows and checkpoint before every clip, which must change nothing.
    fn numbers(clips: &[ClipPercepts]) -> Vec<Vec<(u64, u32)>> {
        let (mut writer, mut objects, mut open) =
            (TestWriter::default(), Objects::default(), Vec::new());
        let mut all = Vec::new();
        for clip in clips {
            if clip.poses.is_empty() {
                objects = Objects::from_rows(&writer.rows());
                let config = bincode::config::standard();
                let bytes = bincode::serde::encode_to_vec(&open, config).unwrap();
                open = bincode::serde::decode_from_slice(&bytes, config).unwrap().0;
            }
            let found = objects.resolve(clip, &mut open, &mut writer);
            all.push(found.iter().map(|one| (one.track.0, one.object.number)).collect());
        }
        all
    }

    #[test]
    fn things_of_one_label_are_the_known_ones_until_more_are_seen_at_once() {
        let numbers = numbers(&[
            clip(
                1,
                0,
                vec![
                    seen(1, "cup", 1.0, 29.0, 100.0),
                    seen(2, "cup", 2.0, 20.0, 400.0),
                    seen(3, "book", 2.0, 9.0, 100.0),
                ],
            ),
            // Track 1 goes on; the other cup comes back elsewhere, a third is seen beside them.
            clip(
                1,
                1,
                vec![
                    seen(1, "cup", 30.0, 50.0, 110.0),
                    seen(4, "cup", 35.0, 59.0, 300.0),
                    seen(5, "cup", 36.0, 40.0, 500.0),
                ],
            ),
            // Another day: the nearest spot tells which of them it is.
            clip(
                2,
                0,
                vec![seen(1, "cup", 5000.0, 5009.0, 480.0), seen(2, "cup", 5001.0, 5009.0, 130.0)],
            ),
        ]);
        assert_eq!(numbers[0], [(1, 1), (2, 2), (3, 3)]);
        assert_eq!(numbers[1], [(1, 1), (4, 2), (5, 4)]);
        assert_eq!(numbers[2], [(1, 4), (2, 1)]);
    }

    #[test]
    fn another_place_has_other_things_and_the_same_place_the_same() {
        let cup = |id: u64, from: f64, x: f32| vec![seen(id, "cup", from, from + 5.0, x)];
        let numbers = numbers(&[
            standing(clip(1, 0, cup(1, 1.0, 100.0)), 0.0, 0.0, 0.0),
            standing(clip(1, 1, cup(2, 31.0, 100.0)), 8.0, 0.0, 0.0),
            standing(clip(1, 2, cup(3, 61.0, 400.0)), 0.5, 0.5, 2.0),
        ]);
        assert_eq!(numbers.concat(), [(1, 1), (2, 2), (3, 1)]);
    }

    fn coloured(colours: &str, mut clip: ClipPercepts) -> ClipPercepts {
        let told = if colours.is_empty() { None } else { Some(colours.parse().unwrap()) };
        for track in &mut clip.objects {
            track.colours = told;
        }
        clip
    }

    #[test]
    fn two_of_clearly_other_colours_are_never_one() {
        let cup = |id: u64, from: f64, x: f32| vec![seen(id, "cup", from, from + 5.0, x)];
        let numbers = numbers(&[
            coloured("red", clip(1, 0, cup(1, 1.0, 100.0))),
            // At the same spot a blue one, then one of which nothing is settled yet, and turns out red.
            coloured("blue", clip(1, 1, cup(2, 31.0, 100.0))),
            coloured("", clip(1, 2, cup(3, 61.0, 110.0))),
            coloured("red", clip(1, 3, cup(3, 90.0, 110.0))),
            // A light makes no other thing of it, and the colour outweighs the spot.
            coloured("orange", clip(1, 4, cup(4, 121.0, 110.0))),
            coloured("blue", clip(1, 5, cup(5, 151.0, 400.0))),
        ]);
        assert_eq!(numbers.concat(), [(1, 1), (2, 2), (3, 2), (3, 1), (4, 1), (5, 2)]);
    }

    #[test]
    fn the_only_one_of_its_colour_is_known_again_elsewhere_for_a_while() {
        let cup = |id: u64, from: f64| vec![seen(id, "cup", from, from + 5.0, 100.0)];
        let kitchen = |clip| standing(clip, 0.0, 0.0, 0.0);
        let hall = |clip| standing(clip, 9.0, 0.0, 0.0);
        let elsewhere = |first: &str, then: &str, clips_later: u32| {
            let from = 30.0 * f64::from(clips_later) + 1.0;
            let numbers = numbers(&[
                kitchen(coloured(first, clip(1, 0, cup(1, 1.0)))),
                hall(coloured(then, clip(1, clips_later, cup(2, from)))),
            ]);
            numbers.concat()[1].1
        };
        assert_eq!(elsewhere("red", "red", 1), 1);
        assert_eq!(elsewhere("red", "red", 30), 2, "too long ago");
        assert_eq!(elsewhere("white", "white", 1), 2, "so many are");
        assert_eq!(elsewhere("", "red", 1), 2, "nothing is known of it");
        assert_eq!(elsewhere("red", "blue", 1), 2);
    }

    #[test]
    fn two_that_are_seen_at_once_are_two_and_ids_come_in_canonical_order() {
        let mut objects = Objects::default();
        let (mut writer, mut open) = (TestWriter::default(), Vec::new());
        let tracks = vec![seen(9, "cup", 3.0, 9.0, 100.0), seen(2, "cup", 1.0, 9.0, 300.0)];
        let found = objects.resolve(&clip(1, 0, tracks), &mut open, &mut writer);
        let told: Vec<_> =
            found.iter().map(|one| (one.track.0, one.object.number, one.before)).collect();
        assert_eq!(told, [(2, 1, None), (9, 2, None)]);
        assert_eq!(writer.objects.len(), 2);
        let row = writer.objects.values().next().unwrap();
        assert!((row.confidence - 0.8).abs() < 1e-6);
    }
}
