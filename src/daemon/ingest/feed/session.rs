//! A session: one recording replayed, or one run over live sources, from its feed to its last commit.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use crossbeam_channel::unbounded;

use super::dispatch::{Dispatcher, Progress, StagesGone, Way};
use crate::capture::{CaptureError, Playback, Recording};
use crate::config::Window;
use crate::daemon::ingest::commit::checkpoint::{Checkpoint, CheckpointError, PerceptIds};
use crate::daemon::ingest::commit::committer::{Committed, Committer};
use crate::daemon::ingest::commit::disk::DiskFullRetry;
use crate::daemon::ingest::commit::late_words::LateQueue;
use crate::daemon::ingest::commit::quiet::Quiet;
use crate::daemon::ingest::commit::said::Said;
use crate::daemon::ingest::contribution::DispatchContribution;
use crate::daemon::ingest::error::IngestError;
use crate::daemon::ingest::failpoints::Failpoints;
use crate::daemon::ingest::report::{Losses, Report, SessionEnd};
use crate::daemon::ingest::settings::SessionSettings;
use crate::daemon::ingest::stage::camera::CameraStage;
use crate::daemon::ingest::stage::camera_state::CameraState;
use crate::daemon::ingest::stage::detection_schedule::DetectionSchedule;
use crate::daemon::ingest::stage::microphone::MicrophoneStage;
use crate::daemon::ingest::stage::microphone_state::MicrophoneState;
use crate::daemon::ingest::stage::mouths::Mouths;
use crate::daemon::ingest::stage::partial::{Asked, Partials};
use crate::daemon::ingest::stage::present::PresentBoard;
use crate::daemon::ingest::work::perceiver_set::Calibrations;
use crate::daemon::ingest::work::pool::Pool;
use crate::ids::{SessionId, SourceId};
use crate::memorize::Upkeep;
use crate::memory::model;
use crate::perceive::PerceiveError;
use crate::supervise::contained;
use crate::time::{Span, Timestamp};

/// Frames in work for a camera at least, and that may wait for its stage on top of those.
const LAG_FRAMES: usize = 4;

/// Frames of so long wait for a camera's stage at most while live, seconds.
const LAG_SECS: f64 = 3.0;

/// One run from feed to memory.
pub(in crate::daemon::ingest) struct Session {
    pub(in crate::daemon::ingest) settings: SessionSettings,
    pub(in crate::daemon::ingest) cameras: Vec<SourceId>,
    pub(in crate::daemon::ingest) microphones: Vec<SourceId>,
    pub(in crate::daemon::ingest) recording: Option<model::Recording>,
    /// Calibrations that the recording tells of its cameras.
    pub(in crate::daemon::ingest) calibrations: Calibrations,
    pub(in crate::daemon::ingest) resume: Option<(SessionId, Checkpoint)>,
    /// Live: set when the end must not wait for words.
    pub(in crate::daemon::ingest) stopping: Option<Arc<AtomicBool>>,
}

/// The data plane of a session, running.
pub(in crate::daemon::ingest) struct Running {
    pub(in crate::daemon::ingest) dispatcher: Dispatcher,
    pool: Pool,
    stages: Vec<thread::JoinHandle<()>>,
    committer: thread::JoinHandle<Result<Committed, IngestError>>,
    present: PresentBoard,
    stopping: Option<Arc<AtomicBool>>,
    losses: Losses,
}

/// Remembers a recording; goes on where an interrupted replay of it stopped.
///
/// `again` opens a new session even if the recording is remembered already.
///
/// # Errors
/// When the recording, a model or the store fails; clips committed before that stay.
pub fn replay(
    settings: &SessionSettings,
    recording: &Recording,
    again: bool,
) -> Result<SessionEnd, IngestError> {
    contained(|| run(settings, recording, again)).unwrap_or(Err(IngestError::Panic("replay")))
}

