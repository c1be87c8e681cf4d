//! A recording on disk: what it is, what is in it, and which part of it is to be played.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::bag::cameras::CameraInfos;
use super::bag::{FrameNames, Kind};
use super::error::CaptureError;
use super::options::ReplayOptions;
use super::part::{Container, Part, Played};
use super::playback::Playback;
use crate::camera::CameraInfo;
use crate::ids::SourceId;
use crate::time::Timestamp;

/// Why the options leave nothing of what begins at `first`; `None` where they leave something, or nobody knows how long
/// it is.
fn nothing_selected(parts: &[Part], first: Timestamp, options: &ReplayOptions) -> Option<String> {
    let end_of =
        |part: &Part| part.container.duration_secs().map(|secs| part.start.plus_secs(secs));
    let ends: Option<Vec<Timestamp>> = parts.iter().map(end_of).collect();
    let last = ends?.into_iter().max()?;
    let from = first.plus_secs(options.start_offset_secs);
    let nothing = from > last || options.until.is_some_and(|until| until < from);
    nothing.then(|| {
        format!(
            "it is from {first} to {last} ({:.1} s), and nothing of that is selected; look at --start-offset, --until \
             and --start-time",
            last.secs_since(first)
        )
    })
}

/// A recording, opened and looked into; nothing plays yet.
#[derive(Debug)]
pub struct Recording {
    path: PathBuf,
    options: ReplayOptions,
    sha256: String,
    parts: Vec<Part>,
    start: Timestamp,
    start_is_guess: bool,
    cameras: Vec<SourceId>,
    microphones: Vec<SourceId>,
    /// What is played of all parts, in name order.
    played: Vec<Played>,
}

impl Recording {
    /// Opens a bag (rosbag1 `.bag`, rosbag2 folder or `.db3`, `.mcap`) or any file that GStreamer decodes and finds out what is in it.
    ///
    /// # Errors
    /// When the file cannot be read, is empty, corrupt or of an unknown kind, when a decoder is not
    /// installed, when the options contradict each other or nothing of it is selected.
    pub fn open(path: &Path, options: &ReplayOptions) -> Result<Self, CaptureError> {
        Self::open_together(std::slice::from_ref(&path.to_owned()), options)
    }

