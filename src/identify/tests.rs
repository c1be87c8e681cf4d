//! Promises of the resolver, held on made-up percepts.

mod badges;
mod cameras;
mod doubt;
mod many;
mod over;
mod spoken;
mod unmatchable;

use std::collections::BTreeSet;
use std::sync::Arc;

use super::persons::membership;
use super::testing::{TestWriter, calibrated};
use super::*;
use crate::config::Identity;
use crate::geometry::Rect;
use crate::ids::{ClipId, EntityId, EntityKind, ModelHash, SessionId, SourceId, TrackId, TurnId};
use crate::memory::model::{Exemplar, Merge, NameRow, NameSource};
use crate::percept::{
    ClipCounts, ClipPercepts, Embedding, FaceSample, FaceTrack, Liveness, MouthScore, Sighting,
    SpeechTurn, Transcript,
};
use crate::time::{Span, Timestamp};

const FACE_MODEL: ModelHash = ModelHash([1; 32]);
const VOICE_MODEL: ModelHash = ModelHash([2; 32]);

fn at(secs: f64) -> Timestamp {
    Timestamp::from_nanos(1_772_472_600_000_000_000).plus_secs(secs)
}

/// A direction of its own for each person, with a little deterministic noise.
fn vector(who: usize, seed: usize, model: ModelHash) -> Embedding {
    let mut values = vec![0.0_f32; 32];
    values[who] = 1.0;
    let mut state = (who * 7919 + seed * 104_729 + 1) as u64;
    for value in &mut values {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        *value += ((state >> 33) as f32 / (1u64 << 31) as f32 - 0.5) * 0.12;
    }
    Embedding::normalised(values, model)
}

/// A voice that is so like the first direction, and differs from it in that one.
fn like_first(cosine: f32, aside: usize) -> Embedding {
    let mut values = vec![0.0_f32; 32];
    (values[0], values[aside]) = (cosine, (1.0 - cosine * cosine).sqrt());
    Embedding::normalised(values, VOICE_MODEL)
}

/// `(who, from, to, x)`: a face at that place in the picture.
type Seen = (usize, f64, f64, f32);
/// `(who, from, to)`.
type Heard = (usize, f64, f64);

fn track(id: u64, (who, from, to, x): Seen) -> FaceTrack {
    let times: Vec<f64> = (0..150).map(|k| f64::from(k) * 0.2).collect();
    let bbox = Rect { x, y: 50.0, w: 80.0, h: 80.0 };
    let sightings: Vec<Sighting> = (0..5)
        .flat_map(|clip| times.iter().map(move |t| t + 30.0 * f64::from(clip)))
        .filter(|t| *t >= from - 1e-9 && *t < to - 1e-9)
        .map(|t| Sighting { at: at(t), bbox, score: 0.9, bearing: None })
        .collect();
    let samples = (0..3)
        .map(|k| FaceSample {
            at: at(from + f64::from(k) * 0.2),
            embedding: vector(who, id as usize * 10 + k as usize, FACE_MODEL),
            quality: 0.8,
            chip: vec![id as u8, k as u8].into(),
        })
        .collect();
    FaceTrack {
        id: TrackId(id),
        source: SourceId::new("camera"),
        span: Span::new(at(from), at(to)),
        sightings,
        samples,
        continued: false,
        life: Liveness::Untold,
    }
}

fn turn(id: u64, (who, from, to): Heard) -> SpeechTurn {
    SpeechTurn {
        id: TurnId(id),
        source: SourceId::new("microphone"),
        span: Span::new(at(from), at(to)),
        speech_secs: to - from,
        level_dbfs: -20.0,
        embedding: Some(vector(who, id as usize, VOICE_MODEL)),
        words: None,
        overlapped: false,
        distinct: None,
        own: false,
        sound: vec![0.1; 1600].into(),
    }
}

fn clip(index: u32, seen: &[Seen], heard: &[Heard]) -> ClipPercepts {
    let base = u64::from(index) * 100;
    let start = 30.0 * f64::from(index);
    ClipPercepts {
        clip: ClipId { session: SessionId(1), index },
        span: Span::new(at(start), at(start + 30.0)),
        tracks: seen.iter().zip(base..).map(|(s, id)| track(id, *s)).collect(),
        objects: Vec::new(),
        bodies: Vec::new(),
        texts: Vec::new(),
        turns: heard.iter().zip(base..).map(|(h, id)| turn(id, *h)).collect(),
        mouths: vec![],
        sounds: Vec::new(),
        sound_events: Vec::new(),
        camera_moves: Vec::new(),
        poses: vec![],
        key_frames: vec![],
        counts: ClipCounts::default(),
        looked: vec![(
            SourceId::new("camera"),
            (0..150).map(|k| at(start + f64::from(k) * 0.2)).collect(),
        )],
    }
}

