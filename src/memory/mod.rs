//! The memory: what is kept, and how it is read.

pub mod model;
