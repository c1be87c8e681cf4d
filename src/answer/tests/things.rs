//! Questions about things that a detector saw, and about who carried them.

use super::household::{Household, fact, local, remember};
use super::*;
use crate::geometry::Rect;
use crate::ids::{ClipId, EntityId, EntityKind, SessionId, SourceId, TrackId};
use crate::memory::Draft;
use crate::memory::model::{Ground, MemoryKind, ObjectTrackRow, TrackRow};
use crate::percept::Sighting;
use crate::time::Span;

/// A look each 0.2 s from one second of Monday's session to another, the centre going from one place to the other.
fn looks(secs: (f64, f64), places: ((f32, f32), (f32, f32)), size: (f32, f32)) -> Vec<Sighting> {
    let ((from, to), count) = (places, ((secs.1 - secs.0) * 5.0) as usize);
    let start = local("2026-03-02T17:30:00");
    let look = |number: usize| {
        let share = number as f32 / count.max(1) as f32;
        let (x, y) = (from.0 + (to.0 - from.0) * share, from.1 + (to.1 - from.1) * share);
        Sighting {
            at: start.plus_secs(secs.0 + 0.2 * number as f64),
            bbox: Rect { x: x - size.0 / 2.0, y: y - size.1 / 2.0, w: size.0, h: size.1 },
            score: 0.9,
            bearing: None,
        }
    };
    (0..count).map(look).collect()
}

/// Clip, and what it covers.
fn of_clip(sightings: &[Sighting]) -> (ClipId, Span) {
    let (first, last) = (sightings[0].at, sightings[sightings.len() - 1].at);
    let index = (first.secs_since(local("2026-03-02T17:30:00")) / 30.0) as u32;
    (ClipId { session: SessionId(2), index }, Span::new(first, last.plus_secs(0.2)))
}

fn thing(draft: &mut Draft, object: EntityId, label: &str, track: u64, seen: Vec<Sighting>) {
    let (clip, span) = of_clip(&seen);
    draft.object_track(ObjectTrackRow {
        clip,
        track: TrackId(track),
        source: SourceId::new("camera"),
        span,
        label: label.into(),
        picture: (640, 480),
        sightings: seen.as_slice().into(),
        object: Some(object),
        confidence: 0.8,
        colours: None,
    });
}

/// Two chairs, one of them lost and found again; a cup on a table; a bag with which Ben goes out of view at 17:31:34.
fn furnished() -> Household {
    let house = Household::new();
    let mut draft = house.memory.begin(local("2026-03-02T17:32:00"));
    let mut new = || draft.new_entity(EntityKind::Object);
    let (left, right, table, cup, bag) = (new(), new(), new(), new(), new());
    let stays = |secs, place, size| looks(secs, (place, place), size);
    let chair = (80.0, 140.0);
    thing(&mut draft, left, "chair", 60, stays((61.0, 89.0), (60.0, 300.0), chair));
    thing(&mut draft, left, "chair", 61, stays((91.0, 119.0), (60.0, 300.0), chair));
    thing(&mut draft, right, "chair", 62, stays((61.0, 70.0), (580.0, 300.0), chair));
    thing(&mut draft, right, "chair", 63, stays((75.0, 89.0), (580.0, 300.0), chair));
    thing(&mut draft, right, "chair", 64, stays((92.0, 119.0), (580.0, 300.0), chair));
    thing(
        &mut draft,
        table,
        "dining table",
        65,
        stays((91.0, 119.0), (320.0, 360.0), (240.0, 120.0)),
    );
    thing(&mut draft, cup, "cup", 66, stays((91.0, 119.0), (350.0, 290.0), (40.0, 50.0)));
    thing(&mut draft, bag, "handbag", 67, stays((61.0, 89.0), (200.0, 400.0), (60.0, 60.0)));
    let mut seen = stays((90.0, 94.0), (200.0, 400.0), (60.0, 60.0));
    seen.extend(looks((94.0, 98.0), ((200.0, 400.0), (600.0, 380.0)), (60.0, 60.0)));
    thing(&mut draft, bag, "handbag", 67, seen);
    let mut body = stays((91.0, 94.0), (220.0, 300.0), (120.0, 300.0));
    body.extend(looks((94.0, 98.0), ((220.0, 300.0), (620.0, 300.0)), (120.0, 300.0)));
    let (clip, span) = of_clip(&body);
    draft.track(TrackRow {
        clip,
        track: TrackId(70),
        source: SourceId::new("camera"),
        span,
        sightings: body.as_slice().into(),
        picture: false,
        body: true,
        face: Some(house.ben_face),
        confidence: 0.9,
        colours: None,
    });
    draft.commit().unwrap();
    house
}

