//! Views of the past are exact, for every kind of row.

use proptest::prelude::*;

use super::*;

/// One change; small numbers, so that changes meet.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Track(u64, Option<u32>),
    Turn(u64, Option<u32>),
    Words(u64, u8),
    Exemplar(u32, u32, i8),
    RetireExemplar(u32, u32),
    Evidence(u32, u32, u8),
    Member(u32, u32),
    Unmember(u32),
    Merge(u32, u32),
    Unmerge(u32),
    Name(u32, u8),
    Unname(u32, u8),
    Memory(u64, u8, u32),
    Close(u64, i64),
    TakeBack(u64),
}

const NAMES: [&str; 3] = ["Ava", "Ben", "Old Joe"];
const TEXTS: [&str; 3] = ["poured coffee", "opened the door", "sang for joy"];

pub(super) fn step() -> impl Strategy<Value = Step> {
    let few = 1_u32..4;
    prop_oneof![
        (1_u64..4, proptest::option::of(few.clone())).prop_map(|(a, b)| Step::Track(a, b)),
        (1_u64..4, proptest::option::of(few.clone())).prop_map(|(a, b)| Step::Turn(a, b)),
        (1_u64..4, 0_u8..3).prop_map(|(a, b)| Step::Words(a, b)),
        (few.clone(), 0_u32..2, -3_i8..3).prop_map(|(a, b, c)| Step::Exemplar(a, b, c)),
        (few.clone(), 0_u32..2).prop_map(|(a, b)| Step::RetireExemplar(a, b)),
        (few.clone(), few.clone(), 0_u8..5).prop_map(|(a, b, c)| Step::Evidence(a, b, c)),
        (1_u32..7, few.clone()).prop_map(|(a, b)| Step::Member(a, b)),
        (1_u32..7).prop_map(Step::Unmember),
        (few.clone(), few.clone()).prop_map(|(a, b)| Step::Merge(a, b)),
        few.clone().prop_map(Step::Unmerge),
        (few.clone(), 0_u8..3).prop_map(|(a, b)| Step::Name(a, b)),
        (few.clone(), 0_u8..3).prop_map(|(a, b)| Step::Unname(a, b)),
        (1_u64..5, 0_u8..3, few).prop_map(|(a, b, c)| Step::Memory(a, b, c)),
        (1_u64..5, 1_i64..50).prop_map(|(a, b)| Step::Close(a, b)),
        (1_u64..5).prop_map(Step::TakeBack),
    ]
}

/// Faces 1–3 and voices 4–6.
fn part(number: u32) -> EntityId {
    if number <= 3 { face(number) } else { voice(number - 3) }
}

pub(super) fn apply(draft: &mut Draft, step: &Step, now: i64) {
    match step {
        Step::Track(id, of) => draft.track(track(0, *id, of.map(face), now, 2)),
        Step::Turn(id, of) => draft.turn(turn(0, *id, of.map(voice), now, None)),
        Step::Words(id, text) => {
            let text = TEXTS[usize::from(*text)];
            let _ = draft.late_words(SessionId(1), TurnId(*id), words(text, now));
        }
        Step::Exemplar(of, slot, value) => draft.exemplar(Exemplar {
            entity: face(*of),
            slot: *slot,
            at: at(now),
            embedding: embedding(&[1.0, f32::from(*value)]),
            quality: 0.5,
            weight: 1.0,
            media: None,
        }),
        Step::RetireExemplar(of, slot) => draft.retire_exemplar(face(*of), *slot),
        Step::Evidence(a, b, secs) => draft.evidence(PairEvidence {
            face: face(*a),
            voice: voice(*b),
            support_secs: f64::from(*secs),
            against_secs: 0.5,
            presence: Some(Presence { visible_secs: f64::from(*secs), ..Presence::default() }),
        }),
        Step::Member(a, b) => draft.membership(member(part(*a), person(*b))),
        Step::Unmember(a) => draft.retire_membership(part(*a)),
        Step::Merge(from, into) => {
            let (from, into) = (person(*from), person(*into));
            let _ = draft.merge(Merge { from, into, reason: "alike".into(), decreed: false });
        }
        Step::Unmerge(from) => draft.undo_merge(person(*from)),
        Step::Name(of, name) => {
            draft.name(named(person(*of), NAMES[usize::from(*name)], now, NameSource::Said));
        }
        Step::Unname(of, name) => draft.retire_name(person(*of), NAMES[usize::from(*name)]),
        Step::Memory(id, text, of) => {
            let text = format!("<person_{of}> {}", TEXTS[usize::from(*text)]);
            let vector = embedding(&[1.0, *of as f32, now as f32]);
            draft.memory(memory_row(*id, &text, &[person(*of)], now), Some(vector));
        }
        Step::Close(id, until) => {
            let _ = draft.retire_memory(MemoryId(*id), Some(at(*until)), "superseded");
        }
        Step::TakeBack(id) => {
            let _ = draft.retire_memory(MemoryId(*id), None, "wrong");
        }
    }
}

