//! What a sentence states, and what must be known of who speaks to tell it.

use crate::ids::{EntityId, EntityKind};
use crate::memory::View;
use crate::memory::model::{Fact, FactAction};

/// A fact and the sentence that states it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stated {
    pub(super) fact: Fact,
    pub(super) text: String,
    /// [`FactAction::Retire`]: it is over (of an empty value: whatever it was). [`FactAction::Add`]: it is so beside what
    /// is known. `None`: what its attribute's nature says.
    pub(super) wish: Option<FactAction>,
}

/// Who speaks, and who is known.
pub(super) struct Context<'a> {
    pub(super) view: &'a View,
    /// Who "I" is.
    pub(super) speaker: Option<EntityId>,
}

impl Context<'_> {
    /// The one person who is called so, in lower case.
    pub(super) fn person(&self, words: &[&str]) -> Option<EntityId> {
        let mut found = self.view.find_by_name(&words.join(" "));
        found.retain(|id| id.kind == EntityKind::Person);
        match found.as_slice() {
            [one] => Some(*one),
            _ => None,
        }
    }
}