#[test]
fn things_in_view_are_counted_and_found_beside_each_other() {
    let house = furnished();
    if !house.reads_meaning() {
        return;
    }
    for (text, pieces) in [
        ("How many chairs are here?", &["2 chairs at once"][..]),
        ("How many chairs were there today?", &["2 chairs"]),
        ("How many pieces of furniture did you see?", &["?"]),
        ("How many cups are on the table?", &["one cup at once", "on the table"]),
        ("How many chairs are on the left?", &["one chair"]),
        ("How many chairs are on the table?", &["0"]),
        ("Is there a cup on the table?", &["Yes"]),
        ("Was there a chair on the right?", &["Yes", "one chair"]),
        ("Is there a bottle on the table?", &["?"]),
        ("Is there a cup next to the chair?", &["?"]),
        ("What is on the table?", &["one cup"]),
        ("Which things are on the right?", &["one chair"]),
        ("When did you last see a chair?", &["17:31:58"]),
        ("How many hot chairs are here?", &["?"]),
    ] {
        let answer = ask(&house, text);
        let abstain = pieces.first() == Some(&"?");
        let all = pieces.iter().filter(|p| **p != "?").all(|piece| answer.answer.contains(piece));
        assert!(all && answer.abstained == abstain, "{text}\n   {}", answer.answer);
        let none = pieces == ["0"];
        assert!(abstain || none || !answer.evidence.is_empty(), "{text}");
    }
}

#[test]
fn who_carried_a_thing_is_told_by_whose_way_it_went() {
    let house = furnished();
    if !house.reads_meaning() {
        return;
    }
    for (text, pieces) in [
        ("Who took the bag?", &["Ben took the handbag away at 17:31:34"][..]),
        ("Who had the bag?", &["Ben took"]),
        ("When was the bag taken?", &["17:31:34"]),
        ("When did Ben take the bag?", &["17:31:34"]),
        ("What did Ben take?", &["handbag"]),
        ("Did Ava take the bag?", &["No, Ben took"]),
        ("Did Ben take the handbag?", &["Yes, Ben"]),
        ("Is the bag still here?", &["No", "Ben took"]),
        ("When did the bag disappear?", &["17:31:34"]),
        ("Who took the cup?", &["?"]),
        ("What did Ava take?", &["?"]),
        ("Who took the red bag?", &["?"]),
    ] {
        let answer = ask(&house, text);
        let abstain = pieces.first() == Some(&"?");
        let all = pieces.iter().filter(|p| **p != "?").all(|piece| answer.answer.contains(piece));
        assert!(all && answer.abstained == abstain, "{text}\n   {}", answer.answer);
        assert!(abstain || answer.evidence[0].start >= local("2026-03-02T17:31:30"), "{text}");
    }
}

