//! What is forgotten is gone.

use super::*;
use crate::identify::Persons;
use crate::memorize::Memorizer;

/// Every file under the store, read whole.
fn bytes_of(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut open = vec![dir.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                found.push((path.clone(), std::fs::read(path).unwrap()));
            }
        }
    }
    found
}

/// Files there that have no name any more and that this process still holds: the shelf, once it was made anew.
fn nameless(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let open = std::fs::read_dir("/proc/self/fd").unwrap().map(|entry| entry.unwrap().path());
    let of_dir = open.filter(|file| {
        // Other threads open and close theirs meanwhile.
        let is_of = |path: PathBuf| path.starts_with(dir) && !path.exists();
        std::fs::read_link(file).is_ok_and(is_of)
    });
    of_dir.filter_map(|file| Some((file.clone(), std::fs::read(file).ok()?))).collect()
}

pub(super) fn holds(dir: &Path, needle: &[u8]) -> bool {
    bytes_of(dir)
        .iter()
        .chain(&nameless(dir))
        .any(|(_, bytes)| bytes.windows(needle.len()).any(|window| window == needle))
}

#[test]
fn the_shelf_is_looked_through() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    household(&memory);
    let shelf = |needle: &[u8]| {
        bytes_of(&dir.path().join("derived"))
            .iter()
            .any(|(_, bytes)| bytes.windows(needle.len()).any(|window| window == needle))
    };
    assert!(shelf(b"likes tea"));
    memory.forget(&Forget::Entity(person(1)), at(60)).unwrap();
    assert!(!shelf(b"likes tea") && shelf(b"poured coffee"));
}

#[test]
fn an_erased_person_leaves_no_trace() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    household(&memory);
    memory.remember_answer("Who is Ava?", "{\"answer\":\"Ava is here.\"}", at(31)).unwrap();
    memory.remember_answer("Who poured?", "{\"answer\":\"Ben.\"}", at(32)).unwrap();
    let vector: Vec<u8> = memory.view().exemplars(face(1))[0]
        .embedding
        .values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    let traces: [&[u8]; 6] =
        [b"Ava", b"ava", b"sound of", b"chip of", b"likes tea", b"state after the first clip"];
    for trace in traces.iter().chain([&vector.as_slice()]) {
        assert!(holds(dir.path(), trace), "{:?} was there", String::from_utf8_lossy(trace));
    }
    let erased = memory.forget(&Forget::Entity(voice(1)), at(60)).unwrap();
    assert!(erased.rows > 10);
    assert_eq!(erased.files, 3, "chip, sound, the frame that shows her");
    assert_eq!(erased.rewritten, [MemoryId(2), MemoryId(3)]);
    for trace in traces.iter().chain([&vector.as_slice()]) {
        assert!(!holds(dir.path(), trace), "{:?} is still there", String::from_utf8_lossy(trace));
    }
    let texts = |view: &View| {
        view.memories(&Filter::default()).iter().map(|row| row.text.clone()).collect::<Vec<_>>()
    };
    let view = memory.view();
    let left = [
        "<erased> and <person_2> talked in the kitchen.",
        "<voice_2> said: \"nice to meet you <erased> I am Ben\"",
        "<person_2> poured coffee.",
    ];
    assert_eq!(texts(&view), left);
    let before = memory.view_as_of(AsOf::Time(at(30))).unwrap();
    assert_eq!(texts(&before), left, "at every time");
    assert_eq!(view.persons().len(), 1);
    assert_eq!(view.find_by_name("Ava"), []);
    let words = view.turn(SessionId(1), TurnId(2)).unwrap().words.clone().unwrap();
    assert_eq!(words.text, "nice to meet you <erased> I am Ben");
    assert_eq!(words.words[4].text, ERASED);
    assert_eq!(view.clip(clip(0)).unwrap().key_frames.len(), 1);
    assert_eq!(view.embedding(MemoryId(3), MODEL), None, "to be embedded anew");
    assert_eq!(memory.answers(9).unwrap().len(), 1);
    assert_eq!(memory.check().unwrap().faults, Vec::<String>::new());
    assert!(memory.forget(&Forget::Entity(voice(1)), at(61)).is_err(), "nobody there");
    // Ids are given once.
    assert_eq!(memory.begin(at(70)).new_entity(EntityKind::Voice), voice(3));
    let hash = memory.hash();
    drop(memory);
    assert_eq!(open(dir.path()).hash(), hash);
}

