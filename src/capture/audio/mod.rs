//! Sound as it is captured: formats, one channel, 16 kHz, blocks, and the drift of sound cards' clocks.

pub(super) mod blocks;
pub(super) mod downmix;
pub(super) mod drift;
pub(super) mod sound;
