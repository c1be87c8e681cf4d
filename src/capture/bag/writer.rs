//! Writing what is captured into MCAP, so that a replay gives the same items again: pictures as
//! `sensor_msgs/CompressedImage`, sound as `audio_common_msgs/AudioData` with its `AudioInfo`, poses as
//! `geometry_msgs/PoseStamped`, and lines of JSON (percepts, memories) beside them.
//!
//! Topics are the names of the sources. Chunks are written whole and twice a second, so a killed recorder
//! leaves a file of whole chunks. Recordings that are split become a rosbag2 folder with `metadata.yaml`.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Read as _, Seek as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use image::codecs::jpeg::JpegEncoder;
use mcap::records::MessageHeader;
use mcap::{McapError, WriteOptions};
use rustix::fs::{MemfdFlags, memfd_create};

use super::container::metadata;
use super::container::metadata::Contents;
use super::decode::cdr::Cdr;
use super::decode::definition::built_in;
use super::order::timestamp_filter::MAX_GAP_SECS;
use crate::camera::{CameraInfo, Distortion};
use crate::capture::imaging::picture::to_rgb;
use crate::ids::SourceId;
use crate::media::{Block, Frame, Item, Picture, Pose, SAMPLE_RATE, ToldWords};
use crate::time::{Span, Timestamp};

/// Sources are not that far apart: a clock that goes back by more was set, and a new file is begun. (So it is behind a gap
/// that readers take for another time.)
const MOST_BACK_SECS: f64 = 60.0;
/// How often what was written reaches the disk.
const FLUSH_EVERY: Duration = Duration::from_millis(500);
/// JPEG quality of recorded pictures.
const PICTURE_QUALITY: u8 = 90;
/// A chunk is closed at this size, however soon.
const CHUNK_BYTES: u64 = 4 << 20;

/// When a new file is begun.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SplitLimits {
    /// At this size.
    pub bytes: Option<u64>,
    /// After so many seconds of media.
    pub secs: Option<f64>,
}

impl SplitLimits {
    /// Whether there is ever more than one file.
    #[must_use]
    pub fn splits(self) -> bool {
        self.bytes.is_some() || self.secs.is_some()
    }
}

/// Why a recording cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The file system refused.
    #[error("writing the recording {path}: {source}; is there room, may it be written?")]
    Io {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// There is something already.
    #[error("writing the recording {path}: it is there already; name another or remove it")]
    Exists {
        /// Which file or folder.
        path: PathBuf,
    },
    /// The MCAP writer refused.
    #[error("writing the recording {path}: {source}")]
    Mcap {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: McapError,
    },
    /// A picture that cannot be packed.
    #[error("packing a picture of {source_id}: {reason}")]
    Picture {
        /// Which camera.
        source_id: SourceId,
        /// Why.
        reason: String,
    },
}

/// What has been written.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Recorded {
    /// Files, in order.
    pub files: Vec<PathBuf>,
    /// Pictures.
    pub frames: u64,
    /// Blocks of sound.
    pub blocks: u64,
    /// Poses.
    pub poses: u64,
    /// Lines of percepts and memories.
    pub lines: u64,
    /// Bytes.
    pub bytes: u64,
}

/// Writes items into one file, or into one after the other.
pub struct BagWriter {
    /// The file, or the folder of the files.
    path: PathBuf,
    /// There is no file: it is written into RAM.
    in_ram: bool,
    limits: SplitLimits,
    open: Option<OpenFile>,
    recorded: Recorded,
    /// What is in each file; of the one that is written now it is not known yet.
    contents: Vec<Contents>,
    /// Told before a camera's first picture in each file.
    cameras: BTreeMap<SourceId, CameraInfo>,
}

/// The file that is written now.
struct OpenFile {
    path: PathBuf,
    writer: mcap::Writer<BufWriter<File>>,
    /// The same file, to have it reach the disk and to see its size.
    file: File,
    channels: BTreeMap<String, (u16, u32)>,
    flushed: Instant,
    contents: Contents,
}

