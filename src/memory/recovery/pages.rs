//! Damage in the database file itself: which page of which table it is.

use rusqlite::Connection;

/// How SQLite begins to say that a page cannot be fetched at all; past a page that SQLCipher could not decrypt it says
/// so of every page.
const UNFETCHED: &str = "unable to get the page";

/// What is damaged in the file, a line each: the table, the page and what SQLite says of it. Empty: it is sound.
///
/// # Errors
/// When the list of tables, which stands on the file's first pages, cannot be read.
pub(in crate::memory) fn faults(db: &Connection) -> rusqlite::Result<Vec<String>> {
    let whole = said(db, "PRAGMA integrity_check(100)");
    if whole.is_empty() {
        return Ok(whole);
    }
    let mut faults = Vec::new();
    for table in tables(db)? {
        let lines = said(db, &format!("PRAGMA integrity_check(\"{table}\")"));
        faults.extend(lines.iter().map(|line| told(&table, line)));
    }
    if faults.is_empty() {
        faults.extend(whole.iter().map(|line| format!("engram.db: {line}")));
    }
    Ok(faults)
}

/// Whether the pages of a table hang together; its rows are not compared with anything.
pub(in crate::memory) fn is_sound(db: &Connection, table: &str) -> bool {
    said(db, &format!("PRAGMA quick_check(\"{table}\")")).is_empty()
}

/// The tables there are, by name.
///
/// # Errors
/// When the list cannot be read.
pub(in crate::memory) fn tables(db: &Connection) -> rusqlite::Result<Vec<String>> {
    db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")?
        .query_map([], |row| row.get(0))?
        .collect()
}

/// What a check of SQLite's finds, a line each. It ends with an error where it cannot go on.
fn said(db: &Connection, check: &str) -> Vec<String> {
    let mut lines = Vec::new();
    if let Err(error) = read(db, check, &mut lines)
        && lines.is_empty()
    {
        lines.push(error.to_string());
    }
    if lines.iter().any(|line| !line.contains(UNFETCHED)) {
        lines.retain(|line| !line.contains(UNFETCHED));
    } else {
        lines.truncate(1);
    }
    lines
}

fn read(db: &Connection, check: &str, lines: &mut Vec<String>) -> rusqlite::Result<()> {
    let mut statement = db.prepare(check)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let text: String = row.get(0)?;
        let found = text.lines().filter(|line| *line != "ok" && !line.starts_with("***"));
        lines.extend(found.map(str::to_owned));
    }
    Ok(())
}

/// A line of SQLite's (`Tree 16 page 37 cell 3: …`) in words.
fn told(table: &str, line: &str) -> String {
    let place = line.strip_prefix("Tree ").and_then(|rest| {
        let (_, rest) = rest.split_once(" page ")?;
        rest.split_once(": ")
    });
    let Some((place, what)) = place else { return format!("engram.db: table {table}: {line}") };
    let place = place.replace(" cell ", ", cell ");
    let what = match what.starts_with("btreeInitPage()") {
        true => "its header is damaged",
        false => what,
    };
    format!("engram.db: table {table}, page {place}: {what}")
}

#[cfg(test)]
mod tests {
    use super::told;

    #[test]
    fn a_fault_is_told_by_table_and_page() {
        for (line, words) in [
            (
                "Tree 16 page 37: btreeInitPage() returns error code 11",
                "page 37: its header is damaged",
            ),
            (
                "Tree 16 page 37 cell 3: Rowid 7 out of order",
                "page 37, cell 3: Rowid 7 out of order",
            ),
        ] {
            assert_eq!(told("memory", line), format!("engram.db: table memory, {words}"));
        }
        let other = "NULL value in memory.text";
        assert_eq!(told("memory", other), format!("engram.db: table memory: {other}"));
    }
}
