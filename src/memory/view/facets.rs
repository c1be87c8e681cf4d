//! Filter columns (doc values), what filters ask of memories side by side: a filter over all memories reads these few bytes
//! of each and never the memory itself.

use std::sync::Arc;

use arc_swap::ArcSwap;
use bytemuck::{Pod, Zeroable};

use crate::ids::{ClipId, MemoryId, SessionId};
use crate::time::{Span, Timestamp};

use super::filter::Filter;
use crate::memory::model::{MemoryKind, MemoryRow};
use crate::memory::versions::log::{CHUNK, Log};
use crate::memory::versions::persist::{Persist, Reader, Writer};
use crate::memory::versions::shelf::Shelf;
use crate::memory::versions::temporal::{Touched, Version};

/// How far apart two remarks may begin and still belong together, seconds.
const TOGETHER_SECS: f64 = 60.0;
/// Rows looked over for the remark before or after.
const LOOKED_OVER: u32 = 8;

/// One version of a memory, by its position in the table's log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Facet {
    /// Start and end, nanoseconds.
    span: [i64; 2],
    valid: [i64; 2],
    /// Session and number.
    clip: [u32; 2],
    /// Its place in [`MemoryKind::ALL`].
    kind: u32,
    /// 1: of a clip.
    has_clip: u32,
}

impl Facet {
    fn of(row: &MemoryRow) -> Self {
        let end = row.valid_to.unwrap_or(Timestamp::MAX);
        let clip = row.clip.unwrap_or_default();
        Self {
            span: [row.span.start.as_nanos(), row.span.end.as_nanos()],
            valid: [row.valid_from.as_nanos(), end.as_nanos()],
            clip: [clip.session.0, clip.index],
            kind: row.kind as u32,
            has_clip: u32::from(row.clip.is_some()),
        }
    }

    fn span(&self) -> Span {
        let [start, end] = self.span.map(Timestamp::from_nanos);
        Span { start, end }
    }

    fn clip(&self) -> Option<ClipId> {
        let [session, index] = self.clip;
        (self.has_clip == 1).then_some(ClipId { session: SessionId(session), index })
    }

    /// Whether it was made from what was perceived in one of the stays ([`super::filter::during`]).
    pub(crate) fn is_during(&self, stays: &[Span]) -> bool {
        self.has_clip == 1 && super::filter::during(stays, self.span())
    }

    fn is_of(&self, kind: MemoryKind) -> bool {
        self.kind == kind as u32
    }

    /// Whether it passes, but for the entities; a still valid one always ends later.
    pub(crate) fn passes(&self, filter: &Filter) -> bool {
        let [begins, ends] = self.valid.map(Timestamp::from_nanos);
        filter.span.is_none_or(|span| super::filter::overlaps(span, self.span()))
            && (filter.kinds.is_empty() || filter.kinds.iter().any(|kind| self.is_of(*kind)))
            && filter.clip.is_none_or(|clip| self.clip() == Some(clip))
            && filter.valid_at.is_none_or(|at| begins <= at && at < ends)
    }
}

/// The columns, by a version's position in the table's log.
#[derive(Clone, Default)]
pub(crate) struct Columns {
    /// Whose version it is. Apart: a filter by entity asks nothing else.
    ids: Log<u64>,
    pub(crate) facets: Log<Facet>,
    /// Positions of lessons: few, and looked at with every question.
    pub(crate) lessons: Log<u32>,
    /// Positions of facts that join entities: few, too.
    pub(crate) edges: Log<u32>,
}

impl Columns {
    pub(crate) fn len(&self) -> usize {
        self.facets.len()
    }

    pub(crate) fn id(&self, doc: usize) -> Option<MemoryId> {
        self.ids.get(doc).copied().map(MemoryId)
    }

