//! Items put into the order of their capture times, in bounded memory.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::capture::damage::Cause;
use crate::ids::SourceId;
use crate::media::{Block, Item};
use crate::time::Timestamp;

/// How late an item may be recorded and still be put in order.
pub(in crate::capture::bag) const REORDER_SECS: f64 = 2.0;
/// What waits takes no more memory than this; then the earliest goes out, and order is kept among fewer.
const MAX_WAITING_BYTES: usize = 256 << 20;

/// What went wrong with one message.
pub(in crate::capture::bag) type Flaw = (Cause, String);

/// Items in the order of (capture time, source, arrival).
#[derive(Default)]
pub(in crate::capture::bag) struct ReorderBuffer {
    waiting: BinaryHeap<Reverse<Placed>>,
    waiting_bytes: usize,
    pushed: u64,
    /// What was captured before this comes too late, whether or not anything has left already.
    watermark: Option<Timestamp>,
    /// The last that left.
    left: Option<Timestamp>,
}

struct Placed {
    item: Item,
    number: u64,
}

impl Placed {
    fn key(&self) -> (Timestamp, &SourceId, u64) {
        (self.item.at(), self.item.source(), self.number)
    }
}

impl PartialEq for Placed {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Placed {}

impl PartialOrd for Placed {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Placed {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

fn too_late(at: Timestamp) -> Flaw {
    (Cause::Late, format!("captured at {at}, before what has left already"))
}

/// Bytes of the item's media.
fn bytes(item: &Item) -> usize {
    match item {
        Item::Frame(frame) => frame.picture.bytes(),
        Item::Block(block) => size_of_val(&*block.samples),
        Item::Pose(..) | Item::Words(_) => size_of::<Item>(),
    }
}

impl ReorderBuffer {
    /// What was captured before this comes too late; `None` before any.
    pub(in crate::capture::bag) fn watermark(&self) -> Option<Timestamp> {
        self.watermark
    }

    /// Nothing captured before `until` is waited for any more.
    pub(in crate::capture::bag) fn advance(&mut self, until: Timestamp) {
        self.watermark = self.watermark.max(Some(until));
    }

    /// More waits than may: the earliest has to go.
    pub(in crate::capture::bag) fn is_full(&self) -> bool {
        self.waiting_bytes > MAX_WAITING_BYTES
    }

    /// Refuses what was captured before what may have left already.
    pub(in crate::capture::bag) fn in_time(&self, at: Timestamp) -> Result<(), Flaw> {
        if self.watermark.is_some_and(|watermark| at < watermark) {
            return Err(too_late(at));
        }
        Ok(())
    }

    /// Takes an item in.
    ///
    /// # Errors
    /// When it comes too late.
    pub(in crate::capture::bag) fn push(&mut self, item: Item) -> Result<(), Flaw> {
        self.in_time(item.at())?;
        self.put(item);
        Ok(())
    }

    /// What was in time when it came, and was held back since.
    pub(in crate::capture::bag) fn put(&mut self, item: Item) {
        self.waiting_bytes += bytes(&item);
        self.waiting.push(Reverse(Placed { item, number: self.pushed }));
        self.pushed += 1;
    }

    /// Takes a run of sound in, which may have been held back: it comes too late only where a later item has left.
    ///
    /// # Errors
    /// When a block of it comes too late; the others are taken.
    pub(in crate::capture::bag) fn push_all(&mut self, blocks: Vec<Block>) -> Result<(), Flaw> {
        let mut late = Ok(());
        for block in blocks {
            if self.left.is_some_and(|left| block.at < left) {
                late = late.and(Err(too_late(block.at)));
            } else {
                self.put(Item::Block(block));
            }
        }
        late
    }

    /// The earliest item, where nothing before it is waited for or more waits than may; in no case one captured after
    /// `held`.
    pub(in crate::capture::bag) fn pop(&mut self, held: Timestamp) -> Option<Item> {
        let earliest = self.waiting.peek()?.0.item.at();
        let due = self.watermark.is_some_and(|watermark| earliest <= watermark) || self.is_full();
        if !due || earliest > held {
            return None;
        }
        self.advance(earliest);
        self.left = self.left.max(Some(earliest));
        let item = self.waiting.pop()?.0.item;
        self.waiting_bytes -= bytes(&item);
        Some(item)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::media::{Frame, Picture};

    fn at(secs: f64) -> Timestamp {
        Timestamp::EPOCH.plus_secs(secs)
    }

    fn frame(secs: f64, picture: &Picture) -> Item {
        let (source, picture) = (SourceId::new("camera"), picture.clone());
        Item::Frame(Frame { source, at: at(secs), number: 0, width: 0, height: 0, picture })
    }

    fn all(sorter: &mut ReorderBuffer) -> Vec<Timestamp> {
        std::iter::from_fn(|| sorter.pop(Timestamp::MAX)).map(|item| item.at()).collect()
    }

    #[test]
    fn items_leave_in_order_when_nothing_before_them_is_waited_for() {
        let picture = Picture::Encoded([0; 8].as_slice().into());
        let mut sorter = ReorderBuffer::default();
        for secs in [3.0, 1.0, 2.0] {
            sorter.push(frame(secs, &picture)).unwrap();
        }
        assert!(all(&mut sorter).is_empty());
        sorter.advance(at(2.0));
        assert_eq!(sorter.pop(at(0.5)).map(|item| item.at()), None, "held");
        assert_eq!(all(&mut sorter), [at(1.0), at(2.0)]);
        assert_eq!(sorter.push(frame(1.9, &picture)).unwrap_err().0, Cause::Late);
        sorter.push(frame(2.5, &picture)).unwrap();
        sorter.advance(Timestamp::MAX);
        assert_eq!(all(&mut sorter), [at(2.5), at(3.0)]);
        assert_eq!(sorter.waiting_bytes, 0);
    }

    #[test]
    fn no_more_waits_than_may_and_what_leaves_early_stays_in_order() {
        // The same quarter of the allowance again and again: only what is counted is large.
        let quarter = Picture::Rgb8(vec![0; MAX_WAITING_BYTES / 4].into());
        let mut sorter = ReorderBuffer::default();
        let mut left = Vec::new();
        for secs in [2.0, 0.0, 1.0, 3.0, 5.0, 4.0] {
            sorter.push(frame(secs, &quarter)).unwrap();
            left.extend(all(&mut sorter));
            assert!(!sorter.is_full());
        }
        assert_eq!(left, [at(0.0), at(1.0)]);
        assert_eq!(sorter.push(frame(0.5, &quarter)).unwrap_err().0, Cause::Late);
        sorter.advance(Timestamp::MAX);
        assert_eq!(all(&mut sorter), [2.0, 3.0, 4.0, 5.0].map(at));
    }
}
