//! Facts by subject, attribute and value, each of which may be left open: the triples of RET-LLM (Modarressi et al. 2023).

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};

use super::find::{find, told_thing};
use super::show::line;
use crate::ids::EntityId;
use crate::memory::model::{Fact, Ground, MemoryKind, MemoryRow};
use crate::memory::natures::attribute_meant;
use crate::memory::{Filter, Forget, View};
use crate::mention;
use crate::mqtt::message::Pattern;
use crate::mqtt::{Refusal, RefusalCode};

/// Kinds of memories that state facts.
const STATING: [MemoryKind; 3] = [MemoryKind::Semantic, MemoryKind::Reflection, MemoryKind::Note];

/// What states such a fact: what holds still, then what is over, each the newest first.
///
/// # Errors
/// `not_found` for a subject of whom nothing is known, `bad_request` when several are called so.
pub fn matching(view: &View, pattern: &Pattern) -> Result<Vec<Arc<MemoryRow>>, Refusal> {
    let subject = pattern.subject().map(|word| Subject::of(view, word)).transpose()?;
    let attribute = pattern.attribute().map(attribute_meant);
    let value = pattern.value().map(|value| Wanted::of(view, value));
    let fits = |fact: &Fact| {
        subject.as_ref().is_none_or(|subject| subject.is_that_of(view, fact))
            && attribute.as_ref().is_none_or(|attribute| *attribute == fact.attribute)
            && value.as_ref().is_none_or(|value| value.is_that_of(view, fact))
    };
    let kinds = STATING.to_vec();
    let mut rows = view.memories(&Filter { kinds, ..Filter::default() });
    rows.retain(|row| row.fact.as_ref().is_some_and(fits));
    rows.sort_by_key(|row| (row.valid_to.is_some(), Reverse((row.valid_from, row.id))));
    Ok(rows)
}

/// `{"fact","hits":[…]}`: the same as `recall` gives it, with the slot of each.
pub(super) fn recall(view: &View, pattern: &Pattern, most: usize) -> Result<Value, Refusal> {
    if pattern.is_open() {
        let why = "say of the `fact` at least one of `subject`, `attribute`, `value`";
        return Err(Refusal::bad_request(why));
    }
    let rows = matching(view, pattern)?;
    let hits: Vec<Value> = rows
        .iter()
        .take(most)
        .map(|row| {
            let mut hit = line(view, row);
            hit["score"] = json!(row.confidence);
            hit["why"] = json!(["states it"]);
            hit["fact"] = json!(row.fact);
            hit
        })
        .collect();
    Ok(json!({ "fact": pattern, "hits": hits }))
}

/// What has to be erased for such facts to be known no more: what states them, and the notes that say them again.
///
/// # Errors
/// As for [`matching`], and `not_found` when nothing states such a fact.
pub fn erasing(view: &View, pattern: &Pattern) -> Result<Vec<Forget>, Refusal> {
    let mut ids = BTreeSet::new();
    for row in matching(view, pattern)? {
        ids.insert(row.id);
        ids.extend(row.grounds.iter().filter_map(|ground| match ground {
            Ground::Memory(id) => {
                view.memory(*id).filter(|one| one.kind == MemoryKind::Note).map(|one| one.id)
            }
            _ => None,
        }));
    }
    if ids.is_empty() {
        return Err(Refusal::not_found("nothing states such a fact"));
    }
    Ok(ids.into_iter().map(Forget::Memory).collect())
}

/// Of whom or what.
struct Subject {
    id: Option<EntityId>,
    noun: Option<String>,
}

impl Subject {
    fn of(view: &View, word: &str) -> Result<Self, Refusal> {
        let noun = told_thing(view, word);
        match find(view, word) {
            Ok(id) => Ok(Self { id: Some(id), noun }),
            Err(refusal) if refusal.code == RefusalCode::NotFound && noun.is_some() => {
                Ok(Self { id: None, noun })
            }
            Err(refusal) => Err(refusal),
        }
    }

