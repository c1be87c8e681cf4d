//! The promises of upkeep, on real stores.

#![allow(clippy::unwrap_used)]

use std::path::Path;

use super::*;
use crate::ids::{ClipId, EntityKind, MemoryId, SessionId};
use crate::memory::model::{Clip, Ground, MemoryKind, MemoryRow, Recording};
use crate::memory::testing::memory_row;
use crate::memory::{AsOf, Filter, StoreOptions};
use crate::time::Span;

fn at(days: f64) -> Timestamp {
    Timestamp::from_nanos(1_772_323_200_000_000_000).plus_secs(days * DAY_SECS) // 2026-03-01
}

fn open(dir: &Path) -> Memory {
    Memory::open(dir, &StoreOptions::default()).unwrap()
}

fn upkeep(memory: &Memory, settings: config::Upkeep) -> Upkeep {
    Upkeep::new(
        memory.clone(),
        Memorizer::new(None).reading(crate::memorize::fact_reader()),
        settings,
        TimeZone::UTC,
    )
}

fn row(kind: MemoryKind, text: &str, start: Timestamp) -> MemoryRow {
    let entities = crate::mention::mentions(text).into_iter().map(|m| m.entity).collect();
    let span = Span::new(start, start.plus_secs(10.0));
    MemoryRow { entities, origin: BUILTIN.to_owned(), ..memory_row(kind, text, span) }
}

/// One clip with those memories; opens the session when there is none.
fn remember(memory: &Memory, start: Timestamp, rows: &[(MemoryKind, &str, f64)]) -> Vec<MemoryId> {
    let mut draft = memory.begin(start.plus_secs(30.0));
    let session = match draft.before().sessions().last() {
        Some(session) => session.id,
        None => {
            for _ in 0..2 {
                draft.new_entity(EntityKind::Person);
            }
            draft.new_session(start, 30.0, None)
        }
    };
    let index = draft.before().clips(Some(session)).len() as u32;
    let clip = ClipId { session, index };
    let span = Span::new(start, start.plus_secs(30.0));
    draft.clip(Clip { id: clip, span, frames: 1, analysed: 1, dropped: 0, key_frames: Vec::new() });
    let mut ids = Vec::new();
    for (kind, text, secs) in rows {
        let id = draft.new_memory_id();
        draft.memory(
            MemoryRow { id, clip: Some(clip), ..row(*kind, text, start.plus_secs(*secs)) },
            None,
        );
        ids.push(id);
    }
    draft.commit().unwrap();
    ids
}

/// Ava comes at eight with Ben and talks; Ben comes again in the evening.
fn household(memory: &Memory, days: std::ops::Range<u32>, morning: f64) {
    for day in days {
        let day = f64::from(day);
        remember(
            memory,
            at(day + morning / 24.0),
            &[
                (MemoryKind::Episodic, "<person_1> was in view of front for 20 s.", 0.0),
                (MemoryKind::Episodic, "<person_2> was in view of front for 20 s.", 5.0),
                (MemoryKind::Utterance, "<person_1> said: \"good morning\"", 8.0),
                (MemoryKind::Utterance, "<person_1> said: \"any coffee left\"", 15.0),
            ],
        );
        let evening = at(day + (18.0 + 3.0 * (day % 2.0)) / 24.0);
        remember(
            memory,
            evening,
            &[(MemoryKind::Episodic, "<person_2> was in view of front for 9 s.", 0.0)],
        );
    }
}

fn conclusions(view: &View) -> Vec<String> {
    let filter = Filter { kinds: vec![MemoryKind::Reflection], ..Filter::default() };
    let rows = view.memories(&filter);
    let mut holding: Vec<String> =
        rows.iter().filter(|row| row.valid_to.is_none()).map(|row| row.text.clone()).collect();
    holding.sort();
    holding
}

