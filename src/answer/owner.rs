//! Whose a thing is (Ben's mug is not Ava's), and who put it where it is.

use std::cmp::Reverse;

use crate::ids::EntityId;
use crate::memory::model::{MemoryKind, MemoryRow};
use crate::memory::{Filter, stems, who_placed};
use crate::mention;
use crate::recall::lexer::{Token, tokens};

use super::persons::Names;
use super::phrase::is_determiner;
use super::question::{Subject, listed};
use super::reading::Reading;

/// What somebody does who brings a thing to its place.
const PUTTING: &str =
    "put puts placed left hid laid stored hung took brought moved carried returned parked dropped";
/// Words of a name, at most.
const LONGEST_NAME: usize = 3;
/// Words of a thing's name, at most.
const LONGEST_THING: usize = 4;
/// Words that no thing's name has in it.
const NO_PART: &str = "not no longer never is are was were that which who and or of to in on under";
/// A note with one of these may tell what is not so.
const UNSURE: &str =
    "maybe perhaps probably think thinks said says guess if whether might not longer";
/// Notes that are looked at for whose a thing is.
const LOOKED_AT: usize = 50;
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
                names.known_person(reading, subject).map_or(Self::Anybodys, Self::Person)
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

/// What is told of whose a thing is, beside where it is: "The grey printer belongs to Ben, the red one is Ava's."
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Belonging {
    /// What the thing is called, lower case, without its article; "one" as what it stands for.
    pub(super) thing: Vec<String>,
    /// The owner's name, lower case.
    owner: String,
}

impl Belonging {
    /// Those of things of that name, as they were told last.
    pub(super) fn of(reading: &Reading, name: &[String]) -> Vec<Self> {
        let filter = Filter { kinds: vec![MemoryKind::Note], ..Filter::default() };
        let hits = reading.view.lexical(&name.join(" "), LOOKED_AT, &filter).into_iter();
        let mut notes: Vec<_> = hits.filter_map(|(id, _)| reading.view.memory(id)).collect();
        notes.retain(|row| row.span.start <= reading.time_asked());
        notes.sort_by_key(|row| Reverse((row.span.start, row.id)));
        let mut found: Vec<Self> = Vec::new();
        for note in notes {
            for one in told(&reading.rendered(&note.text), name) {
                if !found.iter().any(|newer| newer.thing == one.thing) {
                    found.push(one);
                }
            }
        }
        found
    }

    /// Whether it is told of whoever that is.
    pub(super) fn is_of(&self, reading: &Reading, whose: &Whose) -> bool {
        match whose {
            Whose::Anybodys => false,
            Whose::Person(id) => reading.view.find_by_name(&self.owner).contains(id),
            Whose::Called(name) => self.owner.eq_ignore_ascii_case(name),
        }
    }
}

/// What a text tells of whose things of that name are.
fn told(text: &str, name: &[String]) -> Vec<Belonging> {
    let words = tokens(text);
    let nouns = stems(&name.join(" "));
    let have = stems(text);
    let named = nouns.last().is_some_and(|noun| have.contains(noun));
    let unsure = words.iter().any(|token| listed(UNSURE, &token.word));
    if !named || unsure || text.contains('?') {
        return Vec::new();
    }
    let mut found = Vec::new();
    for at in 1..words.len() {
        let before = words[at - 1].word.as_str();
        let ends = |at: usize| {
            let next = words.get(at + 1).map_or("and", |token| token.word.as_str());
            words[at].stop || matches!(next, "and" | "but" | "now")
        };
        let owner = words[at].word.strip_suffix("'s").filter(|_| ends(at));
        let (owner, things) = match owner {
            _ if !words[at].capital => continue,
            Some(owner) if matches!(before, "is" | "are") => (owner, &words[..at - 1]),
            _ if at > 1 && before == "to" && words[at - 2].word == "belongs" => {
                (words[at].word.as_str(), &words[..at - 2])
            }
            _ => continue,
        };
        let Some(mut thing) = called_at_end(things) else { continue };
        if thing.last().is_some_and(|word| word == "one") {
            thing.pop();
            thing.extend(name.iter().cloned());
        }
        if stems(&thing.join(" ")).last() == nouns.last() {
            found.push(Belonging { thing, owner: owner.to_owned() });
        }
    }
    found
}

/// "Grey printer" of "… and the grey printer".
fn called_at_end(words: &[Token]) -> Option<Vec<String>> {
    let from = words.iter().rposition(|token| is_determiner(&token.word))?;
    let thing = &words[from + 1..];
    let whole = thing.iter().all(|token| !token.stop && !listed(NO_PART, &token.word));
    let short = (1..=LONGEST_THING).contains(&thing.len());
    (whole && short).then(|| thing.iter().map(|token| token.word.clone()).collect())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whose_a_thing_is_may_be_told_by_what_it_is_like() {
        let of = |text: &str, name: &str| {
            let name: Vec<String> = name.split(' ').map(str::to_owned).collect();
            let each = told(text, &name).into_iter();
            let worded = each.map(|one| format!("{}: {}", one.owner, one.thing.join(" ")));
            worded.collect::<Vec<_>>().join(", ")
        };
        for (text, name, found) in [
            (
                "There are two 3D printers: the grey one belongs to Ben, the red one belongs to Ava.",
                "printer",
                "ben: grey printer, ava: red printer",
            ),
            (
                "The red bucket is Zoe's and the blue bucket is Ben's.",
                "bucket",
                "zoe: red bucket, ben: blue bucket",
            ),
            ("The red bucket is Zoe's sister.", "bucket", ""),
            ("The red bucket is not Zoe's.", "bucket", ""),
            ("The red bucket no longer belongs to Zoe.", "bucket", ""),
            ("Maybe the red bucket belongs to Zoe.", "bucket", ""),
            ("Is the red bucket Zoe's?", "bucket", ""),
            ("The red one belongs to Zoe.", "bucket", ""),
            ("The bucket is in Zoe's car, the red hat is Ben's.", "bucket", ""),
        ] {
            assert_eq!(of(text, name), found, "{text}");
        }
    }
}
