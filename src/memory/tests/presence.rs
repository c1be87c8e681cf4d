//! What is kept of persons from commit to commit is what their rows say, to the last bit.

use std::sync::Arc;

use proptest::prelude::*;

use super::history::{self, step};
use super::*;

/// What a person's rows say, gone through from the first to the last.
fn of_rows(view: &View, who: EntityId) -> (Option<Timestamp>, Option<Timestamp>, f64, f64) {
    let all = PerceptFilter { entity: Some(who), ..PerceptFilter::default() };
    let mut seen: Vec<Span> = view.tracks(&all).iter().map(|row| row.span).collect();
    let turns = view.turns(&all);
    let heard: Vec<(Span, f64)> = turns.iter().map(|row| (row.span, row.speech_secs)).collect();
    let spans = || seen.iter().copied().chain(heard.iter().map(|(span, _)| *span));
    let (first, last) = (spans().map(|span| span.start).min(), spans().map(|span| span.end).max());
    let spoken = spoken_once_secs(&heard);
    seen.sort_unstable();
    let (mut total, mut run) = (0.0, None::<Span>);
    for span in seen {
        match &mut run {
            Some(open) if span.start <= open.end => open.end = open.end.max(span.end),
            _ => total += run.replace(span).map_or(0.0, Span::secs),
        }
    }
    (first, last, total + run.map_or(0.0, Span::secs), spoken)
}

/// Everyone as a view finds them that knows of no other.
fn afresh(view: &View) -> Vec<PersonProfile> {
    let tables = &view.tables;
    let kept: Vec<_> =
        tables.presence.iter().map(|one| (*one.key(), Arc::clone(one.value()))).collect();
    let people = tables.people.each_ref().map(|place| place.swap(None));
    tables.presence.clear();
    let persons = view.persons();
    tables.presence.clear();
    kept.into_iter().for_each(|(who, known)| drop(tables.presence.insert(who, known)));
    tables.people.iter().zip(people).for_each(|(place, known)| place.store(known));
    persons
}

fn check(view: &View) -> Result<(), TestCaseError> {
    let persons = view.persons();
    prop_assert_eq!(&persons, &afresh(view));
    for person in &persons {
        let (first, last, seen, spoken) = of_rows(view, person.id);
        prop_assert_eq!((person.first_seen, person.last_seen), (first, last));
        let bits = |secs: f64| secs.to_bits();
        prop_assert_eq!(bits(person.seen_secs), bits(seen), "{} {}", person.seen_secs, seen);
        prop_assert_eq!(bits(person.spoken_secs), bits(spoken));
        let asked = view.person(person.id);
        prop_assert_eq!(&asked, person);
    }
    Ok(())
}

#[derive(Clone, Debug)]
enum Change {
    /// As histories have it.
    Step(history::Step),
    /// A track of a face: how long after the clip's begin, and for how long, thirds of a second.
    Seen(u32, i64, i64),
    Heard(u32, i64, i64),
}

fn change() -> impl Strategy<Value = Change> {
    // Some begin before what was there before.
    let (begins, lasts) = (-30_i64..60, 1_i64..40);
    prop_oneof![
        2 => step().prop_map(Change::Step),
        3 => (1_u32..4, begins.clone(), lasts.clone()).prop_map(|(a, b, c)| Change::Seen(a, b, c)),
        3 => (1_u32..4, begins, lasts).prop_map(|(a, b, c)| Change::Heard(a, b, c)),
    ]
}

fn thirds(at: i64) -> Timestamp {
    Timestamp::from_nanos(at * 333_333_333)
}

/// Commits of changes, and whom to erase after some of them.
fn life() -> impl Strategy<Value = Vec<(Vec<Change>, Option<u32>)>> {
    let erased = prop_oneof![9 => Just(None), 1 => (1_u32..4).prop_map(Some)];
    let changes = proptest::collection::vec(change(), 1..12);
    proptest::collection::vec((changes, erased), 1..24)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 24,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn what_is_kept_of_persons_is_what_their_rows_say(life in life()) {
        let dir = tempfile::tempdir().unwrap();
        let memory = open(dir.path());
        let mut draft = memory.begin(at(0));
        draft.new_session(at(0), 30.0, None);
        for kind in [EntityKind::Face, EntityKind::Voice, EntityKind::Person] {
            for _ in 0..3 {
                draft.new_entity(kind);
            }
        }
        for number in 1..4 {
            draft.membership(member(face(number), person(number)));
            draft.membership(member(voice(number), person(number)));
        }
        draft.commit().unwrap();
        check(&memory.view())?;
        let mut pinned = Vec::new();
        for (number, (changes, erased)) in life.iter().enumerate() {
            let now = number as i64 + 1;
            let mut draft = memory.begin(at(now));
            for (place, change) in changes.iter().enumerate() {
                let id = 10 + place as u64;
                let span = |begins: &i64, lasts: &i64| {
                    let start = 60 * now + begins;
                    Span::new(thirds(start), thirds(start + lasts))
                };
                let index = number as u32 + 1;
                match change {
                    Change::Step(step) => history::apply(&mut draft, step, now),
                    Change::Seen(of, begins, lasts) => {
                        let row = track(index, id, Some(face(*of)), now, 1);
                        draft.track(TrackRow { span: span(begins, lasts), ..row });
                    }
                    Change::Heard(of, begins, lasts) => {
                        let row = turn(index, 1_000 * now as u64 + id, Some(voice(*of)), now, None);
                        let speech_secs = *lasts as f64 * 0.3;
                        draft.turn(TurnRow { span: span(begins, lasts), speech_secs, ..row });
                    }
                }
            }
            draft.commit().unwrap();
            let view = memory.view();
            check(&view)?;
            pinned.push((view.clone(), view.persons()));
            let erased = erased.map(person).filter(|who| memory.view().knows(*who));
            if let Some(who) = erased {
                memory.forget(&Forget::Entity(who), at(now)).unwrap();
                check(&memory.view())?;
                // What was pinned before tells of whoever is gone; that is looked at elsewhere.
                pinned.clear();
            }
        }
        for (view, persons) in &pinned {
            prop_assert_eq!(&view.persons(), persons, "a pinned view changed");
            let then = memory.view_as_of(AsOf::Seq(view.seq())).unwrap();
            prop_assert_eq!(&then.persons(), persons, "as of {}", view.seq());
            check(&then)?;
        }
        let newest = memory.view().persons();
        drop(memory);
        prop_assert_eq!(open(dir.path()).view().persons(), newest, "after a restart");
    }
}