/// SQLite gives a row id again once no greater one is left.
#[test]
fn what_comes_after_an_erasure_can_be_erased_too() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    let mut draft = memory.begin(at(1));
    for _ in 0..3 {
        draft.new_entity(EntityKind::Person);
    }
    (1..=20).for_each(|id| draft.memory(memory_row(id, "sang for joy", &[person(3)], 1), None));
    draft.commit().unwrap();
    for (id, who) in [(21, person(1)), (22, person(2))] {
        let mut draft = memory.begin(at(id));
        draft.memory(memory_row(id as u64, "hid the key", &[who], id), None);
        draft.name(named(who, "Ava", id, NameSource::Told));
        draft.commit().unwrap();
        memory.forget(&Forget::Entity(who), at(id)).unwrap();
        let view = memory.view();
        assert!(view.memory(MemoryId(id as u64)).is_none() && !view.knows(who), "{who}");
        assert_eq!(view.lexical("key", 5, &Filter::default()), [], "{who}");
    }
    let left = memory.hash();
    drop(memory);
    assert_eq!(open(dir.path()).hash(), left);
}

#[test]
fn an_erased_memory_takes_its_conclusions_along() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    household(&memory);
    let mut draft = memory.begin(at(60));
    let mut from_one = memory_row(10, "<person_1> is a tea drinker.", &[person(1)], 50);
    from_one.grounds = vec![Ground::Memory(MemoryId(5))];
    let mut from_two = memory_row(11, "They met.", &[person(1), person(2)], 50);
    from_two.grounds = vec![Ground::Memory(MemoryId(3)), Ground::Memory(MemoryId(5))];
    draft.memory(from_one, None);
    draft.memory(from_two, None);
    draft.commit().unwrap();
    memory.forget(&Forget::Memory(MemoryId(5)), at(61)).unwrap();
    let view = memory.view();
    assert_eq!(view.memory(MemoryId(5)), None);
    assert_eq!(view.memory(MemoryId(10)), None);
    assert_eq!(view.memory(MemoryId(11)).unwrap().grounds, [Ground::Memory(MemoryId(3))]);
    assert!(!holds(dir.path(), b"likes tea"));
    assert!(memory.forget(&Forget::Memory(MemoryId(5)), at(62)).is_err());
}

#[test]
fn an_erased_memory_is_not_counted_as_recalled_later() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    household(&memory);
    let sound = |memory: &Memory| {
        let counted = memory.with_db("test", |db| {
            db.prepare("SELECT memory FROM access")?
                .query_map([], |row| row.get::<_, i64>(0))?
                .collect::<rusqlite::Result<Vec<_>>>()
        });
        assert_eq!(memory.check().unwrap().faults, Vec::<String>::new());
        counted.unwrap()
    };
    // A question that was asked before is answered after it was erased.
    memory.forget(&Forget::Memory(MemoryId(5)), at(60)).unwrap();
    memory.note_access(&[MemoryId(4), MemoryId(5)], at(61));
    let mut draft = memory.begin(at(62));
    draft.name(named(person(2), "Benny", 61, NameSource::Told));
    draft.commit().unwrap();
    assert_eq!(sound(&memory), [4]);
    memory.note_access(&[MemoryId(3), MemoryId(5)], at(63));
    drop(memory);
    assert_eq!(sound(&open(dir.path())), [3, 4]);
}

