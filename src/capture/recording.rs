//! A recording on disk: what it is, what is in it, and which part of it is to be played.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use regex_automata::meta::Regex;
use sha2::{Digest as _, Sha256};

use super::bag::camera_info::CameraInfos;
use super::bag::{self, Bag};
use super::error::CaptureError;
use super::gst::{self, MediaFile};
use super::playback::Playback;
use crate::camera::CameraInfo;
use crate::ids::SourceId;
use crate::time::Timestamp;

/// A regular expression over a topic's name.
#[derive(Clone, Debug)]
pub struct Pattern {
    text: String,
    compiled: Regex,
}

impl Pattern {
    /// Compiles it.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn new(text: &str) -> Result<Self, String> {
        let compiled = Regex::new(text).map_err(|error| {
            let why = error.syntax_error().map_or_else(|| error.to_string(), ToString::to_string);
            format!("{text:?} is no regular expression: {why}")
        })?;
        Ok(Self { text: text.to_owned(), compiled })
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

fn names(list: &[String], topic: &str) -> bool {
    list.iter().any(|name| name == topic)
}

fn fits(patterns: &[Pattern], topic: &str) -> bool {
    patterns.iter().any(|pattern| pattern.compiled.is_match(topic))
}

/// Which part of a recording is played, under which names and times.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReplayOptions {
    /// The recording is taken to start here, whatever it says itself.
    pub start_time: Option<Timestamp>,
    /// Seconds left out at the beginning.
    pub start_offset_secs: f64,
    /// Seconds played from there; all when `None`.
    pub duration_secs: Option<f64>,
    /// Nothing at or after this capture time is played.
    pub until: Option<Timestamp>,
    /// Only these topics (names before `remap`; a file has `camera` and `microphone`); all when empty.
    pub topics: Vec<String>,
    /// Not these topics.
    pub exclude_topics: Vec<String>,
    /// Only topics of which one of these expressions matches a part; all when empty.
    pub regex: Vec<Pattern>,
    /// Not the topics of which one of these expressions matches a part.
    pub exclude_regex: Vec<Pattern>,
    /// These topics of text are what people said, understood by somebody else.
    pub transcripts: Vec<String>,
    /// Topics that get another name: (from, to).
    pub remap: Vec<(String, String)>,
}

impl ReplayOptions {
    /// Whether a topic is played.
    #[must_use]
    pub fn selects(&self, topic: &str) -> bool {
        let all = self.topics.is_empty() && self.regex.is_empty();
        (all || names(&self.topics, topic) || fits(&self.regex, topic))
            && !names(&self.exclude_topics, topic)
            && !fits(&self.exclude_regex, topic)
    }

    /// The name under which a topic's items appear.
    #[must_use]
    pub fn source(&self, topic: &str) -> SourceId {
        let renamed = self.remap.iter().find(|(from, _)| from == topic);
        SourceId::new(renamed.map_or(topic, |(_, to)| to))
    }

    fn check(&self) -> Result<(), CaptureError> {
        let bad = |text: String| Err(CaptureError::BadOptions(text));
        if !self.start_offset_secs.is_finite() || self.start_offset_secs < 0.0 {
            return bad(format!("start offset {} s is not 0 or more", self.start_offset_secs));
        }
        if let Some(secs) = self.duration_secs.filter(|secs| !(*secs > 0.0 && secs.is_finite())) {
            return bad(format!("duration {secs} s is not more than 0"));
        }
        Ok(())
    }
}

/// What kind of container it is.
#[derive(Debug)]
enum Container {
    /// Anything GStreamer decodes.
    Media(MediaFile),
    /// Messages under topics.
    Bag(Bag),
}

impl Container {
    fn open(path: &Path) -> Result<Self, CaptureError> {
        Ok(match Bag::open(path)? {
            Some(bag) => Self::Bag(bag),
            None => Self::Media(gst::probe(path)?),
        })
    }

    /// When it says that it began.
    fn start(&self) -> Option<Timestamp> {
        match self {
            Self::Media(media) => media.created,
            Self::Bag(bag) => bag.start(),
        }
    }

    fn duration_secs(&self) -> Option<f64> {
        match self {
            Self::Media(media) => media.duration_secs,
            Self::Bag(bag) => bag.duration_secs(),
        }
    }

