//! The textual protocol of the published control model: `Action: [Search]|[Answer]`, `Content: …`, knowledge
//! as a JSON map from clips to sentences, persons as `<character_N>`.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::ids::{ClipId, EntityId, EntityKind};
use crate::llm::{Message, Role, json};
use crate::memory::model::MemoryRow;
use crate::memory::{Filter, stems};
use crate::mention;
use crate::recall::{Query, recall};

use super::Asking;
use super::conversation::one_line;
use super::verdict::Final;

/// Clips given per search.
const CLIPS: usize = 2;
/// Memories given per search for an id or a name.
const MEMORIES: usize = 20;
/// Sentences of one clip.
const SENTENCES: usize = 60;
/// Pieces of evidence, which this protocol does not cite.
const EVIDENCE: usize = 5;
/// Confidence of an answer, which this protocol does not tell.
const CONFIDENCE: f32 = 0.5;

/// What a reply asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// The next query.
    Search(String),
    /// The answer.
    Answer(String),
}

/// Reads a reply, thinking taken out; marks, brackets, letter case and line ends do not matter.
///
/// # Errors
/// What is missing, in words for the model.
pub(super) fn action(text: &str) -> Result<Action, String> {
    if let Ok(action) = from_json(text) {
        return Ok(action);
    }
    let plain: String = text.chars().filter(|c| !matches!(c, '*' | '`' | '#')).collect();
    let lower = plain.to_ascii_lowercase();
    let after = |word: &str| lower.rfind(word).map(|at| at + word.len());
    let content = after("content:").map(|at| plain[at..].trim().trim_matches('"').trim());
    let named = lower.find("action").map_or(lower.as_str(), |at| &lower[at..]);
    let named = named.split("content:").next().unwrap_or_default();
    let (search, answer) = (named.find("search"), named.find("answer"));
    let is_answer = match (search, answer) {
        (None, None) => return from_json(text),
        (None, Some(_)) => true,
        (Some(_), None) => false,
        (Some(search), Some(answer)) => answer < search,
    };
    if !lower.contains("action") && !lower.contains("[search]") && !lower.contains("[answer]") {
        return from_json(text);
    }
    let content = content.map(ToOwned::to_owned).or_else(|| {
        // No "Content:": what follows the action.
        let word = if is_answer { "answer" } else { "search" };
        let from = lower.find("action").unwrap_or(0);
        let at = from + lower[from..].find(word)? + word.len();
        Some(plain[at..].trim_matches(|c: char| c.is_whitespace() || "]:.".contains(c)).to_owned())
    });
    match content.filter(|content| !content.is_empty()) {
        Some(content) if is_answer => Ok(Action::Answer(content)),
        Some(content) => Ok(Action::Search(content)),
        None => Err("there was no content after the action".to_owned()),
    }
}

fn from_json(text: &str) -> Result<Action, String> {
    let missing = || "there was no line \"Action: [Answer]\" or \"Action: [Search]\"".to_owned();
    let object = json::object(text).ok_or_else(missing)?;
    let text = |keys: [&str; 2]| {
        let found = keys.into_iter().find_map(|key| object.get(key)?.as_str());
        found.map(str::trim).filter(|text| !text.is_empty()).map(ToOwned::to_owned)
    };
    let content = text(["content", "Content"]).ok_or_else(missing)?;
    match text(["action", "Action"]).ok_or_else(missing)?.to_ascii_lowercase() {
        word if word.contains("answer") => Ok(Action::Answer(content)),
        word if word.contains("search") => Ok(Action::Search(content)),
        _ => Err(missing()),
    }
}

