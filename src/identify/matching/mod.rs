//! Percepts and galleries compared: who comes into question, who it is, and which galleries are one.

pub(super) mod assignment;
pub(super) mod candidates;
pub(super) mod centroids;
pub mod cluster;
mod coarse;
pub(super) mod faces;
pub mod gallery;
pub(super) mod idle;
pub(super) mod late;
pub(super) mod short;
pub(super) mod similar_pairs;
pub mod thresholds;
pub(super) mod visibility;
pub(super) mod voices;
