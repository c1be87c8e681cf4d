//! Bitemporal tables in RAM (MVCC): append-only, seen by readers through a horizon, which is a snapshot.
//!
//! The writer appends versions and stamps retired ones; a reader decides by sequence numbers alone which
//! versions it sees, so it never waits and never sees half a commit.

use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::hash::Hash;
use std::ops::ControlFlow;
use std::sync::Arc;

use arc_swap::ArcSwap;
use bytemuck::{Pod, Zeroable};
use dashmap::DashMap;
use rusqlite::types::Value;

use crate::ids::{ClipId, EntityId, Seq};
use crate::time::{Span, Timestamp};

use super::keys::Keys;
use super::links::{Links, Relinked, Stretch, hull, load_spans, save_spans};
use super::log::{CHUNK, Log};
use super::persist::{Persist as _, Reader, Writer};
use super::recent::RecentEnds;
use super::runs::{ClipRuns, Runs};
use super::shelf::Shelf;
use super::{Shelves, Versions};
use crate::memory::rows::{RowError, SourceOrdinals};

/// Rows that are put down at once.
const PIECE: usize = 64;
/// Before all clips.
const NO_CLIP: Timestamp = Timestamp::from_nanos(i64::MIN);

/// Which commits a reader sees.
#[derive(Clone, Debug)]
pub(crate) enum Horizon {
    /// All up to one.
    Prefix(Seq),
    /// Those up to `newest` whose record time is not after `time`: needed when sessions with different
    /// clocks share the store.
    Known { time: Timestamp, newest: Seq, commits: Log<CommitRow> },
}

/// One commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct CommitRow {
    pub(crate) seq: Seq,
    pub(crate) recorded: Timestamp,
    /// [`Self::watermark`]; the least of all times: there is none.
    newest_clip: Timestamp,
}

impl CommitRow {
    pub(crate) fn new(seq: Seq, recorded: Timestamp, watermark: Option<Timestamp>) -> Self {
        Self { seq, recorded, newest_clip: watermark.unwrap_or(NO_CLIP) }
    }

    /// End of the newest clip up to then.
    pub(crate) fn watermark(&self) -> Option<Timestamp> {
        Some(self.newest_clip).filter(|end| *end != NO_CLIP)
    }
}

/// What tells the horizons of one memory apart: the newest commit, and the record time where one bounds it.
pub(crate) type Moment = (Seq, Option<Timestamp>);

impl Horizon {
    /// How many versions of a table it knows from the first on, all of them.
    pub(crate) fn known<R: Temporal>(&self, log: &Versions<R>) -> usize {
        match self {
            Self::Prefix(seq) => log.partition_point(|other| other <= *seq),
            Self::Known { .. } => 0,
        }
    }

    pub(crate) fn moment(&self) -> Moment {
        match self {
            Self::Prefix(seq) => (*seq, None),
            Self::Known { time, newest, .. } => (*newest, Some(*time)),
        }
    }

    pub(crate) fn newest(&self) -> Seq {
        match self {
            Self::Prefix(seq) | Self::Known { newest: seq, .. } => *seq,
        }
    }

    /// Whether the commit is known.
    pub(crate) fn knows(&self, seq: u64) -> bool {
        match self {
            Self::Prefix(newest) => seq <= newest.0,
            Self::Known { time, newest, commits } => {
                seq <= newest.0 && {
                    let at = commits.partition_point(|commit| commit.seq.0 < seq);
                    commits.get(at).is_some_and(|c| c.seq.0 == seq && c.recorded <= *time)
                }
            }
        }
    }
}

/// One version of a row.
#[derive(Clone, Debug)]
pub struct Version<R> {
    pub(crate) rowid: i64,
    /// The commit that brought it.
    pub seq: Seq,
    pub(in crate::memory) retired: Option<Seq>,
    /// Record time of that commit.
    pub recorded: Timestamp,
    /// The row.
    pub row: Arc<R>,
}

