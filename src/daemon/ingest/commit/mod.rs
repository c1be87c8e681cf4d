//! Clips put together, decided on and committed.

pub(super) mod checkpoint;
pub(super) mod disk;
pub(super) mod echo;
pub(super) mod late_words;
pub(super) mod quiet;
pub(super) mod said;
pub(super) mod seal;
pub(super) mod told;
