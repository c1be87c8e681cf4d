//! A document is told: its passages become notes, each with its place. Told again, what is the same stays, what is new comes, and
//! what is gone is taken back.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use serde_json::json;

use super::{Clock, MemoryService};
use crate::document::Passage;
use crate::memory::model::{MemoryKind, MemoryRow};
use crate::memory::{DOCUMENT, Draft, PassageRow};
use crate::mention;
use crate::mqtt::message::ToldDocument;
use crate::mqtt::{Call, Refusal, Reply};
use crate::percept::Embedding;
use crate::time::{Span, Timestamp};

/// Passages of one commit: whoever else writes waits no longer than for these.
const PORTION: usize = 64;
/// Why a passage was taken back.
const GONE: &str = "the document was told again without it";

/// A passage that is to be remembered.
struct Wanted {
    text: String,
    place: PassageRow,
    /// What was remembered of it before.
    known: Option<Arc<PassageRow>>,
}

impl MemoryService {
    /// Remembers a document. What was committed before a failure stays; telling it again completes it.
    pub(super) fn remember_document(
        &self,
        document: ToldDocument,
        (at, pinned): (Option<Timestamp>, bool),
        call: &Call,
    ) -> Result<Reply, Refusal> {
        let name = document.name.trim().to_owned();
        let passages = document.into_passages()?;
        let (wanted, gone) = self.compared(&name, passages);
        let total = wanted.len();
        let same = wanted.iter().filter(|one| one.known.is_some()).count();
        let at = at.unwrap_or_else(|| self.told_at());
        let portions = total.div_ceil(PORTION);
        for (number, portion) in (1..).zip(wanted.chunks(PORTION)) {
            // Where a daemon runs, vectors are made in the background; until then passages are found by their words.
            let vectors = match self.clock {
                Clock::Store => self.vectors_of(portion),
                _ => vec![None; portion.len()],
            };
            self.committed(|draft| {
                for (one, vector) in portion.iter().zip(vectors) {
                    put(one, vector, (at, pinned), draft);
                }
                Ok(())
            })?;
            let found = total.min(number * PORTION);
            let line = json!({
                "id": call.id, "round": number, "of": portions, "action": "remember", "query": name, "found": found,
            });
            call.progress(&line);
        }
        if !gone.is_empty() {
            self.committed(|draft| {
                for row in &gone {
                    draft
                        .retire_memory(row.memory, None, GONE)
                        .map_err(|error| self.failed(&error))?;
                    draft.retire_passage(row.memory);
                }
                Ok(())
            })?;
        }
        Ok(Reply::Document(json!({
            "document": name, "passages": total, "new": total - same, "same": same, "gone": gone.len(),
        })))
    }

    /// What is to be remembered of a document, and which passages of it are gone.
    fn compared(&self, name: &str, passages: Vec<Passage>) -> (Vec<Wanted>, Vec<Arc<PassageRow>>) {
        let view = self.view();
        // By their text, those that come first first: a line that stands twice is two passages.
        let mut known: BTreeMap<String, VecDeque<Arc<PassageRow>>> = BTreeMap::new();
        for row in view.passages_of(name) {
            if let Some(memory) = view.memory(row.memory) {
                known.entry(memory.text.clone()).or_default().push_back(row);
            }
        }
        let mut wanted = Vec::new();
        for (passage, number) in passages.into_iter().zip(0..) {
            let Passage { text, heading, page, line, last_line } = passage;
            let text = match &heading {
                Some(heading) => without_mentions(&format!("{heading}: {text}")),
                None => without_mentions(&text),
            };
            let known = known.get_mut(&text).and_then(VecDeque::pop_front);
            let memory = known.as_ref().map(|row| row.memory).unwrap_or_default();
            let document = name.to_owned();
            let place = PassageRow { memory, document, number, heading, page, line, last_line };
            wanted.push(Wanted { text, place, known });
        }
        (wanted, known.into_values().flatten().collect())
    }

    fn vectors_of(&self, portion: &[Wanted]) -> Vec<Option<Embedding>> {
        let memorizer = self.session.load().memorizer.clone();
        let vector = |one: &Wanted| match one.known {
            Some(_) => None,
            None => memorizer.vector_of_words(&one.text),
        };
        portion.iter().map(vector).collect()
    }

    /// Commits what is written by `write`, in turn with whoever else writes.
    fn committed(
        &self,
        write: impl FnOnce(&mut Draft) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        let _turn = self.resolver()?;
        let mut draft = self.knowledge.memory.begin(self.record_time());
        write(&mut draft)?;
        if !draft.is_empty() {
            draft.commit().map_err(|error| self.failed(&error))?;
        }
        Ok(())
    }
}

/// Writes a passage, or where it stands now.
fn put(
    one: &Wanted,
    vector: Option<Embedding>,
    (at, pinned): (Timestamp, bool),
    draft: &mut Draft,
) {
    let Wanted { text, place, known } = one;
    if let Some(known) = known {
        if **known != *place {
            draft.passage(place.clone());
        }
        return;
    }
    let about = draft.before().named_in(text);
    let mut row = MemoryRow::told(MemoryKind::Note, text.clone(), Span::new(at, at), about);
    row.id = draft.new_memory_id();
    DOCUMENT.clone_into(&mut row.origin);
    row.pinned = pinned;
    draft.passage(PassageRow { memory: row.id, ..place.clone() });
    draft.memory(row, vector);
}

/// What looks like a mention in a document is none: its brackets become round.
fn without_mentions(text: &str) -> String {
    let mut plain = text.to_owned();
    for one in mention::mentions(text) {
        let inner = &text[one.range.start + 1..one.range.end - 1];
        plain.replace_range(one.range.clone(), &format!("({inner})"));
    }
    plain
}
