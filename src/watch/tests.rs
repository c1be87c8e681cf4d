//! What the open window says is said once, and is confirmed or overturned by the clip.

#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use jiff::tz::TimeZone;

use super::{Fall, Outcome, Scene, Strangers, ToldStranger, evaluate};
use crate::ids::{ClipId, EntityId, EntityKind, FiringId, SessionId, SourceId, TrackId, WatchId};
use crate::memory::model::{Clip, Membership, NameRow, NameSource, TrackRow};
use crate::memory::{
    Appearance, FiringRow, FiringState, Happening, Memory, Rule, StoreOptions, WatchRow,
};
use crate::time::{Span, Timestamp};

const ABSENCE_SECS: f64 = 20.0;

fn at(secs: i64) -> Timestamp {
    Timestamp::from_nanos(secs * 1_000_000_000)
}

fn face(number: u32) -> EntityId {
    EntityId::new(EntityKind::Face, number)
}

fn person(number: u32) -> EntityId {
    EntityId::new(EntityKind::Person, number)
}

fn rule(who: &str, what: Happening) -> Rule {
    let rule = serde_json::json!({ "who": who, "what": what });
    serde_json::from_value(rule).unwrap()
}

/// A live clip of half a minute, which holds tracks of those faces.
fn live_clip(memory: &Memory, index: u32, seen: &[(u32, i64, i64)]) -> ClipId {
    let clip = ClipId { session: SessionId(1), index };
    let start = 1000 + 30 * i64::from(index);
    let mut draft = memory.begin(at(start + 30));
    draft.clip(Clip {
        id: clip,
        span: Span::new(at(start), at(start + 30)),
        frames: 1,
        analysed: 1,
        dropped: 0,
        key_frames: Vec::new(),
    });
    for (of, from, to) in seen {
        draft.track(track(clip, *of, *from, *to));
    }
    draft.commit().unwrap();
    clip
}

fn track(clip: ClipId, of: u32, from: i64, to: i64) -> TrackRow {
    TrackRow {
        clip,
        track: TrackId(u64::from(of)),
        source: SourceId::new("front"),
        span: Span::new(at(from), at(to)),
        sightings: std::iter::empty().collect(),
        picture: false,
        body: false,
        face: Some(face(of)),
        confidence: 0.9,
        colours: None,
    }
}

/// Ava, somebody without a name, a live session whose first clip is empty, and watches for who is named.
fn house(dir: &std::path::Path, rules: Vec<Rule>) -> Memory {
    let memory = Memory::open(dir, &StoreOptions::default()).unwrap();
    let mut draft = memory.begin(at(1000));
    draft.new_session(at(1000), 30.0, None);
    for number in [1, 2] {
        let part = draft.new_entity(EntityKind::Face);
        let person = draft.new_entity(EntityKind::Person);
        assert_eq!(part, face(number));
        let reason = "seen".to_owned();
        draft.membership(Membership { part, person, reason, decreed: false });
    }
    draft.name(NameRow {
        entity: person(1),
        name: "Ava".to_owned(),
        since: at(1000),
        source: NameSource::Told,
        turn: None,
    });
    for rule in rules {
        let id = draft.new_watch_id();
        draft.watch(WatchRow { id, entity: None, rule });
    }
    draft.commit().unwrap();
    live_clip(&memory, 0, &[]);
    memory
}

/// What is said with those faces in the open window, or of that clip.
fn said(memory: &Memory, open: &[(u32, i64, i64)], clip: Option<ClipId>, now: i64) -> Outcome {
    let open: Vec<Appearance> = open
        .iter()
        .map(|(of, from, to)| Appearance::Seen(Arc::new(track(ClipId::default(), *of, *from, *to))))
        .collect();
    said_of(memory, &open, clip, now)
}

/// The same of appearances.
fn said_of(memory: &Memory, open: &[Appearance], clip: Option<ClipId>, now: i64) -> Outcome {
    said_with(memory, open, &[], clip, now)
}

/// The same with falls.
fn said_with(
    memory: &Memory,
    open: &[Appearance],
    falls: &[Fall],
    clip: Option<ClipId>,
    now: i64,
) -> Outcome {
    said_by(memory, (open, falls, &Strangers::new()), clip, now)
}

