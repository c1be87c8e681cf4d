//! What was kept of the ring.

use serde::{Deserialize, Serialize};

use super::Means;
use crate::mqtt::Refusal;
use crate::time::Timestamp;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SnapshotsArgs {}

/// The reply to `snapshots`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Snapshots {
    /// Whether there is a ring of which parts can be kept.
    pub ring: bool,
    /// By time.
    pub snapshots: Vec<Snapshot>,
}

/// A snapshot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// What it is called.
    pub name: String,
    /// Its first picture or sound.
    pub start: Timestamp,
    /// Just after its last.
    pub end: Timestamp,
    /// What it takes on the disk, bytes.
    pub bytes: u64,
}

pub(super) fn snapshots(means: &Means<'_>, _args: &SnapshotsArgs) -> Result<Snapshots, Refusal> {
    let Some(ring) = means.ring else {
        return Ok(Snapshots { ring: false, snapshots: Vec::new() });
    };
    let kept = ring.kept().map_err(|error| {
        Refusal::unavailable(format!("the folder of snapshots cannot be read: {error}"))
    })?;
    let told = kept.into_iter().map(|one| Snapshot {
        name: one.name,
        start: one.span.start,
        end: one.span.end,
        bytes: one.bytes,
    });
    Ok(Snapshots { ring: ring.is_on(), snapshots: told.collect() })
}
