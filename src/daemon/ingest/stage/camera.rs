//! One camera's stage: has frames analysed and takes them in order, follows faces and things, hands over a part at each
//! boundary.
//!
//! Some frames are in work at a time. A frame whose analysis hangs is given up at its deadline, and only this camera's frames
//! wait for that.

use std::collections::VecDeque;
use std::thread::{self, JoinHandle};
use std::time::Instant;

use crossbeam_channel::{Receiver, Sender, select};

use super::camera_state::CameraState;
use super::detection_schedule::{DetectionSchedule, Doing};
use super::mouths::Mouths;
use super::present::PresentBoard;
use crate::capture::Cause;
use crate::daemon::ingest::clip_boundary::ClipBoundary;
use crate::daemon::ingest::contribution::CameraContribution;
use crate::daemon::ingest::contribution::Contribution;
use crate::daemon::ingest::report::Losses;
use crate::daemon::ingest::settings::SessionSettings;
use crate::daemon::ingest::work::jobs::{JobQueue, Pending, take};
use crate::daemon::ingest::work::registry::PicturePercepts;
use crate::daemon::ingest::work::worker::{Analysed, FrameJob, Pictures};
use crate::ids::SourceId;
use crate::media::Frame;
use crate::perceive::PerceiveError;
use crate::perceive::face::{FaceFinding, Thumbnail};
use crate::perceive::perceptor::Moment;
use crate::percept::{FaceTrack, KeyFrame};
use crate::supervise::{Attempts, GaveUp};
use crate::telemetry::rate_limited_log::RateLimitedLog;
use crate::telemetry::stage_times::Stage;
use crate::time::Timestamp;

/// What reaches a camera's stage, in event time order.
pub(in crate::daemon::ingest) enum Step {
    /// A frame that is to be analysed; and, where mouths are scored, all frames since the one before it, itself included.
    Frame(Box<Frame>, Vec<Frame>),
    /// Every frame before the boundary has been handed in.
    Boundary(ClipBoundary),
}

pub(in crate::daemon::ingest) struct CameraStage {
    pub(in crate::daemon::ingest) index: usize,
    pub(in crate::daemon::ingest) source: SourceId,
    pub(in crate::daemon::ingest) state: CameraState,
    /// As it was at the last boundary.
    pub(in crate::daemon::ingest) sealed: CameraState,
    /// In which frames faces and things are looked for.
    pub(in crate::daemon::ingest) schedule: DetectionSchedule,
    pub(in crate::daemon::ingest) jobs: JobQueue,
    /// So many frames may be in work at a time.
    pub(in crate::daemon::ingest) ahead: usize,
    pub(in crate::daemon::ingest) key_frames: usize,
    /// What it may spend on looks that are not promised, thousandths of a core.
    pub(in crate::daemon::ingest) share: u32,
    pub(in crate::daemon::ingest) present: PresentBoard,
    pub(in crate::daemon::ingest) losses: Losses,
    /// Where mouth crops go; `None` where none are scored.
    pub(in crate::daemon::ingest) mouths: Option<Mouths>,
    pub(in crate::daemon::ingest) settings: SessionSettings,
}

impl CameraStage {
    /// Runs until the last handle to `steps` is gone.
    pub(in crate::daemon::ingest) fn start(
        self,
        steps: Receiver<Step>,
        parts: Sender<Contribution>,
    ) -> Result<JoinHandle<()>, PerceiveError> {
        thread::Builder::new()
            .name(format!("camera-{}", self.index))
            .spawn(move || self.run(&steps, &parts))
            .map_err(PerceiveError::Thread)
    }

    fn run(mut self, steps: &Receiver<Step>, parts: &Sender<Contribution>) {
        let mut work = Work::default();
        // Nobody asks how it ended: a stage that stays down was told of.
        while let Some(step) = self.next(steps, &mut work) {
            let done = match step {
                Step::Frame(frame, frames) => self.submit(*frame, frames, &mut work),
                Step::Boundary(boundary) => self.boundary(boundary, parts, &mut work),
            };
            if done.is_err() {
                return;
            }
        }
    }

    /// The next step; frames that come back from the workers meanwhile are taken in. `None`: there is none any more, or the
    /// stage stays down.
    fn next(&mut self, steps: &Receiver<Step>, work: &mut Work) -> Option<Step> {
        loop {
            let Some(first) = work.underway.front() else { return steps.recv().ok() };
            if work.underway.len() < self.ahead {
                select! {
                    recv(steps) -> step => return step.ok(),
                    recv(first.pending) -> analysed => {
                        let analysed = analysed.unwrap_or(Err(PerceiveError::WorkerLost));
                        let first = work.underway.pop_front()?;
                        self.take_in(analysed, &first, work).ok()?;
                    }
                }
            } else {
                self.take_first(work).ok()?;
            }
        }
    }

