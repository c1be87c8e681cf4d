//! The dispatcher: items in event time order to their stages, boundaries to all of them.

use std::collections::BTreeMap;

use crossbeam_channel::{Receiver, Sender, bounded, unbounded};

use crate::daemon::ingest::clip_boundary::ClipBoundary;
use crate::daemon::ingest::contribution::Contribution;
use crate::daemon::ingest::contribution::DispatchContribution;
use crate::daemon::ingest::stage::mouths::Mouths;
use crate::daemon::ingest::stage::{camera, microphone};
use crate::daemon::ingest::work::jobs::JobQueue;
use crate::daemon::ingest::{Gauges, Inbox, PlaybackClock};
use crate::ids::SourceId;
use crate::media::{Frame, Item};
use crate::time::Timestamp;
use crate::window::{ClipClock, FrameSelector, LEAST_STEP_SECS};

/// The stages have ended before the feed: the committer met a fault, or a worker broke down.
#[derive(Debug)]
pub(in crate::daemon::ingest) struct StagesGone;

/// The way to a source's stage.
pub(in crate::daemon::ingest) struct Way<S> {
    steps: Sender<S>,
    /// Live: when so many wait, its frames or blocks are dropped, and nothing else waits for that stage. A replay waits.
    most: Option<usize>,
    /// Live: so many more may wait during the first clip.
    backlog: usize,
}

impl<S> Way<S> {
    /// One on which so many frames or blocks may wait, and its end.
    pub(in crate::daemon::ingest) fn new(most: usize, live: bool) -> (Self, Receiver<S>) {
        let most = most.max(1);
        let (steps, taken) = if live { unbounded() } else { bounded(most) };
        (Self { steps, most: live.then_some(most), backlog: 0 }, taken)
    }

    /// Live: what was captured while models were loaded comes all at once; so many frames or blocks of it are seen to.
    pub(in crate::daemon::ingest) fn with_backlog(self, backlog: usize) -> Self {
        Self { backlog, ..self }
    }

    fn is_full(&self) -> bool {
        self.most.is_some_and(|most| self.steps.len() >= most.saturating_add(self.backlog))
    }

    fn send(&self, step: S) -> Result<(), StagesGone> {
        self.steps.send(step).map_err(|_| StagesGone)
    }
}

/// Touched by the dispatching thread alone.
pub(in crate::daemon::ingest) struct Dispatcher {
    pub(in crate::daemon::ingest) cameras: BTreeMap<SourceId, Way<camera::Step>>,
    pub(in crate::daemon::ingest) microphones: BTreeMap<SourceId, Way<microphone::Step>>,
    pub(in crate::daemon::ingest) jobs: JobQueue,
    pub(in crate::daemon::ingest) parts: Sender<Contribution>,
    pub(in crate::daemon::ingest) pace: PlaybackClock,
    pub(in crate::daemon::ingest) gauges: Gauges,
    pub(in crate::daemon::ingest) inbox: Inbox,
    pub(in crate::daemon::ingest) clip_secs: f64,
    pub(in crate::daemon::ingest) analyse_fps: f64,
    /// Where the grid of the frames that are analysed begins; `None`: with the first item.
    pub(in crate::daemon::ingest) grid: Option<Timestamp>,
    pub(in crate::daemon::ingest) progress: Option<Progress>,
    /// Per microphone: sound before this is done with (resumed replays).
    pub(in crate::daemon::ingest) consumed: BTreeMap<SourceId, Timestamp>,
    /// Where mouths are scored: then the frames between two analysed ones are handed on too.
    pub(in crate::daemon::ingest) mouths: Option<Mouths>,
    /// Per camera: the frames since the last analysed one.
    pub(in crate::daemon::ingest) between: BTreeMap<SourceId, Vec<Frame>>,
}

/// Of a long time without anything so many clips are sealed; recorders pause for months, and clocks are set.
const MOST_EMPTY: usize = 10;
/// Frames that wait for the next analysed one at most: less than a second's.
const MOST_BETWEEN: usize = 24;

