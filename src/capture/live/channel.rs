//! A bounded channel that never makes a source wait: full, it drops its oldest item and counts it.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};

use super::clock::StampHealth;
use crate::ids::SourceId;
use crate::media::Item;

/// The sending side. Frames and sound have lanes of their own, so that frames never push out sound.
#[derive(Clone, Debug)]
pub(super) struct BoundedChannel {
    /// The name under which items arrive.
    pub source: SourceId,
    sender: Sender<Item>,
    oldest: Receiver<Item>,
    sent: Arc<AtomicU64>,
    dropped: Arc<AtomicU64>,
    stamps: Arc<StampGauges>,
}

/// How the stamps of what is put in fit their arrival.
#[derive(Debug, Default)]
struct StampGauges {
    refused: AtomicU64,
    anchored: AtomicU64,
    off_nanos: AtomicI64,
}

impl BoundedChannel {
    /// A lane of at least one item, and its receiver.
    pub(super) fn new(source: SourceId, capacity: usize) -> (Self, Receiver<Item>) {
        let (sender, receiver) = bounded(capacity.max(1));
        let (sent, dropped, stamps) = Default::default();
        (Self { source, sender, oldest: receiver.clone(), sent, dropped, stamps }, receiver)
    }

    /// Puts an item in; never waits.
    pub(super) fn push(&self, item: Item) {
        self.sent.fetch_add(1, Ordering::Relaxed);
        let mut item = item;
        while let Err(TrySendError::Full(back)) = self.sender.try_send(item) {
            if self.oldest.try_recv().is_ok() {
                self.dropped.fetch_add(1, Ordering::Relaxed);
            }
            item = back;
        }
    }

    /// So many more that were captured for it came to nothing elsewhere: they count as dropped.
    pub(super) fn lose(&self, items: usize) {
        self.dropped.fetch_add(items as u64, Ordering::Relaxed);
    }

    /// Tells how the stamps of what is put in fit their arrival.
    pub(super) fn stamped(&self, health: StampHealth) {
        self.stamps.refused.store(health.refused, Ordering::Relaxed);
        self.stamps.anchored.store(health.anchored, Ordering::Relaxed);
        self.stamps.off_nanos.store(health.off, Ordering::Relaxed);
    }

    /// What was last told of that.
    pub(super) fn stamps(&self) -> StampHealth {
        StampHealth {
            refused: self.stamps.refused.load(Ordering::Relaxed),
            anchored: self.stamps.anchored.load(Ordering::Relaxed),
            off: self.stamps.off_nanos.load(Ordering::Relaxed),
        }
    }

    /// How many items were ever put in.
    pub(super) fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

    /// How many were dropped.
    pub(super) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::media::Pose;
    use crate::time::Timestamp;

    #[test]
    fn full_it_drops_the_oldest_and_counts_it() {
        let source = SourceId::new("s");
        let (lane, receiver) = BoundedChannel::new(source.clone(), 3);
        for n in 0..10 {
            let stamp = Timestamp::from_nanos(n);
            let pose = Pose { stamp, x: 0.0, y: 0.0, yaw: 0.0, frame: String::new() };
            lane.push(Item::Pose(source.clone(), pose));
        }
        assert_eq!((lane.sent(), lane.dropped()), (10, 7));
        let left: Vec<_> = receiver.try_iter().map(|item| item.at().as_nanos()).collect();
        assert_eq!(left, [7, 8, 9]);
    }
}
