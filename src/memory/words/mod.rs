//! Words of memories: the index, its ranking, and what words mean the same.

pub(super) mod bm25;
pub(super) mod called;
pub(super) mod kin;
pub(super) mod lexical;
pub(super) mod spelling;
