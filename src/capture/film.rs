//! A recording as a film that any player and browser shows: one camera's pictures with one microphone's sound, as MP4.
//!
//! The encoders are those of `pipelines/film.launch`. Every picture has the time at which it was captured, whatever the rate; where no
//! sound was captured there is silence, so that pictures and sound stay together.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use gstreamer as gst;
use gstreamer::prelude::*;
use gstreamer_app::AppSrc;

use super::error::CaptureError;
use super::gst::launch;
use super::imaging::picture::to_rgb;
use super::options::ReplayOptions;
use super::recording::Recording;
use crate::ids::SourceId;
use crate::media::{Item, SAMPLE_RATE};
use crate::time::Timestamp;

/// The pipeline that makes it.
const PIPELINE: &str = "film";
/// A block of sound comes at most so long after a picture of its time, seconds.
const LATE_SECS: f64 = 1.0;
/// The encoders have so long for what is left when all is given, seconds.
const FINISH_SECS: u64 = 120;

/// What was made.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Film {
    /// Whose pictures.
    pub camera: SourceId,
    /// Whose sound; `None`: it is silent.
    pub microphone: Option<SourceId>,
    /// Pictures.
    pub frames: u64,
    /// From the first picture to the last, seconds.
    pub secs: f64,
}

/// Writes the film of a recording to `out`, which is overwritten; of `camera`, or of the only one there is.
///
/// # Errors
/// When the recording cannot be read, has no pictures of that camera, or of several and none is named; when an encoder is missing or
/// fails. Then `out` is no film.
pub fn film(recording: &Path, out: &Path, camera: Option<&str>) -> Result<Film, CaptureError> {
    let recording = Recording::open(recording, &ReplayOptions::default())?;
    let chosen = Chosen::of(&recording, camera)?;
    let text = launch::find(PIPELINE)?;
    let paragraph = launch::paragraphs(&text, &out.to_string_lossy()).join(" ");
    let pipeline = launch::build(PIPELINE, &paragraph)?;
    let set = Set::up(&pipeline)?;
    let made = set.shoot(&recording, &chosen);
    pipeline.set_state(gst::State::Null).ok();
    made
}

/// Whose pictures and sound are in it.
struct Chosen {
    camera: SourceId,
    microphone: Option<SourceId>,
    start: Timestamp,
}

impl Chosen {
    fn of(recording: &Recording, wanted: Option<&str>) -> Result<Self, CaptureError> {
        let mut cameras: BTreeMap<SourceId, Timestamp> = BTreeMap::new();
        let mut microphones: BTreeMap<SourceId, usize> = BTreeMap::new();
        let mut playback = recording.play()?;
        while let Some(item) = playback.next()? {
            match item {
                Item::Frame(frame) => {
                    cameras.entry(frame.source).or_insert(frame.at);
                }
                Item::Block(block) => *microphones.entry(block.source).or_default() += 1,
                Item::Pose(..) | Item::Words(_) => {}
            }
        }
        let names: Vec<&str> = cameras.keys().map(SourceId::as_str).collect();
        let names = names.join(", ");
        let found = match (wanted, cameras.len()) {
            (_, 0) => {
                return Err(CaptureError::Film(
                    "there are no pictures in it: it can be no film".to_owned(),
                ));
            }
            (None, 1) => cameras.pop_first(),
            (None, _) => {
                return Err(CaptureError::Film(format!(
                    "there are pictures of several cameras; say of which: {names}"
                )));
            }
            (Some(wanted), _) => cameras.remove_entry(&SourceId::new(wanted)),
        };
        let Some((camera, start)) = found else {
            let wanted = wanted.unwrap_or_default();
            let reason = format!("there are no pictures of {wanted:?}; there are of: {names}");
            return Err(CaptureError::Film(reason));
        };
        let most = microphones.into_iter().max_by_key(|(_, blocks)| *blocks);
        Ok(Self { camera, microphone: most.map(|(name, _)| name), start })
    }
}

