//! What a session tells while it runs: one report per committed clip, and how it ended.

use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;

use crate::capture::{Cause, Damage};
use crate::identify::IdentifiedClip;
use crate::ids::{ClipId, SessionId, SourceId};
use crate::memory::FiringRow;
use crate::memory::model::MemoryRow;
use crate::percept::SpeechTurn;
use crate::time::{Span, Timestamp};

/// A clip is committed. Serialises to the line that `replay --json` prints.
#[derive(Clone, Debug, Serialize)]
pub struct ClipReport {
    /// Which.
    pub clip: ClipId,
    /// Its first instant.
    pub start: Timestamp,
    /// First instant after it.
    pub end: Timestamp,
    /// Frames captured.
    pub frames: u64,
    /// Frames dropped (live).
    pub dropped: u64,
    /// Face tracks.
    pub faces: usize,
    /// Object tracks.
    pub objects: usize,
    /// Speech turns.
    pub turns: usize,
    /// Memories written.
    pub memories: usize,
    /// From the boundary to the commit, seconds of wall clock.
    #[serde(skip)]
    pub sealed_secs: f64,
    /// Who was recognised.
    #[serde(skip)]
    pub identified: IdentifiedClip,
    /// The turns with their words.
    #[serde(skip)]
    pub spoken: Vec<SpeechTurn>,
    /// The memories as committed.
    #[serde(skip)]
    pub memory_rows: Vec<MemoryRow>,
    /// What watches are to tell of.
    #[serde(skip)]
    pub firings: Vec<FiringRow>,
}

/// Words of a turn that has not ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartialWords {
    /// Which microphone.
    pub source: SourceId,
    /// From its start as far as the words go.
    pub span: Span,
    /// The words.
    pub text: String,
}

/// What a session tells.
#[derive(Clone, Debug)]
pub enum Report {
    /// The session begins, or goes on after the clip that ends at `from`.
    Began {
        /// Which.
        session: SessionId,
        /// Its span as far as it is known beforehand.
        span: Option<Span>,
        /// Where an interrupted one goes on.
        from: Option<Timestamp>,
    },
    /// A clip is committed.
    Clip(Box<ClipReport>),
    /// Words came after their clip was committed, and are committed now.
    Words(Box<LateWords>),
    /// What is being said just now, as far as it is understood.
    Partial(PartialWords),
    /// The disk is full, and why it matters: nothing is remembered until there is space. None: it goes on.
    DiskFull(Option<String>),
    /// Nothing more comes of this session.
    Ended,
}

/// What the stages could not use: counted beside what the recording's reader could not. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(super) struct Losses(Arc<Mutex<Damage>>);

impl Losses {
    /// Counts one more.
    pub(super) fn add(&self, cause: Cause, place: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).add(cause, place);
    }

    /// Everything so far.
    pub(super) fn so_far(&self) -> Damage {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// How a session ended. Serialises to the last line that `replay --json` prints.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SessionEnd {
    /// Always true.
    pub done: bool,
    /// Clips committed by this run.
    pub clips: u64,
    /// Loading models and opening the recording, seconds.
    pub load_secs: f64,
    /// First frame read to last commit, seconds.
    pub wall_secs: f64,
    /// Length of the media, seconds.
    pub media_secs: f64,
    /// Frames dropped.
    pub dropped: u64,
    /// Messages, frames or stretches that could not be read.
    pub damaged: u64,
    /// It was all remembered before.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub already_remembered: bool,
    /// It was stopped before its end.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub stopped: bool,
    /// What was damaged, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub damage: Vec<String>,
}

/// Words that came, as they were committed.
#[derive(Clone, Debug)]
pub struct LateWords {
    /// The clip in which the turn ended.
    pub clip: ClipId,
    /// The turn, now with its words.
    pub turn: SpeechTurn,
    /// Who spoke it, and names heard in it.
    pub identified: IdentifiedClip,
    /// What was written of it.
    pub memory_rows: Vec<MemoryRow>,
}
