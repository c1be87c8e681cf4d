//! What a replay plays, and how fast: rate, pause, single steps, the next recording; told from outside while it runs.

use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::time::{Span, Timestamp};

/// What a running replay is asked to do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Command {
    /// Stand still before the next item.
    Pause,
    /// Go on.
    Resume,
    /// Play so many times faster than the recording; `None` = as fast as the machine can.
    Rate(Option<f64>),
    /// While paused: let so many frames through, and what lies between them (blocks where there are no
    /// cameras).
    Step(u64),
    /// Let everything before this time through without waiting: a replay leaves nothing out.
    Seek(Timestamp),
    /// End the replay in good order: clips that are whole are kept, the open one is left to the next replay.
    Stop,
}

/// What is being played.
#[derive(Clone, Debug, PartialEq)]
pub struct Playing {
    /// Its file, or folder.
    pub name: String,
    /// From when to when, where its container tells how long it is.
    pub span: Option<Span>,
}

/// What is to be played next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Which recording.
    pub path: PathBuf,
    /// It is remembered once more, as a new session, if it is remembered already.
    pub again: bool,
}

#[derive(Debug)]
struct State {
    playing: Option<Playing>,
    choice: Option<Choice>,
    rate: Option<f64>,
    paused: bool,
    steps: u64,
    hurry_until: Timestamp,
    stopped: bool,
    /// Wall clock and event time that belong together since the last change of rate.
    anchor: Option<(Instant, Timestamp)>,
    position: Timestamp,
    /// How late the newest item was let through, seconds.
    behind_secs: f64,
}

/// Shared between the replay and whoever steers it.
#[derive(Clone, Debug)]
pub struct PlaybackClock {
    shared: Arc<(Mutex<State>, Condvar)>,
}

impl PlaybackClock {
    /// Plays at `rate` times real time; `None` = as fast as the machine can.
    #[must_use]
    pub fn new(rate: Option<f64>, paused: bool) -> Self {
        let state = State {
            playing: None,
            choice: None,
            rate,
            paused,
            steps: 0,
            hurry_until: Timestamp::EPOCH,
            stopped: false,
            anchor: None,
            position: Timestamp::EPOCH,
            behind_secs: 0.0,
        };
        Self { shared: Arc::new((Mutex::new(state), Condvar::new())) }
    }

    /// Carries out a command.
    pub fn command(&self, command: Command) {
        let (lock, changed) = &*self.shared;
        let mut state = lock.lock().unwrap_or_else(PoisonError::into_inner);
        match command {
            Command::Pause => state.paused = true,
            Command::Resume => (state.paused, state.steps) = (false, 0),
            Command::Rate(rate) => state.rate = rate,
            Command::Step(frames) => state.steps = state.steps.saturating_add(frames),
            Command::Seek(to) => state.hurry_until = to,
            Command::Stop => state.stopped = true,
        }
        state.anchor = None;
        changed.notify_all();
    }

    /// Its rate (`None`: as fast as the machine can) and whether it stands still.
    #[must_use]
    pub fn state(&self) -> (Option<f64>, bool) {
        let state = self.shared.0.lock().unwrap_or_else(PoisonError::into_inner);
        (state.rate, state.paused)
    }

    /// Whether [`Command::Stop`] was given.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.shared.0.lock().unwrap_or_else(PoisonError::into_inner).stopped
    }

    /// Waits until [`Command::Stop`] is given, or `most` has passed.
    pub fn wait_for_stop(&self, most: Duration) {
        let (lock, changed) = &*self.shared;
        let state = lock.lock().unwrap_or_else(PoisonError::into_inner);
        drop(changed.wait_timeout_while(state, most, |state| !state.stopped));
    }

    /// Event time up to which the recording was let through: the clock of a replay.
    #[must_use]
    pub fn position(&self) -> Timestamp {
        self.shared.0.lock().unwrap_or_else(PoisonError::into_inner).position
    }

    /// How far the replay is behind its own rate, seconds; 0 at rate `max`.
    #[must_use]
    pub fn behind_secs(&self) -> f64 {
        self.shared.0.lock().unwrap_or_else(PoisonError::into_inner).behind_secs
    }

    /// Before a recording: its clock may begin earlier than the last one ended.
    pub fn begin(&self, playing: Playing) {
        let mut state = self.shared.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.playing = Some(playing);
        state.position = Timestamp::EPOCH;
        state.hurry_until = Timestamp::EPOCH;
        state.anchor = None;
        state.behind_secs = 0.0;
    }

    /// Nothing is played any more.
    pub fn over(&self) {
        self.shared.0.lock().unwrap_or_else(PoisonError::into_inner).playing = None;
    }

    /// What is played now.
    #[must_use]
    pub fn playing(&self) -> Option<Playing> {
        self.shared.0.lock().unwrap_or_else(PoisonError::into_inner).playing.clone()
    }

    /// Chooses what is played next; false where something is played, or chosen, already.
    #[must_use]
    pub fn choose(&self, choice: Choice) -> bool {
        let (lock, changed) = &*self.shared;
        let mut state = lock.lock().unwrap_or_else(PoisonError::into_inner);
        if state.playing.is_some() || state.choice.is_some() {
            return false;
        }
        state.choice = Some(choice);
        changed.notify_all();
        true
    }

    /// Waits until something is chosen, or `most` has passed. What stopped or paused the recording before counts no longer
    /// then.
    #[must_use]
    pub fn chosen(&self, most: Duration) -> Option<Choice> {
        let (lock, changed) = &*self.shared;
        let state = lock.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = changed.wait_timeout_while(state, most, |state| state.choice.is_none());
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let choice = state.choice.take()?;
        (state.stopped, state.paused, state.steps) = (false, false, 0);
        Some(choice)
    }

    /// Waits until an item captured at `at` is due; false when the replay was stopped. `counts`: it is what
    /// [`Command::Step`] counts.
    #[must_use]
    pub fn wait(&self, at: Timestamp, counts: bool) -> bool {
        let (lock, changed) = &*self.shared;
        let mut state = lock.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if state.stopped {
                return false;
            }
            if state.paused {
                if at < state.hurry_until {
                    break;
                }
                if state.steps > 0 {
                    state.steps -= u64::from(counts);
                    break;
                }
                state = changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let Some(rate) = state.rate.filter(|_| at >= state.hurry_until) else {
                state.behind_secs = 0.0;
                break;
            };
            let (wall, event) = *state.anchor.get_or_insert_with(|| (Instant::now(), at));
            let Some(due) = after(wall, at.secs_since(event) / rate) else {
                // Never, at this rate: another one, or a stop, may be told.
                state = changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let now = Instant::now();
            if due <= now {
                state.behind_secs = (now - due).as_secs_f64();
                break;
            }
            state =
                changed.wait_timeout(state, due - now).unwrap_or_else(PoisonError::into_inner).0;
        }
        state.position = state.position.max(at);
        true
    }
}

