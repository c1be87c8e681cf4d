//! One module per promise to the user; each runs the real binary on real recordings.

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod replay_is_deterministic;
mod support;
