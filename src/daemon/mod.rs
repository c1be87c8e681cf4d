//! The daemon: puts all stages together and keeps them running.

pub mod announce;
pub mod assemble;
pub mod describe;
pub(crate) mod enrol;
mod error;
pub mod identify;
pub mod ingest;
mod lanes;
pub mod metrics;
pub mod notify;
pub mod overrule;
pub mod queries;
mod read_ahead;
pub mod record;
pub mod recordings;
pub mod reembed;
pub mod refine;
mod reload;
pub(crate) mod resolver;
pub mod ring;
mod room;
pub mod serve;
pub mod service;
mod status_line;
pub mod stop;
mod supervise;
mod text;
pub mod ticking;
pub mod vectorize;
mod wake;

pub use stop::Stop;