fn resolver(rows: &IdentityRows, undecided: PendingIdentities) -> Resolver {
    let settings = Identity::default();
    let (faces, voices) = (calibrated("mobilefacenet"), calibrated("ge2e"));
    Resolver::from_rows(rows, undecided, &settings, faces, voices)
}

fn run(clips: &[ClipPercepts], restart: bool) -> (TestWriter, Resolver) {
    let mut writer = TestWriter::default();
    let mut now = resolver(&IdentityRows::default(), PendingIdentities::default());
    for clip in clips {
        now.resolve(clip, &mut writer);
        if restart {
            let config = bincode::config::standard();
            let blob = bincode::serde::encode_to_vec(now.undecided(), config).unwrap();
            let (undecided, _) = bincode::serde::decode_from_slice(&blob, config).unwrap();
            now = resolver(&writer.rows(), undecided);
        }
    }
    now.finish(&mut writer);
    (writer, now)
}

fn id(text: &str) -> EntityId {
    text.parse().unwrap()
}

fn persons(writer: &TestWriter, resolver: &Resolver) -> BTreeSet<EntityId> {
    let parts = writer.memberships.keys();
    parts.filter_map(|part| resolver.persons().person_of(*part)).collect()
}

fn person_of_voice(writer: &TestWriter, resolver: &Resolver, turn: u64) -> EntityId {
    let voice = writer.turns[&(SessionId(1), TurnId(turn))].voice.unwrap();
    resolver.persons().person_of(voice).unwrap()
}

fn person_of_face(writer: &TestWriter, resolver: &Resolver, clip: u32, track: u64) -> EntityId {
    let key = (ClipId { session: SessionId(1), index: clip }, TrackId(track));
    resolver.persons().person_of(writer.tracks[&key].face.unwrap()).unwrap()
}

/// Four who are seen and speak, one who is only heard, also over two silent faces.
fn four_and_a_voice() -> Vec<ClipPercepts> {
    vec![
        clip(
            0,
            &[
                (0, 0.0, 10.0, 100.0),
                (1, 10.0, 20.0, 100.0),
                (0, 20.0, 30.0, 100.0),
                (1, 20.0, 30.0, 400.0),
            ],
            &[(0, 1.0, 5.0), (1, 11.0, 14.0), (0, 21.0, 24.0), (1, 25.0, 28.0)],
        ),
        clip(
            1,
            &[(2, 30.0, 40.0, 100.0), (3, 40.0, 50.0, 100.0), (2, 50.0, 58.0, 100.0)],
            &[(2, 31.0, 35.0), (3, 41.0, 45.0), (4, 51.0, 57.0)],
        ),
        clip(
            2,
            &[(3, 60.0, 70.0, 100.0), (1, 60.0, 70.0, 400.0)],
            &[(4, 61.0, 65.0), (4, 72.0, 80.0), (4, 81.0, 88.0), (3, 66.0, 68.0)],
        ),
        clip(
            3,
            &[(0, 90.0, 98.0, 100.0), (1, 99.0, 107.0, 100.0), (2, 108.0, 118.0, 100.0)],
            &[(0, 91.0, 95.0), (1, 100.0, 104.0), (2, 109.0, 113.0)],
        ),
    ]
}

#[test]
fn signed_evidence_separates_four_persons_and_a_voice_that_is_only_heard() {
    let (writer, resolver) = run(&four_and_a_voice(), false);
    assert_eq!(persons(&writer, &resolver).len(), 5);
    for (turn, clip, track) in [(0, 0, 0), (1, 0, 1), (100, 1, 100), (101, 1, 101)] {
        assert_eq!(
            person_of_voice(&writer, &resolver, turn),
            person_of_face(&writer, &resolver, clip, track),
            "turn {turn}"
        );
    }
    let alone = person_of_voice(&writer, &resolver, 102);
    assert!(resolver.persons().parts(alone, EntityKind::Face).is_empty());
    // three kinds of rows give the same in the store
    assert!(writer.pairs.contains_key(&(id("face_1"), id("face_2"))));
}

#[test]
fn the_same_percepts_give_the_same_rows_in_any_order() {
    let clips = four_and_a_voice();
    let mut shuffled = clips.clone();
    for clip in &mut shuffled {
        clip.tracks.reverse();
        clip.turns.rotate_left(1);
    }
    assert_eq!(run(&clips, false).0, run(&clips, false).0);
    assert_eq!(run(&clips, false).0, run(&shuffled, false).0);
}

#[test]
fn a_restart_between_clips_changes_nothing() {
    let clips = four_and_a_voice();
    assert_eq!(run(&clips, false).0, run(&clips, true).0);
}

