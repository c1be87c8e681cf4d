//! What can keep a source from yielding: each error says what was being done, with what, why, and the cure.

use std::path::PathBuf;

use crate::config::without_secrets;

/// A source that cannot be opened, or that stopped for good.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// The file system refused.
    #[error("reading {path}: {source}")]
    Io {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Nothing in the file.
    #[error("opening {path}: the file is empty; record it again")]
    Empty {
        /// Which file.
        path: PathBuf,
    },
    /// Neither a bag nor anything that GStreamer decodes.
    #[error(
        "opening {path}: {reason}; a recording is a bag (.bag, .db3, .mcap, a rosbag2 folder) or a video or sound file that GStreamer decodes"
    )]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// What the parser or decoder said.
        reason: String,
    },
    /// No picture, no sound, no pose in the selected topics.
    #[error("opening {path}: nothing to see or hear: {reason}")]
    NothingSelected {
        /// Which file.
        path: PathBuf,
        /// What there is.
        reason: String,
    },
    /// Replay options that contradict each other.
    #[error("replay options: {0}")]
    BadOptions(String),
    /// A recording of which no film can be made.
    #[error("making a film: {0}")]
    Film(String),
    /// A GStreamer element or decoder that is not installed.
    #[error("{doing}: GStreamer lacks {what}; {}", missing(.package.as_deref()))]
    MissingPlugin {
        /// What was being done.
        doing: String,
        /// Element or codec.
        what: String,
        /// Debian package, where it is known.
        package: Option<String>,
    },
    /// No launch description of that name.
    #[error(
        "pipeline {shown:?} not found in {searched}; write it there as {shown}.launch or give a launch description that contains `!`",
        shown = without_secrets(name)
    )]
    PipelineNotFound {
        /// Its name.
        name: String,
        /// Folders that were looked through.
        searched: String,
    },
    /// A launch description that does not start.
    #[error("starting pipeline {name:?}: {}", without_secrets(reason))]
    Pipeline {
        /// Its name, or the file being played.
        name: String,
        /// What GStreamer said.
        reason: String,
    },
    /// A source yields nothing and does not end.
    #[error("playing {path}: no data for {secs} s and no end; the decoder hangs")]
    Stalled {
        /// Which file.
        path: PathBuf,
        /// How long.
        secs: u64,
    },
    /// A microphone that cannot be opened.
    #[error("opening microphone {device:?}: {reason}")]
    Microphone {
        /// Its name.
        device: String,
        /// What the sound system said.
        reason: String,
    },
    /// A picture that cannot be turned into pixels.
    #[error("decoding a picture of {camera}: {reason}")]
    Picture {
        /// Which camera.
        camera: String,
        /// Why.
        reason: String,
    },
}

/// What to do about what GStreamer lacks.
fn missing(package: Option<&str>) -> String {
    match package {
        Some(package) => format!("install it with `sudo apt-get install {package}`"),
        None => "is its name right? `apt-cache search gstreamer1.0` lists the packages with more \
                 (gstreamer1.0-plugins-good, -bad and -ugly have most)"
            .to_owned(),
    }
}
