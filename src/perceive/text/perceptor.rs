//! Words in view as a kind of perception.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use image::RgbImage;

use super::layout::blocks;
use super::{
    CtcRecognizer, DbNet, TextBlock, TextDetector, TextError, TextLine, TextRecognizer, TextTracker,
};
use crate::config::Config;
use crate::perceive::PerceiveError;
use crate::perceive::perceptor::{Moment, PicturePerceptor, View};
use crate::percept::TextTrack;
use crate::runtime::in_turn::InTurn;
use crate::runtime::onnx::{Device, INTRA_OP_THREADS};
use crate::telemetry::rate_limited_log::RateLimitedLog;
use crate::telemetry::stage_times::{Stage, StageTimes};
use crate::time::Timestamp;

/// What a reading is taken to cost, microseconds of one core (PP-OCRv4, some lines of text).
const COST_US: u64 = 700_000;

/// The networks that read: where lines are, and what they say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextFiles {
    /// Of the detector.
    pub detector: PathBuf,
    /// Of the recognizer.
    pub recognizer: PathBuf,
}

/// Networks that readers share: a reading is rare, and they take some hundred megabytes each time they are loaded.
pub type SharedNetworks = Arc<InTurn<TextNetworks, TextError>>;

/// The networks, loaded.
pub struct TextNetworks {
    detector: Box<dyn TextDetector>,
    recognizer: Box<dyn TextRecognizer>,
}

impl TextNetworks {
    /// With the networks in these files, for all who share them.
    ///
    /// # Errors
    /// When a file is absent, or another model.
    pub fn open(files: &TextFiles, device: Device) -> Result<SharedNetworks, TextError> {
        let files = files.clone();
        let make = move || {
            let detector = DbNet::open(&files.detector, INTRA_OP_THREADS, device)?;
            let recognizer = CtcRecognizer::open(&files.recognizer, INTRA_OP_THREADS, device)?;
            Ok(Self { detector: Box::new(detector), recognizer: Box::new(recognizer) })
        };
        Ok(Arc::new(InTurn::new(make)?))
    }
}

/// Finds lines of text in a picture and reads them.
pub struct TextReader {
    networks: SharedNetworks,
    /// A line that is less sure is none, 0–1.
    min_confidence: f32,
    /// Pictures that could not be read.
    unread: RateLimitedLog,
    stages: Arc<StageTimes>,
}

impl TextReader {
    /// With those networks; a line that is less sure than `min_confidence` (0–1) is none.
    #[must_use]
    pub fn new(networks: SharedNetworks, min_confidence: f32, stages: Arc<StageTimes>) -> Self {
        Self { networks, min_confidence, unread: RateLimitedLog::default(), stages }
    }

    /// The texts of a picture.
    ///
    /// # Errors
    /// When a network cannot run.
    pub fn read(&mut self, picture: &RgbImage) -> Result<Vec<TextBlock>, TextError> {
        self.networks.with(|networks| {
            let mut lines = Vec::new();
            for quad in networks.detector.detect(picture)? {
                let (text, confidence) = networks.recognizer.read(picture, quad)?;
                if says_something(&text) && confidence >= self.min_confidence {
                    lines.push(TextLine { quad, text, confidence });
                }
            }
            Ok(blocks(lines, picture.dimensions()))
        })?
    }
}

/// Whether a reading has two letters or a digit in it: edges and round things are read as single letters.
fn says_something(text: &str) -> bool {
    let letters = text.chars().filter(|c| c.is_alphanumeric()).count();
    letters >= 2 || text.chars().any(|c| c.is_ascii_digit() && c != '0' && c != '1')
}

impl PicturePerceptor for TextReader {
    type Plan = ();
    type Finding = Vec<TextBlock>;
    type State = TextTracker;
    type Percept = TextTrack;

    /// [`ReadingSchedule`](super::ReadingSchedule) tells, not the number alone.
    fn plan(_config: &Config, _number: u64) -> Option<()> {
        None
    }

    fn cost_us((): &()) -> u64 {
        COST_US
    }

    fn look(
        &mut self,
        View { source, picture, .. }: View<'_>,
        (): &(),
    ) -> Result<Option<Vec<TextBlock>>, PerceiveError> {
        let stages = Arc::clone(&self.stages);
        match stages.time(Stage::Text, || self.read(picture)) {
            Ok(found) => Ok(Some(found)),
            Err(error) => {
                if let Some(count) = self.unread.happened(Instant::now()) {
                    tracing::warn!(%source, %error, count, "A frame was not read; more are told once a minute.");
                }
                Ok(None)
            }
        }
    }

    fn advance(state: &mut TextTracker, moment: Moment, finding: Option<&Vec<TextBlock>>) {
        let Moment { at, cut, shift } = moment;
        if cut {
            state.cut();
        }
        if let Some(shift) = shift {
            state.shift(shift);
        }
        if let Some(blocks) = finding {
            state.follow(at, blocks);
        }
    }

    fn at_boundary(state: &mut TextTracker, end: Timestamp) -> Vec<TextTrack> {
        state.seal(end)
    }
}

#[cfg(test)]
mod tests {
    use super::says_something;

    #[test]
    fn single_letters_say_nothing_and_single_digits_do() {
        let said = ["O", "|", "", "0", "1", "7", "Go", "C19"].map(says_something);
        assert_eq!(said, [false, false, false, false, false, true, true, true]);
    }
}
