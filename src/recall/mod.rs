//! Recall: a query becomes a ranked list of memories.
//!
//! `time_expr` reads times out of text, [`recall`] runs the channels (meaning, words, entities, time, place) on one
//! view and fuses them.

mod fuse;
pub mod lexer;
mod place;
mod query;
mod search;
pub mod time_expr;

pub use place::is_place;
pub use query::{Hit, Query, Why};
pub use search::{beside, recall};
