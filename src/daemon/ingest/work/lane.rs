//! A lane of workers: each takes one job after the other. A job that ends in a panic is lost and its worker made anew; one
//! that hangs is given up at its deadline, and another worker takes its worker's place.
//!
//! A thread cannot be ended from outside: one that hangs is left behind, with its models, and told of. When it comes back
//! it finds that it was replaced, and goes.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, bounded};

use super::yielding::YieldPolicy;
use super::{Deadlines, Kind, Queue};
use crate::daemon::metrics::gauges::{Gauges, Stuck};
use crate::daemon::supervise;
use crate::ids::SourceId;
use crate::perceive::PerceiveError;
use crate::runtime::crash_journal::Place;
use crate::supervise::contained;

/// Numbers of workers, never used twice by a process.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// A job for a worker with models `W`.
pub(in crate::daemon::ingest) struct Task<W> {
    kind: Kind,
    /// Whose frame or turn it is about.
    source: SourceId,
    run: Box<dyn FnOnce(&mut W) + Send>,
    fail: Box<dyn FnOnce(PerceiveError) + Send>,
}

impl<W> Task<W> {
    /// A job, and where its result will arrive, exactly once.
    pub(in crate::daemon::ingest) fn new<T: Send + 'static>(
        kind: Kind,
        source: &SourceId,
        work: impl FnOnce(&mut W) -> Result<T, PerceiveError> + Send + 'static,
    ) -> (Self, Receiver<Result<T, PerceiveError>>) {
        let (reply, pending) = bounded(1);
        let (fails, told) = (reply.clone(), Arc::<AtomicBool>::default());
        let is_told = Arc::clone(&told);
        // A receiver that is gone means that nobody waits any more.
        let run = move |worker: &mut W| {
            let result = work(worker);
            if !told.swap(true, Ordering::Relaxed) {
                reply.try_send(result).ok();
            }
        };
        let fail = move |why| {
            if !is_told.swap(true, Ordering::Relaxed) {
                fails.try_send(Err(why)).ok();
            }
        };
        (Self { kind, source: source.clone(), run: Box::new(run), fail: Box::new(fail) }, pending)
    }

    /// What it is for.
    pub(in crate::daemon::ingest) fn kind(&self) -> Kind {
        self.kind
    }
}

/// A job that a worker is at.
struct InHand {
    kind: Kind,
    first: bool,
    source: SourceId,
    fail: Box<dyn FnOnce(PerceiveError) + Send>,
    since: Instant,
    /// For how long it was seen to be there: time in which this process itself stood still does not count.
    seen: Duration,
    deadline: Duration,
    /// Where the worker writes down what it runs.
    place: Place,
}

/// A worker that is not given up.
#[derive(Default)]
struct Worker {
    thread: Option<JoinHandle<()>>,
    job: Option<InHand>,
}

/// Makes a worker's models.
type Make<W> = Box<dyn Fn() -> Result<W, PerceiveError> + Send + Sync>;

/// What workers share.
struct Shared<W> {
    name: &'static str,
    queue: Arc<Queue<Task<W>>>,
    make: Make<W>,
    deadlines: Deadlines,
    courtesy: YieldPolicy,
    gauges: Gauges,
    /// A worker broke down for good, or too many hang.
    lost: Arc<AtomicBool>,
    workers: Mutex<BTreeMap<u64, Worker>>,
}

/// The workers of one queue. Cheap to clone.
pub(in crate::daemon::ingest) struct Lane<W>(Arc<Shared<W>>);

