//! Where cameras' mouth crops and microphones' turns meet: each turn is scored once against every face seen during it.
//!
//! Written by the camera and microphone stages in whatever order they run, read by the committer. What comes of it hangs on
//! event times alone: a turn is taken up once every camera is past its end, in the order in which its microphone heard it;
//! a turn that crosses a clip's boundary is not scored (crops before the boundary are no part of a checkpoint), and each
//! microphone may spend so many seconds of scoring per clip, no more.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::config::ActiveSpeakerPerception;
use crate::daemon::ingest::work::jobs::{JobQueue, Pending, Prepared, prepare};
use crate::ids::TrackId;
use crate::perceive::active_speaker::{
    Crop, CutTrack, Excerpt, MouthJob, MouthScorer, MouthScores, excerpt,
};
use crate::perceive::voice::RawTurn;
use crate::time::Timestamp;
use crate::window::ClipClock;

/// Crops this much older than the newest, on top of the longest turn, wait for nobody, seconds.
const STALE_SECS: f64 = 40.0;
/// The share of a clip's budget that turns during which one face alone was seen may use up.
const ALONE_SHARE: f64 = 0.5;
/// No time yet.
const NEVER: Timestamp = Timestamp::from_nanos(i64::MIN);

/// One face against one turn, in work.
pub(in crate::daemon::ingest) struct Asked {
    /// Index of the clip.
    pub(in crate::daemon::ingest) clip: u32,
    /// Index of the microphone that heard the turn.
    pub(in crate::daemon::ingest) microphone: usize,
    /// Index of the camera.
    pub(in crate::daemon::ingest) camera: usize,
    /// The track, by its camera's numbering.
    pub(in crate::daemon::ingest) track: TrackId,
    /// What comes of it.
    pub(in crate::daemon::ingest) scores: Pending<MouthScores>,
}

/// Shared by the stages and the committer of a session. Cheap to clone.
#[derive(Clone)]
pub(in crate::daemon::ingest) struct Mouths {
    board: Arc<Mutex<Board>>,
    jobs: JobQueue,
}

struct Board {
    settings: ActiveSpeakerPerception,
    /// Crops older than that are stale, seconds.
    keep_secs: f64,
    /// Known with the first item.
    clock: Option<ClipClock>,
    cameras: Vec<CameraCrops>,
    microphones: Vec<MicrophoneTurns>,
    asked: Vec<Asked>,
}

struct CameraCrops {
    /// Every crop before this is here.
    until: Timestamp,
    /// In time order.
    tracks: BTreeMap<TrackId, Vec<Crop>>,
}

struct MicrophoneTurns {
    /// No turn will come that begins before this.
    known: Timestamp,
    /// Turns that some camera has not reached the end of.
    waiting: VecDeque<RawTurn>,
    /// Seconds scored in that clip.
    spent: (u32, f64),
}

impl Mouths {
    pub(in crate::daemon::ingest) fn new(
        settings: &ActiveSpeakerPerception,
        max_turn_secs: f64,
        jobs: JobQueue,
        cameras: usize,
        microphones: usize,
    ) -> Self {
        let camera = |_| CameraCrops { until: NEVER, tracks: BTreeMap::new() };
        let microphone =
            |_| MicrophoneTurns { known: NEVER, waiting: VecDeque::new(), spent: (0, 0.0) };
        let board = Arc::new(Mutex::new(Board {
            settings: settings.clone(),
            keep_secs: max_turn_secs + STALE_SECS,
            clock: None,
            cameras: (0..cameras).map(camera).collect(),
            microphones: (0..microphones).map(microphone).collect(),
            asked: Vec::new(),
        }));
        Self { board, jobs }
    }

    fn lock(&self) -> MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes up what is due. Jobs are handed over when the board is free again: whoever waits for a place in the queue keeps
    /// no other stage from it.
    fn go_on(&self, mut board: MutexGuard<'_, Board>) {
        let jobs = board.go_on();
        drop(board);
        jobs.into_iter().for_each(|job| self.jobs.put(job));
    }

    /// The session has begun: where its clips end.
    pub(in crate::daemon::ingest) fn begin(&self, clock: ClipClock) {
        self.lock().clock = Some(clock);
    }

    /// A camera's crops up to that time; nothing earlier will come.
    pub(in crate::daemon::ingest) fn seen(
        &self,
        camera: usize,
        until: Timestamp,
        crops: Vec<CutTrack>,
    ) {
        let mut board = self.lock();
        if let Some(of) = board.cameras.get_mut(camera) {
            of.until = of.until.max(until);
            for cut in crops {
                of.tracks.entry(cut.track).or_default().push(cut.crop);
            }
        }
        self.go_on(board);
    }