    /// Has a frame analysed, once all is known that it hangs on what is looked for in it.
    fn submit(
        &mut self,
        frame: Frame,
        frames: Vec<Frame>,
        work: &mut Work,
    ) -> Result<(), StaysDown> {
        while !self.schedule.is_ready(&self.state.reports) && !work.underway.is_empty() {
            self.take_first(work)?;
        }
        let (plan, left_out) = self.schedule.plan(&self.state.reports);
        if left_out {
            self.settings.gauges.look_left_out(&self.source);
        }
        let cost_us = plan.cost_us();
        let pending = self.jobs.look::<Pictures>(FrameJob { frame, plan });
        work.underway.push_back(Underway { pending, frames, cost_us });
        Ok(())
    }

    /// Waits for the oldest frame in work.
    fn take_first(&mut self, work: &mut Work) -> Result<(), StaysDown> {
        let Some(first) = work.underway.pop_front() else { return Ok(()) };
        self.take_in(take(&first.pending), &first, work)
    }

    fn take_in(
        &mut self,
        analysed: Result<Analysed, PerceiveError>,
        Underway { frames, cost_us, .. }: &Underway,
        work: &mut Work,
    ) -> Result<(), StaysDown> {
        let at = analysed.as_ref().ok().map(|analysed| analysed.at);
        self.state.reports.cost(at, self.share, *cost_us);
        let analysed = match analysed {
            Ok(analysed) => analysed,
            Err(error) => {
                if let Some(count) = work.left_out.happened(Instant::now()) {
                    tracing::warn!(source = %self.source, %error, count, "A frame was left out; more are told once a minute.");
                }
                let cause = match error {
                    PerceiveError::Hung { .. } | PerceiveError::WorkerLost => Cause::Fault,
                    _ => Cause::Undecodable,
                };
                self.losses.add(cause, &format!("{}: {error}", self.source));
                self.say(Word::default());
                return Ok(());
            }
        };
        // Said once for every frame, whatever becomes of it: the schedule counts.
        let Work { attempts, part, .. } = work;
        match attempts.attempt(|| self.frame(analysed, frames, part))? {
            Some(word) => self.say(word),
            None => {
                self.begin_anew();
                self.say(Word::default());
            }
        }
        Ok(())
    }

    /// Everything before the boundary is taken in, and the clip's part handed over.
    fn boundary(
        &mut self,
        boundary: ClipBoundary,
        parts: &Sender<Contribution>,
        work: &mut Work,
    ) -> Result<(), StaysDown> {
        while !work.underway.is_empty() {
            self.take_first(work)?;
        }
        let gathered = std::mem::take(&mut work.part);
        let camera = match work.attempts.attempt(|| self.seal(boundary, gathered))? {
            Some(camera) => camera,
            None => {
                self.begin_anew();
                CameraContribution::nothing(self.state.clone())
            }
        };
        self.sealed = camera.state.clone();
        // What the frames before the boundary showed is cut; the next one belongs to the next clip.
        if let Some(mouths) = &self.mouths {
            mouths.seen(self.index, boundary.end, Vec::new());
        }
        parts
            .send(Contribution::Camera(self.index, boundary, Box::new(camera)))
            .map_err(|_| StaysDown)
    }

    /// After a panic, which may have left any state: what was followed since the last boundary is lost.
    fn begin_anew(&mut self) {
        let reports = std::mem::take(&mut self.state.reports);
        self.state = CameraState { reports, ..self.sealed.clone() };
        self.losses.add(Cause::Fault, self.source.as_str());
        self.settings.gauges.restarted("camera");
    }

    /// The clip's part.
    fn seal(&mut self, boundary: ClipBoundary, gathered: Gathered) -> CameraContribution {
        let percepts = self.state.pictures.at_boundary(boundary.end);
        let moves = self.state.motion.until(boundary.end);
        CameraContribution {
            key_frames: choose_key_frames(gathered.frames, &percepts, self.key_frames),
            percepts,
            still: !gathered.looked.is_empty() && !gathered.moved,
            looked: gathered.looked,
            faces: gathered.faces,
            moves,
            state: self.state.clone(),
        }
    }

