//! When messages were captured: clocks that are off, times that cannot be, and the order of items.

pub(super) mod clock_offset;
pub(super) mod reorder_buffer;
pub(super) mod timestamp_filter;
