//! How often may be asked: in all, and by one asker, so that a flood of one takes nothing from the others.

use std::collections::BTreeMap;
use std::time::Instant;

/// Askers that are watched at the same time.
const MAX_ASKERS: usize = 4096;
/// Whoever asks for less than this share of everybody's requests is let in though all together ask for too much.
const FAIR_SHARE: f64 = 0.1;

/// Tokens left, and when that was.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    tokens: f64,
    at: Instant,
}

impl Bucket {
    fn full(rate: Rate, now: Instant) -> Self {
        Self { tokens: rate.burst(), at: now }
    }

    fn level(&self, rate: Rate, now: Instant) -> f64 {
        let passed = now.saturating_duration_since(self.at).as_secs_f64();
        (self.tokens + passed * rate.0).min(rate.burst())
    }

    fn fill(&mut self, rate: Rate, now: Instant) {
        (self.tokens, self.at) = (self.level(rate, now), now);
    }
}

/// Requests per second, twice as many in a burst; zero: no limit.
#[derive(Clone, Copy, Debug)]
struct Rate(f64);

impl Rate {
    fn is_limit(self) -> bool {
        self.0 > 0.0
    }

    fn burst(self) -> f64 {
        (2.0 * self.0).max(1.0)
    }
}

/// What one asker may still ask for.
#[derive(Debug)]
struct Asker {
    /// By its own limit.
    own: Bucket,
    /// While everybody's is used up.
    fair: Bucket,
}

/// Why a request is not within the limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Excess {
    /// Of this asker.
    Own,
    /// Of all together.
    All,
}

/// Token buckets, of each asker and of all together. Who asks is known by where the reply goes.
#[derive(Debug)]
pub(super) struct Rates {
    own: Rate,
    all: Rate,
    together: Option<Bucket>,
    askers: BTreeMap<String, Asker>,
}

impl Rates {
    /// So many requests per second of one asker, and of all together.
    pub(super) fn new(own: f64, all: f64) -> Self {
        Self { own: Rate(own), all: Rate(all), together: None, askers: BTreeMap::new() }
    }

    /// Lets one more request of that asker in, or says which limit it is beyond.
    pub(super) fn admit(&mut self, asker: &str, now: Instant) -> Result<(), Excess> {
        let (own, all, fair) = (self.own, self.all, Rate(self.all.0 * FAIR_SHARE));
        if !own.is_limit() && !all.is_limit() {
            return Ok(());
        }
        if !self.askers.contains_key(asker) {
            self.make_room(now);
            let fresh = Asker { own: Bucket::full(own, now), fair: Bucket::full(fair, now) };
            self.askers.insert(asker.to_owned(), fresh);
        }
        let Some(asker) = self.askers.get_mut(asker) else { return Ok(()) };
        asker.own.fill(own, now);
        if own.is_limit() && asker.own.tokens < 1.0 {
            return Err(Excess::Own);
        }
        if all.is_limit() {
            let together = self.together.get_or_insert_with(|| Bucket::full(all, now));
            together.fill(all, now);
            asker.fair.fill(fair, now);
            let quiet = asker.fair.tokens >= 1.0;
            // Of shares, too, no more than a second's: their number has no limit.
            if together.tokens < 1.0 && !(quiet && together.tokens > -all.0) {
                return Err(Excess::All);
            }
            together.tokens -= 1.0;
            asker.fair.tokens = (asker.fair.tokens - 1.0).max(0.0);
        }
        if own.is_limit() {
            asker.own.tokens -= 1.0;
        }
        Ok(())
    }

    /// Forgets askers whose buckets are full again: they are as good as new. Where none is, the fullest goes.
    fn make_room(&mut self, now: Instant) {
        if self.askers.len() < MAX_ASKERS {
            return;
        }
        let (own, fair) = (self.own, Rate(self.all.0 * FAIR_SHARE));
        // What is missing, as a share of what there can be.
        let missing = |asker: &Asker| {
            let of = |bucket: &Bucket, rate: Rate| 1.0 - bucket.level(rate, now) / rate.burst();
            of(&asker.own, own).max(of(&asker.fair, fair))
        };
        self.askers.retain(|_, asker| missing(asker) > 0.0);
        if self.askers.len() >= MAX_ASKERS {
            let fullest =
                self.askers.iter().min_by(|(_, a), (_, b)| missing(a).total_cmp(&missing(b)));
            if let Some(asker) = fullest.map(|(asker, _)| asker.clone()) {
                self.askers.remove(&asker);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn admitted(rates: &mut Rates, asker: &str, of: usize, now: Instant) -> usize {
        (0..of).filter(|_| rates.admit(asker, now).is_ok()).count()
    }

    #[test]
    fn a_flood_of_one_asker_is_held_back_and_the_others_are_not() {
        let mut rates = Rates::new(10.0, 0.0);
        let now = Instant::now();
        assert_eq!(admitted(&mut rates, "a", 100, now), 20);
        assert_eq!(rates.admit("a", now), Err(Excess::Own));
        assert_eq!(rates.admit("b", now), Ok(()));
        let later = now + Duration::from_secs(1);
        assert_eq!(admitted(&mut rates, "a", 100, later), 10);
        let mut unlimited = Rates::new(0.0, 0.0);
        assert_eq!(admitted(&mut unlimited, "a", 1000, now), 1000);
    }

    #[test]
    fn a_flood_beyond_what_all_may_ask_leaves_the_quiet_their_share() {
        let mut rates = Rates::new(0.0, 100.0);
        let now = Instant::now();
        assert!(admitted(&mut rates, "flood", 1000, now) >= 200);
        assert_eq!(rates.admit("flood", now), Err(Excess::All));
        assert_eq!(admitted(&mut rates, "quiet", 5, now), 5);
        // As many askers as there are ids to make up: all together get no more than a second's worth.
        let made_up: usize =
            (0..1000).map(|id| admitted(&mut rates, &id.to_string(), 1, now)).sum();
        assert!(made_up <= 100, "{made_up}");
        // Soon the flood has its requests again, and no more.
        let later = now + Duration::from_secs(3);
        let again = admitted(&mut rates, "flood", 1000, later);
        assert!((150..=250).contains(&again), "{again}");
    }

    #[test]
    fn the_askers_that_are_watched_are_bounded_and_a_flood_stays_watched() {
        let mut rates = Rates::new(1.0, 0.0);
        let now = Instant::now();
        while rates.admit("flood", now).is_ok() {}
        for number in 0..2 * MAX_ASKERS {
            let _ = rates.admit(&number.to_string(), now);
        }
        assert!(rates.askers.len() <= MAX_ASKERS);
        assert_eq!(rates.admit("flood", now), Err(Excess::Own));
    }
}
