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
        // A place without a side is told after the camera turned: it is the same one.
        let is_same = |was: String| fact.value.starts_with(&was) || was.starts_with(&fact.value);
        if was.is_none_or(is_same) {
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::ids::{EntityKind, MemoryId};
    use crate::memory::model::Fact;
    use crate::memory::{Memory, StoreOptions};
    use crate::time::Span;

    /// "object_1 is there", known from that second on.
    fn located(id: u64, value: &str, secs: f64) -> MemoryRow {
        let (object, at) = (EntityId::new(EntityKind::Object, 1), Timestamp::EPOCH.plus_secs(secs));
        let fact = Fact {
            subject: object.to_string(),
            attribute: LOCATION.to_owned(),
            value: value.to_owned(),
        };
        MemoryRow {
            id: MemoryId(id),
            kind: MemoryKind::Semantic,
            text: format!("The cup is {value}."),
            span: Span::new(at, at),
            clip: None,
            entities: vec![object],
            fact: Some(fact),
            importance: 0.4,
            confidence: 0.8,
            pinned: false,
            valid_from: at,
            valid_to: None,
            grounds: Vec::new(),
            origin: "grounded".to_owned(),
        }
    }

    #[test]
    fn what_is_on_another_side_was_moved_and_what_is_there_after_a_turn_was_not() {
        let dir = tempfile::tempdir().unwrap();
        let memory = Memory::open(dir.path(), &StoreOptions::default()).unwrap();
        let mut draft = memory.begin(Timestamp::EPOCH.plus_secs(30.0));
        let id = draft.new_memory_id();
        draft.memory(located(id.0, "in view of front, on the left", 1.0), None);
        draft.commit().unwrap();
        let view = memory.view();
        let tells = |value: &str| moved(&view, &[located(99, value, 40.0)]).len();
        assert_eq!(tells("in view of front, on the right"), 1);
        assert_eq!(tells("in the kitchen, in view of front, on the left"), 1);
        assert_eq!(tells("in view of front"), 0);
        assert_eq!(tells("in view of front, on the left"), 0);
    }
}
