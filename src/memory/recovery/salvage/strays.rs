//! Pages that no sound page leads to any more: what is below a damaged page of a table's tree.
//!
//! SQLite finds a table by the number of its topmost page, which stands in `sqlite_schema`. In a copy of the file that
//! number is changed: with each of those pages in its place the table holds just what is on that page and below.
//!
//! Nothing on a page says whose it is. In the copy each table gets one column more, by which its own rows are told from
//! those of tables with more columns; rows with fewer lack what the new file insists on.

use std::collections::BTreeSet;

use rusqlite::types::Value;
use rusqlite::{Connection, params};

use super::SalvagedTable;
use super::gaps::{fill, hold};
use super::rows::{Fresh, Torn};
use crate::memory::recovery::pages;

/// What the column behind a table's last one holds where a row ends before it.
const BEYOND: &[u8] = &[0x0e];
/// Puts that column into a definition, which stays as long as it was: no page of the schema is moved for it. (Nothing that
/// is read is changed by the rest of it.)
const WIDEN: &str = "UPDATE sqlite_schema SET sql = printf('%-*s', length(sql), \
    replace(substr(sql, 1, length(sql) - length(') STRICT')), ' NOT NULL', '') || ', beyond DEFAULT x''0e'')') \
    WHERE type = 'table' AND name = ? AND sql LIKE '%) STRICT'";
/// Has the list of tables read anew, and lets it be changed on.
const RELOAD: &str = "PRAGMA writable_schema = RESET; PRAGMA writable_schema = ON";
/// Rows of these cannot be told from each other.
const ALIKE: [&str; 3] = ["access", "commits", "history"];

/// Looks for the rows that are lost on pages that nothing leads to; `copy` is a copy of the damaged file, opened as one that
/// may be cut short, which is changed.
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
    let alike = |table: &SalvagedTable| ALIKE.contains(&&*table.table);
    // (Most commits are made again from the rows that they brought.)
    let mixed = tables.iter().filter(|table| alike(table) && !table.lost.is_empty()).count() > 1;
    for table in tables.iter_mut().filter(|table| table.numbered && !table.lost.is_empty()) {
        if mixed && alike(table) || !widen(copy, &table.table)? {
            continue;
        }
        let mut torn = Torn::new(copy, &table.table)?;
        let mut into = Fresh::new(fresh, &table.table, &table.columns)?;
        for page in &strays {
            copy.execute(
                "UPDATE sqlite_schema SET rootpage = ? WHERE type = 'table' AND name = ?",
                params![page, table.table],
            )?;
            copy.execute_batch(RELOAD)?;
            for (from, to) in [(1, i64::MAX), (i64::MAX, 1)] {
                torn.run(from, to, |number, mut values| {
                    let ends = matches!(values.pop(), Some(Value::Blob(end)) if end == BEYOND);
                    let own = ends && is_of(&table.table, &values);
                    if own && hold(&table.lost, number) && into.take(values)? {
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

/// Gives a table of the copy its further column; false: it is not defined as they are.
fn widen(copy: &Connection, table: &str) -> rusqlite::Result<bool> {
    let widened = copy.execute(WIDEN, [table])?;
    copy.execute_batch(RELOAD)?;
    Ok(widened == 1)
}

/// Whether a row with a table's columns is one of its own: memberships have those of merges. A face or a voice belongs to a
/// person, and is merged with its like.
fn is_of(table: &str, values: &[Value]) -> bool {
    fn kind(id: &str) -> Option<&str> {
        id.split_once('_').map(|(kind, _)| kind)
    }
    let [_, Value::Text(one), Value::Text(other), ..] = values else { return true };
    let belongs = matches!(kind(one), Some("face" | "voice")) && kind(one) != kind(other);
    match table {
        "membership" => belongs,
        "merge" => !belongs,
        _ => true,
    }
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
