//! One source's stage each, and what is shown of the open window.

mod budget;
pub(super) mod camera;
pub(super) mod camera_state;
pub(super) mod detection_schedule;
pub(super) mod microphone;
pub(super) mod microphone_state;
pub(super) mod mouths;
pub(super) mod partial;
pub(super) mod present;
mod strangers;
