//! Voices: activity, turns, speaker embeddings.