#[test]
fn a_lone_person_is_found_and_keeps_the_id_after_a_long_absence() {
    let clips = [
        clip(0, &[(0, 2.0, 12.0, 100.0)], &[(0, 3.0, 8.0)]),
        clip(1, &[], &[]),
        clip(4, &[(0, 120.0, 125.0, 300.0)], &[(0, 121.0, 124.0)]),
    ];
    let (writer, resolver) = run(&clips, false);
    assert_eq!(persons(&writer, &resolver), BTreeSet::from([id("person_1")]));
    assert_eq!(person_of_face(&writer, &resolver, 4, 400), id("person_1"));
    assert_eq!(person_of_voice(&writer, &resolver, 0), id("person_1"));
}

#[test]
fn one_wrong_co_occurrence_does_not_link() {
    // the voice is heard for long with nobody in view, then once over a silent face
    let clips = [
        clip(0, &[], &[(5, 1.0, 9.0), (5, 11.0, 20.0)]),
        clip(1, &[(0, 30.0, 40.0, 100.0)], &[(5, 31.0, 38.0)]),
    ];
    let (writer, resolver) = run(&clips, false);
    assert_ne!(
        person_of_voice(&writer, &resolver, 100),
        person_of_face(&writer, &resolver, 1, 100)
    );
}

#[test]
fn voices_told_apart_are_two_even_if_alike() {
    let mut first = clip(0, &[], &[(0, 1.0, 5.0), (0, 5.0, 9.0), (0, 9.0, 12.0)]);
    for (turn, number) in first.turns.iter_mut().zip([0, 1, 0]) {
        turn.distinct = Some(number);
    }
    let (writer, resolver) = run(&[first.clone(), clip(1, &[], &[])], true);
    assert_eq!(persons(&writer, &resolver).len(), 2);
    let of = |turn| person_of_voice(&writer, &resolver, turn);
    assert_eq!(of(0), of(2));
    assert_ne!(of(0), of(1));
    // without the second hearing they are one voice
    first.turns.iter_mut().for_each(|turn| turn.distinct = None);
    let (writer, resolver) = run(&[first], false);
    assert_eq!(persons(&writer, &resolver).len(), 1);
}

#[test]
fn the_robots_own_speech_leaves_no_person_and_no_name() {
    let mut first = clip(0, &[(0, 0.0, 10.0, 100.0)], &[(5, 1.0, 6.0)]);
    first.turns[0].own = true;
    first.turns[0].embedding = None;
    let (writer, resolver) = run(&[first], false);
    assert_eq!(persons(&writer, &resolver), BTreeSet::from([id("person_1")]), "the face alone");
    assert_eq!(writer.turns[&(SessionId(1), TurnId(0))].voice, Some(EntityId::ROBOT));
    assert!(writer.names.is_empty() && writer.pairs.is_empty());
}

#[test]
fn two_faces_at_once_are_two_persons_even_if_alike() {
    let clips = [clip(0, &[(0, 0.0, 10.0, 100.0), (0, 0.0, 10.0, 400.0)], &[])];
    let (writer, resolver) = run(&clips, false);
    let faces: Vec<_> = writer.tracks.values().map(|row| row.face).collect();
    assert_ne!(faces[0], faces[1]);
    assert_eq!(persons(&writer, &resolver).len(), 1, "the look-alike stays undecided");
}

#[test]
fn merges_and_splits_by_the_user_stick() {
    let clips = four_and_a_voice();
    let (mut writer, mut resolver) = run(&clips[..2], false);
    let (a, b) = (id("person_1"), id("person_2"));
    let parts = resolver.persons().all_parts(b);
    assert_eq!(resolver.override_merge(b, a, &mut writer), a);
    assert_eq!(resolver.persons().resolve(b), a);
    assert_eq!(writer.merges[&b].into, a);
    // undone: the old id is back with its own face and voice
    assert_eq!(resolver.override_split(&parts, &mut writer), [b]);
    assert!(writer.merges.is_empty());
    assert_eq!(resolver.persons().all_parts(b), parts);
    assert!(!resolver.persons().may_merge(a, b), "evidence does not overrule it");
    let mut again = super::tests::resolver(&writer.rows(), resolver.undecided().clone());
    again.resolve(&clips[2], &mut writer);
    assert_eq!(again.persons().all_parts(b), parts);
}