/// A red cup and a blue one on a table; Ben, who is seen in yellow, and somebody unknown in red.
fn coloured() -> Household {
    let house = Household::new();
    let mut draft = house.memory.begin(local("2026-03-02T17:32:00"));
    let mut new = || draft.new_entity(EntityKind::Object);
    let (red, blue, plain) = (new(), new(), new());
    for (object, track, x, label, colours, side) in [
        (red, 60, 100.0, "cup", Some("red"), "on the left"),
        (blue, 61, 500.0, "cup", Some("blue"), "on the right"),
        (plain, 62, 300.0, "vase", None, "in the middle"),
    ] {
        let seen = looks((91.0, 119.0), ((x, 300.0), (x, 300.0)), (40.0, 50.0));
        let (clip, span) = of_clip(&seen);
        draft.object_track(ObjectTrackRow {
            clip,
            track: TrackId(track),
            source: SourceId::new("camera"),
            span,
            label: label.into(),
            picture: (640, 480),
            sightings: seen.as_slice().into(),
            object: Some(object),
            confidence: 0.8,
            colours: colours.map(|colours| colours.parse().unwrap()),
        });
        let place = format!("in view of camera, {side}");
        let text = format!("The {label} is {place}.");
        let ground = Some(Ground::Object(clip, TrackId(track)));
        let told = fact(&object.to_string(), "location", &place);
        let kind = MemoryKind::Semantic;
        remember(&mut draft, kind, text, span, Some(clip), vec![object], ground, told);
    }
    for (track, face, colours) in [(70, Some(house.ben_face), "yellow"), (71, None, "red")] {
        let seen = looks((91.0, 98.0), ((200.0, 300.0), (200.0, 300.0)), (80.0, 300.0));
        let (clip, span) = of_clip(&seen);
        draft.track(TrackRow {
            clip,
            track: TrackId(track),
            source: SourceId::new("camera"),
            span,
            sightings: seen.as_slice().into(),
            picture: false,
            body: true,
            face,
            confidence: if face.is_some() { 0.9 } else { 0.0 },
            colours: Some(colours.parse().unwrap()),
        });
    }
    draft.commit().unwrap();
    house
}

#[test]
fn colours_tell_which_thing_is_meant_and_nothing_else() {
    let house = coloured();
    if !house.reads_meaning() {
        return;
    }
    for (text, pieces) in [
        ("What colour is the vase?", &["?"][..]),
        ("Is there a red cup on the left?", &["Yes"]),
        ("Is there a red cup on the right?", &["?"]),
        ("How many red cups are here?", &["one red cup"]),
        ("How many cups are here?", &["2 cups"]),
        ("What colour is the cup on the right?", &["blue"]),
        ("What colour is the red cup?", &["red"]),
        ("Where is the red cup?", &["on the left"]),
        ("Where is the green cup?", &["?", "a cup that is red", "a cup that is blue"]),
        ("Where is the green vase?", &["?", "whose colour I do not know"]),
    ] {
        let answer = ask(&house, text);
        let abstain = pieces.first() == Some(&"?");
        let told = answer.answer.to_lowercase();
        let all = pieces.iter().filter(|p| **p != "?").all(|p| told.contains(&p.to_lowercase()));
        assert!(all && answer.abstained == abstain, "{text}\n   {}", answer.answer);
    }
}

#[test]
fn who_wore_a_colour_is_told_by_bodies_and_of_the_upper_half_alone() {
    let house = coloured();
    if !house.reads_meaning() {
        return;
    }
    for (text, pieces) in [
        ("Who was wearing yellow?", &["Ben", "yellow"][..]),
        ("Who wore a yellow jacket?", &["Ben", "yellow"]),
        ("Who wore a red shirt?", &["somebody I could not identify", "red"]),
        ("Who wore yellow shoes?", &["?"]),
        ("Who was wearing green?", &["?"]),
    ] {
        let answer = ask(&house, text);
        let abstain = pieces.first() == Some(&"?");
        let told = answer.answer.to_lowercase();
        let all = pieces.iter().filter(|p| **p != "?").all(|p| told.contains(&p.to_lowercase()));
        assert!(all && answer.abstained == abstain, "{text}\n   {}", answer.answer);
    }
}

#[test]
fn a_visit_tells_with_what_somebody_went() {
    let house = furnished();
    let told = house.visit_of_ben();
    assert_eq!(told.as_deref(), Some("Ben came and left with the handbag."));
    let forget = crate::memory::Forget::Entity(house.ben);
    house.memory.forget(&forget, local("2026-03-02T17:33:00")).unwrap();
    assert_eq!(house.visit_of_ben(), None);
}

#[test]
fn whoever_is_forgotten_took_nothing() {
    let house = furnished();
    if !house.reads_meaning() {
        return;
    }
    let forget = crate::memory::Forget::Entity(house.ben);
    house.memory.forget(&forget, local("2026-03-02T17:33:00")).unwrap();
    let answer = ask(&house, "Who took the bag?");
    assert!(
        !answer.answer.contains("Ben") && !answer.entities.contains(&house.ben),
        "{}",
        answer.answer
    );
}
