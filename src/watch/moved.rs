//! Things that are somewhere else than before.

use crate::ids::EntityId;
use crate::memory::model::{MemoryKind, MemoryRow};
use crate::memory::{Filter, View};
use crate::time::Timestamp;

/// The attribute of facts that tell where a thing is.
const LOCATION: &str = "location";

/// A thing is somewhere else.
#[derive(Clone, Debug, PartialEq)]
pub struct Moved {
    /// Its id, where a detector knows it.
    pub object: Option<EntityId>,
    /// What it is called, lower case.
    pub noun: String,
    /// Where it is now, as the fact says.
    pub value: String,
    /// Since when.
    pub at: Timestamp,
}

impl Moved {
    /// Whether what the fact says names that place or camera: "in the kitchen, in view of front, on the left".
    pub(super) fn is_at(&self, place: &str) -> bool {
        self.value.to_lowercase().contains(&place.to_lowercase())
    }
}

/// What of `written`, the memories of a clip, tells that a thing is not where `before` says.
#[must_use]
pub fn moved(before: &View, written: &[MemoryRow]) -> Vec<Moved> {
    let mut found = Vec::new();
    for row in written {
        let Some(fact) = row.fact.as_ref().filter(|fact| fact.attribute == LOCATION) else {
            continue;
        };
        let object = fact.subject.parse::<EntityId>().ok();
        let filter = Filter {
            kinds: vec![MemoryKind::Semantic, MemoryKind::Note],
            entities: object.into_iter().collect(),
            ..Filter::default()
        };
        let was = before.memories(&filter).iter().rev().find_map(|old| {
            let old = old.fact.as_ref()?;
            (old.attribute == LOCATION && old.subject == fact.subject).then(|| old.value.clone())
        });
        if was.is_none_or(|was| was == fact.value) {
            continue;
        }
        found.push(Moved {
            object,
            noun: before.thing(&fact.subject).to_lowercase(),
            value: fact.value.clone(),
            at: row.valid_from,
        });
    }
    found
}
