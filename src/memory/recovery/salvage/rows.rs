//! Rows out of a damaged file, and into the new one.

use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, ErrorCode, Rows, Statement, params_from_iter};

use super::gaps::{Gap, Ran};

/// A row with its number.
type Numbered = (i64, Vec<Value>);

/// A table of the damaged file.
pub(super) struct Torn<'c> {
    up: Statement<'c>,
    down: Statement<'c>,
    alive: Statement<'c>,
    displaced: Vec<Gap>,
}

impl<'c> Torn<'c> {
    /// A table whose rows have numbers.
    pub(super) fn new(db: &'c Connection, table: &str) -> rusqlite::Result<Self> {
        let read = format!("SELECT rowid, * FROM \"{table}\" WHERE rowid");
        Ok(Self {
            up: db.prepare(&format!("{read} >= ? ORDER BY rowid"))?,
            down: db.prepare(&format!("{read} <= ? ORDER BY rowid DESC"))?,
            alive: alive(db)?,
            displaced: Vec::new(),
        })
    }

    /// The numbers that rows must have had which stand between others under a number that does not belong there.
    pub(super) fn displaced(self) -> Vec<Gap> {
        self.displaced
    }

    /// Reads from one number to another, downwards where that is smaller, as far as it can be read.
    ///
    /// # Errors
    /// Those of `keep`.
    pub(super) fn run(
        &mut self,
        from: i64,
        to: i64,
        mut keep: impl FnMut(i64, Vec<Value>) -> rusqlite::Result<()>,
    ) -> rusqlite::Result<Ran> {
        let Self { up, down, alive, displaced } = self;
        let back = from > to;
        let after = |a: i64, b: i64| if back { a < b } else { a > b };
        let mut ran = Ran::default();
        let Ok(mut rows) = (if back { down } else { up }).query([from]) else { return Ok(ran) };
        let mut held: Option<Numbered> = None;
        loop {
            let found = next(&mut rows, alive);
            if let Ok(Some((number, _))) = &found {
                let in_order = match &held {
                    Some((before, _)) => after(*number, *before),
                    None => !after(from, *number),
                };
                // Of two that are not, either may be the damaged one.
                if !in_order {
                    if let Some((_, before)) = ran.rows {
                        let (low, high) = (before.min(*number), before.max(*number));
                        if after(*number, before) && high - low > 1 {
                            displaced.push(Gap { first: low + 1, last: Some(high - 1) });
                        }
                    }
                    return Ok(ran);
                }
            }
            if let Some((number, values)) = held.take() {
                keep(number, values)?;
                ran.rows = Some((ran.rows.map_or(number, |(first, _)| first), number));
            }
            match found {
                Ok(Some((number, values))) if !after(number, to) => held = Some((number, values)),
                Ok(_) => {
                    ran.whole = true;
                    return Ok(ran);
                }
                Err(_) => return Ok(ran),
            }
        }
    }
}

/// Gives every row of a table whose rows have no numbers that can be read from its beginning or its end.
///
/// # Errors
/// Those of `keep`.
pub(super) fn unnumbered(
    db: &Connection,
    table: &str,
    mut keep: impl FnMut(Vec<Value>) -> rusqlite::Result<()>,
) -> rusqlite::Result<bool> {
    let mut alive = alive(db)?;
    for order in ["ASC", "DESC"] {
        // The key of such a table is its first column; a number in front, as the others have it.
        let mut statement =
            db.prepare(&format!("SELECT 0, * FROM \"{table}\" ORDER BY 2 {order}"))?;
        let Ok(mut rows) = statement.query([]) else { continue };
        loop {
            match next(&mut rows, &mut alive) {
                Ok(Some((_, values))) => keep(values)?,
                Ok(None) => return Ok(true),
                Err(_) => break,
            }
        }
    }
    Ok(false)
}

/// What is asked to learn whether the connection still reads.
fn alive(db: &Connection) -> rusqlite::Result<Statement<'_>> {
    db.prepare("SELECT 1 FROM sqlite_schema LIMIT 1")
}

fn next(rows: &mut Rows<'_>, alive: &mut Statement<'_>) -> rusqlite::Result<Option<Numbered>> {
    let Some(row) = rows.next()? else { return Ok(None) };
    let number = row.get(0)?;
    let values: rusqlite::Result<Vec<Value>> =
        (1..row.as_ref().column_count()).map(|at| row.get_ref(at).map(owned)).collect();
    // In the place of a page that it cannot decrypt SQLCipher gives zeros, and refuses whatever is read after it.
    alive.query_row([], |_| Ok(()))?;
    Ok(Some((number, values?)))
}

fn owned(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::Integer(number),
        ValueRef::Real(number) => Value::Real(number),
        ValueRef::Text(text) => Value::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => Value::Blob(bytes.to_vec()),
    }
}

/// A table of the new file.
pub(super) struct Fresh<'c>(Statement<'c>);

impl<'c> Fresh<'c> {
    /// That takes rows with those columns.
    pub(super) fn new(
        db: &'c Connection,
        table: &str,
        columns: &[String],
    ) -> rusqlite::Result<Self> {
        let names: Vec<String> = columns.iter().map(|column| format!("\"{column}\"")).collect();
        let marks = vec!["?"; columns.len()].join(", ");
        let insert = format!("INSERT INTO \"{table}\" ({}) VALUES ({marks})", names.join(", "));
        db.prepare(&insert).map(Self)
    }

    /// Takes a row; false: it is none of this table's, or is there already.
    pub(super) fn take(&mut self, values: Vec<Value>) -> rusqlite::Result<bool> {
        match self.0.execute(params_from_iter(values)) {
            Ok(_) => Ok(true),
            Err(error) => match error.sqlite_error_code() {
                Some(ErrorCode::ConstraintViolation | ErrorCode::TypeMismatch) => Ok(false),
                _ => Err(error),
            },
        }
    }
}
