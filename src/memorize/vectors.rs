//! Vectors that come after their memories: where a server makes them, where it was down, or where the embedder
//! was changed.
//!
//! In three steps, so that the one that takes time holds nobody up: word the sentences, have them embedded,
//! commit what is still true of them.

use crate::ids::{EntityId, EntityKind, MemoryId, ModelHash};
use crate::memory::{Memory, MemoryError, View};
use crate::percept::Embedding;
use crate::text::{TextEmbedder, TextError, for_embedding};
use crate::time::Timestamp;

/// Memories per commit, where they are embedded here and now.
pub(super) const PORTION: usize = 256;

/// A memory whose vector is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Which.
    pub memory: MemoryId,
    /// Its sentence; another one by the time of the commit needs another vector.
    text: String,
    /// As it is embedded.
    pub wording: String,
}

/// The sentences of those memories that are still there, worded for an embedder.
#[must_use]
pub fn word(view: &View, ids: &[MemoryId]) -> Vec<Wanted> {
    let worded = |id: &MemoryId| {
        let row = view.memory(*id)?;
        let wording = for_embedding(row.meaning(), |id| named(view, id));
        Some(Wanted { memory: *id, text: row.text.clone(), wording })
    };
    ids.iter().filter_map(worded).collect()
}

/// The same of those that have no vector of that model.
pub(super) fn lacking(view: &View, ids: &[MemoryId], model: ModelHash) -> Vec<Wanted> {
    let lacks = |id: &MemoryId| view.embedding(*id, model).is_none();
    word(view, &ids.iter().copied().filter(lacks).collect::<Vec<_>>())
}

/// The name by which a mention is embedded; none: a noun.
pub(super) fn named(view: &View, id: EntityId) -> Option<String> {
    match id.kind {
        EntityKind::Object | EntityKind::Place => None,
        _ => view.names(id).first().map(|row| row.name.clone()),
    }
}

/// Commits the vectors of those memories; gives back of how many. What was erased, rewritten or embedded
/// meanwhile is left out.
///
/// # Errors
/// When the store fails; nothing is changed then.
pub fn keep(
    memory: &Memory,
    wanted: &[Wanted],
    vectors: Vec<Embedding>,
) -> Result<usize, MemoryError> {
    let Some(at) = memory.view().newest_time() else { return Ok(0) };
    keep_where(memory, at, wanted, vectors, |before, one| {
        before.memory(one.memory).is_some_and(|row| row.text == one.text)
    })
}

/// As [`keep`], recorded at `at`; what would be worded otherwise by now is left out, too: a name in it may have been
/// erased meanwhile.
///
/// # Errors
/// As there.
pub(super) fn keep_as_worded(
    memory: &Memory,
    at: Timestamp,
    wanted: &[Wanted],
    vectors: Vec<Embedding>,
) -> Result<usize, MemoryError> {
    keep_where(memory, at, wanted, vectors, |before, one| word(before, &[one.memory]).contains(one))
}

/// Commits the vectors for which `same` holds of the memory before the commit, and that are not there yet.
fn keep_where(
    memory: &Memory,
    at: Timestamp,
    wanted: &[Wanted],
    vectors: Vec<Embedding>,
    same: impl Fn(&View, &Wanted) -> bool,
) -> Result<usize, MemoryError> {
    let mut draft = memory.begin(at);
    let before = draft.before();
    let mut kept = 0;
    for (one, vector) in wanted.iter().zip(vectors) {
        if same(&before, one) && before.embedding(one.memory, vector.model).is_none() {
            draft.embed(one.memory, vector);
            kept += 1;
        }
    }
    if kept > 0 {
        draft.commit()?;
    }
    Ok(kept)
}

/// Takes back some vectors of other models than the configured embedder's; gives back how many.
///
/// # Errors
/// When the store fails; nothing is changed then.
pub fn let_go(
    memory: &Memory,
    embedder: &dyn TextEmbedder,
    most: usize,
) -> Result<usize, MemoryError> {
    let Some(model) = embedder.model() else { return Ok(0) };
    let old = memory.view().vectors_beside(model, most);
    let Some(at) = memory.view().newest_time().filter(|_| !old.is_empty()) else { return Ok(0) };
    let mut draft = memory.begin(at);
    for (id, model) in &old {
        draft.retire_vector(*id, *model);
    }
    draft.commit()?;
    Ok(old.len())
}

/// What keeps vectors from being made.
#[derive(Debug, thiserror::Error)]
pub enum VectorError {
    /// The embedder.
    #[error(transparent)]
    Text(#[from] TextError),
    /// The store.
    #[error(transparent)]
    Memory(#[from] MemoryError),
}

/// Makes the vectors of those memories, here and now, for a command; gives back how many. A text that the embedder
/// refuses stays without.
///
/// # Errors
/// When the embedder or the store fails; what was committed before stays.
pub fn make(
    memory: &Memory,
    embedder: &dyn TextEmbedder,
    ids: &[MemoryId],
) -> Result<usize, VectorError> {
    let mut made = 0;
    for ids in ids.chunks(PORTION) {
        let mut wanted = word(&memory.view(), ids);
        let texts: Vec<String> = wanted.iter().map(|one| one.wording.clone()).collect();
        let vectors = match embedder.embed_passages(&texts) {
            Ok(vectors) => vectors,
            Err(error) if error.is_of_the_number() => {
                let mut vectors = Vec::new();
                let mut fault = None;
                wanted.retain(|one| match embedder.embed_passages(std::slice::from_ref(&one.wording)) {
                    Ok(found) => {
                        vectors.extend(found);
                        true
                    }
                    Err(error) => {
                        tracing::warn!(%error, memory = %one.memory, "A memory is kept without its vector.");
                        fault = fault.take().or(Some(error).filter(|error| !error.is_of_the_text()));
                        false
                    }
                });
                if let Some(fault) = fault {
                    return Err(fault.into());
                }
                vectors
            }
            Err(error) => return Err(error.into()),
        };
        made += keep(memory, &wanted, vectors)?;
    }
    Ok(made)
}