    /// A turn that a microphone has heard to its end, after all earlier ones.
    pub(in crate::daemon::ingest) fn heard(&self, microphone: usize, turn: &RawTurn) {
        let mut board = self.lock();
        if let Some(of) = board.microphones.get_mut(microphone) {
            of.waiting.push_back(turn.clone());
        }
        self.go_on(board);
    }

    /// No turn of that microphone will come that begins before `known`.
    pub(in crate::daemon::ingest) fn listened(&self, microphone: usize, known: Timestamp) {
        let mut board = self.lock();
        if let Some(of) = board.microphones.get_mut(microphone) {
            of.known = of.known.max(known);
        }
        board.forget();
    }

    /// What was asked about turns of that clip, once every stage has handed over its part of it; in the order of
    /// microphone, turn, camera, track.
    pub(in crate::daemon::ingest) fn take(&self, clip: u32) -> Vec<Asked> {
        let mut board = self.lock();
        let (mut due, later): (Vec<Asked>, Vec<Asked>) =
            std::mem::take(&mut board.asked).into_iter().partition(|asked| asked.clip <= clip);
        board.asked = later;
        due.retain(|asked| asked.clip == clip);
        due.sort_by_key(|asked| asked.microphone);
        due
    }

    /// Crops held now.
    #[cfg(test)]
    fn held(&self) -> usize {
        self.lock().cameras.iter().flat_map(|of| of.tracks.values()).map(Vec::len).sum()
    }
}

impl Board {
    /// Takes up every turn that all cameras are past; gives the jobs that are to be handed over.
    fn go_on(&mut self) -> Vec<Prepared> {
        let mut jobs = Vec::new();
        let reached = self.cameras.iter().map(|of| of.until).min().unwrap_or(NEVER);
        for microphone in 0..self.microphones.len() {
            loop {
                let waiting = &mut self.microphones[microphone].waiting;
                let Some(turn) = waiting.pop_front_if(|turn| turn.span.end <= reached) else {
                    break;
                };
                self.take_up(microphone, &turn, &mut jobs);
            }
        }
        self.forget();
        jobs
    }

    fn take_up(&mut self, microphone: usize, turn: &RawTurn, jobs: &mut Vec<Prepared>) {
        let Some(clock) = self.clock else { return };
        let clip = clock.index(turn.span.start);
        if turn.span.end > clock.span(clip).end {
            return;
        }
        let mut faces: Vec<(usize, TrackId, Excerpt)> = Vec::new();
        for (camera, of) in self.cameras.iter().enumerate() {
            for (track, crops) in &of.tracks {
                let found = excerpt(turn.span, crops, self.settings.window_secs);
                faces.extend(found.map(|found| (camera, *track, found)));
            }
        }
        let cost: f64 = faces.iter().map(|(.., found)| found.secs()).sum();
        let share = if faces.len() > 1 { 1.0 } else { ALONE_SHARE };
        let spent = &mut self.microphones[microphone].spent;
        if spent.0 != clip {
            *spent = (clip, 0.0);
        }
        // All of a turn's faces or none: one alone would be compared with nobody.
        if spent.1 + cost > share * self.settings.clip_budget_secs {
            return;
        }
        spent.1 += cost;
        for (camera, track, found) in faces {
            let job = MouthJob { turn: turn.clone(), excerpt: found };
            let (job, scores) = prepare::<MouthScorer>(job);
            jobs.push(job);
            self.asked.push(Asked { clip, microphone, camera, track, scores });
        }
    }

