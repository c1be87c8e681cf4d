//! A statement as the grammar finds it, and what it needs to know of who speaks.

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
    /// The one person who is called so (lower case), or has that id.
    pub(super) fn person(&self, words: &[&str]) -> Option<EntityId> {
        let mut found = match words {
            [] => Vec::new(),
            [word] if word.parse::<EntityId>().is_ok_and(|id| self.view.knows(id)) => {
                word.parse::<EntityId>().map(|id| self.view.resolve(id)).into_iter().collect()
            }
            words => self.view.find_by_name(&words.join(" ")),
        };
        found.retain(|id| id.kind == EntityKind::Person);
        match found.as_slice() {
            [one] => Some(*one),
            _ => None,
        }
    }

    /// "In my room" as others say it, where the speaker has a name: "in Ava's room".
    pub(super) fn owned(&self, text: &str) -> String {
        let names = self.speaker.map(|id| self.view.names(id)).unwrap_or_default();
        let Some(name) = names.first().map(|row| &row.name) else { return text.to_owned() };
        let own = |word: &str| match word.to_lowercase().as_str() {
            "my" => format!("{name}'s"),
            _ => word.to_owned(),
        };
        text.split(' ').map(own).collect::<Vec<_>>().join(" ")
    }
}
