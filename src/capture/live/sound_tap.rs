//! A device's sound on its way into its lane.

use super::channel::BoundedChannel;
use super::clock::StampHealth;
use crate::capture::audio::blocks::{BLOCK_SAMPLES, Blocks, Stamps};
use crate::media::{Block, Item};
use crate::time::Timestamp;

/// Cuts a device's sound into blocks and puts them into its lane. It ends with its device: what is too short for a block
/// by then, or waits for the sound behind it, goes into the lane, too.
#[derive(Debug)]
pub(super) struct SoundTap {
    lane: BoundedChannel,
    blocks: Blocks,
    /// Samples that were left out and are not counted yet: fewer than a block's.
    left_out: usize,
}

impl SoundTap {
    pub(super) fn new(lane: BoundedChannel) -> Self {
        let blocks = Blocks::new(lane.source.clone(), Stamps::AtCapture);
        Self { lane, blocks, left_out: 0 }
    }

    /// Tells how the stamps of what is taken fit their arrival.
    pub(super) fn stamped(&self, health: StampHealth) {
        self.lane.stamped(health);
    }

    /// Takes 16 kHz mono samples of which the first was captured at `at`.
    pub(super) fn push(&mut self, at: Timestamp, samples: &[f32]) {
        let mut full = Vec::new();
        self.left_out += self.blocks.push(at, samples, &mut full);
        self.lane.lose(self.left_out / BLOCK_SAMPLES);
        self.left_out %= BLOCK_SAMPLES;
        self.send(full);
    }

    /// The device is gone.
    pub(super) fn end(&mut self) {
        let mut rest = Vec::new();
        self.blocks.flush(&mut rest);
        self.send(rest);
        self.lane.lose(usize::from(self.left_out > 0));
        self.left_out = 0;
    }

    fn send(&self, blocks: Vec<Block>) {
        blocks.into_iter().for_each(|block| self.lane.push(Item::Block(block)));
    }
}

impl Drop for SoundTap {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::SourceId;

    const MS: i64 = 1_000_000;

    /// Blocks in the lane after these runs (milliseconds, samples) and the end of the device: when each begins and how
    /// many samples are in it; and how many the lane counts as sent and dropped.
    fn taken(runs: &[(i64, usize)]) -> (Vec<(i64, usize)>, u64, u64) {
        let (lane, receiver) = BoundedChannel::new(SourceId::new("ears"), 100);
        let mut tap = SoundTap::new(lane.clone());
        for (ms, samples) in runs {
            tap.push(Timestamp::from_nanos(ms * MS), &vec![0.1; *samples]);
        }
        drop(tap);
        let blocks = receiver.try_iter().filter_map(|item| match item {
            Item::Block(block) => Some((block.at.as_nanos() / MS, block.samples.len())),
            _ => None,
        });
        (blocks.collect(), lane.sent(), lane.dropped())
    }

    #[test]
    fn a_device_that_dies_takes_no_sound_with_it() {
        // What is too short for a block.
        assert_eq!(taken(&[(0, 1_600), (100, 700)]), (vec![(0, 1_600), (100, 700)], 2, 0));
        assert_eq!(taken(&[(0, 700)]), (vec![(0, 700)], 1, 0));
        // What came late and waited for more.
        let late = taken(&[(0, 1_600), (600, 160)]);
        assert_eq!(late, (vec![(0, 1_600), (600, 160)], 2, 0));
        assert_eq!(taken(&[]), (Vec::new(), 0, 0));
    }

    #[test]
    fn sound_that_lies_before_what_was_taken_is_dropped_and_counted_in_blocks() {
        // Four seconds, then two seconds that lie three seconds back.
        let (blocks, sent, dropped) = taken(&[(0, 64_000), (1_000, 32_000)]);
        let samples: usize = blocks.iter().map(|(_, samples)| samples).sum();
        assert_eq!((samples, sent, dropped), (64_000, 40, 20));
        // Part of a block is one.
        let (blocks, _, dropped) = taken(&[(0, 64_000), (1_000, 1_700)]);
        let samples: usize = blocks.iter().map(|(_, samples)| samples).sum();
        assert_eq!((samples, dropped), (64_000, 2));
    }
}