#[test]
fn an_answer_that_comes_after_the_erasure_does_not_bring_it_back() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    household(&memory);
    let before = memory.erasures();
    memory.forget(&Forget::Entity(person(1)), at(60)).unwrap();
    let answer = |document: &str| AnswerRow {
        id: memory.next_answer_id(),
        question: "Who was here?".to_owned(),
        document: document.to_owned(),
        asked: at(59),
    };
    // Its words may tell what no id in it does.
    let late = answer(r#"{"answer":"A friend of Ava's."}"#);
    memory.keep_answer(&late, before).unwrap();
    assert_eq!(memory.answer(late.id).unwrap(), None);
    assert!(memory.next_answer_id() > late.id, "its id was given out");
    let sound = answer(r#"{"answer":"Nobody."}"#);
    memory.keep_answer(&sound, memory.erasures()).unwrap();
    assert_eq!(memory.answer(sound.id).unwrap(), Some(sound));
    // What erases nothing outdates nothing.
    let asked = memory.erasures();
    assert!(memory.forget(&Forget::Entity(person(1)), at(61)).is_err());
    assert_eq!(memory.erasures(), asked);
}

#[test]
fn an_erased_fact_leaves_no_words_and_what_it_replaced_holds_again() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    let memorizer = Memorizer::new(None).reading(crate::memorize::fact_reader());
    let tell = |thing: &str, place: &str, start: i64| {
        let mut draft = memory.begin(at(start));
        let mut row = memory_row(0, &format!("The {thing} is {place}."), &[], start);
        row.kind = MemoryKind::Note;
        let told = memorizer.note(row, &Persons::default(), &mut draft);
        draft.commit().unwrap();
        told.id
    };
    let shed = tell("drill", "in the shed", 10);
    let secret = tell("drill", "in the lockbox", 20);
    let garage = tell("drill", "in the garage", 30);
    let hook = tell("key", "on the hook", 40);
    let vase = tell("key", "in the blue vase", 50);
    // As older stores put it.
    let mut draft = memory.begin(at(55));
    let quoting = "superseded: The key is in the blue vase.";
    draft.retire_memory(hook, Some(at(50)), quoting).unwrap();
    draft.commit().unwrap();
    let held = |id: MemoryId| {
        let view = memory.view();
        let row = view.memory(id).unwrap();
        (row.valid_from, row.valid_to, view.retirement(id).is_some())
    };
    assert_eq!(held(shed), (at(10), Some(at(20)), true));
    assert!(holds(dir.path(), b"lockbox") && holds(dir.path(), b"superseded: The key"));
    // One of three: the one before it holds until the one after it.
    memory.forget(&Forget::Memory(secret), at(60)).unwrap();
    assert_eq!(held(shed), (at(10), Some(at(30)), true));
    assert_eq!(held(garage), (at(30), None, false));
    let view = memory.view();
    assert_eq!(view.retirement(hook).unwrap().reason, "superseded");
    drop(view);
    // The last: the one before it holds again.
    memory.forget(&Forget::Memory(garage), at(61)).unwrap();
    assert_eq!(held(shed), (at(10), None, false));
    memory.forget(&Forget::Memory(vase), at(62)).unwrap();
    assert_eq!(held(hook), (at(40), None, false));
    for trace in ["lockbox", "garage", "blue vase"] {
        assert!(!holds(dir.path(), trace.as_bytes()), "{trace}");
    }
    let left: Vec<_> =
        memory.view().decisions().iter().map(|row| (row.memory, row.action)).collect();
    assert_eq!(left, [(shed, FactAction::Add), (hook, FactAction::Add)]);
    assert_eq!(memory.check().unwrap().faults, Vec::<String>::new());
    let hash = memory.hash();
    drop(memory);
    assert_eq!(open(dir.path()).hash(), hash);
}