/// One who is seen, and a voice that gives its name, in so many clips; the mouth scored so.
fn beside_a_voice(clips: u32, mouth: Option<f32>) -> Vec<ClipPercepts> {
    let one = |index: u32| {
        let start = 30.0 * f64::from(index);
        let seen = (0, start, start + 25.0, 100.0);
        let heard = [(5, start + 1.0, start + 6.0), (5, start + 8.0, start + 12.0)];
        let mut clip = clip(index, &[seen], &heard);
        let text = "Hello, my name is Ava.".to_owned();
        clip.turns[0].words = Some(Transcript { text, ..Transcript::default() });
        let (turn, track) = (clip.turns[0].id, clip.tracks[0].id);
        let score = |log_odds| MouthScore { turn, track, log_odds, secs: 2.0 };
        clip.mouths.extend(mouth.map(score));
        clip
    };
    (0..clips).map(one).collect()
}

#[test]
fn a_name_that_is_said_stays_with_the_voice_until_a_link_is_sure() {
    for restart in [false, true] {
        let linked = |clips: u32, mouth: Option<f32>| {
            let (writer, now) = run(&beside_a_voice(clips, mouth), restart);
            let (face, voice) =
                (person_of_face(&writer, &now, 0, 0), person_of_voice(&writer, &now, 0));
            let name = |person| now.persons().name(person).map(|(name, _)| name.to_owned());
            assert_eq!(name(voice).as_deref(), Some("Ava"), "whoever speaks has the name");
            assert_eq!(name(face).is_some(), face == voice, "and nobody else");
            face == voice
        };
        assert!(!linked(1, None), "whoever spoke may have stood beside the camera");
        assert!(!linked(1, Some(0.0)), "an unclear mouth");
        assert!(!linked(1, Some(-3.0)), "a silent one");
        assert!(linked(1, Some(3.0)), "a clear one links at once");
        assert!(linked(2, None), "two occasions in different clips");
        assert!(linked(2, Some(0.0)));
        assert!(
            !linked(3, Some(-3.0)),
            "a silent mouth makes no occasion, also where one turn was not compared"
        );
    }
}

#[test]
fn a_name_that_the_user_tells_stands_above_one_that_is_said() {
    let (mut writer, mut resolver) = run(&beside_a_voice(2, None), false);
    let person = person_of_face(&writer, &resolver, 0, 0);
    assert_eq!(resolver.persons().name(person), Some(("Ava", NameSource::Said)));
    resolver.override_name(id("face_1"), "Eve", at(60.0), &mut writer);
    assert_eq!(resolver.persons().name(person), Some(("Eve", NameSource::Told)));
}

#[test]
fn a_name_that_is_said_takes_the_place_of_none_that_the_user_told() {
    let twice = [
        clip(0, &[(0, 0.0, 10.0, 100.0)], &[(0, 1.0, 6.0)]),
        clip(1, &[(0, 30.0, 40.0, 100.0)], &[(0, 31.0, 36.0)]),
    ];
    let (mut writer, mut resolver) = run(&twice, false);
    let person = person_of_face(&writer, &resolver, 0, 0);
    let voice = resolver.persons().parts(person, EntityKind::Voice)[0];
    resolver.override_name(person, "Ava", at(20.0), &mut writer);
    resolver.override_name(person, "Ava Stone", at(21.0), &mut writer);
    let before = writer.clone();
    let said = (at(30.0), ClipId { session: SessionId(1), ..ClipId::default() }, TurnId(9));
    assert_eq!(resolver.hear_name("I am Ava.", voice, said, &mut writer), None);
    assert_eq!(writer, before, "nothing is written");
    let other = resolver.hear_name("I am Eve.", voice, said, &mut writer).unwrap();
    assert_eq!((other.source, writer.names.len()), (NameSource::Said, 3));
    assert_eq!(resolver.persons().name(person), Some(("Ava Stone", NameSource::Told)));
}

#[test]
fn letter_case_is_put_aside_in_every_script() {
    let (mut writer, mut resolver) = run(&[], false);
    let zoe = resolver.tell_of("Zo\u{eb} \u{d6}zer", at(0.0), &mut writer);
    assert_eq!(resolver.persons().called("ZO\u{cb}  \u{f6}zer"), [zoe]);
    assert_eq!(resolver.tell_of("zo\u{eb} \u{f6}zer", at(1.0), &mut writer), zoe, "once");
    assert!(resolver.persons().called("Zoe \u{d6}zer").is_empty());
}

fn shown(who: usize, kind: EntityKind, seed: usize) -> Lesson {
    let (model, weight) =
        if kind == EntityKind::Face { (FACE_MODEL, 1.0) } else { (VOICE_MODEL, 4.0) };
    let media =
        file(crate::memory::model::MediaKind::Speech, vec![who as u8, seed as u8].into(), true);
    let exemplar = Exemplar {
        entity: EntityId::new(kind, 0),
        slot: 0,
        at: Timestamp::EPOCH,
        embedding: vector(who, 1000 + seed, model),
        quality: 0.8,
        weight,
        media: Some(media.digest.clone()),
    };
    (exemplar, media)
}

