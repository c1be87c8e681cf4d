//! Crashes, locks, readers beside the writer.

use std::sync::atomic::{AtomicBool, Ordering};

use super::*;

#[test]
fn a_second_daemon_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    let error = Memory::open(dir.path(), &StoreOptions::default()).unwrap_err();
    assert!(matches!(error, MemoryError::Locked { .. }));
    assert!(error.to_string().contains("another engramd holds it"), "{error}");
    let clone = memory.clone();
    drop(memory);
    assert!(Memory::open(dir.path(), &StoreOptions::default()).is_err(), "a clone holds it still");
    drop(clone);
    open(dir.path());
    let empty = tempfile::tempdir().unwrap();
    assert!(matches!(Memory::open_read_only(empty.path(), None), Err(MemoryError::Missing { .. })));
}

#[test]
fn only_the_owner_may_read_the_store() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().join("a/b");
    let memory = open(&store);
    household(&memory);
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&store), 0o700);
    for name in ["engram.db", "engram.lock", "engram.db-wal"] {
        assert_eq!(mode(&store.join(name)), 0o600, "{name}");
    }
}

#[test]
fn a_dropped_draft_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    household(&memory);
    let hash = memory.hash();
    let mut draft = memory.begin(at(60));
    let given = draft.new_entity(EntityKind::Person);
    draft.memory(memory_row(99, "never mind", &[], 50), None);
    drop(draft);
    assert_eq!(memory.hash(), hash);
    assert_eq!(memory.begin(at(60)).new_entity(EntityKind::Person), given);
}

#[test]
fn a_failed_commit_changes_nothing_and_may_be_tried_again() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    household(&memory);
    let hash = memory.hash();
    memory.with_db("test", |db| db.execute_batch("PRAGMA max_page_count=1")).unwrap();
    let mut draft = memory.begin(at(60));
    let long = "word ".repeat(40_000);
    draft.memory(memory_row(7, &long, &[], 50), None);
    let mut tries = 0;
    let done = draft.commit_retrying(|error| {
        tries += 1;
        assert!(error.is_disk_full(), "{error}");
        assert_eq!(memory.view().seq().0, 1);
        if tries == 2 {
            let more = |db: &Connection| db.execute_batch("PRAGMA max_page_count=1000000");
            memory.with_db("test", more).unwrap();
        }
        true
    });
    assert_eq!((done.unwrap().0, tries), (2, 2));
    assert_ne!(memory.hash(), hash);
    assert_eq!(memory.view().memory(MemoryId(7)).unwrap().text, long);
}

#[test]
fn a_resumed_replay_finds_its_place() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    household(&memory);
    let recording =
        Recording { sha256: "ab".repeat(32), path: "elsewhere".into(), selection: "all".into() };
    let point = memory.resume_point(&recording).unwrap().unwrap();
    assert_eq!((point.session, point.next_clip, point.watermark), (SessionId(1), 1, at(30)));
    assert_eq!(point.checkpoint, b"state after the first clip");
    assert!(!point.finished);
    let mut draft = memory.begin(at(60));
    draft.finish_session(SessionId(1)).unwrap();
    draft.commit().unwrap();
    assert!(memory.resume_point(&recording).unwrap().unwrap().finished);
    let other = Recording { selection: "/camera".into(), ..recording };
    assert_eq!(memory.resume_point(&other).unwrap(), None);
}

/// Not a test of its own: what the process that is killed runs.
#[test]
fn writes_until_it_is_killed() {
    let Ok(dir) = std::env::var("ENGRAM_TEST_KILLED_STORE") else { return };
    let memory = open(Path::new(&dir));
    for number in memory.view().seq().0 + 1.. {
        let mut draft = memory.begin(at(number as i64));
        for i in 0..20 {
            let text = format!("commit {number} sentence {i}");
            draft.memory(memory_row(number * 100 + i, &text, &[person(1)], number as i64), None);
        }
        let bytes = format!("picture {number}").into_bytes();
        draft.media(Media::new(MediaKind::KeyFrame, false, bytes));
        let seq = draft.commit().unwrap();
        println!("committed {seq}");
    }
}

