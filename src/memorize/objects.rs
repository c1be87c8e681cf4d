//! Things that a detector found: when one comes into view, who carries it, when it is gone, and where it is.
//!
//! What stays where it is makes no news: a sentence is written when a thing comes into view, is moved, or is gone, and a fact
//! (the slot `object_7 | location`) when it is somewhere else than that slot says.

use std::collections::BTreeMap;

use super::{Scene, Sentence};
use crate::carrying::{
    Move, came_by_turn, carried, looked_there_until, moves, turned_within, within_reach,
};
use crate::colour::Colours;
use crate::geometry::{Rect, third};
use crate::identify::IdentifiedObject;
use crate::ids::{EntityId, SourceId};
use crate::memory::model::{Fact, Ground, MemoryKind};
use crate::memory::{Filter, PerceptFilter, Point};
use crate::percept::{ObjectTrack, Sighting};
use crate::text::{capitalised, with_article};
use crate::time::{Span, Timestamp};

/// Out of view for less is no news, seconds.
const NEWS_SECS: f64 = 60.0;
/// Not seen for so long where nobody covers it, a thing is gone; seconds.
const GONE_SECS: f64 = 5.0;
/// … if it was seen so often before.
const KNOWN_LOOKS: usize = 3;
/// A thing at the border of two parts of the picture stays in the one where it was: share of the width.
const LINGERS: f32 = 0.05;
/// A pose holds for what is seen up to so long after it, seconds.
const POSE_HOLDS_SECS: f64 = 60.0;

/// Which part of the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Middle,
    Right,
}

impl Side {
    const ALL: [Self; 3] = [Self::Left, Self::Middle, Self::Right];

    /// Of a box's centre at that share of the width; one that was on a side stays there at its border.
    pub(super) fn of(share: f32, was: Option<Self>) -> Self {
        let within = |side: Self, slack: f32| {
            let third = side as u8 as f32 / 3.0;
            share >= third - slack && share < third + 1.0 / 3.0 + slack
        };
        if let Some(was) = was.filter(|was| within(*was, LINGERS)) {
            return was;
        }
        Self::ALL[third(share)]
    }

    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Left => "on the left",
            Self::Middle => "in the middle",
            Self::Right => "on the right",
        }
    }
}

/// When a camera itself moved in this clip, in time order.
fn turns(scene: &Scene<'_>, source: &SourceId) -> Vec<Span> {
    let of_source = scene.percepts.camera_moves.iter().filter(|moved| moved.source == *source);
    of_source.map(|moved| moved.span).collect()
}

/// What came into view, and who brought it; what comes because the camera turns does not come.
pub(super) fn arrivals(scene: &Scene<'_>) -> Vec<Sentence> {
    let mut sentences = Vec::new();
    for (track, seen) in tracks(scene) {
        let news = seen.before.is_none_or(|last| track.span.start.secs_since(last) > NEWS_SECS);
        let turns = turns(scene, &track.source);
        if track.continued || !news || came_by_turn(&turns, track.span.start) {
            continue;
        }
        let ways = moves(&track.sightings, &turns);
        let carrier =
            ways.first().filter(|way| way.begins).and_then(|way| carrier(scene, track, way));
        let text = match &carrier {
            None => format!(
                "{} came into view of {}.",
                capitalised(&with_article(&called(scene, track, seen))),
                track.source
            ),
            Some(carrier) => {
                let thing = with_article(&called(scene, track, seen));
                format!("{} brought {thing} into view of {}.", carrier.who, track.source)
            }
        };
        let mut told = sentence(MemoryKind::Episodic, text, track.span, scene, track, seen);
        told.grounds.extend(carrier.map(|carrier| carrier.ground));
        sentences.push(told);
    }
    sentences
}

/// Who carried a thing.
struct Carrier {
    /// A mention, or "Somebody".
    who: String,
    ground: Ground,
}