fn enrol(
    resolver: &mut Resolver,
    writer: &mut TestWriter,
    (face, voice): (Option<usize>, Option<usize>),
    who: Enrolled<'_>,
) -> Result<Enrolment, EnrolError> {
    let faces = face.map(|who| shown(who, EntityKind::Face, 1)).into_iter().collect();
    let voices = voice.map(|who| shown(who, EntityKind::Voice, 2)).into_iter().collect();
    resolver.enrol(faces, voices, who, Timestamp::EPOCH, writer)
}

#[test]
fn who_is_enrolled_is_known_when_they_come() {
    let (mut writer, mut resolver) = run(&[], false);
    let ava =
        enrol(&mut resolver, &mut writer, (Some(0), Some(0)), Enrolled::Named("Ava")).unwrap();
    assert_eq!((ava.person, ava.fresh), (Some(id("person_1")), true));
    assert_eq!((ava.face, ava.voice), (Some(id("face_1")), Some(id("voice_1"))));
    // also after a restart
    let mut resolver = super::tests::resolver(&writer.rows(), PendingIdentities::default());
    let clips = [clip(0, &[(0, 0.0, 10.0, 100.0), (1, 0.0, 10.0, 400.0)], &[(0, 1.0, 5.0)])];
    resolver.resolve(&clips[0], &mut writer);
    assert_eq!(person_of_face(&writer, &resolver, 0, 0), id("person_1"));
    assert_eq!(person_of_voice(&writer, &resolver, 0), id("person_1"));
    assert_ne!(person_of_face(&writer, &resolver, 0, 1), id("person_1"), "a stranger stays one");
    assert_eq!(resolver.persons().name(id("person_1")), Some(("Ava", NameSource::Told)));
}

#[test]
fn an_enrolment_names_the_one_it_is_like_and_never_takes_anothers_name() {
    let (mut writer, mut resolver) = run(&four_and_a_voice(), false);
    let known = person_of_face(&writer, &resolver, 0, 0);
    let done = enrol(&mut resolver, &mut writer, (Some(0), None), Enrolled::Named("Ava")).unwrap();
    assert_eq!((done.person, done.fresh), (Some(known), false));
    // once more under the same name: the same person, whatever it looks like
    let more = enrol(&mut resolver, &mut writer, (Some(6), None), Enrolled::Named("ava")).unwrap();
    assert_eq!(more.person, Some(known));
    assert_eq!(resolver.persons().parts(known, EntityKind::Face).len(), 2);
    let before = writer.clone();
    let error =
        enrol(&mut resolver, &mut writer, (Some(0), None), Enrolled::Named("Ben")).unwrap_err();
    assert!(error.to_string().contains("that of Ava (person_"), "{error}");
    let ben = person_of_face(&writer, &resolver, 0, 1);
    let error =
        enrol(&mut resolver, &mut writer, (Some(0), None), Enrolled::Known(ben)).unwrap_err();
    assert!(matches!(error, EnrolError::SomebodyElse { .. }), "{error}");
    let error = enrol(&mut resolver, &mut writer, (None, Some(0)), Enrolled::Robot).unwrap_err();
    assert!(error.to_string().contains("if it is the robot's own (`self`), say"), "{error}");
    let error = enrol(&mut resolver, &mut writer, (None, Some(0)), Enrolled::Media).unwrap_err();
    assert!(matches!(error, EnrolError::Somebodys { .. }), "{error}");
    assert_eq!(writer, before, "nothing is written");
    // a stranger's voice and a known face of one sample: one person
    let alone = person_of_voice(&writer, &resolver, 102);
    let both =
        enrol(&mut resolver, &mut writer, (Some(0), Some(4)), Enrolled::Known(known)).unwrap();
    assert_eq!(both.person, Some(known));
    assert_eq!(resolver.persons().resolve(alone), known);
}

