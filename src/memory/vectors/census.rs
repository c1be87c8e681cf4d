//! Which memories have vectors, and of which models: what a change of the embedder goes by.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::encryption::StoreKey;
use crate::ids::{MemoryId, ModelHash, Seq};

use crate::memory::error::MemoryError;
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
    /// How many memories have a vector of which model, by model.
    #[must_use]
    pub fn vector_counts(&self) -> Vec<VectorCount> {
        let mut counts: BTreeMap<ModelHash, (usize, u64)> = BTreeMap::new();
        for version in self.tables.vectors.all(&self.horizon) {
            let row = &version.row;
            let (_, memories) = counts.entry(row.model).or_insert((row.values.len(), 0));
            *memories += 1;
        }
        let of = |(model, (dimensions, memories))| VectorCount { model, dimensions, memories };
        counts.into_iter().map(of).collect()
    }

    /// A model that memories have vectors of; where it is always the same, that one.
    pub(crate) fn any_model(&self) -> Option<ModelHash> {
        self.tables.index.models().first().copied()
    }

    /// Memories that have no vector, while others have one; by id. (Where none has one, there is no embedder.)
    #[must_use]
    pub fn without_vector(&self) -> Vec<MemoryId> {
        let vectors: BTreeSet<MemoryId> = self
            .tables
            .vectors
            .all(&self.horizon)
            .iter()
            .map(|version| version.row.memory)
            .collect();
        if vectors.is_empty() {
            return Vec::new();
        }
        let all = self.tables.memories.all(&self.horizon);
        let mut without: Vec<MemoryId> =
            all.iter().map(|version| version.row.id).filter(|id| !vectors.contains(id)).collect();
        without.sort_unstable();
        without
    }

    /// Memories written, or written anew, after the commit `since` that have no vector of that model; by id.
    #[must_use]
    pub fn without_vector_of(&self, model: Option<ModelHash>, since: Seq) -> Vec<MemoryId> {
        let memories = &self.tables.memories;
        let log = memories.log();
        let from = log.partition_point(|seq| seq <= since);
        let lacks = |id: MemoryId| {
            let has = |model| self.tables.vectors.current(&(id, model), &self.horizon).is_some();
            !model.is_some_and(has)
        };
        let mut without: Vec<MemoryId> = log
            .iter_from(from)
            .filter(|version| memories.shows(version, &self.horizon) && lacks(version.row.id))
            .map(|version| version.row.id)
            .collect();
        without.sort_unstable();
        without
    }

    /// Vectors of other models than that one, at most `limit`, oldest first.
    #[must_use]
    pub fn vectors_beside(&self, model: ModelHash, limit: usize) -> Vec<(MemoryId, ModelHash)> {
        let table = &self.tables.vectors;
        let log = table.log();
        log.iter()
            .filter(|version| version.row.model != model && table.shows(version, &self.horizon))
            .map(|version| (version.row.memory, version.row.model))
            .take(limit)
            .collect()
    }
}
