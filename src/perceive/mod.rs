//! Perception: pictures and sound become percepts.

mod error;
pub mod face;
pub mod speech;
pub mod voice;

pub use error::PerceiveError;