#[test]
fn habits_company_and_frequencies_are_concluded_from_many_days() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    let settings = config::Upkeep { reflect_importance: 5.0, ..config::Upkeep::default() };
    let upkeep = upkeep(&memory, settings);
    household(&memory, 0..2, 8.0);
    upkeep.run(at(2.0)).unwrap();
    assert!(conclusions(&memory.view()).is_empty(), "two days are no habit");
    household(&memory, 2..6, 8.0);
    let done = upkeep.run(at(6.0)).unwrap();
    let view = memory.view();
    assert_eq!(
        conclusions(&view),
        [
            "<person_1> is heard about twice a day (on 6 of 6 days).",
            "<person_1> is seen about once a day (on 6 of 6 days).",
            "<person_1> is usually here between 08:00 and 08:30 (on 6 of 6 days).",
            "<person_1> is usually with <person_2> (on 6 of 6 days).",
            "<person_2> is seen about twice a day (on 6 of 6 days).",
            "<person_2> is usually here between 08:00 and 08:30 (on 6 of 6 days).",
            "<person_2> is usually with <person_1> (on 6 of 6 days).",
        ]
    );
    assert_eq!(done.concluded, 7);
    // Each rests on memories that there are, of several days, the newest among them.
    let filter = Filter { kinds: vec![MemoryKind::Reflection], ..Filter::default() };
    for row in view.memories(&filter) {
        let grounds: Vec<_> = row
            .grounds
            .iter()
            .map(|ground| match ground {
                Ground::Memory(id) => view.memory(*id).unwrap(),
                other => panic!("{other:?}"),
            })
            .collect();
        assert!(grounds.len() >= 6 && !view.is_weak(&row), "{row:?}");
        assert!(grounds.iter().any(|ground| ground.span.start >= at(5.0)), "{row:?}");
        assert!((0.5..1.0).contains(&row.confidence), "{row:?}");
    }
    assert_eq!(view.decisions().len(), 7);
    // It can be asked for.
    let Some(language) = crate::language::tests::shared() else { return };
    let answerer = crate::answer::Answerer::new(TimeZone::UTC, 5, None)
        .with_meaning(crate::answer::Meaning::new(language, TimeZone::UTC));
    for (question, told) in [
        ("When is person_1 usually here?", "between 08:00 and 08:30"),
        ("Who is person_1 usually with?", "usually with person 2"),
    ] {
        let question = crate::answer::Question { text: question.into(), ..Default::default() };
        let reply = answerer.answer(&memory, &question, Some(at(6.0))).unwrap();
        assert!(reply.answer.contains(told) && !reply.evidence.is_empty(), "{reply:?}");
    }
    // Nothing new: nothing is due.
    assert!(upkeep.run(at(6.1)).unwrap().is_nothing());
}

#[test]
fn four_weeks_are_gone_through_once_an_hour_at_most() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    let settings = config::Upkeep { reflect_importance: 5.0, ..config::Upkeep::default() };
    let upkeep = upkeep(&memory, settings);
    let minute = |minute: u32| at(6.0 + f64::from(minute) / 1440.0);
    let concluded = |now: u32| {
        upkeep.run(minute(now)).unwrap();
        memory.mark(REFLECT).unwrap().unwrap().at
    };
    household(&memory, 0..6, 8.0);
    assert_eq!(concluded(0), minute(0));
    for now in 10..40 {
        let words = "<person_1> said: \"any coffee left\"";
        remember(&memory, minute(now), &[(MemoryKind::Utterance, words, 0.0)]);
    }
    assert_eq!(concluded(50), minute(0));
    assert_eq!(concluded(61), minute(61));
}

#[test]
fn a_habit_gives_way_when_newer_days_say_otherwise() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    let settings = config::Upkeep { reflect_importance: 5.0, ..config::Upkeep::default() };
    let upkeep = upkeep(&memory, settings);
    household(&memory, 0..6, 8.0);
    upkeep.run(at(6.0)).unwrap();
    household(&memory, 6..34, 11.0);
    upkeep.run(at(34.5)).unwrap();
    let now = conclusions(&memory.view());
    assert!(
        now.iter().any(|text| text.contains("person_1> is usually here between 11:00")),
        "{now:?}"
    );
    assert!(!now.iter().any(|text| text.contains("08:00")), "{now:?}");
    // What held then is still told of then.
    let then = conclusions(&memory.view_as_of(AsOf::Time(at(7.0))).unwrap());
    assert!(then.iter().any(|text| text.contains("between 08:00 and 08:30")), "{then:?}");
    let closed = memory.view().memories(&Filter::default());
    let closed: Vec<_> = closed
        .iter()
        .filter(|row| row.kind == MemoryKind::Reflection && row.valid_to.is_some())
        .collect();
    assert!(closed.iter().any(|row| row.valid_to == Some(at(34.5))), "{closed:?}");
}

#[test]
fn the_same_life_brings_the_same_memory_killed_in_between_or_not() {
    let live = |dir: &Path, reopened: bool| {
        let settings = config::Upkeep {
            reflect_importance: 5.0,
            fade_days: 1.0,
            history_days: 2.0,
            ..config::Upkeep::default()
        };
        let mut memory = open(dir);
        for day in 0..16 {
            upkeep(&memory, settings.clone()).run(at(f64::from(day))).unwrap();
            if reopened {
                drop(memory);
                memory = open(dir);
                // The pass is through: once more it does nothing.
                let again = upkeep(&memory, settings.clone()).run(at(f64::from(day))).unwrap();
                assert!(again.is_nothing(), "{again:?}");
            }
            household(&memory, day..day + 1, 8.0);
        }
        (memory.hash(), memory.view().count_memories())
    };
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    assert_eq!(live(one.path(), false), live(two.path(), true));
}

