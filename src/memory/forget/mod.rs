//! Erasing: the exception to versions. What is forgotten is gone at every time.
//!
//! Rows, exemplars, vectors, media files, words, and what pages and log still hold of them; in other people's sentences and names, and in what names
//! a recording or a camera, mention and name become `<erased>`. Sessions and clips stay, so that a replay does not bring it
//! back: a recording is known by its bytes. An audit row says that something was erased, not what.
//!
//! The rows go in one transaction, which also notes that the disk still holds the old bytes ([`overwrite`]).
//! Whoever is killed from there on finishes when the store is opened next.

mod columns;
mod left;
mod overwrite;
pub(super) mod past;
mod reach;
pub(crate) mod steps;
mod strike;
mod sweep;
mod tally;
pub(super) mod thin;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rusqlite::{Connection, params};

use crate::ids::{EntityId, MemoryId, Seq};
use crate::names::Name;
use crate::time::{Span, Timestamp};

use super::error::MemoryError;
use super::model::{MemoryKind, MemoryRow};
use super::store::Loaded;
use super::store::scrub::{TouchedRows, scrubbing};
use super::summary;
use super::tables::{StruckRows, Tables};
use super::view::told;
use super::{Memory, store};

pub(super) use columns::sealed;
use reach::Reach;
pub(super) use sweep::named_media;
pub use tally::Tally;

/// What stands in place of a name or mention that was erased.
pub const ERASED: &str = "<erased>";

/// What to forget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Forget {
    /// A person (or face, voice, alias: the whole person), an object, a place.
    Entity(EntityId),
    /// A thing without an id (or the place where facts say that one is), by the noun that facts have for it: the facts of
    /// it, and the noun wherever it stands.
    Thing(String),
    /// Somebody without an id, by the name that memories have for them: what is about nobody else, and the name wherever
    /// it stands.
    Name(String),
    /// One memory; of an utterance also the turn's words and sound, and what was concluded from them alone.
    Memory(MemoryId),
    /// All passages of a document, by its name, and those that it had.
    Document(String),
    /// Everything that happened in a span: tracks and turns that touch it go as a whole.
    Span(Span),
    /// Memories of a kind that ended before a time, but for pinned ones; of utterances also the words and
    /// the sound of the turns.
    Aged(MemoryKind, Timestamp),
}

/// What a change of the file leaves for RAM.
pub(super) enum Remaining {
    /// Rows that it touched; the rest is as it was.
    Touched(Box<StruckRows>),
    /// Everything.
    All(Box<Tables>, Loaded),
}

/// Everything is read anew when more than one in so many versions was touched.
const FEW: usize = if cfg!(test) { 1 } else { 8 };

/// While it is there, [`Memory::is_forgetting`] says so.
struct Forgetting<'m>(&'m AtomicU64);

impl<'m> Forgetting<'m> {
    fn tell(count: &'m AtomicU64) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(count)
    }
}

impl Drop for Forgetting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// What erasing did.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Erased {
    /// Row versions deleted.
    pub rows: u64,
    /// Media files deleted.
    pub files: u64,
    /// Memories whose sentence was rewritten: they need a new vector.
    pub rewritten: Vec<MemoryId>,
    /// Why bytes of it are still on the disk, where nobody who asks finds them; tried again until they are not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits: Option<String>,
}

impl Memory {
    /// Erases for good; `at` is the record time of the commit that shows it. Views taken before keep the rows that they
    /// see until they are dropped, but find nothing of it by word, name or nearness any more.
    ///
    /// # Errors
    /// When there is no such entity or memory, the memory is open for reading only, or the disk fails; then nothing is
    /// changed. A disk that fails once the rows are gone is no error: [`Erased::waits`] says so, and
    /// [`Self::finish_erasing`] does what is left.
    pub fn forget(&self, what: &Forget, at: Timestamp) -> Result<Erased, MemoryError> {
        self.forget_all(std::slice::from_ref(what), at)
    }

    /// As [`Self::forget`], several targets in one go; of spans only one.
    ///
    /// # Errors
    /// As there; then none of them is erased.
    pub fn forget_all(&self, what: &[Forget], at: Timestamp) -> Result<Erased, MemoryError> {
        self.forget_after(what, at, |_| {})
    }

