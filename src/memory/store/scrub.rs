//! Bytes of rows in the free space inside the pages of the database.
//!
//! `PRAGMA secure_delete` zeroes a cell that is deleted and a page that is freed. It does not zero what SQLite leaves
//! behind when it packs the cells of a page anew (`rebuildPage`, while rows are parted between neighbouring pages):
//! copies of rows that live on, in the gap between a page's cell pointers and its first cell (SQLite file format, 1.6,
//! "unallocated space"). Once such a row is deleted, its copy is all that is left of it, and nobody would ever
//! overwrite it. So whatever deletes rows for good is run by [`scrubbing`]: it zeroes those gaps in the pages around
//! every row that was touched, in the same transaction. Rows are parted between at most three neighbours
//! (`balance_nonroot`, `NB`), so a copy is never farther from its row than that; measured: two pages.
//!
//! Pages are read and written as such (virtual table `sqlite_dbpage`), so it is the same for an encrypted store.
//! Costs as many page reads as [`NEAR`] says for each row that is touched, whatever the size of the store.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::hooks::Action;
use rusqlite::{Connection, OptionalExtension as _, params};

/// Leaves on either side of a touched one that are looked at, too.
const NEAR: usize = 4;
/// Subtrees on either side, further up.
const NEAR_ABOVE: usize = 1;
/// First byte of a leaf of a table; of an interior page.
const LEAF: u8 = 0x0d;
const INTERIOR: u8 = 0x05;
/// Bytes before the cell pointers of either.
const LEAF_HEAD: usize = 8;
const INTERIOR_HEAD: usize = 12;

/// Row ids by table, ascending.
pub(in crate::memory) type TouchedRows = BTreeMap<String, Vec<i64>>;

/// Runs a change inside a transaction, and leaves no copy of the rows that it deleted or rewrote; gives them back.
pub(in crate::memory) fn scrubbing<T>(
    db: &Connection,
    change: impl FnOnce(&Connection) -> rusqlite::Result<T>,
) -> rusqlite::Result<(T, TouchedRows)> {
    let touched: Arc<Mutex<TouchedRows>> = Arc::default();
    let seen = Arc::clone(&touched);
    db.update_hook(Some(move |action: Action, _: &str, table: &str, row: i64| {
        if action == Action::SQLITE_INSERT {
            return;
        }
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        match seen.get_mut(table) {
            Some(rows) => rows.push(row),
            None => drop(seen.insert(table.to_owned(), vec![row])),
        }
    }));
    let done = change(db);
    db.update_hook(None::<fn(Action, &str, &str, i64)>);
    let done = done?;
    let mut touched = std::mem::take(&mut *touched.lock().unwrap_or_else(PoisonError::into_inner));
    for (table, rows) in &mut touched {
        rows.sort_unstable();
        rows.dedup();
        Tree::of(db, table)?.map_or(Ok(()), |tree| tree.scrub_around(rows))?;
    }
    Ok((done, touched))
}

/// Scrubs up to `count` pages from number `first` on (the first is 1), wherever they belong; gives the next, `None` at
/// the end. For stores from before [`scrubbing`].
pub(in crate::memory) fn scrub_pages(
    db: &Connection,
    first: u32,
    count: u32,
) -> rusqlite::Result<Option<u32>> {
    let pages: u32 = db.query_row("PRAGMA page_count", [], |row| row.get(0))?;
    let end = first.saturating_add(count).min(pages.saturating_add(1));
    for number in first.max(2)..end {
        // (Pages of no tree begin with the number of another page, or with nothing.)
        if let Some(page) = read(db, number)? {
            scrub(db, number, page)?;
        }
    }
    Ok((end <= pages).then_some(end))
}

/// A table's tree of pages.
struct Tree<'c> {
    db: &'c Connection,
    root: u32,
    /// Interior pages above the leaves.
    height: usize,
}

/// A page of a tree above its leaves: its children, each with the greatest row id that it may hold.
struct Interior(Vec<(i64, u32)>);

impl<'c> Tree<'c> {
    /// `None` when the table has no tree of rows.
    fn of(db: &'c Connection, table: &str) -> rusqlite::Result<Option<Self>> {
        let query = "SELECT rootpage FROM sqlite_schema WHERE type = 'table' AND name = ?";
        let root: Option<u32> = db.query_row(query, [table], |row| row.get(0)).optional()?;
        let Some(root) = root else { return Ok(None) };
        let (mut height, mut at) = (0, root);
        loop {
            let Some(page) = read(db, at)? else { return Ok(None) };
            match page.first() {
                Some(&LEAF) => return Ok(Some(Self { db, root, height })),
                Some(&INTERIOR) => height += 1,
                _ => return Ok(None),
            }
            match Interior::read(&page).and_then(|page| page.0.first().copied()) {
                Some((_, first)) => at = first,
                None => return Ok(None),
            }
        }
    }