#[test]
fn what_has_faded_is_folded_into_hours_and_days() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    let settings = config::Upkeep {
        reflect: false,
        fade_days: 1.0,
        history_days: 3.0,
        ..config::Upkeep::default()
    };
    let upkeep = upkeep(&memory, settings);
    let ids = remember(
        &memory,
        at(8.0 / 24.0),
        &[
            (MemoryKind::Utterance, "<person_1> said: \"the piano tuner comes on Friday\"", 0.0),
            (MemoryKind::Utterance, "<person_2> said: \"good\"", 5.0),
            (MemoryKind::Episodic, "<person_2> was in view of front for 20 s.", 6.0),
            (MemoryKind::Semantic, "<person_1> likes tea.", 9.0),
        ],
    );
    let mut draft = memory.begin(at(0.4));
    let pinned = draft.new_memory_id();
    let told = row(MemoryKind::Utterance, "<person_1> said: \"never forget this\"", at(0.34));
    draft.memory(MemoryRow { id: pinned, pinned: true, ..told }, None);
    let rests = draft.new_memory_id();
    let concluded = row(MemoryKind::Reflection, "The piano matters.", at(0.34));
    draft.memory(MemoryRow { id: rests, grounds: vec![Ground::Memory(ids[0])], ..concluded }, None);
    draft.commit().unwrap();
    assert!(upkeep.run(at(0.5)).unwrap().is_nothing(), "the first day begins the count");
    // Recalled four times: stronger.
    for _ in 0..4 {
        memory.note_access(&[ids[1]], at(1.0));
    }
    let done = upkeep.run(at(6.0)).unwrap();
    assert_eq!((done.folded, done.hours, done.days), (2, 1, 0));
    let view = memory.view();
    assert!(view.memory(ids[0]).is_none() && view.memory(ids[2]).is_none());
    assert!([ids[1], ids[3], pinned, rests].iter().all(|id| view.memory(*id).is_some()));
    let summaries = Filter { kinds: vec![MemoryKind::Summary], ..Filter::default() };
    let hour = &view.memories(&summaries)[0];
    assert_eq!(
        hour.text,
        "Sunday 1 March 2026, 08:00 to 09:00: 1 remark, 1 episode; with <person_1> (1), <person_2> (1). · \
         <person_1> said: \"the piano tuner comes on Friday\" · <person_2> was in view of front for 20 s."
    );
    assert_eq!(view.retirement(ids[0]).unwrap().reason, format!("folded into {}", hour.id));
    // Evidence follows.
    assert_eq!(view.memory(rests).unwrap().grounds, [Ground::Memory(hour.id)]);
    // What was known then is told for as long as history is kept …
    let then = memory.view_as_of(AsOf::Time(at(5.0))).unwrap();
    assert!(then.memory(ids[0]).is_some());
    // … and the words still find it.
    assert_eq!(view.lexical("piano tuner", 1, &Filter::default())[0].0, hour.id);
    // Later the hour fades into its day.
    let done = upkeep.run(at(20.0)).unwrap();
    assert_eq!((done.hours, done.days), (0, 1));
    let view = memory.view();
    let day = &view.memories(&summaries)[0];
    assert_eq!(day.span, Span::new(at(0.0), at(1.0)));
    assert!(
        day.text.starts_with("Sunday 1 March 2026: 2 remarks, 1 episode; with"),
        "{}",
        day.text
    );
    assert!(day.text.contains("piano tuner"), "{}", day.text);
    assert!(memory.check().unwrap().faults.is_empty(), "{:?}", memory.check());
}

