//! Names, ready for the texts that are looked through for them: every word of a question may be one.

use std::collections::{BTreeMap, BTreeSet};

use crate::ids::{EntityId, EntityKind};
use crate::names::{Name, Text, folded};

use super::temporal::Moment;

/// Who is called what at one moment.
pub(crate) struct Called {
    pub(super) at: Moment,
    /// Whose a name is, by the name as names are compared.
    by_name: BTreeMap<String, BTreeSet<EntityId>>,
    /// Names that count wherever they stand in a text.
    in_texts: Vec<(Name, EntityId)>,
}

impl Called {
    pub(super) fn at(at: Moment) -> Self {
        Self { at, by_name: BTreeMap::new(), in_texts: Vec::new() }
    }

    /// Takes in the name of `entity`, which is `who` now.
    pub(super) fn put(&mut self, name: &str, entity: EntityId, who: EntityId) {
        self.by_name.entry(folded(name)).or_default().insert(who);
        // "The kitchen" in a sentence is a word first, whether a place is called so or not.
        if entity.kind != EntityKind::Place {
            self.in_texts.push((Name::new(name), who));
        }
    }

    /// Everyone and everything of that name, ascending.
    pub(super) fn so(&self, name: &str) -> Vec<EntityId> {
        self.by_name.get(&folded(name)).into_iter().flatten().copied().collect()
    }

    /// Whose name stands in the text.
    pub(super) fn named_in(&self, text: &Text<'_>) -> impl Iterator<Item = EntityId> {
        self.in_texts.iter().filter(move |(name, _)| text.holds(name)).map(|(_, who)| *who)
    }
}
