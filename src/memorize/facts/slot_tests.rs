//! What becomes of facts: added, strengthened, replaced, ended.

#![allow(clippy::unwrap_used)]

use super::*;
use crate::identify::Persons;
use crate::ids::{ClipId, EntityKind, TurnId};
use crate::memorize::{Author, BUILTIN, Memorizer};
use crate::memory::testing::memory_row;
use crate::memory::{Forget, Memory, StoreOptions};

fn sentence(secs: i64, value: &str, attribute: &str, turn: u64) -> Sentence {
    let at = Timestamp::from_nanos(secs * 1_000_000_000);
    let clip = ClipId::default();
    let text = format!("{attribute} {value}");
    let grounds = vec![Ground::Turn(clip, TurnId(turn))];
    let mut sentence = Sentence::new(MemoryKind::Semantic, text, Span::new(at, at), grounds);
    sentence.fact = Some(fact("mug".into(), attribute, value.into()));
    sentence.confidence = 0.5;
    sentence
}

/// States all that in one clip; gives back what was written.
fn state_clip(memory: &Memory, stated: Vec<Sentence>) -> Vec<MemoryRow> {
    let mut draft = memory.begin(stated.iter().map(|one| one.span.end).max().unwrap());
    let persons = Persons::default();
    let fresh = settle(stated, &memory.view(), &mut draft);
    let clip = ClipId::default();
    let author = Author { clip: Some(clip), origin: BUILTIN, persons: &persons };
    let written = Memorizer::new(None)
        .reading(crate::memorize::fact_reader())
        .write_all(fresh, author, &mut draft);
    draft.commit().unwrap();
    written
}

/// States it in a transaction of its own.
fn state_in(memory: &Memory, sentence: Sentence) {
    state_clip(memory, vec![sentence]);
}

fn places(values: &[(i64, &str)]) -> Vec<Sentence> {
    let each = values.iter().zip(1..);
    each.map(|((secs, value), turn)| sentence(*secs, value, "location", turn)).collect()
}

/// The values of all slots, with the seconds from which and until which they hold.
fn held(memory: &Memory) -> Vec<(String, i64, Option<i64>)> {
    let secs = |at: Timestamp| at.as_nanos() / 1_000_000_000;
    let rows = memory.view().memories(&Filter::default());
    let value = |row: &MemoryRow| row.fact.as_ref().unwrap().value.clone();
    rows.iter().map(|row| (value(row), secs(row.valid_from), row.valid_to.map(secs))).collect()
}

#[test]
fn another_value_in_one_clip_ends_the_earlier_as_one_in_the_next_clip_does() {
    let (one, many) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let open = |dir: &tempfile::TempDir| {
        let memory = Memory::open(dir.path(), &StoreOptions::default()).unwrap();
        state_in(&memory, sentence(5, "in the sink", "location", 9));
        memory
    };
    let (together, apart) = (open(&one), open(&many));
    let stated = places(&[(10, "on the table"), (20, "in the sink"), (30, "on the table")]);
    stated.iter().for_each(|sentence| state_in(&apart, sentence.clone()));
    // When it was so decides, not in which order it came.
    let written = state_clip(&together, stated.into_iter().rev().collect());
    assert_eq!(
        held(&together),
        [
            ("in the sink".to_owned(), 5, Some(10)),
            ("on the table".to_owned(), 10, Some(20)),
            ("in the sink".to_owned(), 20, Some(30)),
            ("on the table".to_owned(), 30, None),
        ]
    );
    let (view, other) = (together.view(), apart.view());
    let rows = view.memories(&Filter::default());
    assert_eq!(rows, other.memories(&Filter::default()));
    assert_eq!(view.decisions(), other.decisions());
    assert_eq!(view.decisions().len(), 7, "added, then three times replaced and ended");
    for row in &rows {
        assert_eq!(view.retirement(row.id), other.retirement(row.id));
    }
    let written: Vec<Arc<MemoryRow>> = written.into_iter().map(Arc::new).collect();
    assert_eq!(written, rows[1..], "what is given back is what is kept");
}