/// As [`replay`], whose thread this is.
fn run(
    settings: &SessionSettings,
    recording: &Recording,
    again: bool,
) -> Result<SessionEnd, IngestError> {
    let started = Instant::now();
    let known = model::Recording {
        sha256: recording.sha256().to_owned(),
        path: recording.name(),
        selection: recording.selection(),
    };
    let mut session = Session {
        settings: settings.clone(),
        cameras: recording.cameras().to_vec(),
        microphones: recording.microphones().to_vec(),
        recording: Some(known.clone()),
        calibrations: recording.calibrations(),
        resume: None,
        stopping: None,
    };
    if !again && let Some(point) = settings.memory.resume_point(&known)? {
        if point.finished {
            let done = SessionEnd { done: true, already_remembered: true, ..SessionEnd::default() };
            return Ok(done);
        }
        if !point.checkpoint.is_empty() {
            session.resume = Some((point.session, Checkpoint::from_bytes(&point.checkpoint)?));
        } else if let Some(bare) = Checkpoint::after_erasing(
            &settings.memory.view(),
            &point,
            settings.config.window.analyse_fps,
        ) {
            session.resume = Some((point.session, bare));
        }
    }
    if let Some((_, checkpoint)) = &session.resume {
        tell_of_other_clips(checkpoint, &settings.config.window);
    }
    let undecided = session.resume.as_ref().map(|(_, checkpoint)| checkpoint.undecided.clone());
    settings.restore(&mut settings.resolver.lock(), undecided.unwrap_or_default());
    let from = session.resume.as_ref().map(|(_, checkpoint)| checkpoint.boundary);
    let span = recording
        .duration_secs()
        .map(|secs| Span::new(recording.start(), recording.start().plus_secs(secs)));
    let id = session.resume.as_ref().map(|(id, _)| *id).unwrap_or_default();
    settings.reports.send(Report::Began { session: id, span, from }).ok();

    let mut running = session.start()?;
    let load_secs = started.elapsed().as_secs_f64();
    let playing = Instant::now();
    let mut playback = match recording.play() {
        Ok(playback) => playback,
        Err(error) => {
            let ended = running.finish();
            settings.gauges.rest();
            return Err(ended.err().unwrap_or_else(|| error.into()));
        }
    };
    let feed = || feed_recording(&mut running.dispatcher, &mut playback, &settings.failpoints);
    let fed = contained(feed);
    let media_secs = running.media_secs();
    let losses = running.losses.clone();
    // Whatever went wrong, nobody leaves before the stages have ended: they are in the midst of networks.
    let sealed = running.finish();
    settings.gauges.rest();
    let stopped = fed.map_err(|_| IngestError::Panic("replay"))??;
    let Committed { clips, left } = sealed?;
    let mut damage = playback.damage().clone();
    damage.merge(&losses.so_far());
    Ok(SessionEnd {
        done: true,
        clips,
        load_secs,
        wall_secs: playing.elapsed().as_secs_f64(),
        media_secs,
        dropped: 0,
        damaged: damage.total(),
        already_remembered: false,
        stopped: stopped || left,
        damage: damage
            .iter()
            .map(|(cause, tally)| format!("{cause}, {} times, first {}", tally.count, tally.first))
            .collect(),
    })
}

/// A session goes on as it began: its clips never overlap. Says so where the configuration now wants others.
fn tell_of_other_clips(checkpoint: &Checkpoint, window: &Window) {
    let Checkpoint { clock, selector, .. } = checkpoint;
    let (clip_secs, analyse_fps) = (clock.clip_secs(), selector.step_secs().recip());
    let differ = |one: f64, other: f64| (one - other).abs() > 1e-6;
    if differ(clip_secs, window.clip_secs) || differ(analyse_fps, window.analyse_fps) {
        tracing::warn!(
            "The interrupted replay goes on as it began, in clips of {clip_secs:.3} s with {analyse_fps:.3} frames a \
             second looked at; with --again it begins anew as `window.clip_secs` and `window.analyse_fps` say now."
        );
    }
}

/// Plays to the end; true when it was stopped before.
fn feed_recording(
    dispatcher: &mut Dispatcher,
    playback: &mut Playback,
    failpoints: &Failpoints,
) -> Result<bool, CaptureError> {
    while let Some(item) = playback.next()? {
        failpoints.pass("replay");
        match dispatcher.item(item) {
            Ok(true) => {}
            Ok(false) => return Ok(true),
            // The committer met a fault: it is reported when the session is finished.
            Err(StagesGone) => return Ok(true),
        }
    }
    if dispatcher.finish().is_err() {
        return Ok(true);
    }
    Ok(false)
}

