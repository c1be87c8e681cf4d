//! Body tracks → whose they are.
//!
//! A face that is seen in the upper part of one body alone, and no other face there, is that person's: by geometry, at the
//! same instant. The body is his as long as its track goes on, before and after the face was seen. Where bodies are crowded, or
//! where two persons' faces were seen on one body, it is nobody's. A body without a face is somebody and stays so: it
//! never makes a person.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::identified::IdentifiedTrack;
use super::resolver::Resolver;
use super::writer::IdentityWriter;
use crate::geometry::Rect;
use crate::ids::{ClipId, EntityId, SessionId, TrackId};
use crate::memory::model::TrackRow;
use crate::percept::{BodyTrack, ClipPercepts, FaceTrack, Liveness};
use crate::time::Timestamp;

/// A face is in a body's upper part, and at most a little above it: shares of the body's height.
const UPPER: f32 = 0.5;
const ABOVE: f32 = 0.1;
/// Instants at which a face must be a body's alone.
const INSTANTS: usize = 2;
/// A body that was not seen for longer does not go on, seconds.
const FORGOTTEN_SECS: f64 = 60.0;
/// How sure the geometry is.
const CONFIDENCE: f32 = 0.9;
/// Clips of a body without a face that are kept at most.
const MOST_CLIPS: usize = 64;

/// A body that may go on in a later clip.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct PendingBody {
    session: SessionId,
    track: TrackId,
    /// Whose it is.
    face: Option<EntityId>,
    /// Two persons' faces were seen on it: it is nobody's any more.
    contradicted: bool,
    /// Face tracks that are its, of whom nobody knows yet whose they are.
    undecided: BTreeSet<TrackId>,
    /// Clips in which it is nobody's yet.
    clips: Vec<ClipId>,
    last: Timestamp,
}

impl Resolver {
    /// Gives the clip's bodies to the persons whose faces are on them, and writes the rows; `face_of`: whose face each track of
    /// the clip is.
    pub(super) fn give_bodies(
        &mut self,
        clip: &ClipPercepts,
        faces: &[&FaceTrack],
        face_of: &BTreeMap<TrackId, EntityId>,
        writer: &mut dyn IdentityWriter,
    ) -> Vec<IdentifiedTrack> {
        let session = clip.clip.session;
        let mut open = std::mem::take(&mut self.undecided.bodies);
        open.retain(|body| {
            let lately = clip.span.start.secs_since(body.last) <= FORGOTTEN_SECS;
            // (A face that was erased is nobody's.)
            let known = body.face.is_none_or(|face| self.persons.person_of(face).is_some());
            body.session == session && known && (lately || !body.undecided.is_empty())
        });
        let mut bodies: Vec<&BodyTrack> = clip.bodies.iter().collect();
        bodies.sort_by_key(|body| (body.span.start, &body.source, body.id));
        let on = faces_on(&bodies, faces);
        for body in &bodies {
            if body.crowded {
                continue;
            }
            let known = open.iter().position(|one| one.session == session && one.track == body.id);
            let at = known.unwrap_or_else(|| {
                open.push(PendingBody {
                    session,
                    track: body.id,
                    face: None,
                    contradicted: false,
                    undecided: BTreeSet::new(),
                    clips: Vec::new(),
                    last: body.span.end,
                });
                open.len() - 1
            });
            let one = &mut open[at];
            one.last = body.span.end;
            one.clips.push(clip.clip);
            let surplus = one.clips.len().saturating_sub(MOST_CLIPS);
            one.clips.drain(..surplus);
            let often = |((_, of), count): &(&(TrackId, TrackId), &usize)| {
                *of == body.id && **count >= INSTANTS
            };
            for ((face, _), _) in on.iter().filter(often) {
                match face_of.get(face) {
                    Some(id) => self.claim(one, *id),
                    None => {
                        one.undecided.insert(*face);
                    }
                }
            }
        }
        // Those of which it turned out only now whose they are.
        for one in &mut open {
            let decided = |track: &TrackId| {
                let of = |(at, face, _): &&(ClipId, TrackId, EntityId)| {
                    at.session == one.session && face == track
                };
                self.undecided.faces.iter().find(of).map(|(_, track, face)| (*track, *face))
            };
            let found: Vec<(TrackId, EntityId)> =
                one.undecided.iter().filter_map(decided).collect();
            for (track, face) in found {
                one.undecided.remove(&track);
                self.claim(one, face);
            }
        }
        let mut given = Vec::new();
        for body in &bodies {
            let state = open.iter().find(|one| one.session == session && one.track == body.id);
            let face =
                state.filter(|one| !body.crowded && !one.contradicted).and_then(|one| one.face);
            let confidence = if face.is_some() { CONFIDENCE } else { 0.0 };
            let person = face.and_then(|face| self.persons.person_of(face));
            given.push(IdentifiedTrack { track: body.id, face, person, confidence });
            writer.track(TrackRow {
                clip: clip.clip,
                track: body.id,
                source: body.source.clone(),
                span: body.span,
                sightings: body.sightings.as_slice().into(),
                picture: false,
                body: true,
                face,
                confidence,
                colours: body.colours,
            });
        }
        for one in &mut open {
            let Some(face) = one.face.filter(|_| !one.contradicted) else { continue };
            for at in std::mem::take(&mut one.clips).into_iter().filter(|at| *at != clip.clip) {
                writer.late_track(at, one.track, face, CONFIDENCE);
            }
        }
        self.undecided.bodies = open;
        given
    }

