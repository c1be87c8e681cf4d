//! Where decisions go, and what they are rebuilt from: rows, nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::evidence::hear::Asked;
use super::objects::OpenObject;
use crate::ids::{ClipId, EntityId, EntityKind, SessionId, SourceId, TrackId, TurnId};
use crate::media::Pose;
use crate::memory::model::{
    Exemplar, Media, MediaDigest, Membership, Merge, NameRow, ObjectTrackRow, PairEvidence,
    TrackRow, TurnRow,
};
use crate::percept::{FaceSample, FaceTrack, Life};
use crate::time::{Span, Timestamp};

/// A clip's transaction as the resolver sees it. The memory's draft implements it.
pub trait Ledger {
    /// A fresh id of that kind.
    fn mint(&mut self, kind: EntityKind) -> EntityId;
    /// A track of the clip at hand.
    fn track(&mut self, row: TrackRow);
    /// An object track of the clip at hand.
    fn object_track(&mut self, row: ObjectTrackRow);
    /// A turn of the clip at hand.
    fn turn(&mut self, row: TurnRow);
    /// A track of an earlier clip is given its face.
    fn late_track(&mut self, clip: ClipId, track: TrackId, face: EntityId, confidence: f32);
    /// A turn of an earlier clip is given its voice.
    fn late_turn(&mut self, clip: ClipId, turn: TurnId, voice: EntityId, confidence: f32);
    /// A gallery's slot; a new version replaces the old one.
    fn exemplar(&mut self, row: Exemplar);
    /// A gallery's slot is empty from now on.
    fn retire_exemplar(&mut self, entity: EntityId, slot: u32);
    /// Evidence about a pair; a new version replaces the old one.
    fn pair(&mut self, row: PairEvidence);
    /// A face or voice belongs to a person; a new version replaces the old one.
    fn membership(&mut self, row: Membership);
    /// An entity was found to be another.
    fn merge(&mut self, row: Merge);
    /// The merge of `from` is taken back.
    fn undo_merge(&mut self, from: EntityId);
    /// A name.
    fn name(&mut self, row: NameRow);
    /// A file to keep.
    fn media(&mut self, media: Media);
}

/// The identity rows of a store that are valid now: what a resolver is rebuilt from.
#[derive(Clone, Debug, Default)]
pub struct IdentityRows {
    /// Every gallery's slots, shared with the store's tables.
    pub exemplars: Vec<Arc<Exemplar>>,
    /// Signed evidence.
    pub pairs: Vec<PairEvidence>,
    /// Whose face, whose voice.
    pub memberships: Vec<Membership>,
    /// Merges that hold.
    pub merges: Vec<Merge>,
    /// Names.
    pub names: Vec<NameRow>,
    /// Whose voice said those that were heard, by turn.
    pub speakers: BTreeMap<(SessionId, TurnId), EntityId>,
    /// The newest track of every object, with the robot's pose then.
    pub objects: Vec<(ObjectTrackRow, Option<Pose>)>,
    /// The robot's newest pose.
    pub pose: Option<Pose>,
}

/// What is not decided yet and what the next clip needs of this one: stored with the checkpoint.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Undecided {
    /// Face tracks without a face.
    pub(super) tracks: Vec<OpenTrack>,
    /// Turns without a voice.
    pub(super) turns: Vec<OpenTurn>,
    /// Faces of the tracks of this and the last clip.
    pub(super) faces: Vec<(ClipId, TrackId, EntityId)>,
    /// What cameras showed in the last half minute: turns reach back over the border of a clip.
    pub(super) looks: Vec<Look>,
    /// Object tracks of the session that may go on.
    pub(super) objects: Vec<OpenObject>,
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
pub(super) struct OpenTrack {
    pub clips: Vec<ClipId>,
    pub track: TrackId,
    pub source: SourceId,
    pub span: Span,
    pub samples: Vec<FaceSample>,
    /// Open tracks that were visible beside it.
    pub beside: Vec<TrackId>,
    /// Faces that were visible beside it.
    pub barred: Vec<EntityId>,
    /// Whether it has moved yet, where pictures are told.
    pub life: Life,
}

/// Samples of an open track that are kept at most: those of the best quality, as the tracker keeps them of one clip.
const MOST_SAMPLES: usize = 32;
/// Clips of an open track that are kept at most: as many as pass until it is decided for good, and some.
const MOST_CLIPS: usize = 64;

impl OpenTrack {
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
pub(super) struct OpenTurn {
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

/// Pinned media for exemplars.
pub(super) mod pinned {
    use super::{Arc, Media, MediaDigest};
    use crate::memory::model::MediaKind;
    use sha2::{Digest as _, Sha256};

    /// A file under its SHA-256.
    pub(crate) fn file(kind: MediaKind, bytes: Arc<[u8]>, pinned: bool) -> Media {
        let digest = MediaDigest(hex::encode(Sha256::digest(&bytes)).into());
        Media { digest, kind, pinned, bytes }
    }
}
