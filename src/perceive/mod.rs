//! Perception: pictures and sound become percepts.

mod error;
pub mod face;
pub mod nms;
pub mod object;
pub mod speech;
pub mod track;
pub mod voice;

pub use error::PerceiveError;