    /// Calls `visit` with each of the versions (ascending), and whose it is.
    pub(crate) fn ids_of(&self, docs: &[u32], mut visit: impl FnMut(u32, MemoryId)) {
        let chunk_of = |doc: u32| doc as usize / CHUNK;
        for here in docs.chunk_by(|a, b| chunk_of(*a) == chunk_of(*b)) {
            let ids = here.first().map_or(&[][..], |first| self.ids.chunk(chunk_of(*first)));
            for doc in here {
                if let Some(id) = ids.get(*doc as usize % CHUNK) {
                    visit(*doc, MemoryId(*id));
                }
            }
        }
    }

    fn push(&mut self, row: &MemoryRow) {
        if row.kind == MemoryKind::Lesson {
            self.lessons.push(self.len() as u32);
        }
        if super::relations::is_edge(row) {
            self.edges.push(self.len() as u32);
        }
        self.ids.push(row.id.0);
        self.facets.push(Facet::of(row));
    }
}

impl Persist for Columns {
    fn save(&self, to: &mut Writer<'_>) {
        self.ids.save(to);
        self.facets.save(to);
        self.lessons.save(to);
        self.edges.save(to);
    }

    fn load(from: &mut Reader<'_>) -> Option<Self> {
        let (ids, facets) = (Log::load(from)?, Log::load(from)?);
        Some(Self { ids, facets, lessons: Log::load(from)?, edges: Log::load(from)? })
    }
}

/// The columns as they grow.
pub(crate) struct Facets {
    shelf: Arc<Shelf>,
    columns: ArcSwap<Columns>,
}

impl Facets {
    /// Empty ones, to lie on that shelf.
    pub(crate) fn on(shelf: Arc<Shelf>) -> Self {
        Self { shelf, columns: ArcSwap::default() }
    }

    /// Takes in versions while they pass by; all before them are in.
    pub(crate) fn taking_in(
        &self,
        versions: impl Iterator<Item = Version<MemoryRow>>,
        pass: impl FnOnce(&mut dyn Iterator<Item = Version<MemoryRow>>),
    ) {
        let mut columns = Columns::clone(&self.columns.load());
        pass(&mut versions.inspect(|version| columns.push(&version.row)));
        columns.ids.settle(&self.shelf);
        columns.facets.settle(&self.shelf);
        self.columns.store(Arc::new(columns));
    }

    /// Takes in what erasing made of memories.
    pub(crate) fn strike(&self, touched: &[Touched<MemoryRow>]) {
        let mut columns = Columns::clone(&self.columns.load());
        for one in touched {
            let Some(row) = &one.new else { continue };
            if columns.facets.get(one.at as usize).is_some_and(|facet| *facet != Facet::of(row)) {
                columns.facets.set(one.at as usize, Facet::of(row));
            }
        }
        columns.facets.settle_again(&self.shelf);
        self.columns.store(Arc::new(columns));
    }

    pub(crate) fn load(&self) -> Arc<Columns> {
        self.columns.load_full()
    }

    /// Puts columns that were read in place of what there is.
    pub(crate) fn restore(&self, columns: Columns) {
        self.columns.store(Arc::new(columns));
    }
}

/// Position of the remark said just before (`forward` false) or after the one at `doc`, in the same session
/// and soon enough to belong to it.
pub(crate) fn beside(facets: &Log<Facet>, doc: u32, docs: usize, forward: bool) -> Option<u32> {
    let own = facets.get(doc as usize)?;
    let session = own.clip()?.session;
    if !own.is_of(MemoryKind::Utterance) {
        return None;
    }
    for step in 1..=LOOKED_OVER {
        let at = if forward { doc.checked_add(step)? } else { doc.checked_sub(step)? };
        let other = facets.get(at as usize).filter(|_| (at as usize) < docs)?;
        if other.clip().map(|clip| clip.session) != Some(session) {
            return None;
        }
        if other.is_of(MemoryKind::Utterance) {
            let apart = other.span[0].abs_diff(own.span[0]);
            return (apart as f64 * 1e-9 <= TOGETHER_SECS).then_some(at);
        }
    }
    None
}
