//! Words in view.

use super::erasing::holds;
use super::*;
use crate::geometry::Rect;
use crate::percept::TextTrack;

fn read(number: u64, text: &str, start: i64) -> TextTrackRow {
    let track = TextTrack {
        id: TrackId(number),
        source: SourceId::new("front"),
        span: Span::new(at(start), at(start + 5)),
        text: text.to_owned(),
        confidence: 0.75,
        place: Rect { x: 20.0, y: 40.5, w: 200.0, h: 50.0 },
        picture: (640, 480),
        readings: 2,
        best_at: at(start + 1),
        continued: false,
    };
    TextTrackRow { clip: clip(0), track }
}

/// The household with a sign and a name badge in its clip.
fn with_signs(memory: &Memory) {
    household(memory);
    let mut draft = memory.begin(at(60));
    for row in [read(7, "Push to open", 3), read(8, "DrRosalindTolman", 10)] {
        let id = draft.new_memory_id();
        let (track, start) = (row.track.id, if row.track.id.0 == 7 { 3 } else { 10 });
        let text = format!("A sign in view of front, on the left, read \"{}\".", row.track.text);
        let mut told = memory_row(id.0, &text, &[], start);
        told.grounds = vec![Ground::Text(clip(0), track)];
        draft.text_track(row);
        draft.memory(told, None);
    }
    draft.commit().unwrap();
}

#[test]
fn words_in_view_are_kept_exported_and_found() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    household(&memory);
    let without = memory.hash();
    drop(memory);
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    with_signs(&memory);
    let (hash, before) = (memory.hash(), export(&memory.view()));
    assert_ne!(hash, without);
    drop(memory);
    let memory = open(dir.path());
    let view = memory.view();
    assert_eq!((memory.hash(), export(&view)), (hash.clone(), before));
    assert_eq!(memory.check().unwrap().faults, Vec::<String>::new());
    assert_eq!(*view.text_track(clip(0), TrackId(7)).unwrap(), read(7, "Push to open", 3));
    let span = Some(Span::new(at(9), at(20)));
    let later = view.text_tracks(&PerceptFilter { span, ..PerceptFilter::default() });
    assert_eq!(later.iter().map(|row| row.track.id.0).collect::<Vec<_>>(), [8]);
    let lines = view.percept_lines(&PerceptFilter::default());
    let texts = lines.iter().filter(|line| matches!(line, PerceptLine::Text { .. })).count();
    assert_eq!(texts, 2);
    let sql = |query: &str| memory.sql(query, SqlLimits::default()).unwrap().rows;
    let told = serde_json::json!([["Push to open", 2, "front", 20.0]]);
    let found = sql("SELECT text, readings, source, x FROM texts WHERE text LIKE 'Push%'");
    assert_eq!(serde_json::json!(found), told);
    let other = tempfile::tempdir().unwrap();
    let copy = open(other.path());
    copy.import(export(&view).as_bytes()).unwrap();
    assert_eq!(copy.hash(), hash);
}

#[test]
fn words_in_view_are_erased_with_their_span_and_with_whom_they_name() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    with_signs(&memory);
    let mut draft = memory.begin(at(70));
    let rosalind = draft.new_entity(EntityKind::Person);
    draft.name(named(rosalind, "Rosalind", 41, NameSource::Told));
    draft.commit().unwrap();
    memory.forget(&Forget::Entity(rosalind), at(90)).unwrap();
    let left = |memory: &Memory| -> Vec<u64> {
        let rows = memory.view().text_tracks(&PerceptFilter::default());
        rows.iter().map(|row| row.track.id.0).collect()
    };
    assert_eq!(left(&memory), [7], "the badge named her, without a space before it");
    let told = memory.view().memories(&Filter::default());
    assert!(told.iter().all(|row| !row.text.contains("Rosalind")), "{told:?}");
    assert!(told.iter().any(|row| row.text.contains("Push to open")));
    memory.forget(&Forget::Span(Span::new(at(0), at(9))), at(91)).unwrap();
    assert!(left(&memory).is_empty());
    assert_eq!(memory.check().unwrap().faults, Vec::<String>::new());
    drop(memory);
    for needle in ["Rosalind", "Push to open"] {
        assert!(!holds(dir.path(), needle.as_bytes()), "{needle}");
    }
}
