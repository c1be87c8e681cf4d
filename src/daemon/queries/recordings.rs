//! Recordings that may be played, which of them are remembered, and what is played.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::means::{Means, Played};
use crate::daemon::recordings::{Listed, recordings as listed_in};
use crate::ids::SessionId;
use crate::memory::View;
use crate::mqtt::Refusal;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordingsArgs {}

/// The reply to `recordings`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Recordings {
    /// Whether this daemon plays recordings.
    pub plays: bool,
    /// Whether there is a folder to choose from.
    pub folder: bool,
    /// What lies in it, by name.
    pub recordings: Vec<Known>,
    /// What is played now.
    pub playing: Option<Played>,
}

/// A recording of the folder.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Known {
    #[serde(flatten)]
    listed: Listed,
    /// Sessions that remember a recording of that name.
    pub sessions: Vec<SessionId>,
}

/// Costs a look into the folder, and one at every session.
pub(super) fn recordings(
    view: &View,
    means: &Means<'_>,
    _args: &RecordingsArgs,
) -> Result<Recordings, Refusal> {
    let mut remembered: BTreeMap<String, Vec<SessionId>> = BTreeMap::new();
    for session in view.sessions() {
        if let Some(recording) = &session.recording {
            remembered.entry(recording.path.clone()).or_default().push(session.id);
        }
    }
    let listed = match means.folder {
        Some(folder) => listed_in(folder).map_err(|error| {
            Refusal::unavailable(format!("the folder of recordings cannot be read: {error}"))
        })?,
        None => Vec::new(),
    };
    let known = |listed: Listed| {
        let sessions = remembered.get(&listed.name).cloned().unwrap_or_default();
        Known { listed, sessions }
    };
    let playing = means.playing.cloned();
    Ok(Recordings {
        plays: means.plays,
        folder: means.folder.is_some(),
        recordings: listed.into_iter().map(known).collect(),
        playing,
    })
}