    /// As [`Self::forget_all`]; `first` is done once it is known that nothing stands in the way, before anything is
    /// erased: for what else must not bring it back. It is told when what goes was captured, by time.
    ///
    /// # Errors
    /// As there; `first` may have been done when the disk fails.
    pub fn forget_after(
        &self,
        what: &[Forget],
        at: Timestamp,
        first: impl FnOnce(&[Span]),
    ) -> Result<Erased, MemoryError> {
        const DOING: &str = "erasing";
        let _permit = self.0.turnstile.enter();
        let _told = Forgetting::tell(&self.0.forgetting);
        if self.0.lock.is_none() {
            return Err(MemoryError::ReadOnly { doing: DOING });
        }
        let tables = self.tables();
        let reach = self.reach(what, &tables)?;
        first(&reach.moments(&tables));
        steps::reached("begun");
        let unreadable = self.malformed() > 0;
        let next = Seq(tables.published().0 + 1);
        let done = Timestamp::wall_clock();
        let (mut erased, media, left) = self.transaction(DOING, |db| {
            let ((mut erased, media), touched) = scrubbing(db, |db| {
                let swept = sweep::sweep_all(db, &tables, &reach, unreadable)?;
                steps::reached("rows deleted");
                columns::strike(db, &reach)?;
                sweep::strike_answers(db, &reach)?;
                for session in reach.sessions() {
                    // The streaming state may hold vectors of what was erased.
                    db.execute("DELETE FROM checkpoint WHERE session = ?", [session.0])?;
                }
                // Newer states took the place of older ones.
                db.execute("UPDATE checkpoint SET clip = clip", [])?;
                Ok(swept)
            })?;
            db.execute(
                "INSERT INTO commits (seq, recorded, ingested) VALUES (?, ?, ?)",
                params![next.0 as i64, at.as_nanos(), done.as_nanos()],
            )?;
            erased.rewritten.sort_unstable();
            erased.rewritten.dedup();
            overwrite::note(db, &erased.rewritten, (next, at))?;
            let mut actions: Vec<&str> = what.iter().map(Forget::word).collect();
            actions.dedup();
            // When it was done, whatever time the store has; the files follow when they are deleted.
            db.execute(
                "INSERT INTO audit (at, action, rows, files) VALUES (?, ?, ?, 0)",
                params![done.as_nanos(), actions.join(" "), erased.rows as i64],
            )?;
            steps::reached("pages scrubbed");
            // What cannot be read again is not erased: the rows in the file and in RAM are the same ones at any time.
            let left = self.read_left(db, &tables, &touched)?;
            steps::reached("about to commit");
            Ok((erased, media, left))
        })?;
        steps::reached("committed");
        // Nobody reads the old rows from here on, whatever becomes of the bytes.
        self.show_left(&tables, left, &[(next, at)]);
        self.0.present.set(super::PresentState::default());
        self.0.erasures.fetch_add(1, Ordering::SeqCst);
        steps::reached("shown");
        // Rows that nobody could read may have named any file.
        match self.overwrite((!unreadable).then_some(media.as_slice())) {
            Ok(files) => erased.files = files,
            Err(error) => {
                tracing::warn!(%error, "What was erased is not overwritten on the disk yet; it is tried again.");
                erased.waits = Some(error.to_string());
            }
        }
        if erased.waits.is_none() && self.is_erasing().unwrap_or(true) {
            erased.waits = Some("another process reads the store".to_owned());
        }
        Ok(erased)
    }

    /// What a change of the file leaves, as its transaction sees it: what it touched, or, where that is much of all there is,
    /// everything anew.
    pub(super) fn read_left(
        &self,
        db: &Connection,
        tables: &Tables,
        touched: &TouchedRows,
    ) -> rusqlite::Result<Remaining> {
        if let Some(derived) = &self.0.derived {
            derived.note_erasure();
        }
        let count: usize = touched.values().map(Vec::len).sum();
        let few = count * FEW <= tables.count() && self.malformed() == 0;
        if few
            && let Some(struck) = store::read_struck(db, touched)?
            && struck.are_found(tables)
        {
            return Ok(Remaining::Touched(Box::new(struck)));
        }
        let path = store::database_path(self.dir());
        let (tables, loaded) = store::read_all(db, &path, self.options().key.is_some())?;
        Ok(Remaining::All(Box::new(tables), loaded))
    }

    /// Shows it, with the commits that belong to it; nobody reads anything else from here on. The writer's permit is held.
    pub(super) fn show_left(&self, tables: &Tables, left: Remaining, commits: &[(Seq, Timestamp)]) {
        let fresh = match left {
            Remaining::All(tables, loaded) => {
                self.set_malformed(loaded.malformed);
                *tables
            }
            Remaining::Touched(struck) => {
                let fresh = tables.without(*struck);
                fresh.publish(commits.iter().copied());
                fresh
            }
        };
        self.0.tables.store(Arc::new(fresh));
    }

