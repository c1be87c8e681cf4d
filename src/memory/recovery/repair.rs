//! Finding and mending what is broken in a store: rows that hang on nothing, files that are not what their name
//! says, indexes that disagree with the rows.
//!
//! Nothing readable is thrown away: rows that nobody can read and files with other bytes are moved to `aside/`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::sync::Arc;

use rusqlite::Connection;
use rusqlite::types::ValueRef;
use serde_json::{Map, Value, json};

use crate::ids::{EntityId, EntityKind, Seq};
use crate::time::Timestamp;

use crate::memory::error::MemoryError;
use crate::memory::exchange::beside::raise_counter;
use crate::memory::exchange::import::counted;
use crate::memory::model::{
    Decision, Ground, MediaDigest, MemoryRow, MemoryVector, ObjectTrackRow, Retirement,
};
use crate::memory::rows::RowError;
use crate::memory::store::make_dir;
use crate::memory::store::scrub::scrubbing;
use crate::memory::tables::each_table;
use crate::memory::versions::temporal::Temporal;
use crate::memory::view::filter::{Filter, PerceptFilter};
use crate::memory::{ASIDE, Memory, View};

/// Vectors whose place in the index is tried.
const TRIED: usize = 500;
/// How far the index's cosine of a vector with itself may be from 1.
const SAME: f32 = 1e-3;

impl Memory {
    /// Rows that hang on nothing: versions of commits that are not there, vectors and verdicts of memories that
    /// are not there, ids that would be given twice.
    pub(in crate::memory) fn check_orphans(&self) -> Result<Vec<String>, MemoryError> {
        let mut faults = self.with_db("looking for orphan rows", |db| {
            let mut faults = Vec::new();
            macro_rules! check_tables {
                ($($field:ident: $row:ty,)*) => { $(uncommitted::<$row>(db, &mut faults)?;)* };
            }
            each_table!(check_tables);
            for table in HANGING {
                let orphans: i64 =
                    db.query_row(&format!("SELECT count(*) {}", orphans(table)), [], |row| {
                        row.get(0)
                    })?;
                if orphans > 0 {
                    faults.push(format!("{table}: {orphans} rows of memories that are not there"));
                }
            }
            Ok(faults)
        })?;
        let known = self.counters().0;
        for (what, next) in &counted(&self.tables()).0 {
            let given = known.get(what).copied().unwrap_or(1);
            if given < *next {
                faults.push(format!(
                    "the counter of {what} stands at {given}, but {} is taken",
                    next - 1
                ));
            }
        }
        Ok(faults)
    }

    /// Where the indexes in memory disagree with the rows.
    pub(in crate::memory) fn check_indexes(&self) -> Vec<String> {
        let tables = self.tables();
        let mut faults = Vec::new();
        let (rows, words, facets) =
            (tables.memories.log().len(), tables.lexical.len(), tables.facets.load().len());
        if rows != words || rows != facets {
            faults.push(format!("index: {rows} versions of memories, {words} in the index of words, {facets} in the columns"));
        }
        let vectors = tables.vectors.log();
        let view = self.view();
        let step = (vectors.len() / TRIED).max(1);
        for version in vectors.iter().step_by(step) {
            if !tables.vectors.shows(&version, &view.horizon)
                || view.memory(version.row.memory).is_none()
            {
                continue;
            }
            let near = view.nearest(&version.row.embedding(), 1, &Filter::default());
            if near.first().is_none_or(|(_, cosine)| *cosine < 1.0 - SAME) {
                faults.push(format!("index: the vector of {} is not found", version.row.memory));
            }
        }
        faults
    }

    /// Mends what can be mended in a file with sound pages, and tells what was done: unreadable rows, rows of commits
    /// that are not there and files with other bytes go aside,
    /// orphans are deleted, references to what is not there are taken out (as new versions, recorded at `at`),
    /// counters are raised. [`Self::check`] afterwards tells what is left.
    ///
    /// # Errors
    /// When the memory is open for reading only, or the disk fails; each step is a transaction of its own.
    pub fn repair(&self, at: Timestamp) -> Result<Vec<String>, MemoryError> {
        let mut done = Vec::new();
        self.repair_rows(&mut done)?;
        self.repair_media(&mut done)?;
        self.repair_references(at, &mut done)?;
        Ok(done)
    }

