//! Checksums of a shelf that is kept: what a disk gives back is what was put there.
//!
//! Each [`SEGMENT`] bytes have one (CRC-32), computed once they are full, in the background, and again where something was
//! overwritten; when the shelf is kept only what is missing is computed. After a start they are compared in the background.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

/// Bytes that have one checksum.
const SEGMENT: u64 = 16 << 20;

/// A shelf as it is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Kept {
    /// Bytes.
    pub(crate) len: u64,
    /// CRC-32 of each segment; the last may be shorter.
    sums: Vec<u32>,
}

/// What is known of the segments.
#[derive(Debug, Default)]
pub(in crate::memory) struct Sums(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    /// Of full segments.
    sums: BTreeMap<u64, u32>,
    /// What is to be compared yet: how long the segment was, and its checksum.
    expected: BTreeMap<u64, (u64, u32)>,
    /// Counts up whenever something is overwritten.
    changes: u64,
}

/// Where a segment lies that is less than `end`.
fn segment(number: u64, end: u64) -> (u64, usize) {
    let from = number * SEGMENT;
    (from, SEGMENT.min(end.saturating_sub(from)) as usize)
}

impl Sums {
    pub(in crate::memory) fn expecting(kept: &Kept) -> Self {
        let expected = (0..)
            .zip(&kept.sums)
            .map(|(number, sum)| (number, (segment(number, kept.len).1 as u64, *sum)));
        Self(Mutex::new(Known { expected: expected.collect(), ..Known::default() }))
    }

    fn known(&self) -> std::sync::MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Overwrites by `write` something that lies there.
    pub(in crate::memory) fn overwriting<T>(
        &self,
        at: u64,
        len: usize,
        write: impl FnOnce() -> T,
    ) -> T {
        let mut known = self.known();
        known.changes += 1;
        for number in at / SEGMENT..=(at + len as u64) / SEGMENT {
            known.sums.remove(&number);
            known.expected.remove(&number);
        }
        write()
    }

    /// Does the next segment of a shelf of so many bytes: whether there are more, or `Err` where it holds other bytes than it
    /// should. `read` gives the bytes that lie somewhere.
    pub(in crate::memory) fn next<'b>(
        &self,
        end: u64,
        read: impl Fn(u64, usize) -> &'b [u8],
    ) -> Result<bool, Damaged> {
        let (number, expected, changes) = {
            let known = self.known();
            // (What was put down last may not be written yet.)
            let written = (end / SEGMENT).saturating_sub(1);
            let full = || (0..written).find(|number| !known.sums.contains_key(number));
            let next =
                known.expected.iter().next().map(|(number, expected)| (*number, Some(*expected)));
            let Some((number, expected)) = next.or_else(|| Some((full()?, None))) else {
                return Ok(false);
            };
            (number, expected, known.changes)
        };
        let (from, len) = match expected {
            Some((len, _)) => (number * SEGMENT, len as usize),
            None => segment(number, end),
        };
        let sum = crc32fast::hash(read(from, len));
        let mut known = self.known();
        if known.changes != changes {
            return Ok(true);
        }
        if expected.is_some_and(|(_, expected)| expected != sum) {
            return Err(Damaged { at: from });
        }
        known.expected.remove(&number);
        if len as u64 == SEGMENT {
            known.sums.insert(number, sum);
        }
        Ok(true)
    }

    /// All of a shelf of so many bytes that nobody changes any more.
    pub(in crate::memory) fn all<'b>(
        &self,
        end: u64,
        read: impl Fn(u64, usize) -> &'b [u8],
    ) -> Kept {
        let known = self.known();
        let sum = |number: u64| {
            let (from, len) = segment(number, end);
            known.sums.get(&number).copied().unwrap_or_else(|| crc32fast::hash(read(from, len)))
        };
        Kept { len: end, sums: (0..end.div_ceil(SEGMENT)).map(sum).collect() }
    }
}

/// Other bytes than were put down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the bytes from {at} on are not those that were put there")]
pub(crate) struct Damaged {
    at: u64,
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn what_was_damaged_is_found_and_what_was_overwritten_is_not_damaged() {
        let mut bytes: Vec<u8> = (0..SEGMENT as usize * 2 + 1_000).map(|at| at as u8).collect();
        let end = bytes.len() as u64;
        let kept = {
            let read = |at: u64, len: usize| &bytes[at as usize..at as usize + len];
            let sums = Sums::default();
            assert_eq!((sums.next(end, read), sums.next(end, read)), (Ok(true), Ok(false)));
            let kept = sums.all(end, read);
            assert_eq!(kept, Sums::default().all(end, read));
            kept
        };
        assert_eq!((kept.len, kept.sums.len()), (end, 3));
        let run = |sums: &Sums, bytes: &[u8]| {
            let read = |at: u64, len: usize| &bytes[at as usize..at as usize + len];
            loop {
                match sums.next(end, read) {
                    Ok(true) => {}
                    done => return done,
                }
            }
        };
        assert_eq!(run(&Sums::expecting(&kept), &bytes), Ok(false));
        for at in [5, SEGMENT as usize, bytes.len() - 1] {
            bytes[at] ^= 1;
            let sums = Sums::expecting(&kept);
            assert_eq!(run(&sums, &bytes), Err(Damaged { at: at as u64 / SEGMENT * SEGMENT }));
            let sums = Sums::expecting(&kept);
            sums.overwriting(at as u64, 1, || ());
            assert_eq!(run(&sums, &bytes), Ok(false), "somebody overwrote it");
            bytes[at] ^= 1;
        }
    }
}