impl<R> Version<R> {
    pub(crate) fn new(
        rowid: i64,
        seq: Seq,
        retired: Option<Seq>,
        recorded: Timestamp,
        row: Arc<R>,
    ) -> Self {
        Self { rowid, seq, retired, recorded, row }
    }

    /// The commit that ended it, if any was through when this was read.
    pub fn retired_seq(&self) -> Option<Seq> {
        self.retired
    }
}

/// A row type that is kept in versions.
pub(crate) trait Temporal: Clone + Send + Sync + serde::Serialize + 'static {
    /// What a new version replaces.
    type Key: Clone + Eq + Ord + Hash + Send + Sync + std::fmt::Debug + 'static;
    /// SQL table.
    const TABLE: &'static str;
    /// Its columns without `version, seq, retired_seq, recorded`, as [`Self::bind`] orders them.
    const COLUMNS: &'static [&'static str];
    /// Whether keys are found by number, and whether a number is one key's alone.
    const NUMBERED: Numbered = Numbered::No;

    fn key(&self) -> Self::Key;
    fn bind(&self) -> Vec<Value>;
    fn read(row: &rusqlite::Row<'_>) -> Result<Self, RowError>;
    /// What enters the hash: [`Self::bind`] less everything that names where the data came from.
    fn canonical(&self, _sources: &mut SourceOrdinals) -> Vec<Value> {
        self.bind()
    }
    /// Event time, where the row has one.
    fn span(&self) -> Option<Span> {
        None
    }
    /// Entities it hangs on, as written.
    fn links(&self) -> Vec<EntityId> {
        Vec::new()
    }
    fn clip(&self) -> Option<ClipId> {
        None
    }
    /// When and for how long somebody was perceived, kept beside what hangs on them; either all rows of a type have it, or
    /// none.
    fn stretch(&self) -> Option<Stretch> {
        None
    }
    /// A number that only few keys have in common; numbers are given one after the other.
    fn number(_key: &Self::Key) -> u64 {
        0
    }
    /// The clip that a key names.
    fn clip_of(_key: &Self::Key) -> Option<ClipId> {
        None
    }
    /// Writes the row for the shelf; `false`: such rows stay in RAM.
    fn shelve(&self, _into: &mut Vec<u8>) -> bool {
        false
    }
    /// Reads what [`Self::shelve`] wrote, `len` bytes at `at`.
    fn unshelve(_shelf: &Arc<Shelf>, _at: u64, _len: usize) -> Option<Self> {
        None
    }
}

/// A version that erasing touched.
pub(crate) struct Touched<R> {
    /// Its position in the log.
    pub(crate) at: u32,
    pub(crate) old: Arc<R>,
    /// What it is now; `None`: it is gone.
    pub(crate) new: Option<Arc<R>>,
}

/// How the keys of a table are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Numbered {
    /// By their hash.
    No,
    /// By their number, which is a key's own.
    Alone,
    /// By their number, which a few have in common.
    Shared,
    /// Among what belongs to the clip that they name.
    InClip,
}

/// Widens the bounds of the chunk in which a version stands.
fn widen(bounds: &mut Vec<Span>, at: usize, span: Option<Span>) {
    let Some(span) = span else { return };
    match bounds.get_mut(at / CHUNK) {
        Some(bound) => *bound = hull(*bound, span),
        None => bounds.push(span),
    }
}

/// All versions of one row type.
pub(crate) struct Table<R: Temporal> {
    versions: ArcSwap<Versions<R>>,
    keys: Arc<Keys<R::Key>>,
    links: Arc<DashMap<EntityId, Links>>,
    clips: Arc<ArcSwap<ClipRuns>>,
    /// Earliest start and latest end in each chunk of the log: a search by time skips most of it.
    bounds: ArcSwap<Vec<Span>>,
    /// Which versions commits ended lately.
    ended: Arc<RecentEnds>,
    lists: Arc<Shelf>,
}

