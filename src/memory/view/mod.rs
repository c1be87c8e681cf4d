//! The memory as one reader sees it: fixed at a commit or a record time.

pub(super) mod documents;
pub(super) mod facets;
pub(super) mod filter;
pub(super) mod grid;
pub(super) mod lesson;
pub(super) mod objects;
pub(super) mod people;
pub(super) mod places;
pub(super) mod presence;
pub(super) mod present;
pub(super) mod profile;
pub(super) mod relations;
pub(super) mod search;
pub(super) mod seconds;
pub(super) mod sources;
pub(super) mod texts;
pub(super) mod told;
pub(super) mod visits;

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

use crate::ids::{
    ClipId, EntityId, EntityKind, MemoryId, ModelHash, Seq, SessionId, TrackId, TurnId,
};
use crate::percept::Embedding;
use crate::time::{Span, Timestamp};

use self::filter::{Filter, Order, PerceptFilter};
use self::present::{PresentMemory, PresentState};
use super::model::{
    ActionRow, CameraMoveRow, Clip, Decision, Exemplar, MediaDigest, MediaRow, MemoryRow,
    PairEvidence, PoseRow, Retirement, Session, SoundEventRow, SoundRow, TrackRow, TurnRow,
};
use super::tables::Tables;
use super::vectors::likeness;
use super::versions::links::hull;
use super::versions::temporal::{Horizon, Table, Temporal, Version};

/// What was known at one moment. Cheap to clone; never changes, whatever is committed meanwhile.
#[derive(Clone)]
pub struct View {
    pub(super) tables: Arc<Tables>,
    pub(super) horizon: Horizon,
    /// What was said in the open window, where that is wanted; none of it is committed. A handful: all are looked at.
    pub(super) said: Arc<[Arc<PresentMemory>]>,
}

impl std::fmt::Debug for View {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("View").field("seq", &self.seq()).finish_non_exhaustive()
    }
}

pub(super) fn rows<R>(versions: Vec<Version<R>>) -> Vec<Arc<R>> {
    versions.into_iter().map(|version| version.row).collect()
}

impl View {
    pub(super) fn new(tables: Arc<Tables>, horizon: Horizon) -> Self {
        Self { tables, horizon, said: Arc::default() }
    }

    /// The same with what was said in the open window, but for what this view holds sealed.
    #[must_use]
    pub fn with_present(mut self, present: &PresentState) -> Self {
        let said = present.turns.iter().filter_map(|turn| turn.memory.clone());
        self.said = said.filter(|one| self.memory(one.row.id).is_none()).collect();
        self
    }

    /// What was said in the open window, under that id.
    #[must_use]
    pub fn said_now(&self, id: MemoryId) -> Option<&Arc<PresentMemory>> {
        self.said.iter().find(|one| one.row.id == id)
    }

    /// The newest commit that it may show.
    #[must_use]
    pub fn seq(&self) -> Seq {
        self.horizon.newest()
    }

    /// The watermark: end of the newest clip, else the newest record time; `None` in an empty memory.
    #[must_use]
    pub fn newest_time(&self) -> Option<Timestamp> {
        if let Horizon::Prefix(seq) = self.horizon {
            let commit = self.tables.commit_at(seq)?;
            return commit.watermark().or(Some(commit.recorded));
        }
        let clips = self.tables.clips.all(&self.horizon);
        clips.iter().map(|clip| clip.row.span.end).max().or_else(|| {
            let commits = self.tables.commits.load();
            let known = commits.iter().filter(|commit| self.horizon.knows(commit.seq.0));
            known.map(|commit| commit.recorded).max()
        })
    }

    /// All sessions, by id.
    #[must_use]
    pub fn sessions(&self) -> Vec<Arc<Session>> {
        let mut found = rows(self.tables.sessions.all(&self.horizon));
        found.sort_by_key(|session| session.id);
        found
    }

    /// One session.
    #[must_use]
    pub fn session(&self, id: SessionId) -> Option<Arc<Session>> {
        self.current(&self.tables.sessions, &id)
    }

    /// All clips, or those of a session, by id.
    #[must_use]
    pub fn clips(&self, session: Option<SessionId>) -> Vec<Arc<Clip>> {
        let mut found = rows(self.tables.clips.all(&self.horizon));
        found.retain(|clip| session.is_none_or(|session| clip.id.session == session));
        found.sort_by_key(|clip| clip.id);
        found
    }

