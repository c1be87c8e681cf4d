//! What comes in, in event time order: live or replayed, dispatched to the stages, with what is told from outside.

pub(super) mod dispatch;
pub(super) mod inbox;
pub(super) mod live;
pub(super) mod pace;
pub(super) mod session;
