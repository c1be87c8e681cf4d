//! What a clip's speech is parted by, and the pieces that it is parted from.

use crate::media::SAMPLE_RATE;
use crate::models::thresholds::Changes;
#[cfg(doc)]
use crate::perceive::voice::SpeakerEmbedder;
use crate::perceive::voice::embed::cache::{HOP_SECS, WINDOW_SECS};
use crate::perceive::voice::segment::turns::STEP;
use crate::percept::{Embedding, SpeechTurn};
use crate::time::Span;

/// When a channel is poor, and how many people's its speech is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReclusterSettings {
    /// A channel with so much less above 4.3 kHz than in the telephone's band is narrow, dB.
    pub narrow_db: f32,
    /// Speech quieter than this comes from far, dB relative to full scale.
    pub far_dbfs: f32,
    /// Length of a window, seconds.
    pub window_secs: f64,
    /// From one window to the next, seconds.
    pub step_secs: f64,
    /// What a change of voice costs, in windows of mean clearness.
    pub switch_penalty: f32,
    /// Two clusters are two people from this clearness on: how much nearer the windows are to their own middle
    /// than to the other, as a share of how far they are from their own.
    pub clearness: f32,
    /// Each of them speaks at least this long, seconds.
    pub min_voice_secs: f64,
    /// And, of every two, at least this share of what both speak.
    pub min_share: f64,
    /// At most so many voices are told apart.
    pub most_voices: u8,
    /// Three clusters and more are so many people from this clearness of every two of them on, after what so little speech
    /// shows by chance was taken off: a third that is none costs more trust than one that is missed.
    pub further_clearness: f32,
    /// So many short windows are looked at around pauses and borders, once the voices are known, per second of sound from
    /// far; each takes half as long as one of `window_secs`, of which there are five. To a network that [hears parts at
    /// once](SpeakerEmbedder::hears_parts_at_once) they cost nothing: it looks everywhere. To others a narrow band tells too
    /// little in so short a time. 0: none.
    pub fine_per_sec: f64,
}

impl ReclusterSettings {
    /// With what the network that looks for changes needs.
    #[must_use]
    pub fn of(network: &Changes) -> Self {
        Self {
            clearness: network.clearness,
            further_clearness: network.further_clearness,
            switch_penalty: network.switch_penalty,
            ..Self::default()
        }
    }
}

impl Default for ReclusterSettings {
    /// Set on LibriSpeech voices alone and in pairs, clean, through a telephone's band and in a room; the
    /// three recordings of the diarization figures were known when the limits were chosen.
    fn default() -> Self {
        Self {
            narrow_db: -40.0,
            far_dbfs: -33.0,
            window_secs: WINDOW_SECS,
            step_secs: HOP_SECS,
            switch_penalty: 1.5,
            clearness: 0.87,
            min_voice_secs: 3.0,
            min_share: 0.25,
            most_voices: 4,
            further_clearness: 0.87,
            fine_per_sec: 10.0,
        }
    }
}

/// Sound without a hole: one turn, or parts of one that follow each other.
pub(super) struct SpeechSegment {
    pub(super) span: Span,
    pub(super) sound: Vec<f32>,
    pub(super) turns: Vec<SpeechTurn>,
    pub(super) windows: Vec<Embedding>,
}

pub(super) fn steps(secs: f64) -> usize {
    (secs * f64::from(SAMPLE_RATE) / STEP as f64).round() as usize
}
