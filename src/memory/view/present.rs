//! The open window's percepts: volatile, swapped for the clip's rows when it is sealed.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwap;
use serde::Serialize;

use crate::ids::{EntityId, SourceId, TrackId, TurnId};
use crate::memory::model::MemoryRow;
use crate::percept::Embedding;
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
    /// Which of those who look like nobody; `None`: it looks like somebody.
    #[serde(skip)]
    pub stranger: Option<Stranger>,
}

/// Somebody of the open window who looks like nobody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stranger {
    /// Under which number, as long as nobody is known to be it; counted from 1 by each run of the daemon.
    pub number: u32,
    /// Whether a face was seen that is surely no other stranger's: else two numbers may be one person.
    pub told_apart: bool,
}

/// An utterance before its clip is sealed: under the id that its row will have then. It belongs to no clip yet, and rests on
/// nothing that is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct PresentMemory {
    /// The row to be; who spoke is a guess.
    pub row: MemoryRow,
    /// The vector of its sentence, where there is an embedder.
    pub vector: Option<Embedding>,
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
    /// What recall finds of it until its clip is sealed; `None` until the words of the ended turn are there, and for what is
    /// nobody's.
    #[serde(skip)]
    pub memory: Option<Arc<PresentMemory>>,
}

/// A body of the open window that has fallen.
#[derive(Clone, Debug, PartialEq)]
pub struct PresentFall {
    /// Which camera.
    pub source: SourceId,
    /// When it was upright last.
    pub at: Timestamp,
    /// Whose face was on it last: `face_N`.
    pub provisional: Option<EntityId>,
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
    /// Bodies that fell, and lie.
    #[serde(skip)]
    pub falls: Vec<PresentFall>,
}

/// An analysed frame of the open window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PresentFrame {
    /// Which camera.
    pub source: SourceId,
    /// When it was taken.
    pub at: Timestamp,
    /// The picture.
    pub jpeg: Arc<[u8]>,
}

/// How far back the frames reach, seconds.
const WINDOW_SECS: f64 = 30.0;
/// Frames before a camera's newest are kept at this distance, seconds.
const APART_SECS: f64 = 10.0;

/// The slots in which the newest state and the newest frames are found.
#[derive(Debug, Default)]
pub struct Present {
    state: ArcSwap<PresentState>,
    /// Held by whoever changes the state.
    changing: Mutex<()>,
    /// In time order; of each camera its newest, and a few that are spread over the window.
    frames: Mutex<Vec<PresentFrame>>,
}

impl Present {
    /// The newest state.
    #[must_use]
    pub fn now(&self) -> Arc<PresentState> {
        self.state.load_full()
    }

    /// Replaces it.
    pub fn set(&self, state: PresentState) {
        self.change(|now| *now = state);
    }

    /// Changes it; whoever else does waits meanwhile, readers do not.
    pub fn change(&self, change: impl FnOnce(&mut PresentState)) {
        let _alone = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut state = PresentState::clone(&self.state.load());
        change(&mut state);
        self.state.store(Arc::new(state));
    }

    /// The open window's frames in time order: each camera's newest, and those spread over the last 30 s.
    #[must_use]
    pub fn frames(&self) -> Vec<PresentFrame> {
        self.lock().clone()
    }

    /// A camera's newest frame; `None`: it shows nothing just now.
    #[must_use]
    pub fn newest(&self, source: &SourceId) -> Option<PresentFrame> {
        self.lock().iter().rev().find(|frame| frame.source == *source).cloned()
    }

    /// Puts a camera's newest frame. The one before it stays where none is near it.
    pub fn show(&self, frame: PresentFrame) {
        let mut frames = self.lock();
        let oldest = frame.at.plus_secs(-WINDOW_SECS);
        frames.retain(|one| one.at >= oldest);
        let own: Vec<Timestamp> =
            frames.iter().filter(|one| one.source == frame.source).map(|one| one.at).collect();
        if let [.., before, newest] = own[..]
            && newest.secs_since(before) < APART_SECS
        {
            frames.retain(|one| one.source != frame.source || one.at != newest);
        }
        let place = frames.partition_point(|one| one.at <= frame.at);
        frames.insert(place, frame);
    }

    /// Lets go of all frames: nothing goes on any more, or something in them was erased.
    pub fn forget_frames(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, Vec<PresentFrame>> {
        self.frames.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_few_and_reach_over_the_window() {
        let present = Present::default();
        let show = |camera: &str, secs: f64| {
            let at = Timestamp::EPOCH.plus_secs(secs);
            present.show(PresentFrame { source: SourceId::new(camera), at, jpeg: Arc::from([0]) });
        };
        let seen = |camera: &str| -> Vec<f64> {
            let frames = present.frames();
            assert!(frames.windows(2).all(|pair| pair[0].at <= pair[1].at));
            let own = frames.iter().filter(|frame| frame.source == SourceId::new(camera));
            own.map(|frame| frame.at.secs_since(Timestamp::EPOCH)).collect()
        };
        for tenth in 0..1000 {
            show("front", f64::from(tenth) / 10.0);
            if tenth < 500 {
                show("back", f64::from(tenth) / 10.0);
            }
        }
        // A camera that fell silent is in the window no more.
        assert_eq!(seen("back"), [0.0; 0]);
        let front = seen("front");
        assert!((3..=5).contains(&front.len()), "{front:?}");
        assert_eq!(front.last(), Some(&99.9));
        assert!(front[0] < 85.0, "{front:?}");
        present.forget_frames();
        assert_eq!(present.frames(), []);
    }
}
