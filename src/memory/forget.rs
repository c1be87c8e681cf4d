//! Erasing: the exception to versions. What is forgotten is gone at every time.
//!
//! Rows, exemplars, vectors, media files, words and free pages; in other people's sentences mention and
//! name become `<erased>`. Clips stay, so that a replay does not bring it back. An audit row says that
//! something was erased, not what.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use rusqlite::{Connection, params, params_from_iter};
use unicode_segmentation::UnicodeSegmentation;

use crate::ids::{ClipId, EntityId, MemoryId, Seq, SessionId, TrackId, TurnId};
use crate::mention;
use crate::percept::Transcript;
use crate::time::{Span, Timestamp};

use super::Memory;
use super::error::MemoryError;
use super::filter::overlaps;
use super::model::{
    Clip, Ground, MediaDigest, MemoryKind, MemoryRow, NameSource, Retirement, TurnRow,
};
use super::rows::RowError;
use super::store;
use super::tables::{Tables, each_table};
use super::temporal::{Table, Temporal};

/// What stands in place of a name or mention that was erased.
pub const ERASED: &str = "<erased>";

/// What to forget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forget {
    /// A person (or face, voice, alias: the whole person), an object, a place.
    Entity(EntityId),
    /// One memory.
    Memory(MemoryId),
    /// Everything that happened in a span: tracks and turns that touch it go as a whole.
    Span(Span),
    /// Memories of a kind that ended before a time, but for pinned ones; of utterances also the words of the turns.
    Aged(MemoryKind, Timestamp),
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
}

/// What becomes of a version.
enum Fate<R> {
    Keep,
    Delete,
    Rewrite(R),
}

/// Everything that the target reaches.
#[derive(Default)]
struct Reach {
    ids: BTreeSet<EntityId>,
    /// Names to be struck from other texts.
    names: BTreeSet<String>,
    tracks: HashSet<(ClipId, TrackId)>,
    turns: HashSet<(SessionId, TurnId)>,
    memories: HashSet<MemoryId>,
    span: Option<Span>,
    /// Turns that ended before it lose their words.
    words_before: Option<Timestamp>,
    /// When, in which clip, by which camera the erased faces were seen.
    seen: BTreeMap<ClipId, Vec<Span>>,
}

impl Memory {
    /// Erases for good; `at` is the record time of the commit that shows it. Views taken before keep what
    /// they see until they are dropped.
    ///
    /// # Errors
    /// When there is no such entity or memory, the memory is open for reading only, or the disk fails
    /// (then nothing is changed, or the files are left for the next start to delete).
    pub fn forget(&self, what: &Forget, at: Timestamp) -> Result<Erased, MemoryError> {
        self.forget_all(std::slice::from_ref(what), at)
    }

    /// As [`Self::forget`], several targets in one go; of spans only one.
    ///
    /// # Errors
    /// As there; then none of them is erased.
    pub fn forget_all(&self, what: &[Forget], at: Timestamp) -> Result<Erased, MemoryError> {
        let _permit = self.0.turnstile.enter();
        let tables = self.tables();
        let reach = self.reach(what, &tables)?;
        let next = Seq(tables.published().0 + 1);
        let mut erased = self.transaction("erasing", |db| {
            let mut erased = sweep_all(db, &tables, &reach)?;
            strike_answers(db, &reach)?;
            for session in reach.sessions() {
                // The streaming state may hold vectors of what was erased.
                db.execute("DELETE FROM checkpoint WHERE session = ?", [session.0])?;
            }
            db.execute(
                "INSERT INTO commits (seq, recorded, ingested) VALUES (?, ?, ?)",
                params![next.0 as i64, at.as_nanos(), Timestamp::wall_clock().as_nanos()],
            )?;
            erased.rewritten.sort_unstable();
            erased.rewritten.dedup();
            let mut actions: Vec<&str> = what.iter().map(Forget::word).collect();
            actions.dedup();
            db.execute(
                "INSERT INTO audit (at, action, rows, files) VALUES (?, ?, ?, 0)",
                params![at.as_nanos(), actions.join(" "), erased.rows as i64],
            )?;
            Ok(erased)
        })?;
        let fresh = {
            let mut db = self.0.db.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let path = store::database_path(self.dir());
            // Free pages and the log still hold the old bytes.
            db.execute_batch(
                "PRAGMA wal_checkpoint(TRUNCATE); VACUUM; PRAGMA wal_checkpoint(TRUNCATE);",
            )
            .map_err(MemoryError::sqlite("overwriting what was erased", &path))?;
            store::load(&mut db, &path)?.0
        };
        self.0.tables.store(Arc::new(fresh));
        self.0.present.set(super::PresentState::default());
        erased.files = self.remove_orphans()?;
        Ok(erased)
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
    }

