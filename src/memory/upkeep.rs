//! Keeping the store in shape: files without rows, the size cap, a check of everything.

use std::collections::BTreeSet;

use serde::Serialize;
use tracing::{info, warn};

use crate::ids::{EntityId, EntityKind};

use super::Memory;
use super::error::MemoryError;
use super::forget::named_media;
use super::model::MediaDigest;
use super::recovery::pages;
use super::rows::RowError;
use super::store::media::Listing;
use super::store::quoted_or_null;
use super::tables::each_table;
use super::versions::temporal::Temporal;
use super::view::filter::{Filter, PerceptFilter};

/// What a check found.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CheckReport {
    /// Rows that were looked at.
    pub rows: u64,
    /// Faults in the database file, rows that cannot be read, references to what is not there.
    pub faults: Vec<String>,
    /// Media files that the size cap took since, or that an import could not bring: no fault.
    pub media_taken: u64,
    /// Media files that no row names: no fault, the next start deletes them.
    pub media_unnamed: u64,
    /// Memories without a vector, while others have one: found by words alone. No fault.
    pub without_vector: u64,
}

impl Memory {
    /// Deletes media files that no row names: left by a crash before its commit.
    pub(crate) fn remove_orphans(&self) -> Result<u64, MemoryError> {
        let named: BTreeSet<MediaDigest> =
            self.tables().media.log().iter().map(|version| version.row.digest.clone()).collect();
        let Listing { found: files, strange: unfinished } = self.folder().list()?;
        let mut removed = 0;
        let mut unnamed: Vec<&MediaDigest> = files
            .iter()
            .map(|(digest, _)| digest)
            .filter(|digest| !named.contains(digest))
            .collect();
        if !unnamed.is_empty() {
            // A row of the table may be damaged, and the rows that show its file are not.
            let shown = self.with_db("reading which media rows name", named_media)?;
            unnamed.retain(|digest| !shown.contains(*digest));
        }
        if !unnamed.is_empty() && self.malformed() > 0 {
            warn!(
                files = unnamed.len(),
                "Media files that no row names are kept: there are rows that cannot be read, which may name them; see \
                 `engramd check`."
            );
            unnamed.clear();
        }
        for digest in unnamed {
            removed += u64::from(self.folder().remove(digest)?);
        }
        for path in
            unfinished.iter().filter(|path| path.extension().is_some_and(|ext| ext == "part"))
        {
            match std::fs::remove_file(path) {
                Ok(()) => removed += 1,
                Err(error) => {
                    warn!(path = %path.display(), %error, "cannot delete an unfinished media file")
                }
            }
        }
        if removed > 0 {
            info!(files = removed, "deleted media files that no row names");
        }
        Ok(removed)
    }

    /// Deletes the oldest media files that are not pinned until the cap holds; their digests stay in the
    /// rows. Returns how many were taken.
    ///
    /// # Errors
    /// When the disk fails.
    pub fn enforce_media_cap(&self) -> Result<u64, MemoryError> {
        let cap = self.options().media_cap_bytes;
        let _permit = self.0.turnstile.enter();
        let files = self.folder().list()?.found;
        let mut total: u64 = files.iter().map(|(_, bytes)| bytes).sum();
        let kept: BTreeSet<MediaDigest> = files.into_iter().map(|(digest, _)| digest).collect();
        let mut taken = 0;
        if total > cap {
            let tables = self.tables();
            for version in tables.media.log().iter() {
                if total <= cap {
                    break;
                }
                let row = &version.row;
                if version.retired_seq().is_some() || row.pinned || !kept.contains(&row.digest) {
                    continue;
                }
                if self.folder().remove(&row.digest)? {
                    total = total.saturating_sub(row.bytes);
                    taken += 1;
                }
            }
        }
        self.0.media_bytes.store(total, std::sync::atomic::Ordering::Relaxed);
        Ok(taken)
    }

    /// Looks at everything: the database file, every row, every reference, every media file. Where pages of the file are
    /// damaged, at nothing else ([`super::recovery::salvage()`] comes first).
    ///
    /// # Errors
    /// When the store cannot be read at all.
    pub fn check(&self) -> Result<CheckReport, MemoryError> {
        let faults = self.with_db("checking the database", pages::faults)?;
        let mut report = CheckReport { faults, ..CheckReport::default() };
        if !report.faults.is_empty() {
            // What stands on damaged pages cannot be looked at.
            return Ok(report);
        }
        let faults = self.with_db("checking the rows", |db| {
            let mut faults = Vec::new();
            macro_rules! check_tables {
                ($($field:ident: $row:ty,)*) => {
                    $(report.rows += unreadable::<$row>(db, &mut faults)?;)*
                };
            }
            each_table!(check_tables);
            Ok(faults)
        })?;
        report.faults = faults;
        report.faults.extend(self.check_orphans()?);
        self.check_references(&mut report);
        self.check_media(&mut report)?;
        report.faults.extend(self.check_indexes());
        report.without_vector = self.view().without_vector().len() as u64;
        Ok(report)
    }

