//! Fills a store with turns of real conversations, over and over, for benches of a large memory.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::BenchError;
use super::conversations::utterance;
use super::memory::{CommitLatency, Corpus, quantile};
use super::random::SplitMix64;
use crate::ids::{ClipId, EntityId, EntityKind, ModelHash, SessionId};
use crate::memory::Memory;
use crate::memory::model::{Clip, NameRow, NameSource};
use crate::percept::Embedding;
use crate::time::{Span, Timestamp};

/// Memories of one clip's transaction.
pub(super) const PER_CLIP: usize = 30;
pub(super) const CLIP_SECS: f64 = 30.0;
/// Length of the noise that is added to a unit vector: cosine about 1 / sqrt(1 + 0.62²) = 0.85.
const NOISE: f32 = 0.62;
/// The newest commits, whose times are told.
const LAST_COMMITS: usize = 100;
const SEED: u64 = 384;

/// The first instant of the memory.
pub(super) fn beginning() -> Timestamp {
    Timestamp::from_nanos(1_772_323_200_000_000_000) // 2026-03-01
}

/// How fast a store was filled.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Filled {
    /// Whether all is in; else the time was over.
    pub(super) done: bool,
    /// Inserted, durable and searchable, vectors given: over the last 100 commits.
    pub(super) inserts_per_sec: f64,
    /// A clip's commit, over the last 100.
    pub(super) commit_ms: CommitLatency,
}

/// Fills on until there are `count` memories, or for so long.
pub(super) fn fill(
    memory: &Memory,
    filler: &mut Filler<'_>,
    count: usize,
    most: Option<Duration>,
) -> Result<Filled, BenchError> {
    let begun = Instant::now();
    let step = count.div_ceil(PER_CLIP).max(10) / 10;
    let mut times: Vec<Inserted> = Vec::new();
    while filler.memories < count && most.is_none_or(|most| begun.elapsed() < most) {
        times.push(filler.insert(memory, PER_CLIP.min(count - filler.memories))?);
        if (filler.clips as usize).is_multiple_of(step) {
            eprintln!("{} of {count} memories", filler.memories);
        }
    }
    let last = &times[times.len().saturating_sub(LAST_COMMITS)..];
    let mut commits: Vec<f64> = last.iter().map(|inserted| inserted.commit_secs * 1e3).collect();
    let secs: f64 = last.iter().map(|inserted| inserted.secs).sum();
    let inserted: usize = last.iter().map(|inserted| inserted.memories).sum();
    Ok(Filled {
        done: filler.memories >= count,
        inserts_per_sec: inserted as f64 / f64::max(secs, 1e-9),
        commit_ms: CommitLatency {
            p50: quantile(&mut commits, 0.5),
            p95: quantile(&mut commits, 0.95),
        },
    })
}

/// What a memory's vector is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Made {
    /// Its turn's, moved by noise to a cosine of about 0.85: every turn has copies.
    #[default]
    Near,
    /// Those of two or three turns drawn at random, with weights: no copies.
    Mixed,
}

/// Inserts clip after clip of turns; each clip's noise is of its own.
pub(super) struct Filler<'c> {
    corpus: &'c Corpus,
    made: Made,
    persons: Vec<(&'c str, EntityId)>,
    session: Option<SessionId>,
    clips: u32,
    memories: usize,
}

/// How long a clip's insertion took.
pub(super) struct Inserted {
    /// Its commit.
    pub(super) commit_secs: f64,
    /// All that belongs to it.
    secs: f64,
    memories: usize,
}

