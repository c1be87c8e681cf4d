//! Upkeep in event time: what follows from many memories is concluded, what has faded is folded into
//! summaries, what was retired long ago is let go.
//!
//! Whether a pass is due follows from the memory alone, every pass is one transaction, and its time is the
//! session's: the same recording brings the same passes, killed in between or not. (Forgetting also heeds how
//! often a memory was recalled: there, what was asked counts too.)

mod conclude;
mod digest;
mod fade;
mod places;
#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::vectors::named;
use super::{BUILTIN, Memorizer};
use crate::config;
use crate::memory::{Memory, MemoryError, View};
use crate::text::for_embedding;
use crate::time::{Span, Timestamp};

/// The job that concludes.
const REFLECT: &str = "reflect";
/// The job that forgets.
const FORGET: &str = "forget";
/// The job that finds places, by session.
const PLACES: &str = "places";
/// Where nothing was found, how far it has come is noted only so often, seconds of event time.
const PLACES_NOTED_SECS: f64 = 600.0;
/// What follows from four weeks is not concluded again within so long, seconds of event time.
const REFLECT_EVERY_SECS: f64 = 3600.0;
/// Letting go of the past is worth its while from so many rows on, …
const LEAST_COMPACTED: u64 = 256;
/// … or one in so many of the memories.
const COMPACTED_SHARE: u64 = 8;

/// Seconds of a day.
const DAY_SECS: f64 = 86_400.0;

/// Keeps a memory in shape. Cheap to clone.
#[derive(Clone)]
pub struct Upkeep {
    memory: Memory,
    memorizer: Memorizer,
    settings: config::Upkeep,
    zone: TimeZone,
    behind: Arc<Behind>,
}

/// The run that is going on on a thread of its own; whoever lets go of it last waits for it.
#[derive(Default)]
struct Behind(Mutex<Option<JoinHandle<()>>>);

impl Drop for Behind {
    fn drop(&mut self) {
        let thread = self.0.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if thread.is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("upkeep ended in a panic; please report it");
        }
    }
}

/// What a run of upkeep did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct UpkeepDone {
    /// Conclusions written, renewed or ended.
    pub concluded: usize,
    /// Memories folded into summaries.
    pub folded: usize,
    /// Hour summaries written or rewritten.
    pub hours: usize,
    /// Day summaries written or rewritten.
    pub days: usize,
    /// Places found, and names of places learned.
    pub places: usize,
    /// Row versions deleted for good.
    pub compacted: u64,
    /// Tracks of long ago of which only some sightings are left.
    pub thinned: u64,
}

impl UpkeepDone {
    /// Whether nothing was done.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

impl Upkeep {
    /// `memorizer` gives the vectors of what is written; days and hours are those of `zone`.
    #[must_use]
    pub fn new(
        memory: Memory,
        memorizer: Memorizer,
        settings: config::Upkeep,
        zone: TimeZone,
    ) -> Self {
        Self { memory, memorizer, settings, zone, behind: Arc::default() }
    }

    /// Does what is due at `now`, the session's clock; little where nothing is due.
    ///
    /// # Errors
    /// When the store fails; what was committed before stays.
    pub fn run(&self, now: Timestamp) -> Result<UpkeepDone, MemoryError> {
        let mut done = UpkeepDone::default();
        if self.settings.places {
            done.places = self.find_places(now)?;
        }
        if self.reflection_is_due(now)? {
            done.concluded = self.reflect(now)?;
        }
        if self.forgetting_is_due(now)? {
            // First: forgetting notes that the day is done, so nothing may come after it.
            done.compacted = self.let_go(now)?;
            done.thinned = self.thin(now)?;
            // Whatever is due is done before the clip that comes next, killed in between or not.
            while self.forget(now, &mut done)? {}
            self.memory.tidy_derived()?;
        }
        Ok(done)
    }

    /// As [`Self::run`], on a thread of its own, unless the one before is still at it. `step_aside` waits while
    /// there is something more urgent. Faults are logged: the next run tries again.
    pub fn run_behind(&self, now: Timestamp, step_aside: impl FnOnce() + Send + 'static) {
        let mut behind = self.behind.0.lock().unwrap_or_else(PoisonError::into_inner);
        if behind.as_ref().is_some_and(|thread| !thread.is_finished()) {
            return;
        }
        let upkeep = Self { behind: Arc::default(), ..self.clone() };
        let started = std::thread::Builder::new().name("upkeep".to_owned()).spawn(move || {
            step_aside();
            // A clip may have been committed meanwhile: record time does not run back.
            let now = upkeep.memory.view().newest_time().map_or(now, |newest| newest.max(now));
            if let Err(error) = upkeep.run(now) {
                tracing::warn!(%error, "Upkeep of the memory failed; it is tried again with the next clip.");
            }
        });
        match started {
            Ok(thread) => *behind = Some(thread),
            Err(error) => {
                tracing::warn!(%error, "Upkeep of the memory got no thread; it is tried again with the next clip.");
            }
        }
    }

    fn reflection_is_due(&self, now: Timestamp) -> Result<bool, MemoryError> {
        if !self.settings.reflect {
            return Ok(false);
        }
        let last = self.memory.mark(REFLECT)?;
        // (A clock that was set back does not keep it from concluding.)
        let lately = |at: Timestamp| (0.0..REFLECT_EVERY_SECS).contains(&now.secs_since(at));
        if last.as_ref().is_some_and(|mark| lately(mark.at)) {
            return Ok(false);
        }
        let seen = last.map(|mark| mark.seq).unwrap_or_default();
        Ok(self.memory.view().importance_since(seen) >= self.settings.reflect_importance)
    }