    /// Whether there is anything that [`Forget::Span`] would take from before that time.
    #[must_use]
    pub fn has_before(&self, before: Timestamp) -> bool {
        let tables = self.tables();
        tables.memories.log().iter().any(|version| version.row.span.start < before)
            || tables.tracks.log().iter().any(|version| version.row.span.start < before)
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
                        "the robot itself cannot be erased".to_owned(),
                    ));
                }
                reach.ids.extend(ids);
            }
            Forget::Memory(id) => {
                if !tables.memories.log().iter().any(|version| version.row.id == *id) {
                    return Err(MemoryError::no_memory("erasing", *id));
                }
                reach.memories.insert(*id);
            }
            Forget::Span(span) => reach.span = Some(*span),
            Forget::Aged(kind, before) => {
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
            Self::Memory(_) => "memory",
            Self::Span(_) => "span",
            Self::Aged(..) => "aged",
        }
    }
}

fn is_aged(row: &MemoryRow, kind: MemoryKind, before: Timestamp) -> bool {
    row.kind == kind && row.span.end < before && !row.pinned
}

impl Reach {
    /// Everything that the targets reach.
    fn spread(&mut self, tables: &Tables) {
        let reach = self;
        let of_target = |id: &EntityId| reach.ids.contains(id);
        let log = tables.names.log();
        let (own, others): (Vec<_>, Vec<_>) =
            log.iter().map(|version| &version.row).partition(|row| of_target(&row.entity));
        let others: BTreeSet<String> = others.iter().map(|row| row.name.to_lowercase()).collect();
        reach.names = own
            .iter()
            .map(|row| row.name.to_lowercase())
            .filter(|name| !others.contains(name))
            .collect();
        let wanted = reach.span;
        let in_span = |span: Span| wanted.is_some_and(|wanted| overlaps(wanted, span));
        for version in tables.tracks.log().iter() {
            let row = &version.row;
            let own = row.face.is_some_and(|face| reach.ids.contains(&face));
            if own {
                reach.seen.entry(row.clip).or_default().push(row.span);
            }
            if own || in_span(row.span) {
                reach.tracks.insert(row.key());
            }
        }
        for version in tables.turns.log().iter() {
            let row = &version.row;
            if row.voice.is_some_and(|voice| reach.ids.contains(&voice)) || in_span(row.span) {
                reach.turns.insert(row.key());
            }
        }
        for version in tables.memories.log().iter() {
            let row = &version.row;
            if in_span(row.span) || reach.owns(row) {
                reach.memories.insert(row.id);
            }
        }
        // What was concluded from erased memories alone goes with them.
        loop {
            let before = reach.memories.len();
            for version in tables.memories.log().iter() {
                let row = &version.row;
                if !row.grounds.is_empty() && row.grounds.iter().all(|ground| reach.has(ground)) {
                    reach.memories.insert(row.id);
                }
            }
            if reach.memories.len() == before {
                return;
            }
        }
    }