#[test]
fn who_is_told_of_joins_whoever_is_called_so_when_they_are_met() {
    let told = |writer: &mut TestWriter, resolver: &mut Resolver| {
        let ava = resolver.tell_of("Ava", at(0.0), writer);
        assert_eq!(resolver.tell_of("ava", at(1.0), writer), ava, "once");
        assert_eq!(resolver.persons().unmet("AVA", EntityId::ROBOT), Some(ava));
        ava
    };
    // shown
    let (mut writer, mut resolver) = run(&[], false);
    let ava = told(&mut writer, &mut resolver);
    let mut resolver = super::tests::resolver(&writer.rows(), PendingIdentities::default());
    let shown = enrol(&mut resolver, &mut writer, (Some(0), None), Enrolled::Named("Ava")).unwrap();
    assert_eq!((shown.person, shown.fresh), (Some(ava), false));
    assert_eq!(resolver.persons().unmet("Ava", EntityId::ROBOT), None);
    // named, or heard to say so
    for named in [true, false] {
        let (mut writer, mut resolver) = run(&[], false);
        let ava = told(&mut writer, &mut resolver);
        let mut met = clip(0, &[(0, 0.0, 10.0, 100.0)], &[(0, 1.0, 6.0)]);
        if !named {
            let text = "Hello, my name is Ava.".into();
            met.turns[0].words = Some(Transcript { text, ..Transcript::default() });
        }
        resolver.resolve(&met, &mut writer);
        if !named {
            assert_eq!(person_of_voice(&writer, &resolver, 0), ava);
            assert_ne!(person_of_face(&writer, &resolver, 0, 0), ava, "who spoke is not sure yet");
            let again = clip(1, &[(0, 30.0, 40.0, 100.0)], &[(0, 31.0, 36.0)]);
            resolver.resolve(&again, &mut writer);
        }
        if named {
            assert_ne!(person_of_face(&writer, &resolver, 0, 0), ava, "nothing tells yet");
            let row = resolver.override_name(id("face_1"), "Ava", at(60.0), &mut writer);
            assert_eq!(row.entity, ava);
        }
        assert_eq!(person_of_face(&writer, &resolver, 0, 0), ava, "named: {named}");
        assert!(writer.merges.values().all(|merge| merge.decreed == named));
    }
    // Somebody else, whom the user calls otherwise, is not taken for them.
    let (mut writer, mut resolver) = run(&[clip(0, &[(0, 0.0, 10.0, 100.0)], &[])], false);
    let face = person_of_face(&writer, &resolver, 0, 0);
    resolver.override_name(face, "Eve", at(60.0), &mut writer);
    told(&mut writer, &mut resolver);
    assert_eq!(person_of_face(&writer, &resolver, 0, 0), face);
}

#[test]
fn the_robots_enrolled_voice_and_media_leave_no_person_no_link_and_no_name() {
    for (robot, named) in [(true, false), (false, false), (true, true), (false, true)] {
        let (mut writer, mut resolver) = run(&[], false);
        if named {
            let done = enrol(&mut resolver, &mut writer, (None, Some(5)), Enrolled::Named("TV"));
            let voices = [done.unwrap().voice.unwrap()];
            if robot {
                resolver.decree_own(&voices, &mut writer);
            } else {
                resolver.decree_media(&voices, &mut writer);
            }
        } else {
            let whose = if robot { Enrolled::Robot } else { Enrolled::Media };
            let done = enrol(&mut resolver, &mut writer, (None, Some(5)), whose).unwrap();
            assert_eq!((done.person, done.fresh), (robot.then_some(EntityId::ROBOT), !robot));
            assert_eq!(done.voice, Some(id("voice_1")));
            assert!(writer.names.is_empty() && !writer.counters.contains_key(&EntityKind::Person));
        }
        // nor is it anybody's whom the user calls otherwise
        let error = enrol(&mut resolver, &mut writer, (None, Some(5)), Enrolled::Named("Ava"));
        let error = error.unwrap_err().to_string();
        assert!(error.contains("say first `engramd people split voice_1`"), "{error}");
        let mut resolver = super::tests::resolver(&writer.rows(), PendingIdentities::default());
        // it speaks under a face that is silent, and says a name
        let mut heard = clip(0, &[(0, 0.0, 20.0, 100.0)], &[(5, 1.0, 9.0), (5, 11.0, 18.0)]);
        for turn in &mut heard.turns {
            let text = "My name is Zoe.".into();
            turn.words = Some(Transcript { text, ..Transcript::default() });
        }
        let names = writer.names.len();
        let out = resolver.resolve(&heard, &mut writer);
        resolver.finish(&mut writer);
        assert!(out.turns.iter().all(|turn| turn.aside && turn.person.is_none()), "{out:?}");
        assert_eq!(out.new_persons.len(), 1, "the face alone: {out:?}");
        assert_eq!(writer.names.len(), names);
        assert!(writer.pairs.is_empty(), "{:?}", writer.pairs);
        let owner = if robot { EntityId::ROBOT } else { id("voice_1") };
        assert_eq!(person_of_voice(&writer, &resolver, 0), owner);
    }
}