/// The one body that went with a thing on its way; `None`: none, or one of several.
fn carrier(scene: &Scene<'_>, track: &ObjectTrack, way: &Move) -> Option<Carrier> {
    let bodies = scene.percepts.bodies.iter().filter(|body| body.source == track.source);
    let mut with = bodies.filter(|body| carried(&track.sightings, &body.sightings, way));
    let body = with.next().filter(|_| with.next().is_none())?;
    let person = scene.identified.person_of_body(body.id);
    let who = person.map_or_else(|| "Somebody".to_owned(), |person| format!("<{person}>"));
    Some(Carrier { who, ground: Ground::Track(scene.percepts.clip, body.id) })
}

/// What was moved, and by whom; what passes by on its own makes no news.
pub(super) fn ways(scene: &Scene<'_>) -> Vec<Sentence> {
    let mut sentences = Vec::new();
    for (track, seen) in tracks(scene) {
        let side = |bbox: Rect| Side::of(bbox.centre().x / track.picture.0.max(1) as f32, None);
        // What comes was told of when it came, what is on its way over a border before that.
        let turns = turns(scene, &track.source);
        for way in moves(&track.sightings, &turns).iter().filter(|way| !way.begins) {
            let carrier = carrier(scene, track, way);
            let (from, to) = (side(way.from), side(way.to));
            let whither = match (way.ends, from == to) {
                (true, _) => "away".to_owned(),
                (false, true) => "elsewhere".to_owned(),
                (false, false) => format!("to where it is {}", to.words()),
            };
            let text = match &carrier {
                Some(carrier) => {
                    format!("{} carried the {} {whither}.", carrier.who, called(scene, track, seen))
                }
                None => format!("The {} was moved {whither}.", called(scene, track, seen)),
            };
            let mut told = sentence(MemoryKind::Episodic, text, way.span, scene, track, seen);
            told.grounds.extend(carrier.map(|carrier| carrier.ground));
            told.importance = 0.4;
            sentences.push(told);
        }
    }
    sentences
}

/// What was there for a while, and is gone though the camera goes on looking and nobody stands before its place.
pub(super) fn departures(scene: &Scene<'_>) -> Vec<Sentence> {
    let mut sentences = Vec::new();
    for (track, seen) in tracks(scene) {
        let later = |other: &IdentifiedObject| {
            let part = scene.percepts.objects.iter().find(|part| part.id == other.track);
            other.object == seen.object && part.is_some_and(|part| part.span.end > track.span.end)
        };
        let turns = turns(scene, &track.source);
        let is_on_way = moves(&track.sightings, &turns).last().is_some_and(|way| way.ends);
        let Some(last) = track.sightings.last().filter(|_| track.sightings.len() >= KNOWN_LOOKS)
        else {
            continue;
        };
        if is_on_way || scene.identified.objects.iter().any(later) {
            continue;
        }
        let bodies = scene.percepts.bodies.iter().filter(|body| body.source == track.source);
        let covers = |one: &&Sighting| one.at >= last.at && within_reach(last.bbox, one.bbox);
        let covered =
            bodies.flat_map(|body| body.sightings.iter().filter(covers)).map(|one| one.at);
        let since = covered.max().unwrap_or(last.at);
        let looked = scene.percepts.looked.iter().filter(|(source, _)| *source == track.source);
        let until = looked.filter_map(|(_, times)| times.last()).max();
        let until = until.map(|until| looked_there_until(&turns, last.at, *until));
        if until.is_some_and(|until| until.secs_since(since) >= GONE_SECS) {
            let text = format!(
                "The {} was gone from the view of {}.",
                called(scene, track, seen),
                track.source
            );
            let span = Span::new(last.at, last.at);
            sentences.push(sentence(MemoryKind::Episodic, text, span, scene, track, seen));
        }
    }
    sentences
}

/// Where things are, as far as that is new.
pub(super) fn locations(scene: &Scene<'_>) -> Vec<Sentence> {
    // Of several tracks of one thing the last tells.
    let mut last: BTreeMap<EntityId, (&ObjectTrack, IdentifiedObject)> = BTreeMap::new();
    for (track, seen) in tracks(scene) {
        let known = last.entry(seen.object).or_insert((track, seen));
        if (track.span.end, track.id) > (known.0.span.end, known.0.id) {
            *known = (track, seen);
        }
    }
    let mut sentences = Vec::new();
    for (object, (track, seen)) in last {
        let open = open_location(scene, object);
        let Some((value, span)) = place(scene, track, open.as_ref()) else { continue };
        if open.is_some_and(|(known, _)| known == value) {
            continue;
        }
        let text = format!("The {} is {value}.", called(scene, track, seen));
        let mut sentence = sentence(MemoryKind::Semantic, text, span, scene, track, seen);
        sentence.importance = 0.4;
        sentence.fact =
            Some(Fact { subject: object.to_string(), attribute: "location".to_owned(), value });
        sentences.push(sentence);
    }
    sentences.sort_by_key(|sentence| sentence.span.start);
    sentences
}

