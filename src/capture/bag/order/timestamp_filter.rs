//! Messages whose time is wild: a broken clock or a flipped bit must not make a recording of centuries.
//!
//! Readers hand messages out in log-time order, so wild ones come first or last, behind a gap that no recording has. Where
//! many lie on either side of it, the clock was set there: robots begin in 1970, or where simulated time begins. Both
//! stretches are kept, and the gap is told.

use std::collections::VecDeque;

use crate::capture::bag::connection::{BagReader, Found, Message};
use crate::capture::damage::Cause;
use crate::time::Timestamp;

/// Seconds without any message after which what follows is of another time: a week.
pub(in crate::capture::bag) const MAX_GAP_SECS: f64 = 7.0 * 86_400.0;
/// Fewer messages between two such gaps are wild.
const FEW: usize = 16;

/// Leaves out messages of another time and counts them.
pub(in crate::capture::bag) struct TimestampFilter {
    inner: Box<dyn BagReader>,
    /// What is behind the last gap, until there is enough of it to be believed.
    doubted: VecDeque<Found>,
    /// Messages among that.
    messages: usize,
    /// To be handed out.
    ready: VecDeque<Found>,
    /// What comes is of a stretch that is believed.
    believed: bool,
    /// Of the last message, and of the last that was believed.
    last: Option<Timestamp>,
    last_believed: Option<Timestamp>,
}

impl TimestampFilter {
    pub(in crate::capture::bag) fn of(inner: Box<dyn BagReader>) -> Self {
        let (doubted, ready) = (VecDeque::new(), VecDeque::new());
        let (last, last_believed) = (None, None);
        Self { inner, doubted, messages: 0, ready, believed: false, last, last_believed }
    }

    fn is_gap(&self, message: &Message) -> bool {
        self.last.is_some_and(|last| message.log_time.secs_since(last) > MAX_GAP_SECS)
    }

    fn wild(message: &Message) -> Found {
        let Message { connection, log_time, .. } = message;
        let place = format!("{} at {log_time}: a week or more from the rest", connection.topic);
        Found::Damaged(Cause::BadMessage, place)
    }

    /// What is doubted is wild.
    fn give_up(&mut self) {
        for found in self.doubted.drain(..) {
            self.ready.push_back(match found {
                Found::Message(message) => Self::wild(&message),
                damaged => damaged,
            });
        }
        self.messages = 0;
    }

    /// What is doubted is a stretch of the recording.
    fn believe(&mut self) {
        let first = self.doubted.iter().find_map(|found| match found {
            Found::Message(message) => Some(message.log_time),
            Found::Damaged(..) => None,
        });
        if let (Some(before), Some(first)) = (self.last_believed, first) {
            let place = format!("the clock goes from {before} to {first} at once");
            self.ready.push_back(Found::Damaged(Cause::ClockSet, place));
        }
        self.ready.append(&mut self.doubted);
        (self.messages, self.believed) = (0, true);
        self.last_believed = self.last;
    }
}

impl BagReader for TimestampFilter {
    fn next(&mut self) -> Option<Found> {
        loop {
            if let Some(found) = self.ready.pop_front() {
                return Some(found);
            }
            let Some(found) = self.inner.next() else {
                // A recording of few messages is one, too.
                if self.last_believed.is_none() {
                    self.believe();
                } else {
                    self.give_up();
                }
                return self.ready.pop_front();
            };
            if let Found::Message(message) = &found {
                if self.is_gap(message) {
                    self.give_up();
                    self.believed = false;
                }
                self.last = Some(message.log_time);
            }
            if self.believed {
                self.last_believed = self.last;
                return Some(found);
            }
            self.messages += usize::from(matches!(found, Found::Message(_)));
            self.doubted.push_back(found);
            if self.messages >= FEW {
                self.believe();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::capture::bag::connection::Connection;

    struct Times(VecDeque<i64>);

    impl BagReader for Times {
        fn next(&mut self) -> Option<Found> {
            let (connection, _) = Connection::new("t", "std_msgs/msg/String", "cdr", None);
            let log_time = Timestamp::from_nanos(self.0.pop_front()?.saturating_mul(1_000_000_000));
            let connection = Arc::new(connection);
            Some(Found::Message(Message { connection, log_time, moved_nanos: 0, data: Vec::new() }))
        }
    }

    fn kept(times: impl IntoIterator<Item = i64>) -> (usize, usize) {
        let mut reader = TimestampFilter::of(Box::new(Times(times.into_iter().collect())));
        let (mut kept, mut wild) = (0, 0);
        while let Some(found) = reader.next() {
            match found {
                Found::Message(_) => kept += 1,
                Found::Damaged(Cause::ClockSet, _) => wild += 1_000,
                Found::Damaged(..) => wild += 1,
            }
        }
        (kept, wild)
    }

    #[test]
    fn wild_times_at_either_end_are_left_out() {
        let day = 86_400;
        assert_eq!(kept(0..100), (100, 0));
        assert_eq!(kept([0, 5].into_iter().chain(900 * day..900 * day + 100)), (100, 2));
        assert_eq!(kept((0..100).chain([90_000 * day, i64::MAX])), (100, 2));
        assert_eq!(kept((0..100).chain(3 * day..3 * day + 50)), (150, 0), "a pause of days");
        assert_eq!(kept([0]), (1, 0));
        // A clock that was set: both stretches, and a word.
        assert_eq!(kept((0..20).chain(900 * day..900 * day + 100)), (120, 1_000));
        assert_eq!(
            kept((0..100).chain(900 * day..900 * day + 20).chain([5_000 * day])),
            (120, 1_001)
        );
        assert_eq!(kept((0..20).chain([100 * day]).chain(200 * day..200 * day + 20)), (40, 1_001));
        assert_eq!(kept([]), (0, 0));
    }
}