impl<W> Clone for Lane<W> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<W: Send + 'static> Lane<W> {
    /// A lane without workers.
    pub(in crate::daemon::ingest) fn new(
        name: &'static str,
        queue: Arc<Queue<Task<W>>>,
        make: impl Fn() -> Result<W, PerceiveError> + Send + Sync + 'static,
        deadlines: Deadlines,
        (courtesy, gauges, lost): (&YieldPolicy, &Gauges, &Arc<AtomicBool>),
    ) -> Self {
        Self(Arc::new(Shared {
            name,
            queue,
            make: Box::new(make),
            deadlines,
            courtesy: courtesy.clone(),
            gauges: gauges.clone(),
            lost: Arc::clone(lost),
            workers: Mutex::default(),
        }))
    }

    /// What waits is dropped, and nothing is taken in any more.
    pub(in crate::daemon::ingest) fn abandon(&self) {
        self.0.queue.abandon();
    }

    fn workers(&self) -> MutexGuard<'_, BTreeMap<u64, Worker>> {
        self.0.workers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a worker with those models; without any, it makes its own first.
    pub(in crate::daemon::ingest) fn start(&self, models: Option<W>) -> Result<(), PerceiveError> {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        // Known before it runs: it may come to its end at once.
        self.workers().insert(number, Worker::default());
        let lane = self.clone();
        let thread = thread::Builder::new()
            .name(format!("{}-{number}", self.0.name))
            .spawn(move || {
                if let Err(why) = contained(|| lane.run(number, models)) {
                    tracing::error!(
                        lane = lane.0.name,
                        why,
                        "A worker ended in a panic while it was made; please report it."
                    );
                    lane.lose();
                }
            })
            .map_err(PerceiveError::Thread)
            .inspect_err(|_| drop(self.workers().remove(&number)))?;
        if let Some(worker) = self.workers().get_mut(&number) {
            worker.thread = Some(thread);
        }
        Ok(())
    }

    fn run(&self, number: u64, models: Option<W>) {
        let Shared { name, queue, make, gauges, .. } = &*self.0;
        let models = match models.map_or_else(make, Ok) {
            Ok(models) => models,
            Err(error) => {
                tracing::error!(lane = name, %error, "A worker cannot be made in the place of one that hangs: the session ends.");
                return self.lose();
            }
        };
        let mut known = [false; Kind::COUNT];
        let next = || if self.is_replaced(number) { None } else { queue.take() };
        let restarted = || gauges.restarted(name);
        let over = supervise::serve(name, next, models, make, restarted, |models, task| {
            let Task { kind, source, run, fail } = task;
            let first = !std::mem::replace(&mut known[kind as usize], true);
            let _at_it = self.take_in_hand(number, (kind, first), source, fail);
            self.0.courtesy.step_aside();
            run(models);
        });
        if let Err(why) = over {
            tracing::error!(stage = name, %why, "A worker broke down: the session ends.");
            self.lose();
        }
        if self.is_replaced(number) {
            gauges.is_back(number);
        }
    }

    /// The session is to end; nobody shall wait for workers that are no more.
    fn lose(&self) {
        self.0.lost.store(true, Ordering::Relaxed);
        self.0.queue.abandon();
    }

    fn is_replaced(&self, number: u64) -> bool {
        !self.workers().contains_key(&number)
    }

    fn take_in_hand(
        &self,
        number: u64,
        (kind, first): (Kind, bool),
        source: SourceId,
        fail: Box<dyn FnOnce(PerceiveError) + Send>,
    ) -> AtIt<'_, W> {
        let deadline = self.0.deadlines.of_job(kind, first);
        let (since, seen) = (Instant::now(), Duration::ZERO);
        let place = Place::of_this_thread();
        let job = InHand { kind, first, source, fail, since, seen, deadline, place };
        if let Some(worker) = self.workers().get_mut(&number) {
            worker.job = Some(job);
        }
        AtIt { lane: self, number }
    }

    /// Looks after every worker; `step`: how much of the time since the last look counts.
    pub(in crate::daemon::ingest) fn look(&self, step: Duration) {
        let mut overdue = Vec::new();
        let mut workers = self.workers();
        for (number, worker) in workers.iter_mut() {
            let Some(job) = &mut worker.job else { continue };
            job.seen += step;
            if job.seen >= job.deadline {
                overdue.push(*number);
            }
        }
        let given_up: Vec<(u64, Worker)> = overdue
            .into_iter()
            .filter_map(|number| Some((number, workers.remove(&number)?)))
            .collect();
        drop(workers);
        for (number, worker) in given_up {
            if let Some(job) = worker.job {
                self.give_up(number, job);
            }
        }
    }

    fn give_up(&self, number: u64, job: InHand) {
        let (lane, word, network) = (self.0.name, job.kind.word(), job.place.network());
        let (source, secs) = (job.source, job.deadline.as_secs_f64());
        tracing::error!(
            lane, job = word, %source, network = network.as_deref(), secs,
            "A job hangs and is given up; another worker takes its place."
        );
        let stuck = Stuck { lane, job: word, source, network: network.clone() };
        let many = self.0.gauges.hangs(number, stuck);
        (job.fail)(PerceiveError::Hung { job: word, network, secs });
        if many {
            tracing::error!(lane, "Too many workers hang: the session ends.");
            self.lose();
        } else if let Err(error) = self.start(None) {
            tracing::error!(lane, %error, "There is no worker in the place of one that hangs.");
            self.lose();
        }
    }

    /// Waits until every worker that does not hang has come to its end, at most so long; false where one did not.
    pub(in crate::daemon::ingest) fn wait(&self, most: Duration) -> bool {
        let began = Instant::now();
        loop {
            let runs =
                |worker: &Worker| worker.thread.as_ref().is_none_or(|one| !one.is_finished());
            if !self.workers().values().any(runs) {
                break;
            }
            if began.elapsed() >= most {
                return false;
            }
            thread::sleep(Duration::from_millis(2));
        }
        let ended = std::mem::take(&mut *self.workers());
        for thread in ended.into_values().filter_map(|worker| worker.thread) {
            if thread.join().is_err() {
                tracing::error!(lane = self.0.name, "A worker ended in a panic; its job was lost.");
                self.0.lost.store(true, Ordering::Relaxed);
            }
        }
        true
    }
}

