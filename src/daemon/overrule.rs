//! The user's word on who is who: people that are one, faces and voices that are somebody else.
//!
//! It sticks: a decreed row is never taken back by evidence. Serves the daemon's `people` topic and the command line
//! on a store that no daemon holds.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::queries::{find, refusal};
use crate::identify::Resolver;
use crate::ids::{EntityId, EntityKind};
use crate::memory::{Memory, View};
use crate::mqtt::Refusal;
use crate::mqtt::message::People;
use crate::time::Timestamp;

/// Carries out a merge or a split in one commit, recorded at `at`; gives who is who then.
///
/// # Errors
/// A [`Refusal`]: nobody of that name, or a split that does not say what of a person is somebody else.
pub fn overrule(
    memory: &Memory,
    resolver: &mut Resolver,
    people: &People,
    at: Timestamp,
) -> Result<Value, Refusal> {
    let view = memory.view();
    let document = if people.split.is_empty() {
        let persons = people
            .merge
            .iter()
            .map(|word| person(&view, word))
            .collect::<Result<Vec<EntityId>, Refusal>>()?;
        let mut ids = BTreeSet::new();
        if let Some(twice) = persons.iter().find(|id| !ids.insert(**id)) {
            let words = people.merge.iter().zip(&persons).filter(|(_, id)| *id == twice);
            let words: Vec<&str> = words.map(|(word, _)| word.as_str()).collect();
            return Err(Refusal::bad_request(format!("{} are one already", words.join(" and "))));
        }
        let mut draft = memory.begin(at);
        let mut stays = persons[0];
        for other in &persons[1..] {
            stays = resolver.override_merge(stays, *other, &mut draft);
        }
        draft.commit().map_err(|error| refusal(&error))?;
        json!({ "merged": persons, "into": stays })
    } else {
        let mut parts = BTreeSet::new();
        for word in &people.split {
            parts.extend(split_off(&view, word)?);
        }
        let (aliases, own): (Vec<EntityId>, Vec<EntityId>) =
            parts.iter().copied().partition(|id: &EntityId| id.kind == EntityKind::Person);
        let mut draft = memory.begin(at);
        let mut persons: BTreeSet<EntityId> =
            aliases.into_iter().map(|alias| resolver.override_apart(alias, &mut draft)).collect();
        persons.extend(resolver.override_split(&own, &mut draft));
        draft.commit().map_err(|error| refusal(&error))?;
        json!({ "split": parts, "persons": persons })
    };
    Ok(document)
}

/// The person that a word means; a face or voice stands for its person.
fn person(view: &View, word: &str) -> Result<EntityId, Refusal> {
    let id = find(view, word)?;
    if id.kind == EntityKind::Person {
        return Ok(id);
    }
    Err(Refusal::bad_request(format!("{word} is {id}, no person; only people are merged")))
}

/// The faces and voices that a word asks to be split off; the id itself of somebody of whom there are none.
fn split_off(view: &View, word: &str) -> Result<Vec<EntityId>, Refusal> {
    // Not resolved: the id that was given up in a merge is what is asked back.
    let Ok(id) = word.trim().parse::<EntityId>() else {
        return Err(Refusal::bad_request(format!(
            "{word:?} is no id; `engramd people --why {word}` lists the faces and voices to choose from"
        )));
    };
    if !view.knows(id) {
        return Err(Refusal::not_found(format!("there is no {id} in the memory")));
    }
    match id.kind {
        EntityKind::Face | EntityKind::Voice => Ok(vec![id]),
        EntityKind::Person if view.resolve(id) != id => {
            let own = view.memberships();
            let own = own.iter().filter(|row| row.person == id).map(|row| row.part);
            let own: Vec<EntityId> = own.collect();
            Ok(if own.is_empty() { vec![id] } else { own })
        }
        EntityKind::Person => {
            let parts: Vec<String> = view.parts_of(id).iter().map(ToString::to_string).collect();
            if parts.is_empty() {
                return Err(Refusal::bad_request(format!(
                    "{id} has no face and no voice that could be split off; `engramd people --why {id}` tells whom they \
                     were taken for"
                )));
            }
            Err(Refusal::bad_request(format!(
                "say which of {id} is somebody else: {}",
                parts.join(", ")
            )))
        }
        _ => Err(Refusal::bad_request(format!("{id} is no person, face or voice"))),
    }
}