/// Where the session stands; none before its first item.
pub(in crate::daemon::ingest) struct Progress {
    pub(in crate::daemon::ingest) clock: ClipClock,
    pub(in crate::daemon::ingest) selector: FrameSelector,
    /// Index of the open clip.
    pub(in crate::daemon::ingest) index: u32,
    /// Pictures and poses before this are done with (resumed replays).
    pub(in crate::daemon::ingest) done_before: Timestamp,
    pub(in crate::daemon::ingest) part: DispatchContribution,
    /// End of the latest media.
    pub(in crate::daemon::ingest) latest: Timestamp,
}

impl Progress {
    fn begin(t0: Timestamp, grid: Timestamp, clip_secs: f64, analyse_fps: f64) -> Self {
        Self {
            clock: ClipClock::new(t0, clip_secs),
            selector: FrameSelector::new(grid, analyse_fps),
            index: 0,
            done_before: Timestamp::from_nanos(i64::MIN),
            part: DispatchContribution::default(),
            latest: t0,
        }
    }
}

impl Dispatcher {
    /// Live: whether the item may be taken in at all; sound may not while microphones are switched off.
    pub(in crate::daemon::ingest) fn may_take(&self, item: &Item) -> bool {
        !(matches!(item, Item::Block(_)) && self.inbox.is_muted())
    }

    /// Hands one item on; false when the replay was stopped from outside.
    pub(in crate::daemon::ingest) fn item(&mut self, item: Item) -> Result<bool, StagesGone> {
        if self.jobs.is_lost() {
            return Err(StagesGone);
        }
        let at = item.at();
        let (clip_secs, analyse_fps) = (self.clip_secs, self.analyse_fps);
        let (grid, fresh) = (self.grid.unwrap_or(at), self.progress.is_none());
        let progress =
            self.progress.get_or_insert_with(|| Progress::begin(at, grid, clip_secs, analyse_fps));
        if let Some(mouths) = self.mouths.as_ref().filter(|_| fresh) {
            mouths.begin(progress.clock);
        }
        let done = match &item {
            // By its middle: drift may move a block to a little before the end of the one before.
            Item::Block(block) => {
                let middle = at.plus_secs(block.end().secs_since(at) / 2.0);
                self.consumed.get(&block.source).is_some_and(|done| middle < *done)
            }
            Item::Frame(_) | Item::Pose(..) | Item::Words(_) => at < progress.done_before,
        };
        if done {
            return Ok(true);
        }
        // Steps count frames; where there is no camera, blocks.
        let counts = match &item {
            Item::Frame(_) => true,
            Item::Block(_) => self.cameras.is_empty(),
            Item::Pose(..) | Item::Words(_) => false,
        };
        if !self.pace.wait(at, counts) {
            return Ok(false);
        }
        self.boundaries_until(at)?;
        let Some(progress) = &mut self.progress else { return Ok(true) };
        match item {
            Item::Frame(frame) => {
                progress.part.frames += 1;
                progress.latest = progress.latest.max(at);
                let mut frames = match &self.mouths {
                    Some(_) => self.between.remove(&frame.source).unwrap_or_default(),
                    None => Vec::new(),
                };
                if self.mouths.is_some() {
                    gather(&mut frames, &frame);
                }
                if let Some(way) = self.cameras.get(&frame.source)
                    && progress.selector.select(&frame.source, at)
                {
                    if way.is_full() {
                        progress.part.dropped += 1;
                        self.gauges.dropped(&frame.source, 1);
                        if self.mouths.is_some() {
                            self.between.insert(frame.source, frames);
                        }
                        return Ok(true);
                    }
                    progress.part.analysed += 1;
                    self.gauges.item(&frame.source, at, way.steps.len(), self.jobs.waiting());
                    // The analysed frame itself is always among them.
                    if self.mouths.is_some() && frames.last().is_none_or(|last| last.at != at) {
                        frames.push(frame.clone());
                    }
                    way.send(camera::Step::Frame(Box::new(frame), frames))?;
                } else if self.mouths.is_some() {
                    self.between.insert(frame.source, frames);
                }
            }
            Item::Block(block) => {
                progress.latest = progress.latest.max(block.end());
                if let Some(way) = self.microphones.get(&block.source) {
                    if way.is_full() {
                        self.gauges.dropped(&block.source, 1);
                        return Ok(true);
                    }
                    let waiting = way.steps.len();
                    self.gauges.item(&block.source, block.end(), waiting, self.jobs.waiting());
                    way.send(microphone::Step::Block(block))?;
                }
            }
            Item::Pose(_, pose) => {
                progress.latest = progress.latest.max(at);
                progress.part.poses.push(pose);
            }
            Item::Words(told) => {
                progress.latest = progress.latest.max(at);
                progress.part.told.push(told);
            }
        }
        Ok(true)
    }