    /// Opens several bags or files that are one recording: they are played in the order of their capture
    /// times. Each must say when it began, unless there is only one. A topic that one before it has at the same
    /// time is called by the number of its file or folder, `2:/camera`.
    ///
    /// # Errors
    /// As [`open`](Self::open), and when one of several does not say when it began.
    pub fn open_together(paths: &[PathBuf], options: &ReplayOptions) -> Result<Self, CaptureError> {
        options.check()?;
        let Some(path) = paths.first() else {
            return Err(CaptureError::BadOptions("no recording is named".to_owned()));
        };
        let (mut containers, mut hashes) = (Vec::new(), Vec::new());
        for path in paths {
            hashes.push(hash(path)?);
            containers.push(Container::open(path)?);
        }
        let sha256 = match hashes.as_slice() {
            [one] => one.clone(),
            all => hex::encode(Sha256::digest(all.join("\n"))),
        };
        let undated = containers.iter().zip(paths).find(|(one, _)| one.start().is_none());
        if let (Some((_, path)), 2..) = (undated, paths.len()) {
            let text = format!("{} does not say when it began; play it by itself", path.display());
            return Err(CaptureError::BadOptions(text));
        }
        let recorded_start = containers.iter().filter_map(Container::start).min();
        let start = options.start_time.or(recorded_start);
        let first = start.unwrap_or(Timestamp::EPOCH);
        let behind = |container: &Container| {
            let own = container.start().or(recorded_start).zip(recorded_start);
            own.map_or(0, |(own, earliest)| own.as_nanos().saturating_sub(earliest.as_nanos()))
        };
        let mut parts: Vec<Part> = Vec::with_capacity(paths.len());
        for (index, container) in containers.into_iter().enumerate() {
            let nanos = first.as_nanos().saturating_add(behind(&container));
            let number = (paths.len() > 1).then_some(index + 1);
            let part = Part::of(container, number, Timestamp::from_nanos(nanos), &parts, options);
            parts.push(part);
        }
        let is_missing = |name: &&String| !parts.iter().any(|part| part.has_text(name));
        if let Some(name) = options.transcripts.iter().find(is_missing) {
            let reason = format!(
                "it has no topic {name} of text for --transcripts or replay.transcripts (std_msgs/String or JSON)"
            );
            return Err(CaptureError::NothingSelected { path: path.to_owned(), reason });
        }
        let mut played: Vec<Played> = parts.iter().flat_map(Part::played).cloned().collect();
        played.sort();
        played.dedup();
        if played.is_empty() {
            let mut names: Vec<&str> = parts.iter().flat_map(Part::there).collect();
            names.sort_unstable();
            names.dedup();
            let reason = match (parts.first().map(|part| &part.container), names.is_empty()) {
                (_, false) => format!("the selected topics are not among {}", names.join(", ")),
                (Some(Container::Bag(bag)), true) => bag.why_nothing_plays(),
                _ => "it has neither pictures nor sound".to_owned(),
            };
            return Err(CaptureError::NothingSelected { path: path.to_owned(), reason });
        }
        for (part, path) in parts.iter().zip(paths) {
            if let Container::Bag(bag) = &part.container
                && let Some(topics) = bag.not_played()
            {
                tracing::warn!(path = %path.display(), topics, "topics of types that are not played");
            }
        }
        let of_kind = |kind| {
            let of_it = played.iter().filter(|one| one.kind == kind);
            let mut ids: Vec<SourceId> = of_it.map(|one| one.source.clone()).collect();
            ids.sort();
            ids.dedup();
            ids
        };
        if let Some(reason) = nothing_selected(&parts, first, options) {
            return Err(CaptureError::NothingSelected { path: path.to_owned(), reason });
        }
        if start.is_none() {
            tracing::debug!(path = %path.display(), "no start time in the recording; taking 1970-01-01 (give --start-time)");
        }
        Ok(Self {
            path: path.to_owned(),
            options: options.clone(),
            sha256,
            parts,
            start: first,
            start_is_guess: start.is_none(),
            cameras: of_kind(Kind::Camera),
            microphones: of_kind(Kind::Microphone),
            played,
        })
    }

    /// Where it lies.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// SHA-256 of its bytes, 64 hex digits; of a directory: of its sorted file names and bytes.
    #[must_use]
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// Canonical text of topics, names and span: with [`sha256`](Self::sha256) it says what was played.
    #[must_use]
    pub fn selection(&self) -> String {
        let mut topics: Vec<_> = self
            .played
            .iter()
            .map(|Played { name, source, .. }| match source.as_str() {
                source if source == name => name.clone(),
                source => format!("{name}:={source}"),
            })
            .collect();
        topics.sort();
        let text = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
        let mut selection = format!(
            "topics={} start={} offset={:.9} duration={} until={}",
            topics.join(","),
            text(self.options.start_time.map(|at| at.to_string())),
            self.options.start_offset_secs,
            text(self.options.duration_secs.map(|secs| format!("{secs:.9}"))),
            text(self.options.until.map(|at| at.to_string())),
        );
        // How it is read, where that is not as always: another way to read it is another memory.
        let ReplayOptions { sound, frames, .. } = &self.options;
        if !sound.is_empty() {
            let sound: Vec<String> = sound.iter().cloned().map(String::from).collect();
            selection.push_str(&format!(" sound={}", sound.join(";")));
        }
        if *frames != FrameNames::default() {
            let FrameNames { bases, fixed } = frames;
            selection.push_str(&format!(" frames={}:{}", bases.join(","), fixed.join(",")));
        }
        selection
    }

    /// What its file, or folder, is called; of several together the first.
    #[must_use]
    pub fn name(&self) -> String {
        self.path.file_name().unwrap_or(self.path.as_os_str()).to_string_lossy().into_owned()
    }

    /// Capture time of its beginning (of the whole recording, before `start_offset_secs`).
    #[must_use]
    pub fn start(&self) -> Timestamp {
        self.start
    }

    /// Neither the caller nor the recording says when it was made: [`start`](Self::start) is 1970.
    #[must_use]
    pub fn start_is_guess(&self) -> bool {
        self.start_is_guess
    }

