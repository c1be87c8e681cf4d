//! Voices as vectors: filter banks, networks, and what was embedded already.

pub(super) mod cache;
pub mod eres2netv2;
pub mod fbank;
pub(super) mod frames;
pub(super) mod ge2e;
pub(super) mod mel;
pub(super) mod onnx;
pub mod parity;