    fn repair_rows(&self, done: &mut Vec<String>) -> Result<(), MemoryError> {
        let _permit = self.0.turnstile.enter();
        let unreadable = self.with_db("reading damaged rows", |db| {
            let mut found = Vec::new();
            macro_rules! read_tables {
                ($($field:ident: $row:ty,)*) => { $(unreadable::<$row>(db, &mut found)?;)* };
            }
            each_table!(read_tables);
            Ok(found)
        })?;
        if !unreadable.is_empty() {
            self.put_aside(&unreadable)?;
        }
        let next = counted(&self.tables()).0;
        let known = self.counters().0;
        let lines = self.transaction("mending rows", |db| {
            let mut lines = Vec::new();
            let ((), _) = scrubbing(db, |db| {
                for Unreadable { table, version, .. } in &unreadable {
                    db.execute(&format!("DELETE FROM \"{table}\" WHERE version = ?"), [version])?;
                    lines.push(format!("{table} version {version}: moved to {ASIDE}/rows.jsonl"));
                }
                Ok(())
            })?;
            for table in HANGING {
                let deleted = db.execute(&format!("DELETE {}", orphans(table)), [])?;
                if deleted > 0 {
                    lines.push(format!(
                        "{table}: {deleted} rows of memories that are not there deleted"
                    ));
                }
            }
            for (what, next) in &next {
                if known.get(what).copied().unwrap_or(1) < *next {
                    raise_counter(db, what, *next)?;
                    lines.push(format!("the counter of {what} raised to {next}"));
                }
            }
            Ok(lines)
        })?;
        if !lines.is_empty() {
            let mut counters = self.counters();
            for (what, next) in next {
                let given = counters.0.entry(what).or_insert(1);
                *given = (*given).max(next);
            }
            self.set_counters(counters);
            let fresh = self.reload()?;
            self.0.tables.store(Arc::new(fresh));
        }
        done.extend(lines);
        Ok(())
    }

    /// Appends what cannot be read to a file beside the store.
    fn put_aside(&self, rows: &[Unreadable]) -> Result<(), MemoryError> {
        let folder = self.dir().join(ASIDE);
        make_dir(&folder)?;
        let path = folder.join("rows.jsonl");
        let fail = || MemoryError::io("writing damaged rows to", &path);
        let mut file = fs::OpenOptions::new()
            .create(true)
            .append(true)
            .mode(0o600)
            .open(&path)
            .map_err(fail())?;
        for Unreadable { table, version, row, reason } in rows {
            let line = json!({ "table": table, "version": version, "reason": reason, "row": row });
            writeln!(file, "{line}").map_err(fail())?;
        }
        file.sync_all().map_err(fail())
    }

    fn repair_media(&self, done: &mut Vec<String>) -> Result<(), MemoryError> {
        let removed = self.remove_orphans()?;
        if removed > 0 {
            done.push(format!("media: {removed} files that no row names deleted"));
        }
        let digests: BTreeSet<MediaDigest> =
            self.tables().media.log().iter().map(|version| version.row.digest.clone()).collect();
        for digest in digests {
            match self.media(&digest) {
                Ok(Some(bytes)) if MediaDigest::of(&bytes) != digest => {}
                // Encrypted, and damaged so that its key does not open it.
                Err(MemoryError::Encryption { .. }) => {}
                Ok(_) => continue,
                Err(error) => return Err(error),
            }
            let folder = self.dir().join(ASIDE);
            make_dir(&folder)?;
            self.folder().move_to(&digest, &folder.join(format!("media-{}", digest.0)))?;
            done.push(format!("media/{}: its bytes were damaged; moved to {ASIDE}/", digest.0));
        }
        Ok(())
    }

    /// References to what is not there are taken out, as new versions of their rows.
    fn repair_references(&self, at: Timestamp, done: &mut Vec<String>) -> Result<(), MemoryError> {
        let newest = self.view().newest_time();
        let mut draft = self.begin(newest.map_or(at, |newest| newest.max(at)));
        let view = draft.before();
        let known = |id: EntityId, kinds: &[EntityKind]| {
            (kinds.is_empty() || kinds.contains(&id.kind)) && view.knows(id)
        };
        for track in view.tracks(&PerceptFilter::default()) {
            if track.face.is_some_and(|face| !known(face, &[EntityKind::Face])) {
                draft.assign_track(track.clip, track.track, None, 0.0)?;
                done.push(format!(
                    "{} in clip {}: its face is not there; unassigned",
                    track.track, track.clip
                ));
            }
        }
        for track in view.object_tracks(&PerceptFilter::default()) {
            if track.object.is_some_and(|object| !known(object, &[EntityKind::Object])) {
                draft.object_track(ObjectTrackRow { object: None, ..(*track).clone() });
                done.push(format!(
                    "{} in clip {}: its object is not there; unassigned",
                    track.track, track.clip
                ));
            }
        }
        for turn in view.turns(&PerceptFilter::default()) {
            if turn.voice.is_some_and(|voice| !known(voice, &[EntityKind::Voice])) {
                draft.assign_turn(turn.clip.session, turn.turn, None, 0.0)?;
                done.push(format!(
                    "{} in clip {}: its voice is not there; unassigned",
                    turn.turn, turn.clip
                ));
            }
        }
        for row in view.memberships() {
            if !known(row.part, &[EntityKind::Face, EntityKind::Voice]) || !known(row.person, &[]) {
                draft.retire_membership(row.part);
                done.push(format!(
                    "{} belonged to {}: one of them is not there; ended",
                    row.part, row.person
                ));
            }
        }
        for row in view.merges() {
            if !known(row.from, &[]) || !known(row.into, &[]) {
                draft.undo_merge(row.from);
                done.push(format!(
                    "{} merged into {}: one of them is not there; undone",
                    row.from, row.into
                ));
            }
        }
        for row in view.memories(&Filter::default()) {
            let mut mended = MemoryRow::clone(&row);
            mended.entities.retain(|id| known(*id, &[]));
            mended.grounds.retain(|ground| self.holds(&view, ground));
            if mended != *row {
                draft.memory(mended, None);
                done.push(format!("{}: references to what is not there taken out", row.id));
            }
        }
        let imported = self.imported_until()?;
        for version in self.tables().media.log().iter() {
            let row = &version.row;
            let promised = row.pinned && version.retired_seq().is_none() && version.seq > imported;
            if promised && self.media(&row.digest)?.is_none() {
                draft.give_up_media((**row).clone());
                done.push(format!("media/{}: pinned, but not there; given up", row.digest.0));
            }
        }
        if draft.is_empty() {
            return Ok(());
        }
        draft.commit().map(drop)
    }