    fn is_that_of(&self, view: &View, fact: &Fact) -> bool {
        match fact.subject.parse::<EntityId>() {
            Ok(id) => Some(view.resolve(id)) == self.id,
            Err(_) => self.noun.as_ref() == Some(&fact.subject.to_lowercase()),
        }
    }
}

/// What it is: words, or somebody.
struct Wanted {
    words: String,
    id: Option<EntityId>,
}

impl Wanted {
    fn of(view: &View, word: &str) -> Self {
        Self { words: word.trim().to_lowercase(), id: find(view, word).ok() }
    }

    fn is_that_of(&self, view: &View, fact: &Fact) -> bool {
        match fact.value.parse::<EntityId>() {
            Ok(id) => Some(view.resolve(id)) == self.id,
            Err(_) => {
                let worded = mention::render(&fact.value, |id| view.display_name(id));
                worded.to_lowercase() == self.words
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::daemon::queries::tests::{T0, small_memory};
    use crate::identify::Persons;
    use crate::ids::MemoryId;
    use crate::memorize::Memorizer;
    use crate::time::{Span, Timestamp};

    fn pattern(parts: [&str; 3]) -> Pattern {
        let [subject, attribute, value] = parts.map(|part| Some(part.to_owned()));
        Pattern { subject, attribute, value }
    }

    #[test]
    fn facts_are_found_and_erased_by_any_of_their_parts() {
        let dir = tempfile::tempdir().unwrap();
        let memory = small_memory(dir.path());
        let like = memory.view().memory(MemoryId(1)).unwrap();
        let told = |secs: f64, subject: &str, attribute: &str, value: &str| {
            let at = Timestamp::from_nanos(T0).plus_secs(40.0 + secs);
            let mut draft = memory.begin(at);
            let [subject, attribute, value] = [subject, attribute, value].map(str::to_owned);
            let text = format!("{subject} {attribute} {value}.");
            let row = MemoryRow {
                kind: MemoryKind::Note,
                text,
                span: Span::new(at, at),
                clip: None,
                entities: Vec::new(),
                fact: Some(Fact { subject, attribute, value }),
                valid_from: at,
                valid_to: None,
                grounds: Vec::new(),
                ..(*like).clone()
            };
            let row = Memorizer::new(None).note(row, &Persons::default(), &mut draft);
            draft.commit().unwrap();
            row.id
        };
        let tea = told(0.0, "person_1", "likes", "Tea");
        let bonn = told(1.0, "person_1", "home", "Bonn");
        let munich = told(2.0, "person_1", "home", "Munich");
        let mug = told(3.0, "red mug", "location", "in the sink");
        let again = told(4.0, "red mug", "location", "in the sink");
        let view = memory.view();
        let ids = |parts| -> Vec<MemoryId> {
            matching(&view, &pattern(parts)).unwrap().iter().map(|row| row.id).collect()
        };
        assert_eq!(ids(["Ava", "likes", "?"]), [tea]);
        assert_eq!(ids(["ava", "Residence", "?"]), [munich, bonn], "what holds comes first");
        assert_eq!(ids(["?", "?", "bonn"]), [bonn]);
        assert_eq!(ids(["the Red Mug", "?", "?"]), [mug]);
        assert_eq!(ids(["?", "likes", "jazz"]), []);
        let refused = matching(&view, &pattern(["blue mug", "?", "?"])).unwrap_err();
        assert_eq!(refused.code, RefusalCode::NotFound);
        // What was told again has no fact of its own, and goes with it.
        let erased = erasing(&view, &pattern(["red mug", "location", "?"])).unwrap();
        assert_eq!(erased, [Forget::Memory(mug), Forget::Memory(again)]);
        let refused = erasing(&view, &pattern(["Ava", "likes", "jazz"])).unwrap_err();
        assert_eq!(refused.code, RefusalCode::NotFound);
    }
}
