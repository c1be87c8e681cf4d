//! Memories for tests: a test tells what matters to it, the rest is filled in.

use super::model::{MemoryKind, MemoryRow};
use crate::ids::MemoryId;
use crate::time::Span;

/// A memory as the program writes one, true from its beginning on: about nobody, of no clip, without a fact and without an
/// id.
pub(crate) fn memory_row(kind: MemoryKind, text: &str, span: Span) -> MemoryRow {
    MemoryRow {
        id: MemoryId::default(),
        kind,
        text: text.to_owned(),
        span,
        clip: None,
        entities: Vec::new(),
        fact: None,
        importance: 0.5,
        confidence: 0.9,
        pinned: false,
        valid_from: span.start,
        valid_to: None,
        grounds: Vec::new(),
        origin: "builtin".to_owned(),
    }
}
