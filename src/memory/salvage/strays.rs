//! Pages that no sound page leads to any more: what is below a damaged page of a table's tree.
//!
//! SQLite finds a table by the number of its topmost page, which stands in `sqlite_schema`. In a copy of the file that
//! number is changed: with each of those pages in its place the table holds just what is on that page and below.

use std::collections::BTreeSet;

use rusqlite::{Connection, params};

use super::SalvagedTable;
use super::gaps::{fill, hold};
use super::rows::{Fresh, Torn};
use crate::memory::pages;

/// Looks for the rows that are lost on pages that nothing leads to; `copy` is a copy of the damaged file, which is
/// changed.
///
/// # Errors
/// When the copy cannot be changed or the new file not be written.
pub(super) fn read(
    copy: &Connection,
    fresh: &Connection,
    tables: &mut [SalvagedTable],
) -> rusqlite::Result<()> {
    copy.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")?;
    let strays = strays(copy)?;
    for table in tables.iter_mut().filter(|table| table.numbered && !table.lost.is_empty()) {
        let mut torn = Torn::new(copy, &table.table)?;
        let mut into = Fresh::new(fresh, &table.table, &table.columns)?;
        for page in &strays {
            copy.execute_batch("PRAGMA writable_schema = ON")?;
            copy.execute(
                "UPDATE sqlite_schema SET rootpage = ? WHERE type = 'table' AND name = ?",
                params![page, table.table],
            )?;
            copy.execute_batch("PRAGMA writable_schema = RESET")?;
            for (from, to) in [(1, i64::MAX), (i64::MAX, 1)] {
                torn.run(from, to, |number, values| {
                    if hold(&table.lost, number) && into.take(values)? {
                        fill(&mut table.lost, number);
                        table.kept += 1;
                    }
                    Ok(())
                })?;
            }
        }
    }
    Ok(())
}

/// The pages that are in no tree, as far as the trees can be walked: some of them are damaged, or free.
fn strays(db: &Connection) -> rusqlite::Result<Vec<i64>> {
    let count: i64 = db.query_row("PRAGMA page_count", [], |row| row.get(0))?;
    let mut reached = BTreeSet::new();
    let mut walk =
        db.prepare("SELECT pageno FROM dbstat WHERE name = ? AND pagetype <> 'corrupted'")?;
    for table in pages::tables(db)?.into_iter().chain(["sqlite_schema".to_owned()]) {
        let mut rows = walk.query([table])?;
        while let Ok(Some(row)) = rows.next() {
            reached.insert(row.get::<_, i64>(0)?);
        }
    }
    Ok((2..=count).filter(|page| !reached.contains(page)).collect())
}
