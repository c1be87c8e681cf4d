//! A store that is gone when the benchmark is over.

use tempfile::TempDir;

use super::BenchError;
use crate::config::Config;

/// An empty folder for a store.
///
/// # Errors
/// When the system's folder for temporary files refuses it.
pub(super) fn folder() -> Result<TempDir, BenchError> {
    tempfile::Builder::new()
        .prefix("engram-bench-")
        .tempdir()
        .map_err(|source| BenchError::Io { path: std::env::temp_dir(), source })
}

/// The configuration with an empty store, and its folder.
///
/// # Errors
/// As [`folder`].
pub(super) fn store(config: &Config) -> Result<(TempDir, Config), BenchError> {
    let folder = folder()?;
    let mut config = config.clone();
    config.store.dir = Some(folder.path().to_owned());
    Ok((folder, config))
}
