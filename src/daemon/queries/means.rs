//! What recall goes by beside the memory.

use crate::answer::Answerer;
use crate::text::TextEmbedder;
use crate::time::Timestamp;

/// What `recall` needs beside the memory.
#[derive(Clone, Copy, Default)]
pub struct Means<'a> {
    /// Without it, recall goes by words alone.
    pub embedder: Option<&'a dyn TextEmbedder>,
    /// Reads the times that a text tells; without it they are words like others.
    pub answerer: Option<&'a Answerer>,
    /// The replay's or the wall clock; `None`: now is the newest time in the memory.
    pub clock: Option<Timestamp>,
}
