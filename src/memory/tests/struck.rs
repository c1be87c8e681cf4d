//! What erasing strikes from what stays: names in every column, seconds, reasons, and whoever is left with nothing.

use super::erasing::holds;
use super::*;
use crate::percept::{Action, ActionKind, CameraMove, Sound, SoundEvent, SoundKind};

/// Rosalind's traces all over a second recording of the household.
fn with_rosalind(memory: &Memory) -> (EntityId, Recording) {
    let recording = Recording {
        sha256: "cd".repeat(32),
        path: "Rosalind_birthday.mp4".into(),
        selection: "topics=/rosalind/image start=-".into(),
    };
    let mut draft = memory.begin(at(70));
    let clip =
        ClipId { session: draft.new_session(at(40), 30.0, Some(recording.clone())), index: 0 };
    let (face_3, rosalind) =
        (draft.new_entity(EntityKind::Face), draft.new_entity(EntityKind::Person));
    let other = draft.new_entity(EntityKind::Person);
    draft.membership(member(face_3, rosalind));
    draft.name(named(rosalind, "Rosalind", 41, NameSource::Told));
    draft.name(named(person(2), "Rosalind's Ben", 42, NameSource::Told));
    draft.name(named(person(2), "ROSALIND's Ben", 43, NameSource::Told));
    let source = SourceId::new("rosalinds_camera");
    let frame = Media::new(MediaKind::KeyFrame, false, b"frame of a cake".to_vec());
    draft.clip(Clip {
        id: clip,
        span: Span::new(at(40), at(70)),
        frames: 1,
        analysed: 1,
        dropped: 0,
        key_frames: vec![(source.clone(), at(45), frame.digest.clone())],
    });
    draft.media(frame);
    let of_clip = TrackRow { clip, source: source.clone(), ..track(0, 9, Some(face(2)), 45, 3) };
    draft.track(of_clip);
    let mut said = turn(0, 9, Some(voice(2)), 46, Some("rosalinds mug and Rosalind's own"));
    (said.clip, said.source) = (clip, source.clone());
    draft.turn(said);
    let span = Span::new(at(52), at(54));
    draft.camera_move(CameraMoveRow { clip, moved: CameraMove { source: source.clone(), span } });
    let event = SoundEvent {
        source: source.clone(),
        span,
        what: "Rosalind's dog".into(),
        confidence: 0.9,
        continued: false,
    };
    draft.sound_event(SoundEventRow { clip, event });
    let (kind, confidence, continued) = (ActionKind::Waves, 0.9, false);
    let action = Action { kind, span, confidence, continued };
    draft.action(ActionRow { clip, track: TrackId(77), source: source.clone(), action });
    draft.sound(SoundRow {
        clip,
        sound: Sound {
            source,
            span: Span::new(at(50), at(51)),
            kind: SoundKind::Loud,
            peak_dbfs: -3.0,
            background_dbfs: -40.0,
        },
    });
    draft.pose(PoseRow {
        clip,
        pose: crate::media::Pose {
            stamp: at(44),
            x: 0.0,
            y: 0.0,
            yaw: 0.0,
            frame: "rosalinds/map".into(),
        },
    });
    let reason = format!("Rosalind said that {face_3} is not {}", face(2));
    draft.membership(Membership { reason, ..member(face(2), person(2)) });
    let reason = "as rosalind says".to_owned();
    draft.merge(Merge { from: other, into: person(1), reason, decreed: true }).unwrap();
    draft.decision(Decision {
        memory: MemoryId(4),
        at: at(46),
        action: FactAction::Add,
        other: None,
        reason: "Rosalinds word".into(),
    });
    let id = draft.new_memory_id();
    let mut row = memory_row(id.0, "<person_2> hat Rosalinds Tasse.", &[person(2)], 47);
    row.origin = "model:rosalind-7b".into();
    draft.memory(row, None);
    draft.checkpoint(clip.session, clip, b"state of rosalinds_camera".to_vec());
    draft.commit().unwrap();
    memory.remember_answer("Is rosalind's cup here?", "{}", at(71)).unwrap();
    (rosalind, recording)
}

