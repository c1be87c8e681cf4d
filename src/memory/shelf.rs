//! Vectors that lie on disk and are mapped: the system keeps of them in RAM what is used.
//!
//! A shelf is a file without a name in the store's folder, made anew at every start and gone with the process;
//! the truth stays in SQLite. What is put on it never changes. Erasing makes a new shelf, so nothing of what was
//! erased is left on one. Where no file can be made, or the disk is full, vectors stay in RAM.

use std::fs::File;
use std::ops::Deref;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use memmap2::Mmap;
use tracing::debug;

/// Mapped at once, bytes.
const BLOCK_BYTES: usize = 32 << 20;

/// Where vectors are put.
#[derive(Debug, Default)]
pub(crate) struct Shelf(Option<Mutex<Open>>);

#[derive(Debug)]
struct Open {
    file: File,
    /// The newest block, how much of it is used, and where it begins in the file, bytes.
    block: Option<(Arc<Mmap>, usize, u64)>,
    /// Where the next one begins: what was handed out is never written again.
    next: u64,
}

/// A vector's components, `[D]`: on the shelf, or in RAM.
#[derive(Clone)]
pub(crate) struct Values(Place);

#[derive(Clone)]
enum Place {
    Ram(Arc<[f32]>),
    /// In a block: where it begins, bytes, and its length, components.
    Shelf(Arc<Mmap>, u32, u32),
}

impl Shelf {
    /// A shelf in that folder.
    pub(crate) fn new(dir: &Path) -> Self {
        match tempfile::tempfile_in(dir) {
            Ok(file) => Self(Some(Mutex::new(Open { file, block: None, next: 0 }))),
            Err(error) => {
                // Read beside a daemon of another user, for instance.
                debug!(%error, dir = %dir.display(), "vectors stay in RAM");
                Self(None)
            }
        }
    }

    /// Puts a vector down.
    pub(crate) fn put(&self, values: &[f32]) -> Values {
        let shelved = self.0.as_ref().and_then(|open| {
            let mut open = open.lock().unwrap_or_else(PoisonError::into_inner);
            open.put(values).inspect_err(|error| debug!(%error, "a vector stays in RAM")).ok()
        });
        shelved.unwrap_or_else(|| Values::from(values))
    }
}

impl Open {
    fn put(&mut self, values: &[f32]) -> std::io::Result<Values> {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
        if bytes.len() > BLOCK_BYTES {
            return Err(std::io::ErrorKind::InvalidInput.into());
        }
        let (map, used, begins) = match self.block.take() {
            Some((map, used, begins)) if used + bytes.len() <= BLOCK_BYTES => (map, used, begins),
            _ => {
                let begins = self.next;
                self.file.set_len(begins + BLOCK_BYTES as u64)?;
                let map = Arc::new(map_block(&self.file, begins)?);
                self.next = begins + BLOCK_BYTES as u64;
                (map, 0, begins)
            }
        };
        let written = self.file.write_all_at(&bytes, begins + used as u64);
        // What was written in part is written over: nobody has it yet.
        let end = if written.is_ok() { used + bytes.len() } else { used };
        self.block = Some((Arc::clone(&map), end, begins));
        written?;
        Ok(Values(Place::Shelf(map, used as u32, values.len() as u32)))
    }
}

fn map_block(file: &File, begins: u64) -> std::io::Result<Mmap> {
    let mut options = memmap2::MmapOptions::new();
    options.offset(begins).len(BLOCK_BYTES);
    // SAFETY: the file has no name and no other process has it; it is never cut, and a byte that was handed
    // out (all of them were written by then, so that they are on disk blocks of their own) is never written again.
    unsafe { options.map(file) }
}

impl From<&[f32]> for Values {
    fn from(values: &[f32]) -> Self {
        Self(Place::Ram(values.into()))
    }
}

impl Deref for Values {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        match &self.0 {
            Place::Ram(values) => values,
            Place::Shelf(map, from, len) => {
                let (from, len) = (*from as usize, *len as usize * size_of::<f32>());
                let bytes = map.get(from..from + len).unwrap_or_default();
                // SAFETY: every four bytes are a number; what is not aligned is left out, and nothing is: blocks
                // begin at pages, and all that is put on them is a multiple of four long.
                unsafe { bytes.align_to::<f32>().1 }
            }
        }
    }
}

impl std::fmt::Debug for Values {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl PartialEq for Values {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_down_is_read_again_from_any_block() {
        let dir = tempfile::tempdir().unwrap();
        let shelf = Shelf::new(dir.path());
        // Some do not fit the end of a block.
        let vector = |seed: usize| -> Vec<f32> {
            (0..400_000 + seed).map(|at| (at * 31 + seed) as f32).collect()
        };
        let values: Vec<Values> = (0..50).map(|seed| shelf.put(&vector(seed))).collect();
        for (seed, values) in values.iter().enumerate() {
            assert!(matches!(values.0, Place::Shelf(..)));
            assert_eq!(**values, *vector(seed));
        }
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "it has no name");
        drop(shelf);
        assert_eq!(*values[0], *vector(0), "what is read stays");
        let none = Shelf::new(&dir.path().join("missing"));
        assert_eq!(*none.put(&[0.5, -1.0]), [0.5, -1.0]);
        assert!(none.put(&[]).is_empty());
    }
}
