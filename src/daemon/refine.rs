//! The refiner: takes clips off the spool, has the multimodal model memorize them, and commits what it makes of
//! them in transactions of their own, in the order of the clips.
//!
//! Nobody waits for it: the built-in memories are there since the clip was sealed. While the model is down
//! clips stay on disk; a clip that it cannot cope with is given up after a few tries, so that it does not hold up
//! the others.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::announce::Announcer;
use super::ingest::SessionSettings;
use super::metrics::meters::Meters;
use super::supervise;
use crate::llm::{Budget, Cancel, LlmError};
use crate::memorize::model::{
    ClipCost, Conclusions, Insight, MemorizeFault, ModelMemorizer, REFLECT_BY_MODEL, Spool,
    SpooledClip, Waiting, concluded_before, to_reflect_upon,
};
use crate::memory::model::MemoryRow;
use crate::memory::{MemoryError, View};
use crate::supervise::contained;

/// How long one look into the spool takes at most.
const LOOK: Duration = Duration::from_millis(200);
/// The first pause after the model failed; each further one is twice as long …
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// … up to this.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// A clip that the model does not finish in time, or refuses, so often is given up.
const MOST_FAILURES: u32 = 3;
/// Seconds of speech under a face that a model's belief of full confidence weighs as much as.
const BELIEF_SECS: f64 = 1.0;

/// A running refiner; ends with [`Refiner::stop`].
pub struct Refiner {
    shared: Arc<Shared>,
    thread: JoinHandle<()>,
}

struct Shared {
    settings: SessionSettings,
    spool: Spool,
    model: ModelMemorizer,
    announcer: Announcer,
    meters: Meters,
    stop: AtomicBool,
    cancel: Cancel,
    /// Something is done beside the clips in line.
    busy: AtomicBool,
    /// Nobody asks while it runs (a replay that is not served): record time is the clip's end, as for the clip.
    unwatched: bool,
    /// The model is down at the moment; why.
    down: Mutex<Option<String>>,
}

impl Refiner {
    /// Starts it over the spool of `settings`; `None` where no model memorizes.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start(
        settings: &SessionSettings,
        model: Option<ModelMemorizer>,
        announcer: Announcer,
        meters: Meters,
    ) -> std::io::Result<Option<Self>> {
        Self::launch(settings, model, announcer, meters, false)
    }

    /// As [`Refiner::start`], for a replay that nobody asks while it runs: what the model concludes of a clip was
    /// known at the clip's end, as if the replay had waited for it.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start_unwatched(
        settings: &SessionSettings,
        model: Option<ModelMemorizer>,
    ) -> std::io::Result<Option<Self>> {
        Self::launch(settings, model, Announcer::default(), Meters::default(), true)
    }

    fn launch(
        settings: &SessionSettings,
        model: Option<ModelMemorizer>,
        announcer: Announcer,
        meters: Meters,
        unwatched: bool,
    ) -> std::io::Result<Option<Self>> {
        let (Some(spool), Some(model)) = (settings.spool.clone(), model) else { return Ok(None) };
        let view = settings.memory.view();
        spool.settle(|clip| view.clip(clip).is_some());
        let shared = Arc::new(Shared {
            settings: settings.clone(),
            spool,
            model,
            announcer,
            meters,
            unwatched,
            busy: AtomicBool::new(false),
            stop: AtomicBool::new(false),
            cancel: Cancel::default(),
            down: Mutex::default(),
        });
        let worker = Arc::clone(&shared);
        let thread = thread::Builder::new().name("refine".to_owned()).spawn(move || {
            let degraded = |stage: &str, why| worker.announcer.degraded(stage, why);
            supervise::keep_up("memorizing", degraded, || worker.run());
        })?;
        Ok(Some(Self { shared, thread }))
    }

    /// Waits until the spool is empty, `enough` says so, or the model is down; gives back how many clips wait
    /// still, and why.
    pub fn drain(&self, enough: impl Fn() -> bool) -> (u64, Option<String>) {
        loop {
            let waiting = self.shared.spool.counts().waiting;
            let down = self.shared.down.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let done = waiting == 0 && !self.shared.busy.load(Ordering::SeqCst);
            if done || down.is_some() || enough() || self.thread.is_finished() {
                return (waiting, down);
            }
            thread::sleep(LOOK);
        }
    }

    /// Calls the model off and waits for the thread; what is left waits on disk.
    pub fn stop(self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        self.shared.cancel.cancel();
        if self.thread.join().is_err() {
            tracing::error!("the refiner ended in a panic; please report it");
        }
    }
}

/// What became of a clip.
enum Outcome {
    /// It is done with.
    Done,
    /// Once more, after a pause: the model is down.
    Down(String),
    /// Once more: the model did not cope with it.
    Failed(String),
}

