//! Seconds in view and seconds of speech: sums over spans in time order, so that the last bit hangs on nothing but the
//! spans. What comes later can be added to a sum; what came out of order, but lately, is put in its place first.

use crate::time::{Span, Timestamp};

use crate::memory::versions::links::Stretch;

/// Spans that are held back at least, and at most twice as many: these may still be preceded by others.
const HELD_BACK: usize = 16;

/// A sum over spans that come in time order.
pub(in crate::memory) trait Sum: Clone + Default {
    /// Adds the next one.
    fn add(&mut self, next: &Stretch);
    /// Seconds so far.
    fn secs(&self) -> f64;
}

/// Seconds that at least one of the spans covers.
#[derive(Clone, Debug, Default)]
pub(in crate::memory) struct Covered {
    total: f64,
    run: Option<Span>,
}

impl Sum for Covered {
    fn add(&mut self, next: &Stretch) {
        let span = next.span();
        match &mut self.run {
            Some(open) if span.start <= open.end => open.end = open.end.max(span.end),
            run => self.total += run.replace(span).map_or(0.0, Span::secs),
        }
    }

    fn secs(&self) -> f64 {
        self.total + self.run.map_or(0.0, Span::secs)
    }
}

/// Seconds of speech of one person's turns; what was heard twice at one time counts once.
#[derive(Clone, Debug, Default)]
pub(in crate::memory) struct SpokenOnce {
    total: f64,
    covered: Option<Timestamp>,
}

impl Sum for SpokenOnce {
    fn add(&mut self, next: &Stretch) {
        let (span, secs) = (next.span(), next.speech_secs);
        let from =
            self.covered.map_or(span.start, |end| end.clamp(span.start, span.end.max(span.start)));
        let length = span.secs();
        self.total += if from > span.start && length > 0.0 {
            secs * (span.end.secs_since(from).max(0.0) / length)
        } else {
            secs
        };
        self.covered = Some(self.covered.map_or(span.end, |end| end.max(span.end)));
    }

    fn secs(&self) -> f64 {
        self.total
    }
}

/// A sum that goes on as spans come.
#[derive(Clone, Debug, Default)]
pub(in crate::memory) struct Running<S> {
    sum: S,
    /// The last that is in the sum.
    last: Option<Stretch>,
    /// The newest, in time order; not in the sum yet.
    held: Vec<Stretch>,
}

impl<S: Sum> Running<S> {
    /// Takes spans in, in whatever order; `None` where one of them belongs before what is summed up already.
    pub(in crate::memory) fn take_in(&mut self, mut fresh: Vec<Stretch>) -> Option<()> {
        if fresh.is_empty() {
            return Some(());
        }
        fresh.append(&mut self.held);
        fresh.sort_unstable_by(Stretch::cmp);
        if self.last.zip(fresh.first()).is_some_and(|(last, first)| first.cmp(&last).is_lt()) {
            return None;
        }
        if fresh.len() > 2 * HELD_BACK {
            let rest = fresh.split_off(fresh.len() - HELD_BACK);
            fresh.iter().for_each(|span| self.sum.add(span));
            self.last = fresh.last().copied();
            fresh = rest;
        }
        self.held = fresh;
        Some(())
    }

    /// Seconds of all that was taken in.
    pub(in crate::memory) fn secs(&self) -> f64 {
        let mut sum = self.sum.clone();
        self.held.iter().for_each(|span| sum.add(span));
        sum.secs()
    }
}

/// Seconds of speech of one person's turns, each with how much of it is speech. What was heard twice at one time (by two
/// microphones, or out of the same recording in another container) counts once. Summed in time order, so that the last bit
/// does not hang on the order of commits.
#[must_use]
pub fn spoken_once_secs(turns: &[(Span, f64)]) -> f64 {
    let mut turns: Vec<Stretch> =
        turns.iter().map(|(span, secs)| Stretch::new(*span, *secs)).collect();
    turns.sort_unstable_by(Stretch::cmp);
    let mut sum = SpokenOnce::default();
    turns.iter().for_each(|turn| sum.add(turn));
    sum.secs()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sum<S: Sum>(spans: &[Stretch]) -> f64 {
        let mut spans = spans.to_vec();
        spans.sort_unstable_by(Stretch::cmp);
        let mut sum = S::default();
        spans.iter().for_each(|span| sum.add(span));
        sum.secs()
    }

    fn stretch(start: i64, length: i64, secs: u8) -> Stretch {
        let at = Timestamp::from_nanos;
        let span = Span::new(at(start * 333_333_333), at((start + length) * 333_333_333));
        Stretch::new(span, f64::from(secs) * 0.1)
    }

    proptest! {
        /// To the last bit, or it is said that they do not fit.
        #[test]
        fn a_running_sum_is_the_sum_of_all(
            batches in proptest::collection::vec(
                proptest::collection::vec((-9_i64..9, 0_i64..7, any::<u8>()), 0..9), 1..40),
        ) {
            let (mut seen, mut spoken) = (Running::<Covered>::default(), Running::<SpokenOnce>::default());
            let mut all = Vec::new();
            for (number, batch) in batches.iter().enumerate() {
                let now = number as i64 * 4;
                let batch: Vec<_> = batch.iter().map(|(at, length, secs)| stretch(now + at, *length, *secs)).collect();
                all.extend_from_slice(&batch);
                let fits = seen.take_in(batch.clone()).is_some();
                prop_assert_eq!(fits, spoken.take_in(batch).is_some());
                if !fits {
                    return Ok(());
                }
                prop_assert_eq!(seen.secs().to_bits(), sum::<Covered>(&all).to_bits());
                prop_assert_eq!(spoken.secs().to_bits(), sum::<SpokenOnce>(&all).to_bits());
            }
        }
    }

    #[test]
    fn what_belongs_before_what_is_summed_up_does_not_fit() {
        let mut seen = Running::<Covered>::default();
        assert!(seen.take_in((0..40).map(|at| stretch(10 * at, 3, 0)).collect()).is_some());
        assert!(seen.take_in(vec![stretch(350, 3, 0)]).is_some(), "lately");
        assert!(seen.take_in(vec![stretch(100, 3, 0)]).is_none());
    }
}