/// As [`run`], with a slot of a voice erased after the third clip. After each clip what is known is what is kept.
fn run_erased(clips: &[ClipPercepts], slot: u32, restart: bool) -> TestWriter {
    let mut writer = TestWriter::default();
    let mut now = resolver(&IdentityRows::default(), PendingIdentities::default());
    for clip in clips {
        now.resolve(clip, &mut writer);
        if clip.clip.index == 2 {
            assert!(writer.exemplars.remove(&(id("voice_1"), slot)).is_some());
        }
        if restart || clip.clip.index == 2 {
            now = resolver(&writer.rows(), now.undecided().clone());
        }
        for (entity, gallery) in &now.galleries {
            let rows = writer.exemplars.values().filter(|row| row.entity == *entity);
            let rows: Vec<_> = rows.cloned().map(std::sync::Arc::new).collect();
            assert_eq!(gallery.exemplars(), rows);
        }
    }
    now.finish(&mut writer);
    writer
}

#[test]
fn what_is_learned_after_a_part_was_erased_takes_nothing_of_the_rest() {
    // a voice that never sounds quite the same
    let clips: Vec<ClipPercepts> = (0..5)
        .map(|index| {
            let start = 30.0 * f64::from(index);
            let mut clip = clip(index, &[], &[(0, start + 1.0, start + 9.0)]);
            let mut values = vec![0.0_f32; 32];
            (values[0], values[1 + index as usize]) = (1.0, 0.45);
            clip.turns[0].embedding = Some(Embedding::normalised(values, VOICE_MODEL));
            clip
        })
        .collect();
    let slots = |writer: &TestWriter| writer.exemplars.keys().copied().collect::<Vec<_>>();
    let voice = id("voice_1");
    let (whole, _) = run(&clips, false);
    assert_eq!(slots(&whole), [0, 1, 2, 3, 4].map(|slot| (voice, slot)), "each is learned");
    for erased in 0..3 {
        let [once, restarted] = [false, true].map(|restart| run_erased(&clips, erased, restart));
        assert_eq!(once, restarted, "a restart changes nothing");
        assert_eq!(slots(&once), [0, 1, 2, 3].map(|slot| (voice, slot)));
        for slot in (0..3).filter(|slot| *slot != erased).map(|slot| (voice, slot)) {
            assert_eq!(once.exemplars[&slot], whole.exemplars[&slot], "{erased} alone is gone");
        }
    }
}

#[test]
fn where_no_model_tells_how_alike_two_are_nobody_is_merged() {
    let voice = (5, 1.0, 9.0);
    let seen = [(0, 0.0, 5.0, 100.0), (1, 5.0, 10.0, 100.0)];
    let (mut writer, _) = run(&[clip(0, &seen, &[voice])], false);
    assert_eq!(writer.merges.len(), 0);
    let unknown = MatchThresholds::UNKNOWN;
    let settings = Identity::default();
    let rows = writer.rows();
    let mut now =
        Resolver::from_rows(&rows, PendingIdentities::default(), &settings, unknown, unknown);
    now.resolve(&clip(1, &[], &[]), &mut writer);
    now.finish(&mut writer);
    assert!(writer.merges.is_empty(), "{:?}", writer.merges);
}

#[test]
fn a_picture_makes_no_person_and_speaks_for_nobody() {
    let mut first = clip(0, &[(0, 0.0, 25.0, 100.0), (1, 0.0, 4.0, 400.0)], &[(4, 1.0, 9.0)]);
    first.tracks[0].life = Liveness::Picture;
    first.tracks[1].life = Liveness::Unproven;
    let (writer, resolver) = run(&[first.clone()], true);
    let key = |track| (ClipId { session: SessionId(1), index: 0 }, TrackId(track));
    assert!(writer.tracks[&key(0)].picture && writer.tracks[&key(0)].face.is_none());
    assert_eq!(writer.tracks[&key(1)].face, None, "it has not moved yet");
    assert_eq!(persons(&writer, &resolver).len(), 1, "the voice alone");
    assert!(!writer.pairs.keys().any(|(a, _)| a.kind == EntityKind::Face));
    // it goes on in the next clip, and moves: a person, in the first clip, too
    first.tracks.remove(0);
    let mut second = clip(1, &[(1, 30.0, 40.0, 400.0)], &[]);
    second.tracks[0].id = first.tracks[0].id;
    second.tracks[0].life = Liveness::Alive;
    let (writer, resolver) = run(&[first.clone(), second.clone()], true);
    assert_eq!(persons(&writer, &resolver).len(), 2);
    assert!(writer.tracks[&key(1)].face.is_some());
    // or it never moves: nobody
    second.tracks[0].life = Liveness::Picture;
    let (writer, resolver) = run(&[first, second], true);
    assert_eq!(persons(&writer, &resolver).len(), 1);
    assert_eq!(writer.tracks[&key(1)].face, None);
}