#[test]
fn over_the_cap_the_least_retained_go_and_the_past_is_let_go() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    let settings = config::Upkeep {
        reflect: false,
        keep_memories: 100,
        history_days: 2.0,
        ..config::Upkeep::default()
    };
    let keeper = upkeep(&memory, settings);
    let mut rows = 0;
    for day in 0..60 {
        let done = keeper.run(at(f64::from(day))).unwrap();
        rows += done.compacted;
        for clip in 0..3 {
            let start = at(f64::from(day) + f64::from(clip) / 24.0);
            let moments: Vec<_> = (0..4)
                .map(|n| (MemoryKind::Utterance, "<person_1> said: \"hm\"", f64::from(n)))
                .collect();
            remember(&memory, start, &moments);
        }
        assert!(memory.view().count_memories() <= 100, "day {day}");
    }
    assert!(rows > 256, "{rows}");
    let since = memory.history_from().unwrap();
    assert!(since > at(20.0), "{since}");
    let error = memory.view_as_of(AsOf::Time(at(10.0))).unwrap_err();
    assert!(error.to_string().contains("known since"), "{error}");
    assert!(memory.view_as_of(AsOf::Time(since)).is_ok());
    // What is left of the store reads back the same.
    let (hash, count) = (memory.hash(), memory.view().count_memories());
    assert!(memory.check().unwrap().faults.is_empty());
    drop(keeper);
    drop(memory);
    let memory = open(dir.path());
    assert_eq!((memory.hash(), memory.view().count_memories()), (hash, count));
    assert_eq!(memory.history_from(), Some(since));
}

#[test]
fn a_short_recording_makes_no_other_past_old() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    let keeper = upkeep(&memory, config::Upkeep::default());
    let replay = |start: Timestamp, digest: &str| {
        let mut draft = memory.begin(start.plus_secs(30.0));
        let recording =
            Recording { sha256: digest.repeat(32), path: "x".into(), selection: "all".into() };
        let session = draft.new_session(start, 30.0, Some(recording));
        let id = ClipId { session, index: 0 };
        let span = Span::new(start, start.plus_secs(30.0));
        draft.clip(Clip { id, span, frames: 1, analysed: 1, dropped: 0, key_frames: Vec::new() });
        draft.commit().unwrap();
        // Many versions, all but the newest retired.
        let id = memory.begin(start).new_memory_id();
        for n in 0..300 {
            let mut draft = memory.begin(start.plus_secs(30.0));
            let id = if n == 0 { draft.new_memory_id() } else { id };
            let text = format!("version {n}");
            draft.memory(MemoryRow { id, ..row(MemoryKind::Note, &text, start) }, None);
            draft.commit().unwrap();
        }
    };
    replay(at(-15_000.0), "ab");
    keeper.run(at(-15_000.0).plus_secs(30.0)).unwrap();
    replay(at(0.0), "cd");
    assert_eq!(keeper.run(at(0.0).plus_secs(30.0)).unwrap().compacted, 0);
    assert!(memory.view_as_of(AsOf::Time(at(-15_000.0).plus_secs(30.0))).is_ok());
    // Live, days pass.
    let mut draft = memory.begin(at(100.0));
    draft.new_session(at(100.0), 30.0, None);
    draft.commit().unwrap();
    assert!(keeper.run(at(100.0)).unwrap().compacted >= 598);
}

#[test]
fn a_recording_fades_by_its_own_clock() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    let mut draft = memory.begin(at(-3000.0));
    let recording =
        Recording { sha256: "ab".repeat(32), path: "old.mp4".into(), selection: "all".into() };
    let session = draft.new_session(at(-3000.0), 30.0, Some(recording));
    let clip = ClipId { session, index: 0 };
    let id = draft.new_memory_id();
    let old = row(MemoryKind::Utterance, "Somebody said: \"long ago\"", at(-3000.0));
    draft.memory(MemoryRow { id, clip: Some(clip), ..old }, None);
    draft.commit().unwrap();
    let mut draft = memory.begin(at(0.0));
    assert_eq!(draft.new_session(at(0.0), 30.0, None), SessionId(2));
    draft.commit().unwrap();
    let upkeep = upkeep(&memory, config::Upkeep { fade_days: 1.0, ..config::Upkeep::default() });
    upkeep.run(at(0.0)).unwrap();
    assert_eq!(upkeep.run(at(50.0)).unwrap().folded, 0);
    assert!(memory.view().memory(id).is_some());
}

/// Poses of a clip: one per second at a point.
fn stand(
    memory: &Memory,
    index: u32,
    from: f64,
    secs: i64,
    (x, y): (f64, f64),
    said: Option<&str>,
) {
    use crate::media::Pose;
    use crate::memory::model::PoseRow;
    let start = at(0.0).plus_secs(from);
    let mut draft = memory.begin(start.plus_secs(secs as f64));
    let session = match draft.before().sessions().last() {
        Some(session) => session.id,
        None => draft.new_session(start, 30.0, None),
    };
    let clip = ClipId { session, index };
    let span = Span::new(start, start.plus_secs(secs as f64));
    draft.clip(Clip { id: clip, span, frames: 1, analysed: 1, dropped: 0, key_frames: Vec::new() });
    for second in 0..secs {
        let stamp = start.plus_secs(second as f64);
        let wobble = if second % 2 == 0 { 0.1 } else { -0.1 };
        let pose = Pose { stamp, x: x + wobble, y, yaw: 0.0, frame: "map".into() };
        draft.pose(PoseRow { clip, pose });
    }
    if let Some(text) = said {
        let id = draft.new_memory_id();
        let row = row(MemoryKind::Utterance, text, start.plus_secs(5.0));
        draft.memory(MemoryRow { id, clip: Some(clip), ..row }, None);
    }
    draft.commit().unwrap();
}

