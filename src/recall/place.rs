//! A place as a query means it: what was perceived while the robot stayed there, and what is told of it.

use std::collections::BTreeSet;

use crate::ids::{EntityId, EntityKind};
use crate::memory::model::MemoryRow;
use crate::memory::{Filter, IdSet, View, during, joined, telling_stems};
use crate::mention;
use crate::time::Span;

/// A place.
pub(super) struct Place {
    /// Places with an id that are meant, resolved.
    ids: BTreeSet<EntityId>,
    /// Words, as stems, that it is called by.
    names: BTreeSet<Vec<String>>,
    /// When the robot was there, in time order and apart from each other.
    stays: Vec<Span>,
}

impl Place {
    /// The place that an id, a name or the words of facts mean. One that nothing is known of holds nothing.
    pub(super) fn of(view: &View, told: &str) -> Self {
        let told = told.trim();
        let id = told.parse::<EntityId>().ok();
        let words = telling_stems(told);
        let is_meant = |place: &EntityId| {
            let called = |name: &str| !words.is_empty() && telling_stems(name) == words;
            id == Some(*place) || view.names(*place).iter().any(|row| called(&row.name))
        };
        let places = view.entities().into_iter().filter(|id| id.kind == EntityKind::Place);
        let ids: BTreeSet<EntityId> =
            places.filter(is_meant).map(|place| view.resolve(place)).collect();
        let called = ids.iter().flat_map(|id| view.names(*id));
        let mut names: BTreeSet<Vec<String>> = called.map(|row| telling_stems(&row.name)).collect();
        names.extend(id.is_none().then_some(words));
        names.retain(|name| !name.is_empty());
        let there = view.places().into_iter().filter(|place| ids.contains(&place.id));
        let stays = joined(there.flat_map(|place| view.stays_at(&place)).collect());
        Self { ids, names, stays }
    }

    /// What may be of it and passes the filter.
    pub(super) fn passing(&self, view: &View, filter: &Filter) -> IdSet {
        let words = self.names.iter().flatten().cloned();
        let mentions = self.ids.iter().map(|id| format!("<{id}>"));
        let terms = words.chain(mentions).map(|term| BTreeSet::from([term])).collect();
        view.passing_at(filter, &self.stays, &terms)
    }

    /// Whether a memory was made there or tells of it.
    pub(super) fn holds(&self, view: &View, memory: &MemoryRow) -> bool {
        let made_there = memory.clip.is_some() && during(&self.stays, memory.span);
        made_there
            || memory.entities.iter().any(|id| self.ids.contains(&view.resolve(*id)))
            || self.is_named_in(&memory.text)
    }

    fn is_named_in(&self, text: &str) -> bool {
        let mentioned =
            mention::mentions(text).into_iter().any(|one| self.ids.contains(&one.entity));
        let stems = telling_stems(&mention::render(text, |_| " ".to_owned()));
        mentioned
            || self.names.iter().any(|name| stems.windows(name.len()).any(|part| part == name))
    }
}

/// Whether there is such a place, or a memory names one.
#[must_use]
pub fn is_place(view: &View, told: &str) -> bool {
    let place = Place::of(view, told);
    let tells = |id| view.memory(id).is_some_and(|row| place.holds(view, &row));
    !place.ids.is_empty() || place.passing(view, &Filter::default()).iter().any(tells)
}
