//! Names as evidence: who gives the same name is likelier to be one person, who gives another is likelier not to be.
//!
//! A voice's own words ("I am Ava", see [`names`](super::names)) are compared with what another's voices said of
//! themselves, or the user told of them; two names that the user told are his word, and no evidence. It is read off the rows
//! of names whenever it is asked for: so it counts once, however often a name is said, and is gone with its row.
//!
//! It is never a verdict: it weighs less than the least that links a voice to a face, moves what two galleries need only
//! part of the way, and that two have one name counts nothing once they were there at once.

use std::collections::BTreeMap;

use super::evidence::Signed;
use super::merge::TOGETHER_SECS;
use super::{MatchThresholds, Persons, Resolver};
use crate::ids::EntityId;
use crate::memory::model::NameSource;
use crate::names::{folded, sound_alike};

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
    pub(super) const fn reason(self) -> &'static str {
        match self {
            Self::Silent => "",
            Self::Same => "; they gave the same name",
            Self::Different => "; they gave different names",
        }
    }

    /// Evidence between a face and a voice with what the names weigh.
    pub(super) fn added_to(self, mut signed: Signed, link_secs: f64) -> Signed {
        match self {
            Self::Silent => {}
            Self::Same => signed.support_secs += LINK_SHARE * link_secs,
            Self::Different => signed.against_secs += LINK_SHARE * link_secs,
        }
        signed
    }

    /// By how much less alike two galleries need to be, cosine; negative: by how much more.
    pub(super) fn spares(self, thresholds: &MatchThresholds) -> f32 {
        let step = MERGE_SHARE * (thresholds.merge - thresholds.accept).max(0.0);
        match self {
            Self::Silent => 0.0,
            Self::Same => step,
            Self::Different => -step,
        }
    }
}

/// A name's words in lower case, one at least.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Words(Vec<String>);

impl Words {
    fn of(name: &str) -> Option<Self> {
        let words: Vec<String> = folded(name).split_whitespace().map(str::to_owned).collect();
        (!words.is_empty()).then_some(Self(words))
    }

    /// Whether both may name one person: `Ava` and `Ava Stone` may, and so may `Aileen` and `Eileen`: what was heard was
    /// spelt by whoever wrote it down.
    fn agrees(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).all(|(a, b)| a == b || sound_alike(a, b))
    }
}

/// A name of a person.
#[derive(Clone, Debug)]
struct Known {
    words: Words,
    /// The voice that said it of itself; `None`: the user told it.
    by: Option<EntityId>,
}

/// Who gave which name.
#[derive(Clone, Debug, Default)]
pub struct Introductions {
    /// By voice (one that is no alias), what it called itself.
    said: BTreeMap<EntityId, Vec<Words>>,
    /// By person, what counts as a name of theirs.
    names: BTreeMap<EntityId, Vec<Known>>,
}

impl Introductions {
    /// From the book of persons.
    #[must_use]
    pub fn of(persons: &Persons) -> Self {
        let mut found = Self::default();
        for row in persons.name_rows() {
            let by = match row.source {
                NameSource::Said => match persons.speaker(row) {
                    Some(voice) if !persons.is_aside(voice) => Some(persons.resolve(voice)),
                    _ => continue,
                },
                NameSource::Model => continue,
                NameSource::Told => None,
            };
            let Some(words) = Words::of(&row.name) else { continue };
            if let Some(voice) = by {
                found.said.entry(voice).or_default().push(words.clone());
            }
            let part = by.unwrap_or(row.entity);
            let person = persons.person_of(part).unwrap_or(persons.resolve(part));
            found.names.entry(person).or_default().push(Known { words, by });
        }
        found
    }

    /// Whether a voice (that is no alias) called itself anything.
    #[must_use]
    pub fn speaks(&self, voice: EntityId) -> bool {
        self.said.contains_key(&voice)
    }

    /// A voice's own words (the voice is no alias) against the names of a person but for those that it gave itself.
    #[must_use]
    pub fn of_voice(&self, voice: EntityId, person: EntityId) -> Naming {
        let Some(said) = self.said.get(&voice) else { return Naming::Silent };
        let others: Vec<&Known> =
            self.known(person).filter(|name| name.by != Some(voice)).collect();
        let pairs =
            said.iter().flat_map(|mine| others.iter().map(move |other| (mine, &other.words)));
        Naming::of_pairs(pairs)
    }

    /// The names of two persons, of each pair one at least in a voice's own words.
    #[must_use]
    pub fn of_persons(&self, a: EntityId, b: EntityId) -> Naming {
        let told = |x: &Known, y: &Known| x.by.is_none() && y.by.is_none();
        let pairs = self.known(a).flat_map(|x| self.known(b).map(move |y| (x, y)));
        Naming::of_pairs(pairs.filter(|(x, y)| !told(x, y)).map(|(x, y)| (&x.words, &y.words)))
    }

    /// Everybody else who gave the same name, ascending.
    #[must_use]
    pub fn namesakes(&self, person: EntityId) -> Vec<EntityId> {
        let others = self.names.keys().copied().filter(|other| *other != person);
        others.filter(|other| self.of_persons(person, *other) == Naming::Same).collect()
    }

    fn known(&self, person: EntityId) -> impl Iterator<Item = &Known> {
        self.names.get(&person).into_iter().flatten()
    }
}

impl Resolver {
    /// What names say of parts of two persons: who were there at once are not one for having one name.
    pub(super) fn heeded(&self, naming: Naming, a: EntityId, b: EntityId) -> Naming {
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
