//! Words: what a turn says.
