//! The promises of the memory, on real stores.

#![allow(clippy::unwrap_used)]

mod cells;
mod derived;
mod documents;
mod durability;
mod encrypted;
mod erasing;
mod exports;
mod history;
mod m3;
mod objects;
mod picture;
mod places;
mod presence;
mod profile;
mod repair;
mod rows;
mod salvage;
mod search;
mod sql;
mod struck;
mod tally;
mod texts;
mod thin;
mod visits;

use crate::geometry::Rect;
use crate::ids::{ClipId, EntityId, EntityKind, ModelHash, SessionId, SourceId, TrackId, TurnId};
use crate::percept::{Embedding, Sighting, Transcript, Word};
use crate::time::Span;

use super::model::*;
use super::*;

const MODEL: ModelHash = ModelHash([7; 32]);

fn at(secs: i64) -> Timestamp {
    Timestamp::from_nanos(secs * 1_000_000_000)
}

fn open(dir: &Path) -> Memory {
    Memory::open(dir, &StoreOptions::default()).unwrap()
}

fn entity(kind: EntityKind, number: u32) -> EntityId {
    EntityId::new(kind, number)
}

fn face(number: u32) -> EntityId {
    entity(EntityKind::Face, number)
}

fn voice(number: u32) -> EntityId {
    entity(EntityKind::Voice, number)
}

fn person(number: u32) -> EntityId {
    entity(EntityKind::Person, number)
}

fn clip(index: u32) -> ClipId {
    ClipId { session: SessionId(1), index }
}

fn embedding(values: &[f32]) -> Embedding {
    Embedding::normalised(values.to_vec(), MODEL)
}

fn track(index: u32, number: u64, of: Option<EntityId>, start: i64, secs: i64) -> TrackRow {
    let sightings = (0..secs * 5)
        .map(|frame| Sighting {
            at: Timestamp::from_nanos(start * 1_000_000_000 + frame * 200_000_000),
            bbox: Rect { x: 10.5, y: 20.25, w: 64.0, h: 80.125 + frame as f32 },
            score: 0.93,
            bearing: None,
        })
        .collect();
    TrackRow {
        clip: clip(index),
        track: TrackId(number),
        source: SourceId::new("front"),
        span: Span::new(at(start), at(start + secs)),
        sightings,
        picture: false,
        body: false,
        face: of,
        confidence: 0.8,
        colours: None,
    }
}

fn words(text: &str, start: i64) -> Transcript {
    let words = text
        .split_whitespace()
        .enumerate()
        .map(|(i, word)| Word {
            text: word.into(),
            span: Span::new(at(start + i as i64), at(start + i as i64 + 1)),
            confidence: Some(0.5),
        })
        .collect();
    Transcript { text: text.to_owned(), words, language: Some("en".into()), engine: "test".into() }
}

fn turn(index: u32, number: u64, of: Option<EntityId>, start: i64, text: Option<&str>) -> TurnRow {
    TurnRow {
        clip: clip(index),
        turn: TurnId(number),
        source: SourceId::new("microphone"),
        span: Span::new(at(start), at(start + 3)),
        speech_secs: 2.7,
        voice: of,
        confidence: 0.7,
        words: text.map(|text| words(text, start)),
        sound: None,
    }
}

fn memory_row(id: u64, text: &str, entities: &[EntityId], start: i64) -> MemoryRow {
    let span = Span::new(at(start), at(start + 2));
    MemoryRow {
        id: MemoryId(id),
        entities: entities.to_vec(),
        importance: 0.3,
        ..testing::memory_row(MemoryKind::Episodic, text, span)
    }
}

fn member(part: EntityId, person: EntityId) -> Membership {
    Membership { part, person, reason: "looks alike, 0.61".into(), decreed: false }
}

fn named(entity: EntityId, name: &str, since: i64, source: NameSource) -> NameRow {
    NameRow { entity, name: name.to_owned(), since: at(since), source, turn: None }
}

