//! Who speaks when: changes of voice inside a turn, two voices at once, and a clip's turns together.

pub(super) mod cross_microphone;
pub(super) mod over;
pub(super) mod overlap;
pub(super) mod recluster;
pub mod segmentation;
pub(super) mod short;
pub(super) mod split;