/// Everything a reader can ask, but for commit numbers.
fn content(view: &View) -> String {
    let all = PerceptFilter::default();
    let near = embedding(&[1.0, 2.0, 3.0]);
    let people: Vec<_> = (1..4).map(|n| (view.same_as(person(n)), view.names(person(n)))).collect();
    format!(
        "{:?}\n{:?}\n{:?}\n{:?}\n{:?}\n{:?}\n{:?}\n{people:?}\n{:?}\n{:?}\n{:?}",
        view.persons(),
        view.memories(&Filter::default()),
        view.tracks(&all),
        view.turns(&all),
        view.evidence(),
        view.galleries(EntityKind::Face, MODEL),
        view.memberships(),
        view.merges(),
        view.nearest(&near, 3, &Filter::default()),
        view.memories(&Filter { span: Some(Span::new(at(3), at(9))), ..Filter::default() }),
    )
}

pub(super) fn everything(view: &View) -> String {
    let found = view.lexical("Did Ava pour the coffee?", 3, &Filter::default());
    format!("{}\n{found:?}\n{:?}\n{}", content(view), view.newest_time(), export(view))
}

pub(super) fn history() -> impl Strategy<Value = Vec<Vec<Step>>> {
    proptest::collection::vec(proptest::collection::vec(step(), 1..8), 1..12)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 16,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_view_of_the_past_is_what_was_seen_then(commits in history()) {
        let dir = tempfile::tempdir().unwrap();
        let memory = open(dir.path());
        let mut then = vec![(memory.view(), everything(&memory.view()))];
        for (i, steps) in commits.iter().enumerate() {
            let now = i as i64 + 1;
            let mut draft = memory.begin(at(now));
            for step in steps {
                apply(&mut draft, step, now);
            }
            draft.commit().unwrap();
            then.push((memory.view(), everything(&memory.view())));
        }
        let hash = memory.hash();
        for (seq, (view, seen)) in then.iter().enumerate() {
            prop_assert_eq!(&everything(view), seen, "a pinned view changed");
            let by_seq = memory.view_as_of(AsOf::Seq(crate::ids::Seq(seq as u64))).unwrap();
            prop_assert_eq!(&everything(&by_seq), seen);
            let by_time = memory.view_as_of(AsOf::Time(at(seq as i64))).unwrap();
            prop_assert_eq!(&everything(&by_time), seen);
        }
        drop(memory);
        let memory = open(dir.path());
        prop_assert_eq!(memory.hash(), hash);
        for (seq, (_, seen)) in then.iter().enumerate() {
            let view = memory.view_as_of(AsOf::Seq(crate::ids::Seq(seq as u64))).unwrap();
            prop_assert_eq!(&everything(&view), seen, "after a restart");
        }
    }

    /// Sessions with different clocks: as of a time is what the commits recorded until then make.
    #[test]
    fn the_past_by_time_needs_no_order(commits in history(), clocks in proptest::collection::vec(1_i64..6, 12)) {
        let dirs = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let memory = open(dirs.0.path());
        for (steps, now) in commits.iter().zip(&clocks) {
            let mut draft = memory.begin(at(*now));
            for step in plain(steps) {
                apply(&mut draft, step, *now);
            }
            draft.commit().unwrap();
        }
        let asked = at(3);
        let known = open(dirs.1.path());
        for (steps, now) in commits.iter().zip(&clocks).filter(|(_, now)| at(**now) <= asked) {
            let mut draft = known.begin(at(*now));
            for step in plain(steps) {
                apply(&mut draft, step, *now);
            }
            draft.commit().unwrap();
        }
        let view = memory.view_as_of(AsOf::Time(asked)).unwrap();
        prop_assert_eq!(content(&view), content(&known.view()));
    }
}

/// Steps that say all they mean by themselves (the others depend on what was there before).
fn plain(steps: &[Step]) -> impl Iterator<Item = &Step> {
    steps.iter().filter(|step| {
        !matches!(
            step,
            Step::Words(..)
                | Step::Close(..)
                | Step::Merge(..)
                | Step::TakeBack(..)
                | Step::RetireExemplar(..)
                | Step::Unmember(..)
                | Step::Unmerge(..)
                | Step::Unname(..)
        )
    })
}

#[test]
fn an_export_is_read_back_whole() {
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let memory = open(first.path());
    household(&memory);
    let mut draft = memory.begin(at(80));
    draft.retire_memory(MemoryId(5), Some(at(55)), "she said so").unwrap();
    draft.commit().unwrap();
    let exported = export(&memory.view());
    let copy = open(second.path());
    let imported = copy.import(exported.as_bytes()).unwrap();
    assert_eq!(imported.commits, memory.view().seq().0);
    assert_eq!(export(&copy.view()), exported);
    assert_eq!(copy.hash(), memory.hash());
    assert_eq!(copy.begin(at(90)).new_memory_id(), memory.begin(at(90)).new_memory_id());
    assert!(copy.import(exported.as_bytes()).is_err(), "it is not empty any more");
    drop(copy);
    let third = tempfile::tempdir().unwrap();
    let other = open(third.path());
    let lines: Vec<&str> = exported.lines().collect();
    let older = lines[1..lines.len() - 1].join("\n");
    let broken = older.replacen("\"table\":\"memory\"", "\"table\":\"memori\"", 1);
    let error = other.import(broken.as_bytes()).unwrap_err().to_string();
    assert!(error.contains("no such table"), "{error}");
    assert_eq!(other.view().seq().0, 0, "nothing came in");
    assert_eq!(open(second.path()).hash(), memory.hash());
}
