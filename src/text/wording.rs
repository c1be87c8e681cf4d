//! How a memory's sentence is worded for an embedder, to which `<person_4>` means nothing.

use crate::ids::{EntityId, EntityKind};
use crate::mention;

/// The text with every mention replaced by the name that `name` knows, else by a plain noun of its kind.
pub fn for_embedding(text: &str, mut name: impl FnMut(EntityId) -> Option<String>) -> String {
    mention::render(text, |id| name(id).unwrap_or_else(|| noun(id.kind).to_owned()))
}

fn noun(kind: EntityKind) -> &'static str {
    match kind {
        EntityKind::Person | EntityKind::Face | EntityKind::Voice => "a person",
        EntityKind::Object => "an object",
        EntityKind::Place => "a place",
        EntityKind::Robot => "the robot",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mentions_become_names_or_nouns() {
        let ava = EntityId::new(EntityKind::Person, 1);
        let text = "<person_1> gave <person_2> <object_3>.";
        let worded = for_embedding(text, |id| (id == ava).then(|| "Ava".to_owned()));
        assert_eq!(worded, "Ava gave a person an object.");
    }
}
