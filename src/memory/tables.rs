//! All temporal tables side by side, and the ground that is common to them.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use arc_swap::{ArcSwap, ArcSwapOption};
use dashmap::DashMap;

use crate::ids::{EntityId, MemoryId, Seq};
use crate::time::Timestamp;

use super::model::{MemoryRow, PersonProfile};
use super::vectors::VectorIndex;
use super::versions::Shelves;
use super::versions::log::Log;
use super::versions::persist::{Persist as _, Reader, Writer};
use super::versions::shelf::Shelf;
use super::versions::temporal::{CommitRow, Horizon, Table, Temporal, Touched};
use super::view::facets::{Columns, Facets};
use super::view::grid::PoseGrid;
use super::view::presence::Known;
use super::words::called::Called;
use super::words::lexical::Lexical;

/// No commit.
const NEVER: u64 = u64::MAX;
/// Memories that indexes take in at once.
const AT_ONCE: usize = 4096;

/// All persons as of a commit, by id.
pub(crate) type Everyone = (Seq, Vec<PersonProfile>);

/// Calls a macro with every temporal table: field, row type; in canonical order.
macro_rules! each_table {
    ($with:ident) => {
        $with! {
            sessions: $crate::memory::model::Session,
            clips: $crate::memory::model::Clip,
            entities: $crate::memory::model::EntityRow,
            tracks: $crate::memory::model::TrackRow,
            turns: $crate::memory::model::TurnRow,
            sounds: $crate::memory::model::SoundRow,
            poses: $crate::memory::model::PoseRow,
            exemplars: $crate::memory::model::Exemplar,
            evidence: $crate::memory::model::PairEvidence,
            memberships: $crate::memory::model::Membership,
            merges: $crate::memory::model::Merge,
            names: $crate::memory::model::NameRow,
            memories: $crate::memory::model::MemoryRow,
            vectors: $crate::memory::model::MemoryVector,
            retirements: $crate::memory::model::Retirement,
            decisions: $crate::memory::model::Decision,
            media: $crate::memory::model::MediaRow,
            object_tracks: $crate::memory::model::ObjectTrackRow,
            text_tracks: $crate::memory::model::TextTrackRow,
            watches: $crate::memory::watches::WatchRow,
            firings: $crate::memory::watches::FiringRow,
            passages: $crate::memory::view::documents::PassageRow,
            sound_events: $crate::memory::model::SoundEventRow,
            camera_moves: $crate::memory::model::CameraMoveRow,
            actions: $crate::memory::model::ActionRow,
        }
    };
}
pub(crate) use each_table;

