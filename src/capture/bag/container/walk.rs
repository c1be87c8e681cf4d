//! What the walk over a chunked container (MCAP, rosbag1) gathers, and how it goes on behind damage.
//!
//! Where no record can be read begins a hole; it ends where the next one begins, as the file's index says or a search
//! finds. Each hole is one piece of damage with its range of bytes, however many records were in it.

use std::collections::BTreeSet;
use std::fs::File;

use super::segments::{MAX_CHUNK_BYTES, Segment, note, read_at};
use crate::capture::damage::Cause;

/// Messages outside chunks are read in runs of about this size.
const RUN_BYTES: u64 = 4 << 20;
/// Behind so many holes the rest of a file is one.
const MAX_HOLES: usize = 10_000;
/// What a search sees of the file from a place on, at least, unless the file ends.
pub(in crate::capture::bag) const AHEAD: usize = 512;
/// A search reads this much at first, then more and more: most holes are small.
const FIRST_WINDOW: usize = 4 << 10;
const LARGEST_WINDOW: usize = 1 << 20;

/// Segments, times and damage.
pub(in crate::capture::bag) struct Walked {
    pub(in crate::capture::bag) segments: Vec<Segment>,
    /// First and last log time, nanoseconds.
    pub(in crate::capture::bag) first: u64,
    pub(in crate::capture::bag) last: u64,
    pub(in crate::capture::bag) damage: Vec<(Cause, String)>,
    /// Offsets of segments whose damage is counted already: unpacking them does not tell it again.
    pub(in crate::capture::bag) told: BTreeSet<u64>,
    holes: Vec<(u64, u64)>,
}

impl Default for Walked {
    fn default() -> Self {
        Self {
            segments: Vec::new(),
            first: u64::MAX,
            last: 0,
            damage: Vec::new(),
            told: BTreeSet::new(),
            holes: Vec::new(),
        }
    }
}

impl Walked {
    /// There are messages from `first` to `last`.
    pub(in crate::capture::bag) fn covers(&mut self, first: u64, last: u64) {
        self.first = self.first.min(first);
        self.last = self.last.max(last);
    }

    /// A message outside chunks joins the run before it, if that is not too long.
    pub(in crate::capture::bag) fn message(&mut self, offset: u64, next: u64, time: u64) {
        self.covers(time, time);
        match self.segments.last_mut() {
            Some(run)
                if !run.chunk && run.length < RUN_BYTES && run.offset + run.length == offset =>
            {
                run.first = run.first.min(time);
                run.length = next - run.offset;
            }
            _ => {
                let length = next - offset;
                self.segments.push(Segment { first: time, offset, length, chunk: false });
            }
        }
    }

    /// The record at `before` may not end at `offset`, as it says: no other begins there, but one does at `next`. A
    /// chunk is used up to there (what is behind its end does no harm), a message that reaches beyond is not used.
    pub(in crate::capture::bag) fn doubt(&mut self, before: u64, offset: u64, next: u64) {
        let Some(last) = self.segments.last_mut().filter(|last| last.offset + last.length > before)
        else {
            return;
        };
        let (reach, at) = (next.saturating_sub(last.offset), last.offset);
        if last.chunk {
            if reach <= MAX_CHUNK_BYTES {
                last.length = reach;
                self.told.insert(at);
            }
        } else if next < offset {
            last.length = before.saturating_sub(at);
            if last.length == 0 {
                self.segments.pop();
            }
        }
    }

    /// No whole record can be read of these bytes. What touches the hole before is one with it.
    pub(in crate::capture::bag) fn hole(&mut self, from: u64, to: u64) {
        match self.holes.last_mut() {
            Some(last) if last.1 >= from => last.1 = to,
            _ => self.holes.push((from, to)),
        }
    }

    /// Nothing is damaged so far.
    pub(in crate::capture::bag) fn is_whole(&self) -> bool {
        self.damage.is_empty() && self.holes.is_empty()
    }

    /// There are absurdly many holes.
    pub(in crate::capture::bag) fn is_riddled(&self) -> bool {
        self.holes.len() >= MAX_HOLES
    }

    /// From `from` on nothing more can be read of a file without an index.
    pub(in crate::capture::bag) fn cut(&mut self, from: u64, size: u64) {
        let from = match self.holes.last() {
            Some(&(begin, end)) if end >= from => {
                self.holes.pop();
                begin
            }
            _ => from,
        };
        let place = format!("no whole record from byte {from} on; the file ends at byte {size}");
        note(&mut self.damage, Cause::Truncated, place);
    }

    /// Counts the holes.
    pub(in crate::capture::bag) fn tell_holes(&mut self) {
        for (from, to) in std::mem::take(&mut self.holes) {
            let place = format!("bytes {from} to {to} hold no whole record");
            note(&mut self.damage, Cause::Hole, place);
        }
    }
}

/// The first place from `from` to `end` where a record begins, as `begins` says of the place and the bytes from it on.
///
/// Each byte is read once, a piece at a time.
pub(in crate::capture::bag) fn next_place(
    file: &mut File,
    from: u64,
    end: u64,
    mut begins: impl FnMut(&mut File, u64, &[u8]) -> std::io::Result<bool>,
) -> std::io::Result<Option<u64>> {
    let (mut at, mut window) = (from, FIRST_WINDOW);
    while at < end {
        let bytes = read_at(file, at, ((window + AHEAD) as u64).min(end - at))?;
        for (place, start) in (at..).zip(0..bytes.len().min(window)) {
            if begins(file, place, bytes.get(start..).unwrap_or_default())? {
                return Ok(Some(place));
            }
        }
        at += window as u64;
        window = (window * 2).min(LARGEST_WINDOW);
    }
    Ok(None)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn a_search_finds_the_first_place_wherever_pieces_meet() {
        let mut file = tempfile::tempfile().unwrap();
        let mut bytes = vec![0_u8; 40_000];
        let places = [4_095, 4_096, 4_095 + 8_192, 4_096 + 8_192, 39_999];
        for place in places {
            bytes[place] = 1;
        }
        file.write_all(&bytes).unwrap();
        let mut find = |from: u64, end: u64| {
            next_place(&mut file, from, end, |_, _, ahead| Ok(ahead[0] == 1)).unwrap()
        };
        let mut from = 0;
        for place in places {
            assert_eq!(find(from, 40_000), Some(place as u64));
            from = place as u64 + 1;
        }
        assert_eq!(find(from, 40_000), None);
        assert_eq!(find(0, 4_095), None);
        assert_eq!(find(0, 50_000), Some(4_095), "a file that is shorter than it was");
        assert_eq!(find(4_097, 12_288), Some(12_287));
    }

    #[test]
    fn holes_that_touch_are_one() {
        let mut walked = Walked::default();
        for (from, to) in [(10, 20), (20, 30), (40, 50)] {
            walked.hole(from, to);
        }
        walked.cut(50, 60);
        walked.tell_holes();
        let causes: Vec<_> = walked.damage.iter().map(|(cause, _)| *cause).collect();
        assert_eq!(causes, [Cause::Truncated, Cause::Hole], "{:?}", walked.damage);
        assert!(walked.damage[0].1.contains("from byte 40 on"), "{:?}", walked.damage);
        assert!(walked.damage[1].1.contains("bytes 10 to 30"), "{:?}", walked.damage);
    }
}
