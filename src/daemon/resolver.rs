//! The resolver as the store's rows make it.

use super::ingest::PerceiverSet;
use crate::config::Config;
use crate::identify::{MatchThresholds, PendingIdentities, Resolver, identity_rows};
use crate::memory::Memory;
use crate::models::ModelFile;

/// The resolver as the store's rows make it.
#[must_use]
pub fn resolver(
    config: &Config,
    memory: &Memory,
    perceivers: &PerceiverSet,
    undecided: PendingIdentities,
) -> Resolver {
    let faces = perceivers.face_embedder.as_ref();
    let voices = perceivers.speaker_embedder.as_ref();
    Resolver::from_rows(
        &identity_rows(&memory.view()),
        undecided,
        &config.identity,
        thresholds(faces),
        thresholds(voices),
    )
}

/// A model's calibrated thresholds.
fn thresholds(file: Option<&ModelFile>) -> MatchThresholds {
    let calibrated = file.and_then(|file| file.thresholds.as_ref());
    calibrated.map_or(MatchThresholds::UNKNOWN, MatchThresholds::from)
}