    /// Whether there is anything that [`Forget::Aged`] would take.
    #[must_use]
    pub fn has_aged(&self, kind: MemoryKind, before: Timestamp) -> bool {
        let tables = self.tables();
        tables.memories.log().iter().any(|version| is_aged(&version.row, kind, before))
            || kind == MemoryKind::Utterance
                && tables
                    .turns
                    .log()
                    .iter()
                    .any(|version| version.row.words.is_some() && version.row.span.end < before)
            || kind == MemoryKind::Utterance
                && tables
                    .memories
                    .log()
                    .iter()
                    .any(|version| version.row.span.end < before && summary::quotes(&version.row))
    }

    /// Whether there is anything that [`Forget::Span`] would take from before that time.
    #[must_use]
    pub fn has_before(&self, before: Timestamp) -> bool {
        let tables = self.tables();
        tables.memories.log().iter().any(|version| version.row.span.start < before)
            || tables.tracks.log().iter().any(|version| version.row.span.start < before)
            || tables.object_tracks.log().iter().any(|version| version.row.span.start < before)
            || tables.text_tracks.log().iter().any(|version| version.row.track.span.start < before)
            || tables.sound_events.log().iter().any(|version| version.row.event.span.start < before)
            || tables.actions.log().iter().any(|version| version.row.action.span.start < before)
            || tables.camera_moves.log().iter().any(|version| version.row.moved.span.start < before)
            || tables.turns.log().iter().any(|version| version.row.span.start < before)
    }

    fn reach(&self, what: &[Forget], tables: &Tables) -> Result<Reach, MemoryError> {
        let mut reach = Reach::default();
        for what in what {
            self.aim(what, tables, &mut reach)?;
        }
        reach.spread(tables);
        Ok(reach)
    }

    /// What one target names itself.
    fn aim(&self, what: &Forget, tables: &Tables, reach: &mut Reach) -> Result<(), MemoryError> {
        match what {
            Forget::Entity(id) => {
                let view = self.view();
                let ids = view.same_as(*id);
                if !ids.iter().any(|id| view.knows(*id)) {
                    return Err(MemoryError::NotFound { doing: "erasing", what: id.to_string() });
                }
                if ids.contains(&EntityId::ROBOT) {
                    return Err(MemoryError::Refused(
                        "erasing: the robot itself cannot be erased".to_owned(),
                    ));
                }
                reach.ids.extend(ids);
            }
            Forget::Thing(noun) => {
                let noun = noun.to_lowercase();
                reach.things.insert(noun.clone());
                let tells = |row: &MemoryRow| reach.tells_of(row) || told::has_value(row, &noun);
                if !tables.memories.log().iter().any(|version| tells(&version.row)) {
                    let what = format!("fact of a thing called {noun:?}");
                    return Err(MemoryError::NotFound { doing: "erasing", what });
                }
            }
            Forget::Name(name) => {
                let named = Name::new(name);
                if !tables.memories.log().iter().any(|version| told::holds(&version.row, &named)) {
                    let what = format!("memory of anybody called {name:?}");
                    return Err(MemoryError::NotFound { doing: "erasing", what });
                }
                reach.called.insert(name.to_lowercase(), named);
            }
            Forget::Memory(id) => {
                if !tables.memories.log().iter().any(|version| version.row.id == *id) {
                    return Err(MemoryError::no_memory("erasing", *id));
                }
                reach.memories.insert(*id);
                // What somebody said is in the turn, too, and in its sound.
                let log = tables.memories.log();
                let versions = log.iter().map(|version| version.row);
                versions.filter(|row| row.id == *id).for_each(|row| reach.take_words(&row));
            }
            Forget::Document(name) => {
                let log = tables.passages.log();
                let all = log.iter().map(|version| version.row);
                let own: Vec<MemoryId> =
                    all.filter(|row| row.document == *name).map(|row| row.memory).collect();
                if own.is_empty() {
                    let what = format!("document called {name:?}");
                    return Err(MemoryError::NotFound { doing: "erasing", what });
                }
                reach.memories.extend(own);
            }
            Forget::Span(span) => reach.span = Some(*span),
            Forget::Aged(kind, before) => {
                reach.aged = true;
                let log = tables.memories.log();
                let aged = log.iter().filter(|version| is_aged(&version.row, *kind, *before));
                reach.memories.extend(aged.map(|version| version.row.id));
                if *kind == MemoryKind::Utterance {
                    reach.words_before = Some(*before);
                }
            }
        }
        Ok(())
    }
}

impl Forget {
    /// Its word in the audit.
    fn word(&self) -> &'static str {
        match self {
            Self::Entity(_) => "entity",
            Self::Thing(_) => "thing",
            Self::Name(_) => "name",
            Self::Memory(_) => "memory",
            Self::Document(_) => "document",
            Self::Span(_) => "span",
            Self::Aged(..) => "aged",
        }
    }
}

fn is_aged(row: &MemoryRow, kind: MemoryKind, before: Timestamp) -> bool {
    row.kind == kind && row.span.end < before && !row.pinned
}