#[test]
fn what_an_erased_opposite_had_ended_holds_again_and_nothing_else_does() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    household(&memory);
    let mut draft = memory.begin(at(60));
    let mut state = |attribute: &str, value: &str, start: i64| {
        let text = format!("<person_2> {attribute} {value}.");
        let mut row = memory_row(0, &text, &[person(2)], start);
        (row.id, row.kind) = (draft.new_memory_id(), MemoryKind::Note);
        let (subject, attribute) = (person(2).to_string(), attribute.to_owned());
        row.fact = Some(Fact { subject, attribute, value: value.to_owned() });
        let id = row.id;
        draft.memory(row, None);
        id
    };
    let (tea, rum) = (state("likes", "tea", 40), state("likes", "rum", 41));
    state("likes", "jazz", 45);
    let (no_tea, _) = (state("dislikes", "tea", 50), state("dislikes", "rum", 50));
    let chess = state("likes", "chess", 50);
    for id in [tea, rum] {
        draft.retire_memory(id, Some(at(50)), "the opposite was stated").unwrap();
        let (action, reason) = (FactAction::Retire, "the opposite was stated".to_owned());
        draft.decision(Decision { memory: id, at: at(50), action, other: None, reason });
    }
    draft.commit().unwrap();
    let held = |id: MemoryId| {
        let view = memory.view();
        let decided = view.decisions().iter().any(|row| row.memory == id);
        (view.memory(id).unwrap().valid_to, view.retirement(id).is_some(), decided)
    };
    // Said at the same time, and of the same kind; but it ended neither.
    memory.forget(&Forget::Memory(chess), at(61)).unwrap();
    for id in [tea, rum] {
        assert_eq!(held(id), (Some(at(50)), true, true));
    }
    memory.forget(&Forget::Memory(no_tea), at(62)).unwrap();
    assert_eq!(held(tea), (None, false, false), "jazz is no other value of it");
    assert_eq!(held(rum), (Some(at(50)), true, true));
    assert_eq!(memory.check().unwrap().faults, Vec::<String>::new());
}

#[test]
fn what_was_replaced_in_the_moment_in_which_it_began_holds_again() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    household(&memory);
    let mut draft = memory.begin(at(60));
    let [shelf, table, sink] = ["on the shelf", "on the table", "in the sink"].map(|value| {
        let mut row = memory_row(0, &format!("The mug is {value}."), &[], 50);
        (row.id, row.kind) = (draft.new_memory_id(), MemoryKind::Note);
        let (subject, attribute) = ("mug".to_owned(), "location".to_owned());
        row.fact = Some(Fact { subject, attribute, value: value.to_owned() });
        let id = row.id;
        draft.memory(row, None);
        id
    });
    for id in [shelf, table] {
        draft.retire_memory(id, Some(at(50)), "another value was stated").unwrap();
    }
    draft.commit().unwrap();
    memory.forget(&Forget::Memory(sink), at(61)).unwrap();
    let until = |id| memory.view().memory(id).unwrap().valid_to;
    assert_eq!((until(shelf), until(table)), (Some(at(50)), None));
}

#[test]
fn a_thing_without_an_id_is_erased_by_its_noun() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    household(&memory);
    let memorizer = Memorizer::new(None).reading(crate::memorize::fact_reader());
    let tell = |text: &str, start: i64| {
        let mut draft = memory.begin(at(start));
        let mut row = memory_row(0, text, &[], start);
        row.kind = MemoryKind::Note;
        memorizer.note(row, &Persons::default(), &mut draft);
        draft.commit().unwrap();
    };
    tell("The red mug is on the kitchen table.", 40);
    tell("The red mug is in the drawer.", 41);
    tell("The tray is behind the red mug.", 42);
    tell("The red mug rack is in the hall.", 43);
    let mut draft = memory.begin(at(44));
    let id = draft.new_memory_id();
    let asked = "<voice_2> said: \"who took my Red Mug\"";
    let mut row = memory_row(id.0, asked, &[person(2)], 44);
    row.kind = MemoryKind::Utterance;
    draft.memory(row, None);
    draft.commit().unwrap();
    memory.remember_answer("Where is it?", "{\"answer\":\"The red mug is.\"}", at(45)).unwrap();
    memory.remember_answer("And the rack?", "{\"answer\":\"Red mug rack.\"}", at(45)).unwrap();
    assert!(memory.view().tells_of("red mug") && !memory.view().tells_of("mug"));

    memory.forget(&Forget::Thing("Red Mug".to_owned()), at(60)).unwrap();
    let view = memory.view();
    assert!(!view.tells_of("red mug"));
    let span = Some(Span::new(at(40), at(50)));
    let rows = view.memories(&Filter { span, ..Filter::default() });
    let texts: Vec<&str> = rows.iter().map(|row| row.text.as_str()).collect();
    assert_eq!(
        texts,
        [
            "The tray is behind the <erased>.",
            "The red mug rack is in the hall.",
            "<voice_2> said: \"who took my <erased>\"",
        ]
    );
    let facts: Vec<_> = rows.iter().filter_map(|row| row.fact.as_ref()).collect();
    assert_eq!(facts[0].value, "behind the <erased>");
    assert_eq!(facts[1].subject, "red mug rack");
    for trace in ["took my Red Mug", "kitchen table", "in the drawer", "The red mug is"] {
        assert!(!holds(dir.path(), trace.as_bytes()), "{trace}");
    }
    assert_eq!(memory.answers(9).unwrap().len(), 1);
    let again = memory.forget(&Forget::Thing("red mug".to_owned()), at(61));
    assert!(again.is_err(), "nothing there");
    assert_eq!(memory.check().unwrap().faults, Vec::<String>::new());
    let hash = memory.hash();
    drop((rows, view, memory));
    assert_eq!(open(dir.path()).hash(), hash);
}

