//! Which container a file is.

use std::path::Path;
use std::sync::Arc;

use super::{mcap, rosbag1, sqlite};
use crate::capture::bag::connection::Container;
use crate::capture::error::CaptureError;

/// Opens a single bag file by its first bytes; `None`: it is no bag.
pub(super) fn open_file(path: &Path) -> Result<Option<Box<dyn Container>>, CaptureError> {
    Ok(if mcap::is_mcap(path)? {
        Some(Box::new(Arc::new(mcap::Index::of(path)?)))
    } else if rosbag1::is_rosbag(path)? {
        Some(Box::new(Arc::new(rosbag1::Index::of(path)?)))
    } else if sqlite::is_sqlite(path)? {
        Some(Box::new(Arc::new(sqlite::Index::of(path, None)?)))
    } else {
        None
    })
}