    /// Clips whose span touches that one, borders included, by id. Costs what is around the span.
    #[must_use]
    pub fn clips_touching(&self, span: Span) -> Vec<Arc<Clip>> {
        let mut found = rows(self.tables.clips.touching(span, &self.horizon));
        found.sort_by_key(|clip| clip.id);
        found
    }

    /// From the first to the last recorded instant; `None` where nothing was.
    #[must_use]
    pub fn recorded_extent(&self) -> Option<Span> {
        let (first, last) = (self.first_clip(None, |_| true)?, self.last_clip(None, |_| true)?);
        Some(Span::new(first.span.start, last.span.end))
    }

    /// The clip that begins first of those wanted, which touch `within`, borders included. Costs what is around it, and what
    /// inside `within` is not wanted.
    #[must_use]
    pub fn first_clip(
        &self,
        within: Option<Span>,
        wanted: impl Fn(&Clip) -> bool,
    ) -> Option<Arc<Clip>> {
        let rank = |span: Span| Reverse(span.start);
        let first = self.tables.clips.first(within, wanted, rank, &self.horizon);
        first.map(|version| version.row)
    }

    /// The same of the one that ends last.
    #[must_use]
    pub fn last_clip(
        &self,
        within: Option<Span>,
        wanted: impl Fn(&Clip) -> bool,
    ) -> Option<Arc<Clip>> {
        let last = self.tables.clips.first(within, wanted, |span| span.end, &self.horizon);
        last.map(|version| version.row)
    }

    /// From when to when face tracks lie, of somebody or of anybody: no less than what the view shows. Reads no row.
    #[must_use]
    pub fn seen_extent(&self, who: Option<EntityId>) -> Option<Span> {
        self.extent(&self.tables.tracks, who)
    }

    /// The same of speech turns.
    #[must_use]
    pub fn heard_extent(&self, who: Option<EntityId>) -> Option<Span> {
        self.extent(&self.tables.turns, who)
    }

    fn extent<R: Temporal>(&self, table: &Table<R>, who: Option<EntityId>) -> Option<Span> {
        let Some(who) = who else { return table.extent() };
        let parts = self.same_as(who).into_iter();
        parts.filter_map(|part| table.links_of(part).extent()).reduce(hull)
    }

    /// One clip.
    #[must_use]
    pub fn clip(&self, id: ClipId) -> Option<Arc<Clip>> {
        self.current(&self.tables.clips, &id)
    }

    /// Every entity id that was given, ascending (aliases too).
    #[must_use]
    pub fn entities(&self) -> Vec<EntityId> {
        let mut found: Vec<_> =
            self.tables.entities.all(&self.horizon).iter().map(|version| version.row.id).collect();
        found.sort_unstable();
        found
    }

    /// Whether the id was given.
    #[must_use]
    pub fn knows(&self, id: EntityId) -> bool {
        id == EntityId::ROBOT || self.tables.entities.current(&id, &self.horizon).is_some()
    }

    /// Face tracks by start, clip and id.
    #[must_use]
    pub fn tracks(&self, filter: &PerceptFilter) -> Vec<Arc<TrackRow>> {
        let mut found = rows(self.percepts(&self.tables.tracks, filter));
        found.retain(|track| filter.admits(track.span, track.clip, &track.source));
        found.sort_by_key(|track| (track.span.start, track.clip, track.track));
        found
    }

    /// One track of a clip.
    #[must_use]
    pub fn track(&self, clip: ClipId, track: TrackId) -> Option<Arc<TrackRow>> {
        self.current(&self.tables.tracks, &(clip, track))
    }

    /// Speech turns by start, clip and id.
    #[must_use]
    pub fn turns(&self, filter: &PerceptFilter) -> Vec<Arc<TurnRow>> {
        let mut found = rows(self.percepts(&self.tables.turns, filter));
        found.retain(|turn| filter.admits(turn.span, turn.clip, &turn.source));
        found.sort_by_key(|turn| (turn.span.start, turn.clip, turn.turn));
        found
    }

    /// One turn of a session.
    #[must_use]
    pub fn turn(&self, session: SessionId, turn: TurnId) -> Option<Arc<TurnRow>> {
        self.current(&self.tables.turns, &(session, turn))
    }