/// The same with strangers.
fn said_by(
    memory: &Memory,
    (open, falls, strangers): (&[Appearance], &[Fall], &Strangers),
    clip: Option<ClipId>,
    now: i64,
) -> Outcome {
    let view = memory.view();
    let known_by = clip.map_or(1030, |clip| 1000 + 30 * i64::from(clip.index));
    let scene = Scene {
        before: &view,
        appearances: &|span| {
            let mut found = view.appearances(span, None);
            found.extend(open.to_vec());
            found
        },
        identities: &view,
        clip,
        recording: None,
        known_by: Some(at(known_by)),
        start: at(known_by),
        now: at(now),
        last: false,
        moved: &[],
        falls,
        strangers,
        absence_secs: ABSENCE_SECS,
        zone: &TimeZone::UTC,
    };
    evaluate(&view.watches(), &view.firings(), &scene)
}

/// Keeps what was said.
fn keep(memory: &Memory, outcome: &Outcome) {
    let mut draft = memory.begin(at(2000));
    for fires in &outcome.fires {
        let id = draft.new_firing_id();
        draft.firing(FiringRow { id, ..FiringRow::from(fires) });
    }
    for row in &outcome.settled {
        draft.firing(row.clone());
    }
    draft.commit().unwrap();
}

fn fires(outcome: &Outcome) -> Vec<(WatchId, Timestamp, Option<EntityId>)> {
    outcome.fires.iter().map(|fires| (fires.watch, fires.at, fires.entity)).collect()
}

fn all() -> Vec<Rule> {
    vec![
        rule("ava", Happening::Comes),
        rule("unknown", Happening::Comes),
        Rule { for_secs: Some(5.0), ..rule("anybody", Happening::Stays) },
        rule("Zoe", Happening::Comes),
        rule("Ava", Happening::Leaves),
    ]
}

#[test]
fn who_comes_is_told_at_once_and_not_again_when_the_clip_is_sealed() {
    let dir = tempfile::tempdir().unwrap();
    let memory = house(dir.path(), all());
    let open = said(&memory, &[(1, 1040, 1041)], None, 1041);
    assert_eq!(fires(&open), [(WatchId(1), at(1040), Some(person(1)))]);
    keep(&memory, &open);
    let state = |memory: &Memory| memory.view().firings()[0].state;
    assert_eq!(state(&memory), FiringState::Provisional);
    assert_eq!(said(&memory, &[(1, 1040, 1043)], None, 1043), Outcome::default());
    // The store is opened again in the middle of it.
    drop(memory);
    let memory = Memory::open(dir.path(), &StoreOptions::default()).unwrap();
    let clip = live_clip(&memory, 1, &[(1, 1040, 1048)]);
    let sealed = said(&memory, &[], Some(clip), 1060);
    assert_eq!(fires(&sealed), [(WatchId(3), at(1045), Some(person(1)))]);
    assert_eq!(sealed.settled[0].clip, Some(clip));
    keep(&memory, &sealed);
    assert_eq!(state(&memory), FiringState::Confirmed);
    let clip = live_clip(&memory, 2, &[]);
    let gone = said(&memory, &[], Some(clip), 1090);
    assert_eq!(fires(&gone), [(WatchId(5), at(1048), Some(person(1)))]);
    keep(&memory, &gone);
    let clip = live_clip(&memory, 3, &[]);
    assert_eq!(said(&memory, &[], Some(clip), 1120), Outcome::default());
}

#[test]
fn a_fall_is_told_at_once_and_confirmed_or_overturned_by_its_clip() {
    let dir = tempfile::tempdir().unwrap();
    let rules = vec![rule("anybody", Happening::Falls), rule("Ava", Happening::Falls)];
    let memory = house(dir.path(), rules);
    let fall = |who| [Fall { who, source: SourceId::new("front"), at: at(1040) }];
    let open = said_with(&memory, &[], &fall(None), None, 1042);
    assert_eq!(fires(&open), [(WatchId(1), at(1040), None)]);
    keep(&memory, &open);
    let again = said_with(&memory, &[], &fall(None), None, 1043);
    assert_eq!(again, Outcome::default());
    // The clip knows who it was; the window, which goes on showing it, says nothing more.
    let clip = live_clip(&memory, 1, &[]);
    let sealed = said_with(&memory, &[], &fall(Some(person(1))), Some(clip), 1060);
    assert_eq!(fires(&sealed), [(WatchId(2), at(1040), Some(person(1)))]);
    let settled = &sealed.settled[0];
    assert_eq!((settled.state, settled.entity), (FiringState::Confirmed, Some(person(1))));
    keep(&memory, &sealed);
    assert_eq!(said_with(&memory, &[], &fall(None), None, 1062), Outcome::default());
}

