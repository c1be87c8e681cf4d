//! Leaves a server alone that fails, a little longer each time.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Faults in a row from which the server is left alone.
const FAULTS: u32 = 2;
/// The first rest; each further one is twice as long …
const FIRST_REST: Duration = Duration::from_secs(1);
/// … up to this.
const LONGEST_REST: Duration = Duration::from_secs(60);

#[derive(Debug, Default)]
struct State {
    faults: u32,
    until: Option<Instant>,
    last: String,
}

/// A circuit breaker (Nygard, Release It!): closed, open for a rest, then one try decides.
#[derive(Debug, Default)]
pub(crate) struct Breaker(Mutex<State>);

impl Breaker {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether to ask now; else for how long not, and what the last fault was. The first to ask after a rest
    /// is the try: others rest on meanwhile.
    pub(crate) fn admit(&self, now: Instant) -> Result<(), (Duration, String)> {
        let mut state = self.lock();
        match state.until {
            Some(until) if now < until => Err((until - now, state.last.clone())),
            Some(_) => {
                state.until = Some(now + rest(state.faults));
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// It went well.
    pub(crate) fn well(&self) {
        *self.lock() = State::default();
    }

    /// The server is ill; `wait`: when it wants to be asked again.
    pub(crate) fn ill(&self, now: Instant, fault: &str, wait: Option<Duration>) {
        let mut state = self.lock();
        state.faults = state.faults.saturating_add(1);
        fault.clone_into(&mut state.last);
        let pause = wait.map(|wait| wait.min(LONGEST_REST));
        if state.faults >= FAULTS || pause.is_some() {
            let faults = state.faults;
            state.until = Some(now + pause.unwrap_or_default().max(rest(faults)));
        }
    }
}

fn rest(faults: u32) -> Duration {
    let doublings = faults.saturating_sub(FAULTS).min(10);
    (FIRST_REST * 2_u32.pow(doublings)).min(LONGEST_REST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_faults_open_it_and_one_good_reply_closes_it() {
        let breaker = Breaker::default();
        let mut now = Instant::now();
        breaker.ill(now, "500", None);
        assert!(breaker.admit(now).is_ok());
        breaker.ill(now, "503", None);
        let (secs, last) = breaker.admit(now).err().unwrap_or_default();
        assert_eq!((secs, last.as_str()), (FIRST_REST, "503"));
        now += FIRST_REST;
        assert!(breaker.admit(now).is_ok());
        // One try at a time.
        assert!(breaker.admit(now).is_err());
        breaker.ill(now, "503", None);
        assert!(breaker.admit(now + FIRST_REST).is_err());
        breaker.well();
        assert!(breaker.admit(now).is_ok());
    }

    #[test]
    fn a_server_that_names_a_time_is_left_alone_until_then() {
        let breaker = Breaker::default();
        let now = Instant::now();
        breaker.ill(now, "429", Some(Duration::from_secs(7)));
        assert!(breaker.admit(now + Duration::from_secs(6)).is_err());
        assert!(breaker.admit(now + Duration::from_secs(8)).is_ok());
        assert_eq!(rest(1_000_000), LONGEST_REST);
    }
}