/// A worker is at a job until this goes.
struct AtIt<'a, W: Send + 'static> {
    lane: &'a Lane<W>,
    number: u64,
}

impl<W: Send + 'static> Drop for AtIt<'_, W> {
    fn drop(&mut self) {
        let mut workers = self.lane.workers();
        let Some(worker) = workers.get_mut(&self.number) else { return };
        if let Some(job) = worker.job.take() {
            self.lane.0.deadlines.took(job.kind, job.first, job.since.elapsed());
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use crossbeam_channel::{Sender, unbounded};

    use super::super::Waiting;
    use super::*;
    use crate::daemon::ingest::work::jobs::take;

    /// Workers that are numbered as they are made.
    struct Bench {
        lane: Lane<u64>,
        queue: Arc<Queue<Task<u64>>>,
        gauges: Gauges,
        lost: Arc<AtomicBool>,
    }

    fn bench(workers: u64) -> Bench {
        let queue = Arc::new(Queue::new([16; Kind::COUNT], Waiting::default()));
        let (gauges, lost) = (Gauges::default(), Arc::default());
        let made = AtomicU64::new(100);
        let lane = Lane::new(
            "perceive",
            Arc::clone(&queue),
            move || Ok(made.fetch_add(1, Ordering::Relaxed)),
            Deadlines::all(Duration::from_secs(5)),
            (&YieldPolicy::default(), &gauges, &lost),
        );
        (0..workers).for_each(|number| lane.start(Some(number)).unwrap());
        Bench { lane, queue, gauges, lost }
    }

    impl Bench {
        fn put<T: Send + 'static>(
            &self,
            work: impl FnOnce(&mut u64) -> T + Send + 'static,
        ) -> Receiver<Result<T, PerceiveError>> {
            let source = SourceId::new("front");
            let (task, pending) = Task::new(Kind::Frame, &source, |worker| Ok(work(worker)));
            self.queue.put(task.kind(), task);
            pending
        }

        /// A job that waits until it is let go; tells when it has begun.
        fn hang(&self) -> (Sender<()>, Receiver<Result<u64, PerceiveError>>) {
            let (let_go, go_on) = unbounded::<()>();
            let (began, has_begun) = unbounded();
            let pending = self.put(move |worker| {
                began.send(()).ok();
                go_on.recv().ok();
                *worker
            });
            has_begun.recv().unwrap();
            (let_go, pending)
        }
    }

    #[test]
    fn a_job_that_hangs_is_given_up_at_its_deadline_and_its_worker_is_replaced() {
        let bench = bench(1);
        let (let_go, hangs) = bench.hang();
        bench.lane.look(Duration::from_secs(4));
        assert!(hangs.try_recv().is_err(), "it may still come");
        bench.lane.look(Duration::from_secs(1));
        let error = take(&hangs).unwrap_err().to_string();
        assert!(error.contains("frame") && error.contains("5 s"), "{error}");
        let readings = bench.gauges.read();
        assert_eq!(readings.given_up["frame"], 1);
        assert_eq!(readings.stuck.len(), 1);
        assert_eq!(take(&bench.put(|worker| *worker)).unwrap(), 100, "another one does the work");
        // It comes back, finds that it was replaced, and goes.
        let_go.send(()).unwrap();
        while !bench.gauges.read().stuck.is_empty() {
            thread::yield_now();
        }
        assert!(hangs.try_recv().is_err(), "there is one result");
        assert_eq!(take(&bench.put(|worker| *worker)).unwrap(), 100);
        bench.queue.close();
        assert!(bench.lane.wait(Duration::from_secs(60)));
        assert!(!bench.lost.load(Ordering::Relaxed));
    }

    #[test]
    fn a_session_ends_when_too_many_workers_hang_and_nobody_waits_for_ever() {
        let bench = bench(1);
        let mut held = Vec::new();
        for _ in 0..crate::daemon::metrics::gauges::MOST_STUCK {
            assert!(!bench.lost.load(Ordering::Relaxed));
            held.push(bench.hang());
            bench.lane.look(Duration::from_secs(5));
        }
        assert!(bench.lost.load(Ordering::Relaxed));
        assert!(matches!(take(&bench.put(|worker| *worker)), Err(PerceiveError::WorkerLost)));
        assert!(bench.lane.wait(Duration::ZERO), "who hangs is left behind");
    }

    #[test]
    fn a_job_that_ends_in_a_panic_is_lost_alone() {
        let bench = bench(1);
        let lost = bench.put(|_| panic!("as planned"));
        assert!(matches!(take(&lost), Err(PerceiveError::WorkerLost)));
        assert_eq!(take(&bench.put(|worker| *worker)).unwrap(), 100);
        assert_eq!(bench.gauges.read().restarts["perceive"], 1);
        bench.queue.close();
        assert!(bench.lane.wait(Duration::from_secs(60)));
    }
}