    /// Seconds that will be played, as far as the container tells.
    #[must_use]
    pub fn duration_secs(&self) -> Option<f64> {
        let whole = self.parts.iter().try_fold(0.0_f64, |longest, part| {
            let end = part.start.plus_secs(part.container.duration_secs()?);
            Some(longest.max(end.secs_since(self.start)))
        });
        let mut left = whole.map(|secs| (secs - self.options.start_offset_secs).max(0.0));
        for cap in [
            self.options.duration_secs,
            self.options.until.map(|until| until.secs_since(self.first()).max(0.0)),
        ]
        .into_iter()
        .flatten()
        {
            left = left.map(|secs| secs.min(cap));
        }
        left
    }

    /// Its selected cameras, in name order.
    #[must_use]
    pub fn cameras(&self) -> &[SourceId] {
        &self.cameras
    }

    /// Its selected microphones, in name order.
    #[must_use]
    pub fn microphones(&self) -> &[SourceId] {
        &self.microphones
    }

    /// The calibrations that its bags tell of their selected cameras.
    #[must_use]
    pub fn calibrations(&self) -> BTreeMap<SourceId, CameraInfo> {
        let mut all = CameraInfos::default();
        for part in &self.parts {
            if let Container::Bag(bag) = &part.container {
                all.merge(bag.cameras());
            }
        }
        let mut calibrations = BTreeMap::new();
        for part in &self.parts {
            let own = if let Container::Bag(bag) = &part.container { bag.cameras() } else { &all };
            for (topic, played) in part.selected() {
                if let Some(camera) = own.of_topic(topic).or_else(|| all.of_topic(topic)) {
                    calibrations.entry(played.source.clone()).or_insert(camera);
                }
            }
        }
        calibrations
    }

    /// Nothing before this is played.
    fn first(&self) -> Timestamp {
        self.start.plus_secs(self.options.start_offset_secs)
    }

    /// Nothing at or after this is played.
    fn end(&self) -> Timestamp {
        let by_duration =
            self.options.duration_secs.map_or(Timestamp::MAX, |secs| self.first().plus_secs(secs));
        by_duration.min(self.options.until.unwrap_or(Timestamp::MAX))
    }

    /// Starts decoding from the beginning.
    ///
    /// # Errors
    /// When the file can no longer be read or the decoder does not start.
    pub fn play(&self) -> Result<Playback, CaptureError> {
        // Header stamps may lie a little before the first log time: cut only where a cut was asked for.
        let cut = self.options.start_offset_secs > 0.0;
        let first = if cut { self.first() } else { Timestamp::from_nanos(i64::MIN) };
        let mut playback = Playback::new(&self.path, first, self.end());
        for part in &self.parts {
            playback = part.play(playback)?;
        }
        Ok(playback)
    }
}

/// SHA-256 of a file's bytes or of a directory's sorted names and bytes, in hex.
fn hash(path: &Path) -> Result<String, CaptureError> {
    let mut hasher = Sha256::new();
    if path.is_dir() {
        let io = |source| CaptureError::Io { path: path.to_owned(), source };
        let mut files = std::fs::read_dir(path)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(io)?
            .into_iter()
            .map(|entry| entry.path())
            .filter(|path| path.is_file())
            .collect::<Vec<_>>();
        files.sort();
        for file in files {
            let name = file.file_name().unwrap_or_default().as_encoded_bytes();
            hasher.update((name.len() as u64).to_le_bytes());
            hasher.update(name);
            hash_file(&file, &mut hasher)?;
        }
    } else if hash_file(path, &mut hasher)? == 0 {
        return Err(CaptureError::Empty { path: path.to_owned() });
    }
    Ok(hex::encode(hasher.finalize()))
}

/// Feeds a file's bytes to the hasher; its length.
fn hash_file(path: &Path, hasher: &mut Sha256) -> Result<u64, CaptureError> {
    let io = |source| CaptureError::Io { path: path.to_owned(), source };
    let mut file = File::open(path).map_err(io)?;
    let mut buffer = vec![0; 1 << 20];
    let mut length = 0;
    loop {
        let read = file.read(&mut buffer).map_err(io)?;
        if read == 0 {
            return Ok(length);
        }
        hasher.update(&buffer[..read]);
        length += read as u64;
    }
}