#[test]
fn kill_9_loses_no_commit() {
    use std::io::{BufRead as _, BufReader};
    let dir = tempfile::tempdir().unwrap();
    let mut least = 0;
    for round in 1..=3_u64 {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "memory::tests::durability::writes_until_it_is_killed",
                "--nocapture",
            ])
            .env("ENGRAM_TEST_KILLED_STORE", dir.path())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut confirmed = 0;
        for line in lines.by_ref() {
            let line = line.unwrap();
            if let Some((_, seq)) = line.split_once("committed ") {
                confirmed = seq.trim().parse().unwrap();
                if confirmed >= least + 3 * round {
                    break;
                }
            }
        }
        child.kill().unwrap();
        // What it managed to say before it died counts too.
        for line in lines.map_while(Result::ok) {
            if let Some((_, seq)) = line.split_once("committed ") {
                confirmed = seq.trim().parse().unwrap_or(confirmed);
            }
        }
        child.wait().unwrap();
        assert!(confirmed > least);
        let memory = open(dir.path());
        let view = memory.view();
        assert!(view.seq().0 >= confirmed, "commit {confirmed} is lost");
        assert_eq!(
            view.memories(&Filter::default()).len() as u64,
            view.seq().0 * 20,
            "a torn commit"
        );
        // The test gives its ids itself.
        let known = |f: &&String| f.contains("person_1") || f.contains("the counter of memory");
        let faults = memory.check().unwrap().faults;
        assert!(faults.iter().all(|fault| known(&fault)), "{faults:?}");
        least = view.seq().0;
    }
}

#[test]
fn readers_never_see_half_a_commit() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    let done = AtomicBool::new(false);
    let checked = std::thread::scope(|scope| {
        let readers: Vec<_> = (0..3)
            .map(|_| {
                scope.spawn(|| {
                    let mut checked = 0_u64;
                    while !done.load(Ordering::Acquire) || checked == 0 {
                        let view = memory.view();
                        let seq = view.seq().0;
                        // Every commit writes its number into ten rows of several tables.
                        let rows = view.memories(&Filter::default());
                        assert_eq!(rows.len() as u64, (seq * 10).min(50));
                        assert!(rows.iter().all(|row| row.text == format!("state {seq}")));
                        assert_eq!(
                            view.names(person(1)).first().map(|row| row.since),
                            (seq > 0).then(|| at(seq as i64))
                        );
                        assert_eq!(
                            view.evidence().first().map(|pair| pair.support_secs),
                            (seq > 0).then_some(seq as f64)
                        );
                        let found = view.lexical("state", 60, &Filter::default());
                        assert_eq!(found.len(), rows.len());
                        assert_eq!(view.memories_of(person(1)).len(), rows.len());
                        checked += 1;
                    }
                    checked
                })
            })
            .collect();
        for number in 1..=60_u64 {
            let mut draft = memory.begin(at(number as i64));
            for id in 0..(number * 10).min(50) {
                let row = memory_row(id, &format!("state {number}"), &[person(1)], number as i64);
                draft.memory(row, None);
            }
            draft.name(named(person(1), "Ava", number as i64, NameSource::Said));
            draft.evidence(PairEvidence {
                face: face(1),
                voice: voice(1),
                support_secs: number as f64,
                against_secs: 0.0,
                presence: None,
            });
            draft.commit().unwrap();
        }
        done.store(true, Ordering::Release);
        readers.into_iter().map(|reader| reader.join().unwrap()).sum::<u64>()
    });
    assert!(checked >= 3);
}