fn export(view: &View) -> String {
    let mut out = Vec::new();
    view.export(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// A small household: one clip, two persons, words, exemplars, media, memories.
fn household(memory: &Memory) {
    let mut draft = memory.begin(at(30));
    let recording = Recording {
        sha256: "ab".repeat(32),
        path: "/recordings/kitchen one.mp4".into(),
        selection: "all".into(),
    };
    let session = draft.new_session(at(0), 30.0, Some(recording));
    let (face_1, voice_1) =
        (draft.new_entity(EntityKind::Face), draft.new_entity(EntityKind::Voice));
    let (face_2, voice_2) =
        (draft.new_entity(EntityKind::Face), draft.new_entity(EntityKind::Voice));
    let (ava, ben) = (draft.new_entity(EntityKind::Person), draft.new_entity(EntityKind::Person));
    let frame = Media::new(MediaKind::KeyFrame, false, b"frame of ava and ben".to_vec());
    let later = Media::new(MediaKind::KeyFrame, false, b"frame of ben alone".to_vec());
    let chip = Media::new(MediaKind::FaceChip, true, b"chip of ava".to_vec());
    let sound = Media::new(MediaKind::Speech, false, b"sound of ava".to_vec());
    draft.clip(Clip {
        id: clip(0),
        span: Span::new(at(0), at(30)),
        frames: 750,
        analysed: 150,
        dropped: 0,
        key_frames: vec![
            (SourceId::new("front"), at(2), frame.digest.clone()),
            (SourceId::new("front"), at(20), later.digest.clone()),
        ],
    });
    draft.track(track(0, 1, Some(face_1), 1, 5));
    draft.track(track(0, 2, Some(face_2), 4, 20));
    let mut first = turn(0, 1, Some(voice_1), 2, Some("hello I am Ava"));
    first.sound = Some(sound.digest.clone());
    draft.turn(first);
    draft.turn(turn(0, 2, Some(voice_2), 6, Some("nice to meet you Ava I am Ben")));
    draft.turn(turn(0, 3, None, 12, None));
    draft.exemplar(Exemplar {
        entity: face_1,
        slot: 0,
        at: at(2),
        embedding: embedding(&[0.12345, 0.5, -0.7, 0.1]),
        quality: 0.8,
        weight: 1.0,
        media: Some(chip.digest.clone()),
    });
    draft.exemplar(Exemplar {
        entity: voice_2,
        slot: 0,
        at: at(6),
        embedding: embedding(&[0.3, 0.1, 0.9, -0.2]),
        quality: 0.9,
        weight: 2.7,
        media: None,
    });
    for media in [frame, later, chip, sound] {
        draft.media(media);
    }
    for (part, person) in [(face_1, ava), (voice_1, ava), (face_2, ben), (voice_2, ben)] {
        draft.membership(member(part, person));
    }
    draft.evidence(PairEvidence {
        face: face_1,
        voice: voice_1,
        support_secs: 2.5,
        against_secs: 0.25,
        presence: None,
    });
    draft.name(named(ava, "Ava", 2, NameSource::Said));
    draft.name(named(ben, "Ben", 6, NameSource::Said));
    draft.pose(PoseRow {
        clip: clip(0),
        pose: crate::media::Pose {
            stamp: at(3),
            x: 1.0,
            y: f64::NAN,
            yaw: 0.5,
            frame: "map".into(),
        },
    });
    let mut rows = [
        memory_row(0, "<voice_1> said: \"hello I am Ava\"", &[ava], 2),
        memory_row(0, "<voice_2> said: \"nice to meet you Ava I am Ben\"", &[ben], 6),
        memory_row(0, "<person_1> and <person_2> talked in the kitchen.", &[ava, ben], 2),
        memory_row(0, "<person_2> poured coffee.", &[ben], 8),
        memory_row(0, "<person_1> likes tea.", &[ava], 3),
    ];
    rows[0].kind = MemoryKind::Utterance;
    rows[0].grounds = vec![Ground::Turn(clip(0), TurnId(1))];
    rows[1].kind = MemoryKind::Utterance;
    rows[1].grounds = vec![Ground::Turn(clip(0), TurnId(2))];
    rows[2].grounds = vec![Ground::Track(clip(0), TrackId(1)), Ground::Track(clip(0), TrackId(2))];
    for (i, mut row) in rows.into_iter().enumerate() {
        row.id = draft.new_memory_id();
        row.clip = Some(clip(0));
        let mut values = [0.1_f32; 4];
        values[i % 4] = 1.0 + i as f32;
        draft.memory(row, Some(embedding(&values)));
    }
    draft.checkpoint(session, clip(0), b"state after the first clip".to_vec());
    draft.commit().unwrap();
}
