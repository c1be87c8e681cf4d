//! The perception workers: pure jobs, any worker, any order; each answers on a channel of its own.
//!
//! A job's result depends on the job alone, so the number of workers cannot be seen in the memory. Words have
//! workers and a queue of their own: a slow recogniser falls behind there and holds up no face.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use super::jobs::{Handle, JobQueue, places};
use super::perceiver_set::{Calibrations, PerceiverSet};
use super::watchdog::Watchdog;
use super::worker::Worker;
use super::yielding::YieldPolicy;
use super::{Deadlines, Lane, Queue, Waiting};
use crate::daemon::metrics::gauges::Gauges;
use crate::perceive::PerceiveError;
use crate::perceive::speech::Recogniser;
use crate::runtime::onnx;

/// Workers for faces, things, voices and mouths.
const PERCEIVE: &str = "perceive";
/// Recognisers of words.
const WORDS: &str = "words";
/// All lanes of work, each with workers and a queue of its own.
pub(in crate::daemon) const LANES: [&str; 2] = [PERCEIVE, WORDS];

/// How long the end waits for a recogniser in the middle of a turn.
const LAST_TURN_WAIT: Duration = Duration::from_millis(200);
/// How long the end of a live session waits for workers in the middle of a job whose result nobody wants any more.
const LAST_JOB_WAIT: Duration = Duration::from_secs(5);
/// A replay waits for all of its workers.
const AT_LEISURE: Duration = Duration::from_secs(86_400);

/// The workers and the queue to them.
pub struct Pool {
    queue: JobQueue,
    perceive: Lane<Worker>,
    words: Lane<Recogniser>,
    watch: Watchdog,
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

        let calibrated = set.calibrated(told);
        let (made, recognisers) = load(set, &calibrated, workers)?;
        // The last handle that goes ends the workers, also where one of them cannot be started.
        let wanted = Arc::new(Queue::new(places(workers), Waiting::default()));
        let jobs = Arc::new(Queue::new(places(workers), wanted.waiting()));
        let queue = JobQueue(Arc::new(Handle {
            jobs: Arc::clone(&jobs),
            words: (!recognisers.is_empty()).then(|| Arc::clone(&wanted)),
            lost: Arc::clone(&lost),
        }));

        let from = Arc::clone(set);
        let again = move || Worker::load(&from, &calibrated);
        let perceive = Lane::new(PERCEIVE, jobs, again, deadlines(), shared);
        made.into_iter().try_for_each(|worker| perceive.start(Some(worker)))?;
        let from = Arc::clone(set);
        let again = move || from.recogniser()?.ok_or(PerceiveError::WorkerLost);
        let words = Lane::new(WORDS, wanted, again, deadlines(), shared);
        recognisers.into_iter().try_for_each(|worker| words.start(Some(worker)))?;
        let watch = Watchdog::start(perceive.clone(), words.clone())?;
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

/// Loads so many workers and recognisers (none where none runs), side by side: half of a start is the networks' own planning.
fn load(
    set: &PerceiverSet,
    calibrated: &Arc<Calibrations>,
    many: usize,
) -> Result<(Vec<Worker>, Vec<Recogniser>), PerceiveError> {
    thread::scope(|scope| {
        let workers: Vec<_> =
            (0..many).map(|_| scope.spawn(|| Worker::load(set, calibrated))).collect();
        let recognisers: Vec<_> = (0..many).map(|_| scope.spawn(|| set.recogniser())).collect();
        let workers =
            workers.into_iter().map(|one| one.join().unwrap_or(Err(PerceiveError::WorkerLost)));
        let workers: Vec<Worker> = workers.collect::<Result<_, _>>()?;
        let recognisers =
            recognisers.into_iter().map(|one| one.join().unwrap_or(Err(PerceiveError::WorkerLost)));
        let recognisers: Vec<Option<Recogniser>> = recognisers.collect::<Result<_, _>>()?;
        Ok((workers, recognisers.into_iter().flatten().collect()))
    })
}
