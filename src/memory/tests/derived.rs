//! What is derived is kept from one start to the next, and nothing else is read than what would be derived.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::erasing::holds;
use super::history::{apply, everything, history};
use super::*;

fn is_restored(memory: &Memory) -> bool {
    memory.tables().is_as_restored()
}

/// Size and time of change of each file of what is derived.
fn files(dir: &Path) -> BTreeMap<PathBuf, (u64, std::time::SystemTime)> {
    let entries = std::fs::read_dir(dir.join("derived")).into_iter().flatten();
    let marks = entries.map(|entry| {
        let entry = entry.unwrap();
        let known = entry.metadata().unwrap();
        (entry.path(), (known.len(), known.modified().unwrap()))
    });
    marks.collect()
}

/// All that was known at each commit.
fn at_each(memory: &Memory) -> Vec<String> {
    let newest = memory.view().seq().0;
    let then = (1..=newest).filter_map(|seq| memory.view_as_of(AsOf::Seq(Seq(seq))).ok());
    then.map(|view| everything(&view)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 24,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn what_is_restored_is_what_was_closed(
        commits in history(),
        closed in proptest::collection::vec(any::<bool>(), 12),
        erased in proptest::collection::vec(proptest::option::weighted(0.2, 1_u32..4), 12),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let mut memory = open(dir.path());
        let mut draft = memory.begin(at(0));
        draft.new_session(at(0), 30.0, None);
        for kind in [EntityKind::Face, EntityKind::Voice, EntityKind::Person] {
            for _ in 0..3 {
                draft.new_entity(kind);
            }
        }
        draft.commit().unwrap();
        for (number, steps) in commits.iter().enumerate() {
            let now = number as i64 + 1;
            let mut draft = memory.begin(at(now));
            steps.iter().for_each(|step| apply(&mut draft, step, now));
            draft.commit().unwrap();
            if let Some(who) = erased[number].map(person).filter(|who| memory.view().knows(*who)) {
                memory.forget(&Forget::Entity(who), at(now)).unwrap();
            }
            if closed[number] {
                let (was, then) = (everything(&memory.view()), at_each(&memory));
                let hash = memory.hash();
                // (What erasing read anew lies in files without a name, and is not kept.)
                let is_kept = memory.tables().shelves().rows.keep().unwrap().is_some();
                drop(memory);
                memory = open(dir.path());
                prop_assert_eq!(is_restored(&memory), is_kept);
                prop_assert_eq!(memory.hash(), hash);
                if is_kept {
                    prop_assert_eq!(everything(&memory.view()), was);
                    prop_assert_eq!(at_each(&memory), then);
                }
let faults = memory.check().unwrap().faults;
                prop_assert!(faults.iter().all(|fault| !fault.starts_with("index")), "{:?}", faults);
            }
        }
    }
}

#[test]
fn a_start_that_changes_nothing_writes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    household(&memory);
    let was = everything(&memory.view());
    assert!(!is_restored(&memory));
    drop(memory);
    let kept = files(dir.path());
    assert_eq!(kept.len(), 4, "{kept:?}");
    for _ in 0..2 {
        let memory = open(dir.path());
        assert!(is_restored(&memory));
        assert_eq!(everything(&memory.view()), was);
        drop(memory);
        assert_eq!(files(dir.path()), kept);
    }
    // An answer changes the database, and nothing that is derived.
    let memory = open(dir.path());
    memory.remember_answer("Who?", "{}", at(50)).unwrap();
    assert!(!dir.path().join("derived/stamp").exists(), "until it is closed");
    drop(memory);
    let after = files(dir.path());
    let changed: Vec<_> =
        kept.iter().filter(|(path, mark)| after.get(*path) != Some(mark)).collect();
    assert_eq!(changed.len(), 1, "the stamp: {changed:?}");
    assert!(is_restored(&open(dir.path())));
}

#[test]
fn what_is_mostly_of_what_is_gone_is_derived_anew_beside_its_readers() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    household(&memory);
    assert!(!memory.tidy_derived().unwrap());
    let (reader, was, then) = (memory.view(), everything(&memory.view()), at_each(&memory));
    let rows = memory.tables().shelves().rows;
    let loose = vec![1; (LOOSE_BYTES + MOST_DERIVED * memory.database_bytes()) as usize];
    rows.put(&loose).unwrap();
    drop(rows);
    assert!(memory.tidy_derived().unwrap());
    assert!(!memory.tidy_derived().unwrap());
    for view in [reader, memory.view()] {
        assert_eq!(everything(&view), was);
    }
    assert_eq!(at_each(&memory), then);
    drop(memory);
    let taken: u64 = files(dir.path()).values().map(|(bytes, _)| bytes).sum();
    assert!(taken < loose.len() as u64, "{taken}");
    let memory = open(dir.path());
    assert!(is_restored(&memory));
    assert_eq!(everything(&memory.view()), was);
}