impl OpenFile {
    fn create(path: &Path) -> Result<Self, RecordError> {
        let io = |source| RecordError::Io { path: path.to_owned(), source };
        // What a home looks and sounds like is for its owner alone.
        let mut options = File::options();
        let file = options.write(true).create_new(true).mode(0o600).open(path).map_err(io)?;
        Self::on(path, file)
    }

    /// The same in RAM.
    fn in_ram(path: &Path) -> Result<Self, RecordError> {
        let file = memfd_create("recording", MemfdFlags::CLOEXEC);
        let io = |source: rustix::io::Errno| RecordError::Io {
            path: path.to_owned(),
            source: source.into(),
        };
        Self::on(path, file.map_err(io)?.into())
    }

    fn on(path: &Path, file: File) -> Result<Self, RecordError> {
        let io = |source| RecordError::Io { path: path.to_owned(), source };
        let options = WriteOptions::new()
            .profile("ros2")
            .library(concat!("engram ", env!("CARGO_PKG_VERSION")))
            // Pictures are packed already, and sound hardly packs.
            .compression(None)
            .chunk_size(Some(CHUNK_BYTES))
            .disable_seeking(true);
        let writer = options
            .create(BufWriter::new(file.try_clone().map_err(io)?))
            .map_err(|source| RecordError::Mcap { path: path.to_owned(), source })?;
        let (channels, flushed) = (BTreeMap::new(), Instant::now());
        let contents = Contents::default();
        Ok(Self { path: path.to_owned(), writer, file, channels, flushed, contents })
    }

    /// Writes a message; its channel is declared before its first.
    fn message(
        &mut self,
        topic: &str,
        kind: Kind<'_>,
        at: Timestamp,
        data: &[u8],
    ) -> Result<(), RecordError> {
        let fail = |source| RecordError::Mcap { path: self.path.clone(), source };
        let (channel_id, sequence) = match self.channels.get(topic).copied() {
            Some(known) => known,
            None => {
                let id = match kind {
                    Kind::Ros(name) => {
                        let text = built_in::full_text(name).unwrap_or_default();
                        let schema = self.writer.add_schema(name, "ros2msg", text.as_bytes());
                        let (schema, no_notes) = (schema.map_err(fail)?, BTreeMap::new());
                        self.writer.add_channel(schema, topic, "cdr", &no_notes)
                    }
                    // Without a schema: readers of rosbag2 files stumble over languages that are not ROS'.
                    Kind::Json(name) => {
                        let notes = [("type".to_owned(), name.to_owned())].into();
                        self.writer.add_channel(0, topic, "json", &notes)
                    }
                };
                (id.map_err(fail)?, 0)
            }
        };
        self.channels.insert(topic.to_owned(), (channel_id, sequence.wrapping_add(1)));
        let nanos = u64::try_from(at.as_nanos()).unwrap_or(0);
        let header = MessageHeader { channel_id, sequence, log_time: nanos, publish_time: nanos };
        self.writer.write_to_known_channel(&header, data).map_err(fail)?;
        self.contents.note(topic, kind.ros_type(), at);
        Ok(())
    }

    fn size(&self) -> u64 {
        self.file.metadata().map_or(0, |metadata| metadata.len())
    }
}

/// Type of a topic's messages.
#[derive(Clone, Copy)]
enum Kind<'a> {
    Ros(&'a str),
    Json(&'a str),
}

impl<'a> Kind<'a> {
    fn ros_type(self) -> Option<&'a str> {
        match self {
            Self::Ros(name) => Some(name),
            Self::Json(_) => None,
        }
    }
}