    /// A face that was seen on a body makes it its person's, unless it is another's already.
    fn claim(&self, body: &mut PendingBody, face: EntityId) {
        let person = |face: EntityId| self.persons.person_of(face);
        match body.face {
            None => body.face = Some(face),
            Some(known) if known == face || person(known) == person(face) => {}
            Some(_) => body.contradicted = true,
        }
    }
}

/// What one camera shows at one instant.
#[derive(Default)]
struct Instant {
    faces: Vec<(TrackId, Rect)>,
    bodies: Vec<(TrackId, Rect)>,
}

/// At how many instants a face track was in the upper part of a body that no other face was in, and no other body had it there.
fn faces_on(bodies: &[&BodyTrack], faces: &[&FaceTrack]) -> BTreeMap<(TrackId, TrackId), usize> {
    let mut at_once: BTreeMap<(&str, Timestamp), Instant> = BTreeMap::new();
    for face in faces.iter().filter(|face| face.life != Liveness::Picture) {
        for seen in &face.sightings {
            let place = at_once.entry((face.source.as_str(), seen.at)).or_default();
            place.faces.push((face.id, seen.bbox));
        }
    }
    for body in bodies {
        for seen in &body.sightings {
            let place = at_once.entry((body.source.as_str(), seen.at)).or_default();
            place.bodies.push((body.id, seen.bbox));
        }
    }
    let mut counts: BTreeMap<(TrackId, TrackId), usize> = BTreeMap::new();
    for Instant { faces, bodies } in at_once.values() {
        let pairs: Vec<(TrackId, TrackId)> = faces
            .iter()
            .flat_map(|(face, at)| {
                let on = bodies.iter().filter(move |(_, body)| is_on(*at, *body));
                on.map(move |(body, _)| (*face, *body))
            })
            .collect();
        for (face, body) in &pairs {
            let others = pairs.iter().filter(|(other, of)| (other == face) != (of == body));
            if others.count() == 0 {
                *counts.entry((*face, *body)).or_default() += 1;
            }
        }
    }
    counts
}

/// Whether a face is where a body has its head.
pub fn is_on(face: Rect, body: Rect) -> bool {
    let centre = face.centre();
    let within = centre.x >= body.x && centre.x <= body.right();
    let height = (centre.y - body.y) / body.h.max(1.0);
    within && (-ABOVE..=UPPER).contains(&height) && face.w <= body.w
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::ids::SourceId;
    use crate::percept::Sighting;
    use crate::time::Span;

    fn at(step: i64) -> Timestamp {
        Timestamp::from_nanos(step * 200_000_000)
    }

    fn seen(places: &[(i64, f32, f32, f32, f32)]) -> (Span, Vec<Sighting>) {
        let sightings: Vec<Sighting> = places
            .iter()
            .map(|(step, x, y, w, h)| Sighting {
                at: at(*step),
                bbox: Rect { x: *x, y: *y, w: *w, h: *h },
                score: 0.9,
                bearing: None,
            })
            .collect();
        (Span::new(sightings[0].at, sightings[sightings.len() - 1].at), sightings)
    }

    fn face(id: u64, places: &[(i64, f32, f32, f32, f32)]) -> FaceTrack {
        let (span, sightings) = seen(places);
        FaceTrack {
            id: TrackId(id),
            source: SourceId::new("hall"),
            span,
            sightings,
            samples: Vec::new(),
            continued: false,
            life: Liveness::Untold,
        }
    }

    fn body(id: u64, places: &[(i64, f32, f32, f32, f32)]) -> BodyTrack {
        let (span, sightings) = seen(places);
        let (id, source) = (TrackId(id), SourceId::new("hall"));
        BodyTrack {
            id,
            source,
            span,
            sightings,
            continued: false,
            crowded: false,
            colours: None,
            actions: Vec::new(),
        }
    }

    #[test]
    fn a_face_is_on_the_body_that_has_it_alone() {
        let places = |x: f32| [(0, x, 100.0, 80.0, 200.0), (1, x, 100.0, 80.0, 200.0)];
        let head = |x: f32| [(0, x, 110.0, 30.0, 40.0), (1, x, 110.0, 30.0, 40.0)];
        let (left, right) = (body(11, &places(100.0)), body(12, &places(160.0)));
        let clear = face(1, &head(110.0));
        // Where both bodies are.
        let between = face(2, &head(155.0));
        // At a knee: a picture on a shirt, or somebody behind.
        let low = face(3, &[(0, 200.0, 260.0, 30.0, 40.0), (1, 200.0, 260.0, 30.0, 40.0)]);
        let on = |faces: &[&FaceTrack]| faces_on(&[&left, &right], faces);
        let pair = |face: u64, body: u64| (TrackId(face), TrackId(body));
        assert_eq!(on(&[&clear]), BTreeMap::from([(pair(1, 11), 2)]));
        assert!(on(&[&between]).is_empty() && on(&[&low]).is_empty());
        // Two faces on one body are nobody's for sure.
        let second = face(4, &head(105.0));
        assert!(on(&[&clear, &second]).is_empty());
    }
}
