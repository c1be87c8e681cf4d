//! What can be wrong with a model file, and what to do about it.

use std::io;
use std::path::PathBuf;

use crate::config::ModelSet;
use crate::models::job::{Job, set_name};
use crate::runtime::crash_history::Rest;

/// Why a model could not be had.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// The manifest is not what it should be.
    #[error("reading the model manifest {path}: {why}")]
    Manifest {
        /// The file, or "(built in)".
        path: String,
        /// What is wrong with it.
        why: String,
    },
    /// The set has no model for this job at all.
    #[error("the model set `{set}` has no {job}", set = set_name(*set))]
    NoModel {
        /// The set that was asked for.
        set: ModelSet,
        /// The job.
        job: Job,
    },
    /// None of the job's models is present.
    #[error(
        "no {job} of the model set `{set}` is present in {dir} (wanted: {wanted}); {cure}",
        set = set_name(*set), dir = dir.display()
    )]
    NonePresent {
        /// The set that was asked for.
        set: ModelSet,
        /// The job.
        job: Job,
        /// Where was looked first.
        dir: PathBuf,
        /// The models that would do, best first.
        wanted: String,
        /// The command that brings it.
        cure: String,
    },
    /// None of the models that the configuration names is present.
    #[error(
        "no {job} that `{key}` names is present in {dir} (wanted: {wanted}); {cure}, or set {key} = \"auto\"",
        dir = dir.display()
    )]
    NamedAbsent {
        /// The key of the configuration.
        key: &'static str,
        /// The job.
        job: Job,
        /// Where was looked first.
        dir: PathBuf,
        /// The models that would do, best first.
        wanted: String,
        /// What brings one.
        cure: String,
    },
    /// It crashed the process again and again.
    #[error("{name} ({file}): {rest}; `engramd models verify` tells whether it is the published file", rest = .rest)]
    LeftOut {
        /// The model.
        name: String,
        /// The file that ran.
        file: String,
        /// For how long.
        rest: Rest,
    },
    /// No model has this name.
    #[error("there is no model `{name}`{suggestion}; `engramd models list` shows all")]
    Unknown {
        /// The name.
        name: String,
        /// " (did you mean `…`?)" or nothing.
        suggestion: String,
    },
    /// A file of the model is not there.
    #[error("model `{name}`: its file {file} is not in {dir}; {cure}", dir = dir.display())]
    Missing {
        /// The model.
        name: String,
        /// The missing file.
        file: String,
        /// Where was looked first.
        dir: PathBuf,
        /// The command that brings it.
        cure: String,
    },
    /// A file is not the published one.
    #[error(
        "{path} is not the published file: its SHA-256 is {found}, the manifest says {expected}; \
         remove it and run `engramd models fetch`",
        path = path.display()
    )]
    WrongHash {
        /// The file.
        path: PathBuf,
        /// The hash in the manifest.
        expected: String,
        /// The hash of the file.
        found: String,
    },
    /// A file that has no published hash changed since it was first used.
    #[error(
        "{path} has changed since it was first used: its SHA-256 was {locked}, it is {found}. What was \
         remembered with the old file cannot be compared with the new one; put the old file back, or take \
         the new one with `engramd models verify --accept`",
        path = path.display()
    )]
    Changed {
        /// The file.
        path: PathBuf,
        /// The hash in `models.lock`.
        locked: String,
        /// The hash of the file.
        found: String,
    },
    /// The operating system refused something.
    #[error("{doing} {path}: {source}", path = path.display())]
    Io {
        /// What was being done ("reading", "writing", …).
        doing: &'static str,
        /// With which file.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// A thresholds file could not be understood.
    #[error("reading the matching thresholds {path}: {why}")]
    Thresholds {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A file could not be brought from anywhere.
    #[error("fetching {file}: {why}")]
    Fetch {
        /// The file.
        file: String,
        /// What was tried, and how each try ended.
        why: String,
    },
    /// A program that fetching needs could not be run, or failed.
    #[error("running `{command}`: {why}")]
    Command {
        /// The command line.
        command: String,
        /// How it ended, and the cure where there is one.
        why: String,
    },
}

impl ModelError {
    /// An [`ModelError::Io`], for `map_err`.
    pub(crate) fn io(
        doing: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { doing, path, source }
    }

    /// Whether the model is simply not here, or left out for a while, as against damaged or unreadable.
    #[must_use]
    pub fn is_absence(&self) -> bool {
        matches!(
            self,
            Self::NoModel { .. }
                | Self::NonePresent { .. }
                | Self::NamedAbsent { .. }
                | Self::Missing { .. }
                | Self::LeftOut { .. }
        )
    }
}
