//! Pictures as they are captured: pixels, their colours, and RGB of them.

pub(super) mod jpeg;
pub mod picture;
pub(super) mod pixels;
pub mod raw_image;
pub(super) mod yuv;
