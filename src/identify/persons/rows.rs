//! Between the resolver and the memory: drafts take its decisions, views give them back.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Persons;
use crate::identify::objects::POSE_HOLDS_SECS;
use crate::identify::writer::{IdentityRows, IdentityWriter};
use crate::ids::{ClipId, EntityId, EntityKind, TrackId, TurnId};
use crate::memory::model::{
    Exemplar, Media, Membership, Merge, NameRow, NameSource, ObjectTrackRow, PairEvidence,
    TrackRow, TurnRow,
};
use crate::memory::{Draft, View};
use crate::time::{Span, Timestamp};

/// The book of persons as a view shows it.
#[must_use]
pub fn who_is_who(view: &View) -> Persons {
    Persons::from_rows(&rows_of_persons(view, &view.entities()))
}

/// Who is one with whom, and called what.
fn rows_of_persons(view: &View, entities: &[EntityId]) -> IdentityRows {
    // Each of several that are one has the names of all.
    let mut gathered = BTreeSet::new();
    let names: Vec<NameRow> = entities
        .iter()
        .flat_map(|id| view.names(*id))
        .filter(|row| entities.binary_search(&row.entity).is_ok())
        .filter(|row| gathered.insert(Arc::clone(row)))
        .map(|row| (*row).clone())
        .collect();
    let said = names.iter().filter(|row| row.source == NameSource::Said);
    let speaker = |row: &NameRow| {
        let (session, turn) = row.turn?;
        Some(((session, turn), view.turn(session, turn)?.voice?))
    };
    IdentityRows {
        memberships: view.memberships().iter().map(|row| (**row).clone()).collect(),
        merges: view.merges().iter().map(|row| (**row).clone()).collect(),
        speakers: said.filter_map(speaker).collect(),
        names,
        ..IdentityRows::default()
    }
}

/// The identity rows that a view shows.
#[must_use]
pub fn identity_rows(view: &View) -> IdentityRows {
    let entities = view.entities();
    IdentityRows {
        exemplars: entities
            .iter()
            .filter(|id| matches!(id.kind, EntityKind::Face | EntityKind::Voice))
            .flat_map(|id| view.exemplars(*id))
            .collect(),
        pairs: view.evidence(),
        objects: view
            .objects()
            .iter()
            .map(|row| {
                let around =
                    Span::new(row.span.end.plus_secs(-POSE_HOLDS_SECS), just_after(row.span.end));
                let poses = view.poses(around);
                let then = poses
                    .iter()
                    .filter(|row| row.pose.x.is_finite())
                    .max_by_key(|row| row.pose.stamp);
                ((**row).clone(), then.map(|row| row.pose.clone()))
            })
            .collect(),
        pose: view.newest_time().and_then(|now| {
            let lately = Span::new(now.plus_secs(-POSE_HOLDS_SECS), just_after(now));
            let poses = view.poses(lately);
            poses.iter().max_by_key(|row| row.pose.stamp).map(|row| row.pose.clone())
        }),
        ..rows_of_persons(view, &entities)
    }
}

impl IdentityWriter for Draft {
    fn mint(&mut self, kind: EntityKind) -> EntityId {
        self.new_entity(kind)
    }

    fn track(&mut self, row: TrackRow) {
        Self::track(self, row);
    }

    fn object_track(&mut self, row: ObjectTrackRow) {
        Self::object_track(self, row);
    }

    fn turn(&mut self, row: TurnRow) {
        Self::turn(self, row);
    }

    fn late_track(&mut self, clip: ClipId, track: TrackId, face: EntityId, confidence: f32) {
        report(self.assign_track(clip, track, Some(face), confidence));
    }

    fn late_turn(&mut self, clip: ClipId, turn: TurnId, voice: EntityId, confidence: f32) {
        report(self.assign_turn(clip.session, turn, Some(voice), confidence));
    }

    fn exemplar(&mut self, row: Exemplar) {
        Self::exemplar(self, row);
    }

    fn retire_exemplar(&mut self, entity: EntityId, slot: u32) {
        Self::retire_exemplar(self, entity, slot);
    }

    fn pair(&mut self, row: PairEvidence) {
        self.evidence(row);
    }

    fn membership(&mut self, row: Membership) {
        Self::membership(self, row);
    }

    fn merge(&mut self, row: Merge) {
        report(Self::merge(self, row));
    }

    fn undo_merge(&mut self, from: EntityId) {
        Self::undo_merge(self, from);
    }

    fn name(&mut self, row: NameRow) {
        Self::name(self, row);
    }

    fn media(&mut self, media: Media) {
        Self::media(self, media);
    }
}

/// The next nanosecond: spans leave out their end.
fn just_after(at: Timestamp) -> Timestamp {
    Timestamp::from_nanos(at.as_nanos().saturating_add(1))
}

/// A decision about a row that was erased meanwhile is void.
fn report(result: Result<(), crate::memory::MemoryError>) {
    if let Err(error) = result {
        tracing::warn!(%error, "A decision about identity was not kept.");
    }
}
