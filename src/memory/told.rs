//! Names in what was told: of somebody who came to be known later, or of nobody who ever was.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::ids::{EntityId, EntityKind, MemoryId};
use crate::names::{Name, Text};

use super::Draft;
use super::filter::Filter;
use super::model::{MemoryKind, MemoryRow, NameRow};
use super::temporal::Temporal as _;
use super::view::View;

/// What people tell, as against what was perceived.
const TOLD: [MemoryKind; 2] = [MemoryKind::Note, MemoryKind::Lesson];
/// What somebody said is somebody's, and a summary tells of everybody.
const OF_OTHERS: [MemoryKind; 2] = [MemoryKind::Utterance, MemoryKind::Summary];

/// Memories that were told under a name that somebody has from now on, and are not about them yet.
pub(super) fn told_before(view: &View, named: &NameRow) -> Vec<MemoryId> {
    if !matches!(named.entity.kind, EntityKind::Person | EntityKind::Face | EntityKind::Voice) {
        return Vec::new();
    }
    let who = view.resolve(named.entity);
    let about = |row: &MemoryRow| row.links().iter().any(|id| view.resolve(*id) == who);
    let told = naming(view, &Name::new(&named.name), &TOLD).into_iter();
    told.filter(|row| !about(row)).map(|row| row.id).collect()
}

/// Memories of these kinds whose words hold the name.
fn naming(view: &View, name: &Name, kinds: &[MemoryKind]) -> Vec<Arc<MemoryRow>> {
    let mut rows = view.memories(&Filter { kinds: kinds.to_vec(), ..Filter::default() });
    rows.retain(|row| holds(row, name));
    rows
}

/// Whether the name stands in the words of a memory. (Most are done with before their words are parted.)
pub(super) fn holds(row: &MemoryRow, name: &Name) -> bool {
    row.text.to_lowercase().contains(name.beginning()) && Text::new(&row.text).holds(name)
}

/// Whether a memory is about nobody but whom it calls by one of the names.
pub(super) fn is_about<'a>(row: &MemoryRow, mut names: impl Iterator<Item = &'a Name>) -> bool {
    let others = row.links().iter().any(|id| *id != EntityId::ROBOT);
    !others && !OF_OTHERS.contains(&row.kind) && names.any(|name| holds(row, name))
}

/// Whether the value of a memory's fact ends in a noun (lower case): "in the blue box".
pub(super) fn has_value(row: &MemoryRow, noun: &str) -> bool {
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
    pub(super) fn link_told(&mut self, named: &NameRow) {
        let before = self.before();
        let ids: BTreeSet<MemoryId> = told_before(&before, named).into_iter().collect();
        for id in ids {
            let Some(mut row) = self.memory_as_is(id) else { continue };
            row.entities.push(before.resolve(named.entity));
            self.memory(row, None);
        }
    }
}
