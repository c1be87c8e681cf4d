//! The line that `systemctl status` shows: what goes on, how fast, and that something is wrong.

use std::time::{Duration, Instant};

use super::announce::Announcer;
use super::ingest::Gauges;
use super::metrics::meters::Meters;
use crate::mqtt::Publisher;

/// How often the rates are told.
const RATES_EVERY: Duration = Duration::from_secs(5);

/// Counts at one moment.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    frames: u64,
    blocks: u64,
    clips: u64,
    questions: u64,
}

/// Makes one line after the other.
pub(super) struct StatusLine {
    announcer: Announcer,
    gauges: Gauges,
    meters: Meters,
    publisher: Publisher,
    /// What was told last.
    state: String,
    rates: String,
    before: (Instant, Counts),
}

impl StatusLine {
    /// Counts from now on.
    pub(super) fn new(
        announcer: Announcer,
        gauges: Gauges,
        meters: Meters,
        publisher: Publisher,
    ) -> Self {
        let (state, rates) = (announcer.status_line(), String::new());
        let before = (Instant::now(), Counts::default());
        let mut line = Self { announcer, gauges, meters, publisher, state, rates, before };
        line.before.1 = line.counts();
        line
    }

    /// The line, when there is something new in it: at once what goes on, every few seconds how fast.
    pub(super) fn next(&mut self, now: Instant) -> Option<String> {
        let mut state = self.announcer.status_line();
        if self.publisher.is_away() {
            state.push_str(", broker away");
        }
        let rates = match now.saturating_duration_since(self.before.0) {
            passed if passed >= RATES_EVERY => self.rates(now, passed.as_secs_f64()),
            _ => self.rates.clone(),
        };
        if state == self.state && rates == self.rates {
            return None;
        }
        (self.state, self.rates) = (state, rates);
        Some(format!("{}{}", self.state, self.rates))
    }

    /// Since the last time.
    fn rates(&mut self, now: Instant, secs: f64) -> String {
        let (counts, before) = (self.counts(), self.before.1);
        self.before = (now, counts);
        let rate = |now: u64, before: u64| now.saturating_sub(before) as f64 / secs;
        let mut told = String::new();
        if counts.frames > 0 || counts.blocks > 0 {
            told = format!(
                "; {:.1} frames/s, {:.1} blocks of sound/s, {} clips",
                rate(counts.frames, before.frames),
                rate(counts.blocks, before.blocks),
                counts.clips,
            );
        }
        told + &format!("; {:.1} questions/s", rate(counts.questions, before.questions))
    }

    fn counts(&self) -> Counts {
        let meters = self.meters.counts();
        let metered = |what: &str| meters.get(what).copied().unwrap_or_default();
        let (clips, questions) = (metered("clips"), metered("questions"));
        let mut counts = Counts { clips, questions, ..Counts::default() };
        for gauge in self.gauges.read().sources.values() {
            match gauge.is_camera {
                true => counts.frames += gauge.captured,
                false => counts.blocks += gauge.captured,
            }
        }
        counts
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::ids::SourceId;
    use crate::mqtt::Topics;
    use crate::time::Timestamp;

    #[test]
    fn what_goes_on_is_told_at_once_and_how_fast_every_few_seconds() {
        let (announcer, gauges, meters) =
            (Announcer::default(), Gauges::default(), Meters::default());
        let publisher = Publisher::new(Topics::new("engram", "rob"), "boot");
        let mut line =
            StatusLine::new(announcer.clone(), gauges.clone(), meters.clone(), publisher);
        let begun = line.before.0;
        let at = |secs| begun + Duration::from_secs(secs);
        assert_eq!(line.next(at(1)), None);
        announcer.degraded("disk", vec!["the disk is full".to_owned()]);
        assert_eq!(line.next(at(2)).unwrap(), "answering, 1 ability impaired");
        let (front, head) = (SourceId::new("front"), SourceId::new("head"));
        gauges.wanted(&front, 5.0);
        for _ in 0..25 {
            gauges.item(&front, Timestamp::EPOCH, 0, 0);
            gauges.item(&head, Timestamp::EPOCH, 0, 0);
        }
        meters.add("questions", 10);
        meters.add("clips", 3);
        assert_eq!(line.next(at(4)), None, "not every moment");
        let told = line.next(at(5)).unwrap();
        let rates = "5.0 frames/s, 5.0 blocks of sound/s, 3 clips; 2.0 questions/s";
        assert_eq!(told, format!("answering, 1 ability impaired; {rates}"));
        announcer.degraded("disk", Vec::new());
        assert_eq!(line.next(at(6)).unwrap(), format!("answering; {rates}"));
        // When the session ends, its frames are no sound.
        gauges.rest();
        let rates = "0.0 frames/s, 0.0 blocks of sound/s, 3 clips; 0.0 questions/s";
        assert_eq!(line.next(at(10)).unwrap(), format!("answering; {rates}"));
    }
}