    fn check_references(&self, report: &mut CheckReport) {
        let view = self.view();
        let mut fault = |text: String| report.faults.push(text);
        let known = |id: EntityId, kind: &[EntityKind]| {
            (kind.is_empty() || kind.contains(&id.kind)) && view.knows(id)
        };
        for track in view.tracks(&PerceptFilter::default()) {
            let at = format!("{} in clip {}", track.track, track.clip);
            if view.clip(track.clip).is_none() {
                fault(format!("{at}: no such clip"));
            }
            if track.face.is_some_and(|face| !known(face, &[EntityKind::Face])) {
                fault(format!("{at}: its face is not in the memory"));
            }
        }
        for track in view.object_tracks(&PerceptFilter::default()) {
            let at = format!("{} in clip {}", track.track, track.clip);
            if view.clip(track.clip).is_none() {
                fault(format!("{at}: no such clip"));
            }
            if track.object.is_some_and(|object| !known(object, &[EntityKind::Object])) {
                fault(format!("{at}: its object is not in the memory"));
            }
        }
        for turn in view.turns(&PerceptFilter::default()) {
            let at = format!("{} in clip {}", turn.turn, turn.clip);
            if view.clip(turn.clip).is_none() {
                fault(format!("{at}: no such clip"));
            }
            if turn.voice.is_some_and(|voice| !known(voice, &[EntityKind::Voice])) {
                fault(format!("{at}: its voice is not in the memory"));
            }
        }
        for row in view.memberships() {
            if !known(row.part, &[EntityKind::Face, EntityKind::Voice]) || !known(row.person, &[]) {
                fault(format!(
                    "{} belongs to {}: one of them is not in the memory",
                    row.part, row.person
                ));
            }
        }
        for row in view.merges() {
            if !known(row.from, &[]) || !known(row.into, &[]) {
                fault(format!(
                    "{} merged into {}: one of them is not in the memory",
                    row.from, row.into
                ));
            }
        }
        for row in view.memories(&Filter::default()) {
            for entity in row.entities.iter().filter(|entity| !known(**entity, &[])) {
                fault(format!("{}: {entity} is not in the memory", row.id));
            }
            for ground in &row.grounds {
                if !self.holds(&view, ground) {
                    fault(format!("{}: rests on {ground:?}, which is not in the memory", row.id));
                }
            }
        }
    }

    fn check_media(&self, report: &mut CheckReport) -> Result<(), MemoryError> {
        let named: BTreeSet<MediaDigest> =
            self.tables().media.log().iter().map(|version| version.row.digest.clone()).collect();
        let imported = self.imported_until()?;
        let files = self.folder().list()?.found;
        report.media_unnamed =
            files.iter().filter(|(digest, _)| !named.contains(digest)).count() as u64;
        for version in self.tables().media.log().iter() {
            let row = &version.row;
            let fault = |what: &str| format!("media/{}: {what}", row.digest.0);
            match self.media(&row.digest) {
                Ok(Some(bytes)) if MediaDigest::of(&bytes) != row.digest => {
                    report.faults.push(fault("its bytes have another digest"));
                }
                Err(MemoryError::Encryption { source, .. }) => {
                    report.faults.push(fault(&source.to_string()));
                }
                Err(error) => return Err(error),
                Ok(Some(_)) => {}
                Ok(None)
                    if row.pinned && version.retired_seq().is_none() && version.seq > imported =>
                {
                    report.faults.push(fault("pinned, but not there"));
                }
                Ok(None) => report.media_taken += 1,
            }
        }
        Ok(())
    }
}

/// Names the rows of a table that cannot be read; returns how many rows it has.
fn unreadable<R: Temporal>(
    db: &rusqlite::Connection,
    faults: &mut Vec<String>,
) -> rusqlite::Result<u64> {
    let columns = quoted_or_null(db, R::TABLE, R::COLUMNS)?;
    let mut statement =
        db.prepare(&format!("SELECT {columns}, version FROM \"{}\" ORDER BY version", R::TABLE))?;
    let mut rows = statement.query([])?;
    let mut count = 0;
    while let Some(row) = rows.next()? {
        count += 1;
        let read: Result<R, RowError> = R::read(row);
        if let Err(error) = read {
            let version: i64 = row.get(R::COLUMNS.len())?;
            faults.push(format!("{} version {version}: {error}", R::TABLE));
        }
    }
    Ok(count)
}
