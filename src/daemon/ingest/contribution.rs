//! What the stages contribute to a clip, on its way to whoever commits it.

use super::clip_boundary::ClipBoundary;
use super::commit::said::EndedTurn;
use super::stage::camera_state::CameraState;
use super::stage::microphone_state::MicrophoneState;
use super::work::jobs::Pending;
use super::work::registry::PicturePercepts;
use crate::media::{Pose, ToldWords};
use crate::percept::{KeyFrame, Sound, SoundEvent, SpeechTurn};
use crate::time::{Span, Timestamp};
use crate::window::{ClipClock, FrameSelector};

/// One stage's contribution to one clip.
pub(super) enum Contribution {
    Dispatch(ClipBoundary, Box<DispatchContribution>),
    Camera(usize, ClipBoundary, Box<CameraContribution>),
    Microphone(usize, ClipBoundary, Box<MicrophoneContribution>),
    /// Live: a turn has ended; its clip comes later.
    Ended(Box<EndedTurn>),
}

/// What the dispatcher itself contributes.
#[derive(Clone, Debug, Default)]
pub(super) struct DispatchContribution {
    pub(super) frames: u64,
    pub(super) analysed: u64,
    pub(super) dropped: u64,
    pub(super) poses: Vec<Pose>,
    /// Words in writing.
    pub(super) told: Vec<ToldWords>,
    /// The session's first capture time.
    pub(super) t0: Timestamp,
    /// Where its clips lie.
    pub(super) clock: Option<ClipClock>,
    /// As it stands at the boundary.
    pub(super) selector: Option<FrameSelector>,
}

/// What a camera contributes.
#[derive(Clone, Debug)]
pub(super) struct CameraContribution {
    pub(super) percepts: PicturePercepts,
    pub(super) key_frames: Vec<KeyFrame>,
    pub(super) looked: Vec<Timestamp>,
    pub(super) faces: u64,
    /// When the camera itself moved.
    pub(super) moves: Vec<Span>,
    /// It looked, and nothing moved.
    pub(super) still: bool,
    /// The stage as it stands at the boundary, for the checkpoint.
    pub(super) state: CameraState,
}

impl CameraContribution {
    /// Of a clip whose contribution was lost.
    pub(super) fn nothing(state: CameraState) -> Self {
        let percepts = PicturePercepts::default();
        let (key_frames, looked) = (Vec::new(), Vec::new());
        Self { percepts, key_frames, looked, faces: 0, moves: Vec::new(), still: false, state }
    }
}

/// What a microphone contributes: turns that began before the boundary, in time order.
pub(super) struct MicrophoneContribution {
    pub(super) turns: Vec<FoundTurn>,
    /// Loud sounds that ended before it, and its quiet stretches.
    pub(super) sounds: Vec<Sound>,
    /// Sounds that mean something and ended before it, or were cut there.
    pub(super) sound_events: Vec<SoundEvent>,
    /// The stage as it stands now, for the checkpoint.
    pub(super) state: MicrophoneState,
}

/// A stretch of speech that has ended.
pub(super) struct FoundTurn {
    /// Whose turns it turns out to be.
    pub(super) result: Pending<Vec<SpeechTurn>>,
    /// Questions can see it already.
    pub(super) shown: bool,
}
