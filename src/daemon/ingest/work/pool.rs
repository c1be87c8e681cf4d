//! The perception workers: pure jobs, any worker, any order; each answers on a channel of its own.
//!
//! A job's result depends on the job alone, so the number of workers cannot be seen in the memory. Words have
//! workers and a queue of their own: a slow recogniser falls behind there and holds up no face.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded};

use super::perceivers::{Analysed, Calibrations, PerceiverSet, Perceivers, Recogniser};
use super::yielding::YieldPolicy;
use super::{Deadlines, Kind, Lane, Places, Queue, Task, Waiting};
use crate::daemon::ingest::metrics::gauges::Gauges;
use crate::daemon::ingest::stage::detection_schedule::DetectionPlan;
use crate::daemon::ingest::stage::mouths::Scores;
use crate::ids::SourceId;
use crate::media::Frame;
use crate::perceive::PerceiveError;
use crate::perceive::active_speaker::Excerpt;
use crate::perceive::voice::RawTurn;
use crate::percept::{SpeechTurn, Transcript};
use crate::runtime::onnx;
use crate::time::Span;

/// Workers for faces, things, voices and mouths.
const PERCEIVE: &str = "perceive";
/// Recognisers of words.
const WORDS: &str = "words";
/// All lanes of work, each with workers and a queue of its own.
pub(in crate::daemon) const LANES: [&str; 2] = [PERCEIVE, WORDS];

/// Where a job's result arrives, exactly once.
pub type Pending<T> = Receiver<Result<T, PerceiveError>>;

/// Turns that may wait for their words.
const WORDS_QUEUE: usize = 64;
/// Open turns that may wait for their first words.
const GUESSES_QUEUE: usize = 4;
/// Faces that may wait to be compared with a turn: all of a clip that mouths may be looked at in.
const MOUTHS_QUEUE: usize = 256;
/// How often workers are looked after.
const LOOK: Duration = Duration::from_millis(250);
/// How long the end waits for a recogniser in the middle of a turn.
const LAST_TURN_WAIT: Duration = Duration::from_millis(200);
/// How long the end of a live session waits for workers in the middle of a job whose result nobody wants any more.
const LAST_JOB_WAIT: Duration = Duration::from_secs(5);
/// A replay waits for all of its workers.
const AT_LEISURE: Duration = Duration::from_secs(86_400);

/// The workers and the queue to them.
pub struct Pool {
    queue: JobQueue,
    perceive: Lane<Perceivers>,
    words: Lane<Recogniser>,
    watch: Watch,
    live: bool,
    /// A worker broke down for good.
    lost: Arc<AtomicBool>,
}

impl Pool {
    /// Starts `workers` threads, each with models of its own. `told`: calibrations that the recording brings; `live`: what
    /// hangs is given up soon.
    ///
    /// # Errors
    /// When a model cannot be loaded.
    pub fn start(
        set: &Arc<PerceiverSet>,
        told: Calibrations,
        (workers, live): (usize, bool),
        courtesy: &YieldPolicy,
        gauges: &Gauges,
    ) -> Result<Self, PerceiveError> {
        let workers = workers.max(1);
        let settings = set.settings();
        let longest = settings.voice.max_turn_secs;
        let compiles = onnx::has_gpu(settings.models.device);
        let deadlines = || match live {
            true => Deadlines::live(longest, compiles),
            false => Deadlines::replay(longest),
        };
        let lost = Arc::<AtomicBool>::default();
        let shared = (courtesy, gauges, &lost);

        // The last handle that goes ends the workers, also where one of them cannot be made.
        let mut recogniser = set.recogniser()?;
        let wanted = Arc::new(Queue::new(places(workers), Waiting::default()));
        let jobs = Arc::new(Queue::new(places(workers), wanted.waiting()));
        let queue = JobQueue(Arc::new(Handle {
            jobs: Arc::clone(&jobs),
            words: recogniser.is_some().then(|| Arc::clone(&wanted)),
            lost: Arc::clone(&lost),
        }));

        let (from, calibrated) = (Arc::clone(set), set.calibrated(told));
        let load = move || from.load(&calibrated);
        let perceive = Lane::new(PERCEIVE, jobs, load, deadlines(), shared);
        for _ in 0..workers {
            perceive.start(Some(perceive.make()?))?;
        }
        let from = Arc::clone(set);
        let open = move || from.recogniser()?.ok_or(PerceiveError::WorkerLost);
        let words = Lane::new(WORDS, wanted, open, deadlines(), shared);
        for _ in 0..workers {
            let Some(one) = recogniser.take() else { break };
            words.start(Some(one))?;
            recogniser = if words.len() < workers { set.recogniser()? } else { None };
        }
        let watch = Watch::start(perceive.clone(), words.clone())?;
        Ok(Self { queue, perceive, words, watch, live, lost })
    }

