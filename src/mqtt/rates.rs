//! How often one reply topic may be asked for: a flood of one client takes nothing from the others.

use std::collections::BTreeMap;
use std::time::Instant;

/// Topics that are watched at the same time.
const MAX_TOPICS: usize = 4096;

/// A token bucket per reply topic.
#[derive(Debug)]
pub(super) struct Rates {
    /// Requests per second; zero: no limit.
    per_sec: f64,
    /// Tokens left, and when that was.
    buckets: BTreeMap<String, (f64, Instant)>,
}

impl Rates {
    /// So many requests per second and topic, twice as many in a burst.
    pub(super) fn new(per_sec: f64) -> Self {
        Self { per_sec, buckets: BTreeMap::new() }
    }

    /// Whether one more request with that reply topic is within the limit.
    pub(super) fn admit(&mut self, topic: &str, now: Instant) -> bool {
        if self.per_sec <= 0.0 {
            return true;
        }
        let (per_sec, most) = (self.per_sec, (2.0 * self.per_sec).max(1.0));
        if !self.buckets.contains_key(topic) {
            self.make_room(now, most);
            self.buckets.insert(topic.to_owned(), (most, now));
        }
        let Some((tokens, at)) = self.buckets.get_mut(topic) else { return true };
        let passed = now.saturating_duration_since(*at).as_secs_f64();
        *tokens = (*tokens + passed * per_sec).min(most);
        *at = now;
        if *tokens < 1.0 {
            return false;
        }
        *tokens -= 1.0;
        true
    }

    /// Forgets topics that are full again: they are as good as new. Where none is, the fullest goes.
    fn make_room(&mut self, now: Instant, most: f64) {
        if self.buckets.len() < MAX_TOPICS {
            return;
        }
        let per_sec = self.per_sec;
        let level = |(tokens, at): &(f64, Instant)| {
            tokens + now.saturating_duration_since(*at).as_secs_f64() * per_sec
        };
        self.buckets.retain(|_, bucket| level(bucket) < most);
        if self.buckets.len() >= MAX_TOPICS {
            let fullest =
                self.buckets.iter().max_by(|(_, a), (_, b)| level(a).total_cmp(&level(b)));
            if let Some(topic) = fullest.map(|(topic, _)| topic.clone()) {
                self.buckets.remove(&topic);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_flood_on_one_topic_is_held_back_and_the_others_are_not() {
        let mut rates = Rates::new(10.0);
        let now = Instant::now();
        let admitted = (0..100).filter(|_| rates.admit("a", now)).count();
        assert_eq!(admitted, 20);
        assert!(rates.admit("b", now));
        let later = now + Duration::from_secs(1);
        assert_eq!((0..100).filter(|_| rates.admit("a", later)).count(), 10);
        let mut unlimited = Rates::new(0.0);
        assert!((0..1000).all(|_| unlimited.admit("a", now)));
    }

    #[test]
    fn the_topics_that_are_watched_are_bounded_and_a_flood_stays_watched() {
        let mut rates = Rates::new(1.0);
        let now = Instant::now();
        while rates.admit("flood", now) {}
        for number in 0..2 * MAX_TOPICS {
            rates.admit(&number.to_string(), now);
        }
        assert!(rates.buckets.len() <= MAX_TOPICS);
        assert!(!rates.admit("flood", now));
    }
}
