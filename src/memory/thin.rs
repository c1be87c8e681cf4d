//! Sightings of long ago: of a track those stay that tell where it began, where it was seen best, and where it ended.

use rusqlite::params;
use rusqlite::types::Value;

use crate::ids::Seq;
use crate::time::Timestamp;

use super::Memory;
use super::error::MemoryError;
use super::model::{ObjectTrackRow, TrackRow};
use super::past::{Mark, border, write_mark};
use super::scrub::scrubbing;
use super::sightings::Sightings;
use super::temporal::{Table, Temporal};

/// The job of upkeep that thins them.
const JOB: &str = "sightings";
/// Tracks that one transaction takes, and those of the same commit.
const AT_ONCE: usize = 2_000;

/// A row with sightings.
trait Sighted: Temporal {
    const COLUMN: &'static str = "sightings";

    fn sightings(&self) -> &Sightings;
    fn with(&self, sightings: Sightings) -> Self;
}

impl Sighted for TrackRow {
    fn sightings(&self) -> &Sightings {
        &self.sightings
    }

    fn with(&self, sightings: Sightings) -> Self {
        Self { sightings, ..self.clone() }
    }
}

impl Sighted for ObjectTrackRow {
    fn sightings(&self) -> &Sightings {
        &self.sightings
    }

    fn with(&self, sightings: Sightings) -> Self {
        Self { sightings, ..self.clone() }
    }
}

impl Memory {
    /// Thins, for good, the sightings of the oldest tracks that were committed by `before` (record time) and are not thinned
    /// yet, retired versions too: one transaction. How many tracks it looked at; 0: none is left.
    ///
    /// # Errors
    /// When the store is read-only or fails; then nothing is changed.
    pub fn thin_sightings(&self, before: Timestamp) -> Result<u64, MemoryError> {
        let _permit = self.0.turnstile.enter();
        let tables = self.tables();
        let Some((newest, _)) = border(&tables, before) else { return Ok(0) };
        let done = self.mark(JOB)?.map_or(Seq(0), |mark| mark.seq);
        let (tracks, objects) = (&tables.tracks, &tables.object_tracks);
        let to = upto(tracks, done, newest).min(upto(objects, done, newest));
        let (mut thinned, mut looked_at) = (Vec::new(), 0);
        looked_at += thin(tracks, (done, to), &mut thinned);
        looked_at += thin(objects, (done, to), &mut thinned);
        if looked_at == 0 {
            return Ok(0);
        }
        let left = self.transaction("thinning the sightings of long ago", |db| {
            let ((), touched) = scrubbing(db, |db| {
                for Thinned { table, rowid, sightings } in &thinned {
                    let update = format!("UPDATE \"{table}\" SET sightings = ? WHERE rowid = ?");
                    db.prepare_cached(&update)?.execute(params![sightings, rowid])?;
                }
                Ok(())
            })?;
            write_mark(db, JOB, Mark { at: before, seq: to })?;
            self.read_left(db, &tables, &touched)
        })?;
        if !thinned.is_empty() {
            self.show_left(&tables, left, &[]);
        }
        Ok(looked_at)
    }
}

/// A row's sightings as they are to be.
struct Thinned {
    table: &'static str,
    rowid: i64,
    sightings: Value,
}

/// The commit up to which a table has as many rows as are taken at once, behind the one that is done; at most `newest`.
fn upto<R: Temporal>(table: &Table<R>, done: Seq, newest: Seq) -> Seq {
    let log = table.log();
    let from = log.partition_point(|seq| seq <= done);
    log.seq(from + AT_ONCE).map_or(newest, |seq| seq.min(newest))
}

/// Adds the rows between two commits that have more than stay; gives back how many rows there are.
fn thin<R: Sighted>(table: &Table<R>, (done, to): (Seq, Seq), into: &mut Vec<Thinned>) -> u64 {
    let log = table.log();
    let [from, end] = [done, to].map(|border| log.partition_point(|seq| seq <= border));
    for version in (from..end).filter_map(|at| log.get(at)) {
        let Some(fewer) = thinned(version.row.sightings()) else { continue };
        let row = version.row.with(fewer);
        let values = R::COLUMNS.iter().zip(row.bind());
        let own = values.into_iter().find(|(column, _)| **column == R::COLUMN);
        into.extend(own.map(|(_, sightings)| Thinned {
            table: R::TABLE,
            rowid: version.rowid,
            sightings,
        }));
    }
    (end - from) as u64
}

/// The first, the best (of equals the first) and the last; `None`: there are no others.
fn thinned(all: &Sightings) -> Option<Sightings> {
    let best = all
        .iter()
        .enumerate()
        .reduce(|best, one| if one.1.score > best.1.score { one } else { best });
    let (best, last) = (best?.0, all.len() - 1);
    let stays = |(at, sighting)| [0, best, last].contains(&at).then_some(sighting);
    let few: Sightings = all.iter().enumerate().filter_map(stays).collect();
    (few.len() < all.len()).then_some(few)
}