    /// Whether the memory is about nobody else, or is what the target itself said.
    fn owns(&self, row: &MemoryRow) -> bool {
        let linked = row.links();
        let about = linked.iter().any(|id| self.ids.contains(id));
        let others = linked.iter().any(|id| !self.ids.contains(id) && *id != EntityId::ROBOT);
        let said = row.kind == MemoryKind::Utterance
            && row
                .grounds
                .iter()
                .any(|ground| matches!(ground, Ground::Turn(..)) && self.has(ground));
        said || (about && !others)
    }

    fn has(&self, ground: &Ground) -> bool {
        match ground {
            Ground::Track(clip, track) => self.tracks.contains(&(*clip, *track)),
            Ground::Turn(clip, turn) => self.turns.contains(&(clip.session, *turn)),
            Ground::Memory(id) => self.memories.contains(id),
            Ground::Answer(_) => false,
        }
    }

    fn sessions(&self) -> BTreeSet<SessionId> {
        let tracks = self.tracks.iter().map(|(clip, _)| clip.session);
        tracks.chain(self.turns.iter().map(|(session, _)| *session)).collect()
    }

    fn strike(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut from = 0;
        for mention in mention::mentions(text) {
            if self.ids.contains(&mention.entity) {
                out.push_str(&strike_names(&text[from..mention.range.start], &self.names));
                out.push_str(ERASED);
                from = mention.range.end;
            }
        }
        out.push_str(&strike_names(&text[from..], &self.names));
        out
    }

    fn clip(&self, row: &Clip) -> Fate<Clip> {
        let seen = self.seen.get(&row.id);
        let gone = |at: Timestamp| {
            self.span.is_some_and(|span| span.contains(at))
                || seen.is_some_and(|spans| spans.iter().any(|span| span.contains(at)))
        };
        if !row.key_frames.iter().any(|(_, at, _)| gone(*at)) {
            return Fate::Keep;
        }
        let mut row = row.clone();
        row.key_frames.retain(|(_, at, _)| !gone(*at));
        Fate::Rewrite(row)
    }

    fn turn(&self, row: &TurnRow) -> Fate<TurnRow> {
        if self.turns.contains(&row.key()) {
            return Fate::Delete;
        }
        let Some(words) = &row.words else { return Fate::Keep };
        if self.words_before.is_some_and(|before| row.span.end < before) {
            return Fate::Rewrite(TurnRow { words: None, ..row.clone() });
        }
        let text = self.strike(&words.text);
        if text == words.text {
            return Fate::Keep;
        }
        // A name may be several words: each of its words goes where it stands alone in the list.
        let parts: BTreeSet<String> =
            self.names.iter().flat_map(|name| words_of(name).map(|(_, word)| word)).collect();
        let words = Transcript {
            text,
            words: words
                .words
                .iter()
                .map(|word| {
                    let mut word = word.clone();
                    word.text = strike_names(&word.text, &parts);
                    word
                })
                .collect(),
            ..words.clone()
        };
        Fate::Rewrite(TurnRow { words: Some(words), ..row.clone() })
    }

    fn memory(&self, row: &MemoryRow) -> Fate<MemoryRow> {
        if self.memories.contains(&row.id) {
            return Fate::Delete;
        }
        let mut new = row.clone();
        new.text = self.strike(&row.text);
        new.entities.retain(|id| !self.ids.contains(id));
        new.grounds.retain(|ground| !self.has(ground));
        if let Some(fact) = &mut new.fact {
            for field in [&mut fact.subject, &mut fact.attribute, &mut fact.value] {
                let named = field.parse::<EntityId>().is_ok_and(|id| self.ids.contains(&id));
                *field = if named { ERASED.to_owned() } else { self.strike(field) };
            }
        }
        if new == *row { Fate::Keep } else { Fate::Rewrite(new) }
    }
}

/// Lower-cased words with their places; a possessive 's is no part of them.
fn words_of(text: &str) -> impl Iterator<Item = (std::ops::Range<usize>, String)> + '_ {
    text.unicode_word_indices().map(|(at, word)| {
        let bare = word.strip_suffix("'s").or_else(|| word.strip_suffix("’s")).unwrap_or(word);
        (at..at + bare.len(), bare.to_lowercase())
    })
}

