//! Another face or voice model: people are not lost, their pinned pictures and sounds are embedded anew.
//!
//! Runs when a session is put together, in one commit, and only when a gallery is of another model than the
//! one that runs. Who has no picture or sound left stays, is marked as unmatchable, and is met again by other evidence
//! ([`crate::identify::unmatchable`]).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::assemble::AssembleError;
use super::ingest::PerceiverSet;
use crate::config::sections::FacePerception;
use crate::identify::unmatchable::restated;
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
pub struct Relearned {
    /// Exemplars that were embedded anew.
    pub exemplars: usize,
    /// Faces and voices that the present models cannot match: nothing of them was kept.
    pub unmatchable: Vec<EntityId>,
}

/// Embeds anew what was learned with other models than those of `perceivers`.
///
/// # Errors
/// When a model cannot be opened, or the commit fails. A picture or sound that cannot be read is left out.
pub fn relearn(memory: &Memory, perceivers: &PerceiverSet) -> Result<Relearned, AssembleError> {
    let view = memory.view();
    let mut done = Relearned::default();
    let mut fresh: Vec<Exemplar> = Vec::new();
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
        let mut embed = (!stale.is_empty()).then(|| embedder(perceivers, kind)).transpose()?;
        for (entity, rows) in stale {
            let Some(embed) = &mut embed else { break };
            let mut learned = 0;
            for row in &rows {
                let bytes = row.media.as_ref().map(|digest| memory.media(digest)).transpose()?;
                let Some(bytes) = bytes.flatten() else { continue };
                match embed(&bytes) {
                    Ok(Some(embedding)) => {
                        learned += 1;
                        fresh.push(Exemplar { embedding, ..(**row).clone() });
                    }
                    Ok(None) => {}
                    Err(error) => {
                        tracing::warn!(%entity, %error, "A pinned picture or sound was not embedded anew.");
                    }
                }
            }
            let known = view.exemplars(entity).iter().any(|e| e.embedding.model == model.hash);
            if learned == 0 && !known {
                unmatchable.insert(entity);
            }
        }
        // Who was lost and has no vector left either (they were erased by age) is not back.
        let bare = |part: &&EntityId| view.unmatchable(**part) && view.exemplars(**part).is_empty();
        unmatchable.extend(parts.iter().filter(bare));
        pairs.extend(restated(kind, &parts, &unmatchable, &view.evidence()));
        done.unmatchable.extend(unmatchable);
    }
    done.exemplars = fresh.len();
    if !fresh.is_empty() || !pairs.is_empty() {
        let at = view.newest_time().unwrap_or_else(Timestamp::wall_clock);
        let mut draft = memory.begin(at);
        for exemplar in fresh {
            draft.exemplar(exemplar);
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