#[test]
fn of_two_values_in_one_turn_the_later_holds() {
    let dir = tempfile::tempdir().unwrap();
    let memory = Memory::open(dir.path(), &StoreOptions::default()).unwrap();
    state_clip(&memory, places(&[(10, "on the table"), (10, "in the sink"), (10, "at hand")]));
    assert_eq!(
        held(&memory),
        [
            ("on the table".to_owned(), 10, Some(10)),
            ("in the sink".to_owned(), 10, Some(10)),
            ("at hand".to_owned(), 10, None),
        ]
    );
    let decisions = memory.view().decisions();
    let replaced = decisions.iter().filter(|one| one.action == FactAction::Update);
    let others: Vec<_> = replaced.map(|one| (one.memory.0, one.other)).collect();
    assert_eq!(others, [(2, Some(MemoryId(1))), (3, Some(MemoryId(2)))]);
}

#[test]
fn what_one_clip_states_twice_counts_once() {
    let dir = tempfile::tempdir().unwrap();
    let memory = Memory::open(dir.path(), &StoreOptions::default()).unwrap();
    let clip = |start: i64| {
        let mut stated = places(&[(start, "on the table"), (start + 1, "On the Table")]);
        let liked = ["red", "blue", "red"].into_iter().zip(2..);
        stated.extend(liked.map(|(value, at)| sentence(start + at, value, "likes", 20)));
        stated
    };
    state_clip(&memory, clip(10));
    let values: Vec<String> = held(&memory).into_iter().map(|(value, ..)| value).collect();
    assert_eq!(values, ["on the table", "red", "blue"]);
    // Known by then: each is strengthened, once.
    assert_eq!(state_clip(&memory, clip(40)), []);
    let rows = memory.view().memories(&Filter::default());
    assert_eq!(rows.len(), 3);
    for row in rows {
        assert!((row.confidence - 0.6).abs() < 1e-6, "{row:?}");
    }
}

#[test]
fn a_clip_that_comes_late_ends_where_what_is_known_begins() {
    let dir = tempfile::tempdir().unwrap();
    let memory = Memory::open(dir.path(), &StoreOptions::default()).unwrap();
    state_in(&memory, sentence(60, "on the shelf", "location", 1));
    state_clip(&memory, places(&[(10, "in the sink"), (20, "on the shelf")]));
    assert_eq!(
        held(&memory),
        [("in the sink".to_owned(), 10, Some(20)), ("on the shelf".to_owned(), 20, None)]
    );
}

#[test]
fn a_models_verdict_goes_before_the_nature_of_the_attribute() {
    let dir = tempfile::tempdir().unwrap();
    let memory = Memory::open(dir.path(), &StoreOptions::default()).unwrap();
    let said = [
        (10, "spare", "role", None),
        (20, "main", "role", Some(FactAction::Update)),
        (30, "in the sink", "location", None),
        (40, "on the shelf", "location", Some(FactAction::Add)),
        (50, "main", "role", Some(FactAction::None)),
        (60, "main", "role", Some(FactAction::Retire)),
        (70, "unheard of", "role", Some(FactAction::Retire)),
    ];
    for (turn, (secs, value, attribute, wish)) in (1..).zip(said) {
        let sentence = sentence(secs, value, attribute, turn);
        state_in(&memory, Sentence { wish, ..sentence });
    }
    let ends = |id| memory.view().memory(MemoryId(id)).unwrap().valid_to;
    let secs = |secs: i64| Some(Timestamp::from_nanos(secs * 1_000_000_000));
    assert_eq!([1, 2, 3, 4].map(ends), [secs(20), secs(60), None, None]);
    assert!(memory.view().memory(MemoryId(5)).is_none());
    let strengthened = memory.view().memory(MemoryId(2)).unwrap();
    assert_eq!(strengthened.grounds.len(), 2);
}