#[test]
fn what_does_not_fit_is_derived_anew() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    household(&memory);
    let was = everything(&memory.view());
    drop(memory);
    let derived = dir.path().join("derived");
    // Somebody else changed the database.
    let db = rusqlite::Connection::open(dir.path().join("engram.db")).unwrap();
    db.execute_batch("CREATE TABLE other (one); DROP TABLE other").unwrap();
    drop(db);
    let again = |why: &str| {
        let memory = open(dir.path());
        assert!(!is_restored(&memory), "{why}");
        assert_eq!(everything(&memory.view()), was, "{why}");
        drop(memory);
        assert!(is_restored(&open(dir.path())), "{why}, and kept");
    };
    again("another database");
    let state = std::fs::read(derived.join("state")).unwrap();
    for at in [0, state.len() / 2, state.len() - 1] {
        let mut other = state.clone();
        other[at] ^= 1;
        std::fs::write(derived.join("state"), other).unwrap();
        again("a damaged state");
    }
    for name in ["stamp", "state", "rows", "lists"] {
        let path = derived.join(name);
        let len = std::fs::metadata(&path).unwrap().len();
        if len > 0 {
            std::fs::File::options().write(true).open(&path).unwrap().set_len(len / 2).unwrap();
            again(name);
        }
        std::fs::remove_file(&path).unwrap();
        again(name);
    }
    // A killed process leaves no stamp.
    let memory = open(dir.path());
    memory.remember_answer("Who?", "{}", at(50)).unwrap();
    assert!(is_restored(&memory));
    std::mem::forget(memory.view());
    assert!(!derived.join("stamp").exists());
}

#[test]
fn a_damaged_shelf_is_noticed_and_derived_anew() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    household(&memory);
    let was = everything(&memory.view());
    drop(memory);
    let path = dir.path().join("derived/rows");
    let mut rows = std::fs::read(&path).unwrap();
    let at = rows.windows(9).position(|part| part == b"likes tea").unwrap();
    rows[at] = b'b';
    std::fs::write(&path, rows).unwrap();
    let memory = open(dir.path());
    assert!(is_restored(&memory));
    assert_ne!(everything(&memory.view()), was);
    while memory.check_derived() {}
    assert_eq!(everything(&memory.view()), was);
    drop(memory);
    let memory = open(dir.path());
    assert!(is_restored(&memory), "what was derived anew is kept");
    assert_eq!(everything(&memory.view()), was);
}

#[test]
fn what_is_erased_is_not_kept() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    household(&memory);
    drop(memory);
    assert!(holds(&dir.path().join("derived"), b"likes tea"));
    let memory = open(dir.path());
    assert!(is_restored(&memory));
    let reader = memory.view();
    memory.forget(&Forget::Entity(person(1)), at(60)).unwrap();
    assert!(!dir.path().join("derived/state").exists());
    // Somebody still reads it: nothing is kept then.
    drop(memory);
    assert!(files(dir.path()).is_empty());
    drop(reader);
    let memory = open(dir.path());
    memory.forget(&Forget::Entity(person(2)), at(61)).unwrap();
    drop(memory);
    for name in [&b"likes tea"[..], b"Ava", b"Ben", b"ava", b"ben"] {
        assert!(!holds(&dir.path().join("derived"), name), "{}", String::from_utf8_lossy(name));
    }
}

#[test]
fn an_encrypted_memory_keeps_nothing_derived() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    household(&memory);
    drop(memory);
    assert_eq!(files(dir.path()).len(), 4);
    let key = crate::encryption::StoreKey::parse(&"7".repeat(64)).unwrap();
    encrypt::<MemoryError>(dir.path(), &key, || Ok(())).unwrap();
    assert!(files(dir.path()).is_empty());
    let options = StoreOptions { key: Some(key), ..StoreOptions::default() };
    let memory = Memory::open(dir.path(), &options).unwrap();
    household_is_there(&memory);
    drop(memory);
    assert!(files(dir.path()).is_empty());
}

fn household_is_there(memory: &Memory) {
    assert!(memory.view().knows(person(1)));
}
