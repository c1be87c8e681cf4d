//! Vectors of memories, and which of them are near a question's.
//!
//! [`index`] is the door. Every vector has codes ([`codes`], [`signs`]) that are read through; where there are very many,
//! they stand in [`cells`] as well, of which a question reads the nearest ([`plan`] says when), found by their own codes or by
//! a graph ([`graph`]).

mod blocks;
mod cells;
mod census;
mod codes;
mod graph;
mod index;
mod plan;
mod signs;

pub use census::{VectorCensus, VectorCount};
pub(crate) use index::{EXACT_UP_TO, Look, Shown, VectorIndex, best_of, likeness};
pub use plan::VectorSearch;