impl<R: Temporal> Table<R> {
    /// An empty one.
    pub(crate) fn on(shelves: &Shelves) -> Self {
        Self {
            versions: ArcSwap::from_pointee(Versions::new(shelves.clone())),
            keys: Arc::new(Keys::new(R::NUMBERED, Arc::clone(&shelves.lists))),
            links: Arc::default(),
            clips: Arc::default(),
            bounds: ArcSwap::default(),
            ended: Arc::default(),
            lists: Arc::clone(&shelves.lists),
        }
    }

    /// The table without what erasing takes, and with the rows that it rewrites: what `struck` tells of each version, by row
    /// id. What is found by key, by entity and by clip is common to both: readers of the old one find nothing of it there
    /// any more. `gone`: what lies on the shelf and is not read any more.
    pub(in crate::memory) fn without(
        &self,
        struck: Vec<(i64, Option<R>)>,
        gone: &mut Vec<(u64, usize)>,
    ) -> (Self, Vec<Touched<R>>) {
        let mut versions = Versions::clone(&self.versions.load());
        let mut touched = Vec::with_capacity(struck.len());
        let mut bytes = Vec::new();
        for (rowid, row) in struck {
            let Some(at) = versions.position_of(rowid) else { continue };
            let Some(old) = versions.get(at) else { continue };
            let new = row.map(Arc::new);
            versions.strike(at, new.clone(), &mut bytes, gone);
            touched.push(Touched { at: at as u32, old: old.row, new });
        }
        self.relink(&versions, &touched);
        let fresh = Self {
            versions: ArcSwap::from_pointee(versions),
            keys: Arc::clone(&self.keys),
            links: Arc::clone(&self.links),
            clips: Arc::clone(&self.clips),
            bounds: ArcSwap::new(self.bounds.load_full()),
            ended: Arc::clone(&self.ended),
            lists: Arc::clone(&self.lists),
        };
        (fresh, touched)
    }

    /// Takes positions out of the lists of entities that rows do not hang on any more, and finds rows by their new keys.
    fn relink(&self, versions: &Versions<R>, touched: &[Touched<R>]) {
        let mut unlinked: BTreeMap<EntityId, Relinked> = BTreeMap::new();
        let mut lost: BTreeSet<EntityId> = BTreeSet::new();
        for one in touched {
            match &one.new {
                // (Whatever is gone is not shown, wherever it is found.)
                None => lost.extend(one.old.links()),
                Some(new) => {
                    let (links, stretch) = (new.links(), new.stretch());
                    let moved = one.old.stretch() != stretch;
                    let changed =
                        one.old.links().into_iter().filter(|id| moved || !links.contains(id));
                    for id in changed {
                        let is = links.contains(&id).then_some(stretch);
                        unlinked.entry(id).or_default().insert(one.at, is);
                    }
                }
            }
            let (old, new) = (one.old.key(), one.new.as_ref().map(|row| row.key()));
            match new {
                None => self.keys.remove(&old, one.at),
                Some(new) if new != old => {
                    self.keys.remove(&old, one.at);
                    self.keys.insert(new, one.at);
                }
                Some(_) => {}
            }
        }
        // Of whom nothing is left, the list goes, too.
        for entity in lost {
            let positions = self.positions_of(entity);
            if positions.iter().all(|at| versions.seq(*at as usize).is_none()) {
                self.links.remove(&entity);
            }
        }
        for (entity, relinked) in unlinked {
            let mut kept = self.links_of(entity).relinked(&relinked);
            kept.settle(&self.lists);
            if kept.positions.len() == 0 {
                self.links.remove(&entity);
            } else {
                self.links.insert(entity, kept);
            }
        }
    }

