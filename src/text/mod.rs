//! Sentence embeddings.