fn tracks<'a>(
    scene: &Scene<'a>,
) -> impl Iterator<Item = (&'a ObjectTrack, IdentifiedObject)> + use<'a> {
    let percepts = scene.percepts;
    scene.identified.objects.iter().filter_map(move |seen| {
        let track = percepts.objects.iter().find(|track| track.id == seen.track)?;
        Some((track, *seen))
    })
}

/// What a thing is called, with its colour where that is settled.
fn called(scene: &Scene<'_>, track: &ObjectTrack, seen: IdentifiedObject) -> String {
    let colours = track.colours.or_else(|| scene.before.colours(seen.object));
    Colours::before(colours, &track.label)
}

fn sentence(
    kind: MemoryKind,
    text: String,
    span: Span,
    scene: &Scene<'_>,
    track: &ObjectTrack,
    seen: IdentifiedObject,
) -> Sentence {
    let grounds = vec![Ground::Object(scene.percepts.clip, track.id)];
    let mut sentence = Sentence::new(kind, text, span, grounds);
    sentence.about.push(seen.object);
    sentence.importance = 0.2;
    let scores: f64 = track.sightings.iter().map(|sighting| f64::from(sighting.score)).sum();
    sentence.confidence = (scores / track.sightings.len().max(1) as f64) as f32;
    sentence
}

/// What its slot says, and since when.
fn open_location(scene: &Scene<'_>, object: EntityId) -> Option<(String, Timestamp)> {
    let kinds = vec![MemoryKind::Semantic];
    let filter = Filter { entities: vec![object], kinds, ..Filter::default() };
    let subject = object.to_string();
    scene.before.memories(&filter).iter().rev().find_map(|row| {
        let fact = row.fact.as_ref().filter(|_| row.valid_to.is_none())?;
        let is_meant = fact.attribute == "location" && fact.subject == subject;
        is_meant.then(|| (fact.value.clone(), row.valid_from))
    })
}

/// Whether the camera moved between then and the end of the track: which side of the picture it was on tells nothing any more.
fn turned_since(scene: &Scene<'_>, track: &ObjectTrack, then: Timestamp) -> bool {
    let span = Span::new(then.min(track.span.start), track.span.end);
    let source = Some(track.source.clone());
    let filter = PerceptFilter { span: Some(span), source, ..PerceptFilter::default() };
    turned_within(&turns(scene, &track.source), span.start, span.end)
        || scene.before.camera_moves(&filter).iter().any(|row| row.moved.span.end > span.start)
}

/// Where the track ended, and since when it was there. Which side of the picture that is is left out where the camera turned
/// since the slot was told: it is another side of another picture, and nothing was moved.
fn place(
    scene: &Scene<'_>,
    track: &ObjectTrack,
    open: Option<&(String, Timestamp)>,
) -> Option<(String, Span)> {
    let then = open.map_or(track.span.start, |(_, since)| *since);
    let turned = turned_since(scene, track, then);
    let open = open.map(|(value, _)| value.as_str());
    let width = track.picture.0.max(1) as f32;
    let share = |sighting: &Sighting| sighting.bbox.centre().x / width;
    let room = room(scene, track.span.end);
    let value = |side: Side| {
        let camera = match turned {
            true => format!("in view of {}", track.source),
            false => format!("in view of {}, {}", track.source, side.words()),
        };
        room.as_ref().map_or(camera.clone(), |room| format!("in the {room}, {camera}"))
    };
    let was = Side::ALL.into_iter().find(|side| open == Some(value(*side).as_str()));
    let mut sides = track.sightings.iter().scan(was, |was, sighting| {
        *was = Some(Side::of(share(sighting), *was));
        Some((was.unwrap_or(Side::Middle), sighting.at))
    });
    let (mut side, mut since) = sides.next()?;
    for (next, at) in sides {
        if next != side {
            (side, since) = (next, at);
        }
    }
    Some((value(side), Span::new(since, track.span.end)))
}

/// The named place at which the robot stood then.
pub(super) fn room(scene: &Scene<'_>, at: Timestamp) -> Option<String> {
    let held = |stamp: Timestamp| stamp <= at && at.secs_since(stamp) <= POSE_HOLDS_SECS;
    let poses = scene.percepts.poses.iter().filter(|pose| held(pose.stamp));
    let here = match poses.max_by_key(|pose| pose.stamp) {
        Some(pose) => Point { frame: pose.frame.clone(), x: pose.x, y: pose.y },
        None => {
            let row = scene.before.pose_at(at)?;
            Point { frame: row.pose.frame.clone(), x: row.pose.x, y: row.pose.y }
        }
    };
    scene.before.place_near(&here)?.name
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::identify::{IdentifiedClip, IdentifiedTrack, Persons};
    use crate::ids::{ClipId, EntityKind, TrackId};
    use crate::memory::{Memory, StoreOptions};
    use crate::percept::{BodyTrack, CameraMove, ClipCounts, ClipPercepts};

    fn at(secs: f64) -> Timestamp {
        Timestamp::EPOCH.plus_secs(secs)
    }

    /// Five looks a second; the centre stays at `x` and goes right by 20 px a look from that second on.
    fn looks(secs: (f64, f64), x: f32, goes_from: f64, size: (f32, f32)) -> Vec<Sighting> {
        let look = |number: usize| {
            let now = secs.0 + 0.2 * number as f64;
            let x = x + 100.0 * (now - goes_from).max(0.0) as f32;
            let bbox = Rect { x: x - size.0 / 2.0, y: 400.0 - size.1, w: size.0, h: size.1 };
            Sighting { at: at(now), bbox, score: 0.8, bearing: None }
        };
        (0..((secs.1 - secs.0) * 5.0) as usize).map(look).collect()
    }

    fn thing(id: u64, label: &str, sightings: Vec<Sighting>) -> ObjectTrack {
        let span = Span::new(sightings[0].at, sightings[sightings.len() - 1].at.plus_secs(0.2));
        let (id, source, picture) = (TrackId(id), SourceId::new("hall"), (640, 480));
        ObjectTrack {
            id,
            source,
            span,
            label: label.into(),
            picture,
            sightings,
            continued: false,
            colours: None,
        }
    }

    /// A bag that the only one in view carries off after 12 s, a cup that is gone after 10 s, a ball that he came with, and a vase
    /// before which he stands at the end.
    fn hall() -> (ClipPercepts, IdentifiedClip) {
        let small = (60.0, 60.0);
        let body = |id: u64, sightings: Vec<Sighting>| BodyTrack {
            id: TrackId(id),
            source: SourceId::new("hall"),
            span: Span::new(sightings[0].at, sightings[sightings.len() - 1].at.plus_secs(0.2)),
            sightings,
            continued: false,
            crowded: false,
            colours: None,
            actions: Vec::new(),
        };
        let never = 1e6;
        let percepts = ClipPercepts {
            clip: ClipId::default(),
            span: Span::new(at(0.0), at(30.0)),
            tracks: Vec::new(),
            objects: vec![
                thing(1, "handbag", looks((0.0, 15.0), 200.0, 12.0, small)),
                thing(2, "cup", looks((0.0, 10.0), 620.0, never, small)),
                thing(3, "sports ball", looks((6.0, 30.0), 40.0, never, small)),
                thing(4, "vase", looks((0.0, 20.0), 520.0, never, small)),
            ],
            bodies: vec![
                body(1, looks((6.0, 15.0), 220.0, 12.0, (120.0, 300.0))),
                body(2, looks((16.0, 30.0), 520.0, never, (120.0, 300.0))),
            ],
            texts: Vec::new(),
            turns: Vec::new(),
            mouths: Vec::new(),
            sounds: Vec::new(),
            sound_events: Vec::new(),
            camera_moves: Vec::new(),
            poses: Vec::new(),
            key_frames: Vec::new(),
            counts: ClipCounts::default(),
            looked: vec![(
                SourceId::new("hall"),
                (0..150).map(|n| at(0.2 * f64::from(n))).collect(),
            )],
        };
        let object = |number: u32| IdentifiedObject {
            track: TrackId(u64::from(number)),
            object: EntityId::new(EntityKind::Object, number),
            before: None,
        };
        let whose = |id: u64, person: Option<u32>| IdentifiedTrack {
            track: TrackId(id),
            face: None,
            person: person.map(|number| EntityId::new(EntityKind::Person, number)),
            confidence: 0.9,
        };
        let identified = IdentifiedClip {
            objects: (1..=4).map(object).collect(),
            bodies: vec![whose(1, Some(3)), whose(2, None)],
            ..IdentifiedClip::default()
        };
        (percepts, identified)
    }

    #[test]
    fn who_carried_a_thing_is_told_and_what_is_gone_unless_somebody_stands_before_it() {
        let dir = tempfile::tempdir().unwrap();
        let memory = Memory::open(dir.path(), &StoreOptions::default()).unwrap();
        let (mut percepts, identified) = hall();
        let (persons, before) = (Persons::default(), memory.view());
        let told = |percepts: &ClipPercepts| {
            let scene = Scene {
                percepts,
                identified: &identified,
                persons: &persons,
                before: &before,
                reserved: None,
                quiet_since: None,
            };
            let texts = |all: Vec<Sentence>| -> Vec<String> {
                all.into_iter().map(|sentence| sentence.text).collect()
            };
            (texts(ways(&scene)), texts(departures(&scene)))
        };
        let (carried, gone) = told(&percepts);
        assert_eq!(carried, ["<person_3> carried the handbag away."]);
        assert_eq!(gone, ["The cup was gone from the view of hall."]);
        // The camera turned as it lost the cup, and while the bag went on its way.
        for (from, to) in [(9.6, 10.4), (13.0, 14.0)] {
            let (source, span) = (SourceId::new("hall"), Span::new(at(from), at(to)));
            percepts.camera_moves.push(CameraMove { source, span });
        }
        assert_eq!(told(&percepts), (Vec::<String>::new(), Vec::new()));
        percepts.camera_moves.clear();
        // Two who go the same way: which of them has it is not known.
        percepts.bodies[1] = BodyTrack { id: TrackId(2), ..percepts.bodies[0].clone() };
        assert_eq!(told(&percepts).0, ["The handbag was moved away."]);
    }

    #[test]
    fn after_a_turn_a_thing_is_in_view_and_on_no_side() {
        let dir = tempfile::tempdir().unwrap();
        let memory = Memory::open(dir.path(), &StoreOptions::default()).unwrap();
        let (mut percepts, identified) = hall();
        let (persons, before) = (Persons::default(), memory.view());
        let cup = |percepts: &ClipPercepts| {
            let scene = Scene {
                percepts,
                identified: &identified,
                persons: &persons,
                before: &before,
                reserved: None,
                quiet_since: None,
            };
            let told = locations(&scene).into_iter().find(|one| one.text.contains("cup"));
            told.map(|one| one.text).unwrap()
        };
        assert_eq!(cup(&percepts), "The cup is in view of hall, on the right.");
        let (source, span) = (SourceId::new("hall"), Span::new(at(4.0), at(5.0)));
        percepts.camera_moves.push(CameraMove { source, span });
        assert_eq!(cup(&percepts), "The cup is in view of hall.");
    }

    #[test]
    fn a_thing_at_a_border_stays_where_it_was() {
        assert_eq!(Side::of(0.1, None), Side::Left);
        assert_eq!(Side::of(0.34, None), Side::Middle);
        assert_eq!(Side::of(0.34, Some(Side::Left)), Side::Left);
        assert_eq!(Side::of(0.32, Some(Side::Middle)), Side::Middle);
        assert_eq!(Side::of(0.40, Some(Side::Left)), Side::Middle);
        assert_eq!(Side::of(1.0, Some(Side::Right)), Side::Right);
    }
}
