//! Names by how they sound.

use std::collections::{BTreeMap, BTreeSet};

use super::name_words::Words;
use crate::identify::persons::Persons;
use crate::ids::EntityId;
use crate::names::phonetic::{Key, Pronunciation};

/// Who has rows of names that begin with a word, found by its sound: a look-up costs what it finds, not what is known.
#[derive(Clone, Debug, Default)]
pub(in crate::identify) struct Spellings {
    entities: BTreeMap<String, BTreeSet<EntityId>>,
    by_sound: BTreeMap<Key, BTreeSet<String>>,
}

impl Spellings {
    /// Of all names there are.
    pub(in crate::identify) fn of(persons: &Persons) -> Self {
        let mut spelt = Self::default();
        for (name, entities) in persons.spellings() {
            entities.iter().for_each(|entity| spelt.add(name, *entity));
        }
        spelt
    }

    /// A name that an entity has a row of.
    pub(in crate::identify) fn add(&mut self, name: &str, entity: EntityId) {
        let Some(first) = Words::of(name).and_then(|words| words.0.into_iter().next()) else {
            return;
        };
        if !self.entities.contains_key(&first) {
            for key in Pronunciation::of(&first).keys() {
                self.by_sound.entry(key).or_default().insert(first.clone());
            }
        }
        self.entities.entry(first).or_default().insert(entity);
    }

    /// Those with a name that begins with that word or one that may sound like it.
    pub(in crate::identify) fn begins_like(&self, word: &str) -> BTreeSet<EntityId> {
        let near =
            Pronunciation::of(word).keys().into_iter().filter_map(|key| self.by_sound.get(&key));
        let words: BTreeSet<&str> = near.flatten().map(String::as_str).chain([word]).collect();
        words.into_iter().filter_map(|word| self.entities.get(word)).flatten().copied().collect()
    }
}