    /// A handle that puts jobs into the queue; waits when the workers are behind.
    #[must_use]
    pub fn queue(&self) -> JobQueue {
        self.queue.clone()
    }

    /// Ends the workers; false when one had broken down. Nobody may want results any more.
    pub fn finish(self) -> bool {
        let Self { queue, perceive, words, watch, live, lost } = self;
        drop(queue);
        // Nobody waits for results any more.
        perceive.abandon();
        perceive.wait(if live { LAST_JOB_WAIT } else { AT_LEISURE });
        // A recogniser that waits for a server that hangs is left behind; it holds nothing of the memory.
        words.abandon();
        words.wait(LAST_TURN_WAIT);
        watch.end();
        !lost.load(Ordering::Relaxed)
    }
}

/// How many jobs of each kind may wait for so many workers.
fn places(workers: usize) -> Places {
    Kind::ALL.map(|kind| match kind {
        Kind::Guess => GUESSES_QUEUE,
        Kind::Frame | Kind::Voice | Kind::Again => 2 * workers,
        Kind::Words => WORDS_QUEUE,
        Kind::Mouth => MOUTHS_QUEUE,
    })
}

/// The thread that looks after the workers.
struct Watch {
    quit: Sender<()>,
    thread: JoinHandle<()>,
}

impl Watch {
    fn start(perceive: Lane<Perceivers>, words: Lane<Recogniser>) -> Result<Self, PerceiveError> {
        let (quit, ended) = bounded::<()>(0);
        let look = move || {
            let mut last = Instant::now();
            while ended.recv_timeout(LOOK).is_err_and(|error| error.is_timeout()) {
                // A process that was stopped, or a machine that slept, is no reason to give up what it was at.
                let step = last.elapsed().min(2 * LOOK);
                last = Instant::now();
                perceive.look(step);
                words.look(step);
            }
        };
        let thread = thread::Builder::new().name("watch".to_owned()).spawn(look);
        Ok(Self { quit, thread: thread.map_err(PerceiveError::Thread)? })
    }

    fn end(self) {
        drop(self.quit);
        if self.thread.join().is_err() {
            tracing::error!(
                "The thread that looks after the workers ended in a panic; please report it."
            );
        }
    }
}

/// Puts jobs into the workers' queues. When the last clone goes, the workers end with what waits. Cheap to clone.
#[derive(Clone)]
pub struct JobQueue(Arc<Handle>);

struct Handle {
    jobs: Arc<Queue<Task<Perceivers>>>,
    /// None: no recogniser runs.
    words: Option<Arc<Queue<Task<Recogniser>>>>,
    lost: Arc<AtomicBool>,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.jobs.close();
        if let Some(words) = &self.words {
            words.close();
        }
    }
}

/// A face that is to be compared with a turn, and has yet to be handed over.
pub(in crate::daemon::ingest) struct MouthJob(Task<Perceivers>);

impl MouthJob {
    /// The job, and where its scores will arrive: log odds by time.
    pub(in crate::daemon::ingest) fn new(
        turn: RawTurn,
        excerpt: Excerpt,
    ) -> (Self, Pending<Scores>) {
        let source = turn.source.clone();
        let work = move |worker: &mut Perceivers| worker.mouth(&turn, &excerpt);
        let (task, pending) = Task::new(Kind::Mouth, &source, work);
        (Self(task), pending)
    }
}

impl JobQueue {
    /// A queue that nobody takes from: every job is lost at once.
    #[cfg(test)]
    pub(in crate::daemon::ingest) fn lost() -> Self {
        let jobs = Arc::new(Queue::new(places(1), Waiting::default()));
        jobs.abandon();
        Self(Arc::new(Handle { jobs, words: None, lost: Arc::new(AtomicBool::new(true)) }))
    }

