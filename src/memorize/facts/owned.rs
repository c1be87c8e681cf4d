//! Whose a thing is that is told of: "the keys" are those of whoever speaks, or of the only one whose keys are known.
//!
//! What is somebody's goes by its owner's name ("ava's keys"), or by the owner's id until there is a name, or where others
//! have the same one.

use std::collections::{BTreeMap, BTreeSet};

use crate::ids::{EntityId, EntityKind};
use crate::memorize::Sentence;
use crate::memory::model::{Fact, FactAction, MemoryKind};
use crate::memory::{Filter, View};

/// The attribute of "The mug is on the shelf."
pub(super) const LOCATION: &str = "location";
/// Statements of things that are called so, at most.
const LOOKED_AT: usize = 200;

/// What facts call a thing of somebody's, and how a sentence does.
pub(super) fn called(owner: EntityId, thing: &str, view: &View) -> (String, String) {
    let name = view.display_name(owner).to_lowercase();
    let id = view.resolve(owner);
    let whose = if person_called(view, &name) == Some(id) { name } else { id.to_string() };
    (format!("{whose}'s {thing}"), format!("<{owner}>'s {thing}"))
}

/// Gives things that are told of without an owner the one whose they are, by what was known before and what was stated
/// earlier among the same.
pub(super) fn give_owners(stated: &mut [Sentence], before: &View) {
    let mut known = Known { view: before, subjects: BTreeMap::new() };
    for sentence in stated {
        let Some(fact) = sentence.fact.as_mut().filter(|fact| is_of_thing(fact)) else { continue };
        // Another one of its kind is nobody's yet.
        if sentence.wish == Some(FactAction::Add) {
            continue;
        }
        let person = |id: &&EntityId| id.kind == EntityKind::Person;
        let speaker = sentence.about.iter().find(person).map(|id| before.resolve(*id));
        if let Some(meant) = known.meant(&fact.subject, speaker) {
            let plain = format!("The {}", fact.subject);
            let owner = parts(&meant).0.and_then(|owner| person_called(before, owner));
            if let (Some(rest), Some(owner)) = (sentence.text.strip_prefix(&plain), owner) {
                sentence.text = format!("<{owner}>'s {}{rest}", fact.subject);
            }
            fact.subject = meant;
        }
        if sentence.wish != Some(FactAction::Retire) {
            let subject = fact.subject.clone();
            known.of(parts(&subject).1).insert(subject);
        }
    }
}

/// The same of one fact that was told by nobody in particular.
pub(super) fn give_owner(fact: &mut Fact, before: &View) {
    let mut known = Known { view: before, subjects: BTreeMap::new() };
    if is_of_thing(fact)
        && let Some(meant) = known.meant(&fact.subject, None)
    {
        fact.subject = meant;
    }
}

fn is_of_thing(fact: &Fact) -> bool {
    fact.attribute == LOCATION && fact.subject.parse::<EntityId>().is_err()
}

/// The owner in what facts call a thing, and what it is called without: "ava", "keys".
fn parts(subject: &str) -> (Option<&str>, &str) {
    match subject.split_once("'s ") {
        Some((owner, thing)) => (Some(owner), thing),
        None => (None, subject),
    }
}

/// The one person whom an owner's name or id means.
fn person_called(view: &View, owner: &str) -> Option<EntityId> {
    if let Ok(id) = owner.parse::<EntityId>() {
        return Some(view.resolve(id));
    }
    let mut found = view.find_by_name(owner);
    found.retain(|id| id.kind == EntityKind::Person);
    match found.as_slice() {
        [one] => Some(*one),
        _ => None,
    }
}

/// What facts call the things whose places are known, by what they are called without their owners, or by the end of it.
struct Known<'a> {
    view: &'a View,
    subjects: BTreeMap<String, BTreeSet<String>>,
}

impl Known<'_> {
    fn of(&mut self, thing: &str) -> &mut BTreeSet<String> {
        let view = self.view;
        self.subjects.entry(thing.to_owned()).or_insert_with(|| known(view, thing))
    }

    /// By what else the thing is known; `None`: it is called as it is.
    fn meant(&mut self, subject: &str, speaker: Option<EntityId>) -> Option<String> {
        let view = self.view;
        let (owner, thing) = parts(subject);
        let subjects = &*self.of(thing);
        let exact = move || subjects.iter().filter(move |one| parts(one).1 == thing);
        let owned = || exact().filter(|one| parts(one).0.is_some());
        let of = |who: EntityId| {
            owned().find(|one| parts(one).0.and_then(|name| person_called(view, name)) == Some(who))
        };
        let found = match owner {
            Some(_) if subjects.contains(subject) => None,
            Some(owner) => person_called(view, owner).and_then(of),
            None => speaker.and_then(of).or_else(|| {
                let alone = owned().count() == 1 && !subjects.contains(thing);
                owned().next().filter(|_| alone)
            }),
        };
        let longer = || exact().next().is_none().then(|| longer(subject, subjects)).flatten();
        found.or_else(longer).cloned()
    }
}

