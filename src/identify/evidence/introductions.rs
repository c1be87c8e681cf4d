//! Names as evidence: who gives the same name is likelier to be one person, who gives another is likelier not to be.
//!
//! A voice's own words ("I am Ava", see [`names`](super::names)) are compared with what another's voices said of
//! themselves, or the user told of them; two names that the user told are his word, and no evidence. It is read off the rows
//! of names whenever it is asked for: so it counts once, however often a name is said, and is gone with its row.
//!
//! It is never a verdict: it weighs less than the least that links a voice to a face, moves what two galleries need only
//! part of the way, and that two have one name counts nothing once they were there at once.

use std::collections::{BTreeMap, BTreeSet};

use super::Signed;
use super::name_words::Words;
use super::spellings::Spellings;
use crate::identify::matching::thresholds::{MatchThresholds, TOGETHER_SECS};
use crate::identify::persons::Persons;
use crate::identify::resolver::Resolver;
use crate::ids::{EntityId, EntityKind};
use crate::memory::model::{NameRow, NameSource};

/// What a name weighs of the seconds that link a voice to a face: more than the half that one of two faces must be ahead of
/// the other, less than all.
const LINK_SHARE: f64 = 0.6;
/// How much of the way from `accept` to `merge` a name spares two galleries, or puts on top.
const MERGE_SHARE: f32 = 0.5;

/// What names say of two being one person.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Naming {
    /// Nothing: one of them gave none.
    #[default]
    Silent,
    /// They gave the same name.
    Same,
    /// They gave different names.
    Different,
}

impl Naming {
    /// Of names in pairs: one that agrees is enough.
    fn of_pairs<'a>(pairs: impl Iterator<Item = (&'a Words, &'a Words)>) -> Self {
        let mut naming = Self::Silent;
        for (a, b) in pairs {
            if a.agrees(b) {
                return Self::Same;
            }
            naming = Self::Different;
        }
        naming
    }

    /// The word in JSON; `None`: nothing is to be said.
    #[must_use]
    pub const fn word(self) -> Option<&'static str> {
        match self {
            Self::Silent => None,
            Self::Same => Some("same"),
            Self::Different => Some("different"),
        }
    }

    /// What it adds to a reason. No name stands in it: reasons outlive names that are erased.
    pub(in crate::identify) const fn reason(self) -> &'static str {
        match self {
            Self::Silent => "",
            Self::Same => "; they gave the same name",
            Self::Different => "; they gave different names",
        }
    }

    /// Evidence between a face and a voice with what the names weigh.
    pub(in crate::identify) fn added_to(self, mut signed: Signed, link_secs: f64) -> Signed {
        match self {
            Self::Silent => {}
            Self::Same => signed.support_secs += LINK_SHARE * link_secs,
            Self::Different => signed.against_secs += LINK_SHARE * link_secs,
        }
        signed
    }

    /// By how much less alike two galleries need to be, cosine; negative: by how much more.
    pub(in crate::identify) fn spares(self, thresholds: &MatchThresholds) -> f32 {
        let step = MERGE_SHARE * (thresholds.merge - thresholds.accept).max(0.0);
        match self {
            Self::Silent => 0.0,
            Self::Same => step,
            Self::Different => -step,
        }
    }
}

/// A name of a person.
#[derive(Clone, Debug)]
struct Known {
    words: Words,
    /// The voice that said it of itself; `None`: the user told it.
    by: Option<EntityId>,
}

/// Who gave which name; read off the rows when it is asked for, at the cost of what is asked about.
#[derive(Clone, Copy, Debug)]
pub struct Introductions<'a> {
    persons: &'a Persons,
}

impl<'a> Introductions<'a> {
    /// From the book of persons.
    #[must_use]
    pub fn of(persons: &'a Persons) -> Self {
        Self { persons }
    }

    /// Whether a voice (that is no alias) called itself anything.
    #[must_use]
    pub fn speaks(&self, voice: EntityId) -> bool {
        self.said(voice).next().is_some()
    }

    /// A voice's own words (the voice is no alias) against the names of a person but for those that it gave itself.
    #[must_use]
    pub fn of_voice(&self, voice: EntityId, person: EntityId) -> Naming {
        let said: Vec<Words> = self.said(voice).collect();
        if said.is_empty() {
            return Naming::Silent;
        }
        let known = self.known(person);
        let others: Vec<&Known> = known.iter().filter(|name| name.by != Some(voice)).collect();
        let pairs =
            said.iter().flat_map(|mine| others.iter().map(move |other| (mine, &other.words)));
        Naming::of_pairs(pairs)
    }

    /// The names of two persons, of each pair one at least in a voice's own words.
    #[must_use]
    pub fn of_persons(&self, a: EntityId, b: EntityId) -> Naming {
        let told = |x: &Known, y: &Known| x.by.is_none() && y.by.is_none();
        let (of_a, of_b) = (self.known(a), self.known(b));
        let pairs = of_a.iter().flat_map(|x| of_b.iter().map(move |y| (x, y)));
        Naming::of_pairs(pairs.filter(|(x, y)| !told(x, y)).map(|(x, y)| (&x.words, &y.words)))
    }

