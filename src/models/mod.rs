//! Model files: which there are, where they come from, which of them are here.
//!
//! Ground floor: perception and recall ask the [`Catalogue`] for the model of a [`Job`] and get the
//! paths of its files, the hash that its embeddings carry, and its thresholds. Nothing here is
//! downloaded while the daemon runs; `engramd models fetch` does that ([`Catalogue::fetch`]).
//!
//! `models/manifest.toml` says what exists ([`manifest`]), `models.lock` beside the files says what
//! they were when first used ([`lock`]), `calibration/thresholds` says when two embeddings are alike
//! ([`thresholds`]).

pub mod catalogue;
mod choice;
pub mod command;
mod download;
mod error;
pub mod fetch;
mod job;
pub mod lock;
pub mod manifest;
mod package;
pub mod progress;
pub mod thresholds;

pub use catalogue::{Catalogue, ListRow, ModelFile, Presence, bringing};
pub use error::ModelError;
pub use fetch::{FetchEvent, FetchReport, Fetched};
pub use job::Job;
pub use manifest::Manifest;
pub use thresholds::Thresholds;

pub use crate::config::ModelSet;