    /// Writes all but the rows, which lie on the shelf.
    pub(in crate::memory) fn save(&self, to: &mut Writer<'_>) {
        self.log().save(to);
        self.keys.save(to);
        to.number(self.links.len() as u64);
        for entry in self.links.iter() {
            to.text(&entry.key().to_string());
            entry.value().save(to);
        }
        self.clips.load().save(to);
        save_spans(&self.bounds.load(), to);
    }

    /// Reads what [`Self::save`] wrote, up to that commit, into an empty table.
    pub(in crate::memory) fn load(
        &self,
        newest: Seq,
        from: &mut Reader<'_>,
        shelves: &Shelves,
    ) -> Option<()> {
        let versions = Versions::<R>::load(from, shelves.clone())?;
        self.keys.load(from)?;
        for _ in 0..from.count()? {
            let entity = from.text()?.parse().ok()?;
            self.links.insert(entity, Links::load(from)?);
        }
        self.clips.store(Arc::new(ClipRuns::load(from)?));
        self.bounds.store(Arc::new(load_spans(from)?));
        // Which versions were ended lately is not known.
        self.ended.forget(newest);
        if self.keys.are_hashed() {
            for at in 0..versions.len() {
                if let Some(version) = versions.get(at) {
                    self.keys.append(at as u32, std::iter::once(version.row.key()), R::number);
                }
            }
        }
        self.versions.store(Arc::new(versions));
        Some(())
    }

    /// Reads rows of the next generation of the shelf from here on.
    pub(in crate::memory) fn read_from(&self, rows: &Arc<Shelf>) {
        let mut versions = Versions::clone(&self.versions.load());
        versions.read_from(Arc::clone(rows));
        self.versions.store(Arc::new(versions));
    }

    /// Every version ever, in commit order.
    pub(crate) fn log(&self) -> Arc<Versions<R>> {
        self.versions.load_full()
    }

    /// Appends versions of one commit; stamps `retired` ones. The caller publishes the commit afterwards.
    pub(crate) fn append(
        &self,
        fresh: impl IntoIterator<Item = Version<R>>,
        retired: &[(R::Key, Seq)],
    ) {
        let mut fresh = fresh.into_iter().peekable();
        if fresh.peek().is_none() && retired.is_empty() {
            return;
        }
        let mut versions = Versions::clone(&self.versions.load());
        for (key, seq) in retired {
            if let Some(last) = self.seek(key, ControlFlow::Break) {
                versions.retire(last as usize, *seq);
                self.note_end(&versions, last, *seq);
            }
        }
        let first = versions.len();
        let mut bounds = Vec::clone(&self.bounds.load());
        let (mut links, mut clips, mut keys) = (Vec::new(), Vec::new(), Vec::new());
        // (Only what is read from the file has ended before it comes.)
        let mut ended = None;
        // Piece by piece: rows are let go while they are still at hand.
        let (mut piece, mut bytes) = (Vec::with_capacity(PIECE), Vec::new());
        while fresh.peek().is_some() {
            piece.extend(fresh.by_ref().take(PIECE));
            for (at, version) in (versions.len()..).zip(&piece) {
                widen(&mut bounds, at, version.row.span());
                let (stretch, retired) = (version.row.stretch(), version.retired);
                let own = version.row.links().into_iter();
                links.extend(own.map(|entity| (entity, at as u32, stretch, retired)));
                ended = ended.max(retired);
                clips.extend(version.row.clip().map(|clip| (clip, at as u32)));
                if R::NUMBERED != Numbered::InClip {
                    keys.push(version.row.key());
                }
            }
            versions.append(&piece, &mut bytes);
            piece.clear();
        }
        versions.settle();
        // Whoever finds a version finds its slot.
        self.versions.store(Arc::new(versions));
        self.bounds.store(Arc::new(bounds));
        for (entity, at, stretch, retired) in links {
            let full = {
                let mut links = self.links.entry(entity).or_default();
                links.push(at, stretch);
                links.ended = links.ended.max(retired.unwrap_or_default());
                links.is_to_settle().then(|| links.clone())
            };
            // Written aside: whoever reads beside does not wait for the disk.
            if let Some(mut links) = full {
                links.settle(&self.lists);
                self.links.insert(entity, links);
            }
        }
        if let Some(ended) = ended {
            self.ended.forget(ended);
        }
        if !clips.is_empty() {
            let mut runs = ClipRuns::clone(&self.clips.load());
            clips.into_iter().for_each(|(clip, at)| runs.push(clip, at));
            runs.settle(&self.lists);
            self.clips.store(Arc::new(runs));
        }
        self.keys.append(first as u32, keys.into_iter(), R::number);
    }

