//! Containers: files taken apart into messages in log-time order.

pub(super) mod copies;
pub(super) mod mcap;
pub(super) mod merged;
pub(super) mod metadata;
mod open;
pub(super) mod rosbag1;
pub(super) mod rosbag2;
pub(super) mod seams;
pub(super) mod segments;
pub(super) mod sqlite;
pub(super) mod walk;
