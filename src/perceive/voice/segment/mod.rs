//! Where somebody speaks: voice activity, turns, and sounds that are no speech.

pub(super) mod loudness;
pub(super) mod segmenter;
pub(super) mod sound_events;
pub(super) mod turns;
pub(super) mod vad;
