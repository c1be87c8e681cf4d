//! Damage found and mended.

use super::*;

fn damaged(dir: &Path) {
    let memory = open(dir);
    household(&memory);
    let pinned = MediaDigest::of(b"chip of ava");
    let frame = MediaDigest::of(b"frame of ava and ben");
    drop(memory);
    let db = Connection::open(dir.join("engram.db")).unwrap();
    db.execute_batch(
        "UPDATE turn SET voice = 'voice_x' WHERE turn = 2; UPDATE memory SET kind = 'rumour' WHERE id = 4; \
         UPDATE counter SET next = 2 WHERE what = 'person'; \
         INSERT INTO access VALUES (77, 1, 1); \
         UPDATE membership SET person = 'person_9' WHERE part = 'voice_2';",
    )
    .unwrap();
    let media = dir.join("media");
    std::fs::remove_file(media.join(&pinned.0[..2]).join(&*pinned.0)).unwrap();
    std::fs::write(media.join(&frame.0[..2]).join(&*frame.0), b"something else").unwrap();
}

#[test]
fn check_names_every_damage_and_repair_mends_it() {
    let dir = tempfile::tempdir().unwrap();
    damaged(dir.path());
    let report = Memory::open_read_only(dir.path(), None).unwrap().check().unwrap();
    for part in [
        "turn version 2: ",
        "memory version 4: ",
        "access: 1 rows of memories that are not there",
        "the counter of person stands at 2, but 2 is taken",
        "voice_2 belongs to person_9: one of them is not in the memory",
        "its bytes have another digest",
        "pinned, but not there",
        "rests on Turn",
    ] {
        assert!(report.faults.iter().any(|fault| fault.contains(part)), "{part}: {report:?}");
    }
    // The vector of a memory that nobody can read is a memory's still.
    let memory = open(dir.path());
    let done = memory.repair(at(40)).unwrap();
    assert!(done.len() >= 8, "{done:#?}");
    let report = memory.check().unwrap();
    assert_eq!(report.faults, Vec::<String>::new(), "{done:#?}");
    assert_eq!(memory.begin(at(50)).new_entity(EntityKind::Person), person(3), "given once");
    // What could not be read lies aside.
    let aside = std::fs::read_to_string(dir.path().join("aside/rows.jsonl")).unwrap();
    assert!(
        aside.lines().count() == 2 && aside.contains("rumour") && aside.contains("voice_x"),
        "{aside}"
    );
    let bytes = std::fs::read_dir(dir.path().join("aside")).unwrap();
    assert_eq!(bytes.count(), 2, "the damaged file lies aside, too");
    // Mended is mended.
    assert_eq!(memory.repair(at(60)).unwrap(), Vec::<String>::new());
    let hash = memory.hash();
    drop(memory);
    let memory = open(dir.path());
    assert_eq!((memory.loaded().malformed, memory.hash()), (0, hash));
    assert_eq!(memory.view().memories(&Filter::default()).len(), 4);
}

#[test]
fn a_sound_store_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    household(&memory);
    let hash = memory.hash();
    let mut draft = memory.begin(at(60));
    draft.memory(memory_row(9, "no vector for this", &[], 50), None);
    drop(draft);
    assert_eq!(memory.repair(at(60)).unwrap(), Vec::<String>::new());
    assert_eq!(memory.hash(), hash);
    assert!(memory.view().without_vector().is_empty());
    let mut draft = memory.begin(at(60));
    let id = draft.new_memory_id();
    draft.memory(memory_row(id.0, "no vector for this", &[], 50), None);
    draft.commit().unwrap();
    assert_eq!(memory.check().unwrap().without_vector, 1);
    assert_eq!(memory.view().without_vector(), [id]);
    drop(memory);
    let reader = Memory::open_read_only(dir.path(), None).unwrap();
    assert!(matches!(reader.repair(at(70)), Err(MemoryError::ReadOnly { .. })));
}
