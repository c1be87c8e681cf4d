//! Clips put together, decided on and committed.

pub(super) mod checkpoint;
pub(super) mod committer;
pub(super) mod disk;
pub(super) mod echo;
pub(super) mod late_words;
mod numbering;
pub(super) mod poses;
pub(super) mod quiet;
pub(super) mod said;
pub(super) mod told;
mod turns;
mod watches;
