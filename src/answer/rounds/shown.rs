//! What the model was shown, by the keys under which it may cite it.

use std::collections::BTreeSet;

use crate::answer::document::Evidence;
use crate::ids::MemoryId;

/// Memories and records in the order in which they were shown.
#[derive(Debug, Default)]
pub(super) struct Shown {
    items: Vec<(String, Evidence)>,
    records: usize,
    blocks: usize,
}

impl Shown {
    /// A memory, under its id; `None` when it was shown before.
    pub(super) fn memory(&mut self, evidence: Evidence) -> Option<String> {
        let key = evidence.memory?.to_string();
        if self.get(&key).is_some() {
            return None;
        }
        self.items.push((key.clone(), evidence));
        Some(key)
    }

    /// What a tool found beside memories, under a key of its own.
    pub(super) fn record(&mut self, evidence: Evidence) -> String {
        self.records += 1;
        let key = format!("record_{}", self.records);
        self.items.push((key.clone(), evidence));
        key
    }

    /// A block of the working set, under a key of its own.
    pub(super) fn known(&mut self, evidence: Evidence) -> String {
        self.blocks += 1;
        let key = format!("known_{}", self.blocks);
        self.items.push((key.clone(), evidence));
        key
    }

    /// What was shown under that key.
    pub(super) fn get(&self, key: &str) -> Option<&Evidence> {
        self.items.iter().find(|(known, _)| known == key).map(|(_, evidence)| evidence)
    }

    /// Memories shown so far.
    pub(super) fn memories(&self) -> BTreeSet<MemoryId> {
        self.items.iter().filter_map(|(_, evidence)| evidence.memory).collect()
    }

    /// Everything shown, in order.
    pub(super) fn all(&self) -> impl Iterator<Item = &Evidence> {
        self.items.iter().map(|(_, evidence)| evidence)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}