#[test]
fn an_erased_span_is_empty() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    household(&memory);
    memory.forget(&Forget::Span(Span::new(at(0), at(4))), at(60)).unwrap();
    let view = memory.view();
    assert_eq!(view.tracks(&PerceptFilter::default()).len(), 1);
    assert_eq!(view.turns(&PerceptFilter::default()).len(), 2);
    assert_eq!(view.memories(&Filter::default()).len(), 2);
    assert!(view.clip(clip(0)).is_some(), "a replay does not bring it back");
    assert_eq!(view.clip(clip(0)).unwrap().key_frames.len(), 1);
    assert!(!holds(dir.path(), b"hello I am"));
}

/// As it lies on the disk now: what a kill leaves.
fn copied(from: &Path) -> tempfile::TempDir {
    let to = tempfile::tempdir().unwrap();
    for (path, bytes) in bytes_of(from) {
        let copy = to.path().join(path.strip_prefix(from).unwrap());
        std::fs::create_dir_all(copy.parent().unwrap()).unwrap();
        std::fs::write(copy, bytes).unwrap();
    }
    to
}

#[test]
fn what_a_reader_or_a_kill_kept_from_being_overwritten_is_overwritten_later() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    household(&memory);
    let aside = dir.path().join("aside");
    std::fs::create_dir(&aside).unwrap();
    std::fs::write(aside.join("rows.jsonl"), "likes tea").unwrap();
    // Another process is in the middle of reading.
    let reader = store::open_read_only(dir.path(), None).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM memory;").unwrap();
    memory.with_db("test", |db| db.busy_timeout(std::time::Duration::ZERO)).unwrap();
    let before = memory.view().seq();
    memory.forget(&Forget::Entity(person(1)), at(60)).unwrap();
    assert_eq!(memory.view().find_by_name("Ava"), [], "nobody reads it any more");
    assert_eq!(memory.rewritten().unwrap(), [MemoryId(2), MemoryId(3)]);
    assert!(holds(dir.path(), b"likes tea"), "the reader's log");
    let killed = copied(dir.path());
    let hash = memory.hash();
    for dir in [killed.path(), dir.path()] {
        if dir == killed.path() {
            assert_eq!(open(dir).hash(), hash);
        } else {
            assert!(memory.finish_erasing().is_ok_and(|due| due), "still due");
            assert!(holds(dir, b"likes tea"), "he reads on");
            reader.execute_batch("COMMIT").unwrap();
            assert!(memory.finish_erasing().unwrap());
            assert!(!memory.finish_erasing().unwrap(), "done");
        }
        for trace in ["Ava", "likes tea", "chip of", "sound of"] {
            assert!(!holds(dir, trace.as_bytes()), "{trace}");
        }
    }
    let rewritten = [MemoryId(2), MemoryId(3)];
    memory.settle_rewritten(&rewritten, before).unwrap();
    assert_eq!(memory.rewritten().unwrap(), rewritten, "that was of the sentences before");
    memory.settle_rewritten(&rewritten, memory.view().seq()).unwrap();
    assert_eq!(memory.rewritten().unwrap(), []);
}

