//! The perception workers: pure jobs, any worker, any order; each answers on a channel of its own.
//!
//! A job's result depends on the job alone, so the number of workers cannot be seen in the memory. Words have
//! workers and a queue of their own: a slow recogniser falls behind there and holds up no face.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded};

use super::gauges::{Gauges, InHand};
use super::mouths::Scores;
use super::perceivers::{Analysed, Calibrations, PerceiverSet, Perceivers, Recogniser};
use super::steady::Looks;
use crate::daemon::supervise;
use crate::media::Frame;
use crate::perceive::PerceiveError;
use crate::perceive::active_speaker::Excerpt;
use crate::perceive::voice::RawTurn;
use crate::percept::{SpeechTurn, Transcript};
use crate::supervise::GaveUp;
use crate::time::Span;

/// Workers for faces, things, voices and mouths.
const PERCEIVE: &str = "perceive";
/// Recognisers of words.
const WORDS: &str = "words";
/// All lanes of work, each with workers and a queue of its own.
pub(in crate::daemon) const LANES: [&str; 2] = [PERCEIVE, WORDS];

/// A worker hangs that is at one job for so many times as long as the longest turn …
const HANGS_AFTER_TURNS: f64 = 30.0;
/// … and for longer than this, seconds. The slowest recogniser on the slowest machine is done by then.
const HANGS_AFTER_SECS: f64 = 600.0;

/// Where a job's result arrives, exactly once.
pub type Pending<T> = Receiver<Result<T, PerceiveError>>;

enum Job {
    Frame(Frame, Looks, Sender<Result<Analysed, PerceiveError>>),
    Voice(RawTurn, Vec<Span>, Sender<Result<Vec<SpeechTurn>, PerceiveError>>),
    Mouth(RawTurn, Excerpt, Sender<Result<Scores, PerceiveError>>),
    Again(Vec<SpeechTurn>, Sender<Result<Vec<SpeechTurn>, PerceiveError>>),
}

/// A turn whose words are wanted.
type WordsJob = (SpeechTurn, Sender<Result<Transcript, PerceiveError>>);

/// Turns that may wait for their words.
const WORDS_QUEUE: usize = 64;

/// How many questions are being answered: workers step aside for them.
#[derive(Clone, Debug, Default)]
pub struct Courtesy(Arc<AtomicUsize>);

impl Courtesy {
    /// Counts a question until the guard is dropped.
    #[must_use]
    pub fn question(&self) -> CourtesyGuard {
        self.0.fetch_add(1, Ordering::Relaxed);
        CourtesyGuard(Arc::clone(&self.0))
    }

    /// Waits while questions are being answered, at most a few milliseconds per job.
    pub(crate) fn step_aside(&self) {
        for _ in 0..10 {
            if self.0.load(Ordering::Relaxed) == 0 {
                return;
            }
            thread::sleep(Duration::from_millis(2));
        }
    }
}

/// A question in flight.
#[derive(Debug)]
pub struct CourtesyGuard(Arc<AtomicUsize>);