    /// Sounds by span, clip, source and kind; they are nobody's.
    #[must_use]
    pub fn sounds(&self, filter: &PerceptFilter) -> Vec<Arc<SoundRow>> {
        let mut found = rows(self.percepts(&self.tables.sounds, filter));
        found.retain(|row| filter.admits(row.sound.span, row.clip, &row.sound.source));
        found.sort_by_key(|row| (row.sound.span, row.key()));
        found
    }

    /// Sounds that mean something, by span, clip, source and what they are; they are nobody's.
    #[must_use]
    pub fn sound_events(&self, filter: &PerceptFilter) -> Vec<Arc<SoundEventRow>> {
        let mut found = rows(self.percepts(&self.tables.sound_events, filter));
        found.retain(|row| filter.admits(row.event.span, row.clip, &row.event.source));
        found.sort_by_key(|row| (row.event.span, row.key()));
        found
    }

    /// What people did, by span, clip, body and kind.
    #[must_use]
    pub fn actions(&self, filter: &PerceptFilter) -> Vec<Arc<ActionRow>> {
        let mut found = rows(self.percepts(&self.tables.actions, filter));
        found.retain(|row| filter.admits(row.action.span, row.clip, &row.source));
        found.sort_by_key(|row| (row.action.span, row.key()));
        found
    }

    /// When cameras themselves moved, by span, clip and source.
    #[must_use]
    pub fn camera_moves(&self, filter: &PerceptFilter) -> Vec<Arc<CameraMoveRow>> {
        let mut found = rows(self.percepts(&self.tables.camera_moves, filter));
        found.retain(|row| filter.admits(row.moved.span, row.clip, &row.moved.source));
        found.sort_by_key(|row| (row.moved.span, row.key()));
        found
    }

    /// Poses stamped inside the span, in time order.
    #[must_use]
    pub fn poses(&self, span: Span) -> Vec<Arc<PoseRow>> {
        let mut found = rows(self.tables.poses.touching(span, &self.horizon));
        found.retain(|pose| span.contains(pose.pose.stamp));
        found.sort_by_key(|pose| (pose.pose.stamp, pose.clip));
        found
    }

    /// One memory.
    #[must_use]
    pub fn memory(&self, id: MemoryId) -> Option<Arc<MemoryRow>> {
        let said = || self.said_now(id).map(|one| Arc::new(one.row.clone()));
        self.tables.shows_memory(id, &self.horizon).or_else(said)
    }

    /// A memory's vector of that model.
    #[must_use]
    pub fn embedding(&self, id: MemoryId, model: ModelHash) -> Option<Embedding> {
        if let Some(said) = self.said_now(id) {
            return said.vector.clone().filter(|vector| vector.model == model);
        }
        self.current(&self.tables.vectors, &(id, model)).map(|row| row.embedding())
    }

    /// How near a memory's vector is to another (cosine); `None` without one of that model.
    #[must_use]
    pub fn cosine(&self, id: MemoryId, other: &Embedding) -> Option<f32> {
        if let Some(said) = self.said_now(id) {
            let vector = said.vector.as_ref().filter(|vector| vector.model == other.model)?;
            return likeness(&vector.values, &other.values);
        }
        let row = self.current(&self.tables.vectors, &(id, other.model))?;
        likeness(&row.values, &other.values)
    }

    /// Why a memory was closed or taken back.
    #[must_use]
    pub fn retirement(&self, id: MemoryId) -> Option<Arc<Retirement>> {
        self.current(&self.tables.retirements, &id)
    }

    /// What was decided about facts, oldest statement first.
    #[must_use]
    pub fn decisions(&self) -> Vec<Arc<Decision>> {
        let mut found = rows(self.tables.decisions.all(&self.horizon));
        found.sort_by_key(|row| (row.at, row.memory, row.action));
        found
    }

    /// When a memory came to be known: record time of its newest version.
    #[must_use]
    pub fn recorded(&self, id: MemoryId) -> Option<Timestamp> {
        self.tables.memories.current(&id, &self.horizon).map(|version| version.recorded)
    }

    /// Memories in the filter's order (by start, then id).
    #[must_use]
    pub fn memories(&self, filter: &Filter) -> Vec<Arc<MemoryRow>> {
        let mut found = self.candidates(filter);
        found.sort_by_key(|row| (row.span.start, row.id));
        if filter.order == Order::NewestFirst {
            found.reverse();
        }
        found.truncate(filter.limit.unwrap_or(usize::MAX));
        found
    }

