//! Versioned rows in RAM: append-only tables that readers see through a horizon.
//!
//! The writer appends versions and stamps retired ones; a reader decides by sequence numbers alone which
//! versions it sees, so it never waits and never sees half a commit.

use std::hash::Hash;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arc_swap::ArcSwap;
use dashmap::{DashMap, Entry};
use rusqlite::types::Value;

use crate::ids::{ClipId, EntityId, Seq};
use crate::time::{Span, Timestamp};

use super::rows::{RowError, SourceOrdinals};

/// A list that grows at its end and is shared by cloning: unchanged chunks are never copied.
#[derive(Debug)]
pub(crate) struct Log<T> {
    chunks: Arc<Vec<Arc<Vec<T>>>>,
    len: usize,
}

/// Items per chunk of a [`Log`].
pub(crate) const CHUNK: usize = 256;

impl<T> Clone for Log<T> {
    fn clone(&self) -> Self {
        Self { chunks: Arc::clone(&self.chunks), len: self.len }
    }
}

impl<T> Default for Log<T> {
    fn default() -> Self {
        Self { chunks: Arc::default(), len: 0 }
    }
}

impl<T: Clone> Log<T> {
    pub(crate) fn push(&mut self, item: T) {
        let chunks = Arc::make_mut(&mut self.chunks);
        match chunks.last_mut() {
            Some(last) if last.len() < CHUNK => Arc::make_mut(last).push(item),
            _ => {
                let mut chunk = Vec::with_capacity(if self.len == 0 { 4 } else { CHUNK });
                chunk.push(item);
                chunks.push(Arc::new(chunk));
            }
        }
        self.len += 1;
    }
}

impl<T> Log<T> {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn get(&self, index: usize) -> Option<&T> {
        self.chunks.get(index / CHUNK)?.get(index % CHUNK)
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &T> {
        self.chunks.iter().flat_map(|chunk| chunk.iter())
    }

    /// The items of one chunk.
    pub(crate) fn chunk(&self, chunk: usize) -> &[T] {
        self.chunks.get(chunk).map_or(&[], |chunk| chunk.as_slice())
    }

    /// The items from `from` on.
    pub(crate) fn iter_from(&self, from: usize) -> impl Iterator<Item = &T> {
        let chunks = self.chunks.get(from / CHUNK..).unwrap_or_default();
        chunks.iter().flat_map(|chunk| chunk.iter()).skip(from % CHUNK)
    }

    /// Number of leading items for which `before` holds; it must hold for a prefix.
    pub(crate) fn partition_point(&self, before: impl Fn(&T) -> bool) -> usize {
        let chunk = self.chunks.partition_point(|chunk| chunk.first().is_some_and(&before));
        let Some(last) = chunk.checked_sub(1) else { return 0 };
        last * CHUNK + self.chunks[last].partition_point(before)
    }
}

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CommitRow {
    pub(crate) seq: Seq,
    pub(crate) recorded: Timestamp,
    /// End of the newest clip up to then.
    pub(crate) watermark: Option<Timestamp>,
}

impl Horizon {
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

const NOT_RETIRED: u64 = u64::MAX;

/// One version of a row.
#[derive(Debug)]
pub struct Version<R> {
    pub(crate) rowid: i64,
    /// The commit that brought it.
    pub seq: Seq,
    retired: AtomicU64,
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
        let retired = AtomicU64::new(retired.map_or(NOT_RETIRED, |seq| seq.0));
        Self { rowid, seq, retired, recorded, row }
    }

    /// The commit that ended it, if any.
    pub fn retired_seq(&self) -> Option<Seq> {
        let seq = self.retired.load(Ordering::Acquire);
        (seq != NOT_RETIRED).then_some(Seq(seq))
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
}

/// Where the versions of a key stand in the log, ascending. Nearly all keys have one: no list for that.
enum Positions {
    One([u32; 1]),
    Several(Vec<u32>),
}

impl Positions {
    fn all(&self) -> &[u32] {
        match self {
            Self::One(at) => at,
            Self::Several(all) => all,
        }
    }

    fn push(&mut self, at: u32) {
        match self {
            Self::One([first]) => *self = Self::Several(vec![*first, at]),
            Self::Several(all) => all.push(at),
        }
    }
}

/// All versions of one row type.
pub(crate) struct Table<R: Temporal> {
    log: ArcSwap<Log<Arc<Version<R>>>>,
    keys: DashMap<R::Key, Positions>,
    links: DashMap<EntityId, Log<u32>>,
    clips: DashMap<ClipId, Log<u32>>,
    /// Earliest start and latest end in each chunk of the log: a search by time skips most of it.
    bounds: ArcSwap<Vec<Span>>,
}

impl<R: Temporal> Default for Table<R> {
    fn default() -> Self {
        Self {
            log: ArcSwap::default(),
            keys: DashMap::new(),
            links: DashMap::new(),
            clips: DashMap::new(),
            bounds: ArcSwap::default(),
        }
    }
}

impl<R: Temporal> Table<R> {
    /// Every version ever, in commit order.
    pub(crate) fn log(&self) -> Arc<Log<Arc<Version<R>>>> {
        self.log.load_full()
    }