/// A pipeline that encodes.
struct Set<'a> {
    pipeline: &'a gst::Pipeline,
    video: AppSrc,
    audio: AppSrc,
}

impl<'a> Set<'a> {
    fn up(pipeline: &'a gst::Pipeline) -> Result<Self, CaptureError> {
        let source = |name: &str| -> Result<AppSrc, CaptureError> {
            let element = pipeline.by_name(name).and_then(|one| one.downcast().ok());
            element.ok_or_else(|| failed(format!("it has no appsrc named `{name}`")))
        };
        let set = Self { pipeline, video: source("video")?, audio: source("audio")? };
        let caps = gst::Caps::builder("audio/x-raw")
            .field("format", "F32LE")
            .field("layout", "interleaved")
            .field("rate", i32::try_from(SAMPLE_RATE).unwrap_or(i32::MAX))
            .field("channels", 1)
            .build();
        set.audio.set_caps(Some(&caps));
        Ok(set)
    }

    fn shoot(&self, recording: &Recording, chosen: &Chosen) -> Result<Film, CaptureError> {
        let mut size = None;
        let (mut frames, mut last) = (0_u64, chosen.start);
        let mut sound = Sound { start: chosen.start, samples: 0, audio: &self.audio };
        let mut playback = recording.play()?;
        while let Some(item) = playback.next()? {
            let pushed = match item {
                Item::Frame(frame) if frame.source == chosen.camera => {
                    let image = to_rgb(&frame)?;
                    let first = size.is_none();
                    // (What is of another size cannot stand in one film.)
                    if *size.get_or_insert(image.dimensions()) != image.dimensions() {
                        continue;
                    }
                    if first {
                        self.start(image.dimensions())?;
                    } else if frame.at <= last {
                        continue;
                    }
                    (frames, last) = (frames + 1, frame.at);
                    let pushed = sound.silence_until(frame.at.plus_secs(-LATE_SECS));
                    pushed.and_then(|_| {
                        let buffer = packed(&image);
                        self.video.push_buffer(stamped(buffer, since(chosen.start, frame.at)))
                    })
                }
                Item::Block(block) if Some(&block.source) == chosen.microphone.as_ref() => {
                    sound.block(block.at, &block.samples)
                }
                _ => Ok(gst::FlowSuccess::Ok),
            };
            if pushed.is_err() {
                return Err(self.fault("it takes nothing any more"));
            }
        }
        let ended = sound
            .silence_until(last)
            .and_then(|_| self.video.end_of_stream())
            .and_then(|_| self.audio.end_of_stream());
        if ended.is_err() {
            return Err(self.fault("it takes no end"));
        }
        self.finish()?;
        let (camera, microphone) = (chosen.camera.clone(), chosen.microphone.clone());
        Ok(Film { camera, microphone, frames, secs: last.secs_since(chosen.start) })
    }

    fn start(&self, (width, height): (u32, u32)) -> Result<(), CaptureError> {
        let side = |px: u32| i32::try_from(px).unwrap_or(i32::MAX);
        let caps = gst::Caps::builder("video/x-raw")
            .field("format", "RGB")
            .field("width", side(width))
            .field("height", side(height))
            // (Each has its own time. Without a rate the muxer leaves one out.)
            .field("framerate", gst::Fraction::new(30, 1))
            .build();
        self.video.set_caps(Some(&caps));
        let started = self.pipeline.set_state(gst::State::Playing);
        started.map(drop).map_err(|_| self.fault("it does not start"))
    }

    /// Waits until all is written.
    fn finish(&self) -> Result<(), CaptureError> {
        let Some(bus) = self.pipeline.bus() else { return Err(failed("it has no bus".to_owned())) };
        let wanted = [gst::MessageType::Eos, gst::MessageType::Error];
        let waited = Some(gst::ClockTime::from_seconds(FINISH_SECS));
        match bus.timed_pop_filtered(waited, &wanted).as_ref().map(|told| told.view()) {
            Some(gst::MessageView::Eos(_)) => Ok(()),
            Some(gst::MessageView::Error(error)) => Err(failed(error.error().to_string())),
            _ => Err(failed(format!("it was not done within {FINISH_SECS} s"))),
        }
    }

