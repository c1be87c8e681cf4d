//! Whom or what a word means: an id, an alias, a name.

use crate::ids::EntityId;
use crate::memory::View;
use crate::mqtt::Refusal;

/// The entity that `word` means, resolved.
///
/// # Errors
/// `not_found` for a word nobody is called by, `bad_request` when several are.
pub fn find(view: &View, word: &str) -> Result<EntityId, Refusal> {
    let word = word.trim();
    if let Ok(id) = word.parse::<EntityId>() {
        return if view.knows(id) {
            Ok(view.resolve(id))
        } else {
            Err(Refusal::not_found(format!("there is no {id} in the memory")))
        };
    }
    match view.find_by_name(word).as_slice() {
        [one] => Ok(*one),
        [] => Err(Refusal::not_found(format!(
            "nobody and nothing is called {word:?}; `engramd people` lists who is known"
        ))),
        several => {
            let ids: Vec<String> = several.iter().map(ToString::to_string).collect();
            Err(Refusal::bad_request(format!(
                "{word:?} may be {}; say which by its id",
                ids.join(" or ")
            )))
        }
    }
}

/// The name of an entity, where it has one.
#[must_use]
pub fn name_of(view: &View, id: EntityId) -> Option<String> {
    view.names(id).first().map(|row| row.name.clone())
}