    /// Notes that a commit ended a version, before it is published.
    fn note_end(&self, versions: &Versions<R>, at: u32, seq: Seq) {
        self.ended.note(seq, at);
        let Some(row) = versions.get(at as usize).map(|version| version.row) else { return };
        for entity in row.links().into_iter().filter(|_| row.stretch().is_some()) {
            if let Some(mut links) = self.links.get_mut(&entity) {
                links.ended = links.ended.max(seq);
            }
        }
    }

    /// What commits after `after` and up to `newest` brought and ended; `None` where that is more than `most`, or not known
    /// any more.
    pub(in crate::memory) fn changed(
        &self,
        after: Seq,
        newest: Seq,
        most: usize,
    ) -> Option<Vec<Arc<R>>> {
        let log = self.log();
        let [from, to] = [after, newest].map(|seq| log.partition_point(|at| at <= seq));
        let ended = self.ended.between(after, newest)?;
        if to - from + ended.len() > most {
            return None;
        }
        let changed = (from..to).chain(ended.into_iter().map(|at| at as usize));
        Some(changed.filter_map(|at| log.get(at)).map(|version| version.row).collect())
    }

    /// Looks at the positions of a key's versions, newest first, until one is what is sought.
    fn seek<T>(&self, key: &R::Key, mut look: impl FnMut(u32) -> ControlFlow<T>) -> Option<T> {
        let is_of_key = |at: u32| {
            let version = self.log().get(at as usize);
            version.is_some_and(|version| version.row.key() == *key)
        };
        let mut look_at_own = |at: u32| match is_of_key(at) {
            true => look(at),
            false => ControlFlow::Continue(()),
        };
        match R::NUMBERED {
            Numbered::InClip => {
                let positions = self.positions_in(R::clip_of(key)?);
                positions.newest_first().find_map(|at| look_at_own(at).break_value())
            }
            Numbered::Shared => self.keys.seek(key, R::number(key), look_at_own),
            Numbered::Alone | Numbered::No => self.keys.seek(key, R::number(key), look),
        }
    }

    /// Those that the horizon shows and whose span touches `span`, borders included; in commit order.
    pub(crate) fn touching(&self, span: Span, horizon: &Horizon) -> Vec<Version<R>> {
        // Bounds first: they may know less than the log read after them, never more of a chunk's rows than
        // was published before this horizon.
        let bounds = self.bounds.load_full();
        let log = self.log();
        let touches = |other: Span| other.start <= span.end && span.start <= other.end;
        let mut found = Vec::new();
        for chunk in 0..log.len().div_ceil(CHUNK) {
            if bounds.get(chunk).is_some_and(|bound| !touches(*bound)) {
                continue;
            }
            for at in chunk * CHUNK..((chunk + 1) * CHUNK).min(log.len()) {
                if self.shows_in(&log, at, horizon)
                    && let Some(version) = log.get(at)
                    && version.row.span().is_some_and(touches)
                {
                    found.push(version);
                }
            }
        }
        found
    }

