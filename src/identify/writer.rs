//! Where decisions go, and what they are rebuilt from: rows, nothing else.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::ids::{ClipId, EntityId, EntityKind, SessionId, TrackId, TurnId};
use crate::media::Pose;
use crate::memory::model::{
    Exemplar, Media, MediaDigest, Membership, Merge, NameRow, ObjectTrackRow, PairEvidence,
    TrackRow, TurnRow,
};

/// A clip's transaction as the resolver sees it. The memory's draft implements it.
pub trait IdentityWriter {
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
