//! Questions about what people did.

use super::household::{Household, local};
use super::*;
use crate::geometry::Rect;
use crate::ids::{ClipId, EntityId, SessionId, SourceId, TrackId};
use crate::memory::model::{ActionRow, TrackRow};
use crate::percept::{Action, ActionKind, Sighting};
use crate::time::Span;

/// Ben sits down on Monday at 17:31:35 and waves at 17:31:45; somebody falls at 17:31:15.
fn busy() -> Household {
    let house = Household::new();
    let start = local("2026-03-02T17:30:00");
    let mut draft = house.memory.begin(local("2026-03-02T17:32:00"));
    let mut body = |track: u64, face: Option<EntityId>, done: &[(ActionKind, f64, f64)]| {
        for (kind, from, to) in done {
            let clip = ClipId { session: SessionId(2), index: (from / 30.0) as u32 };
            let (track, source) = (TrackId(track), SourceId::new("camera"));
            let span = Span::new(start.plus_secs(*from), start.plus_secs(*to));
            let bbox = Rect { x: 300.0, y: 100.0, w: 80.0, h: 200.0 };
            let seen = Sighting { at: span.start, bbox, score: 0.9, bearing: None };
            draft.track(TrackRow {
                clip,
                track,
                source: source.clone(),
                span,
                sightings: [seen].as_slice().into(),
                picture: false,
                body: true,
                face,
                confidence: 0.9,
                colours: None,
            });
            let action = Action { kind: *kind, span, confidence: 0.7, continued: false };
            draft.action(ActionRow { clip, track, source, action });
        }
    };
    use ActionKind::{Falls, Lies, Sits, Stands, Waves};
    body(80, Some(house.ben_face), &[(Stands, 91.0, 95.0), (Sits, 95.0, 109.0)]);
    body(80, Some(house.ben_face), &[(Waves, 105.0, 107.0)]);
    body(81, None, &[(Stands, 70.0, 75.0), (Falls, 75.0, 76.0), (Lies, 76.0, 80.0)]);
    draft.commit().unwrap();
    house
}

#[test]
fn what_people_did_is_told_and_of_nothing_else() {
    let house = busy();
    if !house.reads_meaning() {
        return;
    }
    let mut wrong = Vec::new();
    for (text, pieces) in [
        ("Did anybody fall?", &["Yes, somebody fell", "17:31:15"][..]),
        ("Has somebody fallen?", &["Yes, somebody fell"]),
        ("When did somebody fall?", &["17:31:15"]),
        ("Who waved?", &["Ben waved"]),
        ("Did Ben wave?", &["Yes, Ben waved"]),
        ("How often did Ben wave?", &["1: Ben waved"]),
        ("What was Ben doing at 17:31:40?", &["Ben sat"]),
        ("Was Ben sitting?", &["Yes, Ben sat", "17:31:35"]),
        ("When did Ben sit down?", &["Ben sat", "17:31:35"]),
        ("How long did Ben sit?", &["14 s", "Ben sat"]),
        ("Who was sitting at 17:31:40?", &["Ben sat"]),
        ("Did Ava wave?", &["?"]),
        ("Did anybody raise a hand?", &["?"]),
        ("Did Ben fall in love?", &["?"]),
        ("Who sat in the garden?", &["?"]),
    ] {
        let answer = ask(&house, text);
        let abstain = pieces.first() == Some(&"?");
        let all = pieces.iter().filter(|p| **p != "?").all(|piece| answer.answer.contains(piece));
        let told = answer.answer.contains("waved") || answer.answer.contains("fell");
        if !all || answer.abstained != abstain || abstain && told {
            wrong.push(format!("{text}\n   {} {}", answer.answer, answer.abstained));
        }
        if !abstain && answer.evidence.is_empty() {
            wrong.push(format!("{text}: no evidence"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // Somebody fell: it may have been Ben.
    let answer = ask(&house, "Did Ben fall?");
    assert!(answer.abstained && answer.answer.contains("somebody fell at 17:31:15"), "{answer:?}");
    // Of a thing it is told where it is.
    let answer = ask(&house, "Did the red mug fall?").answer;
    assert!(!answer.contains("fell") && !answer.contains("Ben"), "{answer}");
}

#[test]
fn a_visit_tells_what_somebody_did_in_one_sentence() {
    assert_eq!(busy().visit_of_ben().as_deref(), Some("Ben came, sat down, waved and left."));
    let plain = Household::new().visit_of_ben();
    assert_eq!(plain, None, "nothing but that he was there");
}

#[test]
fn whoever_is_forgotten_did_nothing() {
    let house = busy();
    if !house.reads_meaning() {
        return;
    }
    let forget = crate::memory::Forget::Entity(house.ben);
    house.memory.forget(&forget, local("2026-03-02T17:33:00")).unwrap();
    let answer = ask(&house, "Who waved?");
    assert!(answer.abstained && !answer.answer.contains("waved"), "{}", answer.answer);
    let answer = ask(&house, "Did anybody fall?");
    assert!(answer.answer.contains("somebody fell"), "{}", answer.answer);
}