    /// What the pipeline says went wrong, else `what`.
    fn fault(&self, what: &str) -> CaptureError {
        let bus = self.pipeline.bus();
        let told = bus.and_then(|bus| {
            let waited = Some(gst::ClockTime::from_seconds(1));
            bus.timed_pop_filtered(waited, &[gst::MessageType::Error])
        });
        match told.as_ref().map(|told| told.view()) {
            Some(gst::MessageView::Error(error)) => failed(error.error().to_string()),
            _ => failed(what.to_owned()),
        }
    }
}

/// Sound from the first picture on, without gaps.
struct Sound<'a> {
    start: Timestamp,
    /// So many were given.
    samples: u64,
    audio: &'a AppSrc,
}

type Pushed = Result<gst::FlowSuccess, gst::FlowError>;

impl Sound<'_> {
    /// The sample that is of that time; the first of what was before it.
    fn sample_at(&self, at: Timestamp) -> u64 {
        (at.secs_since(self.start).max(0.0) * f64::from(SAMPLE_RATE)).round() as u64
    }

    fn silence_until(&mut self, at: Timestamp) -> Pushed {
        let missing = self.sample_at(at).saturating_sub(self.samples);
        self.push(&vec![0.0; missing as usize])
    }

    /// What of a block is not given yet, behind silence where there was none.
    fn block(&mut self, at: Timestamp, samples: &Arc<[f32]>) -> Pushed {
        let before = self.start.secs_since(at).max(0.0) * f64::from(SAMPLE_RATE);
        let from = self.sample_at(at);
        let known = before.round() as u64 + self.samples.saturating_sub(from);
        self.silence_until(at)?;
        match samples.get(known as usize..) {
            Some(fresh) => self.push(fresh),
            None => Ok(gst::FlowSuccess::Ok),
        }
    }

    fn push(&mut self, samples: &[f32]) -> Pushed {
        if samples.is_empty() {
            return Ok(gst::FlowSuccess::Ok);
        }
        let secs = self.samples as f64 / f64::from(SAMPLE_RATE);
        self.samples += samples.len() as u64;
        let bytes: Vec<u8> = samples.iter().flat_map(|sample| sample.to_le_bytes()).collect();
        let at = gst::ClockTime::from_nseconds((secs * 1e9).round() as u64);
        self.audio.push_buffer(stamped(gst::Buffer::from_mut_slice(bytes), at))
    }
}

/// How long after the beginning.
fn since(start: Timestamp, at: Timestamp) -> gst::ClockTime {
    let nanos = at.as_nanos().saturating_sub(start.as_nanos());
    gst::ClockTime::from_nseconds(u64::try_from(nanos).unwrap_or_default())
}

fn stamped(mut buffer: gst::Buffer, at: gst::ClockTime) -> gst::Buffer {
    if let Some(buffer) = buffer.get_mut() {
        buffer.set_pts(at);
    }
    buffer
}

/// RGB with lines of whole words, as GStreamer has it.
fn packed(image: &image::RgbImage) -> gst::Buffer {
    let line = 3 * image.width() as usize;
    let padded = line.next_multiple_of(4);
    if padded == line {
        return gst::Buffer::from_slice(image.as_raw().clone());
    }
    let mut bytes = Vec::with_capacity(padded * image.height() as usize);
    for row in image.as_raw().chunks_exact(line) {
        bytes.extend_from_slice(row);
        bytes.resize(bytes.len().next_multiple_of(padded), 0);
    }
    gst::Buffer::from_slice(bytes)
}

fn failed(reason: String) -> CaptureError {
    CaptureError::Pipeline { name: PIPELINE.to_owned(), reason }
}
