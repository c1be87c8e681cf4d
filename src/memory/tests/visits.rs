//! Visits follow whatever happens to percepts; watches go with whom they name.

use super::erasing::holds;
use super::*;
use crate::ids::{FiringId, WatchId};
use crate::memory::{FiringRow, FiringState, Happening, Rule, Visit, VisitFilter, WatchRow};

const ABSENCE_SECS: f64 = 10.0;

fn visits(memory: &Memory) -> Vec<Visit> {
    memory.view().visits(&VisitFilter::default(), ABSENCE_SECS)
}

fn spans(visits: &[Visit]) -> Vec<(EntityId, Timestamp, Timestamp)> {
    visits.iter().map(|visit| (visit.person, visit.start, visit.end)).collect()
}

/// A live clip of a session, in which somebody is seen.
fn live_clip(memory: &Memory, session: SessionId, index: u32, seen: &[(u32, i64, i64)]) {
    let start = 1000 + 30 * i64::from(index);
    let mut draft = memory.begin(at(start + 30));
    let id = ClipId { session, index };
    draft.clip(Clip {
        id,
        span: Span::new(at(start), at(start + 30)),
        frames: 1,
        analysed: 1,
        dropped: 0,
        key_frames: Vec::new(),
    });
    for (number, (of, from, secs)) in seen.iter().enumerate() {
        let row = track(0, 100 * u64::from(index) + number as u64, Some(face(*of)), *from, *secs);
        draft.track(TrackRow { clip: id, ..row });
    }
    draft.commit().unwrap();
}

#[test]
fn a_visit_ends_with_an_absence_or_the_recording_and_shows_its_still_and_words() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    household(&memory);
    let found = visits(&memory);
    assert_eq!(spans(&found), [(person(1), at(1), at(6)), (person(2), at(4), at(24))]);
    assert_eq!(found[0].name.as_deref(), Some("Ava"));
    assert_eq!(found[0].said.as_deref(), Some("hello I am Ava"));
    assert_eq!(found[0].sources.len(), 2, "{found:?}");
    let frame = Media::new(MediaKind::KeyFrame, false, b"frame of ava and ben".to_vec());
    assert_eq!(found[0].still, Some(frame.digest), "she is in that one alone");
    assert!(found[0].over && !found[1].over, "the recording is not over, and she is away");
    let mut draft = memory.begin(at(31));
    draft.finish_session(SessionId(1)).unwrap();
    draft.commit().unwrap();
    assert!(visits(&memory)[1].over);
    let ended = memory.view().stays_ended_in(clip(0), ABSENCE_SECS);
    assert_eq!(ended.len(), 2, "both are told of at the end");
}

#[test]
fn a_live_visit_goes_on_over_a_restart_and_is_told_once() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    household(&memory);
    let mut draft = memory.begin(at(1000));
    let first = draft.new_session(at(1000), 30.0, None);
    draft.commit().unwrap();
    live_clip(&memory, first, 0, &[(1, 1025, 5)]);
    drop(memory);
    let memory = open(dir.path());
    let mut draft = memory.begin(at(1030));
    let second = draft.new_session(at(1030), 30.0, None);
    draft.commit().unwrap();
    live_clip(&memory, second, 1, &[(1, 1035, 5)]);
    live_clip(&memory, second, 2, &[(1, 1089, 1)]);
    live_clip(&memory, second, 3, &[]);
    let view = memory.view();
    let since = VisitFilter { span: Some(Span::new(at(900), at(2000))), ..VisitFilter::default() };
    let found = view.visits(&since, ABSENCE_SECS);
    assert_eq!(spans(&found), [(person(1), at(1025), at(1040)), (person(1), at(1089), at(1090))]);
    let told = |session, index| {
        let clip = ClipId { session, index };
        let ended = view.stays_ended_in(clip, ABSENCE_SECS);
        ended.iter().map(|stay| stay.span.end).collect::<Vec<_>>()
    };
    assert_eq!(told(first, 0), []);
    assert_eq!(told(second, 1), [at(1040)], "away from 1040 to 1050");
    assert_eq!(told(second, 2), []);
    assert_eq!(told(second, 3), [at(1090)]);
    let newest = VisitFilter { limit: Some(1), ..VisitFilter::default() };
    assert_eq!(spans(&view.visits(&newest, ABSENCE_SECS)), [(person(1), at(1089), at(1090))]);
}