    /// Of those that the horizon shows, that touch `within` and that are wanted, the one whose span has the greatest rank; of
    /// several, the last committed. A span that holds another must have no lesser rank than it. Looks at chunks by their
    /// bounds, until none can hold a greater one.
    pub(in crate::memory) fn first<K: Ord>(
        &self,
        within: Option<Span>,
        wanted: impl Fn(&R) -> bool,
        rank: impl Fn(Span) -> K,
        horizon: &Horizon,
    ) -> Option<Version<R>> {
        let bounds = self.bounds.load_full();
        let log = self.log();
        let known = log.partition_point(|seq| seq <= horizon.newest());
        let touches = |span: Span| {
            within.is_none_or(|within| span.start <= within.end && within.start <= span.end)
        };
        let ranked = |chunk: usize| {
            let bound = bounds.get(chunk).copied().filter(|bound| touches(*bound))?;
            Some((rank(bound), chunk))
        };
        let mut chunks: BinaryHeap<_> = (0..known.div_ceil(CHUNK)).filter_map(ranked).collect();
        let mut best: Option<(K, Version<R>)> = None;
        while let Some((most, chunk)) = chunks.pop() {
            if best.as_ref().is_some_and(|(known, _)| *known > most) {
                break;
            }
            for at in chunk * CHUNK..((chunk + 1) * CHUNK).min(known) {
                if !self.shows_in(&log, at, horizon) {
                    continue;
                }
                let found = log.get(at).filter(|version| wanted(&version.row));
                let ranked = found.and_then(|version| {
                    let span = version.row.span().filter(|span| touches(*span))?;
                    Some((rank(span), version))
                });
                let Some((rank, version)) = ranked else { continue };
                let later =
                    |(known, best): &(K, Version<R>)| (known, best.rowid) < (&rank, version.rowid);
                if best.as_ref().is_none_or(later) {
                    best = Some((rank, version));
                }
            }
        }
        best.map(|(_, version)| version)
    }

    /// The version of `key` that nothing has ended yet: the writer's view.
    pub(crate) fn open_version(&self, key: &R::Key) -> Option<Version<R>> {
        let last = self.seek(key, ControlFlow::Break)?;
        self.log().get(last as usize).filter(|version| version.retired.is_none())
    }

    /// The version of `key` that the horizon shows.
    pub(crate) fn current(&self, key: &R::Key, horizon: &Horizon) -> Option<Version<R>> {
        self.current_at(key, horizon).map(|(_, version)| version)
    }

    /// The same with its position in the log.
    pub(crate) fn current_at(&self, key: &R::Key, horizon: &Horizon) -> Option<(u32, Version<R>)> {
        let at = self.position(key, horizon)?;
        self.log().get(at as usize).map(|version| (at, version))
    }

    /// Its position alone: the row is not read.
    pub(crate) fn position(&self, key: &R::Key, horizon: &Horizon) -> Option<u32> {
        // Positions first: the log read after them knows them all.
        let mut versions = None;
        let found = self.seek(key, |at| {
            let versions = versions.get_or_insert_with(|| self.versions.load());
            // Commits are replayed in order: the newest known event of the key decides, its beginning before
            // an end.
            let Some(seq) = versions.seq(at as usize) else { return ControlFlow::Continue(()) };
            if versions.retired(at as usize).is_some_and(|seq| horizon.knows(seq.0)) {
                // A version that began in that same commit was looked at before this one.
                return ControlFlow::Break(None);
            }
            match horizon.knows(seq.0) {
                true => ControlFlow::Break(Some(at)),
                false => ControlFlow::Continue(()),
            }
        });
        found.flatten()
    }

    /// Positions in the log that hang on the entity (as written), whether shown or not; ascending.
    pub(crate) fn positions_of(&self, entity: EntityId) -> Log<u32> {
        self.links_of(entity).positions
    }

    /// The same with the times of percepts.
    pub(in crate::memory) fn links_of(&self, entity: EntityId) -> Links {
        self.links.get(&entity).map(|found| found.clone()).unwrap_or_default()
    }

