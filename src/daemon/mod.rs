//! The daemon: puts all stages together and keeps them running.

pub mod announce;
pub mod assemble;
pub mod describe;
pub mod ingest;
pub mod meters;
pub mod notify;
pub mod overrule;
pub mod queries;
mod reload;
pub mod relearn;
pub mod serve;
pub mod service;
mod stats;
mod stop;

pub use stop::Stop;