    /// Appends versions of one commit; stamps `retired` ones. The caller publishes the commit afterwards.
    pub(crate) fn append(&self, fresh: Vec<Version<R>>, retired: &[(R::Key, Seq)]) {
        for (key, seq) in retired {
            if let Some(version) = self.open_version(key) {
                version.retired.store(seq.0, Ordering::Release);
            }
        }
        if fresh.is_empty() {
            return;
        }
        let mut log = Log::clone(&self.log.load());
        let first = log.len();
        for version in fresh {
            log.push(Arc::new(version));
        }
        let added: Vec<_> = (first..log.len())
            .filter_map(|at| Some((at as u32, Arc::clone(log.get(at)?))))
            .collect();
        self.log.store(Arc::new(log));
        self.widen_bounds(&added);
        for (at, version) in added {
            for entity in version.row.links() {
                self.links.entry(entity).or_default().push(at);
            }
            if let Some(clip) = version.row.clip() {
                self.clips.entry(clip).or_default().push(at);
            }
            match self.keys.entry(version.row.key()) {
                Entry::Vacant(entry) => drop(entry.insert(Positions::One([at]))),
                Entry::Occupied(mut entry) => entry.get_mut().push(at),
            }
        }
    }

    fn widen_bounds(&self, added: &[(u32, Arc<Version<R>>)]) {
        let mut bounds = Vec::clone(&self.bounds.load());
        for (at, version) in added {
            let Some(span) = version.row.span() else { return };
            let chunk = *at as usize / CHUNK;
            match bounds.get_mut(chunk) {
                Some(bound) => {
                    bound.start = bound.start.min(span.start);
                    bound.end = bound.end.max(span.end);
                }
                None => bounds.push(span),
            }
        }
        self.bounds.store(Arc::new(bounds));
    }

    /// Those that the horizon shows and whose span touches `span`, borders included; in commit order.
    pub(crate) fn touching(&self, span: Span, horizon: &Horizon) -> Vec<Arc<Version<R>>> {
        // Bounds first: they may know less than the log read after them, never more of a chunk's rows than
        // was published before this horizon.
        let bounds = self.bounds.load_full();
        let log = self.log.load();
        let touches = |other: Span| other.start <= span.end && span.start <= other.end;
        let mut found = Vec::new();
        for (chunk, rows) in log.chunks.iter().enumerate() {
            if bounds.get(chunk).is_some_and(|bound| !touches(*bound)) {
                continue;
            }
            for version in rows.iter() {
                if version.row.span().is_some_and(touches) && self.shows(version, horizon) {
                    found.push(Arc::clone(version));
                }
            }
        }
        found
    }

    /// The version of `key` that nothing has ended yet: the writer's view.
    pub(crate) fn open_version(&self, key: &R::Key) -> Option<Arc<Version<R>>> {
        let last = *self.keys.get(key)?.all().last()?;
        let version = Arc::clone(self.log.load().get(last as usize)?);
        version.retired_seq().is_none().then_some(version)
    }

    /// The version of `key` that the horizon shows.
    pub(crate) fn current(&self, key: &R::Key, horizon: &Horizon) -> Option<Arc<Version<R>>> {
        self.current_at(key, horizon).map(|(_, version)| version)
    }

    /// The same with its position in the log.
    pub(crate) fn current_at(
        &self,
        key: &R::Key,
        horizon: &Horizon,
    ) -> Option<(u32, Arc<Version<R>>)> {
        let indexes = self.keys.get(key)?;
        let log = self.log.load();
        // Commits are replayed in order: the newest known event of the key decides, its beginning before an end.
        for &at in indexes.all().iter().rev() {
            let Some(version) = log.get(at as usize) else { continue };
            if version.retired_seq().is_some_and(|seq| horizon.knows(seq.0)) {
                // A version that began in that same commit was looked at before this one.
                return None;
            }
            if horizon.knows(version.seq.0) {
                return Some((at, Arc::clone(version)));
            }
        }
        None
    }

    /// Positions in the log that hang on the entity (as written), whether shown or not; ascending.
    pub(crate) fn positions_of(&self, entity: EntityId) -> Log<u32> {
        self.links.get(&entity).map(|found| found.clone()).unwrap_or_default()
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
                version.seq <= *newest && version.retired.load(Ordering::Acquire) > newest.0
            }
            Horizon::Known { .. } => self
                .current(&version.row.key(), horizon)
                .is_some_and(|current| current.rowid == version.rowid),
        }
    }

    /// All versions that the horizon shows, in commit order.
    pub(crate) fn all(&self, horizon: &Horizon) -> Vec<Arc<Version<R>>> {
        let log = self.log.load();
        let known = log.partition_point(|version| version.seq <= horizon.newest());
        log.iter()
            .take(known)
            .filter(|version| self.shows(version, horizon))
            .map(Arc::clone)
            .collect()
    }

    /// Those of them that hang on the entity (as written, not resolved).
    pub(crate) fn linked(&self, entity: EntityId, horizon: &Horizon) -> Vec<Arc<Version<R>>> {
        let Some(indexes) = self.links.get(&entity).map(|found| found.clone()) else {
            return Vec::new();
        };
        self.pick(&indexes, horizon)
    }

    /// Those of them that belong to the clip.
    pub(crate) fn in_clip(&self, clip: ClipId, horizon: &Horizon) -> Vec<Arc<Version<R>>> {
        let Some(indexes) = self.clips.get(&clip).map(|found| found.clone()) else {
            return Vec::new();
        };
        self.pick(&indexes, horizon)
    }

    fn pick(&self, indexes: &Log<u32>, horizon: &Horizon) -> Vec<Arc<Version<R>>> {
        let log = self.log.load();
        indexes
            .iter()
            .filter_map(|&at| log.get(at as usize))
            .filter(|version| self.shows(version, horizon))
            .map(Arc::clone)
            .collect()
    }
}
