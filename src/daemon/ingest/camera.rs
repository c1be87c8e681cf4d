//! One camera's stage: takes analysed frames in order, follows faces and things, hands over a part at each border.

use std::thread::{self, JoinHandle};
use std::time::Instant;

use crossbeam_channel::{Receiver, Sender};
use serde::{Deserialize, Serialize};

use super::mouths::Mouths;
use super::perceivers::Analysed;
use super::pool::{Pending, take};
use super::present::PresentBoard;
use super::report::Losses;
use super::seldom::Seldom;
use super::session::SessionSettings;
use super::stages::Stage;
use super::steady::{Said, Steadiness};
use super::{Border, Part};
use crate::capture::Cause;
use crate::ids::SourceId;
use crate::media::Frame;
use crate::perceive::PerceiveError;
use crate::perceive::active_speaker::MouthCutter;
use crate::perceive::face::{Backdrop, CutDetector, FaceTracker, Thumbnail};
use crate::perceive::object::ObjectTracker;
use crate::perceive::track::TrackerSettings;
use crate::percept::{FaceTrack, KeyFrame, ObjectTrack};
use crate::supervise::Attempts;
use crate::time::Timestamp;

/// What reaches a camera's stage, in event time order.
pub(super) enum Step {
    /// A frame that a worker is analysing; and, where mouths are scored, all frames since the one before it, itself
    /// included.
    Frame(Pending<Analysed>, Vec<Frame>),
    /// Every frame before the border has been handed in.
    Border(Border),
}

/// What a camera contributes to one clip.
#[derive(Clone, Debug)]
pub(super) struct CameraPart {
    pub(super) tracks: Vec<FaceTrack>,
    pub(super) objects: Vec<ObjectTrack>,
    pub(super) key_frames: Vec<KeyFrame>,
    pub(super) looked: Vec<Timestamp>,
    pub(super) faces: u64,
    /// The stage as it stands at the border, for the checkpoint.
    pub(super) state: CameraState,
}

impl CameraPart {
    /// Of a clip whose part was lost.
    fn nothing(state: CameraState) -> Self {
        let (tracks, objects, key_frames) = (Vec::new(), Vec::new(), Vec::new());
        Self { tracks, objects, key_frames, looked: Vec::new(), faces: 0, state }
    }
}

/// Touched by the stage's thread alone; copied into the checkpoint at each border.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct CameraState {
    tracker: FaceTracker,
    objects: ObjectTracker,
    cuts: CutDetector,
    /// What it sees while nobody is in view.
    backdrop: Backdrop,
    said: Said,
    mouths: MouthCutter,
}

impl CameraState {
    pub(super) fn new(source: SourceId, faces: TrackerSettings, objects: TrackerSettings) -> Self {
        let tracker = FaceTracker::new(source.clone(), faces);
        let objects = ObjectTracker::new(source, objects);
        Self {
            tracker,
            objects,
            cuts: CutDetector::default(),
            backdrop: Backdrop::default(),
            said: Said::default(),
            mouths: MouthCutter::default(),
        }
    }

    /// What the stage said of its last frames.
    pub(super) fn said(&self) -> &Said {
        &self.said
    }
}

pub(super) struct CameraStage {
    pub(super) index: usize,
    pub(super) source: SourceId,
    pub(super) state: CameraState,
    /// As it was at the last border.
    pub(super) sealed: CameraState,
    pub(super) steadiness: Steadiness,
    pub(super) key_frames: usize,
    pub(super) present: PresentBoard,
    pub(super) losses: Losses,
    /// Where mouth crops go; `None` where none are scored.
    pub(super) mouths: Option<Mouths>,
    pub(super) settings: SessionSettings,
}

impl CameraStage {
    /// Runs until the last handle to `steps` is gone.
    pub(super) fn start(
        self,
        steps: Receiver<Step>,
        parts: Sender<Part>,
    ) -> Result<JoinHandle<()>, PerceiveError> {
        thread::Builder::new()
            .name(format!("camera-{}", self.index))
            .spawn(move || self.run(&steps, &parts))
            .map_err(PerceiveError::Thread)
    }

    fn run(mut self, steps: &Receiver<Step>, parts: &Sender<Part>) {
        // Also when it ends in a panic: the dispatcher waits for no one who is gone.
        let _closing = Closing(self.steadiness.clone());
        let mut part = Gathered::default();
        let (mut attempts, mut left_out) = (Attempts::new("camera"), Seldom::default());
        while let Ok(step) = steps.recv() {
            match step {
                Step::Frame(pending, frames) => {
                    let analysed = match take(&pending) {
                        Ok(analysed) => analysed,
                        Err(error) => {
                            if let Some(count) = left_out.happened(Instant::now()) {
                                tracing::warn!(source = %self.source, %error, count, "A frame was left out; more are told once a minute.");
                            }
                            let place = format!("{}: {error}", self.source);
                            self.losses.add(Cause::Undecodable, &place);
                            self.say(Word::default());
                            continue;
                        }
                    };
                    // Said once for every frame, whatever becomes of it: the dispatcher counts.
                    match attempts.attempt(|| self.frame(analysed, &frames, &mut part)) {
                        Ok(Some(word)) => self.say(word),
                        Ok(None) => {
                            self.begin_anew();
                            self.say(Word::default());
                        }
                        Err(_) => return,
                    }
                }
                Step::Border(border) => {
                    let gathered = std::mem::take(&mut part);
                    let camera = match attempts.attempt(|| self.seal(border, gathered)) {
                        Ok(Some(camera)) => camera,
                        Ok(None) => {
                            self.begin_anew();
                            CameraPart::nothing(self.state.clone())
                        }
                        Err(_) => return,
                    };
                    self.sealed = camera.state.clone();
                    // What the frames before the border showed is cut; the next one belongs to the next clip.
                    if let Some(mouths) = &self.mouths {
                        mouths.seen(self.index, border.end, Vec::new());
                    }
                    if parts.send(Part::Camera(self.index, border, Box::new(camera))).is_err() {
                        return;
                    }
                }
            }
        }
    }

