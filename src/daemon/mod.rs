//! The daemon: puts all stages together and keeps them running.

pub mod notify;
pub mod queries;
