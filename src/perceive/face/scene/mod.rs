//! What a camera sees as a whole: shot boundaries, and the background while nobody is there.

pub(super) mod background;
pub(super) mod shot_boundary;