macro_rules! declare_tables {
    ($($field:ident: $row:ty,)*) => {
        /// The memory in RAM: what readers see.
        pub(crate) struct Tables {
            $(pub(crate) $field: Table<$row>,)*
            pub(crate) commits: ArcSwap<Log<CommitRow>>,
            pub(crate) lexical: Arc<Lexical>,
            pub(crate) facets: Arc<Facets>,
            pub(crate) index: Arc<VectorIndex>,
            pub(crate) grid: Arc<PoseGrid>,
            rows: Arc<Shelf>,
            lists: Arc<Shelf>,
            published: AtomicU64,
            /// The newest commit of what was read as it had been derived before; none of what was derived anew.
            restored: AtomicU64,
            /// Whether no commit was recorded before one that came earlier.
            in_order: AtomicBool,
            /// Everyone as of the newest commit that was asked for, and as of another: many questions ask the same.
            pub(crate) people: [ArcSwapOption<Everyone>; 2],
            /// When and how long persons were perceived, of whom much is known.
            pub(crate) presence: DashMap<EntityId, Arc<Known>>,
            /// Their names, which every question and remark is looked through for.
            pub(crate) called: ArcSwapOption<Called>,
        }

        impl Tables {
            /// Empty ones.
            pub(crate) fn on(shelves: &Shelves) -> Self {
                let lists = &shelves.lists;
                Self {
                    $($field: Table::on(shelves),)*
                    commits: ArcSwap::default(),
                    lexical: Arc::new(Lexical::on(Arc::clone(lists))),
                    facets: Arc::new(Facets::on(Arc::clone(lists))),
                    index: Arc::new(VectorIndex::on(Arc::clone(lists))),
                    grid: Arc::new(PoseGrid::on(Arc::clone(lists))),
                    rows: Arc::clone(&shelves.rows),
                    lists: Arc::clone(lists),
                    published: AtomicU64::new(0),
                    restored: AtomicU64::new(NEVER),
                    in_order: AtomicBool::new(true),
                    people: Default::default(),
                    presence: DashMap::new(),
                    called: ArcSwapOption::default(),
                }
            }

            /// Where rows and lists lie.
            pub(crate) fn shelves(&self) -> Shelves {
                Shelves { rows: Arc::clone(&self.rows), lists: Arc::clone(&self.lists) }
            }

            /// Why rows that belong into a mapped file lie in anonymous memory; `None`: none do.
            pub(crate) fn why_in_ram(&self) -> Option<&str> {
                self.rows.why_in_ram()
            }
        }

        /// Rows that a change of the file touched, as they are there now, by row id; `None`: they are there no more.
        #[derive(Default)]
        pub(crate) struct StruckRows {
            $(pub(crate) $field: Vec<(i64, Option<$row>)>,)*
        }

        impl StruckRows {
            /// Whether all of them can be found by their row ids.
            pub(crate) fn are_found(&self, tables: &Tables) -> bool {
                true $(&& {
                    let log = tables.$field.log();
                    self.$field.iter().all(|(rowid, _)| log.position_of(*rowid).is_some())
                })*
            }
        }

        /// Tables on their way to the next generation, and what was touched in them.
        struct Fresh {
            $($field: (Table<$row>, Vec<Touched<$row>>),)*
        }

        impl Tables {
            /// How many versions there are.
            pub(crate) fn count(&self) -> usize {
                0 $(+ self.$field.log().count())*
            }

            /// The memory without what was erased: nothing is copied but what is touched. Views of this one keep its rows
            /// until they are dropped; what finds rows is common to both, and finds nothing of it any more.
            pub(crate) fn without(&self, struck: StruckRows) -> Self {
                let mut gone = Vec::new();
                let fresh = Fresh { $($field: self.$field.without(struck.$field, &mut gone),)* };
                self.lexical.strike(&fresh.memories.1);
                self.facets.strike(&fresh.memories.1);
                self.index.strike(&fresh.vectors.1);
                let rows = self.rows.without(gone);
                $(fresh.$field.0.read_from(&rows);)*
                Self {
                    $($field: fresh.$field.0,)*
                    commits: ArcSwap::new(self.commits.load_full()),
                    lexical: Arc::clone(&self.lexical),
                    facets: Arc::clone(&self.facets),
                    index: Arc::clone(&self.index),
                    grid: Arc::clone(&self.grid),
                    rows,
                    lists: Arc::clone(&self.lists),
                    published: AtomicU64::new(self.published().0),
                    restored: AtomicU64::new(NEVER),
                    in_order: AtomicBool::new(self.in_order.load(Ordering::Acquire)),
                    people: Default::default(),
                    presence: DashMap::new(),
                    called: ArcSwapOption::default(),
                }
            }
        }

        impl Tables {
            /// Writes what was derived from the rows; `false`: that cannot be done, since rows lie in RAM that are not to.
            pub(crate) fn save(&self, to: &mut Writer<'_>) -> bool {
                let newest = self.published();
                to.number(newest.0);
                to.number(u64::from(self.in_order.load(Ordering::Acquire)));
                self.commits.load().save(to);
                $(
                    let is_saved = self.$field.log().is_shelved();
                    to.number(u64::from(is_saved));
                    if is_saved {
                        self.$field.save(to);
                    }
                )*
                self.lexical.save(to);
                self.facets.load().save(to);
                self.index.save(&self.vectors.log(), to);
                self.grid.save(to);
                // Their places are written by number.
                self.memories.log().is_shelved() && self.vectors.log().is_shelved() && self.poses.log().is_shelved()
            }

            /// Reads what [`Self::save`] wrote of rows on those shelves; which tables are to be read from the file.
            pub(crate) fn load(
                from: &mut Reader<'_>,
                shelves: &Shelves,
            ) -> Option<(Self, BTreeSet<&'static str>)> {
                let tables = Self::on(shelves);
                let newest = Seq(from.number()?);
                tables.in_order.store(from.number()? == 1, Ordering::Release);
                tables.commits.store(Arc::new(Log::load(from)?));
                let mut missing = BTreeSet::new();
                $(
                    if from.number()? == 1 {
                        tables.$field.load(newest, from, shelves)?;
                    } else {
                        missing.insert(<$row as Temporal>::TABLE);
                    }
                )*
                tables.lexical.load(from)?;
                tables.facets.restore(Columns::load(from)?);
                tables.index.load(from)?;
                tables.grid.load(from)?;
                tables.published.store(newest.0, Ordering::Release);
                tables.restored.store(newest.0, Ordering::Release);
                from.is_done().then_some((tables, missing))
            }
        }

        impl Default for Tables {
            fn default() -> Self {
                Self::on(&Shelves::default())
            }
        }
    };
}
each_table!(declare_tables);