impl Drop for CourtesyGuard {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The workers and the queue to them.
pub struct Pool {
    queue: JobQueue,
    workers: Vec<JoinHandle<()>>,
    recognisers: Vec<JoinHandle<()>>,
    /// A worker broke down for good.
    lost: Arc<AtomicBool>,
    /// Nobody waits for words any more.
    done: Arc<AtomicBool>,
}

/// How long the end waits for a recogniser in the middle of a turn.
const LAST_TURN_WAIT: Duration = Duration::from_millis(200);

impl Pool {
    /// Starts `workers` threads, each with models of its own. `told`: calibrations that the recording brings.
    ///
    /// # Errors
    /// When a model cannot be loaded.
    pub fn start(
        set: &Arc<PerceiverSet>,
        told: Calibrations,
        workers: usize,
        courtesy: &Courtesy,
        gauges: &Gauges,
    ) -> Result<Self, PerceiveError> {
        let (jobs, queue) = bounded::<Job>(2 * workers.max(1));
        let mut threads = Vec::new();
        let calibrated = set.calibrated(told);
        let lost = Arc::<AtomicBool>::default();
        let turns_secs = HANGS_AFTER_TURNS * set.settings().voice.max_turn_secs;
        let care = Care {
            set: Arc::clone(set),
            calibrated,
            gauges: gauges.clone(),
            lost: Arc::clone(&lost),
            hangs_after: Duration::from_secs_f64(turns_secs.max(HANGS_AFTER_SECS)),
        };
        for number in 0..workers.max(1) {
            let perceivers = set.load(&care.calibrated)?;
            let (queue, courtesy, care) = (queue.clone(), courtesy.clone(), care.clone());
            let thread = thread::Builder::new()
                .name(format!("perceive-{number}"))
                .spawn(move || work(perceivers, &queue, &courtesy, &care))
                .map_err(PerceiveError::Thread)?;
            threads.push(thread);
        }
        let (wanted, queue) = bounded::<WordsJob>(WORDS_QUEUE);
        let (mut words, mut recognisers) = (None, Vec::new());
        let done = Arc::<AtomicBool>::default();
        for number in 0..workers.max(1) {
            let Some(recogniser) = set.recogniser()? else { break };
            let (queue, courtesy, done) = (queue.clone(), courtesy.clone(), Arc::clone(&done));
            let care = care.clone();
            let thread = thread::Builder::new()
                .name(format!("words-{number}"))
                .spawn(move || recognise(recogniser, &queue, &courtesy, &done, &care))
                .map_err(PerceiveError::Thread)?;
            recognisers.push(thread);
            words = Some(wanted.clone());
        }
        let queue = JobQueue { jobs, words, lost: Arc::clone(&lost) };
        Ok(Self { queue, workers: threads, recognisers, lost, done })
    }

    /// A handle that puts jobs into the queue; waits when the workers are behind.
    #[must_use]
    pub fn queue(&self) -> JobQueue {
        self.queue.clone()
    }

    /// Ends the workers once the last queue handle is gone and the queue is empty; false when one had broken down.
    pub fn finish(self) -> bool {
        drop(self.queue);
        for worker in self.workers {
            if worker.join().is_err() {
                tracing::error!("A perception worker ended in a panic; its job was lost.");
                self.lost.store(true, Ordering::Relaxed);
            }
        }
        self.done.store(true, Ordering::Relaxed);
        let asked = Instant::now();
        for recogniser in self.recognisers {
            while !recogniser.is_finished() && asked.elapsed() < LAST_TURN_WAIT {
                thread::sleep(Duration::from_millis(2));
            }
            // One that waits for a server that hangs is left behind; it holds nothing of the memory.
            if recogniser.is_finished() && recogniser.join().is_err() {
                tracing::error!("A recogniser of words ended in a panic; its turn has none.");
            }
        }
        !self.lost.load(Ordering::Relaxed)
    }
}

/// Puts jobs into the workers' queue.
#[derive(Clone)]
pub struct JobQueue {
    jobs: Sender<Job>,
    /// None: no recogniser runs.
    words: Option<Sender<WordsJob>>,
    lost: Arc<AtomicBool>,
}

impl JobQueue {
    /// A queue that nobody takes from: every job is lost at once.
    #[cfg(test)]
    pub(super) fn lost() -> Self {
        Self { jobs: bounded(1).0, words: None, lost: Arc::new(AtomicBool::new(true)) }
    }

    /// A queue with so many places whose worker takes a job, and drops it, only when it is called.
    #[cfg(test)]
    pub(super) fn held(places: usize) -> (Self, impl Fn() -> bool) {
        let (jobs, queue) = bounded(places);
        (Self { jobs, words: None, lost: Arc::default() }, move || queue.try_recv().is_ok())
    }

    /// Jobs that wait for a worker.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.jobs.len()
    }

    /// Whether a worker broke down for good.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }

