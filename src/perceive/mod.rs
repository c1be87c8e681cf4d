//! Perception: pictures and sound become percepts.

pub mod action;
pub mod active_speaker;
pub mod body;
pub mod camera_motion;
pub mod colour;
mod error;
pub mod face;
pub mod job_kind;
pub mod nms;
pub mod object;
pub mod perceptor;
pub mod sound;
pub mod speech;
pub mod text;
pub mod track;
mod turn;
pub mod voice;

pub use error::PerceiveError;
pub use job_kind::JobKind;
