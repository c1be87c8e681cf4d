//! Percepts that nobody was recognised in yet, and what else the next clip needs of those before it.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::bodies::PendingBody;
use crate::ids::{ClipId, EntityId, SessionId, SourceId, TrackId, TurnId};
use crate::memory::model::MediaDigest;
use crate::percept::{FaceSample, FaceTrack, Liveness};
use crate::time::{Span, Timestamp};

/// What is not decided yet and what the next clip needs of this one: stored with the checkpoint.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PendingIdentities {
    /// Face tracks without a face.
    pub(super) tracks: Vec<PendingTrack>,
    /// Turns without a voice.
    pub(super) turns: Vec<PendingTurn>,
    /// Faces of the tracks of this and the last clip.
    pub(super) faces: Vec<(ClipId, TrackId, EntityId)>,
    /// What cameras showed in the last half minute: turns reach back over the border of a clip.
    pub(super) looks: Vec<Look>,
    /// Object tracks of the session that may go on.
    pub(super) objects: Vec<PendingObject>,
    /// Bodies of the session that may go on, or of whom it is open whose they are.
    pub(super) bodies: Vec<PendingBody>,
    /// A mouth was seen to speak in this session: sound and pictures are in step, so silent mouths tell something.
    pub(super) in_step: bool,
    /// Somebody was asked for a name, and has not replied.
    pub(super) asked: Option<Asked>,
    /// Faces and voices of which something changed since it was looked at who is one with whom.
    pub(super) touched: BTreeSet<EntityId>,
    /// Faces and voices that were surely met lately, with the percepts' ends.
    pub(super) met: Vec<(Timestamp, EntityId)>,
}

/// A camera's analysed frame: which tracks were visible.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Look {
    pub at: Timestamp,
    pub source: SourceId,
    pub tracks: Vec<TrackId>,
}

/// A track, or the parts of one over several clips, that no face was given to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct PendingTrack {
    pub clips: Vec<ClipId>,
    pub track: TrackId,
    pub source: SourceId,
    pub span: Span,
    pub samples: Vec<FaceSample>,
    /// Open tracks that were visible beside it.
    pub beside: Vec<TrackId>,
    /// Faces that were visible beside it.
    pub cannot_link: Vec<EntityId>,
    /// Whether it has moved yet, where pictures are told.
    pub life: Liveness,
}

/// Samples of an open track that are kept at most: those of the best quality, as the tracker keeps them of one clip.
const MOST_SAMPLES: usize = 32;

/// Clips of an open track that are kept at most: as many as pass until it is decided for good, and some.
const MOST_CLIPS: usize = 64;

impl PendingTrack {
    /// It goes on in another clip. What is kept of it does not grow with how long it goes on: its best samples stay, and the
    /// newest clips.
    pub(super) fn go_on(&mut self, clip: ClipId, track: &FaceTrack) {
        self.clips.push(clip);
        let surplus = self.clips.len().saturating_sub(MOST_CLIPS);
        self.clips.drain(..surplus);
        self.span.end = track.span.end;
        self.life = track.life;
        self.samples.extend(track.samples.iter().cloned());
        while self.samples.len() > MOST_SAMPLES {
            let poorest = self
                .samples
                .iter()
                .enumerate()
                .min_by(|(_, a), (_, b)| a.quality.total_cmp(&b.quality).then(a.at.cmp(&b.at)));
            let Some(poorest) = poorest.map(|(index, _)| index) else { break };
            self.samples.remove(poorest);
        }
    }
}

/// A turn that no voice was given to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct PendingTurn {
    pub clip: ClipId,
    pub turn: TurnId,
    pub source: SourceId,
    pub span: Span,
    pub speech_secs: f64,
    pub embedding: crate::percept::Embedding,
    pub overlapped: bool,
    /// See [`crate::percept::SpeechTurn::distinct`].
    pub distinct: Option<u8>,
    /// Seconds of speech by the set of tracks that were visible during them.
    pub seen: Vec<(f64, Vec<TrackId>)>,
    /// Mouths that were scored against it: mean log odds by track.
    pub mouths: Vec<(TrackId, f32)>,
    /// The first seconds of its sound, for the gallery.
    pub sound: Option<MediaDigest>,
}

/// A track of the session that may go on in a later clip, with its object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct PendingObject {
    pub(super) session: SessionId,
    pub(super) track: TrackId,
    pub(super) object: EntityId,
    pub(super) last: Timestamp,
}

/// That somebody was asked for a name.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Asked {
    /// When the question ended.
    pub(super) at: Timestamp,
    /// By whose voice, where that is known.
    pub(super) by: Option<EntityId>,
}
