//! Where clips end.

use crate::time::Timestamp;

/// Where a clip ends: goes down every stream after the last item before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ClipBoundary {
    /// Index of the clip that ends here.
    pub(super) index: u32,
    /// First instant of that clip.
    pub(super) start: Timestamp,
    /// First instant after it.
    pub(super) end: Timestamp,
    /// Nothing comes after it.
    pub(super) last: bool,
}