/// Replaces each name (lower case) where it stands as whole words.
fn strike_names(text: &str, names: &BTreeSet<String>) -> String {
    let words: Vec<_> = words_of(text).collect();
    let names: Vec<Vec<String>> =
        names.iter().map(|name| words_of(name).map(|(_, word)| word).collect()).collect();
    let mut out = String::with_capacity(text.len());
    let (mut from, mut at) = (0, 0);
    while at < words.len() {
        let longest = names
            .iter()
            .filter(|name| {
                !name.is_empty()
                    && words[at..].len() >= name.len()
                    && words[at..].iter().zip(name.iter()).all(|((_, word), part)| word == part)
            })
            .map(Vec::len)
            .max();
        let Some(len) = longest else {
            at += 1;
            continue;
        };
        out.push_str(&text[from..words[at].0.start]);
        out.push_str(ERASED);
        from = words[at + len - 1].0.end;
        at += len;
    }
    out.push_str(&text[from..]);
    out
}

fn sweep_all(db: &Connection, tables: &Tables, reach: &Reach) -> rusqlite::Result<Erased> {
    let mut erased = Erased::default();
    let own = |id: &EntityId| reach.ids.contains(id);
    let in_span = |at: Timestamp| reach.span.is_some_and(|span| span.contains(at));
    fn when<R>(gone: bool) -> Fate<R> {
        if gone { Fate::Delete } else { Fate::Keep }
    }
    let rows = &mut erased.rows;
    sweep(db, &tables.clips, rows, |row| reach.clip(row))?;
    sweep(db, &tables.entities, rows, |row| when(own(&row.id)))?;
    sweep(db, &tables.tracks, rows, |row| when(reach.tracks.contains(&row.key())))?;
    sweep(db, &tables.turns, rows, |row| reach.turn(row))?;
    sweep(db, &tables.sounds, rows, |row| {
        when(reach.span.is_some_and(|span| span.intersection(row.sound.span).is_some()))
    })?;
    sweep(db, &tables.poses, rows, |row| when(in_span(row.pose.stamp)))?;
    sweep(db, &tables.exemplars, rows, |row| when(own(&row.entity) || in_span(row.at)))?;
    sweep(db, &tables.evidence, rows, |row| when(own(&row.face) || own(&row.voice)))?;
    sweep(db, &tables.memberships, rows, |row| when(own(&row.part) || own(&row.person)))?;
    sweep(db, &tables.merges, rows, |row| when(own(&row.from) || own(&row.into)))?;
    sweep(db, &tables.names, rows, |row| {
        let heard_there = row.turn.is_some_and(|turn| reach.turns.contains(&turn));
        when(own(&row.entity) || (heard_there && row.source == NameSource::Said))
    })?;
    let mut rewritten = Vec::new();
    sweep(db, &tables.memories, rows, |row| {
        let fate = reach.memory(row);
        if let Fate::Rewrite(new) = &fate
            && new.text != row.text
        {
            rewritten.push(row.id);
        }
        fate
    })?;
    let stale: HashSet<MemoryId> = rewritten.iter().copied().collect();
    let gone = |id: &MemoryId| reach.memories.contains(id);
    sweep(db, &tables.vectors, rows, |row| when(gone(&row.memory) || stale.contains(&row.memory)))?;
    sweep(db, &tables.retirements, rows, |row| {
        let reason = reach.strike(&row.reason);
        match gone(&row.memory) {
            true => Fate::Delete,
            false if reason == row.reason => Fate::Keep,
            false => Fate::Rewrite(Retirement { reason, ..row.clone() }),
        }
    })?;
    sweep(db, &tables.decisions, rows, |row| {
        when(gone(&row.memory) || row.other.as_ref().is_some_and(gone))
    })?;
    let ids: BTreeSet<&MemoryId> = reach.memories.iter().collect();
    for id in ids {
        db.execute("DELETE FROM access WHERE memory = ?", [id.0 as i64])?;
    }
    sweep_malformed(db, tables)?;
    let named = named_media(db)?;
    sweep(db, &tables.media, rows, |row| when(!named.contains(&row.digest)))?;
    erased.rewritten = rewritten;
    Ok(erased)
}

