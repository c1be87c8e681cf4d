//! What recall is asked for, and what it gives.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::ids::{EntityId, MemoryId};
use crate::memory::model::{MemoryKind, MemoryRow};
use crate::percept::Embedding;
use crate::time::{Span, Timestamp};

/// A query: every part may be left empty.
#[derive(Clone, Debug, Default)]
pub struct Query {
    /// Words to be found.
    pub text: String,
    /// Vector of the words; without it recall goes by words alone.
    pub vector: Option<Embedding>,
    /// Memories of that time rank higher; with [`Self::strict`] only they count.
    pub span: Option<Span>,
    /// Memories about these rank higher; with [`Self::strict`] only they count.
    pub entities: Vec<EntityId>,
    /// Memories of that place (an id, a name, or the words that facts call it by) rank higher; with [`Self::strict`] only
    /// they count.
    pub place: Option<String>,
    /// Only these kinds; empty = all.
    pub kinds: Vec<MemoryKind>,
    /// Only what is true in the world at that time.
    pub valid_at: Option<Timestamp>,
    /// Time, entities and place are conditions instead of hints.
    pub strict: bool,
    /// Not these: they were shown already.
    pub exclude: BTreeSet<MemoryId>,
    /// How many hits; 0 counts as 10.
    pub k: usize,
}

/// Why a memory was found.
#[derive(Clone, Debug, PartialEq)]
pub enum Why {
    /// Its vector is near the query's: rank from 1, cosine.
    Meaning(usize, f32),
    /// Its words match: rank from 1 (0: found otherwise), BM25.
    Words(usize, f32),
    /// It is about someone the query names.
    Entity(EntityId),
    /// It is about someone whom a fact joins with someone the query names.
    Related(EntityId),
    /// It lies in the time told.
    Time,
    /// It was made at the place told, or tells of it.
    Place,
    /// What was said next to it matches; or it was said next to that hit.
    Beside(MemoryId),
}

impl std::fmt::Display for Why {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Meaning(rank, cosine) => write!(f, "meaning #{rank} (cosine {cosine:.2})"),
            Self::Words(0, score) => write!(f, "words (BM25 {score:.1})"),
            Self::Words(rank, score) => write!(f, "words #{rank} (BM25 {score:.1})"),
            Self::Entity(id) => write!(f, "about {id}"),
            Self::Related(id) => write!(f, "about {id}, who belongs to the one asked for"),
            Self::Time => f.write_str("in the time told"),
            Self::Place => f.write_str("at the place told"),
            Self::Beside(id) => write!(f, "beside {id}"),
        }
    }
}

/// A memory that was found.
#[derive(Clone, Debug)]
pub struct Hit {
    /// The memory.
    pub memory: Arc<MemoryRow>,
    /// 0–1: fused score against the best possible.
    pub score: f32,
    /// Why, the strongest reason first.
    pub why: Vec<Why>,
}