#[test]
fn every_verdict_on_a_fact_is_kept_with_its_reason() {
    let dir = tempfile::tempdir().unwrap();
    let memory = Memory::open(dir.path(), &StoreOptions::default()).unwrap();
    let state = |sentence: Sentence| state_in(&memory, sentence);
    state(sentence(10, "on the table", "location", 1));
    state(sentence(20, "on the table", "location", 2));
    state(sentence(30, "in the sink", "location", 3));
    state(sentence(40, "red", "likes", 4));
    state(sentence(50, "blue", "likes", 5));
    let view = memory.view();
    let actions: Vec<_> =
        view.decisions().iter().map(|d| (d.memory.0, d.action, d.other.map(|o| o.0))).collect();
    assert_eq!(
        actions,
        [
            (1, FactAction::Add, None),
            (1, FactAction::None, None),
            (1, FactAction::Retire, None),
            (2, FactAction::Update, Some(1)),
            (3, FactAction::Add, None),
            (4, FactAction::Add, None),
        ]
    );
    assert!(view.decisions().iter().all(|decision| !decision.reason.is_empty()));
    let first = view.memory(MemoryId(1)).unwrap();
    assert!((first.confidence - 0.6).abs() < 1e-6 && first.grounds.len() == 2);
    assert_eq!(first.valid_to, Some(Timestamp::from_nanos(30_000_000_000)));
    let likes = [view.memory(MemoryId(3)).unwrap(), view.memory(MemoryId(4)).unwrap()];
    assert!(likes.iter().all(|row| row.valid_to.is_none() && view.is_weak(row)));
    // What is stated late about an earlier time does not end the newer.
    state(sentence(25, "on the shelf", "location", 6));
    assert!(memory.view().memory(MemoryId(2)).unwrap().valid_to.is_none());
    let late = memory.view().memory(MemoryId(5)).unwrap();
    assert_eq!(late.valid_to, Some(Timestamp::from_nanos(30_000_000_000)));
    // And ends what was before it.
    let first = memory.view().memory(MemoryId(1)).unwrap();
    assert_eq!(first.valid_to, Some(late.valid_from));
}

/// Tells notes, each with its minute; gives back the decisions about them.
fn tell(memory: &Memory, notes: &[(&str, i64)]) -> Vec<(u64, FactAction, Option<u64>)> {
    for (text, minute) in notes {
        let at = Timestamp::from_nanos(minute * 60_000_000_000);
        let mut draft = memory.begin(Timestamp::from_nanos(i64::MAX / 2));
        let row = MemoryRow {
            importance: 0.6,
            confidence: 0.5,
            origin: "told".to_owned(),
            ..memory_row(MemoryKind::Note, text, Span::new(at, at))
        };
        Memorizer::new(None).reading(crate::memorize::fact_reader()).note(
            row,
            &Persons::default(),
            &mut draft,
        );
        draft.commit().unwrap();
    }
    let decisions = memory.view().decisions();
    decisions.iter().map(|d| (d.memory.0, d.action, d.other.map(|other| other.0))).collect()
}

/// The slots that hold or held, with the minutes from which and until which.
fn slots(memory: &Memory) -> Vec<(String, i64, Option<i64>)> {
    let minute = |at: Timestamp| at.as_nanos() / 60_000_000_000;
    let rows = memory.view().memories(&Filter::default());
    let slotted = rows.iter().filter_map(|row| {
        let fact = row.fact.as_ref()?;
        Some((fact.value.clone(), minute(row.valid_from), row.valid_to.map(minute)))
    });
    slotted.collect()
}