    /// Concludes anew from the last weeks; gives back how many conclusions changed.
    fn reflect(&self, now: Timestamp) -> Result<usize, MemoryError> {
        // Ahead of the draft, which keeps others from writing; rarely has something come in between.
        let ahead = self.memory.view();
        let mut found = conclude::conclusions(&ahead, now, &self.zone);
        let mut draft = self.memory.begin(now);
        let before = draft.before();
        if before.seq() != ahead.seq() {
            found = conclude::conclusions(&before, now, &self.zone);
        }
        let changed = conclude::settle(found, &before, now, self, &mut draft)?;
        if changed == 0 {
            drop(draft);
            self.memory.set_mark(REFLECT, now)?;
        } else {
            draft.mark(REFLECT, now);
            draft.commit()?;
        }
        Ok(changed)
    }

    /// Looks at the newest session's poses that came since; gives back how many places and names it found.
    fn find_places(&self, now: Timestamp) -> Result<usize, MemoryError> {
        let view = self.memory.view();
        let Some(session) = view.sessions().last().map(Arc::clone) else { return Ok(0) };
        let job = format!("{PLACES}:{}", session.id);
        let from = self.memory.mark(&job)?.map_or(session.start, |mark| mark.at);
        if view.poses(Span::new(from, now)).is_empty() {
            return Ok(0);
        }
        let mut draft = self.memory.begin(now);
        let before = draft.before();
        let found = places::found(&before, (session.id, Span::new(from, now)), self, &mut draft);
        let changed = found.places + found.names;
        if changed > 0 {
            draft.mark(&job, found.next);
            draft.commit()?;
        } else {
            drop(draft);
            if found.next.secs_since(from) >= PLACES_NOTED_SECS {
                self.memory.set_mark(&job, found.next)?;
            }
        }
        Ok(changed)
    }

    /// Once per day of event time; the first day only begins the count.
    fn forgetting_is_due(&self, now: Timestamp) -> Result<bool, MemoryError> {
        if !self.settings.forget {
            return Ok(false);
        }
        match self.memory.mark(FORGET)? {
            None => {
                self.memory.set_mark(FORGET, now)?;
                Ok(false)
            }
            Some(mark) => Ok(self.day(mark.at) != self.day(now)),
        }
    }

    /// Folds what one transaction takes; gives back whether there is more.
    fn forget(&self, now: Timestamp, done: &mut UpkeepDone) -> Result<bool, MemoryError> {
        let accesses = self.memory.accesses()?;
        let seen = self.memory.mark(FORGET)?.map(|mark| mark.seq).unwrap_or_default();
        let plan = |view: &View| {
            let came = usize::try_from(view.written_since(seen)).unwrap_or(usize::MAX / 4);
            fade::plan(view, now, &accesses, (&self.settings, &self.zone, came))
        };
        // As in reflecting.
        let ahead = self.memory.view();
        let mut planned = plan(&ahead);
        let mut draft = self.memory.begin(now);
        let before = draft.before();
        if before.seq() != ahead.seq() {
            planned = plan(&before);
        }
        let plan = planned;
        if plan.is_empty() {
            drop(draft);
            self.memory.set_mark(FORGET, now)?;
            return Ok(false);
        }
        let folded = fade::fold(&plan, &before, self, &mut draft)?;
        done.folded += folded.memories;
        done.hours += folded.hours;
        done.days += folded.days;
        if !plan.more {
            draft.mark(FORGET, now);
        }
        draft.commit()?;
        Ok(plan.more)
    }

    /// So many days before what the newest session has lived until `now`; `None`: nothing of it is so old, or that is no
    /// number of days.
    fn days_ago(&self, now: Timestamp, days: f64) -> Option<Timestamp> {
        if !days.is_finite() {
            return None;
        }
        let view = self.memory.view();
        let newest = view.sessions().last().filter(|one| one.recording.is_some()).map(Arc::clone);
        let lived = newest.as_ref().map_or(now, |session| {
            let clips = view.clips(Some(session.id));
            clips.last().map_or(session.start, |clip| clip.span.end).min(now)
        });
        let before = lived.plus_secs(-days * DAY_SECS);
        // A recording of another year does not make old what came in yesterday.
        newest.is_none_or(|session| session.start <= before).then_some(before)
    }

    /// Thins the sightings of long ago.
    fn thin(&self, now: Timestamp) -> Result<u64, MemoryError> {
        // What `as_of` tells of is as it was.
        let days = self.settings.keep_sightings_days.max(self.settings.history_days);
        let Some(before) = self.days_ago(now, days) else { return Ok(0) };
        let mut thinned = 0;
        loop {
            match self.memory.thin_sightings(before)? {
                0 => return Ok(thinned),
                more => thinned += more,
            }
        }
    }

    /// Deletes what was retired before the history that is kept, where that is worth its while.
    fn let_go(&self, now: Timestamp) -> Result<u64, MemoryError> {
        let Some(before) = self.days_ago(now, self.settings.history_days) else { return Ok(0) };
        let view = self.memory.view();
        let worth = LEAST_COMPACTED.max(view.count_memories() / COMPACTED_SHARE);
        if self.memory.compactable(before) < worth {
            return Ok(0);
        }
        Ok(self.memory.compact(before)?.rows)
    }

    fn day(&self, at: Timestamp) -> Date {
        day(at, &self.zone)
    }

    /// The vector of a sentence, its persons by the names they have.
    fn vector(&self, text: &str, view: &View) -> Option<crate::percept::Embedding> {
        self.memorizer.vector_worded(&for_embedding(text, |id| named(view, id)))
    }
}

/// The day of event time in that zone.
fn day(at: Timestamp, zone: &TimeZone) -> Date {
    at.to_jiff().to_zoned(zone.clone()).date()
}
