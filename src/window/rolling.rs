//! The last clip's worth of sound, analysed pictures and findings, readable at once by many.
//!
//! Written by the perception threads as they finish, read by `memory::present`, events and a multimodal
//! memorizer. Decoded pixels are never kept here: only JPEGs of analysed frames.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::ids::SourceId;
use crate::media::{Block, Pose};
use crate::percept::{FrameFaces, SpeechTurn};
use crate::time::{Span, Timestamp};

/// One thing in the window.
#[derive(Clone, Debug)]
pub enum Seen {
    /// An analysed frame and the faces in it (with its JPEG where kept).
    Faces(Arc<FrameFaces>),
    /// A run of sound.
    Sound(Block),
    /// A finished speech turn.
    Turn(Arc<SpeechTurn>),
    /// Where the robot was.
    Pose(SourceId, Pose),
}

impl Seen {
    /// When it is over: it leaves the window `clip_secs` after that.
    fn end(&self) -> Timestamp {
        match self {
            Self::Faces(frame) => frame.at,
            Self::Sound(block) => block.end(),
            Self::Turn(turn) => turn.span.end,
            Self::Pose(_, pose) => pose.stamp,
        }
    }
}

/// What the window held at one moment, each list in time order.
#[derive(Clone, Debug, Default)]
pub struct OpenWindow {
    /// What it covers: the last `clip_secs` up to the newest thing in it.
    pub span: Span,
    /// Analysed frames.
    pub frames: Vec<Arc<FrameFaces>>,
    /// Finished turns.
    pub turns: Vec<Arc<SpeechTurn>>,
    /// Sound.
    pub sound: Vec<Block>,
    /// Poses.
    pub poses: Vec<(SourceId, Pose)>,
}

#[derive(Debug, Default)]
struct State {
    newest: Option<Timestamp>,
    frames: VecDeque<Arc<FrameFaces>>,
    turns: VecDeque<Arc<SpeechTurn>>,
    sound: VecDeque<Block>,
    poses: VecDeque<(SourceId, Pose)>,
}

/// The last `clip_secs` of everything. Cheap to write, one short lock to read; contents are shared, not copied.
#[derive(Debug)]
pub struct RollingWindow {
    clip_secs: f64,
    state: Mutex<State>,
}

impl RollingWindow {
    /// Empty; `clip_secs`: how far back it reaches.
    #[must_use]
    pub fn new(clip_secs: f64) -> Self {
        Self { clip_secs, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts one thing at its place in time and lets go of what has become too old.
    pub fn push(&self, seen: Seen) {
        let mut state = self.state();
        let newest = state.newest.max(Some(seen.end())).unwrap_or_default();
        state.newest = Some(newest);
        match seen {
            Seen::Faces(frame) => insert(&mut state.frames, frame, |frame| frame.at),
            Seen::Sound(block) => insert(&mut state.sound, block, |block| block.at),
            Seen::Turn(turn) => insert(&mut state.turns, turn, |turn| turn.span.start),
            Seen::Pose(source, pose) => {
                insert(&mut state.poses, (source, pose), |(_, pose)| pose.stamp);
            }
        }
        let oldest = newest.plus_secs(-self.clip_secs);
        state.frames.retain_front(|frame| frame.at >= oldest);
        state.sound.retain_front(|block| block.end() > oldest);
        state.turns.retain_front(|turn| turn.span.end > oldest);
        state.poses.retain_front(|(_, pose)| pose.stamp >= oldest);
    }

    /// Everything in it now.
    #[must_use]
    pub fn snapshot(&self) -> OpenWindow {
        let state = self.state();
        let newest = state.newest.unwrap_or_default();
        OpenWindow {
            span: Span::new(newest.plus_secs(-self.clip_secs), newest),
            frames: state.frames.iter().cloned().collect(),
            turns: state.turns.iter().cloned().collect(),
            sound: state.sound.iter().cloned().collect(),
            poses: state.poses.iter().cloned().collect(),
        }
    }

    /// Forgets everything, for a new session.
    pub fn clear(&self) {
        *self.state() = State::default();
    }
}

/// Inserts in time order; what comes in order costs nothing.
fn insert<T>(queue: &mut VecDeque<T>, value: T, time: impl Fn(&T) -> Timestamp) {
    let at = time(&value);
    let behind = queue.iter().rev().take_while(|other| time(other) > at).count();
    queue.insert(queue.len() - behind, value);
}

trait RetainFront<T> {
    /// Pops from the front until the first that is kept.
    fn retain_front(&mut self, keep: impl Fn(&T) -> bool);
}

impl<T> RetainFront<T> for VecDeque<T> {
    fn retain_front(&mut self, keep: impl Fn(&T) -> bool) {
        while self.front().is_some_and(|first| !keep(first)) {
            self.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::media::SAMPLE_RATE;

    fn sound(ms: i64) -> Seen {
        Seen::Sound(Block {
            source: SourceId::new("microphone"),
            at: Timestamp::from_nanos(ms * 1_000_000),
            samples: vec![0.0; SAMPLE_RATE as usize / 10].into(),
        })
    }

    #[test]
    fn holds_the_last_clip_in_time_order() {
        let window = RollingWindow::new(30.0);
        for n in 0..1000 {
            // Every second pair comes the wrong way round.
            let n = if n % 4 < 2 { n } else { n ^ 1 };
            window.push(sound(n * 100));
        }
        let open = window.snapshot();
        assert_eq!(open.sound.len(), 300);
        assert!(open.sound.windows(2).all(|pair| pair[0].at < pair[1].at));
        assert_eq!(open.span.end, Timestamp::from_nanos(100_000_000_000));
        window.clear();
        assert!(window.snapshot().sound.is_empty());
    }
}
