//! Sightings of long ago: of a track those stay that tell where it began, where it was seen best, and where it ended.

use std::sync::Arc;

use rusqlite::Connection;

use crate::ids::Seq;
use crate::time::Timestamp;

use super::past::{Mark, border, write_mark};
use crate::memory::error::MemoryError;
use crate::memory::model::{ObjectTrackRow, TrackRow};
use crate::memory::store::scrub::scrubbing;
use crate::memory::versions::sightings::Sightings;
use crate::memory::versions::temporal::{Table, Temporal, Version};
use crate::memory::{Memory, store};

/// The job of upkeep that thins them.
const JOB: &str = "sightings";
/// Tracks that one transaction takes, and those of the same commit.
const AT_ONCE: usize = 2_000;

/// A row with sightings.
trait Sighted: Temporal {
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
        let ((tracks, of_tracks), (objects, of_objects)) =
            (thin(tracks, (done, to)), thin(objects, (done, to)));
        if of_tracks + of_objects == 0 {
            return Ok(0);
        }
        let left = self.transaction("thinning the sightings of long ago", |db| {
            let ((), touched) = scrubbing(db, |db| {
                rewrite(db, &tracks)?;
                rewrite(db, &objects)
            })?;
            write_mark(db, JOB, Mark { at: before, seq: to })?;
            self.read_left(db, &tables, &touched)
        })?;
        if !(tracks.is_empty() && objects.is_empty()) {
            self.show_left(&tables, left, &[]);
        }
        Ok(of_tracks + of_objects)
    }
}

/// The commit up to which a table has as many rows as are taken at once, behind the one that is done; at most `newest`.
fn upto<R: Temporal>(table: &Table<R>, done: Seq, newest: Seq) -> Seq {
    let log = table.log();
    let from = log.partition_point(|seq| seq <= done);
    let next = (from + AT_ONCE..log.len()).find_map(|at| log.seq(at));
    next.map_or(newest, |seq| seq.min(newest))
}

/// The versions between two commits that have more sightings than stay, without those; and how many versions there are.
fn thin<R: Sighted>(table: &Table<R>, (done, to): (Seq, Seq)) -> (Vec<Version<R>>, u64) {
    let log = table.log();
    let [from, end] = [done, to].map(|border| log.partition_point(|seq| seq <= border));
    let versions = (from..end).filter_map(|at| log.get(at));
    let thinned = versions.filter_map(|version| {
        let row = Arc::new(version.row.with(thinned(version.row.sightings())?));
        Some(Version { row, ..version })
    });
    (thinned.collect(), (end - from) as u64)
}

/// Writes versions anew, each in its place. (A row that is only made shorter leaves its page as empty as that makes it; what is
/// deleted and written again is put together with its neighbours.)
fn rewrite<R: Temporal>(db: &Connection, versions: &[Version<R>]) -> rusqlite::Result<()> {
    for version in versions {
        db.prepare_cached(&format!("DELETE FROM \"{}\" WHERE version = ?", R::TABLE))?
            .execute([version.rowid])?;
        let commit = (version.seq, version.recorded);
        store::insert(db, Some(version.rowid), &*version.row, commit)?;
        if let Some(seq) = version.retired {
            store::retire::<R>(db, version.rowid, seq)?;
        }
    }
    Ok(())
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
