//! The promises of the memory, on real stores.

#![allow(clippy::unwrap_used)]

use crate::ids::EntityKind;
use crate::time::Span;

use super::model::*;
use super::*;

fn at(secs: i64) -> Timestamp {
    Timestamp::from_nanos(secs * 1_000_000_000)
}

#[test]
fn restart_gives_back_the_same_rows() {
    let dir = tempfile::tempdir().unwrap();
    let memory = Memory::open(dir.path(), &StoreOptions::default()).unwrap();
    let mut draft = memory.begin(at(30));
    let session = draft.new_session(at(0), 30.0, None);
    let person = draft.new_entity(EntityKind::Person);
    let face = draft.new_entity(EntityKind::Face);
    draft.membership(Membership { part: face, person, reason: "seen".into(), decreed: false });
    draft.name(NameRow {
        entity: face,
        name: "Ava".into(),
        since: at(3),
        source: NameSource::Said,
        turn: None,
    });
    let id = draft.new_memory_id();
    draft.memory(
        MemoryRow {
            id,
            kind: MemoryKind::Episodic,
            text: format!("<{person}> poured coffee."),
            span: Span::new(at(1), at(4)),
            clip: None,
            entities: vec![person],
            fact: None,
            importance: 0.3,
            confidence: 0.9,
            pinned: false,
            valid_from: at(1),
            valid_to: None,
            grounds: vec![],
            origin: "builtin".into(),
        },
        None,
    );
    draft.commit().unwrap();
    assert!(matches!(
        Memory::open(dir.path(), &StoreOptions::default()),
        Err(MemoryError::Locked { .. })
    ));
    let before = memory.view();
    let beside = Memory::open_read_only(dir.path()).unwrap();
    assert_eq!(beside.view().persons(), before.persons());
    drop(memory);
    let memory = Memory::open(dir.path(), &StoreOptions::default()).unwrap();
    let after = memory.view();
    assert_eq!(before.persons(), after.persons());
    assert_eq!(before.memories(&Filter::default()), after.memories(&Filter::default()));
    assert_eq!(after.display_name(person), "Ava");
    assert_eq!(after.find_by_name("ava"), [person]);
    let hits = after.lexical("Did Ava pour the coffee?", 5, &Filter::default());
    assert_eq!(hits[0].0, id);
    assert_eq!(after.session(session).unwrap().clip_secs, 30.0);
}
