//! What goes out of a memory and comes into one: exports, imports, what keeps them whole.

pub(super) mod beside;
pub(super) mod export;
pub(super) mod hash;
pub(super) mod import;
pub(super) mod import_m3;
pub(super) mod m3_graph;
pub(super) mod seal;
