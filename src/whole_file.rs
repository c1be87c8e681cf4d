//! Files that are there as a whole or not at all.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// How the name of a file ends that is still written: what a kill leaves.
pub const UNFINISHED: &str = "part";

/// Writes a file (mode 0600) in the place of what was there, on the disk when this returns. Its folder must be there.
///
/// # Errors
/// When the disk fails; then the file is as it was.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let unfinished = path.with_extension(UNFINISHED);
    let mut options = fs::OpenOptions::new();
    let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&unfinished)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&unfinished, path)?;
    path.parent().map_or(Ok(()), |folder| fs::File::open(folder)?.sync_all())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_file_is_replaced_as_a_whole_and_for_its_owner_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file.json");
        for content in [&b"first"[..], b"a second one"] {
            write(&path, content).unwrap();
            assert_eq!(fs::read(&path).unwrap(), content);
        }
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        assert!(write(&dir.path().join("none/file"), b"x").is_err());
    }
}
