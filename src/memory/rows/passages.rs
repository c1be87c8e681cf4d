//! Rows of passages.

use rusqlite::types::Value;

use super::{Columns, RowError, int, large, or_null, text};
use crate::ids::MemoryId;
use crate::memory::versions::temporal::Temporal;
use crate::memory::view::documents::PassageRow;

impl Temporal for PassageRow {
    type Key = MemoryId;
    const TABLE: &'static str = "passage";
    const COLUMNS: &'static [&'static str] =
        &["memory", "document", "number", "heading", "page", "line", "last_line"];

    fn key(&self) -> Self::Key {
        self.memory
    }

    fn bind(&self) -> Vec<Value> {
        vec![
            large(self.memory.0),
            text(&self.document),
            int(self.number),
            or_null(self.heading.as_ref(), text),
            or_null(self.page, int),
            int(self.line),
            int(self.last_line),
        ]
    }

    fn read(row: &rusqlite::Row<'_>) -> Result<Self, RowError> {
        let mut columns = Columns::new(row);
        Ok(Self {
            memory: columns.number().map(MemoryId)?,
            document: columns.next()?,
            number: columns.number()?,
            heading: columns.next()?,
            page: columns.next()?,
            line: columns.number()?,
            last_line: columns.number()?,
        })
    }
}