    /// Scrubs the leaves of those rows (ascending) and their neighbours.
    fn scrub_around(&self, rows: &[i64]) -> rusqlite::Result<()> {
        self.descend(self.root, self.height, rows)
    }

    fn descend(&self, number: u32, height: usize, rows: &[i64]) -> rusqlite::Result<()> {
        let Some(page) = read(self.db, number)? else { return Ok(()) };
        if height == 0 {
            return scrub(self.db, number, page);
        }
        let Some(Interior(children)) = Interior::read(&page) else { return Ok(()) };
        let near = if height == 1 { NEAR } else { NEAR_ABOVE };
        let mut wanted = vec![false; children.len()];
        let mut from = 0;
        let mut own = Vec::with_capacity(children.len());
        for (at, (greatest, _)) in children.iter().enumerate() {
            let to = match at + 1 == children.len() {
                true => rows.len(),
                false => from + rows[from..].partition_point(|row| row <= greatest),
            };
            own.push(from..to);
            if from < to {
                let last = (at + near).min(children.len() - 1);
                wanted[at.saturating_sub(near)..=last].fill(true);
            }
            from = to;
        }
        // What lies at the edge may have neighbours under the page beside this one.
        let edge = near.min(children.len());
        wanted[..edge].fill(true);
        wanted[children.len() - edge..].fill(true);
        for ((at, (_, child)), own) in children.iter().enumerate().zip(own) {
            if wanted[at] {
                self.descend(*child, height - 1, &rows[own])?;
            }
        }
        Ok(())
    }
}

impl Interior {
    /// `None` when it is none.
    fn read(page: &[u8]) -> Option<Self> {
        if *page.first()? != INTERIOR {
            return None;
        }
        let cells = usize::from(number(page, 3)?);
        let mut children = Vec::with_capacity(cells + 1);
        for cell in 0..cells {
            let at = usize::from(number(page, INTERIOR_HEAD + 2 * cell)?);
            children.push((varint(page.get(at + 4..)?)?, child(page, at)?));
        }
        children.push((i64::MAX, child(page, 8)?));
        Some(Self(children))
    }
}

/// Two bytes of a page, big-endian as all numbers of the format.
fn number(page: &[u8], at: usize) -> Option<u16> {
    page.get(at..at + 2)?.try_into().ok().map(u16::from_be_bytes)
}

fn child(page: &[u8], at: usize) -> Option<u32> {
    page.get(at..at + 4)?.try_into().ok().map(u32::from_be_bytes)
}

/// A row id: 7 bits a byte, the ninth byte whole.
fn varint(bytes: &[u8]) -> Option<i64> {
    let mut value: u64 = 0;
    for (at, byte) in bytes.iter().take(9).enumerate() {
        if at == 8 {
            return Some((value << 8 | u64::from(*byte)).cast_signed());
        }
        value = value << 7 | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some(value.cast_signed());
        }
    }
    None
}

fn read(db: &Connection, page: u32) -> rusqlite::Result<Option<Vec<u8>>> {
    db.prepare_cached("SELECT data FROM sqlite_dbpage WHERE pgno = ?")?
        .query_row([page], |row| row.get(0))
        .optional()
}

/// Zeroes what lies between a leaf's cell pointers and its cells.
fn scrub(db: &Connection, number: u32, mut page: Vec<u8>) -> rusqlite::Result<()> {
    let Some(gap) = gap(&page) else { return Ok(()) };
    if page[gap.clone()].iter().all(|byte| *byte == 0) {
        return Ok(());
    }
    page[gap].fill(0);
    db.prepare_cached("UPDATE sqlite_dbpage SET data = ? WHERE pgno = ?")?
        .execute(params![page, number])
        .map(drop)
}