    /// Versions of memories that were committed after `seq`, in the order of their commits.
    #[must_use]
    pub fn memories_since(&self, seq: Seq) -> Vec<Arc<MemoryRow>> {
        let log = self.tables.memories.log();
        let from = log.partition_point(|at| at <= seq);
        let new = log.iter_from(from).filter(|version| self.horizon.knows(version.seq.0));
        new.map(|version| version.row).collect()
    }

    /// Memories about an entity, under whatever id, oldest first.
    #[must_use]
    pub fn memories_of(&self, entity: EntityId) -> Vec<Arc<MemoryRow>> {
        self.memories(&Filter { entities: vec![entity], ..Filter::default() })
    }

    /// What passes the filter, in no promised order; limit and order are the caller's.
    pub(super) fn candidates(&self, filter: &Filter) -> Vec<Arc<MemoryRow>> {
        let table = &self.tables.memories;
        let mut found = if !filter.entities.is_empty() {
            let mut seen = BTreeSet::new();
            let ids: BTreeSet<EntityId> =
                filter.entities.iter().flat_map(|entity| self.same_as(*entity)).collect();
            ids.into_iter()
                .flat_map(|id| table.linked(id, &self.horizon))
                .filter(|version| seen.insert(version.row.id))
                .collect()
        } else if let Some(clip) = filter.clip {
            table.in_clip(clip, &self.horizon)
        } else if let Some(passing) = self.passing(filter) {
            passing.iter().filter_map(|id| table.current(&id, &self.horizon)).collect()
        } else {
            table.all(&self.horizon)
        };
        found.retain(|version| filter.admits(&version.row));
        let mut found = rows(found);
        let said = self.said.iter().filter(|one| self.admits_row(&one.row, filter));
        found.extend(said.map(|one| Arc::new(one.row.clone())));
        found
    }

    /// Exemplars of a face or voice, by slot.
    #[must_use]
    pub fn exemplars(&self, entity: EntityId) -> Vec<Arc<Exemplar>> {
        let mut found = rows(self.tables.exemplars.linked(entity, &self.horizon));
        found.sort_by_key(|exemplar| exemplar.slot);
        found
    }

    /// All exemplars of that kind made by that model, by entity and slot.
    #[must_use]
    pub fn galleries(&self, kind: EntityKind, model: ModelHash) -> Vec<Arc<Exemplar>> {
        let mut found = rows(self.tables.exemplars.all(&self.horizon));
        found.retain(|row| row.entity.kind == kind && row.embedding.model == model);
        found.sort_by_key(|exemplar| (exemplar.entity, exemplar.slot));
        found
    }

    /// All face–voice evidence as it is written, by face and voice.
    #[must_use]
    pub fn evidence(&self) -> Vec<PairEvidence> {
        let mut found: Vec<_> =
            self.tables.evidence.all(&self.horizon).iter().map(|version| *version.row).collect();
        found.sort_by_key(|pair| (pair.face, pair.voice));
        found
    }

    /// The same with all that speaks against each pair as `against_secs`: [`PairEvidence::summed`].
    #[must_use]
    pub fn summed_evidence(&self) -> Vec<PairEvidence> {
        PairEvidence::summed(self.evidence())
    }

    /// What is known of a media file.
    #[must_use]
    pub fn media_row(&self, digest: &MediaDigest) -> Option<Arc<MediaRow>> {
        self.current(&self.tables.media, digest)
    }

    pub(super) fn percepts<R: Temporal>(
        &self,
        table: &Table<R>,
        filter: &PerceptFilter,
    ) -> Vec<Version<R>> {
        if let Some(entity) = filter.entity {
            let parts = self.same_as(entity).into_iter();
            match filter.span {
                Some(span) => parts
                    .flat_map(|part| table.linked_touching(part, span, &self.horizon))
                    .collect(),
                None => parts.flat_map(|part| table.linked(part, &self.horizon)).collect(),
            }
        } else if let Some(clip) = filter.clip {
            table.in_clip(clip, &self.horizon)
        } else if let Some(span) = filter.span {
            table.touching(span, &self.horizon)
        } else {
            table.all(&self.horizon)
        }
    }

    pub(super) fn current<R: Temporal>(&self, table: &Table<R>, key: &R::Key) -> Option<Arc<R>> {
        table.current(key, &self.horizon).map(|version| version.row)
    }
}