#[test]
fn an_erased_utterance_takes_its_words_and_its_sound_along() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    household(&memory);
    let mut draft = memory.begin(at(60));
    let mut fact = memory_row(10, "<person_1> is called as she said.", &[person(1)], 2);
    fact.kind = MemoryKind::Semantic;
    let mut heard = memory_row(11, "<person_1> was heard.", &[person(1)], 2);
    for row in [&mut fact, &mut heard] {
        row.grounds = vec![Ground::Turn(clip(0), TurnId(1))];
    }
    draft.memory(fact, None);
    draft.memory(heard, None);
    draft.commit().unwrap();
    memory.forget(&Forget::Memory(MemoryId(1)), at(61)).unwrap();
    let view = memory.view();
    let turn = view.turn(SessionId(1), TurnId(1)).unwrap();
    assert_eq!((&turn.words, &turn.sound, turn.voice), (&None, &None, Some(voice(1))));
    assert!(view.memory(MemoryId(10)).is_none() && view.memory(MemoryId(11)).is_some());
    for trace in ["hello I am", "hello", "sound of ava", "state after"] {
        assert!(!holds(dir.path(), trace.as_bytes()), "{trace}");
    }
    assert_eq!(view.names(person(1)).len(), 1, "the name is another memory's");
}

#[test]
fn a_summary_loses_what_is_erased_and_keeps_the_rest() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    household(&memory);
    let hour = "Monday, 17:00 to 18:00: 4 remarks; with <person_1> (2), <person_2> (2). \u{b7} <person_1> said: \"I hid the \
                ring\" \u{b7} <person_2> poured coffee. \u{b7} <person_2> said: \"Ava is a bore\" \u{b7} <person_1> waved.";
    let mut draft = memory.begin(at(60));
    let mut row = memory_row(20, hour, &[person(1), person(2)], 0);
    row.kind = MemoryKind::Summary;
    row.span = Span::new(at(0), at(3_600));
    draft.memory(row, Some(embedding(&[0.1, 0.2, 0.3, 0.4])));
    draft.commit().unwrap();
    let text = |memory: &Memory| memory.view().memory(MemoryId(20)).unwrap().text.clone();
    // One memory that it repeats.
    let erased = memory.forget(&Forget::Memory(MemoryId(4)), at(61)).unwrap();
    assert_eq!(erased.rewritten, [MemoryId(20)]);
    assert!(!text(&memory).contains("poured"), "{}", text(&memory));
    // Of a person: what is about nobody else, or was said by the person.
    memory.forget(&Forget::Entity(person(1)), at(62)).unwrap();
    assert_eq!(
        text(&memory),
        "Monday, 17:00 to 18:00: 4 remarks; with <erased> (2), <person_2> (2). \u{b7} <person_2> said: \"<erased> is a bore\""
    );
    // All words of that age, although the utterances are long folded.
    let before = at(4_000);
    memory.forget(&Forget::Aged(MemoryKind::Utterance, before), at(63)).unwrap();
    assert!(!text(&memory).contains("bore"), "{}", text(&memory));
    assert!(!memory.has_aged(MemoryKind::Utterance, before));
    for trace in ["hid the ring", "poured coffee", "is a bore"] {
        assert!(!holds(dir.path(), trace.as_bytes()), "{trace}");
    }
}

fn wal_bytes(dir: &Path) -> u64 {
    std::fs::metadata(dir.join("engram.db-wal")).map_or(0, |file| file.len())
}

/// Many memories of 1,000 letters each: several megabytes.
fn many(memory: &Memory, count: u64) {
    let mut draft = memory.begin(at(100));
    for number in 0..count {
        let text = format!("<person_2> told of tale{number:05}. {}", "and so on ".repeat(100));
        draft.memory(memory_row(1_000 + number, &text, &[person(2)], 100), None);
    }
    draft.commit().unwrap();
}