impl<'c> Filler<'c> {
    /// One that goes on behind what is in the memory.
    pub(super) fn on(corpus: &'c Corpus, memory: &Memory) -> Self {
        let view = memory.view();
        let of = |speaker: &'c str| {
            let who = view.find_by_name(speaker).into_iter();
            who.map(move |id| (speaker, id)).next()
        };
        let speakers: BTreeSet<&str> =
            corpus.turns.iter().map(|(speaker, ..)| speaker.as_str()).collect();
        Self {
            corpus,
            made: Made::default(),
            persons: speakers.into_iter().filter_map(of).collect(),
            session: view.sessions().last().map(|session| session.id),
            clips: view.last_clip(None, |_| true).map_or(0, |clip| clip.id.index + 1),
            memories: view.count_memories() as usize,
        }
    }

    /// The same, with vectors made so.
    pub(super) fn of(self, made: Made) -> Self {
        Self { made, ..self }
    }

    fn vector(&self, own: &Embedding, random: &mut SplitMix64) -> Embedding {
        match self.made {
            Made::Near => near(own, random),
            Made::Mixed => mixed(&self.corpus.turns, own.model, random),
        }
    }

    /// The newest clip that is in.
    pub(super) fn newest(&self) -> Option<ClipId> {
        let index = self.clips.checked_sub(1)?;
        self.session.map(|session| ClipId { session, index })
    }

    /// Inserts a clip of so many memories as one transaction.
    pub(super) fn insert(&mut self, memory: &Memory, count: usize) -> Result<Inserted, BenchError> {
        let start = beginning().plus_secs(f64::from(self.clips) * CLIP_SECS);
        let span = Span::new(start, start.plus_secs(CLIP_SECS));
        let corpus = self.corpus;
        let turns: Vec<_> = (self.memories..self.memories + count)
            .map(|number| &corpus.turns[number % corpus.turns.len()])
            .collect();
        let mut random = SplitMix64::new(SEED + u64::from(self.clips));
        let vectors: Vec<Embedding> =
            turns.iter().map(|(_, _, own)| self.vector(own, &mut random)).collect();
        let begun = Instant::now();
        let mut draft = memory.begin(span.end);
        let session =
            *self.session.get_or_insert_with(|| draft.new_session(beginning(), CLIP_SECS, None));
        let clip = ClipId { session, index: self.clips };
        draft.clip(Clip {
            id: clip,
            span,
            frames: 750,
            analysed: 150,
            dropped: 0,
            key_frames: Vec::new(),
        });
        for (place, ((speaker, sentence, _), vector)) in turns.into_iter().zip(vectors).enumerate()
        {
            let known = self.persons.iter().find(|(name, _)| name == speaker).map(|(_, id)| *id);
            let person = known.unwrap_or_else(|| {
                let entity = draft.new_entity(EntityKind::Person);
                let (name, source) = (speaker.clone(), NameSource::Told);
                draft.name(NameRow { entity, name, since: start, source, turn: None });
                self.persons.push((speaker, entity));
                entity
            });
            let at = start.plus_secs(place as f64 * CLIP_SECS / PER_CLIP as f64);
            let id = draft.new_memory_id();
            draft.memory(utterance(id, sentence.clone(), at, clip, person), Some(vector));
        }
        let committing = Instant::now();
        draft.commit()?;
        self.clips += 1;
        self.memories += count;
        Ok(Inserted {
            commit_secs: committing.elapsed().as_secs_f64(),
            secs: begun.elapsed().as_secs_f64(),
            memories: count,
        })
    }
}

/// A vector near another.
pub(super) fn near(own: &Embedding, random: &mut SplitMix64) -> Embedding {
    let step = NOISE / (own.values.len() as f32).sqrt();
    let moved = own.values.iter().map(|value| value + step * random.gaussian()).collect();
    Embedding::normalised(moved, own.model)
}

/// The vector of two or three of the turns together.
fn mixed(
    turns: &[(String, String, Embedding)],
    model: ModelHash,
    random: &mut SplitMix64,
) -> Embedding {
    let mut sum = Vec::new();
    for _ in 0..2 + random.below(2) {
        let weight = 0.4 + 0.6 * random.unit() as f32;
        let Some((.., part)) = turns.get(random.below(turns.len())) else { continue };
        sum.resize(part.values.len(), 0.0);
        sum.iter_mut().zip(&part.values).for_each(|(sum, value)| *sum += weight * value);
    }
    Embedding::normalised(sum, model)
}

/// When so many memories from one on are of.
pub(super) fn span_of(first: usize, count: usize) -> Span {
    let at = |number: usize| beginning().plus_secs(number as f64 * CLIP_SECS / PER_CLIP as f64);
    Span::new(at(first), at(first + count))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn noise_moves_a_vector_to_the_told_cosine() {
        let mut random = SplitMix64::new(1);
        let values = (0..384).map(|_| random.gaussian()).collect();
        let own = Embedding::normalised(values, ModelHash([1; 32]));
        for _ in 0..20 {
            let cosine = near(&own, &mut random).cosine(&own).unwrap();
            assert!((0.78..0.92).contains(&cosine), "{cosine}");
        }
    }
}
