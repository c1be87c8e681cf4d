//! Serialisation of what was derived, read in place: numbers, texts and rows of plain values one after the other, each at a multiple
//! of 8 bytes, in the machine's own order of bytes.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::sync::Arc;

use super::shelf::{Bulk, Plain, Shelf};

/// Everything begins at a multiple of this, bytes.
const ALIGNED: usize = 8;
/// Bytes that are written at once.
const AT_ONCE: usize = 1 << 20;

/// What can be written into the state and read from it.
pub(crate) trait Persist: Sized {
    /// Writes it.
    fn save(&self, to: &mut Writer<'_>);
    /// Reads what [`Self::save`] wrote; `None` where that is something else.
    fn load(from: &mut Reader<'_>) -> Option<Self>;
}

/// Writes; what went wrong is told at the end.
pub(crate) struct Writer<'s> {
    to: BufWriter<File>,
    lists: &'s Arc<Shelf>,
    len: u64,
    sum: crc32fast::Hasher,
    failed: Option<io::Error>,
}

/// What was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Written {
    /// Bytes.
    pub(crate) len: u64,
    /// CRC-32 of them.
    pub(crate) sum: u32,
}

impl<'s> Writer<'s> {
    /// `lists`: the shelf of lists of what is written.
    pub(crate) fn new(file: File, lists: &'s Arc<Shelf>) -> Self {
        let to = BufWriter::with_capacity(AT_ONCE, file);
        Self { to, lists, len: 0, sum: crc32fast::Hasher::new(), failed: None }
    }

    /// The shelf by whose places lists are written.
    pub(crate) fn lists(&self) -> &'s Arc<Shelf> {
        self.lists
    }

    fn bytes(&mut self, bytes: &[u8]) {
        if self.failed.is_some() {
            return;
        }
        let padding = bytes.len().next_multiple_of(ALIGNED) - bytes.len();
        for part in [bytes, &[0; ALIGNED][..padding]] {
            self.sum.update(part);
            self.len += part.len() as u64;
            if let Err(error) = self.to.write_all(part) {
                self.failed = Some(error);
                return;
            }
        }
    }

    pub(crate) fn number(&mut self, number: u64) {
        self.bytes(&number.to_ne_bytes());
    }

    pub(crate) fn numbers<T: Plain>(&mut self, values: &[T]) {
        self.number(values.len() as u64);
        self.bytes(bytemuck::cast_slice(values));
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.numbers(text.as_bytes());
    }

    /// Puts all on the disk.
    pub(crate) fn finish(mut self) -> io::Result<Written> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        self.to.flush()?;
        self.to.get_ref().sync_all()?;
        Ok(Written { len: self.len, sum: self.sum.finalize() })
    }
}

/// Reads; everything is `None` where there is too little.
pub(crate) struct Reader<'b> {
    rest: &'b [u8],
    lists: Arc<Shelf>,
}

impl<'b> Reader<'b> {
    /// `bytes` begin at a multiple of 8; `lists`: the shelf of lists of what is read.
    pub(crate) fn new(bytes: &'b [u8], lists: Arc<Shelf>) -> Self {
        Self { rest: bytes, lists }
    }

    /// The shelf by whose places lists are read.
    pub(crate) fn lists(&self) -> &Arc<Shelf> {
        &self.lists
    }

    fn bytes(&mut self, len: usize) -> Option<&'b [u8]> {
        let (bytes, rest) = self.rest.split_at_checked(len.checked_next_multiple_of(ALIGNED)?)?;
        self.rest = rest;
        bytes.get(..len)
    }

    pub(crate) fn number(&mut self) -> Option<u64> {
        self.bytes(size_of::<u64>())?.try_into().ok().map(u64::from_ne_bytes)
    }

    /// A number of things, each of which takes at least 8 bytes.
    pub(crate) fn count(&mut self) -> Option<usize> {
        let count = usize::try_from(self.number()?).ok()?;
        (count <= self.rest.len() / ALIGNED).then_some(count)
    }

    pub(crate) fn numbers<T: Plain>(&mut self) -> Option<Vec<T>> {
        let len = usize::try_from(self.number()?).ok()?;
        let bytes = self.bytes(len.checked_mul(size_of::<T>())?)?;
        Some(bytemuck::pod_collect_to_vec(bytes))
    }

    pub(crate) fn text(&mut self) -> Option<&'b str> {
        let len = usize::try_from(self.number()?).ok()?;
        std::str::from_utf8(self.bytes(len)?).ok()
    }

    /// Whether all was read.
    pub(crate) fn is_done(&self) -> bool {
        self.rest.is_empty()
    }
}

impl<T: Plain> Persist for Bulk<T> {
    fn save(&self, to: &mut Writer<'_>) {
        let place = match self {
            Self::Ram(_) => None,
            Self::Shelf(values) => values.place_on(to.lists()),
        };
        to.numbers(&place.map_or([0; 3], |at| [1, at, self.len() as u64]));
        to.numbers(if place.is_none() { self } else { &[] });
    }

    fn load(from: &mut Reader<'_>) -> Option<Self> {
        let [on_shelf, at, len] = from.numbers::<u64>()?.try_into().ok()?;
        let values = from.numbers()?;
        match on_shelf {
            0 => Some(Self::Ram(values)),
            _ => from.lists().slice_within(at, usize::try_from(len).ok()?).map(Self::Shelf),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::memory::versions::log::Log;

    #[test]
    fn what_is_written_is_read_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let lists = Arc::new(Shelf::new(dir.path()));
        let mut log: Log<u64> = Log::default();
        (0..700).for_each(|number| log.push(number * 3));
        log.settle(&lists);
        let path = dir.path().join("state");
        let mut to = Writer::new(File::create(&path).unwrap(), &lists);
        to.number(7);
        to.text("Grüße");
        to.numbers(&[1_u32, 2, 3]);
        log.save(&mut to);
        let written = to.finish().unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let aligned: Vec<u64> =
            bytes.chunks(8).map(|w| u64::from_ne_bytes(w.try_into().unwrap())).collect();
        let bytes = bytemuck::cast_slice(&aligned);
        assert_eq!(written, Written { len: bytes.len() as u64, sum: crc32fast::hash(bytes) });
        let read = |bytes: &[u8]| {
            let mut from = Reader::new(bytes, Arc::clone(&lists));
            let read = (
                from.number()?,
                from.text()?.to_owned(),
                from.numbers::<u32>()?,
                Log::load(&mut from)?,
            );
            from.is_done().then_some(read)
        };
        let (number, text, numbers, again): (_, _, _, Log<u64>) = read(bytes).unwrap();
        assert_eq!((number, text.as_str(), numbers.as_slice()), (7, "Grüße", &[1, 2, 3][..]));
        assert!(again.iter().eq(log.iter()) && again.len() == 700);
        // However it is cut, nothing is read beyond its end.
        for len in (0..bytes.len()).step_by(8) {
            assert!(read(&bytes[..len]).is_none(), "{len}");
        }
        // Whatever stands there.
        for at in 0..aligned.len() {
            for value in [0, 1, 255, u64::MAX, u64::MAX / 8] {
                let mut other = aligned.clone();
                other[at] = value;
                let _ = read(bytemuck::cast_slice(&other)).map(|(.., log)| log.iter().count());
            }
        }
    }
}