impl BagWriter {
    /// Begins a recording at `path`: a file, or, where it is split, a folder.
    ///
    /// # Errors
    /// When there is something already, or it cannot be written.
    pub fn create(path: &Path, limits: SplitLimits) -> Result<Self, RecordError> {
        if path.exists() {
            return Err(RecordError::Exists { path: path.to_owned() });
        }
        if limits.splits() {
            let mut folder = std::fs::DirBuilder::new();
            folder
                .recursive(true)
                .mode(0o700)
                .create(path)
                .map_err(|source| RecordError::Io { path: path.to_owned(), source })?;
        }
        let (recorded, contents, cameras) = (Recorded::default(), Vec::new(), BTreeMap::new());
        let (path, in_ram) = (path.to_owned(), false);
        let mut writer = Self { path, in_ram, limits, open: None, recorded, contents, cameras };
        writer.begin_file()?;
        Ok(writer)
    }

    /// Begins a recording that lies in RAM, and is one file however full it is: [`Self::is_full`] tells when to take it
    /// ([`Self::into_bytes`]) and begin another.
    ///
    /// # Errors
    /// When the system gives no memory for it.
    pub fn in_ram(limits: SplitLimits) -> Result<Self, RecordError> {
        let (recorded, contents, cameras) = (Recorded::default(), Vec::new(), BTreeMap::new());
        let (path, in_ram) = (PathBuf::from("(in RAM)"), true);
        let mut writer = Self { path, in_ram, limits, open: None, recorded, contents, cameras };
        writer.begin_file()?;
        Ok(writer)
    }

    /// What a recording in RAM holds: from its first to its last message, and the MCAP file; `None`: nothing.
    ///
    /// # Errors
    /// When it cannot be finished or read.
    pub fn into_bytes(mut self) -> Result<Option<(Span, Vec<u8>)>, RecordError> {
        let Some(open) = &self.open else { return Ok(None) };
        let path = open.path.clone();
        let io = |source| RecordError::Io { path: path.clone(), source };
        let mut file = open.file.try_clone().map_err(io)?;
        self.end_file()?;
        let Some(span) = self.contents.last().and_then(|contents| contents.span) else {
            return Ok(None);
        };
        let mut bytes = Vec::new();
        file.rewind().and_then(|()| file.read_to_end(&mut bytes)).map_err(io)?;
        Ok(Some((span, bytes)))
    }

    /// These cameras' calibrations are written, too: a replay sees as much as the recorder did.
    #[must_use]
    pub fn calibrated(self, cameras: BTreeMap<SourceId, CameraInfo>) -> Self {
        Self { cameras, ..self }
    }

    /// What has been written so far.
    #[must_use]
    pub fn recorded(&self) -> &Recorded {
        &self.recorded
    }

    /// Writes a picture, a block of sound or a pose.
    ///
    /// # Errors
    /// When it cannot be written; the next one may.
    pub fn item(&mut self, item: &Item) -> Result<(), RecordError> {
        match item {
            Item::Frame(frame) => self.frame(frame),
            Item::Block(block) => self.block(block),
            Item::Pose(source, pose) => self.pose(source, pose),
            Item::Words(told) => self.words(told),
        }
    }