#[test]
fn who_is_merged_was_there_once_and_the_view_of_sql_says_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let options = StoreOptions { absence_secs: ABSENCE_SECS, ..StoreOptions::default() };
    let memory = Memory::open(dir.path(), &options).unwrap();
    household(&memory);
    let sql = || {
        let query = "SELECT person, start, \"end\", recording FROM visits ORDER BY start, person";
        let table = memory.sql(query, SqlLimits::default()).unwrap();
        let row = |row: &Vec<serde_json::Value>| {
            let time = |value: &serde_json::Value| Timestamp::from_nanos(value.as_i64().unwrap());
            assert_eq!(row[3], "s1");
            (row[0].as_str().unwrap().parse().unwrap(), time(&row[1]), time(&row[2]))
        };
        table.rows.iter().map(row).collect::<Vec<(EntityId, Timestamp, Timestamp)>>()
    };
    assert_eq!(sql(), spans(&visits(&memory)));
    let mut draft = memory.begin(at(40));
    let (from, into) = (person(2), person(1));
    draft.merge(Merge { from, into, reason: "told".to_owned(), decreed: true }).unwrap();
    draft.commit().unwrap();
    assert_eq!(spans(&visits(&memory)), [(person(1), at(1), at(24))]);
    assert_eq!(sql(), spans(&visits(&memory)));
}

fn rule(who: &str, say: Option<&str>) -> Rule {
    Rule {
        who: who.to_owned(),
        what: Happening::Comes,
        place: None,
        for_secs: None,
        between: None,
        cooldown_secs: None,
        until: None,
        say: say.map(ToOwned::to_owned),
        snapshot_secs: None,
        once: false,
    }
}

#[test]
fn a_watch_goes_with_whom_it_names_and_with_all_that_it_told() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    household(&memory);
    let mut draft = memory.begin(at(31));
    let rules = [
        rule("Ava", Some("Hello, dear!")),
        rule("ava", None),
        rule("Ben", Some("Ben, call Ava!")),
        rule("unknown", None),
    ];
    for (rule, entity) in rules.into_iter().zip([Some(person(1)), None, Some(person(2)), None]) {
        let id = draft.new_watch_id();
        draft.watch(WatchRow { id, entity, rule });
    }
    for (watch, entity) in [(1, person(1)), (3, person(2)), (4, person(1))] {
        let id = draft.new_firing_id();
        draft.firing(FiringRow {
            id,
            watch: WatchId(watch),
            at: at(5),
            entity: Some(entity),
            source: Some(SourceId::new("front")),
            clip: Some(clip(0)),
            state: FiringState::Confirmed,
        });
    }
    draft.commit().unwrap();
    // What is gone from the rows of now is erased, too.
    let mut draft = memory.begin(at(32));
    draft.remove_watch(WatchId(2));
    draft.commit().unwrap();
    assert!(holds(dir.path(), b"Hello, dear!"));
    memory.forget(&Forget::Entity(person(1)), at(60)).unwrap();
    assert!(!holds(dir.path(), b"Hello, dear!"));
    assert!(!holds(dir.path(), b"Ava") && !holds(dir.path(), b"\"ava\""));
    let view = memory.view();
    let left: Vec<_> = view.watches().into_iter().map(|(_, row)| row).collect();
    assert_eq!(left.iter().map(|row| row.id).collect::<Vec<_>>(), [WatchId(3), WatchId(4)]);
    assert_eq!(left[0].rule.say.as_deref(), Some("Ben, call <erased>!"));
    let firings: Vec<_> = view.firings().iter().map(|row| row.id).collect();
    assert_eq!(firings, [FiringId(2)], "of the stranger's, what was told of her is gone");
    assert_eq!(memory.check().unwrap().faults, [""; 0]);
    let hash = memory.hash();
    drop(memory);
    let memory = open(dir.path());
    assert_eq!(memory.hash(), hash);
    // Numbers are not given again.
    assert_eq!(memory.begin(at(70)).new_watch_id(), WatchId(5));
}
