//! Things that a detector found.

use super::*;

fn object(number: u32) -> EntityId {
    entity(EntityKind::Object, number)
}

fn seen(index: u32, number: u64, of: u32, label: &str, start: i64) -> ObjectTrackRow {
    let face = track(index, number, None, start, 4);
    ObjectTrackRow {
        clip: face.clip,
        track: face.track,
        source: face.source,
        span: face.span,
        label: label.into(),
        picture: (640, 480),
        sightings: face.sightings,
        object: Some(object(of)),
        confidence: 0.75,
        colours: None,
    }
}

/// The household with a cup and a book in its clip.
fn with_things(memory: &Memory) {
    household(memory);
    let mut draft = memory.begin(at(60));
    assert_eq!(draft.new_entity(EntityKind::Object), object(1));
    assert_eq!(draft.new_entity(EntityKind::Object), object(2));
    draft.object_track(seen(0, 7, 1, "cup", 3));
    draft.object_track(seen(0, 8, 2, "cookery book", 2));
    draft.object_track(seen(0, 9, 1, "cup", 20));
    let id = draft.new_memory_id();
    let mut row = memory_row(id.0, "The cup is in view of front, on the left.", &[object(1)], 3);
    row.kind = MemoryKind::Semantic;
    row.grounds = vec![Ground::Object(clip(0), TrackId(9))];
    let (subject, attribute) = (object(1).to_string(), "location".to_owned());
    row.fact = Some(Fact { subject, attribute, value: "in view of front, on the left".into() });
    draft.memory(row, None);
    draft.commit().unwrap();
}

#[test]
fn things_are_kept_told_apart_and_found_by_what_they_are() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    with_things(&memory);
    let (hash, before) = (memory.hash(), memory.view());
    drop(memory);
    let memory = open(dir.path());
    let view = memory.view();
    assert_eq!(memory.hash(), hash);
    assert_eq!(export(&view), export(&before));
    assert_eq!(memory.check().unwrap().faults, Vec::<String>::new());
    let of = |entity| PerceptFilter { entity, ..PerceptFilter::default() };
    let tracks = |filter: &PerceptFilter| -> Vec<u64> {
        view.object_tracks(filter).iter().map(|row| row.track.0).collect()
    };
    assert_eq!(tracks(&of(None)), [8, 7, 9]);
    assert_eq!(tracks(&of(Some(object(1)))), [7, 9]);
    assert_eq!(*view.object_track(clip(0), TrackId(8)).unwrap(), seen(0, 8, 2, "cookery book", 2));
    assert_eq!(view.objects().iter().map(|row| row.track.0).collect::<Vec<_>>(), [9, 8]);
    assert_eq!(view.last_track_of(object(1), at(10)).unwrap().track, TrackId(7));
    assert_eq!((view.thing("object_2"), view.thing("mug")), ("cookery book".into(), "mug".into()));
    let lines = view.percept_lines(&PerceptFilter::default());
    let things = lines.iter().filter(|line| matches!(line, PerceptLine::Object { .. })).count();
    assert_eq!(things, 3 * 20);
    let sql = |query: &str| memory.sql(query, SqlLimits::default()).unwrap().rows;
    let told = serde_json::json!(["cup", "in view of front, on the left", null]);
    assert_eq!(
        serde_json::json!(sql("SELECT object, place, told_by FROM objects")),
        serde_json::json!([told])
    );
    assert_eq!(sql("SELECT * FROM object_sightings WHERE label = 'cup'").len(), 2);
    // Into another store and back.
    let other = tempfile::tempdir().unwrap();
    let copy = open(other.path());
    copy.import(export(&view).as_bytes()).unwrap();
    assert_eq!(copy.hash(), hash);
}

#[test]
fn a_thing_is_erased_with_all_that_is_known_of_it() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    with_things(&memory);
    memory.forget(&Forget::Entity(object(1)), at(90)).unwrap();
    let view = memory.view();
    assert_eq!(view.objects().len(), 1);
    assert!(!view.knows(object(1)) && view.label(object(1)).is_none());
    let texts = view.memories(&Filter::default());
    assert!(texts.iter().all(|row| !row.text.contains("cup")), "{texts:?}");
    let span = Span::new(at(0), at(4));
    memory.forget(&Forget::Span(span), at(91)).unwrap();
    assert_eq!(memory.view().object_tracks(&PerceptFilter::default()), []);
    assert_eq!(memory.check().unwrap().faults, Vec::<String>::new());
}

#[test]
fn things_enter_the_hash() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    household(&memory);
    let mut hashes = vec![memory.hash()];
    for (second, label) in [(60, "cup"), (61, "mug")] {
        let mut draft = memory.begin(at(second));
        draft.object_track(seen(0, 7, 1, label, 3));
        draft.commit().unwrap();
        hashes.push(memory.hash());
    }
    hashes.dedup();
    assert_eq!(hashes.len(), 3);
}

#[test]
fn a_body_is_its_persons_counts_once_and_is_erased_with_him() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    household(&memory);
    let view = memory.view();
    let (person, face) = view
        .tracks(&PerceptFilter::default())
        .iter()
        .find_map(|row| Some((view.resolve(row.face?), row.face?)))
        .unwrap();
    let secs =
        |view: &View| view.persons().into_iter().find(|row| row.id == person).unwrap().seen_secs;
    let before = secs(&view);
    let mut draft = memory.begin(at(60));
    draft.track(TrackRow { body: true, ..track(0, 70, Some(face), 40, 10) });
    // While his face is seen as well, and of somebody whose face never was.
    draft.track(TrackRow { body: true, ..track(0, 71, Some(face), 42, 4) });
    draft.track(TrackRow { body: true, ..track(0, 72, None, 40, 10) });
    draft.commit().unwrap();
    let hash = memory.hash();
    drop(memory);
    let memory = open(dir.path());
    let view = memory.view();
    assert_eq!(memory.hash(), hash);
    assert!(view.track(clip(0), TrackId(70)).unwrap().body);
    assert!((secs(&view) - before - 10.0).abs() < 1e-6);
    let sql = |query: &str| memory.sql(query, SqlLimits::default()).unwrap().rows.len();
    assert_eq!(sql("SELECT * FROM sightings WHERE kind = 'body'"), 3);
    let bodies = |view: &View| {
        let lines = view.percept_lines(&PerceptFilter::default());
        lines.iter().filter(|line| matches!(line, PerceptLine::Body { .. })).count()
    };
    assert_eq!(bodies(&view), 120);
    memory.forget(&Forget::Entity(person), at(70)).unwrap();
    assert_eq!(bodies(&memory.view()), 50, "nobody's stays");
    assert_eq!(memory.check().unwrap().faults, Vec::<String>::new());
}
