//! What goes in comes out: rows, names, profiles, exports, hash.

use super::*;

#[test]
fn restart_gives_back_the_same_memory() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    household(&memory);
    let (hash, before) = (memory.hash(), memory.view());
    let beside = Memory::open_read_only(dir.path(), None).unwrap();
    assert_eq!(beside.hash(), hash);
    assert!(matches!(beside.begin(at(1)).commit(), Err(MemoryError::ReadOnly { .. })));
    drop(memory);
    let memory = open(dir.path());
    let after = memory.view();
    assert_eq!(memory.hash(), hash);
    assert_eq!(export(&after), export(&before));
    assert_eq!(after.persons(), before.persons());
    assert_eq!(memory.check().unwrap().faults, Vec::<String>::new());
    // Ids go on where they were.
    let mut draft = memory.begin(at(60));
    assert_eq!(draft.new_entity(EntityKind::Face), face(3));
    assert_eq!(draft.new_memory_id(), MemoryId(6));
}

#[test]
fn persons_are_whole_people() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    household(&memory);
    let view = memory.view();
    let persons = view.persons();
    assert_eq!(persons.len(), 2);
    let ava = &persons[0];
    assert_eq!((ava.id, ava.name.as_deref()), (person(1), Some("Ava")));
    assert_eq!(
        (ava.faces.as_slice(), ava.voices.as_slice()),
        ([face(1)].as_slice(), [voice(1)].as_slice())
    );
    assert_eq!((ava.first_seen, ava.last_seen), (Some(at(1)), Some(at(6))));
    assert!((ava.seen_secs - 5.0).abs() < 1e-9 && (ava.spoken_secs - 2.7).abs() < 1e-9);
    assert_eq!(view.newest_time(), Some(at(30)));

    let mut draft = memory.begin(at(60));
    draft.name(named(person(2), "Benjamin", 40, NameSource::Told));
    draft
        .merge(Merge { from: person(2), into: person(1), reason: "told".into(), decreed: true })
        .unwrap();
    let back = Merge { from: person(1), into: person(2), reason: String::new(), decreed: false };
    assert!(draft.merge(back).is_err(), "a circle of aliases");
    draft.commit().unwrap();
    let merged = memory.view();
    assert_eq!(merged.persons().len(), 1);
    let both = &merged.persons()[0];
    assert_eq!(both.name.as_deref(), Some("Benjamin"));
    assert_eq!(both.aliases, ["Ben", "Ava", "person_2"]);
    for id in [face(1), voice(2), person(2)] {
        assert_eq!(merged.resolve(id), person(1));
    }
    assert_eq!(merged.find_by_name("ben"), [person(1)]);
    // Names are looked up as of each view, whichever was asked before.
    for _ in 0..2 {
        assert_eq!(view.find_by_name(" BEN "), [person(2)]);
        assert_eq!(view.find_by_name("Benjamin"), []);
        assert_eq!(view.named_in("Benjamin met Ben."), [person(2)]);
        assert_eq!(merged.find_by_name("Benjamin"), [person(1)]);
        assert_eq!(merged.named_in("Benjamin met Ben."), [person(1)]);
    }
    assert_eq!(merged.memories_of(voice(2)).len(), 5);
    assert_eq!(view.persons().len(), 2, "a view stays as it is");

    let mut draft = memory.begin(at(90));
    draft.undo_merge(person(2));
    draft.commit().unwrap();
    assert_eq!(memory.view().persons().len(), 2);
    assert_eq!(memory.view().display_name(face(2)), "Benjamin");
}

#[test]
fn a_voice_that_is_no_person_is_none() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    let mut draft = memory.begin(at(30));
    let radio = draft.new_entity(EntityKind::Voice);
    draft.membership(member(radio, radio));
    draft.turn(turn(0, 1, Some(radio), 2, Some("and now the weather")));
    draft.commit().unwrap();
    assert_eq!(memory.view().persons(), []);
    assert_eq!(memory.view().resolve(radio), radio);
}

#[test]
fn percepts_are_exported_as_the_scorers_read_them() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    household(&memory);
    let view = memory.view();
    let mut out = Vec::new();
    view.export_percepts(&PerceptFilter::default(), &mut out).unwrap();
    let lines: Vec<serde_json::Value> = String::from_utf8(out)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 25 + 100 + 3);
    let first = &lines[0];
    assert_eq!(first["kind"], "face");
    assert_eq!(first["t"], "1970-01-01T00:00:01.000000000Z");
    assert_eq!(first["box"], serde_json::json!([10.5, 20.25, 64.0, 80.125]));
    assert_eq!((&first["track"], &first["person"]), (&"track_1".into(), &"person_1".into()));
    let turns: Vec<_> = lines.iter().filter(|line| line["kind"] == "turn").collect();
    assert_eq!(turns[0]["words"], "hello I am Ava");
    assert_eq!((&turns[1]["voice"], &turns[1]["person"]), (&"voice_2".into(), &"person_2".into()));
    assert!(turns[2]["person"].is_null() && turns[2]["words"].is_null());
    let mut rttm = Vec::new();
    view.export_rttm(&PerceptFilter::default(), &mut rttm).unwrap();
    let first = "SPEAKER kitchen_one 1 2.000 3.000 <NA> <NA> person_1 <NA> <NA>\n";
    assert!(String::from_utf8(rttm).unwrap().starts_with(first));
}

/// The household with one change before its commit.
fn changed(change: impl FnOnce(&mut Draft, &View)) -> String {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    household(&memory);
    let mut draft = memory.begin(at(60));
    change(&mut draft, &memory.view());
    draft.commit().unwrap();
    memory.hash()
}