    /// What there is to say after this frame.
    fn frame(&mut self, analysed: Analysed, frames: &[Frame], part: &mut Gathered) -> Word {
        self.settings.failpoints.pass("camera");
        let Analysed { findings, thumbnail, grey, jpeg, at } = analysed;
        let shift = grey.and_then(|grey| self.state.motion.step(at, grey));
        // A camera that turns shows another picture, and the same scene.
        let cut = self.state.cuts.step(thumbnail.clone()) && shift.is_none();
        self.state.pictures.advance(Moment { at, cut, shift }, &findings);
        let tracker = &self.state.pictures.faces;
        let (looked, found) = match &findings.faces {
            Some(FaceFinding { frame, looked }) => (*looked, frame.faces.len()),
            None => (false, 0),
        };
        if looked {
            part.looked.push(at);
        }
        let steady = tracker.steady(at) && !cut;
        let steady = (steady && !tracker.is_empty()).then(|| thumbnail.clone());
        let bodies = &self.state.pictures.objects.bodies;
        let empty = looked && found == 0 && tracker.is_empty() && bodies.is_empty();
        let changed = self.state.background.change(&thumbnail).is_some();
        let moving = if bodies.is_empty() { changed } else { !bodies.steady(at) };
        let doing = Doing {
            moving: moving || shift.is_some(),
            may_lie: bodies.may_lie(at),
            people: u32::try_from(bodies.seen_at(at).len()).unwrap_or(u32::MAX),
        };
        // One picture alone may be a flash or the camera's noise.
        part.moved |= changed && part.changed || shift.is_some();
        part.changed = changed;
        if empty {
            self.state.background.learn(&thumbnail);
        }
        let read = findings.texts.as_ref().map(|texts| !texts.is_empty());
        let every_secs = self.settings.config.text.every_secs;
        self.state.reports.scene(at, &thumbnail, read, every_secs);
        part.faces += found as u64;
        self.present.frame(&self.source, at, &jpeg);
        part.frames.push(KeyFrame { source: self.source.clone(), at, jpeg });
        let seen = (tracker.seen_at(at), bodies.seen_at(at));
        self.present.tracks(&self.source, at, &tracker.open(), &bodies.open(), &seen);
        if let Some(mouths) = &self.mouths {
            let seen = tracker.seen_at(at);
            let cutter = &mut self.state.mouths;
            let cut = || cutter.step(at, seen, cut, frames);
            mouths.seen(
                self.index,
                at,
                self.settings.perceivers.stages.time(Stage::ActiveSpeaker, cut),
            );
        }
        Word { steady, empty, doing }
    }

    /// Notes what frames after this one hang on.
    fn say(&mut self, Word { steady, empty, doing }: Word) {
        let empty = empty.then_some(&self.state.background);
        self.state.reports.note(steady, empty, doing);
    }
}

/// A stage's word after a frame.
#[derive(Clone, Debug, Default)]
struct Word {
    /// The picture, where somebody is followed and every track is steady.
    steady: Option<Thumbnail>,
    /// Nobody is in view, and nobody is followed.
    empty: bool,
    doing: Doing,
}

/// A frame in work.
struct Underway {
    pending: Pending<Analysed>,
    frames: Vec<Frame>,
    /// What it is taken to cost, microseconds.
    cost_us: u64,
}

/// What a stage is at.
struct Work {
    /// In the order of the frames.
    underway: VecDeque<Underway>,
    part: Gathered,
    attempts: Attempts,
    /// Frames that could not be analysed.
    left_out: RateLimitedLog,
}

impl Default for Work {
    fn default() -> Self {
        Self {
            underway: VecDeque::new(),
            part: Gathered::default(),
            attempts: Attempts::new("camera"),
            left_out: RateLimitedLog::default(),
        }
    }
}

/// The stage has ended in too many panics, or nobody takes its parts.
struct StaysDown;

impl From<GaveUp> for StaysDown {
    fn from(_: GaveUp) -> Self {
        Self
    }
}

#[derive(Default)]
struct Gathered {
    looked: Vec<Timestamp>,
    frames: Vec<KeyFrame>,
    faces: u64,
    /// The last picture showed something else than the empty scene.
    changed: bool,
    /// Two in a row did.
    moved: bool,
}

/// Key frames: the first sight of each new track, longest tracks first, then frames evenly spread; beside them what shows
/// texts that were not told of before.
fn choose_key_frames(
    frames: Vec<KeyFrame>,
    percepts: &PicturePercepts,
    most: usize,
) -> Vec<KeyFrame> {
    let mut by_length: Vec<&FaceTrack> =
        percepts.faces.iter().filter(|track| !track.continued).collect();
    by_length.sort_by_key(|track| (std::cmp::Reverse(track.sightings.len()), track.id));
    let mut wanted: Vec<Timestamp> = Vec::new();
    for track in by_length.into_iter().take(most) {
        // The middle of a track shows the face better than its first frame.
        if let Some(sighting) = track.sightings.get(track.sightings.len() / 2) {
            wanted.push(sighting.at);
        }
    }
    let missing = most.saturating_sub(wanted.len());
    for k in 0..missing {
        if let Some(frame) = frames.get((2 * k + 1) * frames.len() / (2 * missing.max(1))) {
            wanted.push(frame.at);
        }
    }
    let fresh = percepts.texts.iter().filter(|text| !text.continued);
    wanted.extend(fresh.take(most).map(|text| text.best_at));
    wanted.sort_unstable();
    wanted.dedup();
    frames.into_iter().filter(|frame| wanted.binary_search(&frame.at).is_ok()).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn key_frames_are_spread_when_nobody_is_there() {
        let frame = |second: i64| KeyFrame {
            source: SourceId::new("camera"),
            at: Timestamp::from_nanos(second),
            jpeg: Arc::from([0_u8].as_slice()),
        };
        let chosen =
            choose_key_frames((0..100).map(frame).collect(), &PicturePercepts::default(), 4);
        let at: Vec<i64> = chosen.iter().map(|frame| frame.at.as_nanos()).collect();
        assert_eq!(at, [12, 37, 62, 87]);
        assert!(choose_key_frames(Vec::new(), &PicturePercepts::default(), 4).is_empty());
    }
}