#[test]
fn what_erasing_writes_does_not_grow_with_the_store_nor_while_somebody_reads() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    household(&memory);
    many(&memory, 4_000);
    memory
        .with_db("test", |db| db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())))
        .unwrap();
    let store = std::fs::metadata(dir.path().join("engram.db")).unwrap().len();
    assert!(store > 4_000_000);
    let reader = store::open_read_only(dir.path(), None).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM memory;").unwrap();
    let erased = memory.forget(&Forget::Entity(person(1)), at(200)).unwrap();
    assert!(erased.waits.is_some_and(|why| why.contains("reads")));
    let log = wal_bytes(dir.path());
    assert!(log < store / 8, "{log} of {store}");
    for _ in 0..3 {
        assert!(memory.finish_erasing().unwrap(), "still due");
        assert!(wal_bytes(dir.path()) <= log, "waiting writes nothing");
    }
    reader.execute_batch("COMMIT").unwrap();
    assert!(memory.finish_erasing().unwrap() && !memory.finish_erasing().unwrap());
    assert!(wal_bytes(dir.path()) < 64 * 1024, "all that is left is that it is done");
    assert!(!holds(dir.path(), b"likes tea") && holds(dir.path(), b"tale00077"));
}

/// Everything that readers ask, of one memory.
fn told_by(memory: &Memory) -> String {
    let view = memory.view();
    let ids = |found: Vec<(MemoryId, f32)>| -> Vec<MemoryId> {
        let mut ids: Vec<_> = found.into_iter().map(|(id, _)| id).collect();
        ids.sort_unstable();
        ids
    };
    let found = |words: &str| ids(view.lexical(words, 9, &Filter::default()));
    let near = view.nearest(&embedding(&[0.1, 0.2, 1.0, 0.1]), 5, &Filter::default());
    format!(
        "{} {:?} {:?} {:?} {:?} {:?} {} {}",
        export(&view),
        ["ava", "tea", "coffee", "erased", "tale00077", "friend"].map(found),
        ids(near),
        [1, 2].map(|number| view.memories_of(person(number)).len()),
        view.entities(),
        view.persons(),
        view.count_versions(),
        view.count_memories(),
    )
}

#[test]
fn what_is_left_in_ram_is_what_is_read_anew() {
    let dir = tempfile::tempdir().unwrap();
    let mut memory = open(dir.path());
    household(&memory);
    many(&memory, 700);
    let mut draft = memory.begin(at(150));
    draft.name(named(person(2), "Friend of Ava", 150, NameSource::Told));
    draft.retire_memory(MemoryId(1_003), Some(at(140)), "over").unwrap();
    draft.commit().unwrap();
    let targets = [
        Forget::Memory(MemoryId(1_077)),
        Forget::Entity(person(1)),
        Forget::Memory(MemoryId(1_003)),
        Forget::Span(Span::new(at(0), at(7))),
    ];
    for (number, target) in targets.iter().enumerate() {
        let before = memory.view();
        let rows = before.memories(&Filter::default());
        memory.forget(target, at(200 + 10 * number as i64)).unwrap();
        // Whoever read before reads on.
        assert_eq!(before.memories(&Filter::default()), rows);
        drop((before, rows));
        let mut draft = memory.begin(at(205 + 10 * number as i64));
        let id = 3_000 + number as u64;
        draft.memory(memory_row(id, "<person_2> waved.", &[person(2)], 150), None);
        draft.commit().unwrap();
        let (told, hash) = (told_by(&memory), memory.hash());
        assert_eq!(memory.compactable(at(0)), 0);
        let mut faults = memory.check().unwrap().faults;
        // The test gives its ids itself.
        faults.retain(|fault| !fault.contains("the counter of memory"));
        assert_eq!(faults, Vec::<String>::new());
        drop(memory);
        memory = open(dir.path());
        assert_eq!(memory.hash(), hash, "{target:?}");
        assert_eq!(told_by(&memory), told, "{target:?}");
    }
    memory.compact(at(1_000)).unwrap();
    let (told, hash) = (told_by(&memory), memory.hash());
    drop(memory);
    let memory = open(dir.path());
    assert_eq!((memory.hash(), told_by(&memory)), (hash, told), "what was let go of");
}