    fn put<T>(&self, make: impl FnOnce(Sender<Result<T, PerceiveError>>) -> Job) -> Pending<T> {
        let (reply, pending) = bounded(1);
        // A closed queue drops `reply`, and the receiver sees a disconnected channel.
        self.jobs.send(make(reply)).ok();
        pending
    }

    /// Looks for faces and things in a frame, as far as it `looks`.
    #[must_use]
    pub fn frame(&self, frame: Frame, looks: Looks) -> Pending<Analysed> {
        self.put(|reply| Job::Frame(frame, looks, reply))
    }

    /// Splits a raw turn by speaker and embeds the parts.
    #[must_use]
    pub fn voice(&self, turn: RawTurn, own: Vec<Span>) -> Pending<Vec<SpeechTurn>> {
        self.put(|reply| Job::Voice(turn, own, reply))
    }

    /// Scores a face against a turn: log odds by time.
    #[must_use]
    pub(super) fn mouth(&self, turn: RawTurn, excerpt: Excerpt) -> Pending<Scores> {
        self.put(|reply| Job::Mouth(turn, excerpt, reply))
    }

    /// Hears the turns of one microphone and clip again, all at once: see [`crate::perceive::voice::part_jointly`].
    #[must_use]
    pub fn again(&self, turns: Vec<SpeechTurn>) -> Pending<Vec<SpeechTurn>> {
        self.put(|reply| Job::Again(turns, reply))
    }

    /// The words of a turn that goes on, when no recogniser has anything else to do; `None` when one has.
    #[must_use]
    pub fn glimpse(&self, turn: SpeechTurn) -> Option<Pending<Transcript>> {
        let words = self.words.as_ref().filter(|words| words.is_empty())?;
        let (reply, pending) = bounded(1);
        words.try_send((turn, reply)).ok().map(|()| pending)
    }

    /// Recognises a turn's words, after those asked for before; `None` when no recogniser runs, or when so many
    /// wait that there is no place in the queue (with `wait`: waits for a place).
    #[must_use]
    pub fn words(&self, turn: SpeechTurn, wait: bool) -> Option<Pending<Transcript>> {
        let words = self.words.as_ref()?;
        let (reply, pending) = bounded(1);
        let turn_id = turn.id;
        if wait {
            // A closed queue drops `reply`, and the receiver sees a disconnected channel.
            words.send((turn, reply)).ok();
        } else if words.try_send((turn, reply)).is_err() {
            tracing::warn!(turn = %turn_id, "A turn stays without words: too many wait for theirs.");
            return None;
        }
        Some(pending)
    }
}

/// Takes a job's result; a worker that died counts as a failed job.
///
/// # Errors
/// What the job failed with.
pub fn take<T>(pending: &Pending<T>) -> Result<T, PerceiveError> {
    pending.recv().unwrap_or_else(|_| Err(PerceiveError::WorkerLost))
}

/// What a worker that breaks down needs to be made anew, and one that hangs to be noticed.
#[derive(Clone)]
struct Care {
    set: Arc<PerceiverSet>,
    calibrated: Arc<Calibrations>,
    gauges: Gauges,
    lost: Arc<AtomicBool>,
    /// How long a worker is at one job at most.
    hangs_after: Duration,
}

impl Care {
    /// The worker is at a job until that goes.
    fn at_work(&self, lane: &'static str) -> InHand {
        self.gauges.take_in_hand(lane, self.hangs_after)
    }

    fn gave_up(&self, stage: &str, over: Result<(), GaveUp>) {
        if let Err(why) = over {
            tracing::error!(stage, %why, "A worker broke down: the session ends.");
            self.lost.store(true, Ordering::Relaxed);
        }
    }
}