impl Shared {
    fn run(&self) {
        let (mut pause, mut failures) = (FIRST_PAUSE, 0);
        while !self.stop.load(Ordering::Relaxed) {
            let Some(waiting) = self.spool.oldest(LOOK) else { continue };
            let outcome = match self.spool.read(&waiting) {
                Ok(clip) => self.refine_contained(&waiting, &clip),
                Err(error) => {
                    tracing::warn!(%error, clip = %waiting.clip, "A clip that waited for the memorizing model cannot be read; it keeps its built-in memories.");
                    self.meters.count("clips_unrefined");
                    Outcome::Done
                }
            };
            match outcome {
                Outcome::Done => {
                    self.busy.store(true, Ordering::SeqCst);
                    self.spool.remove(&waiting);
                    (pause, failures) = (FIRST_PAUSE, 0);
                    self.say(None);
                    if let Err(why) = contained(|| self.reflect()) {
                        tracing::error!(%why, "Reflection by the model ended in a panic; please report it.");
                    }
                    self.busy.store(false, Ordering::SeqCst);
                }
                Outcome::Failed(fault) => {
                    failures += 1;
                    tracing::warn!(%fault, clip = %waiting.clip, failures, "The memorizing model failed on a clip.");
                    if failures >= MOST_FAILURES {
                        self.meters.count("clips_unrefined");
                        self.spool.remove(&waiting);
                        failures = 0;
                    }
                }
                Outcome::Down(fault) => {
                    self.say(Some(fault));
                    self.rest(pause);
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
            }
        }
    }

    /// A clip that ends in a panic must not take the others with it.
    fn refine_contained(&self, waiting: &Waiting, clip: &SpooledClip) -> Outcome {
        contained(|| self.refine(waiting, clip)).unwrap_or_else(|why| {
            let mut who = self.settings.resolver.lock();
            self.settings.unlearn(&mut who);
            Outcome::Failed(format!("a panic ({why}); please report it"))
        })
    }

    /// Tells once that the model is down, or well again.
    fn say(&self, down: Option<String>) {
        let mut known = self.down.lock().unwrap_or_else(PoisonError::into_inner);
        if known.is_none() && down.is_none() {
            return;
        }
        if let Some(fault) = down.as_ref().filter(|_| known.is_none()) {
            tracing::warn!(%fault, "The memorizing model is down: clips wait in the spool.");
        }
        let impaired = down.iter().map(|fault| format!("memorizing by model: {fault}"));
        self.announcer.degraded("memorizer", impaired.collect());
        *known = down;
    }

    fn rest(&self, time: Duration) {
        let until = Instant::now() + time;
        while Instant::now() < until && !self.stop.load(Ordering::Relaxed) {
            thread::sleep(LOOK.min(until.saturating_duration_since(Instant::now())));
        }
    }

    fn refine(&self, waiting: &Waiting, clip: &SpooledClip) -> Outcome {
        let begun = Instant::now();
        let budget = Budget { deadline: begun + self.model.time(), cancel: self.cancel.clone() };
        let note = self.spool.note(clip.clip);
        let concluded = self.model.conclude(clip, &note, &budget);
        self.meters.latency("memorize_model", begun.elapsed());
        match concluded {
            Ok((conclusions, cost)) => match self.commit(waiting, clip, &conclusions, cost) {
                Ok(()) => Outcome::Done,
                // The clip waits until the disk has room again.
                Err(error) => Outcome::Down(error.to_string()),
            },
            Err(MemorizeFault::Llm(LlmError::Cancelled)) => Outcome::Down("called off".to_owned()),
            Err(MemorizeFault::Llm(error)) => {
                let hopeless = match &error {
                    // Bad request: this clip, not the server.
                    LlmError::Refused { status, .. } => matches!(status, 400 | 413 | 415 | 422),
                    LlmError::Late { bytes, .. } => *bytes > 0,
                    _ => false,
                };
                if hopeless {
                    Outcome::Failed(error.to_string())
                } else {
                    Outcome::Down(error.to_string())
                }
            }
            Err(fault @ MemorizeFault::Unusable(_)) => Outcome::Failed(fault.to_string()),
        }
    }

    /// The late transaction. Whoever writes takes the resolver first, then the right to write.
    fn commit(
        &self,
        waiting: &Waiting,
        clip: &SpooledClip,
        found: &Conclusions,
        cost: ClipCost,
    ) -> Result<(), MemoryError> {
        let SessionSettings { memory, memorizer, .. } = &self.settings;
        let mut who = self.settings.resolver.lock();
        let newest = memory.view().newest_time().filter(|_| !self.unwatched);
        let mut draft = memory.begin(newest.map_or(clip.span.end, |at| at.max(clip.span.end)));
        if !self.spool.holds(waiting) {
            // Erased, or given up for the cap, while the model thought about it.
            return Ok(());
        }
        let before: View = memory.view();
        let origin = self.model.origin();
        let refined = memorizer.refine((clip, found), &origin, who.persons(), &before, &mut draft);
        for belief in found.beliefs(clip) {
            let secs = BELIEF_SECS * belief.confidence;
            who.believe(belief.face, belief.voice, secs, &mut draft);
        }
        let mut names = Vec::new();
        for named in found.said_names(clip) {
            names.extend(who.conclude_name(named.entity, &named.name, clip.span.start, &mut draft));
        }
        if !draft.is_empty()
            && let Err(error) = draft.commit()
        {
            self.settings.unlearn(&mut who);
            return Err(error);
        }
        drop(who);
        self.spool.keep_note(clip.clip, &found.note);
        self.count(refined.refused, refined.refined, &refined.rows, cost);
        let view = memory.view();
        for name in &names {
            self.announcer.named(name, clip.span.start);
        }
        for row in &refined.rows {
            self.announcer.memory(&view, row);
        }
        Ok(())
    }

    /// Has the model conclude from many memories what follows from them, once enough of weight has come in since it
    /// did. It is not tried again before more has come, unless the model was down.
    fn reflect(&self) {
        let upkeep = &self.settings.config.upkeep;
        let memory = &self.settings.memory;
        if !upkeep.reflect || !upkeep.reflect_by_model {
            return;
        }
        let view = memory.view();
        // A store that fails says so at the next commit.
        let Ok(mark) = memory.mark(REFLECT_BY_MODEL) else { return };
        let seen = mark.map(|mark| mark.seq).unwrap_or_default();
        if view.importance_since(seen) < upkeep.reflect_importance {
            return;
        }
        let Some(now) = view.newest_time() else { return };
        let origin = self.model.origin();
        let memories = to_reflect_upon(&view, seen);
        let known = concluded_before(&view, &origin);
        let begun = Instant::now();
        let budget = Budget { deadline: begun + self.model.time(), cancel: self.cancel.clone() };
        let reflected = self.model.reflect(&memories, &known, now, &budget);
        self.meters.latency("reflect_model", begun.elapsed());
        let (found, cost) = match reflected {
            Ok(reflected) => reflected,
            Err(error @ MemorizeFault::Llm(_)) => {
                tracing::warn!(%error, "The model did not reflect; it is asked again after the next clip.");
                return;
            }
            Err(fault @ MemorizeFault::Unusable(_)) => {
                tracing::warn!(%fault, "The model's reflection is of no use.");
                (Vec::new(), ClipCost::default())
            }
        };
        if let Err(error) = self.commit_insights((&found, &memories), cost) {
            tracing::warn!(%error, "What the model concluded is not kept; it is asked again after the next clip.");
        }
    }

    fn commit_insights(
        &self,
        (found, memories): (&[Insight], &[Arc<MemoryRow>]),
        cost: ClipCost,
    ) -> Result<(), MemoryError> {
        let SessionSettings { memory, memorizer, .. } = &self.settings;
        // Whoever writes takes the resolver first, then the right to write.
        let who = self.settings.resolver.lock();
        let now = memory.view().newest_time().unwrap_or_default();
        let mut draft = memory.begin(now);
        let before = draft.before();
        let (origin, persons) = (self.model.origin(), who.persons());
        let (rows, refused) =
            memorizer.admit_insights((found, memories), &origin, persons, &before, &mut draft);
        if rows.is_empty() {
            drop(draft);
            memory.set_mark(REFLECT_BY_MODEL, now)?;
        } else {
            draft.mark(REFLECT_BY_MODEL, now);
            draft.commit()?;
        }
        drop(who);
        self.meters.count("reflections");
        self.count_cost(refused, &rows, cost);
        let view = memory.view();
        for row in &rows {
            self.announcer.memory(&view, row);
        }
        Ok(())
    }

    fn count(&self, refused: usize, stepped_back: usize, rows: &[MemoryRow], cost: ClipCost) {
        self.meters.count("clips_refined");
        self.meters.add("memories_refined", stepped_back as u64);
        self.count_cost(refused, rows, cost);
    }

    fn count_cost(&self, refused: usize, rows: &[MemoryRow], cost: ClipCost) {
        self.meters.add("memories", rows.len() as u64);
        self.meters.add("conclusions_refused", refused as u64);
        tracing::debug!(
            memories = rows.len(),
            refused,
            requests = cost.requests,
            retries = cost.retries,
            prompt_tokens = cost.tokens.prompt,
            completion_tokens = cost.tokens.completion,
            "The model has written memories."
        );
    }
}
