//! Memorizing: a clip's percepts become sentences with evidence.
