//! Names in what was told: of somebody who came to be known later, or of nobody who ever was.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::ids::{EntityId, EntityKind, MemoryId};
use crate::names::{Name, Text, are_same};

use super::View;
use super::filter::Filter;
use crate::memory::Draft;
use crate::memory::model::{MemoryKind, MemoryRow, NameRow};
use crate::memory::versions::temporal::Temporal as _;

/// What people tell, as against what was perceived.
const TOLD: [MemoryKind; 2] = [MemoryKind::Note, MemoryKind::Lesson];
/// What somebody said is somebody's, and a summary tells of everybody.
const OF_OTHERS: [MemoryKind; 2] = [MemoryKind::Utterance, MemoryKind::Summary];

/// Memories that were told under a name that somebody has from now on, and are neither about them yet nor about somebody
/// else who goes by that name.
pub(in crate::memory) fn told_before(view: &View, named: &NameRow) -> Vec<MemoryId> {
    if !matches!(named.entity.kind, EntityKind::Person | EntityKind::Face | EntityKind::Voice) {
        return Vec::new();
    }
    let (who, name) = (view.resolve(named.entity), Name::new(&named.name));
    // As surely as the new name is known, or more so.
    let is_called_so = |id: EntityId| {
        let called = view.names(id).into_iter().next();
        called.filter(|called| called.source >= named.source).is_some_and(|called| {
            are_same(&called.name, &named.name) || name.is_part_of(&Name::new(&called.name))
        })
    };
    let is_meant = |id: &EntityId| view.resolve(*id) == who || is_called_so(*id);
    let told = naming(view, &name, &TOLD).into_iter();
    told.filter(|row| !row.links().iter().any(is_meant)).map(|row| row.id).collect()
}

/// Memories of these kinds whose words hold the name.
fn naming(view: &View, name: &Name, kinds: &[MemoryKind]) -> Vec<Arc<MemoryRow>> {
    let mut rows = view.memories(&Filter { kinds: kinds.to_vec(), ..Filter::default() });
    rows.retain(|row| holds(row, name));
    rows
}

/// Whether the name stands in the words of a memory. (Most are done with before their words are parted.)
pub(in crate::memory) fn holds(row: &MemoryRow, name: &Name) -> bool {
    row.text.to_lowercase().contains(name.beginning()) && Text::new(&row.text).holds(name)
}

/// Whether a memory is about nobody but whom it calls by one of the names.
pub(in crate::memory) fn is_about<'a>(
    row: &MemoryRow,
    mut names: impl Iterator<Item = &'a Name>,
) -> bool {
    let others = row.links().iter().any(|id| *id != EntityId::ROBOT);
    !others && !OF_OTHERS.contains(&row.kind) && names.any(|name| holds(row, name))
}

/// Whether the value of a memory's fact ends in a noun (lower case): "in the blue box".
pub(in crate::memory) fn has_value(row: &MemoryRow, noun: &str) -> bool {
    let Some(fact) = &row.fact else { return false };
    let value = fact.value.to_lowercase();
    let mut words = value.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let last = noun.split(|c: char| !c.is_alphanumeric()).rfind(|word| !word.is_empty());
    last.is_some() && words.next_back() == last && Text::new(&value).holds(&Name::noun(noun))
}

impl View {
    /// Whether something tells of somebody by that name, and never means anything else by it: wherever it stands, it
    /// has a capital.
    #[must_use]
    pub fn tells_of_somebody(&self, name: &str) -> bool {
        let name = [Name::new(name)];
        let mut rows = naming(self, &name[0], &MemoryKind::ALL).into_iter().peekable();
        let is_name = |row: &MemoryRow| {
            let mut places = Text::new(&row.text).places(&name, &[]).into_iter();
            places.all(|place| row.text[place].starts_with(char::is_uppercase))
        };
        rows.peek().is_some() && rows.all(|row| is_name(&row))
    }

    /// Whether facts tell of something that is at a place of that noun (lower case), or has it as its value in another
    /// way.
    #[must_use]
    pub fn tells_of_value(&self, noun: &str) -> bool {
        let rows = naming(self, &Name::noun(noun), &[MemoryKind::Note, MemoryKind::Semantic]);
        rows.iter().any(|row| has_value(row, noun))
    }
}

impl Draft {
    /// Whoever has a name now is whom was told of by it before: that is about them from this commit on.
    pub(in crate::memory) fn link_told(&mut self, named: &NameRow) {
        let before = self.before();
        let ids: BTreeSet<MemoryId> = told_before(&before, named).into_iter().collect();
        for id in ids {
            let Some(mut row) = self.memory_as_is(id) else { continue };
            row.entities.push(before.resolve(named.entity));
            self.memory(row, None);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::memory::model::NameSource;
    use crate::memory::testing::memory_row;
    use crate::memory::{Memory, StoreOptions};
    use crate::time::{Span, Timestamp};

    #[test]
    fn what_was_told_of_somebody_is_not_about_a_namesake_who_comes_later() {
        let dir = tempfile::tempdir().unwrap();
        let memory = Memory::open(dir.path(), &StoreOptions::default()).unwrap();
        let at = |secs: f64| Timestamp::EPOCH.plus_secs(secs);
        let named = |entity, name: &str, secs, source| {
            let mut draft = memory.begin(at(secs));
            let (name, since) = (name.to_owned(), at(secs));
            draft.name(NameRow { entity, name, since, source, turn: None });
            draft.commit().unwrap();
        };
        let mut draft = memory.begin(at(0.0));
        let [ava, misheard, namesake] = [(); 3].map(|()| draft.new_entity(EntityKind::Person));
        let note = memory_row(MemoryKind::Note, "Ava likes tea.", Span::new(at(0.0), at(0.0)));
        let id = draft.new_memory_id();
        draft.memory(MemoryRow { id, ..note }, None);
        draft.commit().unwrap();
        let about = || memory.view().memory(id).unwrap().entities.clone();
        named(misheard, "Ava", 1.0, NameSource::Said);
        assert_eq!(about(), [misheard]);
        // What is told goes before what was heard.
        named(ava, "Ava", 2.0, NameSource::Told);
        named(ava, "Ava Stone", 3.0, NameSource::Told);
        assert_eq!(about(), [ava, misheard]);
        named(namesake, "Ava", 4.0, NameSource::Told);
        assert_eq!(about(), [ava, misheard]);
    }
}