/// Two who are always seen together and take turns, their mouths scored so: for the speaker's, and for the other's.
fn always_together(scores: Option<(f32, f32)>) -> Vec<ClipPercepts> {
    let mut clips = vec![
        clip(
            0,
            &[(0, 0.0, 30.0, 100.0), (1, 0.0, 30.0, 400.0)],
            &[(0, 1.0, 5.0), (1, 7.0, 11.0), (0, 13.0, 17.0), (1, 20.0, 25.0)],
        ),
        clip(
            1,
            &[(0, 30.0, 60.0, 100.0), (1, 30.0, 60.0, 400.0)],
            &[(1, 31.0, 35.0), (0, 37.0, 41.0)],
        ),
    ];
    let Some((speaks, other)) = scores else { return clips };
    for (clip, speakers) in clips.iter_mut().zip([&[0_u64, 1, 0, 1][..], &[1, 0]]) {
        let base = u64::from(clip.clip.index) * 100;
        for (turn, speaker) in (base..).zip(speakers) {
            for who in 0..2 {
                clip.mouths.push(MouthScore {
                    turn: TurnId(turn),
                    track: TrackId(base + who),
                    log_odds: if who == *speaker { speaks } else { other },
                    secs: 2.0,
                });
            }
        }
    }
    clips
}

fn linked(writer: &TestWriter, resolver: &Resolver) -> Vec<bool> {
    let pairs = [(0, 0), (1, 1)];
    let face = |track| person_of_face(writer, resolver, 0, track);
    pairs.map(|(turn, track)| person_of_voice(writer, resolver, turn) == face(track)).to_vec()
}

#[test]
fn mouths_tell_apart_two_who_are_always_seen_together() {
    for restart in [false, true] {
        let (writer, resolver) = run(&always_together(None), restart);
        assert_eq!(linked(&writer, &resolver), [false, false], "presence alone cannot tell");
        let (writer, resolver) = run(&always_together(Some((2.0, -3.0))), restart);
        assert_eq!(linked(&writer, &resolver), [true, true]);
        let (writer, resolver) = run(&always_together(Some((0.2, -0.3))), restart);
        assert_eq!(linked(&writer, &resolver), [false, false], "what is unclear is no evidence");
    }
}

#[test]
fn silent_mouths_speak_neither_for_nor_against_before_one_was_seen_to_speak() {
    // Sound and pictures out of step, or nobody in view speaks: every mouth looks silent.
    let mut out_of_step = four_and_a_voice();
    for clip in &mut out_of_step {
        for turn in &clip.turns {
            for track in &clip.tracks {
                let (turn, track) = (turn.id, track.id);
                clip.mouths.push(MouthScore { turn, track, log_odds: -4.0, secs: 2.0 });
            }
        }
    }
    let (writer, now) = run(&out_of_step, false);
    assert_eq!(persons(&writer, &now).len(), 4 + 5, "nobody has a voice");
    let pairs = writer.pairs.values().filter(|pair| pair.is_face_and_voice());
    for pair in pairs {
        assert_eq!((pair.support_secs, pair.against_secs), (0.0, 0.0), "but for absence: {pair:?}");
        assert!(pair.presence.is_some_and(|presence| presence.occasions.is_none()), "{pair:?}");
    }
}

/// Two at once on one microphone: their turns found nobody and teach nobody, and keep two like voices apart.
#[test]
fn two_voices_at_once_are_two_people() {
    let lessons = |overlapped: bool| {
        let mut scene =
            clip(0, &[], &[(0, 1.0, 5.0), (0, 5.0, 6.0), (1, 5.0, 6.0), (1, 6.0, 10.0)]);
        for n in [1, 2] {
            scene.turns[n].overlapped = overlapped;
        }
        run(&[scene], false)
    };
    let (writer, now) = lessons(true);
    let (a, b) = (person_of_voice(&writer, &now, 0), person_of_voice(&writer, &now, 3));
    assert_ne!(a, b);
    assert_eq!(person_of_voice(&writer, &now, 1), a);
    assert_eq!(person_of_voice(&writer, &now, 2), b);
    let voice = |turn: u64| writer.turns[&(SessionId(1), TurnId(turn))].voice.unwrap();
    let together = now.evidence().together_secs(voice(0), voice(3));
    assert!((together - 1.0).abs() < 1e-9, "{together}");
    let taught = |writer: &TestWriter| writer.rows().exemplars.len();
    assert!(taught(&writer) <= 2, "{}", taught(&writer));

    // alone, they are nobody
    let mut scene = clip(0, &[], &[(0, 5.0, 9.0), (1, 5.0, 9.0)]);
    scene.turns.iter_mut().for_each(|turn| turn.overlapped = true);
    let (writer, now) = run(&[scene], false);
    assert!(persons(&writer, &now).is_empty());
}
