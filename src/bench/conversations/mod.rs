//! Conversations whose questions name the turns that answer them.
//!
//! `locomo` and `beam` read the data sets' own files and score; `remembered` tells a conversation to a store of its own and
//! asks recall; `evidence` counts what of the evidence was found.

pub mod beam;
pub mod evidence;
pub mod locomo;
mod remembered;

pub use remembered::Turn;
pub(super) use remembered::utterance;