    /// From the earliest start to the latest end of all versions, shown or not; `None`: there are none.
    pub(in crate::memory) fn extent(&self) -> Option<Span> {
        self.bounds.load().iter().copied().reduce(hull)
    }

    /// Positions of all versions whose keys have that number, newest first.
    pub(crate) fn numbered(&self, number: u64, mut visit: impl FnMut(u32)) {
        self.keys.seek_number(number, |at| {
            visit(at);
            ControlFlow::<()>::Continue(())
        });
    }

    /// Calls `visit` with every chunk of the log (see [`CHUNK`]) that may hold a row whose span touches
    /// `span`.
    pub(crate) fn chunks_touching(
        &self,
        span: Option<Span>,
        chunks: usize,
        mut visit: impl FnMut(usize),
    ) {
        let bounds = self.bounds.load_full();
        let touches = |other: &Span| {
            span.is_none_or(|span| other.start <= span.end && span.start <= other.end)
        };
        (0..chunks).filter(|chunk| bounds.get(*chunk).is_none_or(touches)).for_each(&mut visit);
    }

    /// Whether the horizon shows this version.
    pub(crate) fn shows(&self, version: &Version<R>, horizon: &Horizon) -> bool {
        match horizon {
            Horizon::Prefix(newest) => {
                version.seq <= *newest && version.retired.is_none_or(|seq| seq > *newest)
            }
            Horizon::Known { .. } => self
                .current(&version.row.key(), horizon)
                .is_some_and(|current| current.rowid == version.rowid),
        }
    }

    /// The same by its position in the log (one read no earlier than the horizon was taken).
    pub(crate) fn shows_in(&self, log: &Versions<R>, at: usize, horizon: &Horizon) -> bool {
        let Some(seq) = log.seq(at) else { return false };
        match horizon {
            Horizon::Prefix(newest) => {
                seq <= *newest && log.retired(at).is_none_or(|seq| seq > *newest)
            }
            Horizon::Known { .. } => log.get(at).is_some_and(|version| {
                self.position(&version.row.key(), horizon) == Some(at as u32)
            }),
        }
    }

    /// All versions that the horizon shows, in commit order.
    pub(crate) fn all(&self, horizon: &Horizon) -> Vec<Version<R>> {
        let log = self.log();
        let known = log.partition_point(|seq| seq <= horizon.newest());
        self.pick(&log, 0..known, horizon)
    }

    /// Those of them that hang on the entity (as written, not resolved).
    pub(crate) fn linked(&self, entity: EntityId, horizon: &Horizon) -> Vec<Version<R>> {
        let positions = self.positions_of(entity);
        self.pick(&self.log(), positions.iter().map(|at| *at as usize), horizon)
    }

    /// Those of them whose span touches `span`, borders included, where times are kept; else all.
    pub(in crate::memory) fn linked_touching(
        &self,
        entity: EntityId,
        span: Span,
        horizon: &Horizon,
    ) -> Vec<Version<R>> {
        let positions = self.links_of(entity).touching(span);
        self.pick(&self.log(), positions.into_iter().map(|at| at as usize), horizon)
    }

    /// Those of them that belong to the clip.
    pub(crate) fn in_clip(&self, clip: ClipId, horizon: &Horizon) -> Vec<Version<R>> {
        let positions = self.positions_in(clip);
        self.pick(&self.log(), positions.oldest_first().map(|at| at as usize), horizon)
    }

    fn positions_in(&self, clip: ClipId) -> Runs {
        self.clips.load().of(clip)
    }

    fn pick(
        &self,
        log: &Versions<R>,
        positions: impl Iterator<Item = usize>,
        horizon: &Horizon,
    ) -> Vec<Version<R>> {
        positions
            .filter(|at| self.shows_in(log, *at, horizon))
            .filter_map(|at| log.get(at))
            .collect()
    }
}