    /// Whether what a memory rests on is there.
    pub(in crate::memory) fn holds(&self, view: &View, ground: &Ground) -> bool {
        match ground {
            Ground::Track(clip, track) => view.track(*clip, *track).is_some(),
            Ground::Object(clip, track) => view.object_track(*clip, *track).is_some(),
            Ground::Text(clip, track) => view.text_track(*clip, *track).is_some(),
            Ground::Turn(clip, turn) => view.turn(clip.session, *turn).is_some(),
            Ground::Memory(id) => view.memory(*id).is_some() || view.retirement(*id).is_some(),
            // Not every export holds the answers.
            Ground::Answer(id) => {
                self.answer(*id).is_ok_and(|answer| answer.is_some())
                    || self.imported_until().is_ok_and(|until| until > Seq(0))
            }
        }
    }
}

/// Tables whose rows hang on a memory.
const HANGING: [&str; 4] = [MemoryVector::TABLE, Retirement::TABLE, Decision::TABLE, "access"];

fn orphans(table: &str) -> String {
    format!("FROM \"{table}\" WHERE memory NOT IN (SELECT id FROM memory)")
}

/// Versions of commits that are not there.
fn uncommitted<R: Temporal>(db: &Connection, faults: &mut Vec<String>) -> rusqlite::Result<()> {
    let mut statement = db.prepare(&format!(
        "SELECT seq, count(*) FROM \"{0}\" WHERE seq NOT IN (SELECT seq FROM commits) \
         OR retired_seq > (SELECT max(seq) FROM commits) GROUP BY seq ORDER BY seq",
        R::TABLE
    ))?;
    let rows = statement.query_map([], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)))?;
    let strays: BTreeMap<i64, i64> = rows.collect::<Result<_, _>>()?;
    for (seq, count) in strays {
        let seq = Seq(seq as u64);
        faults.push(format!("{}: {count} versions of commit {seq}, which is not whole", R::TABLE));
    }
    Ok(())
}

/// A row that nobody can read.
struct Unreadable {
    table: &'static str,
    version: i64,
    row: Value,
    reason: String,
}

fn unreadable<R: Temporal>(db: &Connection, found: &mut Vec<Unreadable>) -> rusqlite::Result<()> {
    let columns: Vec<String> = R::COLUMNS.iter().map(|column| format!("\"{column}\"")).collect();
    let mut statement = db.prepare(&format!(
        "SELECT {}, version, seq IN (SELECT seq FROM commits) FROM \"{}\" ORDER BY version",
        columns.join(", "),
        R::TABLE
    ))?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let read: Result<R, RowError> = R::read(row);
        let reason = match read {
            Err(error) => error.to_string(),
            Ok(_) if !row.get::<_, bool>(R::COLUMNS.len() + 1)? => {
                "its commit is not there".to_owned()
            }
            Ok(_) => continue,
        };
        let mut values = Map::new();
        for (at, column) in R::COLUMNS.iter().enumerate() {
            values.insert((*column).to_owned(), plain(row.get_ref(at)?));
        }
        found.push(Unreadable {
            table: R::TABLE,
            version: row.get(R::COLUMNS.len())?,
            row: Value::Object(values),
            reason,
        });
    }
    Ok(())
}

fn plain(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => json!(number),
        ValueRef::Real(number) => json!(number),
        ValueRef::Text(text) => json!(String::from_utf8_lossy(text)),
        ValueRef::Blob(bytes) => json!(hex::encode(bytes)),
    }
}