#[test]
fn a_name_is_struck_wherever_it_stands_and_the_recording_is_known_again() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    household(&memory);
    let (rosalind, recording) = with_rosalind(&memory);
    let name: [&[u8]; 2] = [b"osalind", b"OSALIND"];
    assert!(name.iter().all(|name| holds(dir.path(), name)));
    memory.forget(&Forget::Entity(rosalind), at(80)).unwrap();
    for name in name {
        assert!(!holds(dir.path(), name), "{}", String::from_utf8_lossy(name));
    }
    let view = memory.view();
    let names: Vec<String> = view.names(person(2)).iter().map(|row| row.name.clone()).collect();
    assert_eq!(names, ["<erased>'s Ben", "Ben"]);
    let session = view.session(SessionId(2)).unwrap();
    let kept = session.recording.as_ref().unwrap();
    assert_eq!(kept.path, "<erased>_birthday.mp4");
    assert_eq!(view.turn(SessionId(2), TurnId(9)).unwrap().words.as_ref().unwrap().words.len(), 5);
    let reason = view.membership(face(2)).unwrap().reason.clone();
    assert_eq!(reason, format!("<erased> said that <erased> is not {}", face(2)));
    let texts =
        view.memories(&Filter { span: Some(Span::new(at(40), at(70))), ..Filter::default() });
    assert_eq!(texts[0].text, "<person_2> hat <erased>s Tasse.");
    // Played once more, under whatever name, it goes on where it stood.
    let again = Recording { path: "renamed.mp4".into(), ..recording };
    let point = memory.resume_point(&again).unwrap().unwrap();
    assert_eq!((point.session, point.next_clip), (SessionId(2), 1));
    assert_eq!(point.checkpoint, b"", "it named her camera");
    let other = Recording { selection: "topics=/front/image start=-".into(), ..again };
    assert_eq!(memory.resume_point(&other).unwrap(), None);
    assert_eq!(memory.check().unwrap().faults, Vec::<String>::new());
    let hash = memory.hash();
    drop((texts, session, view, memory));
    assert_eq!(open(dir.path()).hash(), hash);
}

#[test]
fn a_name_that_is_a_word_is_struck_where_somebody_is_meant() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    household(&memory);
    let mut draft = memory.begin(at(60));
    let will = draft.new_entity(EntityKind::Person);
    draft.name(named(will, "Will", 40, NameSource::Told));
    draft.commit().unwrap();
    let meant = |text: &str| memory.view().named_in(text);
    assert_eq!(meant("He will be back; where there's a will there's a way."), []);
    assert_eq!(meant("Will it rain?"), []);
    for text in ["I saw Will.", "where is will", "Will poured tea", "will's mug", "will"] {
        assert_eq!(meant(text), [will], "{text}");
    }
    let mut draft = memory.begin(at(61));
    for (text, about) in [
        ("He will be back; where there's a will there's a way.", vec![]),
        ("Will poured tea for <person_2>, who will thank Will.", vec![person(2), will]),
        ("Will likes tea.", vec![will]),
    ] {
        let id = draft.new_memory_id();
        draft.memory(memory_row(id.0, text, &about, 50), None);
    }
    draft.commit().unwrap();
    memory.remember_answer("Where is Ben?", "{\"answer\":\"He will be back.\"}", at(62)).unwrap();
    memory.remember_answer("Who poured?", "{\"answer\":\"Will did.\"}", at(63)).unwrap();
    memory.forget(&Forget::Entity(will), at(64)).unwrap();
    let since = Filter { span: Some(Span::new(at(50), at(60))), ..Filter::default() };
    let rows = memory.view().memories(&since);
    let texts: Vec<&str> = rows.iter().map(|row| row.text.as_str()).collect();
    let left = [
        "He will be back; where there's a will there's a way.",
        "<erased> poured tea for <person_2>, who will thank <erased>.",
    ];
    assert_eq!(texts, left);
    let answers = memory.answers(9).unwrap();
    assert_eq!(answers.len(), 1);
    assert_eq!(answers[0].question, "Where is Ben?");
}

