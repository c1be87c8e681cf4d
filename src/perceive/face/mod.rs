//! Faces: detect, align, embed, track.
