//! Messages taken apart: bytes and their definition into pictures, sound, poses and words.

pub mod camera_info;
pub(super) mod cdr;
pub(super) mod codec;
pub mod definition;
pub mod external_transcript;
pub mod field;
pub(super) mod g711;
pub mod message;
pub mod role;
pub(super) mod sound_probe;
pub(super) mod transform_tree;
pub mod value;
