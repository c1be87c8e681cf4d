//! A writer in memory, for tests: keeps rows as the store would and gives them back.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::matching::thresholds::MatchThresholds;
use super::writer::{IdentityRows, IdentityWriter};
use crate::ids::{ClipId, EntityId, EntityKind, SessionId, TrackId, TurnId};
use crate::media::Pose;
use crate::memory::model::{
    Exemplar, Media, Membership, Merge, NameRow, ObjectTrackRow, PairEvidence, TrackRow, TurnRow,
};
use crate::models::Thresholds;

/// The thresholds that run: those of the calibration files.
#[allow(clippy::expect_used)]
pub(crate) fn calibrated(model: &str) -> MatchThresholds {
    let file = Thresholds::built_in(model).expect("the file is well formed");
    MatchThresholds::from(&file.expect("the model is calibrated"))
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TestWriter {
    pub counters: BTreeMap<EntityKind, u32>,
    pub tracks: BTreeMap<(ClipId, TrackId), TrackRow>,
    pub objects: BTreeMap<(ClipId, TrackId), ObjectTrackRow>,
    pub turns: BTreeMap<(SessionId, TurnId), TurnRow>,
    pub exemplars: BTreeMap<(EntityId, u32), Exemplar>,
    pub pairs: BTreeMap<(EntityId, EntityId), PairEvidence>,
    pub memberships: BTreeMap<EntityId, Membership>,
    pub merges: BTreeMap<EntityId, Merge>,
    pub names: Vec<NameRow>,
}

impl TestWriter {
    fn newest_objects(&self) -> Vec<(ObjectTrackRow, Option<Pose>)> {
        let mut newest: BTreeMap<EntityId, &ObjectTrackRow> = BTreeMap::new();
        for row in self.objects.values() {
            let Some(object) = row.object else { continue };
            let last = newest.entry(object).or_insert(row);
            if last.span.end < row.span.end {
                *last = row;
            }
        }
        newest.into_values().map(|row| (row.clone(), None)).collect()
    }

    fn speakers(&self) -> BTreeMap<(SessionId, TurnId), EntityId> {
        let voice = |row: &NameRow| Some((row.turn?, self.turns.get(&row.turn?)?.voice?));
        self.names.iter().filter_map(voice).collect()
    }

    pub fn rows(&self) -> IdentityRows {
        IdentityRows {
            exemplars: self.exemplars.values().cloned().map(Arc::new).collect(),
            pairs: self.pairs.values().copied().collect(),
            memberships: self.memberships.values().cloned().collect(),
            merges: self.merges.values().cloned().collect(),
            names: self.names.clone(),
            speakers: self.speakers(),
            objects: self.newest_objects(),
            pose: None,
        }
    }
}

impl IdentityWriter for TestWriter {
    fn mint(&mut self, kind: EntityKind) -> EntityId {
        let number = self.counters.entry(kind).or_default();
        *number += 1;
        EntityId::new(kind, *number)
    }
    fn track(&mut self, row: TrackRow) {
        self.tracks.insert((row.clip, row.track), row);
    }
    fn object_track(&mut self, row: ObjectTrackRow) {
        self.objects.insert((row.clip, row.track), row);
    }
    fn turn(&mut self, row: TurnRow) {
        self.turns.insert((row.clip.session, row.turn), row);
    }
    fn late_track(&mut self, clip: ClipId, track: TrackId, face: EntityId, confidence: f32) {
        if let Some(row) = self.tracks.get_mut(&(clip, track)) {
            (row.face, row.confidence) = (Some(face), confidence);
        }
    }
    fn late_turn(&mut self, clip: ClipId, turn: TurnId, voice: EntityId, confidence: f32) {
        if let Some(row) = self.turns.get_mut(&(clip.session, turn)) {
            (row.voice, row.confidence) = (Some(voice), confidence);
        }
    }
    fn exemplar(&mut self, row: Exemplar) {
        self.exemplars.insert((row.entity, row.slot), row);
    }
    fn retire_exemplar(&mut self, entity: EntityId, slot: u32) {
        self.exemplars.remove(&(entity, slot));
    }
    fn pair(&mut self, row: PairEvidence) {
        self.pairs.insert((row.face, row.voice), row);
    }
    fn membership(&mut self, row: Membership) {
        self.memberships.insert(row.part, row);
    }
    fn merge(&mut self, row: Merge) {
        self.merges.insert(row.from, row);
    }
    fn undo_merge(&mut self, from: EntityId) {
        self.merges.remove(&from);
    }
    fn name(&mut self, row: NameRow) {
        self.names.retain(|known| (known.entity, &known.name) != (row.entity, &row.name));
        self.names.push(row);
    }
    fn media(&mut self, _media: Media) {}
}