#[test]
fn the_hash_sees_every_change() {
    let same = |draft: &mut Draft, view: &View| {
        draft.turn(TurnRow::clone(&view.turn(SessionId(1), TurnId(1)).unwrap()));
        draft.track(TrackRow::clone(&view.track(clip(0), TrackId(1)).unwrap()));
        draft.evidence(view.evidence()[0]);
        draft.membership(member(face(1), person(1)));
    };
    let base = changed(same);
    assert_eq!(base, changed(same), "the same history has the same hash");
    let mut seen = std::collections::BTreeSet::from([base.clone()]);
    let mut differs = |what: &str, change: &dyn Fn(&mut Draft, &View)| {
        let hash = changed(|draft, view| {
            same(draft, view);
            change(draft, view);
        });
        assert!(seen.insert(hash), "{what} does not change the hash");
    };
    differs("one word", &|draft, view| {
        let mut row = TurnRow::clone(&view.turn(SessionId(1), TurnId(1)).unwrap());
        row.words.as_mut().unwrap().text = "hello I am Eva".into();
        draft.turn(row);
    });
    differs("the time of one word by 1 ns", &|draft, view| {
        let mut row = TurnRow::clone(&view.turn(SessionId(1), TurnId(1)).unwrap());
        let span = &mut row.words.as_mut().unwrap().words[1].span;
        span.start = Timestamp::from_nanos(span.start.as_nanos() + 1);
        draft.turn(row);
    });
    differs("one box by a pixel", &|draft, view| {
        let mut row = TrackRow::clone(&view.track(clip(0), TrackId(1)).unwrap());
        let mut sightings: Vec<_> = row.sightings.iter().collect();
        sightings[3].bbox.x += 1.0;
        row.sightings = sightings.as_slice().into();
        draft.track(row);
    });
    differs("one time by 1 ns", &|draft, view| {
        let mut row = TrackRow::clone(&view.track(clip(0), TrackId(1)).unwrap());
        row.span.end = Timestamp::from_nanos(row.span.end.as_nanos() + 1);
        draft.track(row);
    });
    differs("one edge of evidence", &|draft, view| {
        draft.evidence(PairEvidence {
            support_secs: 2.5 + f64::EPSILON * 2.0,
            ..view.evidence()[0]
        });
    });
    differs("one membership", &|draft, _| draft.membership(member(face(1), person(2))));
    differs("a media file", &|draft, _| {
        draft.media(Media::new(MediaKind::KeyFrame, false, b"another frame".to_vec()));
    });
    differs("a component of a vector", &|draft, view| {
        let mut row = Exemplar::clone(&view.exemplars(face(1))[0]);
        row.embedding.values[0] += 1e-7;
        draft.exemplar(row);
    });
    differs("an entity of a memory", &|draft, view| {
        let mut row = MemoryRow::clone(&view.memory(MemoryId(4)).unwrap());
        row.entities.clear();
        draft.memory(row, None);
    });
}

#[test]
fn the_hash_does_not_see_where_it_came_from() {
    let hash_of = |path: &str, sha: &str, camera: &str, answers: usize| {
        let dir = tempfile::tempdir().unwrap();
        let memory = open(dir.path());
        let mut draft = memory.begin(at(30));
        let recording =
            Recording { sha256: sha.into(), path: path.into(), selection: camera.into() };
        let session = draft.new_session(at(0), 30.0, Some(recording));
        let mut row = track(0, 1, None, 1, 2);
        row.source = SourceId::new(camera);
        draft.track(row);
        draft.checkpoint(session, clip(0), path.as_bytes().to_vec());
        draft.commit().unwrap();
        memory.note_access(&[MemoryId(1)], at(5));
        for _ in 0..answers {
            memory.remember_answer("who?", "{}", at(40)).unwrap();
        }
        memory.hash()
    };
    assert_eq!(hash_of("/a.mp4", "aa", "camera", 0), hash_of("/b/c.mcap", "bb", "/cam/image", 3));
}

#[test]
fn a_malformed_row_is_left_aside() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    household(&memory);
    drop(memory);
    let db = Connection::open(dir.path().join("engram.db")).unwrap();
    db.execute_batch(
        "UPDATE turn SET voice = 'voice_x' WHERE turn = 2; UPDATE memory SET kind = 'rumour' WHERE id = 4; \
         UPDATE track SET sightings = x'00' WHERE track = 1",
    )
    .unwrap();
    drop(db);
    let memory = open(dir.path());
    assert_eq!(memory.loaded().malformed, 3);
    assert_eq!(memory.view().turns(&PerceptFilter::default()).len(), 2);
    let faults = memory.check().unwrap().faults;
    assert!(faults.iter().any(|fault| fault.starts_with("turn version 2: ")), "{faults:?}");
    drop(memory);
    assert_eq!(open(dir.path()).loaded().malformed, 3, "kept aside for inspection");
}

#[test]
fn answers_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    household(&memory);
    let first = memory.remember_answer("who is here?", "{\"answer\":\"Ava\"}", at(1)).unwrap();
    let second = memory.remember_answer("and now?", "{}", at(2)).unwrap();
    drop(memory);
    let memory = open(dir.path());
    let ids: Vec<_> = memory.answers(10).unwrap().into_iter().map(|answer| answer.id).collect();
    assert_eq!(ids, [second, first]);
    assert_eq!(memory.answer(first).unwrap().unwrap().question, "who is here?");
    memory.note_access(&[MemoryId(3), MemoryId(3)], at(9));
    drop(memory);
    let memory = open(dir.path());
    memory.note_access(&[MemoryId(3)], at(12));
    assert_eq!(memory.access(MemoryId(3)).unwrap(), Some((3, at(12))));
}
