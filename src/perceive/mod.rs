//! Perception: pictures and sound become percepts.

pub mod active_speaker;
mod error;
pub mod face;
pub mod nms;
pub mod object;
pub mod speech;
pub mod track;
pub mod voice;

pub use error::PerceiveError;
