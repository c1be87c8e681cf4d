//! A conversation in a store of its own, and what is found in it: one session, one clip per sitting, one utterance per
//! turn.

use std::collections::BTreeMap;

use tempfile::TempDir;

use crate::bench::BenchError;
use crate::bench::scratch;
use crate::config::Config;
use crate::daemon::assemble::Knowledge;
use crate::ids::{ClipId, EntityId, EntityKind, MemoryId};
use crate::memory::Filter;
use crate::memory::model::{Clip, MemoryKind, MemoryRow, NameRow, NameSource};
use crate::recall::{Query, recall};
use crate::time::{Span, Timestamp};

/// How long a turn is taken to last, seconds; the files tell only when a sitting began.
pub(super) const TURN_SECS: f64 = 20.0;

/// One thing somebody said.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    /// What evidence names it by.
    pub id: String,
    /// Who.
    pub speaker: String,
    /// What, and what picture was shared with it.
    pub text: String,
    /// When.
    pub at: Timestamp,
}

impl Turn {
    /// The turn as a memory's sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        format!("{}: {}", self.speaker, self.text)
    }
}

/// A conversation in a store of its own, gone with this.
pub(super) struct Remembered {
    pub(super) knowledge: Knowledge,
    turns: BTreeMap<MemoryId, String>,
    sittings: BTreeMap<String, usize>,
    // Last: the store outlives whoever has it open.
    _store: TempDir,
}

impl Remembered {
    /// Remembers the sittings, in their order; each speaker is a person of that name.
    ///
    /// # Errors
    /// When the sentence embedder or the store fails.
    pub(super) fn of(config: &Config, sittings: &[Vec<Turn>]) -> Result<Self, BenchError> {
        let (store, mut config) = scratch::store(config)?;
        // Dates of the files have no zone.
        config.robot.timezone = Some("UTC".into());
        let knowledge = Knowledge::open(&config)?;
        let mut turns = BTreeMap::new();
        let mut sitting_of = BTreeMap::new();
        let mut persons = BTreeMap::new();
        let mut session = None;
        for (index, sitting) in sittings.iter().enumerate() {
            let (Some(first), Some(last)) = (sitting.first(), sitting.last()) else { continue };
            let span = Span::new(first.at, last.at.plus_secs(TURN_SECS));
            let mut draft = knowledge.memory.begin(span.end);
            let session =
                *session.get_or_insert_with(|| draft.new_session(first.at, span.secs(), None));
            let clip = ClipId { session, index: index as u32 };
            draft.clip(Clip {
                id: clip,
                span,
                frames: 0,
                analysed: 0,
                dropped: 0,
                key_frames: Vec::new(),
            });
            for turn in sitting {
                let person = *persons.entry(turn.speaker.clone()).or_insert_with(|| {
                    let person = draft.new_entity(EntityKind::Person);
                    draft.name(NameRow {
                        entity: person,
                        name: turn.speaker.clone(),
                        since: turn.at,
                        source: NameSource::Told,
                        turn: None,
                    });
                    person
                });
                let id = draft.new_memory_id();
                let vector = match &knowledge.text {
                    Some(text) => Some(text.embed(&turn.sentence())?),
                    None => None,
                };
                draft.memory(utterance(id, turn.sentence(), turn.at, clip, person), vector);
                turns.insert(id, turn.id.clone());
                sitting_of.insert(turn.id.clone(), index);
            }
            draft.commit()?;
        }
        Ok(Self { knowledge, turns, sittings: sitting_of, _store: store })
    }

    /// The turn of a memory.
    pub(super) fn turn(&self, memory: MemoryId) -> Option<&String> {
        self.turns.get(&memory)
    }

    /// In which sitting the turn was, from 0.
    pub(super) fn sitting(&self, turn: &str) -> Option<usize> {
        self.sittings.get(turn).copied()
    }

    /// What recall is asked for a question: its words, its vector, whom it names.
    ///
    /// # Errors
    /// When the sentence embedder fails.
    pub(super) fn query(&self, question: &str) -> Result<Query, BenchError> {
        let vector = match &self.knowledge.text {
            Some(text) => Some(text.embed(question)?),
            None => None,
        };
        Ok(Query {
            text: question.to_owned(),
            vector,
            entities: self.knowledge.memory.view().named_in(question),
            ..Query::default()
        })
    }

    /// The first `k` turns that recall finds, best first.
    pub(super) fn recalled(&self, query: &Query, k: usize) -> Vec<String> {
        let hits = recall(&self.knowledge.memory.view(), &Query { k, ..query.clone() });
        hits.iter().filter_map(|hit| self.turn(hit.memory.id).cloned()).collect()
    }

    /// The first `k` turns by BM25 over their words alone, best first: the baseline.
    pub(super) fn by_words(&self, question: &str, k: usize) -> Vec<String> {
        let hits = self.knowledge.memory.view().lexical(question, k, &Filter::default());
        hits.iter().filter_map(|(id, _)| self.turn(*id).cloned()).collect()
    }
}

/// A memory that somebody said something.
pub(in crate::bench) fn utterance(
    id: MemoryId,
    text: String,
    at: Timestamp,
    clip: ClipId,
    speaker: EntityId,
) -> MemoryRow {
    MemoryRow {
        id,
        kind: MemoryKind::Utterance,
        text,
        span: Span::new(at, at.plus_secs(TURN_SECS)),
        clip: Some(clip),
        entities: vec![speaker],
        fact: None,
        importance: 0.5,
        confidence: 1.0,
        pinned: false,
        valid_from: at,
        valid_to: None,
        grounds: Vec::new(),
        origin: "builtin".into(),
    }
}
