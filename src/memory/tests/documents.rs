//! Documents: passages are notes with a place, and go as such.

use super::erasing::holds;
use super::*;
use crate::memory::testing::memory_row;

/// A passage that is a note.
fn told(draft: &mut Draft, document: &str, number: u32, heading: &str, text: &str) -> MemoryId {
    let memory = draft.new_memory_id();
    let row = memory_row(MemoryKind::Note, text, Span::new(at(10), at(10)));
    draft.memory(MemoryRow { id: memory, origin: DOCUMENT.to_owned(), ..row }, None);
    draft.passage(PassageRow {
        memory,
        document: document.to_owned(),
        number,
        heading: Some(heading.to_owned()),
        page: None,
        line: 10 * number + 1,
        last_line: 10 * number + 4,
    });
    memory
}

#[test]
fn a_document_is_listed_read_by_sql_and_erased_with_all_that_it_had() {
    let dir = tempfile::tempdir().unwrap();
    let memory = Memory::open(dir.path(), &StoreOptions::default()).unwrap();
    let mut draft = memory.begin(at(10));
    let first = told(&mut draft, "vac.md", 0, "Cleaning", "Wash the zinnia filter weekly.");
    let second = told(&mut draft, "vac.md", 1, "Storage", "Keep the vacuum dry.");
    let other = told(&mut draft, "oven.md", 0, "Cleaning", "Wipe the oven.");
    draft.commit().unwrap();
    let view = memory.view();
    let names = |view: &View| {
        view.documents().iter().map(|one| (one.name.clone(), one.passages)).collect::<Vec<_>>()
    };
    assert_eq!(names(&view), [("oven.md".to_owned(), 1), ("vac.md".to_owned(), 2)]);
    assert_eq!(view.passage(second).unwrap().line, 11);
    let of = |document: &str| {
        view.passages_of(document).iter().map(|row| row.memory).collect::<Vec<_>>()
    };
    assert_eq!(of("vac.md"), [first, second]);
    let query = "SELECT document, heading, line, text FROM passages ORDER BY document, number";
    let table = memory.sql(query, SqlLimits::default()).unwrap();
    assert_eq!(table.rows.len(), 3);
    let row = serde_json::json!(["vac.md", "Cleaning", 1, "Wash the zinnia filter weekly."]);
    assert_eq!(serde_json::json!(table.rows[1]), row);

    // (Whoever still reads keeps what is erased until then.)
    drop(view);

    // Told again without its first passage.
    let mut draft = memory.begin(at(20));
    draft.retire_memory(first, None, "gone").unwrap();
    draft.retire_passage(first);
    draft.commit().unwrap();
    assert_eq!(names(&memory.view()), [("oven.md".to_owned(), 1), ("vac.md".to_owned(), 1)]);

    // What would go is counted, and nothing goes.
    let tally = memory.would_forget(&[Forget::Document("vac.md".to_owned())]).unwrap();
    assert_eq!((tally.documents, tally.passages, tally.memories), (1, 1, 1), "{tally:?}");
    assert!(memory.view().memory(second).is_some());
    let one = memory.would_forget(&[Forget::Memory(other), Forget::Memory(first)]).unwrap();
    assert_eq!((one.documents, one.passages), (1, 1), "{one:?}");

    // What it had before goes, too, at every time; the other one stays.
    memory.forget(&Forget::Document("vac.md".to_owned()), at(30)).unwrap();
    let view = memory.view();
    assert_eq!(names(&view), [("oven.md".to_owned(), 1)]);
    assert!(view.memory(other).is_some() && view.memory(second).is_none());
    assert!(memory.view_as_of(AsOf::Time(at(12))).unwrap().memory(first).is_none());
    let gone = memory.forget(&Forget::Document("vac.md".to_owned()), at(31)).unwrap_err();
    assert!(gone.to_string().contains("vac.md"), "{gone}");
    drop((view, memory));
    assert!(!holds(dir.path(), b"zinnia") && !holds(dir.path(), b"vac.md"));
}

#[test]
fn a_name_in_a_document_is_struck_and_its_own_passage_goes() {
    let dir = tempfile::tempdir().unwrap();
    let memory = Memory::open(dir.path(), &StoreOptions::default()).unwrap();
    let mut draft = memory.begin(at(10));
    let rosalind = draft.new_entity(EntityKind::Person);
    let (name, source) = ("Rosalind".to_owned(), NameSource::Told);
    draft.name(NameRow { entity: rosalind, name, since: at(10), source, turn: None });
    told(&mut draft, "Rosalind's house.md", 0, "Keys", "Rosalind has the key.");
    let kept = told(&mut draft, "Rosalind's house.md", 1, "Asking Rosalind", "The door is blue.");
    draft.commit().unwrap();
    memory.forget(&Forget::Entity(rosalind), at(30)).unwrap();
    let view = memory.view();
    let place = view.passage(kept).unwrap();
    assert_eq!(place.document, "<erased>'s house.md");
    assert_eq!(place.heading.as_deref(), Some("Asking <erased>"));
    drop((view, memory));
    assert!(!holds(dir.path(), b"Rosalind"));
}