    /// A queue whose jobs wait for ever.
    #[cfg(test)]
    pub(in crate::daemon::ingest) fn idle() -> Self {
        let jobs = Arc::new(Queue::new(places(1), Waiting::default()));
        Self(Arc::new(Handle { jobs, words: None, lost: Arc::default() }))
    }

    /// Jobs that wait for a worker.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.0.jobs.len()
    }

    /// Whether a worker broke down for good.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.0.lost.load(Ordering::Relaxed)
    }

    fn put<T: Send + 'static>(
        &self,
        (task, pending): (Task<Perceivers>, Pending<T>),
    ) -> Pending<T> {
        // A closed queue drops it, and the receiver sees a disconnected channel.
        self.0.jobs.put(task.kind(), task);
        pending
    }

    /// Looks for faces and things in a frame, as far as it `looks`.
    #[must_use]
    pub fn frame(&self, frame: Frame, looks: DetectionPlan) -> Pending<Analysed> {
        let source = frame.source.clone();
        let work = move |worker: &mut Perceivers| worker.frame(&frame, &looks);
        self.put(Task::new(Kind::Frame, &source, work))
    }

    /// Splits a raw turn by speaker and embeds the parts.
    #[must_use]
    pub fn voice(&self, turn: RawTurn, own: Vec<Span>) -> Pending<Vec<SpeechTurn>> {
        let source = turn.source.clone();
        let work = move |worker: &mut Perceivers| worker.voice(&turn, &own);
        self.put(Task::new(Kind::Voice, &source, work))
    }

    /// Has a face compared with a turn.
    pub(in crate::daemon::ingest) fn mouth(&self, MouthJob(task): MouthJob) {
        self.0.jobs.put(task.kind(), task);
    }

    /// Hears the turns of one microphone and clip again, all at once: see [`crate::perceive::voice::recluster`].
    #[must_use]
    pub fn again(&self, turns: Vec<SpeechTurn>) -> Pending<Vec<SpeechTurn>> {
        let source = turns.first().map_or_else(|| SourceId::new(""), |turn| turn.source.clone());
        let work = move |worker: &mut Perceivers| worker.again(turns);
        self.put(Task::new(Kind::Again, &source, work))
    }

    /// The words of a turn that goes on, before those of turns that have ended; `None` when many wait for theirs.
    #[must_use]
    pub fn glimpse(&self, turn: SpeechTurn) -> Option<Pending<Transcript>> {
        let words = self.0.words.as_ref()?;
        let (task, pending) = recognising(Kind::Guess, turn);
        words.try_put(Kind::Guess, task).then_some(pending)
    }

    /// Recognises a turn's words, after those asked for before; `None` when no recogniser runs, or when so many
    /// wait that there is no place in the queue (with `wait`: waits for a place).
    #[must_use]
    pub fn words(&self, turn: SpeechTurn, wait: bool) -> Option<Pending<Transcript>> {
        let words = self.0.words.as_ref()?;
        let turn_id = turn.id;
        let (task, pending) = recognising(Kind::Words, turn);
        if wait {
            words.put(Kind::Words, task);
        } else if !words.try_put(Kind::Words, task) {
            tracing::warn!(turn = %turn_id, "A turn stays without words: too many wait for theirs.");
            return None;
        }
        Some(pending)
    }

    /// The same before the turn's clip asks; `None` also where there is no place in the queue: then the clip does.
    #[must_use]
    pub fn words_ahead(&self, turn: SpeechTurn) -> Option<Pending<Transcript>> {
        let (task, pending) = recognising(Kind::Words, turn);
        self.0.words.as_ref()?.try_put(Kind::Words, task).then_some(pending)
    }
}

fn recognising(kind: Kind, turn: SpeechTurn) -> (Task<Recogniser>, Pending<Transcript>) {
    let source = turn.source.clone();
    Task::new(kind, &source, move |worker: &mut Recogniser| worker.words(&turn))
}

/// Takes a job's result; a worker that died counts as a failed job.
///
/// # Errors
/// What the job failed with.
pub fn take<T>(pending: &Pending<T>) -> Result<T, PerceiveError> {
    pending.recv().unwrap_or_else(|_| Err(PerceiveError::WorkerLost))
}