#[test]
fn damage_elsewhere_leaves_an_erasure_done_or_not_begun() {
    use std::os::unix::fs::FileExt as _;

    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    household(&memory);
    for second in 0..400 {
        memory.begin(at(100 + second)).commit().unwrap();
    }
    // A page that erasing does not touch.
    let from_disk = || {
        memory
            .with_db("test", |db| {
                db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
                db.execute_batch("PRAGMA shrink_memory")
            })
            .unwrap();
    };
    let root: u64 = memory
        .with_db("test", |db| {
            let query = "SELECT rootpage FROM sqlite_schema WHERE name = 'commits'";
            db.query_row(query, [], |row| row.get(0))
        })
        .unwrap();
    from_disk();
    let file =
        std::fs::File::options().read(true).write(true).open(dir.path().join("engram.db")).unwrap();
    let mut pointer = [0; 4];
    let page_at = |number: u64| (number - 1) * 4096;
    let mut cell = [0; 2];
    file.read_exact_at(&mut cell, page_at(root) + 12).unwrap();
    file.read_exact_at(&mut pointer, page_at(root) + u64::from(u16::from_be_bytes(cell))).unwrap();
    let leaf = page_at(u64::from(u32::from_be_bytes(pointer)));
    let mut sound = [0; 4096];
    file.read_exact_at(&mut sound, leaf).unwrap();
    file.write_all_at(&[0xff; 4096], leaf).unwrap();
    let is_known = |memory: &Memory| memory.view().find_by_name("Ava") == [person(1)];
    let done = memory.forget(&Forget::Entity(person(1)), at(600));
    assert_eq!(is_known(&memory), done.is_err());
    // Life goes on.
    memory.begin(at(601)).commit().unwrap();
    file.write_all_at(&sound, leaf).unwrap();
    from_disk();
    let hash = memory.hash();
    drop(memory);
    let memory = open(dir.path());
    assert_eq!((memory.hash(), is_known(&memory)), (hash, done.is_err()));
    if done.is_err() {
        memory.forget(&Forget::Entity(person(1)), at(602)).unwrap();
    }
    assert!(!holds(dir.path(), b"likes tea"));
}

#[test]
fn a_disk_that_fails_once_the_rows_are_gone_delays_only_the_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    household(&memory);
    // A file lies where a folder is to be deleted.
    let aside = dir.path().join("aside");
    std::fs::write(&aside, "").unwrap();
    let before = memory.erasures();
    let erased = memory.forget(&Forget::Entity(person(1)), at(60)).unwrap();
    assert!(erased.rows > 10 && erased.waits.is_some_and(|why| why.contains("aside")));
    assert_eq!(memory.view().find_by_name("Ava"), []);
    assert_eq!(memory.erasures(), before + 1);
    assert!(memory.finish_erasing().is_err());
    std::fs::remove_file(&aside).unwrap();
    assert!(memory.finish_erasing().unwrap() && !memory.finish_erasing().unwrap());
}

#[test]
fn a_store_from_before_is_scrubbed_with_the_first_erasure() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    household(&memory);
    let page = |memory: &Memory| -> (u32, Vec<u8>) {
        let query = "SELECT pgno, data FROM sqlite_dbpage WHERE pgno = \
                     (SELECT rootpage FROM sqlite_schema WHERE name = 'memory')";
        memory
            .with_db("test", |db| db.query_row(query, [], |row| Ok((row.get(0)?, row.get(1)?))))
            .unwrap()
    };
    // As an older engram left it: a copy of a row that is long gone, and no note of scrubbing.
    let (number, mut bytes) = page(&memory);
    let pointers = 8 + 2 * usize::from(u16::from_be_bytes([bytes[3], bytes[4]]));
    bytes[pointers..pointers + 6].copy_from_slice(b"ghost!");
    memory
        .with_db("test", |db| {
            db.execute("DELETE FROM upkeep WHERE job = 'scrub'", [])?;
            db.execute("UPDATE sqlite_dbpage SET data = ? WHERE pgno = ?", params![bytes, number])
        })
        .unwrap();
    let hash = memory.hash();
    drop(memory);
    let memory = open(dir.path());
    assert_eq!(memory.hash(), hash);
    assert!(holds(dir.path(), b"ghost!"));
    memory.forget(&Forget::Memory(MemoryId(4)), at(60)).unwrap();
    assert!(!holds(dir.path(), b"ghost!") && holds(dir.path(), b"likes tea"));
    assert_eq!(memory.check().unwrap().faults, Vec::<String>::new());
}
