//! A store that is gone when the benchmark is over.

use std::path::Path;

use tempfile::TempDir;

use super::BenchError;
use crate::config::Config;

/// Where the state directory keeps what was measured of cameras and models.
const CALIBRATION: &str = "calibration";

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

/// The configuration with an empty store, and its folder; calibrated as the configured state directory is.
///
/// # Errors
/// As [`folder`].
pub(super) fn store(config: &Config) -> Result<(TempDir, Config), BenchError> {
    let folder = folder()?;
    let config = kept(config, folder.path())?;
    Ok((folder, config))
}

/// The same with a store in a folder that stays, made where there is none.
///
/// # Errors
/// When it cannot be made or written to.
pub(super) fn kept(config: &Config, folder: &Path) -> Result<Config, BenchError> {
    std::fs::create_dir_all(folder)
        .map_err(|source| BenchError::Io { path: folder.to_owned(), source })?;
    // What was measured of this machine holds for its figures, too.
    let calibrated = config.store_dir().join(CALIBRATION);
    let here = folder.join(CALIBRATION);
    if calibrated.is_dir() && !here.exists() {
        // A link is followed from where it lies, not from where the configured path was meant.
        std::path::absolute(calibrated)
            .and_then(|there| std::os::unix::fs::symlink(there, &here))
            .map_err(|source| BenchError::Io { path: here, source })?;
    }
    let mut config = config.clone();
    config.store.dir = Some(folder.to_owned());
    Ok(config)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn a_store_of_a_benchmark_has_the_calibrations_of_the_configured_one_and_leaves_them() {
        let state = tempfile::tempdir().unwrap();
        let mut config = Config::default();
        config.store.dir = Some(state.path().to_owned());
        assert!(!store(&config).unwrap().0.path().join(CALIBRATION).exists());
        std::fs::create_dir(state.path().join(CALIBRATION)).unwrap();
        let file = state.path().join("calibration/front.yaml");
        std::fs::write(&file, "front").unwrap();
        // The same folder as seen from the working folder.
        let up: PathBuf = std::env::current_dir().unwrap().iter().skip(1).map(|_| "..").collect();
        let relative = up.join(state.path().strip_prefix("/").unwrap());
        for dir in [state.path(), &relative] {
            config.store.dir = Some(dir.to_owned());
            let (_folder, scratch) = store(&config).unwrap();
            let seen = scratch.store_dir().join("calibration/front.yaml");
            assert_eq!(std::fs::read_to_string(seen).unwrap(), "front", "{}", dir.display());
        }
        assert_eq!(std::fs::read_to_string(file).unwrap(), "front");
    }
}
