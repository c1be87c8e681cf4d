//! Erasing in the rows: one pass over every version of every table.

use std::collections::{BTreeSet, HashMap, HashSet};

use rusqlite::{Connection, params_from_iter};
use unicode_segmentation::UnicodeSegmentation;

use super::Erased;
use super::left::Left;
use super::reach::{Fate, Reach};
use crate::ids::{EntityId, MemoryId};
use crate::memory::model::{Clip, MediaDigest};
use crate::memory::rows::RowError;
use crate::memory::tables::{Tables, each_table};
use crate::memory::versions::temporal::{Table, Temporal, Version};
use crate::time::Timestamp;

/// What is done about what becomes of versions.
pub(super) trait Meet {
    type Error;

    /// Does to a version what becomes of it.
    fn meet<R: Temporal>(&mut self, version: &Version<R>, fate: Fate<R>)
    -> Result<(), Self::Error>;

    /// Goes through all versions of a table.
    fn sweep<R: Temporal>(
        &mut self,
        table: &Table<R>,
        mut fate: impl FnMut(&R) -> Fate<R>,
    ) -> Result<(), Self::Error> {
        self.sweep_versions(table, |version| fate(&version.row))
    }

    /// The same where it hangs on more than the row.
    fn sweep_versions<R: Temporal>(
        &mut self,
        table: &Table<R>,
        mut fate: impl FnMut(&Version<R>) -> Fate<R>,
    ) -> Result<(), Self::Error> {
        for version in table.log().iter() {
            let fate = fate(&version);
            self.meet(&version, fate)?;
        }
        Ok(())
    }
}

/// Deletes and rewrites in the file.
struct InFile<'db> {
    db: &'db Connection,
    deleted: u64,
}

impl Meet for InFile<'_> {
    type Error = rusqlite::Error;

    fn meet<R: Temporal>(&mut self, version: &Version<R>, fate: Fate<R>) -> rusqlite::Result<()> {
        match fate {
            Fate::Keep => Ok(()),
            Fate::Delete => {
                self.db
                    .prepare_cached(&format!("DELETE FROM \"{}\" WHERE version = ?", R::TABLE))?
                    .execute([version.rowid])?;
                self.deleted += 1;
                Ok(())
            }
            Fate::Rewrite(row) => {
                let columns = R::COLUMNS.iter().map(|column| format!("\"{column}\" = ?"));
                let columns = columns.collect::<Vec<_>>().join(", ");
                let mut values = row.bind();
                values.push(rusqlite::types::Value::Integer(version.rowid));
                let update = format!("UPDATE \"{}\" SET {columns} WHERE version = ?", R::TABLE);
                self.db.prepare_cached(&update)?.execute(params_from_iter(values)).map(drop)
            }
        }
    }
}

/// Deletes and rewrites what `reach` says; gives back how much, what needs a new vector, and the media that nobody names
/// any more. `unreadable`: there are rows that are not in RAM.
pub(super) fn sweep_all(
    db: &Connection,
    tables: &Tables,
    reach: &Reach,
    unreadable: bool,
) -> rusqlite::Result<(Erased, Vec<MediaDigest>)> {
    let mut file = InFile { db, deleted: 0 };
    let rewritten = sweep_rows(&mut file, tables, reach)?;
    let ids: BTreeSet<&MemoryId> = reach.memories.iter().collect();
    for id in ids {
        db.execute("DELETE FROM access WHERE memory = ?", [id.0 as i64])?;
    }
    if unreadable {
        sweep_malformed(db, tables)?;
    }
    let named = named_media(db)?;
    let mut media = Vec::new();
    file.sweep(&tables.media, |row| {
        let gone = !named.contains(&row.digest);
        if gone {
            media.push(row.digest.clone());
        }
        when(gone)
    })?;
    let erased = Erased { rows: file.deleted, rewritten, ..Erased::default() };
    Ok((erased, media))
}

