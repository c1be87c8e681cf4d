//! Pictures of the board: files, folders of them, and the frames of a recording.

use std::path::{Path, PathBuf};

use image::GrayImage;

use crate::bench::BenchError;
use crate::bench::error::entries;
use crate::capture::bag::is_bag_folder;
use crate::capture::imaging::picture::{decode, to_rgb};
use crate::capture::{Damage, Recording, ReplayOptions};
use crate::media::Item;
use crate::time::Timestamp;

/// Frames of a recording are looked at this often, seconds, and no more of them than so many.
const EVERY_SECS: f64 = 0.5;
const MOST_FRAMES: f64 = 300.0;

/// Where pictures come from.
#[derive(Debug)]
pub enum Source {
    /// A JPEG or PNG file.
    File(PathBuf),
    /// A bag or a video.
    Recording(Box<Recording>),
}

impl Source {
    /// What the paths hold, in their order; a folder's pictures by name. `topics`: of a bag's cameras only these.
    ///
    /// # Errors
    /// When a path cannot be read, a folder has no pictures, or a recording not exactly one camera.
    pub fn of(paths: &[PathBuf], topics: &[String]) -> Result<Vec<Self>, BenchError> {
        let mut sources = Vec::new();
        for path in paths {
            if path.is_dir() && !is_bag_folder(path)? {
                let files: Vec<PathBuf> =
                    entries(path)?.into_iter().filter(|file| is_picture(file)).collect();
                if files.is_empty() {
                    let reason = "the folder has no .jpg, .jpeg or .png file".to_owned();
                    return Err(BenchError::TooLittle { path: path.clone(), reason });
                }
                sources.extend(files.into_iter().map(Self::File));
            } else if is_picture(path) {
                sources.push(Self::File(path.clone()));
            } else {
                sources.push(Self::Recording(Box::new(recording(path, topics)?)));
            }
        }
        Ok(sources)
    }

    /// Pictures that will come of it, as far as it is known.
    #[must_use]
    pub fn pictures(&self) -> u64 {
        match self {
            Self::File(_) => 1,
            Self::Recording(recording) => {
                recording.duration_secs().map_or(0, |secs| (secs / every_secs(secs)) as u64 + 1)
            }
        }
    }
}

fn recording(path: &Path, topics: &[String]) -> Result<Recording, BenchError> {
    let options = ReplayOptions {
        start_time: Some(Timestamp::EPOCH),
        topics: topics.to_vec(),
        ..ReplayOptions::default()
    };
    let recording = Recording::open(path, &options)?;
    let cameras: Vec<&str> = recording.cameras().iter().map(|camera| camera.as_str()).collect();
    let reason = match cameras.len() {
        1 => return Ok(recording),
        0 => "it has no pictures".to_owned(),
        _ => format!("it has the cameras {}: name one with --topic", cameras.join(", ")),
    };
    Err(BenchError::TooLittle { path: path.to_owned(), reason })
}

/// Seconds between the frames that are looked at.
fn every_secs(whole: f64) -> f64 {
    EVERY_SECS.max(whole / MOST_FRAMES)
}

fn is_picture(path: &Path) -> bool {
    let extension = path.extension().map(|text| text.to_string_lossy().to_lowercase());
    matches!(extension.as_deref(), Some("jpg" | "jpeg" | "png"))
}

/// Reads every picture and hands it on in grey with its name; one that cannot be decoded as the reason. Gives what of the
/// recordings was damaged.
///
/// # Errors
/// When a file cannot be read, or nothing of a recording.
pub fn read(
    sources: &[Source],
    mut each: impl FnMut(String, Result<GrayImage, String>),
) -> Result<Damage, BenchError> {
    let mut damage = Damage::default();
    for source in sources {
        match source {
            Source::File(path) => {
                let fail = |source| BenchError::Io { path: path.clone(), source };
                let bytes = std::fs::read(path).map_err(fail)?;
                let grey = decode(&bytes).map(|rgb| image::imageops::grayscale(&rgb));
                each(path.display().to_string(), grey);
            }
            Source::Recording(recording) => {
                let every = every_secs(recording.duration_secs().unwrap_or(0.0));
                let mut next = f64::NEG_INFINITY;
                let mut playback = recording.play()?;
                while let Some(item) = playback.next()? {
                    let Item::Frame(frame) = item else { continue };
                    let secs = frame.at.secs_since(recording.start());
                    if secs < next {
                        continue;
                    }
                    next = secs + every;
                    let grey = to_rgb(&frame)
                        .map(|rgb| image::imageops::grayscale(&rgb))
                        .map_err(|error| error.to_string());
                    each(format!("{} at {secs:.1} s", recording.path().display()), grey);
                }
                damage.merge(playback.damage());
            }
        }
    }
    Ok(damage)
}
