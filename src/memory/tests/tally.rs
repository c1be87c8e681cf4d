//! What an erasure would take is what it takes.

use super::*;
use crate::memory::versions::Versions;
use crate::memory::versions::temporal::Temporal;

/// A household of which answers were given, in a folder.
fn answered(dir: &Path) -> Memory {
    let memory = open(dir);
    household(&memory);
    memory.remember_answer("Who is Ava?", "{\"answer\":\"Ava is here.\"}", at(31)).unwrap();
    memory.remember_answer("Who poured?", "{\"answer\":\"Ben.\"}", at(32)).unwrap();
    memory
}

/// Rows that are known now: memories, turns, samples, persons, answers.
fn known(memory: &Memory) -> [usize; 5] {
    fn open_rows<R: Temporal>(log: &Versions<R>) -> usize {
        log.iter().filter(|version| version.retired_seq().is_none()).count()
    }
    let tables = memory.tables();
    [
        open_rows(&tables.memories.log()),
        open_rows(&tables.turns.log()),
        open_rows(&tables.exemplars.log()),
        memory.view().persons().len(),
        memory.answers(9).unwrap().len(),
    ]
}

#[test]
fn a_dry_run_counts_what_the_erasure_takes_and_changes_nothing() {
    let whole = Span::new(at(0), at(100));
    for what in [
        vec![Forget::Entity(person(1))],
        vec![Forget::Entity(voice(2))],
        vec![Forget::Entity(person(1)), Forget::Entity(person(2))],
        vec![Forget::Memory(MemoryId(1))],
        vec![Forget::Memory(MemoryId(4)), Forget::Memory(MemoryId(5))],
        vec![Forget::Span(Span::new(at(5), at(7)))],
        vec![Forget::Span(whole)],
        vec![Forget::Aged(MemoryKind::Utterance, at(100))],
    ] {
        let dir = tempfile::tempdir().unwrap();
        let memory = answered(dir.path());
        let (hash, before) = (memory.hash(), known(&memory));
        let tally = memory.would_forget(&what).unwrap();
        assert_eq!((memory.hash(), known(&memory), memory.erasures()), (hash, before, 0));
        let erased = memory.forget_all(&what, at(60)).unwrap();
        assert_eq!((tally.rows, tally.files), (erased.rows, erased.files), "{what:?}: {tally:?}");
        assert!(tally.rewritten >= erased.rewritten.len(), "{what:?}: {tally:?}");
        let after = known(&memory);
        let gone: Vec<usize> = before.iter().zip(after).map(|(old, new)| old - new).collect();
        let counted = [tally.memories, tally.turns, tally.samples, tally.persons, tally.answers];
        assert_eq!(gone, counted, "{what:?}: {tally:?}");
    }
}

#[test]
fn a_dry_run_names_every_sort_of_thing_that_goes() {
    let dir = tempfile::tempdir().unwrap();
    let memory = answered(dir.path());
    let tally = memory.would_forget(&[Forget::Entity(face(1))]).unwrap();
    let wanted = Tally {
        persons: 1,
        faces: 1,
        voices: 1,
        samples: 1,
        tracks: 1,
        seen_secs: 5.0,
        turns: 1,
        spoken_secs: 2.7,
        clips: 1,
        memories: 2,
        rewritten: 2,
        answers: 1,
        rows: tally.rows,
        files: 3,
        moments: vec![Span::new(at(1), at(6))],
        media_bytes: b"frame of ava and benchip of avasound of ava".len() as u64,
        ..Tally::default()
    };
    assert_eq!(tally, wanted);
    // Words alone go with an utterance, and what rests on nothing else.
    let tally = memory.would_forget(&[Forget::Memory(MemoryId(1))]).unwrap();
    assert_eq!((tally.memories, tally.wordless, tally.turns, tally.files), (1, 1, 0, 1));
    assert!(memory.would_forget(&[Forget::Entity(person(9))]).is_err());
    assert!(memory.would_forget(&[Forget::Entity(EntityId::ROBOT)]).is_err());
}

#[test]
fn a_store_that_is_only_read_can_be_asked_what_would_go() {
    let dir = tempfile::tempdir().unwrap();
    let memory = answered(dir.path());
    let wanted = memory.would_forget(&[Forget::Entity(person(1))]).unwrap();
    drop(memory);
    let memory = Memory::open_read_only(dir.path(), None).unwrap();
    assert_eq!(memory.would_forget(&[Forget::Entity(person(1))]).unwrap(), wanted);
    assert!(memory.forget(&Forget::Entity(person(1)), at(60)).is_err());
}
