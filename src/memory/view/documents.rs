//! Documents that were told: the passages of each, which are notes, and where each stands in it.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::ids::MemoryId;
use crate::time::Timestamp;

use super::View;

/// What [`MemoryRow::origin`](crate::memory::model::MemoryRow::origin) is of a passage.
pub const DOCUMENT: &str = "document";

/// Where a note stands in the document that it is a passage of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassageRow {
    /// The note.
    pub memory: MemoryId,
    /// What the document is called: as a rule its file.
    pub document: String,
    /// Which passage of it, from 0.
    pub number: u32,
    /// The heading above it.
    pub heading: Option<String>,
    /// Page, from 1; `None` of a form that has no pages.
    pub page: Option<u32>,
    /// First line, from 1: of the file, or of the page where there are pages.
    pub line: u32,
    /// Last line.
    pub last_line: u32,
}

/// A document that is remembered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// What it is called.
    pub name: String,
    /// How many passages it has.
    pub passages: usize,
    /// Its last page with words; `None` of a form that has no pages.
    pub pages: Option<u32>,
    /// When its newest passage was told.
    pub told: Timestamp,
}

impl View {
    /// Where a note stands in its document; `None`: it is of none.
    #[must_use]
    pub fn passage(&self, memory: MemoryId) -> Option<Arc<PassageRow>> {
        self.current(&self.tables.passages, &memory)
    }

    /// The passages of a document, in order. Costs what all documents have.
    #[must_use]
    pub fn passages_of(&self, document: &str) -> Vec<Arc<PassageRow>> {
        let mut found = self.passages();
        found.retain(|row| row.document == document);
        found.sort_by_key(|row| (row.number, row.memory));
        found
    }

    /// The documents that are remembered, by name.
    #[must_use]
    pub fn documents(&self) -> Vec<Document> {
        let mut found: BTreeMap<String, Document> = BTreeMap::new();
        for row in self.passages() {
            let told = self.memory(row.memory).map(|memory| memory.span.start);
            let name = row.document.clone();
            let document = found.entry(name.clone()).or_insert_with(|| Document {
                name,
                passages: 0,
                pages: None,
                told: Timestamp::EPOCH,
            });
            document.passages += 1;
            document.pages = document.pages.max(row.page);
            document.told = document.told.max(told.unwrap_or(Timestamp::EPOCH));
        }
        found.into_values().collect()
    }

    /// How many passages were ever told: none means that there are no documents. Costs nothing.
    #[must_use]
    pub fn told_passages(&self) -> usize {
        self.tables.passages.log().count()
    }

    fn passages(&self) -> Vec<Arc<PassageRow>> {
        let all = self.tables.passages.all(&self.horizon);
        all.into_iter().map(|version| version.row).collect()
    }
}
