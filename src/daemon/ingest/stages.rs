//! How much time the stages of the data plane take, summed over threads.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// A stage whose time is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Pixels to RGB, and the JPEG that the window keeps.
    Picture,
    /// Faces found, aligned, judged, embedded.
    Faces,
    /// Voice activity, and turns cut out.
    VoiceActivity,
    /// Turns split by speaker and embedded.
    Voice,
    /// Words.
    Words,
    /// Percepts given to entities.
    Identify,
    /// Sentences written.
    Memorize,
    /// The clip's transaction.
    Commit,
}

impl Stage {
    /// Every stage, in the order of the data.
    pub const ALL: [Self; 8] = [
        Self::Picture,
        Self::Faces,
        Self::VoiceActivity,
        Self::Voice,
        Self::Words,
        Self::Identify,
        Self::Memorize,
        Self::Commit,
    ];

    /// Its name in reports.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Picture => "picture",
            Self::Faces => "faces",
            Self::VoiceActivity => "voice_activity",
            Self::Voice => "voice",
            Self::Words => "words",
            Self::Identify => "identify",
            Self::Memorize => "memorize",
            Self::Commit => "commit",
        }
    }
}

/// Clocks of the stages; written by every thread, read by whoever reports.
#[derive(Debug, Default)]
pub struct StageTimes([AtomicU64; Stage::ALL.len()]);

impl StageTimes {
    /// Does the work and adds its wall-clock time to the stage.
    pub fn time<T>(&self, stage: Stage, work: impl FnOnce() -> T) -> T {
        let begun = Instant::now();
        let done = work();
        let nanos = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.0[stage as usize].fetch_add(nanos, Ordering::Relaxed);
        done
    }

    /// Milliseconds so far by stage, summed over threads.
    #[must_use]
    pub fn millis(&self) -> BTreeMap<&'static str, f64> {
        let millis = |stage: Stage| self.0[stage as usize].load(Ordering::Relaxed) as f64 * 1e-6;
        Stage::ALL.into_iter().map(|stage| (stage.word(), millis(stage))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_goes_to_its_stage() {
        let times = StageTimes::default();
        let sum = times.time(Stage::Voice, || {
            std::thread::sleep(std::time::Duration::from_millis(2));
            7
        });
        assert_eq!(sum, 7);
        assert!(times.millis()["voice"] >= 2.0);
        assert!(times.millis()["faces"] == 0.0);
        assert_eq!(times.millis().len(), Stage::ALL.len());
    }
}
