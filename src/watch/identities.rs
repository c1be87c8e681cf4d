//! Who is who, for rules.

use crate::identify::Persons;
use crate::ids::{EntityId, EntityKind};
use crate::memory::View;

/// Who is who.
pub trait Identities {
    /// Whose face or voice it is, after all merges; of what is nobody's the id itself.
    fn person(&self, part: EntityId) -> EntityId;
    /// Everybody of that name, letter case aside.
    fn called(&self, name: &str) -> Vec<EntityId>;
    /// Whether somebody has a name.
    fn is_named(&self, person: EntityId) -> bool;
}

impl Identities for Persons {
    fn person(&self, part: EntityId) -> EntityId {
        self.person_of(part).unwrap_or_else(|| self.resolve(part))
    }

    fn called(&self, name: &str) -> Vec<EntityId> {
        Self::called(self, name)
    }

    fn is_named(&self, person: EntityId) -> bool {
        self.name(person).is_some()
    }
}

impl Identities for View {
    fn person(&self, part: EntityId) -> EntityId {
        self.resolve(part)
    }

    fn called(&self, name: &str) -> Vec<EntityId> {
        let found = self.find_by_name(name).into_iter();
        found.filter(|id| id.kind == EntityKind::Person).collect()
    }

    fn is_named(&self, person: EntityId) -> bool {
        !self.names(person).is_empty()
    }
}