#[test]
fn media_keep_to_their_cap() {
    let dir = tempfile::tempdir().unwrap();
    let options = StoreOptions { media_cap_bytes: 5_000, ..StoreOptions::default() };
    let memory = Memory::open(dir.path(), &options).unwrap();
    let files: Vec<Media> =
        (0..20_u8).map(|i| Media::new(MediaKind::KeyFrame, i < 2, vec![i; 1_000])).collect();
    for (i, file) in files.iter().enumerate() {
        let mut draft = memory.begin(at(i as i64));
        draft.media(file.clone());
        draft.commit().unwrap();
    }
    memory.enforce_media_cap().unwrap();
    let kept: Vec<usize> =
        (0..20).filter(|i| memory.media(&files[*i].digest).unwrap().is_some()).collect();
    assert_eq!(kept, [0, 1, 17, 18, 19], "pinned, then the newest");
    assert!(memory.view().media_row(&files[5].digest).is_some(), "its digest stays");
    let report = memory.check().unwrap();
    assert_eq!((report.faults.len(), report.media_taken), (0, 15));
    // Left by a crash before its commit.
    let orphan = Media::new(MediaKind::Speech, false, b"nobody names me".to_vec());
    memory.folder().write(&orphan).unwrap();
    drop(memory);
    assert_eq!(open(dir.path()).media(&orphan.digest).unwrap(), None);
}

#[test]
fn a_damaged_row_takes_no_media_file_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    household(&memory);
    drop(memory);
    let digest = |of: &[u8]| MediaDigest::of(of);
    let (chip, sound) = (digest(b"chip of ava"), digest(b"sound of ava"));
    let db = Connection::open(dir.path().join("engram.db")).unwrap();
    let damage = "UPDATE media SET kind = 'x' WHERE digest IN (?, ?)";
    db.execute(damage, [&*chip.0, &*sound.0]).unwrap();
    drop(db);
    let memory = open(dir.path());
    for digest in [chip, sound] {
        assert!(memory.media(&digest).unwrap().is_some(), "rows name it");
    }
}

#[test]
fn an_older_store_is_brought_to_the_newest_schema() {
    let dir = tempfile::tempdir().unwrap();
    let path = store::database_path(dir.path());
    let db = rusqlite::Connection::open(&path).unwrap();
    db.execute_batch(store::MIGRATIONS[0]).unwrap();
    db.execute_batch(
        "INSERT INTO commits VALUES (1, 7, 7); \
         INSERT INTO entity (id, seq, recorded) VALUES ('person_1', 1, 7); \
         INSERT INTO entity (id, seq, recorded) VALUES ('face_1', 1, 7), ('voice_1', 1, 7); \
         INSERT INTO evidence (face, voice, support_secs, against_secs, seq, recorded) \
             VALUES ('face_1', 'voice_1', 8.0, 6.5, 1, 7), ('voice_1', 'voice_1', 30.0, 0.0, 1, 7); \
         INSERT INTO counter VALUES ('person', 2), ('face', 2), ('voice', 2);",
    )
    .unwrap();
    drop(db);
    // Absence was written into the pair; both ways of opening show it as it is.
    let (presence, support_secs, against_secs) = (None, 8.0, 6.5);
    let pair =
        PairEvidence { face: face(1), voice: voice(1), support_secs, against_secs, presence };
    let unmigrated = Memory::open_read_only(dir.path(), None).unwrap();
    assert!(unmigrated.view().knows(person(1)));
    assert_eq!(unmigrated.view().evidence().first(), Some(&pair));
    drop(unmigrated);
    let memory = open(dir.path());
    assert!(memory.view().knows(person(1)));
    assert_eq!(memory.view().summed_evidence().first(), Some(&pair));
    assert_eq!(memory.check().unwrap().faults, Vec::<String>::new());
    let version: u32 = memory
        .with_db("reading the schema", |db| {
            db.query_row("SELECT max(version) FROM schema_version", [], |row| row.get(0))
        })
        .unwrap();
    assert_eq!(version, store::SCHEMA_VERSION);
}
