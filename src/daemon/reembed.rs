//! Another face or voice model: people are not lost, their pinned pictures and sounds are embedded anew.
//!
//! Runs when a session is put together, in one commit, and only when a gallery is of another model than the
//! one that runs. Of a gallery of which a part was kept that part is learned, and the rest is retired: a gallery is of one
//! model. Who has no picture or sound left stays, is marked as unmatchable, and is met again by other evidence
//! ([`crate::identify::persons::unmatchable`]).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::error::AssembleError;
use super::ingest::PerceiverSet;
use crate::config::sections::FacePerception;
use crate::identify::persons::unmatchable::restated;
use crate::ids::{EntityId, EntityKind, ModelHash};
use crate::memory::model::{Exemplar, PairEvidence};
use crate::memory::{Memory, View};
use crate::perceive::PerceiveError;
use crate::percept::Embedding;
use crate::time::Timestamp;

/// Bytes before the samples of a pinned WAV file.
const WAV_HEADER: usize = 44;

/// What became of the galleries of other models.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reembedded {
    /// Exemplars that were embedded anew.
    pub exemplars: usize,
    /// Faces and voices that the present models cannot match: nothing of them was kept.
    pub unmatchable: Vec<EntityId>,
}

/// Embeds anew what was learned with other models than those of `perceivers`.
///
/// # Errors
/// When a model cannot be opened, or the commit fails. A picture or sound that cannot be read is left out.
pub fn reembed(memory: &Memory, perceivers: &PerceiverSet) -> Result<Reembedded, AssembleError> {
    let view = memory.view();
    let mut done = Reembedded::default();
    let mut rows = Rows::default();
    let mut pairs: Vec<PairEvidence> = Vec::new();
    let models = [
        (EntityKind::Face, perceivers.face_embedder.as_ref()),
        (EntityKind::Voice, perceivers.speaker_embedder.as_ref()),
    ];
    for (kind, model) in models {
        let Some(model) = model else { continue };
        let parts = parts(&view, kind);
        let stale = stale(&view, &parts, model.hash);
        let mut unmatchable = BTreeSet::new();
        if !stale.is_empty() {
            let mut embed = embedder(perceivers, kind)?;
            for (entity, of_others) in stale {
                if !rows.reembed((memory, &view), entity, &of_others, &mut embed)? {
                    unmatchable.insert(entity);
                }
            }
        }
        // Who was lost and has no vector left either (they were erased by age) is not back.
        let bare = |part: &&EntityId| view.unmatchable(**part) && view.exemplars(**part).is_empty();
        unmatchable.extend(parts.iter().filter(bare));
        pairs.extend(restated(kind, &parts, &unmatchable, &view.evidence()));
        done.unmatchable.extend(unmatchable);
    }
    done.exemplars = rows.fresh.len();
    if !rows.fresh.is_empty() || !rows.gone.is_empty() || !pairs.is_empty() {
        let at = view.newest_time().unwrap_or_else(Timestamp::wall_clock);
        let mut draft = memory.begin(at);
        for exemplar in rows.fresh {
            draft.exemplar(exemplar);
        }
        for (entity, slot) in rows.gone {
            draft.retire_exemplar(entity, slot);
        }
        for pair in pairs {
            draft.evidence(pair);
        }
        draft.commit()?;
    }
    if done.exemplars > 0 {
        tracing::info!(
            exemplars = done.exemplars,
            "Faces and voices were learned anew for other models."
        );
    }
    Ok(done)
}

/// Every face, or every voice.
fn parts(view: &View, kind: EntityKind) -> BTreeSet<EntityId> {
    view.memberships().iter().map(|row| row.part).filter(|part| part.kind == kind).collect()
}

/// Exemplars of another model, by face or voice.
fn stale(
    view: &View,
    parts: &BTreeSet<EntityId>,
    model: ModelHash,
) -> BTreeMap<EntityId, Vec<Arc<Exemplar>>> {
    let mut found = BTreeMap::new();
    for part in parts {
        let mut rows = view.exemplars(*part);
        rows.retain(|row| row.embedding.model != model);
        if !rows.is_empty() {
            found.insert(*part, rows);
        }
    }
    found
}

/// What changes in the galleries.
#[derive(Default)]
struct Rows {
    /// With vectors of the present models.
    fresh: Vec<Exemplar>,
    /// Slots that no present model can fill, of galleries that have others.
    gone: Vec<(EntityId, u32)>,
}