/// The only known thing of its owner that a shorter name may mean: "Ava's glasses" after "Ava's reading glasses".
fn longer<'a>(subject: &str, subjects: &'a BTreeSet<String>) -> Option<&'a String> {
    let (owner, thing) = parts(subject);
    let more = |one: &'a String| {
        let (theirs, name) = parts(one);
        name.strip_suffix(thing)?.strip_suffix(' ')?;
        (theirs == owner).then_some(one)
    };
    // "The box" may be none of the fuses.
    let mut fit = subjects.iter().filter_map(more).filter(|_| owner.is_some());
    let one = fit.next()?;
    fit.next().is_none().then_some(one)
}

fn known(view: &View, thing: &str) -> BTreeSet<String> {
    let kinds = vec![MemoryKind::Semantic, MemoryKind::Note];
    let filter = Filter { kinds, ..Filter::default() };
    let hits = view.lexical(thing, LOOKED_AT, &filter).into_iter();
    let facts = hits.filter_map(|(id, _)| view.memory(id)?.fact.clone());
    let such = |fact: &Fact| {
        let called = parts(&fact.subject).1.strip_suffix(thing);
        is_of_thing(fact) && called.is_some_and(|more| more.is_empty() || more.ends_with(' '))
    };
    facts.filter(such).map(|fact| fact.subject).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::memory::model::{NameRow, NameSource};
    use crate::memory::{Memory, StoreOptions};
    use crate::time::{Span, Timestamp};

    fn told(subject: &str, by: Option<EntityId>) -> Sentence {
        let at = Timestamp::from_nanos(0);
        let text = format!("The {subject} are there.");
        let mut one = Sentence::new(MemoryKind::Semantic, text, Span::new(at, at), Vec::new());
        one.about.extend(by);
        let value = "there".to_owned();
        one.fact = Some(Fact { subject: subject.into(), attribute: LOCATION.into(), value });
        one
    }

    fn subjects(stated: &[Sentence]) -> Vec<&str> {
        stated.iter().map(|one| one.fact.as_ref().unwrap().subject.as_str()).collect()
    }

    #[test]
    fn a_shorter_name_means_the_only_thing_that_is_called_so_at_greater_length() {
        let meant = |subject: &str, known: &[&str]| {
            let known = known.iter().map(|one| (*one).to_owned()).collect();
            longer(subject, &known).cloned().unwrap_or_default()
        };
        for (subject, known, wanted) in [
            ("ava's glasses", &["ava's reading glasses"][..], "ava's reading glasses"),
            ("ava's glasses", &["ava's reading glasses", "ava's sun glasses"], ""),
            ("globe", &["big globe"], ""),
            ("box", &["fuse box"], ""),
            ("glasses", &["ava's reading glasses"], ""),
            ("ben's glasses", &["ava's reading glasses"], ""),
            ("lobe", &["big globe"], ""),
        ] {
            assert_eq!(meant(subject, known), wanted, "{subject} {known:?}");
        }
    }

    #[test]
    fn the_keys_are_the_speakers_or_those_of_the_only_owner() {
        let dir = tempfile::tempdir().unwrap();
        let memory = Memory::open(dir.path(), &StoreOptions::default()).unwrap();
        let at = Timestamp::from_nanos(0);
        let mut draft = memory.begin(at);
        let [ava, other] = [(); 2].map(|()| draft.new_entity(EntityKind::Person));
        let name = |entity, name: &str| {
            let (name, source) = (name.to_owned(), NameSource::Told);
            NameRow { entity, name, since: at, source, turn: None }
        };
        draft.name(name(ava, "Ava"));
        draft.commit().unwrap();
        let view = memory.view();
        assert_eq!(called(ava, "keys", &view).0, "ava's keys");
        let others = called(other, "keys", &view).0;
        let mut stated = [
            told("ava's keys", Some(ava)),
            told("keys", Some(other)),
            told(&others, Some(other)),
            told("keys", Some(ava)),
            told("keys", Some(other)),
            // Whose is open.
            told("keys", None),
            told("mug", Some(ava)),
        ];
        give_owners(&mut stated, &view);
        let wanted = [
            "ava's keys",
            "ava's keys",
            others.as_str(),
            "ava's keys",
            others.as_str(),
            "keys",
            "mug",
        ];
        assert_eq!(subjects(&stated), wanted);
        assert_eq!(stated[3].text, format!("<{ava}>'s keys are there."));
        assert_eq!(stated[5].text, "The keys are there.");
        // A name makes no other thing of it.
        let mut draft = memory.begin(at.plus_secs(1.0));
        draft.name(name(other, "Ben"));
        draft.commit().unwrap();
        let mut stated = [told(&others, Some(other)), told("ben's keys", None)];
        give_owners(&mut stated, &memory.view());
        assert_eq!(subjects(&stated), [others.as_str(), others.as_str()]);
        // Two who are called the same have keys each.
        let mut draft = memory.begin(at.plus_secs(2.0));
        let namesake = draft.new_entity(EntityKind::Person);
        draft.name(name(namesake, "Ava"));
        draft.commit().unwrap();
        let view = memory.view();
        let whose = [ava, namesake].map(|owner| called(owner, "keys", &view).0);
        assert_eq!(whose, [ava, namesake].map(|owner| format!("{owner}'s keys")));
    }
}