/// Where a leaf holds nothing; `None` when it is no leaf of a table.
fn gap(page: &[u8]) -> Option<std::ops::Range<usize>> {
    if *page.first()? != LEAF {
        return None;
    }
    let cells = usize::from(number(page, 3)?);
    let content = match number(page, 5)? {
        0 => 1 << 16,
        content => usize::from(content),
    };
    let pointers = LEAF_HEAD + 2 * cells;
    (pointers <= content && content <= page.len()).then_some(pointers..content)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::bench::random::SplitMix64;

    fn token(row: i64) -> String {
        format!("tok{row:06}x")
    }

    /// Rows come, grow, and are deleted; gives back those that are deleted and still stand in some page.
    fn live(seed: u64, key: Option<&str>, scrub: bool) -> BTreeSet<i64> {
        let dir = tempfile::tempdir().unwrap();
        let db = Connection::open(dir.path().join("some.db")).unwrap();
        if let Some(key) = key {
            db.pragma_update(None, "key", key).unwrap();
        }
        db.execute_batch(
            "PRAGMA journal_mode=WAL; PRAGMA secure_delete=ON; PRAGMA synchronous=OFF;
             CREATE TABLE some (version INTEGER PRIMARY KEY, text TEXT NOT NULL, vector BLOB, retired INTEGER) STRICT;",
        )
        .unwrap();
        let mut random = SplitMix64::new(seed);
        let (mut rows, mut gone): (Vec<i64>, BTreeSet<i64>) = (Vec::new(), BTreeSet::new());
        for step in 0..120 {
            db.execute_batch("BEGIN IMMEDIATE").unwrap();
            for _ in 0..20 {
                let row = (rows.len() + gone.len()) as i64 + 1;
                let text = token(row).repeat([3, 8, 20, 90][random.below(4)]);
                let vector = vec![7_u8; [0, 100, 1_600][random.below(3)]];
                db.execute("INSERT INTO some VALUES (?, ?, ?, NULL)", params![row, text, vector])
                    .unwrap();
                rows.push(row);
            }
            for _ in 0..[0, 3, 10][random.below(3)] {
                // (Twenty have just come.)
                let row = rows[random.below(rows.len())];
                db.execute("UPDATE some SET retired = ? WHERE version = ?", [step, row]).unwrap();
            }
            let mut delete = |db: &Connection| {
                let few = [0, 0, 0, 5, 60][random.below(5)].min(rows.len());
                for _ in 0..few {
                    let row = rows.swap_remove(random.below(rows.len()));
                    db.execute("DELETE FROM some WHERE version = ?", [row])?;
                    gone.insert(row);
                }
                Ok::<_, rusqlite::Error>(())
            };
            if scrub { scrubbing(&db, delete).map(|((), _)| ()) } else { delete(&db) }.unwrap();
            db.execute_batch("COMMIT").unwrap();
        }
        let faults: String = db.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(faults, "ok");
        let mut found = BTreeSet::new();
        let mut statement = db.prepare("SELECT data FROM sqlite_dbpage").unwrap();
        let mut pages = statement.query([]).unwrap();
        while let Some(page) = pages.next().unwrap() {
            let bytes: Vec<u8> = page.get(0).unwrap();
            for at in bytes.windows(10).filter(|at| at.starts_with(b"tok") && at[9] == b'x') {
                let number = std::str::from_utf8(&at[3..9]).unwrap_or_default();
                found.extend(number.parse::<i64>().ok());
            }
        }
        found.intersection(&gone).copied().collect()
    }

    #[test]
    fn deleted_rows_leave_no_copy_in_any_page() {
        let left = (0..8).map(|seed| live(seed, None, false).len()).sum::<usize>();
        assert!(left > 0, "SQLite leaves none: this module is not needed any more");
        for seed in 0..8 {
            let key = (seed % 4 == 0).then_some("some key");
            assert_eq!(live(seed, key, true), BTreeSet::new(), "seed {seed}");
        }
    }

    #[test]
    fn pages_of_an_older_store_are_scrubbed_in_parts() {
        let dir = tempfile::tempdir().unwrap();
        let db = Connection::open(dir.path().join("some.db")).unwrap();
        db.execute_batch("CREATE TABLE some (version INTEGER PRIMARY KEY, text TEXT) STRICT")
            .unwrap();
        for row in 0..200 {
            db.execute("INSERT INTO some VALUES (?, ?)", params![row, "word ".repeat(100)])
                .unwrap();
        }
        // As older engrams left them.
        let leaves = |db: &Connection| -> Vec<(u32, Vec<u8>)> {
            let mut statement = db.prepare("SELECT pgno, data FROM sqlite_dbpage").unwrap();
            let all = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
            let all = all.collect::<Result<Vec<(u32, Vec<u8>)>, _>>().unwrap();
            all.into_iter().filter(|(number, page)| *number > 1 && page[0] == LEAF).collect()
        };
        let mut dirty = 0;
        for (number, mut page) in leaves(&db) {
            let Some(gap) = gap(&page).filter(|gap| gap.len() > 8) else { continue };
            page[gap.start..gap.start + 6].copy_from_slice(b"secret");
            db.execute("UPDATE sqlite_dbpage SET data = ? WHERE pgno = ?", params![page, number])
                .unwrap();
            dirty += 1;
        }
        assert!(dirty > 10);
        let (mut next, mut steps) = (Some(1), 0);
        while let Some(first) = next {
            next = scrub_pages(&db, first, 7).unwrap();
            steps += 1;
        }
        assert!(steps > 3);
        let holds = |page: &[u8]| page.windows(6).any(|bytes| bytes == b"secret");
        assert!(!leaves(&db).iter().any(|(_, page)| holds(page)));
        let words: i64 =
            db.query_row("SELECT sum(length(text)) FROM some", [], |row| row.get(0)).unwrap();
        assert_eq!(words, 200 * 500);
    }
}