#[test]
fn an_erased_span_leaves_no_seconds_no_reasons_and_no_ghosts() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    household(&memory);
    let began = Timestamp::wall_clock();
    let mut draft = memory.begin(at(60));
    let (stranger, unknown) =
        (draft.new_entity(EntityKind::Face), draft.new_entity(EntityKind::Person));
    draft.clip(Clip {
        id: clip(1),
        span: Span::new(at(30), at(60)),
        frames: 1,
        analysed: 1,
        dropped: 0,
        key_frames: vec![],
    });
    draft.track(track(1, 4, Some(face(1)), 40, 5));
    draft.track(track(1, 5, Some(stranger), 42, 3));
    draft.turn(turn(1, 4, Some(voice(1)), 41, Some("fine")));
    draft.evidence(PairEvidence {
        face: face(1),
        voice: voice(1),
        support_secs: 5.5,
        against_secs: 0.25,
        presence: None,
    });
    let why =
        |reason: &str, part, person| Membership { reason: reason.into(), ..member(part, person) };
    draft.membership(why("voice_1 goes with face_1: 5.5 s for", voice(1), person(1)));
    draft.membership(why("face_3 is first met in s1/1", stranger, unknown));
    draft.commit().unwrap();
    assert_eq!(memory.view().persons().len(), 3);

    memory.forget(&Forget::Span(Span::new(at(35), at(60))), at(61)).unwrap();
    let view = memory.view();
    let left: Vec<_> = view
        .evidence()
        .iter()
        .map(|pair| (pair.face, pair.support_secs, pair.against_secs))
        .collect();
    assert_eq!(left, [(face(1), 2.5, 0.25)], "what the first clip told");
    assert_eq!(view.membership(voice(1)).unwrap().reason, "part of what this rested on is erased");
    assert_eq!(view.membership(face(1)).unwrap().reason, "looks alike, 0.61");
    assert!(!view.knows(stranger) && !view.knows(unknown));
    assert_eq!(view.persons().len(), 2);
    assert!(!holds(dir.path(), b"5.5 s for") && !holds(dir.path(), b"first met in s1/1"));
    let erased = memory.forget(&Forget::Span(Span::new(at(-100), at(1_000))), at(62)).unwrap();
    let view = memory.view();
    assert_eq!((view.evidence(), view.memberships().len()), (vec![], 0));
    let known: Vec<EntityId> = view.entities();
    assert_eq!(known, [person(1), person(2)], "their names were told of elsewhere");
    assert_eq!(memory.check().unwrap().faults, Vec::<String>::new());
    // The deed is written down as it was: when, and how many files.
    let audits: Vec<(i64, i64)> = memory
        .with_db("test", |db| {
            db.prepare("SELECT at, files FROM audit ORDER BY id")?
                .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect()
        })
        .unwrap();
    assert!(audits.len() == 2 && audits[0].0 >= began.as_nanos(), "{audits:?}");
    assert_eq!((audits[1].1, erased.files), (4, 4), "two frames, a chip, a sound");
    let hash = memory.hash();
    drop(view);
    drop(memory);
    assert_eq!(open(dir.path()).hash(), hash);
}

#[test]
fn what_a_name_was_heard_as_goes_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    household(&memory);
    let mut draft = memory.begin(at(40));
    let siobhan = draft.new_entity(EntityKind::Person);
    draft.name(named(siobhan, "Siobh\u{e1}n", 40, NameSource::Told));
    draft.commit().unwrap();
    let said = "I met Shivon yesterday.";
    let heard = memory.view().heard_in(said, &[]);
    let found: Vec<_> = heard.iter().map(|one| (one.written.as_str(), one.entity)).collect();
    assert_eq!(found, [("Shivon", siobhan)]);
    assert_eq!(memory.view().respelled(said, &[]), "I met Siobh\u{e1}n yesterday.");
    let mut draft = memory.begin(at(50));
    let id = draft.new_memory_id();
    let text = format!("<person_2> said: \"{said}\"");
    let row = memory_row(id.0, &text, &[person(2), siobhan], 41);
    draft.memory(MemoryRow { kind: MemoryKind::Utterance, ..row }, None);
    draft.commit().unwrap();
    assert!(holds(dir.path(), b"Shivon"));
    memory.forget(&Forget::Entity(siobhan), at(60)).unwrap();
    assert!(!holds(dir.path(), b"Shivon") && !holds(dir.path(), "Siobh\u{e1}n".as_bytes()));
    let left = memory.view().memory(id).unwrap();
    assert_eq!(left.text, "<person_2> said: \"I met <erased> yesterday.\"");
    assert_eq!(left.entities, [person(2)]);
    assert_eq!(memory.view().heard_in(said, &[]), []);
}
