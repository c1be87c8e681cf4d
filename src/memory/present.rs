//! The open window's percepts: volatile, swapped for the clip's rows when it is sealed.

use std::sync::Arc;

use arc_swap::ArcSwap;
use serde::Serialize;

use crate::ids::{EntityId, SourceId, TrackId, TurnId};
use crate::time::Timestamp;

/// A face that is followed just now.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PresentTrack {
    /// Its handle.
    pub handle: TrackId,
    /// Which camera.
    pub source: SourceId,
    /// First seen.
    pub since: Timestamp,
    /// Last seen.
    pub last: Timestamp,
    /// Whom it looks like so far: `face_N`.
    pub provisional: Option<EntityId>,
    /// Cosine with that face's gallery.
    pub similarity: Option<f32>,
}

/// A turn that is being spoken or not sealed yet.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PresentTurn {
    /// Its handle.
    pub handle: TurnId,
    /// Which microphone.
    pub source: SourceId,
    /// First speech.
    pub start: Timestamp,
    /// Last speech; `None` while it goes on.
    pub end: Option<Timestamp>,
    /// What was said, as far as known.
    pub words: Option<String>,
    /// Whom it sounds like so far: `voice_N`.
    pub provisional: Option<EntityId>,
    /// Cosine with that voice's gallery.
    pub similarity: Option<f32>,
}

/// What goes on.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PresentState {
    /// The watermark it shows; `None` before anything was seen or heard.
    pub updated: Option<Timestamp>,
    /// Faces in view, by handle.
    pub tracks: Vec<PresentTrack>,
    /// Turns of the open window, by handle.
    pub turns: Vec<PresentTurn>,
}

/// The slot in which the newest state is found.
#[derive(Debug, Default)]
pub struct Present(ArcSwap<PresentState>);

impl Present {
    /// The newest state.
    #[must_use]
    pub fn now(&self) -> Arc<PresentState> {
        self.0.load_full()
    }

    /// Replaces it.
    pub fn set(&self, state: PresentState) {
        self.0.store(Arc::new(state));
    }
}
