//! What every command is given.

use std::path::PathBuf;

use crate::config::{Config, Source};

/// What every command is given.
#[derive(Debug)]
pub struct Context {
    /// The configuration, [`Config::resolved`].
    pub config: Config,
    /// The file it came from.
    pub config_file: Option<PathBuf>,
    /// `--json`.
    pub json: bool,
    /// `--data-dir`: read the store there.
    pub data_dir: Option<PathBuf>,
    /// `--http`: the daemon's address there.
    pub http: Option<String>,
    /// `--token-file`: what to come with.
    pub token_file: Option<PathBuf>,
    /// Where the configuration came from, to be read again.
    pub source: Source,
}
