//! What the targets of bag files share: a file to read from, and that nothing but a bag of the format is an input.

use std::sync::LazyLock;

use engram::capture::bag::fuzz;
use libfuzzer_sys::Corpus;

/// In memory where there is such a folder.
static SCRATCH: LazyLock<tempfile::NamedTempFile> = LazyLock::new(|| {
    let memory = std::path::Path::new("/dev/shm");
    let made = if memory.is_dir() {
        tempfile::NamedTempFile::new_in(memory)
    } else {
        tempfile::NamedTempFile::new()
    };
    made.expect("a scratch file")
});

/// Reads a bag that begins with `magic`; anything else would be another reader's.
pub fn read(magic: &[u8], bytes: &[u8]) -> Corpus {
    if !bytes.starts_with(magic) {
        return Corpus::Reject;
    }
    fuzz::bag(SCRATCH.path(), bytes);
    Corpus::Keep
}
