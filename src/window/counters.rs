//! What went through the window, counted per source.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::ids::SourceId;
use crate::media::Item;
use crate::percept::ClipCounts;

/// What one source yielded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceCounts {
    /// Pictures.
    pub frames: u64,
    /// Of these, analysed.
    pub analysed: u64,
    /// Pictures lost because nobody took them in time (live only).
    pub dropped_frames: u64,
    /// Runs of sound.
    pub blocks: u64,
    /// Samples in them.
    pub samples: u64,
    /// Runs of sound lost because nobody took them in time (live only).
    pub dropped_blocks: u64,
    /// Poses.
    pub poses: u64,
}

/// Counters of a session, per source, and of the clip that is open.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WindowCounters {
    sources: BTreeMap<SourceId, SourceCounts>,
    open: ClipCounts,
}

impl WindowCounters {
    fn of(&mut self, source: &SourceId) -> &mut SourceCounts {
        self.sources.entry(source.clone()).or_default()
    }

    /// One item came in; `analysed`: it is a frame that the selector picked.
    pub fn count(&mut self, item: &Item, analysed: bool) {
        let counts = self.of(item.source());
        match item {
            Item::Frame(_) => {
                counts.frames += 1;
                counts.analysed += u64::from(analysed);
                self.open.frames += 1;
                self.open.analysed += u64::from(analysed);
            }
            Item::Block(block) => {
                counts.blocks += 1;
                counts.samples += block.samples.len() as u64;
            }
            Item::Pose(..) => counts.poses += 1,
            Item::Words(_) => {}
        }
    }

    /// Faces were found in an analysed frame of the open clip.
    pub fn count_faces(&mut self, faces: u64) {
        self.open.faces += faces;
    }

    /// Totals of what a live source dropped so far; the increase counts to the open clip.
    pub fn set_dropped(&mut self, source: &SourceId, frames: u64, blocks: u64) {
        let counts = self.of(source);
        let more = frames.saturating_sub(counts.dropped_frames);
        counts.dropped_frames = counts.dropped_frames.max(frames);
        counts.dropped_blocks = counts.dropped_blocks.max(blocks);
        self.open.dropped += more;
    }

    /// The open clip is sealed: its counters, which begin again at zero.
    pub fn seal(&mut self) -> ClipCounts {
        std::mem::take(&mut self.open)
    }

    /// Totals of the session, per source in name order.
    pub fn sources(&self) -> impl Iterator<Item = (&SourceId, &SourceCounts)> {
        self.sources.iter()
    }
}