#[test]
fn notes_told_late_find_their_place_in_time() {
    let dir = tempfile::tempdir().unwrap();
    let memory = Memory::open(dir.path(), &StoreOptions::default()).unwrap();
    let (shed, garage) = ("The drill is in the shed.", "The drill is in the garage.");
    let decided = tell(&memory, &[(shed, 840), (garage, 660), (shed, 870)]);
    assert_eq!(
        slots(&memory),
        [("in the garage".to_owned(), 660, Some(840)), ("in the shed".to_owned(), 840, None)]
    );
    assert_eq!(
        decided,
        [(2, FactAction::Add, None), (1, FactAction::Add, None), (1, FactAction::None, Some(3)),]
    );
    let view = memory.view();
    assert!((view.memory(MemoryId(1)).unwrap().confidence - 0.6).abs() < 1e-6);
    assert_eq!(view.memory(MemoryId(3)).unwrap().text, shed, "as it was told");
    // It was there earlier than was known: the border moves.
    tell(&memory, &[("The drill is in the Shed.", 780)]);
    assert_eq!(
        slots(&memory),
        [("in the garage".to_owned(), 660, Some(780)), ("in the shed".to_owned(), 780, None)]
    );
    // What stood in between ends with what comes next.
    tell(&memory, &[("The drill is on the bench.", 700)]);
    assert_eq!(
        slots(&memory),
        [
            ("in the garage".to_owned(), 660, Some(700)),
            ("on the bench".to_owned(), 700, Some(780)),
            ("in the shed".to_owned(), 780, None),
        ]
    );
}

/// A memory in which `person_1` is known.
fn with_somebody(dir: &tempfile::TempDir) -> Memory {
    let memory = Memory::open(dir.path(), &StoreOptions::default()).unwrap();
    let mut draft = memory.begin(Timestamp::from_nanos(0));
    draft.new_entity(EntityKind::Person);
    draft.commit().unwrap();
    memory
}

#[test]
fn what_is_told_to_be_over_ends() {
    let dir = tempfile::tempdir().unwrap();
    let memory = Memory::open(dir.path(), &StoreOptions::default()).unwrap();
    let until = |place: &str, from: i64, until: Option<i64>| (place.to_owned(), from, until);
    tell(&memory, &[("The keys are in the top drawer.", 10)]);
    tell(&memory, &[("The keys are no longer in the hall.", 20)]);
    tell(&memory, &[("The keys are not under the top drawer.", 25)]);
    assert_eq!(slots(&memory), [until("in the top drawer", 10, None)]);
    tell(&memory, &[("The keys are not in the drawer any more.", 30)]);
    assert_eq!(slots(&memory), [until("in the top drawer", 10, Some(30))]);
    tell(&memory, &[("The keys are on the table.", 40), ("The keys are gone.", 50)]);
    assert_eq!(
        slots(&memory),
        [until("in the top drawer", 10, Some(30)), until("on the table", 40, Some(50))]
    );
}

#[test]
fn opposites_and_states_of_a_family_end_each_other() {
    let dir = tempfile::tempdir().unwrap();
    let memory = with_somebody(&dir);
    let told = [
        ("<person_1> likes coffee.", 10),
        ("<person_1> likes tea.", 11),
        ("<person_1> hates coffee.", 20),
        ("<person_1> is vegetarian.", 21),
        ("<person_1> is married.", 22),
        ("<person_1> is vegan.", 23),
        ("<person_1> likes coffee again.", 30),
    ];
    tell(&memory, &told);
    let rows = memory.view().memories(&Filter::default());
    let minute = |at: Timestamp| at.as_nanos() / 60_000_000_000;
    let held: Vec<_> = rows
        .iter()
        .map(|row| {
            let fact = row.fact.clone().unwrap();
            (format!("{} {}", fact.attribute, fact.value), row.valid_to.map(minute))
        })
        .collect();
    let held: Vec<_> = held.iter().map(|(fact, until)| (fact.as_str(), *until)).collect();
    assert_eq!(
        held,
        [
            ("likes coffee", Some(20)),
            ("likes tea", None),
            ("dislikes coffee", Some(30)),
            ("status vegetarian", Some(23)),
            ("status married", None),
            ("status vegan", None),
            ("likes coffee", None),
        ]
    );
    // Said in one clip, too.
    let likes = |secs: i64, attribute: &str| sentence(secs, "rain", attribute, 1);
    let secs = |minutes: i64| minutes * 60;
    state_clip(&memory, vec![likes(secs(40), "likes"), likes(secs(41), "dislikes")]);
    let rows = memory.view().memories(&Filter::default());
    let rain: Vec<_> = rows
        .iter()
        .filter(|row| row.fact.as_ref().is_some_and(|fact| fact.value == "rain"))
        .map(|row| row.valid_to.map(minute))
        .collect();
    assert_eq!(rain, [Some(41), None]);
}

