//! English: sentences to trees of words.

pub mod parse;
