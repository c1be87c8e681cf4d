//! Messages whose time is wild: a broken clock or a flipped bit must not make a recording of centuries.
//!
//! Readers hand messages out in log-time order, so wild ones come first or last, behind a gap that no
//! recording has.

use std::collections::VecDeque;

use super::{BagReader, Found, Message};
use crate::capture::damage::Cause;

/// Seconds without any message after which what follows is of another time: a week.
const MAX_GAP_SECS: f64 = 7.0 * 86_400.0;
/// So many messages before such a gap are wild themselves.
const FEW: usize = 16;

/// Leaves out messages of another time and counts them.
pub(super) struct Plausible {
    inner: Box<dyn BagReader>,
    /// The first messages, until they are known to be of the recording's time.
    begin: VecDeque<Found>,
    /// Messages among them.
    messages: usize,
    settled: bool,
    last: Option<crate::time::Timestamp>,
}

impl Plausible {
    pub(super) fn of(inner: Box<dyn BagReader>) -> Self {
        Self { inner, begin: VecDeque::new(), messages: 0, settled: false, last: None }
    }

    fn is_gap(&self, message: &Message) -> bool {
        self.last.is_some_and(|last| message.log_time.secs_since(last) > MAX_GAP_SECS)
    }

    fn wild(message: &Message) -> Found {
        let Message { connection, log_time, .. } = message;
        let place = format!("{} at {log_time}: a week or more from the rest", connection.topic);
        Found::Damaged(Cause::BadMessage, place)
    }

    /// Reads the first messages; those before a gap are wild.
    fn settle(&mut self) {
        while self.messages < FEW {
            let Some(found) = self.inner.next() else { break };
            if let Found::Message(message) = &found {
                if self.is_gap(message) {
                    for early in &mut self.begin {
                        if let Found::Message(message) = early {
                            *early = Self::wild(message);
                        }
                    }
                    self.messages = 0;
                }
                self.last = Some(message.log_time);
                self.messages += 1;
            }
            self.begin.push_back(found);
        }
        self.settled = true;
    }
}

impl BagReader for Plausible {
    fn next(&mut self) -> Option<Found> {
        if !self.settled {
            self.settle();
        }
        if let Some(found) = self.begin.pop_front() {
            return Some(found);
        }
        let found = self.inner.next()?;
        if let Found::Message(message) = &found {
            if self.is_gap(message) {
                return Some(Self::wild(message));
            }
            self.last = Some(message.log_time);
        }
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::capture::bag::Connection;
    use crate::time::Timestamp;

    struct Times(VecDeque<i64>);

    impl BagReader for Times {
        fn next(&mut self) -> Option<Found> {
            let (connection, _) = Connection::new("t", "std_msgs/msg/String", "cdr", None);
            let log_time = Timestamp::from_nanos(self.0.pop_front()?.saturating_mul(1_000_000_000));
            let connection = Arc::new(connection);
            Some(Found::Message(Message { connection, log_time, data: Vec::new() }))
        }
    }

    fn kept(times: impl IntoIterator<Item = i64>) -> (usize, usize) {
        let mut reader = Plausible::of(Box::new(Times(times.into_iter().collect())));
        let (mut kept, mut wild) = (0, 0);
        while let Some(found) = reader.next() {
            match found {
                Found::Message(_) => kept += 1,
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
        assert_eq!(kept([]), (0, 0));
    }
}
