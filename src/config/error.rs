//! What can be wrong with a configuration, and where.

use std::fmt;
use std::path::PathBuf;

use super::without_secrets;
use crate::encryption::EncryptionError;

/// Where a value was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a file; line and column count from 1.
    File {
        /// The file.
        path: PathBuf,
        /// Line.
        line: usize,
        /// Column, in characters.
        column: usize,
    },
    /// On the command line: the text after `--set`.
    Override(String),
    /// Nowhere: the value is a default.
    Default,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, line, column } => {
                write!(f, "{}:{line}:{column}", path.display())
            }
            Self::Override(text) => write!(f, "--set {text}"),
            Self::Default => f.write_str("configuration"),
        }
    }
}

/// One thing that is wrong: where, what, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where.
    pub place: Place,
    /// What, and the cure.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Both may repeat an address that was written.
        f.write_str(&without_secrets(&format!("{}: {}", self.place, self.message)))
    }
}

/// Why no configuration could be had.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file named with `--config` cannot be read.
    #[error(
        "reading the configuration file {}: {source}; name another one with --config, or leave the option out to run with the built-in defaults",
        path.display()
    )]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file or an override says something that cannot be.
    #[error("{}", list(.0))]
    Invalid(Vec<Problem>),
    /// The store's key cannot be used.
    #[error("the key of the store in {}: {source}", path.display())]
    Key {
        /// Its file.
        path: PathBuf,
        /// Why.
        source: EncryptionError,
    },
    /// A secret's file cannot be read.
    #[error("reading the {what} from {}: {source}; write it there, readable by the daemon's user", path.display())]
    Secret {
        /// Which secret.
        what: &'static str,
        /// Where it should be.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

fn list(problems: &[Problem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}