/// So many seconds later; `None`: no clock goes that far.
fn after(wall: Instant, secs: f64) -> Option<Instant> {
    wall.checked_add(Duration::try_from_secs_f64(secs.max(0.0)).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_ends_a_paused_replay() {
        let pace = PlaybackClock::new(Some(1.0), true);
        let other = pace.clone();
        let waiting = std::thread::spawn(move || other.wait(Timestamp::from_nanos(1), true));
        pace.command(Command::Stop);
        assert!(!waiting.join().unwrap_or(true));
    }

    #[test]
    fn what_is_chosen_is_played_whatever_ended_what_came_before() {
        let pace = PlaybackClock::new(Some(2.0), false);
        let choice = |name: &str| Choice { path: PathBuf::from(name), again: false };
        assert_eq!(pace.chosen(Duration::ZERO), None);
        pace.begin(Playing { name: "a.mcap".to_owned(), span: None });
        assert!(!pace.choose(choice("b.mcap")), "one is played");
        pace.command(Command::Pause);
        pace.command(Command::Stop);
        pace.over();
        let other = pace.clone();
        let waiting = std::thread::spawn(move || other.chosen(Duration::from_secs(3600)));
        assert!(pace.choose(choice("b.mcap")));
        assert_eq!(waiting.join().unwrap_or(None), Some(choice("b.mcap")));
        assert_eq!((pace.state(), pace.is_stopped()), ((Some(2.0), false), false));
        assert!(pace.choose(choice("c.mcap")) && !pace.choose(choice("d.mcap")));
    }

    #[test]
    fn stop_ends_a_wait_for_it() {
        let began = Instant::now();
        let pace = PlaybackClock::new(None, false);
        pace.wait_for_stop(Duration::from_millis(10));
        assert!(began.elapsed() >= Duration::from_millis(10) && !pace.is_stopped());
        let other = pace.clone();
        let waiting = std::thread::spawn(move || other.wait_for_stop(Duration::from_secs(3600)));
        pace.command(Command::Pause);
        pace.command(Command::Stop);
        assert!(waiting.join().is_ok() && began.elapsed() < Duration::from_secs(600));
    }

    #[test]
    fn steps_let_frames_and_what_lies_between_them_through_while_paused() {
        let pace = PlaybackClock::new(None, true);
        pace.command(Command::Step(2));
        let at = Timestamp::from_nanos;
        assert!(pace.wait(at(1), true));
        assert!(pace.wait(at(2), false));
        assert!(pace.wait(at(3), false));
        assert!(pace.wait(at(4), true));
        assert_eq!(pace.position(), at(4));
        let other = pace.clone();
        let held = std::thread::spawn(move || other.wait(at(5), false));
        pace.command(Command::Stop);
        assert!(!held.join().unwrap_or(true), "the sound behind the last step waits");
    }

    #[test]
    fn a_rate_of_next_to_nothing_waits_and_can_still_be_steered() {
        let pace = PlaybackClock::new(Some(1e-300), false);
        let at = |secs: i64| Timestamp::from_nanos(secs * 1_000_000_000);
        assert!(pace.wait(at(1), true));
        let other = pace.clone();
        let waiting = std::thread::spawn(move || other.wait(at(3600), true));
        pace.command(Command::Rate(None));
        assert!(waiting.join().unwrap_or(false), "another rate lets it through");
        pace.command(Command::Rate(Some(1e-300)));
        assert!(pace.wait(at(3601), true));
        let other = pace.clone();
        let waiting = std::thread::spawn(move || other.wait(at(9000), true));
        pace.command(Command::Stop);
        assert!(!waiting.join().unwrap_or(true), "a stop ends it");
    }

    #[test]
    fn a_seek_hurries_there_and_stands_still_again() {
        let pace = PlaybackClock::new(Some(1e-6), true);
        let at = Timestamp::from_nanos;
        pace.command(Command::Seek(at(10)));
        assert!(pace.wait(at(1), true) && pace.wait(at(9), true));
        let other = pace.clone();
        let held = std::thread::spawn(move || other.wait(at(10), true));
        pace.command(Command::Stop);
        assert!(!held.join().unwrap_or(true));
        assert_eq!(pace.state(), (Some(1e-6), true));
    }
}
