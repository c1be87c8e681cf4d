//! The daemon: puts all stages together and keeps them running.

pub mod assemble;
pub mod ingest;
pub mod notify;
pub mod queries;
