//! Containment: work that ends in a panic is told of and begun anew after a pause, up to five times within a minute; then it
//! stays down.

use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

/// So many panics …
pub(crate) const MOST: usize = 5;
/// … within so long are all that is put up with.
const WITHIN: Duration = Duration::from_secs(60);
/// The pause after the first of them; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(100);

/// How often a stage may still end in a panic.
#[derive(Debug, Default)]
struct Budget {
    panics: VecDeque<Instant>,
}

impl Budget {
    /// A panic at `now`: how long to wait before the stage is begun anew; `None`: it has had its chances.
    fn spend(&mut self, now: Instant) -> Option<Duration> {
        while self.panics.front().is_some_and(|at| now.duration_since(*at) > WITHIN) {
            self.panics.pop_front();
        }
        if self.panics.len() >= MOST {
            return None;
        }
        let pause = FIRST_PAUSE * (1 << self.panics.len());
        self.panics.push_back(now);
        Some(pause)
    }
}

/// A stage that ended in too many panics; the words of the last.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it ended in a panic more than {MOST} times within a minute ({0}); please report it")]
pub(crate) struct GaveUp(pub(crate) String);

/// Does it; a panic comes back as its words.
pub(crate) fn contained<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|payload| words(payload.as_ref()))
}

fn words(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no words".into())
}

/// A stage's attempts, each contained.
#[derive(Debug)]
pub(crate) struct Attempts {
    stage: String,
    budget: Budget,
}

impl Attempts {
    pub(crate) fn new(stage: &str) -> Self {
        Self { stage: stage.to_owned(), budget: Budget::default() }
    }

    /// It ended in a panic: how long to wait before it is begun anew.
    ///
    /// # Errors
    /// When that happened too often.
    fn ended(&mut self, why: String) -> Result<Duration, GaveUp> {
        let stage = &self.stage;
        let Some(pause) = self.budget.spend(Instant::now()) else {
            tracing::error!(stage, %why, "A stage ended in a panic once more and stays down; please report it.");
            return Err(GaveUp(why));
        };
        let secs = pause.as_secs_f64();
        tracing::error!(stage, %why, secs, "A stage ended in a panic and is begun anew; please report it.");
        Ok(pause)
    }

    /// A piece of work. `None`: it ended in a panic, which is told and waited out; the stage is to be begun anew.
    ///
    /// # Errors
    /// When that happened too often.
    pub(crate) fn attempt<T>(&mut self, run: impl FnOnce() -> T) -> Result<Option<T>, GaveUp> {
        match contained(run) {
            Ok(done) => Ok(Some(done)),
            Err(why) => {
                thread::sleep(self.ended(why)?);
                Ok(None)
            }
        }
    }
}

/// Runs a task until it ends by itself, beginning it anew after a panic.
///
/// # Errors
/// When it ended in a panic too often.
pub(crate) async fn keep_up_task<Task: Future<Output = ()>>(
    stage: &str,
    mut begin: impl FnMut() -> Task,
) -> Result<(), GaveUp> {
    let mut attempts = Attempts::new(stage);
    loop {
        match contained_task(begin()).await {
            Ok(()) => return Ok(()),
            Err(why) => tokio::time::sleep(attempts.ended(why)?).await,
        }
    }
}

/// As [`contained`], for a future.
pub(crate) async fn contained_task<T>(task: impl Future<Output = T>) -> Result<T, String> {
    let mut task = pin!(task);
    // What ended in a panic is not polled again.
    std::future::poll_fn(|context| match contained(|| task.as_mut().poll(context)) {
        Ok(polled) => polled.map(Ok),
        Err(why) => Poll::Ready(Err(why)),
    })
    .await
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn the_sixth_panic_within_a_minute_is_one_too_many() {
        let mut budget = Budget::default();
        let begun = Instant::now();
        let at = |secs| begun + Duration::from_secs(secs);
        let pauses: Vec<u64> = (0..5)
            .map(|n| budget.spend(at(n)).map_or(0, |pause| pause.as_millis() as u64))
            .collect();
        assert_eq!(pauses, [100, 200, 400, 800, 1600]);
        assert_eq!(budget.spend(at(6)), None);
        // A minute after the first it may try once more.
        assert_eq!(budget.spend(at(61)), Some(Duration::from_millis(1600)));
    }

    #[tokio::test]
    async fn a_task_is_begun_anew_until_it_ends_well_or_too_often() {
        let tries = Cell::new(0);
        let moody = || async {
            tries.set(tries.get() + 1);
            tokio::task::yield_now().await;
            assert!(tries.get() > 2, "the first two times");
        };
        assert_eq!(keep_up_task("moody", moody).await, Ok(()));
        assert_eq!(tries.replace(0), 3);
        let brittle = || async {
            tries.set(tries.get() + 1);
            assert!(tries.get() == 0, "as always");
        };
        let over = keep_up_task("brittle", brittle).await.unwrap_err();
        assert!(over.to_string().contains("as always"), "{over}");
        assert_eq!(tries.get(), MOST + 1);
    }
}
