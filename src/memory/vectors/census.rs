//! Which memories have vectors, and of which models: what a change of the embedder goes by.

use std::collections::BTreeMap;
use std::path::Path;

use crate::encryption::StoreKey;
use crate::ids::{MemoryId, ModelHash, Seq};

use crate::memory::error::MemoryError;
use crate::memory::idset::IdSet;
use crate::memory::store;
use crate::memory::view::View;

/// How many memories have a vector of one model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VectorCount {
    /// The model.
    pub model: ModelHash,
    /// Length of its vectors.
    pub dimensions: usize,
    /// Memories.
    pub memories: u64,
}

/// The same, told by the file of a store without reading it whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VectorCensus {
    /// Memories there are.
    pub memories: u64,
    /// Those with a vector, by model.
    pub models: Vec<VectorCount>,
}

impl VectorCensus {
    /// Counts in the store in `dir`, beside a running daemon.
    ///
    /// # Errors
    /// When there is none, or the disk fails.
    pub fn of(dir: &Path, key: Option<&StoreKey>) -> Result<Self, MemoryError> {
        let db = store::open_read_only(dir, key)?;
        let count = || -> rusqlite::Result<Self> {
            let number = |row: &rusqlite::Row<'_>, at: usize| -> rusqlite::Result<u64> {
                Ok(row.get::<_, i64>(at)? as u64)
            };
            let all = "SELECT count(*) FROM memory WHERE retired_seq IS NULL";
            let memories = db.query_row(all, [], |row| number(row, 0))?;
            let mut by_model = db.prepare(
                "SELECT model, max(length(vector)), count(*) FROM vector WHERE retired_seq IS NULL \
                 GROUP BY model ORDER BY model",
            )?;
            let rows = by_model.query_map([], |row| {
                let model: Vec<u8> = row.get(0)?;
                let dimensions = number(row, 1)? as usize / size_of::<f32>();
                Ok((model, dimensions, number(row, 2)?))
            })?;
            let mut models = Vec::new();
            for row in rows {
                let (model, dimensions, memories) = row?;
                // A malformed row counts for nobody.
                let Ok(model) = <[u8; 32]>::try_from(model) else { continue };
                models.push(VectorCount { model: ModelHash(model), dimensions, memories });
            }
            Ok(Self { memories, models })
        };
        count().map_err(MemoryError::sqlite("counting vectors", &store::database_path(dir)))
    }
}

impl View {
    /// How many memories have a vector of which model, by model. Neither memories nor vectors are read.
    #[must_use]
    pub fn vector_counts(&self) -> Vec<VectorCount> {
        let of = |(model, (dimensions, memories)): (_, (_, IdSet))| {
            let memories = memories.len() as u64;
            VectorCount { model, dimensions, memories }
        };
        let counts = self.having_vectors().into_iter().map(of);
        counts.filter(|count| count.memories > 0).collect()
    }

    /// The memories that have one, by model, with the length of its vectors.
    fn having_vectors(&self) -> BTreeMap<ModelHash, (usize, IdSet)> {
        let table = &self.tables.vectors;
        let log = table.log();
        self.tables.index.had(&|at| table.shows_in(&log, at, &self.horizon))
    }

    /// Memories that were written, or written anew, after the commit `since` and have none, as `has` says; each once, by id.
    fn lacking(&self, since: Seq, has: &dyn Fn(MemoryId) -> bool) -> Vec<MemoryId> {
        let (memories, columns) = (&self.tables.memories, self.tables.facets.load());
        let log = memories.log();
        let places = log.partition_point(|seq| seq <= since)..log.len();
        let lacks = |at: usize| {
            let id = columns.id(at).filter(|id| !has(*id))?;
            memories.shows_in(&log, at, &self.horizon).then_some(id)
        };
        let mut lacking: Vec<MemoryId> = places.filter_map(lacks).collect();
        lacking.sort_unstable();
        lacking.dedup();
        lacking
    }

    /// A model that memories have vectors of; where it is always the same, that one.
    pub(crate) fn any_model(&self) -> Option<ModelHash> {
        self.tables.index.models().first().copied()
    }

    /// Memories that have no vector, while others have one; by id. (Where none has one, there is no embedder.)
    #[must_use]
    pub fn without_vector(&self) -> Vec<MemoryId> {
        let with = self.having_vectors();
        if with.values().all(|(_, memories)| memories.len() == 0) {
            return Vec::new();
        }
        self.lacking(Seq(0), &|id| with.values().any(|(_, memories)| memories.contains(id)))
    }

    /// Memories written, or written anew, after the commit `since` that have no vector of that model; by id.
    #[must_use]
    pub fn without_vector_of(&self, model: Option<ModelHash>, since: Seq) -> Vec<MemoryId> {
        let Some(model) = model else { return self.lacking(since, &|_| false) };
        if since == Seq(0) {
            let (_, with) = self.having_vectors().remove(&model).unwrap_or_default();
            return self.lacking(since, &|id| with.contains(id));
        }
        let table = &self.tables.vectors;
        self.lacking(since, &|id| table.position(&(id, model), &self.horizon).is_some())
    }

    /// Vectors of other models than that one, at most `limit`, oldest first.
    #[must_use]
    pub fn vectors_beside(&self, model: ModelHash, limit: usize) -> Vec<(MemoryId, ModelHash)> {
        let table = &self.tables.vectors;
        let log = table.log();
        self.tables.index.beside(model, limit, &|at| table.shows_in(&log, at, &self.horizon))
    }
}
