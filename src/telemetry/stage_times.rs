//! How much time the stages of the data plane take, summed over threads.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use crate::telemetry::histogram::Histogram;

/// A stage whose time is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Pixels to RGB, and the JPEG that the window keeps.
    Picture,
    /// Faces found, aligned, judged, embedded.
    Faces,
    /// Things found.
    Objects,
    /// Joints of bodies told.
    Actions,
    /// Words in view found and read.
    Text,
    /// Voice activity, and turns cut out.
    VoiceActivity,
    /// Sounds told apart.
    Sounds,
    /// Who speaks when, two at once included.
    SpeakerSegmentation,
    /// Turns split by speaker and embedded.
    Voice,
    /// Mouths cut out of frames, and scored against turns.
    ActiveSpeaker,
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
    pub const ALL: [Self; 14] = [
        Self::Picture,
        Self::Faces,
        Self::Objects,
        Self::Actions,
        Self::Text,
        Self::VoiceActivity,
        Self::Sounds,
        Self::SpeakerSegmentation,
        Self::Voice,
        Self::ActiveSpeaker,
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
            Self::Objects => "objects",
            Self::Actions => "actions",
            Self::Text => "text",
            Self::VoiceActivity => "voice_activity",
            Self::Sounds => "sounds",
            Self::SpeakerSegmentation => "speaker_segmentation",
            Self::Voice => "voice",
            Self::ActiveSpeaker => "active_speaker",
            Self::Words => "words",
            Self::Identify => "identify",
            Self::Memorize => "memorize",
            Self::Commit => "commit",
        }
    }
}

/// Clocks of the stages; written by every thread, read by whoever reports.
#[derive(Debug, Default)]
pub struct StageTimes([Mutex<Histogram>; Stage::ALL.len()]);

impl StageTimes {
    /// Does the work and adds its wall-clock time to the stage.
    pub fn time<T>(&self, stage: Stage, work: impl FnOnce() -> T) -> T {
        let begun = Instant::now();
        let done = work();
        let took = begun.elapsed();
        self.0[stage as usize].lock().unwrap_or_else(PoisonError::into_inner).observe(took);
        done
    }

    /// The stage's pieces of work by how long they took.
    #[must_use]
    pub fn histogram(&self, stage: Stage) -> Histogram {
        self.0[stage as usize].lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Milliseconds so far by stage, summed over threads.
    #[must_use]
    pub fn millis(&self) -> BTreeMap<&'static str, f64> {
        let millis = |stage: Stage| self.histogram(stage).sum_secs() * 1e3;
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
        assert_eq!(times.histogram(Stage::Voice).count(), 1);
    }
}