#[test]
fn several_things_and_another_of_a_kind_leave_the_one_alone() {
    let dir = tempfile::tempdir().unwrap();
    let memory = Memory::open(dir.path(), &StoreOptions::default()).unwrap();
    tell(&memory, &[("The lamp is in the hall.", 10), ("The lamps are in the cellar.", 20)]);
    tell(&memory, &[("There is a lamp in the attic.", 30)]);
    let open = |memory: &Memory| -> Vec<String> {
        let slots = slots(memory).into_iter();
        slots.filter(|(.., until)| until.is_none()).map(|(place, ..)| place).collect()
    };
    assert_eq!(open(&memory), ["in the hall", "in the cellar", "in the attic"]);
    tell(&memory, &[("The lamp is on the desk.", 40)]);
    assert_eq!(open(&memory), ["in the cellar", "on the desk"]);
}

#[test]
fn a_thing_in_its_old_place_is_where_it_was_before() {
    let dir = tempfile::tempdir().unwrap();
    let memory = Memory::open(dir.path(), &StoreOptions::default()).unwrap();
    tell(&memory, &[("The globe is in the library.", 10)]);
    tell(&memory, &[("The globe is on the desk.", 20)]);
    tell(&memory, &[("The globe is back in its old place.", 30)]);
    let held = |place: &str, from: i64, until: Option<i64>| (place.to_owned(), from, until);
    assert_eq!(
        slots(&memory),
        [
            held("in the library", 10, Some(20)),
            held("on the desk", 20, Some(30)),
            held("in the library", 30, None),
        ]
    );
    // Of what was nowhere else nobody knows which place that is.
    tell(&memory, &[("The clock is back in its old place.", 40)]);
    assert_eq!(slots(&memory).pop(), Some(held("in its old place", 40, None)));
}

#[test]
fn who_put_it_there_is_told_by_a_memory_that_rests_on_the_note() {
    let dir = tempfile::tempdir().unwrap();
    let memory = Memory::open(dir.path(), &StoreOptions::default()).unwrap();
    tell(&memory, &[("Ben put the saw in Ava's room.", 10)]);
    let view = memory.view();
    let (note, fact) = (MemoryId(1), view.memory(MemoryId(2)).unwrap());
    assert_eq!(view.memory(note).unwrap().fact, None);
    assert_eq!(fact.text, "The saw is in Ava's room; Ben put it there.");
    assert_eq!((fact.grounds.as_slice(), fact.clip), ([Ground::Memory(note)].as_slice(), None));
    assert_eq!(view.told_by(&fact).as_deref(), Some("Ben"));
    drop(view);
    memory.forget(&Forget::Memory(note), Timestamp::from_nanos(i64::MAX / 2)).unwrap();
    assert_eq!(memory.view().memory(MemoryId(2)), None);
}

#[test]
fn a_liking_told_on_two_days_is_weak_no_more() {
    let dir = tempfile::tempdir().unwrap();
    let memory = with_somebody(&dir);
    let likes = "<person_1> likes tea.";
    let weak = || {
        let view = memory.view();
        view.is_weak(&view.memory(MemoryId(1)).unwrap())
    };
    tell(&memory, &[(likes, 0)]);
    assert!(weak());
    tell(&memory, &[(likes, 30)]);
    assert!(weak(), "the same talk");
    tell(&memory, &[(likes, 24 * 60)]);
    assert!(!weak(), "another day");
    // What repeats it is no foundation of it.
    let at = Timestamp::from_nanos(i64::MAX / 2);
    for repeated in [MemoryId(2), MemoryId(3)] {
        memory.forget(&Forget::Memory(repeated), at).unwrap();
    }
    assert!(weak());
}