    /// Everybody else who gave the same name, ascending.
    #[must_use]
    pub fn namesakes(&self, person: EntityId) -> Vec<EntityId> {
        let having = self.persons.spellings().flat_map(|(_, entities)| entities);
        let rows = having.flat_map(|entity| self.persons.names_of(*entity));
        let owners = rows.filter_map(|row| self.owner(row)).map(|(owner, _)| owner);
        let found: BTreeSet<EntityId> = owners.collect();
        let same =
            |other: &EntityId| *other != person && self.of_persons(person, *other) == Naming::Same;
        found.into_iter().filter(same).collect()
    }

    /// Those who have a name like one that a voice (that is no alias) gave itself, ascending.
    pub(in crate::identify) fn called_like(
        &self,
        voice: EntityId,
        spelt: &Spellings,
    ) -> BTreeSet<EntityId> {
        self.said(voice).flat_map(|words| self.alike(&words, spelt)).map(|(of, _)| of).collect()
    }

    /// The voices that gave themselves a name like one that a person has, ascending.
    pub(in crate::identify) fn voices_like(
        &self,
        person: EntityId,
        spelt: &Spellings,
    ) -> BTreeSet<EntityId> {
        let known = self.known(person);
        known
            .iter()
            .flat_map(|name| self.alike(&name.words, spelt))
            .filter_map(|(_, by)| by)
            .collect()
    }

    /// Owners of names that agree, and whose voice said them.
    fn alike(&self, words: &Words, spelt: &Spellings) -> BTreeSet<(EntityId, Option<EntityId>)> {
        let entities = words.0.first().map(|first| spelt.begins_like(first)).unwrap_or_default();
        let rows = entities.iter().flat_map(|entity| self.persons.names_of(*entity));
        // Many have one name; it is compared once.
        let mut agrees: BTreeMap<&str, bool> = BTreeMap::new();
        let agree = rows.filter(|row| {
            let compare = || Words::of(&row.name).is_some_and(|one| words.agrees(&one));
            *agrees.entry(row.name.as_str()).or_insert_with(compare)
        });
        agree.filter_map(|row| self.owner(row)).collect()
    }

    /// Whose name a row counts for, and whose voice said it; `None` where it counts for nobody.
    fn owner(&self, row: &NameRow) -> Option<(EntityId, Option<EntityId>)> {
        let persons = self.persons;
        let by = match row.source {
            NameSource::Said => match persons.speaker(row) {
                Some(voice) if !persons.is_non_person(voice) => Some(persons.resolve(voice)),
                _ => return None,
            },
            NameSource::Read | NameSource::Model => return None,
            NameSource::Told => None,
        };
        let part = by.unwrap_or(row.entity);
        Some((persons.person_of(part).unwrap_or(persons.resolve(part)), by))
    }

    /// What a voice (that is no alias) called itself.
    fn said(&self, voice: EntityId) -> impl Iterator<Item = Words> + use<'a> {
        let persons = self.persons;
        let heard = !persons.is_non_person(voice) && !persons.is_alias(voice);
        let all = heard.then(|| persons.with_aliases(voice)).into_iter().flatten();
        let rows = all.filter(move |alias| !persons.is_non_person(*alias));
        rows.flat_map(move |alias| persons.said_by(alias)).filter_map(|row| Words::of(&row.name))
    }

    /// What counts as a name of a person.
    fn known(&self, person: EntityId) -> Vec<Known> {
        let persons = self.persons;
        let parts = persons.all_parts(person);
        let own = persons.with_aliases(person).into_iter().chain(parts.iter().copied());
        let own: BTreeSet<EntityId> = own.collect();
        let told = own.iter().flat_map(|entity| persons.names_of(*entity));
        let told = told
            .filter(|row| row.source == NameSource::Told)
            .filter_map(|row| Some(Known { words: Words::of(&row.name)?, by: None }));
        let voices = parts
            .into_iter()
            .filter(|part| part.kind == EntityKind::Voice && !persons.is_alias(*part));
        let said = voices
            .flat_map(|voice| self.said(voice).map(move |words| Known { words, by: Some(voice) }));
        told.chain(said).collect()
    }
}

impl Resolver {
    /// What names say of parts of two persons: who were there at once are not one for having one name.
    pub(in crate::identify) fn heeded(&self, naming: Naming, a: EntityId, b: EntityId) -> Naming {
        let void = naming == Naming::Same && a != b && self.at_once_secs(a, b) > TOGETHER_SECS;
        if void { Naming::Silent } else { naming }
    }

    /// Seconds that faces of two persons were seen at once, or their voices told apart.
    fn at_once_secs(&self, a: EntityId, b: EntityId) -> f64 {
        let (mine, theirs) = (self.persons.all_parts(a), self.persons.all_parts(b));
        let pairs = mine.iter().flat_map(|x| theirs.iter().map(move |y| (*x, *y)));
        let alike = pairs.filter(|(x, y)| x.kind == y.kind);
        alike.map(|(x, y)| self.evidence.together_secs(x, y)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_surname_more_is_the_same_name() {
        let agree = |a: &str, b: &str| Words::of(a).zip(Words::of(b)).map(|(a, b)| a.agrees(&b));
        assert_eq!(agree("Ava", "ava Stone"), Some(true));
        assert_eq!(agree("Ava Stone", "Ava"), Some(true));
        assert_eq!(agree("Ava Stone", "Ava Reed"), Some(false));
        assert_eq!(agree("Ava", "Ivan"), Some(false));
        assert_eq!(agree("Aileen", "Eileen"), Some(true));
        assert_eq!(agree(" ", "Ava"), None);
    }
}