#[test]
fn where_the_robot_stays_is_a_place_that_gets_its_name() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    let keeper = upkeep(&memory, config::Upkeep::default());
    let now = |secs: f64| at(0.0).plus_secs(secs);
    stand(&memory, 0, 0.0, 30, (1.0, 2.0), Some("Somebody said: \"this is the kitchen\""));
    stand(&memory, 1, 30.0, 5, (4.0, 2.0), None);
    stand(&memory, 2, 35.0, 30, (9.0, 2.0), None);
    assert_eq!(keeper.run(now(65.0)).unwrap().places, 3, "two places, one name");
    assert_eq!(keeper.run(now(65.0)).unwrap().places, 0);
    // Back again: no third place; its name is heard twice.
    stand(&memory, 3, 65.0, 30, (1.4, 2.3), Some("Somebody said: \"this is the kitchen again\""));
    stand(
        &memory,
        4,
        95.0,
        30,
        (9.3, 2.0),
        Some("Somebody said: \"we are in the living room now\""),
    );
    assert_eq!(keeper.run(now(125.0)).unwrap().places, 1, "one name");
    let view = memory.view();
    let places = view.places();
    let told: Vec<_> =
        places.iter().map(|place| (place.id.to_string(), place.name.clone().unwrap())).collect();
    assert_eq!(
        told,
        [("place_1".into(), "kitchen".into()), ("place_2".into(), "living room".into())]
    );
    let points: Vec<_> = places.iter().filter_map(|place| place.position.clone()).collect();
    assert!((points[0].x - 1.1).abs() < 1e-9 && points[0].frame == "map", "{places:?}");
    let name_at = |secs: f64| view.place_at(now(secs)).and_then(|place| place.name);
    assert_eq!(name_at(10.0).as_deref(), Some("kitchen"));
    assert_eq!(name_at(32.0), None, "on the way");
    assert_eq!(name_at(110.0).as_deref(), Some("living room"));
    let stays = view.stays_at(&places[0]);
    assert_eq!((stays.len(), stays[1].start), (2, now(65.0)));
    // A thing that was told of in the kitchen is near it.
    let mut draft = memory.begin(now(126.0));
    let id = draft.new_memory_id();
    let fact = crate::memory::model::Fact {
        subject: "mug".into(),
        attribute: "location".into(),
        value: "on the table".into(),
    };
    let told = row(MemoryKind::Semantic, "The mug is on the table.", now(70.0));
    draft.memory(MemoryRow { id, fact: Some(fact), ..told }, None);
    draft.commit().unwrap();
    let view = memory.view();
    assert_eq!(view.things_near(&points[0], 2.0)[0].object, "mug");
    assert!(view.things_near(&points[1], 2.0).is_empty());
    assert!(memory.check().unwrap().faults.is_empty());
}

#[test]
fn a_place_that_was_told_gets_its_position_from_the_first_pose_there() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    let keeper = upkeep(&memory, config::Upkeep::default());
    let now = |secs: f64| at(0.0).plus_secs(secs);
    let mut draft = memory.begin(now(1.0));
    let persons = crate::identify::Persons::default();
    let told = crate::memorize::Memorizer::new(None).reading(crate::memorize::fact_reader()).here(
        "kitchen",
        now(1.0),
        &persons,
        &mut draft,
    );
    draft.commit().unwrap();
    assert_eq!(memory.view().places()[0].position, None);
    stand(&memory, 0, 2.0, 30, (1.0, 2.0), Some("Somebody said: \"this is the kitchen\""));
    assert_eq!(keeper.run(now(32.0)).unwrap().places, 1, "its position, no second name");
    let places = memory.view().places();
    assert_eq!((places.len(), places[0].id), (1, told.0));
    assert!(places[0].is_called("Kitchen") && places[0].position.is_some(), "{places:?}");
    // By its pose, and as it was told.
    assert_eq!(memory.view().stays_at(&places[0]), [Span::new(now(1.0), now(32.0))]);
}