    /// Drops crops that no turn can ask for any more.
    fn forget(&mut self) {
        let needed = self.microphones.iter().map(|of| {
            let waiting = of.waiting.front().map_or(Timestamp::MAX, |turn| turn.span.start);
            waiting.min(of.known)
        });
        let needed = needed.min().unwrap_or(Timestamp::MAX);
        for of in &mut self.cameras {
            let stale = if of.until == NEVER { NEVER } else { of.until.plus_secs(-self.keep_secs) };
            let from = needed.max(stale);
            for crops in of.tracks.values_mut() {
                let gone = crops.partition_point(|crop| crop.at < from);
                crops.drain(..gone);
            }
            of.tracks.retain(|_, crops| !crops.is_empty());
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::ids::SourceId;

    fn at(secs: f64) -> Timestamp {
        Timestamp::EPOCH.plus_secs(secs)
    }

    fn mouths(cameras: usize, microphones: usize) -> Mouths {
        let settings = ActiveSpeakerPerception::default();
        let mouths = Mouths::new(&settings, 20.0, JobQueue::lost(), cameras, microphones);
        mouths.begin(ClipClock::new(at(0.0), 30.0));
        mouths
    }

    fn turn(from: f64, to: f64) -> RawTurn {
        let samples = ((to - from) * 16_000.0) as usize;
        let steps = vec![1.0; samples / 160];
        RawTurn::new(SourceId::new("mic"), at(from), vec![0.1; samples].into(), steps, 0.5)
    }

    /// Crops of a track at 25 per second.
    fn crops(track: u64, from: f64, to: f64) -> Vec<CutTrack> {
        (0..((to - from) * 25.0).round() as usize)
            .map(|n| CutTrack {
                track: TrackId(track),
                crop: Crop { at: at(from + n as f64 / 25.0), pixels: Arc::from([0].as_slice()) },
            })
            .collect()
    }

    fn pairs(mouths: &Mouths, clip: u32) -> Vec<(usize, usize, u64)> {
        let asked = mouths.take(clip);
        asked.iter().map(|asked| (asked.microphone, asked.camera, asked.track.0)).collect()
    }

    #[test]
    fn whoever_is_first_the_same_is_asked() {
        let camera_first = mouths(1, 1);
        camera_first.seen(0, at(5.0), crops(1, 0.0, 5.0));
        camera_first.seen(0, at(10.0), [crops(1, 5.0, 10.0), crops(2, 6.0, 10.0)].concat());
        camera_first.heard(0, &turn(1.0, 4.0));
        camera_first.heard(0, &turn(6.0, 9.0));
        let microphone_first = mouths(1, 1);
        microphone_first.heard(0, &turn(1.0, 4.0));
        microphone_first.heard(0, &turn(6.0, 9.0));
        microphone_first.listened(0, at(9.5));
        assert!(pairs(&microphone_first, 0).is_empty(), "the camera is behind");
        microphone_first.seen(0, at(5.0), crops(1, 0.0, 5.0));
        microphone_first.seen(0, at(10.0), [crops(1, 5.0, 10.0), crops(2, 6.0, 10.0)].concat());
        let wanted = [(0, 0, 1), (0, 0, 1), (0, 0, 2)];
        assert_eq!(pairs(&camera_first, 0), wanted);
        assert_eq!(pairs(&microphone_first, 0), wanted);
        assert!(pairs(&microphone_first, 0).is_empty(), "asked once");
    }

    #[test]
    fn a_turn_waits_for_every_camera_and_a_border_settles_it() {
        let mouths = mouths(2, 1);
        mouths.seen(0, at(5.0), crops(1, 0.0, 5.0));
        mouths.heard(0, &turn(1.0, 4.0));
        assert!(pairs(&mouths, 0).is_empty());
        mouths.seen(1, at(30.0), Vec::new());
        assert_eq!(pairs(&mouths, 0), [(0, 0, 1)]);
    }

    #[test]
    fn a_turn_over_a_border_is_not_scored() {
        let mouths = mouths(1, 1);
        mouths.heard(0, &turn(27.0, 32.0));
        mouths.heard(0, &turn(33.0, 36.0));
        mouths.seen(0, at(40.0), crops(1, 26.0, 40.0));
        assert!(pairs(&mouths, 0).is_empty());
        assert_eq!(pairs(&mouths, 1), [(0, 0, 1)]);
    }

    #[test]
    fn a_clips_budget_is_kept_and_half_of_it_is_for_two_faces() {
        let mouths = mouths(1, 1);
        mouths.seen(0, at(40.0), [crops(1, 0.0, 40.0), crops(2, 24.0, 40.0)].concat());
        // 12 s per clip: three turns of 2 s with one face use up half of it.
        for n in 0..5 {
            mouths.heard(0, &turn(4.0 * f64::from(n), 4.0 * f64::from(n) + 3.0));
        }
        assert_eq!(pairs(&mouths, 0).len(), 3);
        mouths.heard(0, &turn(24.0, 26.9));
        mouths.heard(0, &turn(27.0, 29.9));
        assert_eq!(pairs(&mouths, 0), [(0, 0, 1), (0, 0, 2)], "4 s of 6 s");
        mouths.heard(0, &turn(31.0, 34.0));
        assert_eq!(pairs(&mouths, 1).len(), 2, "a clip of its own");
    }

    #[test]
    fn crops_are_held_as_long_as_a_turn_may_need_them() {
        let mouths = mouths(1, 2);
        mouths.seen(0, at(10.0), crops(1, 0.0, 10.0));
        assert_eq!(mouths.held(), 250);
        mouths.listened(0, at(8.0));
        assert_eq!(mouths.held(), 250, "the other microphone has not heard that");
        mouths.listened(1, at(4.0));
        assert_eq!(mouths.held(), 150);
        mouths.heard(1, &turn(5.0, 12.0));
        mouths.listened(1, at(12.0));
        mouths.listened(0, at(12.0));
        assert_eq!(mouths.held(), 125, "from the turn's beginning on");
        mouths.seen(0, at(100.0), crops(1, 99.0, 100.0));
        assert_eq!(mouths.held(), 25, "and no longer than any turn can be");
    }
}
