//! What recall goes by beside the memory.

use std::path::Path;

use serde::Serialize;

use crate::answer::Answerer;
use crate::daemon::ring::Ring;
use crate::mqtt::message::ReplayRate;
use crate::text::TextEmbedder;
use crate::time::Timestamp;

/// What `recall` and `recordings` need beside the memory.
#[derive(Clone, Copy, Default)]
pub struct Means<'a> {
    /// Without it, recall goes by words alone.
    pub embedder: Option<&'a dyn TextEmbedder>,
    /// Reads the times that a text tells; without it they are words like others.
    pub answerer: Option<&'a Answerer>,
    /// The replay's or the wall clock; `None`: now is the newest time in the memory.
    pub clock: Option<Timestamp>,
    /// Where recordings lie that may be chosen.
    pub folder: Option<&'a Path>,
    /// Whether recordings are played here.
    pub plays: bool,
    /// What is played now.
    pub playing: Option<&'a Played>,
    /// The last minutes of media, and what was kept of them.
    pub ring: Option<&'a Ring>,
}

/// A recording that is played.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Played {
    /// Its file, or folder.
    pub name: String,
    /// From when to when it is, where that is known before it is played.
    pub start: Option<Timestamp>,
    /// See `start`.
    pub end: Option<Timestamp>,
    /// How far it was let through; `None` before its first item.
    pub position: Option<Timestamp>,
    /// How fast.
    pub rate: ReplayRate,
    /// Whether it stands still.
    pub paused: bool,
}