fn work(perceivers: Perceivers, queue: &Receiver<Job>, courtesy: &Courtesy, care: &Care) {
    let make = || care.set.load(&care.calibrated);
    let restarted = || care.gauges.restarted(PERCEIVE);
    let over = supervise::serve(PERCEIVE, queue, perceivers, make, restarted, |worker, job| {
        let _at_work = care.at_work(PERCEIVE);
        courtesy.step_aside();
        // A receiver that is gone means that nobody waits any more.
        match job {
            Job::Frame(frame, looks, reply) => reply.send(worker.frame(&frame, &looks)).ok(),
            Job::Voice(turn, own, reply) => reply.send(worker.voice(&turn, &own)).ok(),
            Job::Mouth(turn, excerpt, reply) => reply.send(worker.mouth(&turn, &excerpt)).ok(),
            Job::Again(turns, reply) => reply.send(worker.again(turns)).ok(),
        };
    });
    care.gave_up(PERCEIVE, over);
}

fn recognise(
    recogniser: Recogniser,
    queue: &Receiver<WordsJob>,
    courtesy: &Courtesy,
    done: &AtomicBool,
    care: &Care,
) {
    let make = || care.set.recogniser()?.ok_or(PerceiveError::WorkerLost);
    let restarted = || care.gauges.restarted(WORDS);
    let over = supervise::serve(WORDS, queue, recogniser, make, restarted, |worker, job| {
        let (turn, reply) = job;
        if !done.load(Ordering::Relaxed) {
            let _at_work = care.at_work(WORDS);
            courtesy.step_aside();
            reply.send(worker.words(&turn)).ok();
        }
    });
    care.gave_up(WORDS, over);
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::config::{Config, TranscriberKind};
    use crate::ids::{SourceId, TurnId};
    use crate::models::Catalogue;
    use crate::perceive::speech::{TranscribeError, Transcriber};
    use crate::time::{Span, Timestamp};

    /// Says that it was asked, and answers when it is told to.
    struct Held {
        asked: Sender<()>,
        go_on: Receiver<()>,
    }

    impl Transcriber for Held {
        fn transcribe(
            &mut self,
            _sound: &[f32],
            _start: Timestamp,
        ) -> Result<Transcript, TranscribeError> {
            self.asked.send(()).ok();
            self.go_on.recv().ok();
            Ok(Transcript {
                text: String::new(),
                words: Vec::new(),
                language: None,
                engine: self.name().to_owned(),
            })
        }

        fn name(&self) -> &str {
            "held"
        }
    }

    fn turn() -> SpeechTurn {
        SpeechTurn {
            id: TurnId(0),
            source: SourceId::new("mic"),
            span: Span::new(Timestamp::EPOCH, Timestamp::EPOCH.plus_secs(1.0)),
            speech_secs: 1.0,
            level_dbfs: 0.0,
            embedding: None,
            words: None,
            overlapped: false,
            distinct: None,
            own: false,
            sound: Arc::from([]),
        }
    }

    #[test]
    fn a_recogniser_that_does_not_come_back_is_seen_to_hang_and_an_idle_one_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let mut config = Config::default();
        config.transcriber.kind = TranscriberKind::None;
        let catalogue = Catalogue::open(Some(dir.path()), None).unwrap();
        let gauges = Gauges::default();
        let care = Care {
            set: Arc::new(PerceiverSet::choose(&config, &catalogue).unwrap()),
            calibrated: Arc::default(),
            gauges: gauges.clone(),
            lost: Arc::default(),
            hangs_after: Duration::ZERO,
        };
        let (asked, was_asked) = bounded(1);
        let (let_go, go_on) = bounded(1);
        let (jobs, queue) = bounded::<WordsJob>(1);
        let recogniser = Recogniser::of(Box::new(Held { asked, go_on }));
        let worker = thread::spawn(move || {
            recognise(recogniser, &queue, &Courtesy::default(), &AtomicBool::new(false), &care);
        });
        let hanging = || gauges.read().hanging(Instant::now());
        let idle = hanging();
        let (reply, words) = bounded(1);
        jobs.send((turn(), reply)).unwrap();
        was_asked.recv().unwrap();
        let held = hanging();
        let_go.send(()).unwrap();
        words.recv().unwrap().unwrap();
        drop(jobs);
        worker.join().unwrap();
        assert_eq!((idle, held), (BTreeSet::new(), BTreeSet::from([WORDS])));
        assert!(hanging().is_empty());
    }
}