impl Session {
    /// Starts every stage.
    pub(in crate::daemon::ingest) fn start(self) -> Result<Running, IngestError> {
        let Self { settings, cameras, microphones, recording, calibrations, resume, stopping } =
            self;
        let config = Arc::clone(&settings.config);
        let workers = config
            .pipeline
            .workers
            .unwrap_or_else(|| thread::available_parallelism().map_or(1, std::num::NonZero::get));
        let pool = Pool::start(
            &settings.perceivers,
            calibrations,
            (workers, recording.is_none()),
            &settings.courtesy,
            &settings.gauges,
        )?;
        let live = recording.is_none();
        let lateness = live.then(|| settings.gauges.clone());
        let present =
            PresentBoard::new(settings.memory.clone(), Arc::clone(&settings.resolver), lateness);
        let (parts, gathered) = unbounded();
        let mut state = States::new(&settings, &cameras, &microphones, resume)?;

        let scores = settings.perceivers.scores_mouths() && !cameras.is_empty();
        let mouths = scores.then(|| {
            let (settings, longest) = (&config.active_speaker, config.voice.max_turn_secs);
            Mouths::new(settings, longest, pool.queue(), cameras.len(), microphones.len())
        });
        if let (Some(mouths), Some(progress)) = (&mouths, &state.progress) {
            mouths.begin(progress.clock);
        }
        // Steps carry frames.
        let waiting = match &mouths {
            Some(_) => config.window.frame_queue.min(2 * workers + LAG_FRAMES),
            None => config.window.frame_queue,
        };
        // Live: what has waited for longer is of no use to a robot.
        let waiting = match live {
            true => waiting.min((LAG_SECS * config.window.analyse_fps).ceil() as usize),
            false => waiting,
        };
        let reads = settings.perceivers.reads_texts();
        let share = 1000.0 * config.window.budget / cameras.len().max(1) as f64;
        let losses = Losses::default();
        let mut stages = Vec::new();
        let mut camera_steps = BTreeMap::new();
        for (index, source) in cameras.iter().enumerate() {
            let (steps, taken) = Way::new(waiting, live);
            let steps = steps.with_backlog(config.window.frame_queue);
            let state = state.cameras.remove(0);
            let looks = (settings.perceivers.objects.is_some(), reads);
            let schedule = DetectionSchedule::new(&config, state.reports(), looks);
            settings.gauges.wanted(source, config.window.analyse_fps);
            let stage = CameraStage {
                index,
                source: source.clone(),
                sealed: state.clone(),
                state,
                schedule,
                jobs: pool.queue(),
                ahead: (2 * workers).max(LAG_FRAMES),
                key_frames: config.window.key_frames,
                share: share as u32,
                present: present.clone(),
                losses: losses.clone(),
                mouths: mouths.clone(),
                settings: settings.clone(),
            };
            stages.push(stage.start(taken, parts.clone())?);
            camera_steps.insert(source.clone(), steps);
        }
        let nothing = Timestamp::from_nanos(i64::MIN);
        let done_before = state.progress.as_ref().map_or(nothing, |progress| progress.done_before);
        let mut microphone_steps = BTreeMap::new();
        let mut consumed = BTreeMap::new();
        let mut heard = Vec::new();
        for (source, state) in microphones.iter().zip(state.microphones) {
            let (finder, listener, ahead, done) = match state {
                Some(state) => (Some(state.finder), state.listener, state.ahead, state.consumed),
                None => (None, None, Vec::new(), done_before),
            };
            // Without a voice activity model nobody listens.
            let Some(finder) = settings.perceivers.turn_finder(source, finder)? else { continue };
            let listener = settings.perceivers.sound_listener(source, listener)?;
            let (steps, taken) = Way::new(config.window.sound_queue, live);
            consumed.insert(source.clone(), done);
            let stage = MicrophoneStage {
                index: heard.len(),
                source: source.clone(),
                finder,
                listener,
                ahead,
                consumed: done,
                jobs: pool.queue(),
                present: present.clone(),
                partials: stopping.is_some().then(|| Partials {
                    jobs: pool.queue(),
                    inbox: settings.inbox.clone(),
                    resolver: Arc::clone(&settings.resolver),
                    reports: settings.reports.clone(),
                    turn: Asked::default(),
                }),
                settings: settings.clone(),
                losses: losses.clone(),
                mouths: mouths.clone(),
            };
            stages.push(stage.start(taken, parts.clone())?);
            microphone_steps.insert(source.clone(), steps);
            heard.push(source.clone());
        }
        let committer = Committer {
            upkeep: Upkeep::new(
                settings.memory.clone(),
                settings.memorizer.clone(),
                config.upkeep.clone(),
                config.timezone(),
            ),
            jobs: pool.queue(),
            present: present.clone(),
            cameras: cameras.clone(),
            microphones: heard,
            ids: state.ids,
            recording,
            session: state.session,
            clips: 0,
            stopping: stopping.clone(),
            mouths: mouths.clone(),
            late: LateQueue::default(),
            said: Said::default(),
            patience: DiskFullRetry {
                stop: settings.patience.clone(),
                reports: settings.reports.clone(),
                gauges: settings.gauges.clone(),
                told: false,
            },
            recorded: Timestamp::default(),
            quiet: Quiet::default(),
            held: Vec::new(),
            losses: losses.clone(),
            settings: settings.clone(),
        };
        let committer = thread::Builder::new()
            .name("seal".to_owned())
            .spawn(move || committer.run(&gathered))
            .map_err(PerceiveError::Thread)?;
        let dispatcher = Dispatcher {
            cameras: camera_steps,
            microphones: microphone_steps,
            jobs: pool.queue(),
            parts,
            pace: settings.pace.clone(),
            gauges: settings.gauges.clone(),
            inbox: settings.inbox.clone(),
            clip_secs: config.window.clip_secs,
            analyse_fps: config.window.analyse_fps,
            // Live, cameras choose by the same grid what they hand on.
            grid: live.then_some(Timestamp::EPOCH),
            progress: state.progress,
            consumed,
            mouths,
            between: BTreeMap::new(),
        };
        Ok(Running { dispatcher, pool, stages, committer, present, stopping, losses })
    }
}