/// Meets all versions but those of media with what becomes of them; gives back the memories that need a new vector.
pub(super) fn sweep_rows<M: Meet>(
    with: &mut M,
    tables: &Tables,
    reach: &Reach,
) -> Result<Vec<MemoryId>, M::Error> {
    let own = |id: &EntityId| reach.ids.contains(id);
    let in_span = |at: Timestamp| reach.span.is_some_and(|span| span.contains(at));
    with.sweep(&tables.clips, |row| reach.clip(row))?;
    with.sweep(&tables.entities, |row| when(own(&row.id)))?;
    with.sweep(&tables.tracks, |row| when(reach.tracks.contains(&row.key())))?;
    with.sweep(&tables.object_tracks, |row| when(reach.objects.contains(&row.key())))?;
    with.sweep(&tables.text_tracks, |row| when(reach.texts.contains(&row.key())))?;
    with.sweep(&tables.turns, |row| reach.turn(row))?;
    let mut ended = BTreeSet::new();
    with.sweep(&tables.watches, |row| {
        let fate = reach.watch(row);
        if matches!(fate, Fate::Delete) {
            ended.insert(row.id);
        }
        fate
    })?;
    with.sweep(&tables.firings, |row| {
        let of_target = row.entity.as_ref().is_some_and(own);
        when(of_target || ended.contains(&row.watch) || in_span(row.at))
    })?;
    with.sweep(&tables.sounds, |row| {
        when(reach.span.is_some_and(|span| span.intersection(row.sound.span).is_some()))
    })?;
    with.sweep(&tables.sound_events, |row| {
        when(reach.span.is_some_and(|span| span.intersection(row.event.span).is_some()))
    })?;
    with.sweep(&tables.actions, |row| {
        let in_span = reach.span.is_some_and(|span| span.intersection(row.action.span).is_some());
        when(in_span || reach.tracks.contains(&(row.clip, row.track)))
    })?;
    with.sweep(&tables.camera_moves, |row| {
        when(reach.span.is_some_and(|span| span.intersection(row.moved.span).is_some()))
    })?;
    with.sweep(&tables.poses, |row| when(in_span(row.pose.stamp)))?;
    with.sweep(&tables.exemplars, |row| when(reach.takes_sample(row)))?;
    let left = reach.span.map(|span| Left::of(tables, span));
    let left = left.as_ref();
    with.sweep_versions(&tables.evidence, |version| {
        let gone = own(&version.row.face) || own(&version.row.voice);
        left.filter(|_| !gone).map_or_else(|| when(gone), |left| left.evidence(version))
    })?;
    with.sweep_versions(&tables.memberships, |version| {
        let gone = own(&version.row.part) || own(&version.row.person);
        left.filter(|_| !gone).map_or_else(|| when(gone), |left| left.membership(version))
    })?;
    with.sweep_versions(&tables.merges, |version| {
        let gone = own(&version.row.from) || own(&version.row.into);
        left.filter(|_| !gone).map_or_else(|| when(gone), |left| left.merge(version))
    })?;
    let mut known = HashMap::new();
    with.sweep(&tables.names, |row| reach.name(row, &mut known))?;
    let mut rewritten = Vec::new();
    let log = tables.memories.log();
    let touched = log.pick(|version| match reach.memory(&version.row) {
        Fate::Keep => None,
        fate => Some((version.clone(), fate)),
    });
    for (version, fate) in touched {
        if let Fate::Rewrite(new) = &fate
            && new.text != version.row.text
        {
            rewritten.push(version.row.id);
        }
        with.meet(&version, fate)?;
    }
    let stale: BTreeSet<MemoryId> = rewritten.iter().chain(&reach.memories).copied().collect();
    let vectors = tables.vectors.log();
    let mut positions = Vec::new();
    for id in stale {
        tables.vectors.numbered(id.0, |at| positions.push(at));
    }
    positions.sort_unstable();
    for version in positions.into_iter().filter_map(|at| vectors.get(at as usize)) {
        with.meet(&version, Fate::Delete)?;
    }
    with.sweep(&tables.passages, |row| when(reach.memories.contains(&row.memory)))?;
    with.sweep(&tables.retirements, |row| reach.retirement(row))?;
    with.sweep(&tables.decisions, |row| when(reach.decision(row)))?;
    Ok(rewritten)
}

fn when<R>(gone: bool) -> Fate<R> {
    if gone { Fate::Delete } else { Fate::Keep }
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
pub(in crate::memory) fn named_media(db: &Connection) -> rusqlite::Result<HashSet<MediaDigest>> {
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

/// Erases the answers that name, quote or rest on what is erased.
pub(super) fn strike_answers(db: &Connection, reach: &Reach) -> rusqlite::Result<()> {
    let struck = struck_answers(db, reach)?;
    let mut delete = db.prepare_cached("DELETE FROM answer WHERE id = ?")?;
    struck.into_iter().try_for_each(|id| delete.execute([id]).map(drop))
}

/// Which they are: read one by one, however many there are.
pub(super) fn struck_answers(db: &Connection, reach: &Reach) -> rusqlite::Result<Vec<i64>> {
    let ids: HashSet<String> = reach
        .ids
        .iter()
        .map(ToString::to_string)
        .chain(reach.memories.iter().map(ToString::to_string))
        .collect();
    let mut struck: Vec<i64> = Vec::new();
    let mut read = db.prepare("SELECT id, question, document FROM answer")?;
    let mut answers = read.query([])?;
    while let Some(answer) = answers.next()? {
        let (question, document): (String, String) = (answer.get(1)?, answer.get(2)?);
        let text = format!("{question}\n{document}");
        let named = text.unicode_words().any(|word| ids.contains(&word.to_lowercase()));
        if named || !reach.struck.places(&text).is_empty() {
            struck.push(answer.get(0)?);
        }
    }
    Ok(struck)
}