    /// After a panic, which may have left any state: what was followed since the last border is lost.
    fn begin_anew(&mut self) {
        let said = std::mem::take(&mut self.state.said);
        self.state = CameraState { said, ..self.sealed.clone() };
        self.losses.add(Cause::Fault, self.source.as_str());
        self.settings.gauges.restarted("camera");
    }

    /// The clip's part.
    fn seal(&mut self, border: Border, gathered: Gathered) -> CameraPart {
        let tracks = self.state.tracker.seal(border.end);
        let objects = self.state.objects.seal(border.end);
        CameraPart {
            key_frames: choose_key_frames(gathered.frames, &tracks, self.key_frames),
            tracks,
            objects,
            looked: gathered.looked,
            faces: gathered.faces,
            state: self.state.clone(),
        }
    }

    /// What there is to say after this frame.
    fn frame(&mut self, analysed: Analysed, frames: &[Frame], part: &mut Gathered) -> Word {
        self.settings.breakdowns.pass("camera");
        let Analysed { faces: mut frame, thumbnail, looked, objects } = analysed;
        frame.cut = self.state.cuts.step(thumbnail.clone());
        if looked {
            self.state.tracker.step(&frame);
            part.looked.push(frame.at);
        } else {
            self.state.tracker.coast(frame.at, frame.cut);
        }
        match objects {
            Some(objects) => self.state.objects.follow(frame.at, frame.cut, &objects),
            None if frame.cut => self.state.objects.cut(),
            None => {}
        }
        let steady = self.state.tracker.steady(frame.at) && !frame.cut;
        let steady = (steady && !self.state.tracker.is_empty()).then(|| thumbnail.clone());
        let empty = looked && frame.faces.is_empty() && self.state.tracker.is_empty();
        if empty {
            self.state.backdrop.learn(&thumbnail);
        }
        part.faces += frame.faces.len() as u64;
        if let Some(jpeg) = frame.jpeg.take() {
            self.present.frame(&self.source, frame.at, &jpeg);
            part.frames.push(KeyFrame { source: self.source.clone(), at: frame.at, jpeg });
        }
        self.present.tracks(&self.source, frame.at, &self.state.tracker.open());
        if let Some(mouths) = &self.mouths {
            let (at, seen) = (frame.at, self.state.tracker.seen_at(frame.at));
            let cutter = &mut self.state.mouths;
            let cut = || cutter.step(at, seen, frame.cut, frames);
            mouths.seen(
                self.index,
                at,
                self.settings.perceivers.stages.time(Stage::ActiveSpeaker, cut),
            );
        }
        Word { steady, empty }
    }

    /// Tells the dispatcher what it has to know of this frame.
    fn say(&mut self, Word { steady, empty }: Word) {
        let empty = empty.then_some(&self.state.backdrop);
        self.state.said.note(steady, empty);
        self.steadiness.say(&self.state.said);
    }
}

/// A stage's word after a frame.
#[derive(Clone, Debug, Default)]
struct Word {
    /// The picture, where somebody is followed and every track is steady.
    steady: Option<Thumbnail>,
    /// Nobody is in view, and nobody is followed.
    empty: bool,
}

/// Says that the stage has ended, however it did.
struct Closing(Steadiness);

impl Drop for Closing {
    fn drop(&mut self) {
        self.0.close();
    }
}

#[derive(Default)]
struct Gathered {
    looked: Vec<Timestamp>,
    frames: Vec<KeyFrame>,
    faces: u64,
}

/// Key frames: the first sight of each new track, longest tracks first, then frames evenly spread.
fn choose_key_frames(frames: Vec<KeyFrame>, tracks: &[FaceTrack], most: usize) -> Vec<KeyFrame> {
    let mut by_length: Vec<&FaceTrack> = tracks.iter().filter(|track| !track.continued).collect();
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
        let chosen = choose_key_frames((0..100).map(frame).collect(), &[], 4);
        let at: Vec<i64> = chosen.iter().map(|frame| frame.at.as_nanos()).collect();
        assert_eq!(at, [12, 37, 62, 87]);
        assert!(choose_key_frames(Vec::new(), &[], 4).is_empty());
    }
}