    fn topics(&self, options: &ReplayOptions) -> Vec<bag::Topic> {
        match self {
            Self::Media(media) => media.topics(),
            Self::Bag(bag) => bag.topics(options),
        }
    }
}

/// One of the files or folders that are played together.
#[derive(Debug)]
struct Part {
    container: Container,
    /// Capture time of its beginning.
    start: Timestamp,
}

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
    topics: Vec<String>,
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
    /// times. Each must say when it began, unless there is only one.
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
        let mut topics: Vec<_> =
            containers.iter().flat_map(|container| container.topics(options)).collect();
        topics.sort_by(|a, b| (&a.name, a.kind).cmp(&(&b.name, b.kind)));
        topics.dedup();
        let there = topics.clone();
        let text = |name: &String| {
            topics.iter().any(|one| one.kind == bag::Kind::Transcript && one.name == *name)
        };
        if let Some(name) = options.transcripts.iter().find(|name| !text(name)) {
            let reason = format!(
                "it has no topic {name} of text for --transcripts or replay.transcripts (std_msgs/String or JSON)"
            );
            return Err(CaptureError::NothingSelected { path: path.to_owned(), reason });
        }
        // What is named as a transcript is selected by that.
        topics.retain(|topic| topic.kind == bag::Kind::Transcript || options.selects(&topic.name));
        if topics.is_empty() {
            let names: Vec<_> = there.iter().map(|topic| topic.name.as_str()).collect();
            let reason = match (containers.first(), names.is_empty()) {
                (_, false) => format!("the selected topics are not among {}", names.join(", ")),
                (Some(Container::Bag(bag)), true) => bag.why_nothing_plays(),
                _ => "it has neither pictures nor sound".to_owned(),
            };
            return Err(CaptureError::NothingSelected { path: path.to_owned(), reason });
        }
        let of_kind = |kind| {
            let mut ids: Vec<_> = topics
                .iter()
                .filter(|topic| topic.kind == kind)
                .map(|topic| options.source(&topic.name))
                .collect();
            ids.sort();
            ids.dedup();
            ids
        };
        let start = options.start_time.or(recorded_start);
        if start.is_none() {
            tracing::warn!(path = %path.display(), "no start time in the recording; taking 1970-01-01 (give --start-time)");
        }
        let first = start.unwrap_or(Timestamp::EPOCH);
        let behind = |container: &Container| {
            let own = container.start().or(recorded_start).zip(recorded_start);
            own.map_or(0, |(own, earliest)| own.as_nanos().saturating_sub(earliest.as_nanos()))
        };
        let parts = containers.into_iter().map(|container| {
            let nanos = first.as_nanos().saturating_add(behind(&container));
            Part { container, start: Timestamp::from_nanos(nanos) }
        });
        let parts: Vec<Part> = parts.collect();
        if let Some(reason) = nothing_selected(&parts, first, options) {
            return Err(CaptureError::NothingSelected { path: path.to_owned(), reason });
        }
        Ok(Self {
            path: path.to_owned(),
            options: options.clone(),
            sha256,
            parts,
            start: first,
            start_is_guess: start.is_none(),
            cameras: of_kind(bag::Kind::Camera),
            microphones: of_kind(bag::Kind::Microphone),
            topics: topics.into_iter().map(|topic| topic.name).collect(),
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
            .topics
            .iter()
            .map(|topic| match self.options.source(topic) {
                source if source.as_str() == topic => topic.clone(),
                source => format!("{topic}:={source}"),
            })
            .collect();
        topics.sort();
        let text = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
        format!(
            "topics={} start={} offset={:.9} duration={} until={}",
            topics.join(","),
            text(self.options.start_time.map(|at| at.to_string())),
            self.options.start_offset_secs,
            text(self.options.duration_secs.map(|secs| format!("{secs:.9}"))),
            text(self.options.until.map(|at| at.to_string())),
        )
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
        let mut told = CameraInfos::default();
        for part in &self.parts {
            if let Container::Bag(bag) = &part.container {
                told.merge(bag.cameras());
            }
        }
        let camera = |topic: &String| Some((self.options.source(topic), told.of_topic(topic)?));
        self.topics.iter().filter_map(camera).collect()
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
            playback = match &part.container {
                Container::Media(media) => media.play(&self.options, part.start, playback)?,
                Container::Bag(bag) => {
                    bag.play(&self.topics, &self.options, part.start, playback)?
                }
            };
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
