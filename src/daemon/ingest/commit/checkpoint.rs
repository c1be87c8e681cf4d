//! The streaming state at a boundary: with it a killed replay goes on into the same memory.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::daemon::ingest::stage::camera_state::CameraState;
use crate::daemon::ingest::stage::microphone_state::MicrophoneState;
use crate::identify::PendingIdentities;
use crate::ids::{ClipId, SourceId, TrackId};
use crate::memory::{PerceptFilter, ResumePoint, View};
use crate::percept::SpeechTurn;
use crate::time::Timestamp;
use crate::window::{ClipClock, FrameSelector};

/// Changes whenever the layout of [`Checkpoint`] changes; an older one is refused.
const VERSION: u32 = 17;

/// A checkpoint that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// Its bytes make no sense.
    #[error("reading the checkpoint of the interrupted replay: {0}; replay with --again")]
    Damaged(#[from] bincode::error::DecodeError),
    /// It could not be written.
    #[error("writing a checkpoint: {0}; this is a fault of engram, please report it")]
    Unwritable(#[from] bincode::error::EncodeError),
    /// It was written by another version of engramd.
    #[error(
        "the replay was interrupted under another version of engramd (checkpoint version {found}, expected {VERSION}); replay with --again"
    )]
    Version {
        /// The version found.
        found: u32,
    },
    /// The recording has other sources now.
    #[error("the interrupted replay had other cameras or microphones; replay with --again")]
    Sources,
}

/// Everything that a session needs to go on after its last committed clip.
#[derive(Serialize, Deserialize)]
pub(in crate::daemon::ingest) struct Checkpoint {
    /// Where the session's clips lie, whatever the configuration says now.
    pub(in crate::daemon::ingest) clock: ClipClock,
    /// The clip that was committed with it.
    pub(in crate::daemon::ingest) index: u32,
    /// Its end: pictures and poses before this are done with.
    pub(in crate::daemon::ingest) boundary: Timestamp,
    pub(in crate::daemon::ingest) selector: FrameSelector,
    pub(in crate::daemon::ingest) cameras: Vec<(SourceId, CameraState)>,
    pub(in crate::daemon::ingest) microphones: Vec<(SourceId, MicrophoneState)>,
    pub(in crate::daemon::ingest) ids: PerceptIds,
    pub(in crate::daemon::ingest) undecided: PendingIdentities,
}

/// Numbers of tracks and turns in the session, and what of a turn lies beyond the boundary.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(in crate::daemon::ingest) struct PerceptIds {
    pub(in crate::daemon::ingest) next_track: u64,
    pub(in crate::daemon::ingest) next_turn: u64,
    /// Tracks that go on: (camera, number within the camera) → id in the session.
    pub(in crate::daemon::ingest) tracks: BTreeMap<(usize, TrackId), TrackId>,
    /// The same of object tracks: their ids come out of the same count.
    pub(in crate::daemon::ingest) objects: BTreeMap<(usize, TrackId), TrackId>,
    /// And of body tracks.
    pub(in crate::daemon::ingest) bodies: BTreeMap<(usize, TrackId), TrackId>,
    /// The same of texts in view.
    pub(in crate::daemon::ingest) texts: BTreeMap<(usize, TrackId), TrackId>,
    /// Per microphone: turns that began before the boundary and end after it.
    pub(in crate::daemon::ingest) carried: Vec<Vec<SpeechTurn>>,
    /// Turns that ended just before the boundary, where there are more microphones that may hear their end after it.
    pub(in crate::daemon::ingest) recent_turns: Vec<SpeechTurn>,
}

impl PerceptIds {
    /// The session's id of a face track: (camera, number within the camera).
    pub(in crate::daemon::ingest) fn face_track(&mut self, track: (usize, TrackId)) -> TrackId {
        numbered(&mut self.tracks, &mut self.next_track, track)
    }

    /// The same of an object track.
    pub(in crate::daemon::ingest) fn object_track(&mut self, track: (usize, TrackId)) -> TrackId {
        numbered(&mut self.objects, &mut self.next_track, track)
    }

    /// The same of a body track.
    pub(in crate::daemon::ingest) fn body_track(&mut self, track: (usize, TrackId)) -> TrackId {
        numbered(&mut self.bodies, &mut self.next_track, track)
    }

    /// The same of a text in view.
    pub(in crate::daemon::ingest) fn text_track(&mut self, track: (usize, TrackId)) -> TrackId {
        numbered(&mut self.texts, &mut self.next_track, track)
    }
}

fn numbered(
    given: &mut BTreeMap<(usize, TrackId), TrackId>,
    next: &mut u64,
    track: (usize, TrackId),
) -> TrackId {
    *given.entry(track).or_insert_with(|| {
        *next += 1;
        TrackId(*next)
    })
}

/// Free numbers left for percepts that were erased: theirs are not given again.
const GAP: u64 = 10_000;

impl Checkpoint {
    /// Where a replay goes on whose streaming state was erased with what it held: in the same session after
    /// its last clip, with nothing under way. So what was erased does not come back.
    pub(in crate::daemon::ingest) fn after_erasing(
        view: &View,
        point: &ResumePoint,
        analyse_fps: f64,
    ) -> Option<Self> {
        let index = point.next_clip.checked_sub(1)?;
        let session = view.session(point.session)?;
        let clock = ClipClock::new(session.start, session.clip_secs);
        let ours = |clip: ClipId| clip.session == point.session;
        let all = PerceptFilter::default();
        let faces = view.tracks(&all).into_iter().map(|row| (row.clip, row.track));
        let objects = view.object_tracks(&all).into_iter().map(|row| (row.clip, row.track));
        let texts = view.text_tracks(&all).into_iter().map(|row| (row.clip, row.track.id));
        let tracks = faces.chain(objects).chain(texts).filter(|(clip, _)| ours(*clip));
        let turns = view.turns(&all).into_iter().filter(|row| ours(row.clip));
        let free = |newest: Option<u64>| (newest.unwrap_or(0) + GAP) / GAP * GAP;
        let ids = PerceptIds {
            next_track: free(tracks.map(|(_, track)| track.0).max()),
            next_turn: free(turns.map(|row| row.turn.0).max()),
            ..PerceptIds::default()
        };
        Some(Self {
            clock,
            index,
            boundary: point.watermark,
            selector: FrameSelector::new(session.start, analyse_fps),
            cameras: Vec::new(),
            microphones: Vec::new(),
            ids,
            undecided: PendingIdentities::default(),
        })
    }

    pub(in crate::daemon::ingest) fn to_bytes(&self) -> Result<Vec<u8>, CheckpointError> {
        let layout = bincode::config::standard();
        let mut bytes = bincode::serde::encode_to_vec(VERSION, layout)?;
        bytes.extend(bincode::serde::encode_to_vec(self, layout)?);
        Ok(bytes)
    }

    pub(in crate::daemon::ingest) fn from_bytes(bytes: &[u8]) -> Result<Self, CheckpointError> {
        let layout = bincode::config::standard();
        let (found, read): (u32, usize) = bincode::serde::decode_from_slice(bytes, layout)?;
        if found != VERSION {
            return Err(CheckpointError::Version { found });
        }
        Ok(bincode::serde::decode_from_slice(&bytes[read..], layout)?.0)
    }
}