/// Where every stage begins: fresh, or as the checkpoint says.
struct States {
    cameras: Vec<CameraState>,
    microphones: Vec<Option<MicrophoneState>>,
    ids: PerceptIds,
    progress: Option<Progress>,
    session: Option<SessionId>,
}

impl States {
    fn new(
        settings: &SessionSettings,
        cameras: &[SourceId],
        microphones: &[SourceId],
        resume: Option<(SessionId, Checkpoint)>,
    ) -> Result<Self, IngestError> {
        let fresh = |source: &SourceId| CameraState::new(&settings.perceivers, source);
        let Some((session, checkpoint)) = resume else {
            return Ok(Self {
                cameras: cameras.iter().map(fresh).collect(),
                microphones: microphones.iter().map(|_| None).collect(),
                ids: PerceptIds::default(),
                progress: None,
                session: None,
            });
        };
        // Erasing leaves a checkpoint without states: every source begins anew at the boundary.
        let erased = checkpoint.cameras.is_empty() && checkpoint.microphones.is_empty();
        let mut cameras_then: BTreeMap<SourceId, CameraState> =
            checkpoint.cameras.into_iter().collect();
        let mut microphones_then: BTreeMap<SourceId, MicrophoneState> =
            checkpoint.microphones.into_iter().collect();
        let mut restored = Vec::new();
        for source in cameras {
            let then = cameras_then.remove(source).or_else(|| erased.then(|| fresh(source)));
            restored.push(then.ok_or(CheckpointError::Sources)?);
        }
        let mut heard = Vec::new();
        for source in microphones {
            heard.push(microphones_then.remove(source));
        }
        let progress = Progress {
            clock: checkpoint.clock,
            selector: checkpoint.selector,
            index: checkpoint.index + 1,
            done_before: checkpoint.boundary,
            part: DispatchContribution::default(),
            latest: checkpoint.boundary,
        };
        Ok(Self {
            cameras: restored,
            microphones: heard,
            ids: checkpoint.ids,
            progress: Some(progress),
            session: Some(session),
        })
    }
}

impl Running {
    /// Length of the media handed in, seconds.
    pub(in crate::daemon::ingest) fn media_secs(&self) -> f64 {
        self.dispatcher.progress.as_ref().map_or(0.0, |progress| {
            let from = progress.done_before.max(progress.clock.t0());
            progress.latest.secs_since(from)
        })
    }

    /// From now on, words that are not there soon are left out.
    pub(in crate::daemon::ingest) fn words_may_be_late(&self) {
        if let Some(stopping) = &self.stopping {
            stopping.store(true, Ordering::Relaxed);
        }
    }

    /// Lets every stage come to its end and waits for the last commit.
    pub(in crate::daemon::ingest) fn finish(self) -> Result<Committed, IngestError> {
        let Self { dispatcher, pool, stages, committer, present, .. } = self;
        drop(dispatcher);
        let mut panicked = false;
        for stage in stages {
            panicked |= stage.join().is_err();
        }
        let sealed = committer.join();
        panicked |= !pool.finish();
        present.clear();
        let sealed = sealed.map_err(|_| IngestError::Panic("sealing"))?;
        if panicked {
            return Err(IngestError::Panic("perception"));
        }
        sealed
    }
}
