//! What a camera may spend on looks that are not promised: a bucket that fills with event time and is emptied by what looks
//! cost, as a table has it. No clock and no load comes into it, so that a replay looks where it looked before.

use serde::{Deserialize, Serialize};

use crate::time::Timestamp;

/// So much as this many seconds bring may be saved up.
const SAVED_SECS: i64 = 2;
const MICROS: i64 = 1_000_000;

/// Part of a camera's checkpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Budget {
    /// Microseconds of one core; below 0 where a look cost more than there was.
    left_us: i64,
    /// Up to when it was filled; `None`: it is as full as it can be.
    filled: Option<Timestamp>,
}

impl Budget {
    /// The next picture, with what was spent on it. `share`: thousandths of a core that the camera may spend.
    pub(super) fn step(&mut self, at: Timestamp, share: u32, spent_us: u64) {
        let share = i64::from(share);
        let most = SAVED_SECS * MICROS / 1000 * share;
        let earned = match self.filled {
            Some(filled) => {
                let nanos = at.as_nanos().saturating_sub(filled.as_nanos()).max(0);
                // (Longer than it takes to be full brings no more.)
                (nanos / 1000).min(1000 * SAVED_SECS * MICROS) * share / 1000
            }
            None => most,
        };
        self.filled = self.filled.max(Some(at));
        self.left_us = self.left_us.saturating_add(earned).min(most);
        self.spend(spent_us);
    }

    /// Something was spent on a picture that was lost.
    pub(super) fn spend(&mut self, spent_us: u64) {
        self.left_us = self.left_us.saturating_sub_unsigned(spent_us);
    }

    /// Whether there is anything left.
    pub(super) fn allows(&self) -> bool {
        self.left_us > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of 200 pictures, five a second, how many are looked at for so much by a camera with that share.
    fn looks(share: u32, cost_us: u64) -> usize {
        let mut budget = Budget::default();
        let mut looks = 0;
        for number in 0..200 {
            let at = Timestamp::from_nanos(number * 200_000_000);
            let look = number > 0 && budget.allows();
            looks += usize::from(look);
            budget.step(at, share, if look { cost_us } else { 0 });
        }
        looks
    }

    #[test]
    fn what_is_spent_over_time_is_the_share() {
        // Forty seconds, and two that are saved up at the beginning.
        assert_eq!(looks(1000, 50_000), 199, "there is enough for all");
        for (share, cost_us) in [(100, 50_000), (30, 100_000), (300, 700_000)] {
            let most = 42.0 * f64::from(share) * 1000.0 / cost_us as f64;
            let found = looks(share, cost_us) as f64;
            assert!((found - most).abs() <= 2.0, "{share}, {cost_us}: {found} of {most}");
        }
        assert_eq!(looks(0, 1), 0);
    }

    #[test]
    fn a_clock_that_goes_back_earns_nothing_twice() {
        let at = |secs: i64| Timestamp::from_nanos(secs * 1_000_000_000);
        let mut budget = Budget::default();
        budget.step(at(10), 100, 500_000);
        for secs in [5, 7, 9, 10] {
            budget.step(at(secs), 100, 0);
            assert!(!budget.allows(), "{secs}");
        }
        budget.step(at(14), 100, 0);
        assert!(budget.allows());
    }
}
