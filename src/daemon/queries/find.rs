//! Whom or what a word means: an id, an alias, a name, the plain noun for a thing.

use crate::ids::EntityId;
use crate::memorize::thing_called;
use crate::memory::View;
use crate::mqtt::Refusal;

/// The entity that `word` means, resolved: an id, an alias, the name of a person or a place, or what a thing is
/// called. Neither letter case nor an article before it matters.
///
/// # Errors
/// `not_found` for a word nobody and nothing with an id is called by, `bad_request` when several are.
pub fn find(view: &View, word: &str) -> Result<EntityId, Refusal> {
    let word = word.trim();
    if let Ok(id) = word.parse::<EntityId>() {
        return if view.knows(id) {
            Ok(view.resolve(id))
        } else {
            Err(Refusal::not_found(format!("there is no {id} in the memory")))
        };
    }
    match called(view, word).as_slice() {
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

/// Everyone and everything with an id that is called so, resolved, ascending.
fn called(view: &View, word: &str) -> Vec<EntityId> {
    let mut found = view.find_by_name(word);
    if let Some(noun) = thing_called(word) {
        if found.is_empty() {
            found = view.find_by_name(&noun);
        }
        found.extend(view.objects_called(&noun));
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// The noun of a thing that has no id, where facts tell of one that is called so.
#[must_use]
pub fn told_thing(view: &View, word: &str) -> Option<String> {
    thing_called(word)
        .filter(|noun| noun.parse::<EntityId>().is_err())
        .filter(|noun| view.tells_of(noun))
}

/// The name of an entity, where it has one.
#[must_use]
pub fn name_of(view: &View, id: EntityId) -> Option<String> {
    view.names(id).first().map(|row| row.name.clone())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::daemon::queries::tests::{T0, found, small_memory};
    use crate::ids::EntityKind;
    use crate::memory::model::{NameRow, NameSource};
    use crate::mqtt::RefusalCode;
    use crate::time::Timestamp;

    #[test]
    fn words_mean_what_things_and_places_are_called_and_of_several_the_ids_are_told() {
        let dir = tempfile::tempdir().unwrap();
        let memory = small_memory(dir.path());
        let (mug, cup) = (found(&memory, 11, "Red Mug"), found(&memory, 12, "cup"));
        let since = Timestamp::from_nanos(T0).plus_secs(32.0);
        let mut draft = memory.begin(since);
        let entity = draft.new_entity(EntityKind::Place);
        let (name, source) = ("Kitchen".to_owned(), NameSource::Told);
        draft.name(NameRow { entity, name, since, source, turn: None });
        draft.commit().unwrap();
        let view = memory.view();
        for (word, meant) in [
            ("object_1", mug),
            ("red mug", mug),
            ("The red mug", mug),
            (" my RED MUG.", mug),
            ("a cup", cup),
            ("the kitchen", entity),
        ] {
            assert_eq!(find(&view, word).unwrap(), meant, "{word}");
        }
        assert_eq!(find(&view, "mug").unwrap_err().code, RefusalCode::NotFound);
        let another = found(&memory, 13, "cup");
        let refused = find(&memory.view(), "the cup").unwrap_err();
        assert_eq!(refused.code, RefusalCode::BadRequest);
        assert!(refused.message.contains(&format!("{cup} or {another}")), "{}", refused.message);
    }
}
