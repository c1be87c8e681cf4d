//! Whose a thing is (Ben's mug is not Ava's), and who put it where it is.

use crate::ids::EntityId;
use crate::memory::model::{MemoryKind, MemoryRow};
use crate::memory::{stems, who_placed};
use crate::mention;
use crate::recall::lexer::tokens;

use super::persons::Names;
use super::question::{Subject, listed};
use super::reading::Reading;

/// What somebody does who brings a thing to its place.
const PUTTING: &str =
    "put puts placed left hid laid stored hung took brought moved carried returned parked dropped";
/// Words of a name, at most.
const LONGEST_NAME: usize = 3;
/// Words between somebody and what was done.
const BETWEEN: &str = "has have had just also already then now later";

/// Whose thing a question means.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Whose {
    /// That was not said.
    #[default]
    Anybodys,
    /// That of somebody who is known.
    Person(EntityId),
    /// That of somebody by whom only the name is known.
    Called(String),
}

impl Whose {
    /// Whom the question names as the owner.
    pub(super) fn of(reading: &Reading, names: &Names<'_>, owner: Option<&Subject>) -> Self {
        match owner {
            Some(Subject::Unknown(name)) => Self::Called(name.clone()),
            Some(subject) => {
                let person = names.person(reading, subject).ok();
                person.filter(|id| Reading::is_person(*id)).map_or(Self::Anybodys, Self::Person)
            }
            None => Self::Anybodys,
        }
    }

    /// Whether a memory may tell of a thing of theirs: where the thing is called somebody's it has to be theirs; else
    /// the memory is about them, and not only because the place is theirs.
    pub(super) fn owns(&self, reading: &Reading, row: &MemoryRow) -> bool {
        let fact = row.fact.as_ref().filter(|fact| fact.attribute == "location");
        let thing = fact.map(|fact| reading.view.thing(&fact.subject)).unwrap_or_default();
        let place = fact.map(|fact| reading.rendered(&fact.value)).unwrap_or_default();
        let owner = owner_in(&thing);
        match self {
            Self::Anybodys => true,
            Self::Called(name) => {
                let told = owner.unwrap_or_else(|| reading.rendered(&row.text));
                let (told, place) = (stems(&told), stems(&place));
                stems(name).iter().all(|word| told.contains(word) && !place.contains(word))
            }
            Self::Person(id) => {
                if let Some(owner) = owner {
                    return persons_called(reading, &owner).contains(id);
                }
                let names = |text: &str| reading.view.named_in(text).contains(id);
                let about = row.entities.iter().any(|other| reading.view.resolve(*other) == *id);
                (about || names(&reading.rendered(&row.text))) && !names(&place)
            }
        }
    }

    /// "Ben's mug" of "mug"; "the mug" where nobody is named.
    pub(super) fn thing(&self, reading: &Reading, thing: &str) -> String {
        match self {
            Self::Anybodys => format!("the {thing}"),
            Self::Person(id) => format!("{}'s {thing}", reading.name(*id)),
            Self::Called(name) => format!("{name}'s {thing}"),
        }
    }
}

/// "ava" of "ava's mug".
fn owner_in(thing: &str) -> Option<String> {
    parts(thing).map(|(owner, _)| owner)
}

/// "ava" and "mug" of "ava's mug".
fn parts(thing: &str) -> Option<(String, String)> {
    let thing = thing.replace('\u{2019}', "'");
    let (owner, thing) = thing.split_once("'s ")?;
    Some((owner.strip_prefix("the ").unwrap_or(owner).to_owned(), thing.to_owned()))
}

/// Whom an owner's name means, or the id of somebody who had no name yet.
fn persons_called(reading: &Reading, owner: &str) -> Vec<EntityId> {
    match owner.parse::<EntityId>() {
        Ok(id) => vec![reading.view.resolve(id)],
        Err(_) => reading.view.find_by_name(owner),
    }
}

/// "Ben's keys" of "person_2's keys".
pub(super) fn with_name(reading: &Reading, thing: &str) -> String {
    let named = parts(thing).and_then(|(owner, thing)| {
        let id: EntityId = owner.parse().ok()?;
        Some(format!("{}'s {thing}", reading.name(id)))
    });
    named.unwrap_or_else(|| thing.to_owned())
}

/// What a thing is called, whosever it is.
pub(super) fn without_owner(thing: &str) -> String {
    parts(thing).map_or_else(|| thing.to_owned(), |(_, thing)| thing)
}

/// Whether the thing of a statement is called somebody's own: "Ava's mug".
pub(super) fn is_called_theirs(reading: &Reading, who: EntityId, row: &MemoryRow) -> bool {
    let fact = row.fact.as_ref().filter(|fact| fact.attribute == "location");
    let owner = fact.and_then(|fact| owner_in(&reading.view.thing(&fact.subject)));
    owner.is_some_and(|owner| persons_called(reading, &owner).contains(&who))
}

/// Whether somebody else tells of a thing of their own: "I lost my keys", of which the owner of these knows nothing.
pub(super) fn is_of_anothers(reading: &Reading, thing: &str, row: &MemoryRow) -> bool {
    let Some(owner) = owner_in(thing).filter(|_| row.kind == MemoryKind::Utterance) else {
        return false;
    };
    let owners = persons_called(reading, &owner);
    let own = |id: &EntityId| owners.contains(&reading.view.resolve(*id));
    tokens(&row.text).iter().any(|token| token.word == "my") && !row.entities.iter().any(own)
}

/// Who put a thing where a statement has it, as far as that was told.
pub(super) fn actor(reading: &Reading, row: &MemoryRow) -> Option<EntityId> {
    match who_placed(&row.text) {
        Some(who) => {
            let mentioned = mention::mentions(who).into_iter().map(|one| one.entity);
            let found = mentioned.chain(reading.view.find_by_name(who));
            found.map(|id| reading.view.resolve(id)).find(|id| Reading::is_person(*id))
        }
        None if row.kind == MemoryKind::Note => who_did(reading, &reading.rendered(&row.text)),
        None => None,
    }
}

/// Ben of "Yesterday Ben has put the saw in the shed".
fn who_did(reading: &Reading, text: &str) -> Option<EntityId> {
    let words = tokens(text);
    let verb = words.iter().position(|token| listed(PUTTING, &token.word))?;
    let mut before = &words[..verb];
    while let [rest @ .., last] = before
        && listed(BETWEEN, &last.word)
    {
        before = rest;
    }
    let longest = before.len().min(LONGEST_NAME);
    (1..=longest).rev().find_map(|count| {
        let name = &before[before.len() - count..];
        let (first, last) = (name.first()?, name.last()?);
        let called = reading.view.find_by_name(&text[first.range.start..last.range.end]);
        called.into_iter().find(|id| Reading::is_person(*id))
    })
}
