//! What is wrong between this daemon and its broker, in sentences for `status.degraded`.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A broker that is away for less is not worth a word.
const AWAY_TOLD_AFTER: Duration = Duration::from_secs(2);
/// How long another daemon of the same name is told of after the last sign of it.
const RIVAL_TOLD: Duration = Duration::from_secs(300);

#[derive(Debug, Default)]
struct State {
    /// Since when there is no connection, and why.
    away: Option<(Instant, String)>,
    /// When another daemon was last seen to use this robot's name.
    rival: Option<Instant>,
    /// Tasks that do not run, and why.
    down: BTreeMap<String, String>,
}

/// Written by the session and the embedded broker, read by whoever looks after the daemon. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(super) struct Trouble(Arc<Mutex<State>>);

impl Trouble {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// There is no connection with the broker.
    pub(super) fn away(&self, why: String) {
        let mut state = self.lock();
        let since = state.away.as_ref().map_or_else(Instant::now, |(since, _)| *since);
        state.away = Some((since, why));
    }

    /// There is one.
    pub(super) fn back(&self) {
        self.lock().away = None;
    }

    /// Another daemon uses this robot's name; whether that was not known.
    pub(super) fn rival(&self) -> bool {
        let before = self.lock().rival.replace(Instant::now());
        before.is_none_or(|at| at.elapsed() >= RIVAL_TOLD)
    }

    /// That task does not run.
    pub(super) fn down(&self, task: &str, why: impl Display) {
        self.lock().down.insert(task.to_owned(), why.to_string());
    }

    /// It runs again.
    pub(super) fn up(&self, task: &str) {
        self.lock().down.remove(task);
    }

    /// Whether the broker has been away for more than a moment.
    pub(super) fn is_away(&self) -> bool {
        self.lock().away.as_ref().is_some_and(is_told)
    }

    /// What is wrong now.
    pub(super) fn sentences(&self) -> Vec<String> {
        let state = self.lock();
        let away = state.away.as_ref().filter(|away| is_told(away)).map(|(_, why)| {
            format!("the broker is away ({why}); answers and events wait until it is back")
        });
        let rival = state.rival.filter(|at| at.elapsed() < RIVAL_TOLD).map(|_| {
            "another daemon on the broker says to be this robot, and each throws the other out: give each robot a \
             `robot.id` of its own"
                .to_owned()
        });
        let down = state.down.iter().map(|(task, why)| format!("{task}: {why}"));
        away.into_iter().chain(rival).chain(down).collect()
    }
}

fn is_told((since, _): &(Instant, String)) -> bool {
    since.elapsed() >= AWAY_TOLD_AFTER
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_told_until_it_is_well_again() {
        let trouble = Trouble::default();
        trouble.away("connection refused".to_owned());
        assert!(trouble.sentences().is_empty() && !trouble.is_away(), "a moment is no trouble");
        trouble.lock().away = Instant::now()
            .checked_sub(AWAY_TOLD_AFTER)
            .map(|since| (since, "connection refused".to_owned()));
        trouble.away("timed out".to_owned());
        assert!(trouble.is_away() && trouble.sentences()[0].contains("away (timed out)"));
        assert!(trouble.rival() && !trouble.rival(), "told once");
        trouble.down("mqtt-v4", "the port is taken");
        let told = trouble.sentences();
        assert_eq!(told.len(), 3);
        assert!(told[1].contains("robot.id") && told[2] == "mqtt-v4: the port is taken");
        trouble.back();
        trouble.up("mqtt-v4");
        trouble.lock().rival = Instant::now().checked_sub(RIVAL_TOLD);
        assert!(trouble.sentences().is_empty());
        assert!(trouble.rival(), "news again");
    }
}