#[test]
fn a_fall_that_was_none_is_overturned() {
    let dir = tempfile::tempdir().unwrap();
    let memory = house(dir.path(), vec![rule("anybody", Happening::Falls)]);
    let fall = [Fall { who: None, source: SourceId::new("front"), at: at(1040) }];
    keep(&memory, &said_with(&memory, &[], &fall, None, 1042));
    let clip = live_clip(&memory, 1, &[]);
    let sealed = said_with(&memory, &[], &[], Some(clip), 1060);
    assert_eq!(sealed.settled[0].state, FiringState::Overturned);
}

#[test]
fn what_the_clip_does_not_say_is_overturned() {
    let dir = tempfile::tempdir().unwrap();
    let memory = house(dir.path(), all());
    keep(&memory, &said(&memory, &[(1, 1040, 1041)], None, 1041));
    let clip = live_clip(&memory, 1, &[(2, 1040, 1043)]);
    let sealed = said(&memory, &[], Some(clip), 1060);
    assert_eq!(sealed.settled.len(), 1);
    assert_eq!(
        (sealed.settled[0].id, sealed.settled[0].state),
        (FiringId(1), FiringState::Overturned)
    );
    assert_eq!(fires(&sealed), [(WatchId(2), at(1040), Some(person(2)))], "it was a stranger");
}

#[test]
fn a_face_at_the_edge_is_no_stranger_and_a_name_ends_being_one() {
    let dir = tempfile::tempdir().unwrap();
    let memory = house(dir.path(), all());
    assert_eq!(fires(&said(&memory, &[(2, 1040, 1041)], None, 1041)), []);
    let long = said(&memory, &[(2, 1040, 1043)], None, 1043);
    assert_eq!(fires(&long), [(WatchId(2), at(1040), Some(person(2)))]);
    let mut draft = memory.begin(at(1050));
    let name = "Zoe".to_owned();
    draft.name(NameRow {
        entity: person(2),
        name,
        since: at(1000),
        source: NameSource::Told,
        turn: None,
    });
    draft.commit().unwrap();
    let named = said(&memory, &[(2, 1040, 1043)], None, 1043);
    assert_eq!(fires(&named), [(WatchId(4), at(1040), Some(person(2)))]);
}

/// Faces that nobody has been given are persons of their own in the open window.
fn stranger(number: u32) -> EntityId {
    person(u32::MAX - number)
}

fn looks_like_nobody(number: u32, from: i64, to: i64) -> Appearance {
    let face = Some(stranger(number));
    let track = track(ClipId::default(), 10 + number, from, to);
    Appearance::Seen(Arc::new(TrackRow { face, ..track }))
}

/// Keeps what the open window said of strangers, and notes it.
fn keep_of(memory: &Memory, outcome: &Outcome, strangers: &mut Strangers) {
    let mut draft = memory.begin(at(1043));
    for fires in &outcome.fires {
        let id = draft.new_firing_id();
        draft.firing(FiringRow { id, entity: None, ..FiringRow::from(fires) });
        let told = strangers.get_mut(&fires.entity.unwrap()).unwrap();
        told.told_by.insert((fires.watch, fires.source.clone()), fires.at);
    }
    draft.commit().unwrap();
}

#[test]
fn a_stranger_whose_track_breaks_off_is_told_of_once() {
    let dir = tempfile::tempdir().unwrap();
    let memory = house(dir.path(), vec![rule("unknown", Happening::Comes)]);
    let mut strangers = Strangers::from([1, 2].map(|one| (stranger(one), ToldStranger::default())));
    let first =
        said_by(&memory, (&[looks_like_nobody(1, 1040, 1043)], &[], &strangers), None, 1043);
    assert_eq!(first.fires.len(), 1);
    keep_of(&memory, &first, &mut strangers);
    let both = [looks_like_nobody(1, 1040, 1043), looks_like_nobody(2, 1046, 1050)];
    let second = said_by(&memory, (&both, &[], &strangers), None, 1050);
    assert_eq!(second, Outcome::default(), "it may be the same one");
    let clip = live_clip(&memory, 1, &[(2, 1040, 1050)]);
    let sealed = said(&memory, &[], Some(clip), 1060);
    assert_eq!(fires(&sealed), []);
    assert_eq!(sealed.settled[0].entity, Some(person(2)));
    assert_eq!(sealed.settled[0].state, FiringState::Confirmed);
}