    /// A live source dropped so many more frames and blocks.
    pub(in crate::daemon::ingest) fn dropped(
        &mut self,
        source: &SourceId,
        frames: u64,
        blocks: u64,
    ) {
        if let Some(progress) = &mut self.progress {
            progress.part.dropped += frames;
        }
        if frames + blocks > 0 {
            self.gauges.dropped(source, frames + blocks);
        }
    }

    /// Announces every boundary up to `at`. Of a long time without anything only the first clips are sealed: they end what
    /// was open, and then nobody is waited for.
    pub(in crate::daemon::ingest) fn boundaries_until(
        &mut self,
        at: Timestamp,
    ) -> Result<(), StagesGone> {
        let mut announced = 0;
        while let Some(progress) = &mut self.progress {
            if announced >= MOST_EMPTY {
                progress.index = progress.index.max(progress.clock.index(at));
            }
            announced += 1;
            let span = progress.clock.span(progress.index);
            if at < span.end {
                break;
            }
            let (index, start, end) = (progress.index, span.start, span.end);
            self.boundary(ClipBoundary { index, start, end, last: false })?;
        }
        Ok(())
    }

    /// Announces the session's last boundary, right after its last media.
    pub(in crate::daemon::ingest) fn finish(&mut self) -> Result<(), StagesGone> {
        let Some(progress) = &self.progress else { return Ok(()) };
        let (latest, span) = (progress.latest, progress.clock.span(progress.index));
        // Sound of the last block may reach over the boundary before it.
        self.boundaries_until(Timestamp::from_nanos(latest.as_nanos().saturating_sub(1)))?;
        let Some(progress) = &self.progress else { return Ok(()) };
        let last = progress.clock.span(progress.index);
        let end = latest.clamp(span.start, last.end).max(last.start);
        self.boundary(ClipBoundary { index: progress.index, start: last.start, end, last: true })
    }

    fn boundary(&mut self, boundary: ClipBoundary) -> Result<(), StagesGone> {
        let Some(progress) = &mut self.progress else { return Ok(()) };
        progress.index = boundary.index + 1;
        // A resumed session will not have them either.
        self.between.clear();
        self.gauges.border();
        let mut part = std::mem::take(&mut progress.part);
        part.poses.extend(self.inbox.poses_before(boundary.end));
        part.selector = Some(progress.selector.clone());
        part.t0 = progress.clock.t0();
        part.clock = Some(progress.clock);
        for way in self.cameras.values_mut() {
            way.backlog = 0;
            way.send(camera::Step::Boundary(boundary))?;
        }
        for way in self.microphones.values() {
            way.send(microphone::Step::Boundary(boundary))?;
        }
        self.parts.send(Contribution::Dispatch(boundary, Box::new(part))).map_err(|_| StagesGone)
    }
}

/// Keeps a frame until the next analysed one.
fn gather(frames: &mut Vec<Frame>, frame: &Frame) {
    if frames.last().is_some_and(|last| frame.at.secs_since(last.at) < LEAST_STEP_SECS) {
        return;
    }
    if frames.len() == MOST_BETWEEN {
        frames.remove(0);
    }
    frames.push(frame.clone());
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn what_was_captured_before_the_stage_was_there_may_wait_too() {
        let (way, taken) = Way::new(2, true);
        let mut way = way.with_backlog(3);
        for n in 0..5 {
            assert!(!way.is_full());
            way.send(n).unwrap();
        }
        assert!(way.is_full());
        way.backlog = 0;
        taken.try_recv().unwrap();
        assert!(way.is_full(), "later no more than at any time");
    }
}