    /// Writes a line of JSON beside the media; `kind` names what it is.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn line(
        &mut self,
        topic: &str,
        kind: &str,
        at: Timestamp,
        json: &[u8],
    ) -> Result<(), RecordError> {
        self.recorded.lines += 1;
        self.message(topic, Kind::Json(kind), at, json)
    }

    /// Has everything so far reach the disk, if the last time was half a second ago.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn flush_if_due(&mut self) -> Result<(), RecordError> {
        match &self.open {
            Some(open) if open.flushed.elapsed() >= FLUSH_EVERY => self.flush(),
            _ => Ok(()),
        }
    }

    /// Ends the recording: indexes and summary.
    ///
    /// # Errors
    /// When it cannot be written; what was flushed is there.
    pub fn finish(mut self) -> Result<Recorded, RecordError> {
        self.end_file()?;
        if self.limits.splits() {
            self.metadata()?;
        }
        Ok(std::mem::take(&mut self.recorded))
    }

    fn frame(&mut self, frame: &Frame) -> Result<(), RecordError> {
        let jpeg = match &frame.picture {
            Picture::Encoded(bytes) => bytes.to_vec(),
            _ => {
                let fail = |reason: String| RecordError::Picture {
                    source_id: frame.source.clone(),
                    reason,
                };
                let rgb = to_rgb(frame).map_err(|error| fail(error.to_string()))?;
                let mut jpeg = Vec::with_capacity(rgb.len() / 8);
                JpegEncoder::new_with_quality(&mut jpeg, PICTURE_QUALITY)
                    .encode_image(&rgb)
                    .map_err(|error| fail(error.to_string()))?;
                jpeg
            }
        };
        let format = if jpeg.starts_with(&[0x89, b'P']) { "png" } else { "jpeg" };
        let message = header(frame.at, frame.source.as_str()).text(format).bytes(&jpeg).message();
        self.recorded.frames += 1;
        self.camera(frame)?;
        let kind = Kind::Ros("sensor_msgs/msg/CompressedImage");
        self.message(frame.source.as_str(), kind, frame.at, &message)
    }

    /// The camera's calibration, before its first picture of this file.
    fn camera(&mut self, frame: &Frame) -> Result<(), RecordError> {
        self.room_for(frame.at)?;
        let Some(camera) = self.cameras.get(&frame.source) else { return Ok(()) };
        let topic = format!("{}/camera_info", frame.source);
        if self.open.as_ref().is_some_and(|open| open.channels.contains_key(&topic)) {
            return Ok(());
        }
        let message = camera_info(header(frame.at, frame.source.as_str()), camera).message();
        self.message(&topic, Kind::Ros("sensor_msgs/msg/CameraInfo"), frame.at, &message)
    }

    /// Live sources tell none; whoever copies a recording may.
    fn words(&mut self, told: &ToldWords) -> Result<(), RecordError> {
        let Span { start, end } = told.span;
        let text = serde_json::json!({ "text": told.text, "start": start, "end": end }).to_string();
        let message = Cdr::ros2().text(&text).message();
        self.recorded.lines += 1;
        self.message(told.source.as_str(), Kind::Ros("std_msgs/msg/String"), end, &message)
    }

    fn block(&mut self, block: &Block) -> Result<(), RecordError> {
        let topic = block.source.as_str();
        self.room_for(block.at)?;
        let info = format!("{topic}/info");
        let declared = |open: &OpenFile| open.channels.contains_key(&info);
        if !self.open.as_ref().is_some_and(declared) {
            let told = Cdr::ros2().u8(1).u32(SAMPLE_RATE).text("S16LE");
            let told = told.u32(SAMPLE_RATE * 16).text("wave").message();
            let kind = Kind::Ros("audio_common_msgs/msg/AudioInfo");
            self.message(&info, kind, block.at, &told)?;
        }
        let samples: Vec<u8> = block
            .samples
            .iter()
            .flat_map(|sample| ((sample * 32_768.0).round() as i16).to_le_bytes())
            .collect();
        let message = header(block.at, topic).bytes(&samples).message();
        self.recorded.blocks += 1;
        let kind = Kind::Ros("audio_common_msgs/msg/AudioDataStamped");
        self.message(topic, kind, block.at, &message)
    }

    fn pose(&mut self, source: &SourceId, pose: &Pose) -> Result<(), RecordError> {
        let half = pose.yaw / 2.0;
        let values = [pose.x, pose.y, 0.0, 0.0, 0.0, half.sin(), half.cos()];
        let message = values.into_iter().fold(header(pose.stamp, &pose.frame), Cdr::f64).message();
        self.recorded.poses += 1;
        let kind = Kind::Ros("geometry_msgs/msg/PoseStamped");
        self.message(source.as_str(), kind, pose.stamp, &message)
    }

    fn message(
        &mut self,
        topic: &str,
        kind: Kind<'_>,
        at: Timestamp,
        data: &[u8],
    ) -> Result<(), RecordError> {
        self.room_for(at)?;
        let Some(open) = &mut self.open else { return Ok(()) };
        open.message(topic, kind, at, data)?;
        self.flush_if_due()
    }

    /// Has the file open into which something captured at `at` goes.
    fn room_for(&mut self, at: Timestamp) -> Result<(), RecordError> {
        if self.is_full(at) && !self.in_ram {
            self.end_file()?;
        }
        if self.open.is_none() { self.begin_file() } else { Ok(()) }
    }

    /// Whether a new file is due before something captured at `at`.
    #[must_use]
    pub fn is_full(&self, at: Timestamp) -> bool {
        let Some(open) = &self.open else { return false };
        let Some(span) = open.contents.span else { return false };
        // What one clock stamped and what another did would lie over each other, or years apart.
        let is_set =
            at.secs_since(span.end) > MAX_GAP_SECS || span.end.secs_since(at) > MOST_BACK_SECS;
        is_set
            || self.limits.secs.is_some_and(|secs| at.secs_since(span.start) >= secs)
            || self.limits.bytes.is_some_and(|bytes| open.size() >= bytes)
    }

    fn begin_file(&mut self) -> Result<(), RecordError> {
        let number = self.recorded.files.len();
        let splits = self.limits.splits() && !self.in_ram;
        let path = if splits {
            let name = self.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            self.path.join(format!("{name}_{number}.mcap"))
        } else if number > 0 {
            let name = self.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            self.path.with_file_name(format!("{name}_{number}.mcap"))
        } else {
            self.path.clone()
        };
        if number > 0 {
            tracing::debug!(path = %path.display(), "the recording goes on in another file");
        }
        let open = if self.in_ram { OpenFile::in_ram(&path) } else { OpenFile::create(&path) };
        self.open = Some(open?);
        self.recorded.files.push(path);
        self.contents.push(Contents::default());
        // A killed recorder leaves a folder that names this file, too.
        if splits { self.metadata() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), RecordError> {
        let Some(open) = &mut self.open else { return Ok(()) };
        let fail = |source| RecordError::Mcap { path: open.path.clone(), source };
        open.writer.flush().map_err(fail)?;
        let io = |source| RecordError::Io { path: open.path.clone(), source };
        open.file.sync_data().map_err(io)?;
        open.flushed = Instant::now();
        Ok(())
    }

    fn end_file(&mut self) -> Result<(), RecordError> {
        let Some(mut open) = self.open.take() else { return Ok(()) };
        let fail = |source| RecordError::Mcap { path: open.path.clone(), source };
        open.writer.finish().map_err(fail)?;
        let io = |source| RecordError::Io { path: open.path.clone(), source };
        open.writer.into_inner().into_inner().map_err(|error| io(error.into_error()))?;
        open.file.sync_all().map_err(io)?;
        self.recorded.bytes += open.file.metadata().map_or(0, |metadata| metadata.len());
        if let Some(contents) = self.contents.last_mut() {
            *contents = open.contents;
        }
        Ok(())
    }

    /// Writes rosbag2's `metadata.yaml`, whole or not at all.
    fn metadata(&self) -> Result<(), RecordError> {
        let name =
            |path: &PathBuf| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let files = self.recorded.files.iter().map(name).zip(&self.contents);
        let text = metadata::text(files);
        let (path, draft) = (self.path.join("metadata.yaml"), self.path.join(".metadata.yaml.new"));
        let mut options = File::options();
        let file = options.write(true).create(true).truncate(true).mode(0o600).open(&draft);
        file.and_then(|mut file| file.write_all(text.as_bytes()))
            .and_then(|()| std::fs::rename(&draft, &path))
            .map_err(|source| RecordError::Io { path, source })
    }
}