impl Tables {
    /// Brings the indexes up to the rows.
    pub(crate) fn extend_indexes(&self) {
        self.extend_words();
        self.extend_places();
    }

    /// Those of what memories say, and what filters ask of them.
    pub(crate) fn extend_words(&self) {
        let memories = self.memories.log();
        for first in (self.lexical.len()..memories.len()).step_by(AT_ONCE) {
            let fresh = memories.iter_from(first).take(AT_ONCE);
            self.facets.taking_in(fresh, |fresh| self.lexical.append(first, fresh));
        }
    }

    /// Those of where vectors and poses lie.
    pub(crate) fn extend_places(&self) {
        self.index.append(&self.vectors.log());
        self.grid.append(&self.poses.log());
    }

    /// Whether it was read as it had been derived, and nothing came or went since.
    pub(crate) fn is_as_restored(&self) -> bool {
        self.restored.load(Ordering::Acquire) == self.published().0
    }

    /// The newest commit that readers see.
    pub(crate) fn published(&self) -> Seq {
        Seq(self.published.load(Ordering::Acquire))
    }

    /// Shows commits whose rows are all in.
    pub(crate) fn publish(&self, fresh: impl IntoIterator<Item = (Seq, Timestamp)>) {
        let mut commits = Log::clone(&self.commits.load());
        let mut newest = self.published();
        let clips = self.clips.log();
        let mut watermark = commits.iter().next_back().and_then(CommitRow::watermark);
        let mut at = clips.partition_point(|seq| seq <= newest);
        for (seq, recorded) in fresh {
            let before = commits.iter().next_back();
            if before.is_some_and(|before: &CommitRow| before.recorded > recorded) {
                self.in_order.store(false, Ordering::Release);
            }
            while let Some(clip) = clips.get(at).filter(|clip| clip.seq <= seq) {
                watermark = watermark.max(Some(clip.row.span.end));
                at += 1;
            }
            commits.push(CommitRow::new(seq, recorded, watermark));
            newest = seq;
        }
        commits.settle(&self.lists);
        self.commits.store(Arc::new(commits));
        self.published.store(newest.0, Ordering::Release);
    }

    /// The newest commit up to `seq`.
    pub(crate) fn commit_at(&self, seq: Seq) -> Option<CommitRow> {
        let commits = self.commits.load();
        let at = commits.partition_point(|commit| commit.seq <= seq);
        commits.get(at.checked_sub(1)?).copied()
    }

    /// The horizon of a record time at commit `newest`.
    pub(crate) fn horizon_at(&self, time: Timestamp, newest: Seq) -> Horizon {
        let commits = Log::clone(&self.commits.load());
        let known = commits.partition_point(|commit| commit.seq <= newest);
        // Nearly always clocks go forward: everything up to a commit was recorded by then, and nothing after it.
        let in_order = self.in_order.load(Ordering::Acquire);
        let by_then = match in_order {
            true => commits.partition_point(|commit| commit.recorded <= time).min(known),
            false => commits.iter().take(known).take_while(|one| one.recorded <= time).count(),
        };
        let mut later = commits.iter_from(by_then).take(known - by_then);
        if !in_order && later.any(|commit| commit.recorded <= time) {
            return Horizon::Known { time, newest, commits: commits.clone() };
        }
        let prefix = by_then.checked_sub(1).and_then(|at| commits.get(at));
        let prefix = prefix.map_or(Seq(0), |commit| commit.seq);
        Horizon::Prefix(prefix)
    }

    /// Whether any version of a memory is here, ended or not.
    pub(crate) fn holds_memory(&self, id: MemoryId) -> bool {
        let mut held = false;
        let log = self.memories.log();
        self.memories.numbered(id.0, |at| held |= log.seq(at as usize).is_some());
        held
    }

    pub(crate) fn shows_memory(&self, id: MemoryId, horizon: &Horizon) -> Option<Arc<MemoryRow>> {
        self.memories.current(&id, horizon).map(|version| Arc::clone(&version.row))
    }
}
