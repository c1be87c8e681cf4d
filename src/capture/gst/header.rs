//! What a file's own header tells that GStreamer does not: how many bytes the file should have, and how many pictures.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// Headers are looked for in so many bytes.
const LOOKED_AT: u64 = 4_096;

/// What the header promises.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Promised {
    /// Bytes of the whole file.
    pub(super) bytes: Option<u64>,
    /// Length, seconds.
    pub(super) secs: Option<f64>,
}

/// A little-endian number of four bytes.
fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// What RIFF (AVI, WAVE) says; of other containers GStreamer tells.
fn promised(begin: &[u8]) -> Promised {
    let mut promised = Promised::default();
    if !begin.starts_with(b"RIFF") {
        return promised;
    }
    // Recorders that cannot go back leave nothing or everything there.
    let size = word(begin, 4).filter(|size| !matches!(size, 0 | 0x7FFF_FFFF..));
    promised.bytes = size.map(|size| u64::from(size) + 8);
    // The main header of AVI: microseconds per picture, and their number.
    if let Some(at) = begin.windows(4).position(|name| name == b"avih")
        && let (Some(micros @ 1..), Some(pictures @ 1..)) =
            (word(begin, at + 8), word(begin, at + 24))
    {
        promised.secs = Some(f64::from(micros) * 1e-6 * f64::from(pictures));
    }
    promised
}

/// What the header of a file promises; nothing where it cannot be read.
pub(super) fn of_file(path: &Path) -> Promised {
    let mut begin = Vec::new();
    match File::open(path).and_then(|file| file.take(LOOKED_AT).read_to_end(&mut begin)) {
        Ok(_) => promised(&begin),
        Err(_) => Promised::default(),
    }
}

/// Whether a file is JPEGs one behind the other, as Motion JPEG comes out of a camera without a container: three at least,
/// since telephones put a second picture behind their photographs.
pub(super) fn is_motion_jpeg(path: &Path) -> bool {
    /// Three pictures lie in so much.
    const MOST: u64 = 64 << 20;
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MOST).read_to_end(&mut bytes));
    if read.is_err() || !bytes.starts_with(&[0xFF, 0xD8, 0xFF]) {
        return false;
    }
    let ends = bytes.windows(2).enumerate().filter(|(_, pair)| *pair == [0xFF, 0xD9]);
    let behind = ends.filter(|(at, _)| {
        let rest = bytes.get(at + 2..).unwrap_or_default();
        let filled = rest.iter().take(4_096).take_while(|byte| **byte == 0).count();
        rest.get(filled..).is_some_and(|next| next.starts_with(&[0xFF, 0xD8, 0xFF]))
    });
    behind.take(2).count() == 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn riff_tells_how_long_it_should_be() {
        let mut avi = b"RIFF\x00\x10\x00\x00AVI LIST\x00\x00\x00\x00hdrlavih8\0\0\0".to_vec();
        let words = |words: &[u32]| words.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<_>>();
        avi.extend(words(&[40_000, 0, 0, 0, 100, 0]));
        assert_eq!(promised(&avi).bytes, Some(4_104));
        assert!(promised(&avi).secs.is_some_and(|secs| (secs - 4.0).abs() < 1e-9));
        avi[4..8].copy_from_slice(&[0xFF; 4]);
        assert_eq!(promised(&avi).bytes, None);
        assert_eq!(promised(b"RIFF"), Promised::default());
        assert_eq!(promised(b"\0\0\0 ftypisom"), Promised::default());
    }
}