impl Rows {
    /// Learns the exemplars of a gallery that are of another model anew; false where none was, and the gallery has no other.
    fn reembed(
        &mut self,
        (memory, view): (&Memory, &View),
        entity: EntityId,
        of_others: &[Arc<Exemplar>],
        embed: &mut Embed,
    ) -> Result<bool, AssembleError> {
        let (mut learned, mut left) = (Vec::new(), Vec::new());
        for row in of_others {
            let bytes = row.media.as_ref().map(|digest| memory.media(digest)).transpose()?;
            let embedding = bytes.flatten().map_or(Ok(None), |bytes| embed(&bytes));
            let embedding = embedding.unwrap_or_else(|error| {
                tracing::warn!(%entity, %error, "A pinned picture or sound was not embedded anew.");
                None
            });
            match embedding {
                Some(embedding) => learned.push(Exemplar { embedding, ..(**row).clone() }),
                None => left.push((entity, row.slot)),
            }
        }
        let known = !learned.is_empty() || view.exemplars(entity).len() > of_others.len();
        if known {
            self.gone.extend(left); // else all of it stays: the old model may come back
        }
        self.fresh.extend(learned);
        Ok(known)
    }
}

/// A pinned file's bytes to a vector of the present model; `None` where it is too little.
type Embed = Box<dyn FnMut(&[u8]) -> Result<Option<Embedding>, PerceiveError>>;

fn embedder(perceivers: &PerceiverSet, kind: EntityKind) -> Result<Embed, PerceiveError> {
    if kind == EntityKind::Face {
        let mut faces = perceivers.face_analyser(&FacePerception::default())?;
        return Ok(Box::new(move |bytes| {
            let Some(faces) = &mut faces else { return Ok(None) };
            Ok(faces.embed_chip_file(bytes)?)
        }));
    }
    let mut voices = perceivers.speaker_embedder()?;
    Ok(Box::new(move |bytes| {
        let Some(voices) = &mut voices else { return Ok(None) };
        let sound: Vec<f32> = bytes
            .get(WAV_HEADER..)
            .unwrap_or_default()
            .chunks_exact(2)
            .map(|pair| f32::from(i16::from_le_bytes([pair[0], pair[1]])) / 32_767.0)
            .collect();
        let secs = sound.len() as f64 / f64::from(crate::media::SAMPLE_RATE);
        if secs < voices.min_secs() {
            return Ok(None);
        }
        Ok(Some(voices.embed(&sound)?))
    }))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::memory::StoreOptions;
    use crate::memory::model::{Media, MediaKind};

    const OLD: ModelHash = ModelHash([1; 32]);
    const NEW: ModelHash = ModelHash([2; 32]);

    /// A store with a face that has an exemplar per item: of which model, and whether its picture was kept.
    fn face(memory: &Memory, slots: &[(ModelHash, bool)]) -> EntityId {
        let mut draft = memory.begin(Timestamp::EPOCH);
        let entity = draft.new_entity(EntityKind::Face);
        for ((model, kept), slot) in slots.iter().zip(0_u32..) {
            let bytes = vec![entity.number as u8, slot as u8];
            let media = Media::new(MediaKind::FaceChip, true, bytes);
            let digest = media.digest.clone();
            if *kept {
                draft.media(media);
            }
            draft.exemplar(Exemplar {
                entity,
                slot,
                at: Timestamp::EPOCH,
                embedding: Embedding::normalised(vec![1.0, slot as f32], *model),
                quality: 0.8,
                weight: 1.0,
                media: kept.then_some(digest),
            });
        }
        draft.commit().unwrap();
        entity
    }

    #[test]
    fn what_was_kept_of_a_gallery_in_part_is_learned_and_the_rest_retired() {
        let dir = tempfile::tempdir().unwrap();
        let memory = Memory::open(dir.path(), &StoreOptions::default()).unwrap();
        let lost = face(&memory, &[(OLD, false), (OLD, false)]);
        let partly = face(&memory, &[(OLD, false), (OLD, true), (OLD, false)]);
        let mixed = face(&memory, &[(OLD, false), (NEW, false)]);
        let of_new = face(&memory, &[(NEW, false)]);
        let view = memory.view();
        let parts = BTreeSet::from([lost, partly, mixed, of_new]);
        let mut embed: Embed =
            Box::new(|bytes| Ok(Some(Embedding::normalised(vec![0.0, f32::from(bytes[1])], NEW))));
        let (mut rows, mut unmatchable) = (Rows::default(), Vec::new());
        for (entity, of_others) in stale(&view, &parts, NEW) {
            if !rows.reembed((&memory, &view), entity, &of_others, &mut embed).unwrap() {
                unmatchable.push(entity);
            }
        }
        assert_eq!(unmatchable, [lost]);
        let fresh: Vec<_> = rows.fresh.iter().map(|row| (row.entity, row.slot)).collect();
        assert_eq!(fresh, [(partly, 1)]);
        assert_eq!(rows.fresh[0].embedding, Embedding::normalised(vec![0.0, 1.0], NEW));
        assert_eq!(rows.gone, [(partly, 0), (partly, 2), (mixed, 0)]);
    }
}
