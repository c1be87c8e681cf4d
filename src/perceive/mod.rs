//! Perception: pictures and sound become percepts.
pub mod face;
pub mod speech;
pub mod voice;
