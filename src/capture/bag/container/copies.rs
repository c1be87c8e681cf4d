//! Copies of recordings that cannot be read where they lie: packed files, and databases with a log beside them (opening
//! one in place would write there).
//!
//! A copy lies in a folder of its own that is gone with the bag: in `$TMPDIR` if that is set, else in `/var/tmp`,
//! which is meant for what is large (`/tmp` is often in memory), else in `/tmp`.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::capture::error::CaptureError;

/// A folder with room for so many bytes of a copy of `file`.
///
/// # Errors
/// When there is none, in words that say how much is missing where.
pub(in crate::capture::bag) fn folder_for(
    file: &Path,
    bytes: u64,
) -> Result<TempDir, CaptureError> {
    let asked = std::env::var_os("TMPDIR").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let usual = ["/var/tmp", "/tmp"].map(PathBuf::from).to_vec();
    roomy(file, bytes, &asked.map_or(usual, |folder| vec![folder]))
}

fn roomy(file: &Path, bytes: u64, folders: &[PathBuf]) -> Result<TempDir, CaptureError> {
    let mut refused = Vec::new();
    for folder in folders {
        let free = rustix::fs::statvfs(folder.as_path()).map(|disk| disk.f_bavail * disk.f_frsize);
        let reason = match free {
            Ok(free) if free < bytes => format!("has {free} free"),
            Ok(_) => match tempfile::tempdir_in(folder) {
                Ok(copy) => return Ok(copy),
                Err(error) => format!("cannot be written ({error})"),
            },
            Err(error) => format!("is not there ({error})"),
        };
        refused.push(format!("{} {reason}", folder.display()));
    }
    let reason = format!(
        "it has to be copied, which takes {bytes} bytes, but {}; set TMPDIR to a folder with room",
        refused.join(", ")
    );
    Err(CaptureError::Unreadable { path: file.to_owned(), reason })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_goes_where_there_is_room_and_nowhere_else() {
        let (room, file) = (tempfile::tempdir().unwrap(), Path::new("run.db3"));
        let missing = room.path().join("missing");
        let folders = [missing.clone(), room.path().to_owned()];
        let copy = roomy(file, 1, &folders).unwrap();
        assert_eq!(copy.path().parent(), Some(room.path()));
        let error = roomy(file, u64::MAX, &folders).unwrap_err().to_string();
        assert!(error.contains("run.db3") && error.contains(&u64::MAX.to_string()), "{error}");
        assert!(error.contains(missing.to_str().unwrap()) && error.contains("free"), "{error}");
    }
}