#[test]
fn strangers_who_are_told_apart_are_told_of_each_and_confirmed_each() {
    let dir = tempfile::tempdir().unwrap();
    let memory = house(dir.path(), vec![rule("anybody", Happening::Comes)]);
    let apart = || ToldStranger { told_apart: true, ..ToldStranger::default() };
    let mut strangers = Strangers::from([1, 2, 3].map(|one| (stranger(one), apart())));
    // Two in one picture, and one who comes after.
    let two = [looks_like_nobody(1, 1040, 1043), looks_like_nobody(2, 1040, 1043)];
    let first = said_by(&memory, (&two, &[], &strangers), None, 1043);
    assert_eq!(first.fires.len(), 2);
    keep_of(&memory, &first, &mut strangers);
    assert_eq!(said_by(&memory, (&two, &[], &strangers), None, 1044), Outcome::default());
    let [one, two] = two;
    let three = [one, two, looks_like_nobody(3, 1046, 1050)];
    let then = said_by(&memory, (&three, &[], &strangers), None, 1050);
    assert_eq!(fires(&then), [(WatchId(1), at(1046), Some(stranger(3)))]);
    keep_of(&memory, &then, &mut strangers);
    // The clip knows but two of them: the third was one of these.
    let clip = live_clip(&memory, 1, &[(1, 1040, 1045), (2, 1040, 1050)]);
    let sealed = said(&memory, &[], Some(clip), 1060);
    assert_eq!(fires(&sealed), []);
    let mut settled: Vec<_> = sealed.settled.iter().map(|row| (row.state, row.entity)).collect();
    settled.sort_by_key(|(_, entity)| *entity);
    let confirmed = |number| (FiringState::Confirmed, Some(person(number)));
    assert_eq!(settled, [(FiringState::Overturned, None), confirmed(1), confirmed(2)]);
}

#[test]
fn after_a_restart_a_stranger_is_told_of_when_the_clip_is_sealed() {
    let dir = tempfile::tempdir().unwrap();
    let memory = house(dir.path(), vec![rule("anybody", Happening::Comes)]);
    let apart = || ToldStranger { told_apart: true, ..ToldStranger::default() };
    let mut strangers = Strangers::from([(stranger(1), apart())]);
    let seen = [looks_like_nobody(1, 1040, 1043)];
    let first = said_by(&memory, (&seen, &[], &strangers), None, 1043);
    keep_of(&memory, &first, &mut strangers);
    let after = Strangers::from([(stranger(1), apart())]);
    let again = said_by(&memory, (&[looks_like_nobody(1, 1045, 1049)], &[], &after), None, 1049);
    assert_eq!(again, Outcome::default(), "it may be the one from before");
}

#[test]
fn hours_an_end_a_cool_down_and_once_hold_it_back() {
    let day = 86_400;
    let dir = tempfile::tempdir().unwrap();
    let memory = house(
        dir.path(),
        vec![
            // It is 00:17.
            Rule { between: Some("22:00-06:00".parse().unwrap()), ..rule("Ava", Happening::Comes) },
            Rule { between: Some("06:00-22:00".parse().unwrap()), ..rule("Ava", Happening::Comes) },
            Rule { until: Some(at(1020)), ..rule("Ava", Happening::Comes) },
            Rule { cooldown_secs: Some(f64::from(day)), ..rule("Ava", Happening::Comes) },
            Rule { once: true, ..rule("anybody", Happening::Comes) },
            Rule { place: Some("cellar".to_owned()), ..rule("anybody", Happening::Comes) },
            Rule { place: Some("Front".to_owned()), ..rule("anybody", Happening::Comes) },
        ],
    );
    let watches =
        |outcome: &Outcome| outcome.fires.iter().map(|fires| fires.watch.0).collect::<Vec<_>>();
    let clip = live_clip(&memory, 1, &[(1, 1031, 1033)]);
    let first = said(&memory, &[], Some(clip), 1060);
    assert_eq!(watches(&first), [1, 4, 5, 7]);
    keep(&memory, &first);
    let clip = live_clip(&memory, 2, &[(1, 1080, 1083)]);
    let second = said(&memory, &[], Some(clip), 1090);
    assert_eq!(watches(&second), [1, 7]);
}

#[test]
fn a_watch_does_not_tell_of_whoever_was_there_when_it_was_set() {
    let dir = tempfile::tempdir().unwrap();
    let memory = house(dir.path(), Vec::new());
    live_clip(&memory, 1, &[(1, 1050, 1060)]);
    let mut draft = memory.begin(at(1061));
    let id = draft.new_watch_id();
    draft.watch(WatchRow { id, entity: Some(person(1)), rule: rule("Ava", Happening::Comes) });
    draft.commit().unwrap();
    let clip = live_clip(&memory, 2, &[(1, 1060, 1065)]);
    assert_eq!(fires(&said(&memory, &[], Some(clip), 1090)), []);
}