impl Asking<'_> {
    /// The user's turn: knowledge and the form of the reply.
    pub(super) fn m3_turn(&self, knowledge: &str) -> Message {
        let prompts = &self.rounds.prompts;
        let mut text = format!("Searched knowledge: {knowledge}\n");
        if knowledge == "{}" && self.spent.rounds > 0 {
            text.push_str(
                "(The search result is empty. Please try searching from another perspective.)\n",
            );
        }
        text.push_str(prompts.answer_m3_form.trim());
        Message::text(Role::User, text)
    }

    /// Knowledge for a query, as its JSON map, and how many sentences it holds. What was shown before gives
    /// way to the next best.
    pub(super) fn m3_search(&mut self, query: &str) -> (String, usize) {
        let view = &self.pinned.view;
        let now = self.reading.now();
        let text = mention_persons(query);
        let mut named = view.named_in(&mention::render(&text, |id| id.to_string()));
        named.extend(mention::mentions(&text).into_iter().map(|one| one.entity));
        let named: Vec<EntityId> =
            named.into_iter().filter(|id| view.knows(*id)).map(|id| view.resolve(id)).collect();
        let lower = query.to_lowercase();
        let for_id = lower.contains("character id") || lower.contains("the name of");
        let vector = self.embed(&mention::render(&text, |id| self.pinned.view.display_name(id)));
        let wanted = Query {
            text,
            vector,
            entities: named.clone(),
            exclude: self.shown.memories(),
            k: MEMORIES * 2,
            ..Query::default()
        };
        let hits = recall(&self.pinned.view, &wanted);
        let hits = hits.iter().filter(|hit| hit.memory.span.start <= now);
        let mut chosen: Vec<(Option<ClipId>, f32)> = Vec::new();
        let mut rows: Vec<(std::sync::Arc<MemoryRow>, f32)> = Vec::new();
        for hit in hits {
            if for_id {
                if rows.len() < MEMORIES {
                    rows.push((std::sync::Arc::clone(&hit.memory), hit.score));
                }
            } else if chosen.len() < CLIPS
                && !chosen.iter().any(|(clip, _)| *clip == hit.memory.clip)
            {
                chosen.push((hit.memory.clip, hit.score));
            }
        }
        for (clip, score) in chosen {
            let Some(clip) = clip else { continue };
            let filter = Filter { clip: Some(clip), limit: Some(SENTENCES), ..Filter::default() };
            let found = self.pinned.view.memories(&filter).into_iter();
            rows.extend(found.filter(|row| row.span.start <= now).map(|row| (row, score)));
        }
        if rows.is_empty() {
            // What was told belongs to no clip.
            let told = recall(&self.pinned.view, &wanted);
            let told = told.iter().filter(|hit| hit.memory.span.start <= now).take(MEMORIES);
            rows.extend(told.map(|hit| (std::sync::Arc::clone(&hit.memory), hit.score)));
        }
        rows.sort_by_key(|(row, _)| (row.clip, row.span.start, row.id));
        let mut knowledge: BTreeMap<(bool, Option<ClipId>), Vec<String>> = BTreeMap::new();
        let mut found = 0;
        for (row, score) in rows {
            if self.shown.memory(self.reading.memory_evidence(&row, score)).is_none() {
                continue;
            }
            found += 1;
            let text = mention::render(&row.text, |id| self.character(id));
            knowledge.entry((row.clip.is_some(), row.clip)).or_default().push(one_line(&text));
        }
        if for_id {
            for id in named {
                for name in self.pinned.view.names(id) {
                    let line = format!("The name of {} is {}.", self.character(id), name.name);
                    knowledge.entry((false, None)).or_default().push(line);
                    found += 1;
                }
            }
        }
        let map: Map<String, Value> = knowledge
            .into_iter()
            .map(|((_, clip), lines)| {
                let key = clip.map_or_else(|| "NOTES".to_owned(), |clip| self.clip_key(clip));
                (key, Value::from(lines))
            })
            .collect();
        (Value::Object(map).to_string(), found)
    }

    /// `CLIP_7`; of several sessions `CLIP_s2_7`.
    fn clip_key(&self, clip: ClipId) -> String {
        if self.pinned.view.sessions().len() > 1 {
            format!("CLIP_{}_{}", clip.session, clip.index)
        } else {
            format!("CLIP_{}", clip.index)
        }
    }

    fn character(&self, id: EntityId) -> String {
        let id = self.pinned.view.resolve(id);
        match id.kind {
            EntityKind::Robot => "the robot".to_owned(),
            EntityKind::Person => format!("<character_{}>", id.number),
            _ => format!("<{id}>"),
        }
    }

    /// The answer with what was shown that its words rest on.
    pub(super) fn m3_final(&self, text: &str) -> Final {
        let mut wanted = stems(&format!("{} {text}", self.question.text));
        wanted.sort_unstable();
        wanted.dedup();
        let overlap = |text: &str| {
            let has = stems(text);
            wanted.iter().filter(|word| has.contains(word)).count()
        };
        let mut ranked: Vec<(usize, String)> = self
            .shown
            .all()
            .filter_map(|one| Some((overlap(&one.text), one.memory?.to_string())))
            .filter(|(shared, _)| *shared > 0)
            .collect();
        ranked.sort_by_key(|(shared, _)| std::cmp::Reverse(*shared));
        let cited = ranked.into_iter().take(EVIDENCE).map(|(_, key)| key).collect();
        let lower = text.to_lowercase();
        let unknown =
            ["i don't know", "i do not know", "cannot be determined", "not enough information"];
        let known = !unknown.iter().any(|words| lower.contains(words));
        Final { text: text.to_owned(), cited, confidence: Some(CONFIDENCE), known }
    }
}

/// `<character_4>` becomes the mention `<person_4>`.
fn mention_persons(text: &str) -> String {
    text.replace("<character_", "<person_").replace("<Character_", "<person_")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_action_is_read_in_every_dress() {
        let answer = |text: &str| Action::Answer(text.to_owned());
        let search = |text: &str| Action::Search(text.to_owned());
        for (text, wanted) in [
            ("Action: [Answer]\nContent: On the table.", answer("On the table.")),
            ("Action: Answer\nContent: On the table.", answer("On the table.")),
            ("**Action:** [Search]\n**Content:** Where is the mug?", search("Where is the mug?")),
            ("ACTION: [search] CONTENT: mug", search("mug")),
            (
                "I must look.\nAction: [Search]\nContent: \"the answer to life\"",
                search("the answer to life"),
            ),
            ("[Answer]\nOn the table", answer("On the table")),
            ("{\"action\": \"[Search]\", \"content\": \"mug\"}", search("mug")),
            ("Action: [Answer] Coffee.", answer("Coffee")),
        ] {
            assert_eq!(action(text), Ok(wanted), "{text}");
        }
        for bad in [
            "",
            "Where is it?",
            "Action: [Dance]\nContent: x",
            "Action: [Answer]\nContent:",
            "the answer is tea",
        ] {
            assert!(action(bad).is_err(), "{bad}");
        }
        assert_eq!(mention_persons("Did <character_14> sit?"), "Did <person_14> sit?");
    }
}