/// `std_msgs/Header`.
fn header(at: Timestamp, frame: &str) -> Cdr {
    let nanos = at.as_nanos();
    let secs = nanos.div_euclid(1_000_000_000);
    let rest = u32::try_from(nanos.rem_euclid(1_000_000_000)).unwrap_or(0);
    // int32 in the message: the bits of the second's number.
    let secs = i32::try_from(secs).unwrap_or(i32::MAX).cast_unsigned();
    Cdr::ros2().u32(secs).u32(rest).text(frame)
}

/// `sensor_msgs/CameraInfo` behind its header: the pictures are neither rectified nor cut.
fn camera_info(header: Cdr, camera: &CameraInfo) -> Cdr {
    let CameraInfo { width, height, focal: [fx, fy], centre: [cx, cy], distortion, .. } = camera;
    let (model, coefficients): (_, &[f64]) = match distortion {
        Distortion::PlumbBob(k) => ("plumb_bob", k),
        Distortion::Rational(k) => ("rational_polynomial", k),
        Distortion::Equidistant(k) => ("equidistant", k),
    };
    let k = [*fx, 0.0, *cx, 0.0, *fy, *cy, 0.0, 0.0, 1.0];
    let r = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let p = [*fx, 0.0, *cx, 0.0, 0.0, *fy, *cy, 0.0, 0.0, 0.0, 1.0, 0.0];
    let told = header.u32(*height).u32(*width).text(model);
    let told = told.u32(u32::try_from(coefficients.len()).unwrap_or_default());
    let told = coefficients.iter().chain(&k).chain(&r).chain(&p).copied().fold(told, Cdr::f64);
    // Binning and region of interest: none.
    [0; 6].into_iter().fold(told, Cdr::u32).u8(0)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::capture::{Recording, ReplayOptions};

    fn ms(ms: i64) -> Timestamp {
        Timestamp::from_nanos(1_772_612_100_000_000_000 + ms * 1_000_000)
    }

    /// Two seconds: 10 pictures, 10 blocks and 2 poses each.
    fn items() -> Vec<Item> {
        let (camera, microphone) = (SourceId::new("front"), SourceId::new("ears"));
        let mut items = Vec::new();
        for n in 0..20_i64 {
            let picture = Picture::Rgb8(vec![u8::try_from(n * 10).unwrap(); 16 * 16 * 3].into());
            let (source, at, number) = (camera.clone(), ms(n * 100), n.cast_unsigned());
            items.push(Item::Frame(Frame { source, at, number, width: 16, height: 16, picture }));
            let samples = (0..1600).map(|k| (k + n) as f32 / 32_768.0).collect();
            items.push(Item::Block(Block { source: microphone.clone(), at: ms(n * 100), samples }));
            if n % 5 == 0 {
                let frame = "map".to_owned();
                let pose = Pose { stamp: ms(n * 100), x: n as f64, y: -1.0, yaw: 0.5, frame };
                items.push(Item::Pose(SourceId::new("pose"), pose));
            }
        }
        items
    }

    fn replayed(path: &Path) -> (Vec<Item>, u64) {
        let recording = Recording::open(path, &ReplayOptions::default()).unwrap();
        let mut playback = recording.play().unwrap();
        let mut items = Vec::new();
        while let Some(item) = playback.next().unwrap() {
            items.push(item);
        }
        (items, playback.damage().total())
    }

    /// What must come back as it was: times, names, samples, poses.
    fn told(items: &[Item]) -> Vec<String> {
        let mut told: Vec<_> = items
            .iter()
            .map(|item| match item {
                Item::Frame(frame) => format!("{} {} {}", frame.at, frame.source, frame.number),
                Item::Block(block) => format!("{} {} {:?}", block.at, block.source, block.samples),
                Item::Pose(source, pose) => {
                    format!("{} {source} {:.9} {} {}", pose.stamp, pose.yaw, pose.x, pose.frame)
                }
                Item::Words(told) => format!("{told:?}"),
            })
            .collect();
        told.sort();
        told
    }

    #[test]
    fn what_was_written_is_what_is_played() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.mcap");
        let mut writer = BagWriter::create(&path, SplitLimits::default()).unwrap();
        let items = items();
        items.iter().for_each(|item| writer.item(item).unwrap());
        writer.line("engram/memories", "engram.Memory", ms(0), b"{}").unwrap();
        let recorded = writer.finish().unwrap();
        assert_eq!((recorded.frames, recorded.blocks, recorded.poses), (20, 20, 4));
        let (played, damaged) = replayed(&path);
        assert_eq!(damaged, 0);
        assert_eq!(told(&played), told(&items));
        let again = BagWriter::create(&path, SplitLimits::default());
        assert!(matches!(again, Err(RecordError::Exists { .. })));
    }

    #[test]
    fn a_split_recording_plays_as_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run");
        let limits = SplitLimits { secs: Some(0.6), bytes: None };
        let mut writer = BagWriter::create(&path, limits).unwrap();
        let items = items();
        items.iter().for_each(|item| writer.item(item).unwrap());
        let recorded = writer.finish().unwrap();
        assert_eq!(recorded.files.len(), 4);
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(&recorded.files[0])), (0o700, 0o600));
        assert_eq!(mode(&path.join("metadata.yaml")), 0o600);
        let (played, damaged) = replayed(&path);
        assert_eq!(damaged, 0);
        assert_eq!(told(&played), told(&items));
    }

    /// Messages of each ROS type in a file, by what the file itself says; of others that they have no schema.
    fn counted(path: &Path) -> BTreeMap<(String, String), i64> {
        let bytes = std::fs::read(path).unwrap();
        let mut counted = BTreeMap::new();
        for message in mcap::MessageStream::new(&bytes).unwrap() {
            let channel = message.unwrap().channel;
            match &channel.schema {
                Some(schema) if channel.message_encoding == "cdr" => {
                    assert_eq!(schema.encoding, "ros2msg");
                    *counted.entry((channel.topic.clone(), schema.name.clone())).or_insert(0) += 1;
                }
                schema => assert!(schema.is_none() && channel.message_encoding == "json"),
            }
        }
        counted
    }

    #[test]
    fn the_metadata_of_a_split_recording_tells_what_its_files_hold() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run");
        let limits = SplitLimits { secs: Some(0.6), bytes: None };
        let mut writer = BagWriter::create(&path, limits).unwrap();
        for item in &items() {
            writer.item(item).unwrap();
            writer.line("engram/percepts", "engram.Percept", item.at(), b"{}").unwrap();
        }
        let recorded = writer.finish().unwrap();
        let text = std::fs::read_to_string(path.join("metadata.yaml")).unwrap();
        let yaml = yaml_rust2::YamlLoader::load_from_str(&text).unwrap();
        let bag = &yaml[0]["rosbag2_bagfile_information"];
        let mut there = BTreeMap::new();
        let files = bag["files"].as_vec().unwrap();
        assert_eq!(files.len(), recorded.files.len());
        for (told, file) in files.iter().zip(&recorded.files) {
            let counted = counted(file);
            assert_eq!(told["message_count"].as_i64(), Some(counted.values().sum()));
            for (topic, count) in counted {
                *there.entry(topic).or_insert(0) += count;
            }
        }
        let listed = bag["topics_with_message_count"].as_vec().unwrap();
        let told: BTreeMap<_, _> = listed
            .iter()
            .map(|topic| {
                let text = |key: &str| topic["topic_metadata"][key].as_str().unwrap().to_owned();
                ((text("name"), text("type")), topic["message_count"].as_i64().unwrap())
            })
            .collect();
        assert_eq!(told, there);
        assert!(there.len() >= 4 && !text.contains("engram/percepts"), "{text}");
        assert_eq!(bag["message_count"].as_i64(), Some(there.values().sum()));
    }

    #[test]
    fn a_file_that_the_metadata_does_not_name_is_played_and_a_copy_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run");
        let limits = SplitLimits { secs: Some(0.6), bytes: None };
        let mut writer = BagWriter::create(&path, limits).unwrap();
        let items = items();
        items.iter().for_each(|item| writer.item(item).unwrap());
        writer.finish().unwrap();
        let metadata = path.join("metadata.yaml");
        let text = std::fs::read_to_string(&metadata).unwrap();
        let killed = text.replace("  - \"run_3.mcap\"\n", "");
        assert_ne!(killed, text);
        std::fs::write(&metadata, killed).unwrap();
        let (played, damaged) = replayed(&path);
        assert_eq!((told(&played), damaged), (told(&items), 0));

        std::fs::copy(path.join("run_1.mcap"), path.join("copy_1.mcap")).unwrap();
        std::fs::copy(path.join("run_1.mcap"), path.join("run_1.copy.mcap")).unwrap();
        let (played, damaged) = replayed(&path);
        assert_eq!((told(&played), damaged), (told(&items), 0));
    }

    #[test]
    fn a_recording_that_is_split_by_size_plays_as_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run");
        let limits = SplitLimits { secs: None, bytes: Some(20_000) };
        let mut writer = BagWriter::create(&path, limits).unwrap();
        let items = items();
        for item in &items {
            writer.item(item).unwrap();
            // The size is that of what has reached the file.
            writer.flush().unwrap();
        }
        let recorded = writer.finish().unwrap();
        assert!(recorded.files.len() > 2, "{recorded:?}");
        let sizes = recorded.files.iter().map(|file| std::fs::metadata(file).unwrap().len());
        assert!(sizes.max() < Some(40_000), "{recorded:?}");
        let (played, damaged) = replayed(&path);
        assert_eq!((told(&played), damaged), (told(&items), 0));
    }

    #[test]
    fn calibrations_and_words_in_writing_come_back() {
        let folder = tempfile::tempdir().unwrap();
        let front = SourceId::new("front");
        let lens = [0.9, 0.3, 1e-4, -2e-4, 0.02, 1.2, 0.5, 0.07];
        let k = [438.783367, 0.0, 305.593336, 0.0, 437.302876, 243.738352, 0.0, 0.0, 1.0];
        let size = (640, 480);
        let camera =
            CameraInfo::of_message("front", size, &k, ("rational_polynomial", &lens)).unwrap();
        let said = ToldWords {
            source: SourceId::new("/asr"),
            span: Span::new(ms(100), ms(900)),
            text: "good \"morning\"".to_owned(),
        };
        for limits in [SplitLimits::default(), SplitLimits { secs: Some(0.6), bytes: None }] {
            let path = folder.path().join(if limits.splits() { "run" } else { "run.mcap" });
            let writer = BagWriter::create(&path, limits).unwrap();
            let mut writer = writer.calibrated([(front.clone(), camera.clone())].into());
            items().iter().for_each(|item| writer.item(item).unwrap());
            writer.item(&Item::Words(said.clone())).unwrap();
            writer.finish().unwrap();
            let transcripts = vec!["/asr".to_owned()];
            let options = ReplayOptions { transcripts, ..ReplayOptions::default() };
            let recording = Recording::open(&path, &options).unwrap();
            assert_eq!(recording.calibrations(), [(front.clone(), camera.clone())].into());
            let mut playback = recording.play().unwrap();
            let mut words = Vec::new();
            while let Some(item) = playback.next().unwrap() {
                words.extend(if let Item::Words(told) = item { Some(told) } else { None });
            }
            assert_eq!(words, std::slice::from_ref(&said));
            assert!(playback.damage().is_empty(), "{}", playback.damage());
            // Who does not name it hears nothing of it.
            let recording = Recording::open(&path, &ReplayOptions::default()).unwrap();
            assert!(!recording.selection().contains("/asr"));
        }
    }

    #[test]
    fn a_killed_recorder_leaves_everything_up_to_its_last_flush() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.mcap");
        let mut writer = BagWriter::create(&path, SplitLimits::default()).unwrap();
        let items = items();
        let (before, after) = items.split_at(30);
        before.iter().for_each(|item| writer.item(item).unwrap());
        writer.flush().unwrap();
        after.iter().for_each(|item| writer.item(item).unwrap());
        // What a kill -9 leaves: the file as it is now, without its end.
        let killed = folder.path().join("killed.mcap");
        std::fs::copy(&path, &killed).unwrap();
        let (played, damaged) = replayed(&killed);
        assert_eq!(damaged, 1, "it has no end");
        assert_eq!(told(&played), told(before));
    }
}