fn sweep<R: Temporal>(
    db: &Connection,
    table: &Table<R>,
    deleted: &mut u64,
    mut fate: impl FnMut(&R) -> Fate<R>,
) -> rusqlite::Result<()> {
    for version in table.log().iter() {
        match fate(&version.row) {
            Fate::Keep => {}
            Fate::Delete => {
                db.prepare_cached(&format!("DELETE FROM \"{}\" WHERE version = ?", R::TABLE))?
                    .execute([version.rowid])?;
                *deleted += 1;
            }
            Fate::Rewrite(row) => {
                let columns = R::COLUMNS
                    .iter()
                    .map(|column| format!("\"{column}\" = ?"))
                    .collect::<Vec<_>>()
                    .join(", ");
                let mut values = row.bind();
                values.push(rusqlite::types::Value::Integer(version.rowid));
                db.prepare_cached(&format!(
                    "UPDATE \"{}\" SET {columns} WHERE version = ?",
                    R::TABLE
                ))?
                .execute(params_from_iter(values))?;
            }
        }
    }
    Ok(())
}

/// Rows that nobody can read may hold anything: erasing takes them too.
fn sweep_malformed(db: &Connection, tables: &Tables) -> rusqlite::Result<()> {
    fn of_table<R: Temporal>(db: &Connection, table: &Table<R>) -> rusqlite::Result<()> {
        let read: HashSet<i64> = table.log().iter().map(|version| version.rowid).collect();
        let all: Vec<i64> = db
            .prepare(&format!("SELECT version FROM \"{}\"", R::TABLE))?
            .query_map([], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        for version in all.into_iter().filter(|version| !read.contains(version)) {
            db.execute(&format!("DELETE FROM \"{}\" WHERE version = ?", R::TABLE), [version])?;
        }
        Ok(())
    }
    macro_rules! sweep_tables {
        ($($field:ident: $row:ty,)*) => { $(of_table::<$row>(db, &tables.$field)?;)* };
    }
    each_table!(sweep_tables);
    Ok(())
}

/// Media that rows still name.
fn named_media(db: &Connection) -> rusqlite::Result<HashSet<MediaDigest>> {
    let mut named = HashSet::new();
    for query in [
        "SELECT sound FROM turn WHERE sound IS NOT NULL",
        "SELECT media FROM exemplar WHERE media IS NOT NULL",
    ] {
        let mut statement = db.prepare(query)?;
        for digest in statement.query_map([], |row| row.get::<_, String>(0))? {
            named.insert(MediaDigest(digest?.into()));
        }
    }
    let columns = Clip::COLUMNS.iter().map(|column| format!("\"{column}\"")).collect::<Vec<_>>();
    let mut statement = db.prepare(&format!("SELECT {} FROM clip", columns.join(", ")))?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let clip: Result<Clip, RowError> = Clip::read(row);
        if let Ok(clip) = clip {
            named.extend(clip.key_frames.into_iter().map(|(_, _, digest)| digest));
        }
    }
    Ok(named)
}

/// Answers that name, quote or rest on what was erased.
fn strike_answers(db: &Connection, reach: &Reach) -> rusqlite::Result<()> {
    let answers: Vec<(i64, String, String)> = db
        .prepare("SELECT id, question, document FROM answer")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect::<Result<_, _>>()?;
    let ids: HashSet<String> = reach
        .ids
        .iter()
        .map(ToString::to_string)
        .chain(reach.memories.iter().map(ToString::to_string))
        .collect();
    for (id, question, document) in answers {
        let text = format!("{question}\n{document}");
        let named = words_of(&text).any(|(_, word)| ids.contains(&word));
        if named || strike_names(&text, &reach.names) != text {
            db.execute("DELETE FROM answer WHERE id = ?", [id])?;
        }
    }
    Ok(())
}
