//! Video and sound files: what is in them, and playing them.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use gstreamer as gst;
use gstreamer::prelude::*;
use gstreamer_app::{AppSink, AppSinkCallbacks};
use gstreamer_pbutils::{Discoverer, DiscovererInfo, DiscovererResult};

use super::{launch, packages, sample};
use crate::capture::bag::{Kind, Topic};
use crate::capture::blocks::{BLOCK_SAMPLES, Blocks, Stamps};
use crate::capture::damage::Cause;
use crate::capture::error::CaptureError;
use crate::capture::options::ReplayOptions;
use crate::capture::playback::{Event, Outlet, Playback, Producer};
use crate::ids::SourceId;
use crate::media::{Frame, Item, SAMPLE_RATE};
use crate::time::Timestamp;

/// Name of a file's pictures, as a topic and as a source.
const CAMERA: &str = "camera";
/// Name of a file's sound.
const MICROPHONE: &str = "microphone";
/// Frames that wait for the consumer: at 640x480 0.46 MB each.
const CHANNEL_FRAMES: usize = 8;
/// Blocks of sound that wait for the consumer.
const CHANNEL_BLOCKS: usize = 64;
/// How long GStreamer may take to look into a file.
const PROBE_SECS: u64 = 30;

/// A file that GStreamer decodes, looked into.
#[derive(Debug)]
pub struct MediaFile {
    path: PathBuf,
    uri: String,
    /// When the file says that it was made.
    pub created: Option<Timestamp>,
    /// Length, as the container says.
    pub duration_secs: Option<f64>,
    video: bool,
    audio: bool,
}

/// Looks into a file: its streams, its length, when it was made.
pub(in crate::capture) fn probe(path: &Path) -> Result<MediaFile, CaptureError> {
    super::init()?;
    let unreadable = |reason: String| CaptureError::Unreadable { path: path.to_owned(), reason };
    let io = |source| CaptureError::Io { path: path.to_owned(), source };
    let absolute = path.canonicalize().map_err(io)?;
    let uri = gst::glib::filename_to_uri(&absolute, None)
        .map_err(|error| unreadable(error.to_string()))?
        .to_string();
    let found = Discoverer::new(gst::ClockTime::from_seconds(PROBE_SECS))
        .and_then(|discoverer| discoverer.discover_uri(&uri))
        .map_err(|error| unreadable(format!("GStreamer says: {error}")))?;
    match found.result() {
        DiscovererResult::Ok => {}
        DiscovererResult::MissingPlugins => {
            let details = found.missing_elements_installer_details();
            let detail = details.first().map_or("", |detail| detail.as_str());
            return Err(CaptureError::MissingPlugin {
                doing: format!("opening {}", path.display()),
                what: packages::name_of_detail(detail).to_owned(),
                package: packages::of_detail(detail).map(str::to_owned),
            });
        }
        DiscovererResult::Timeout => {
            return Err(unreadable(format!("GStreamer found nothing in it within {PROBE_SECS} s")));
        }
        other => return Err(unreadable(format!("GStreamer cannot look into it ({other:?})"))),
    }
    let videos = found.video_streams().iter().filter(|stream| !stream.is_image()).count();
    if videos > 1 {
        tracing::warn!(path = %path.display(), videos, "only the first video stream is played");
    }
    Ok(MediaFile {
        path: path.to_owned(),
        uri,
        created: file_tags(&found).and_then(|tags| created(&tags)),
        duration_secs: found.duration().map(|secs| secs.nseconds() as f64 * 1e-9),
        video: videos > 0,
        audio: !found.audio_streams().is_empty(),
    })
}

/// Tags of the whole file. GStreamer 1.22 attributes them to no stream and no container: what it calls
/// deprecated is the only place where they are.
#[allow(deprecated)]
fn file_tags(found: &DiscovererInfo) -> Option<gst::TagList> {
    found.tags()
}

/// The `creation_time` of the container.
fn created(tags: &gst::TagListRef) -> Option<Timestamp> {
    let text = tags.get::<gst::tags::DateTime>()?.get().to_iso8601_string().ok()?;
    Timestamp::parse(&text).ok()
}

impl MediaFile {
    /// `camera` and `microphone`, as far as they are there.
    #[must_use]
    pub fn topics(&self) -> Vec<Topic> {
        let topic =
            |there: bool, name: &str, kind| there.then(|| Topic { name: name.to_owned(), kind });
        [topic(self.video, CAMERA, Kind::Camera), topic(self.audio, MICROPHONE, Kind::Microphone)]
            .into_iter()
            .flatten()
            .collect()
    }

    /// Starts the pipelines of `pipelines/file.launch` for the streams that are there and selected.
    pub(in crate::capture) fn play(
        &self,
        options: &ReplayOptions,
        start: Timestamp,
        mut playback: Playback,
    ) -> Result<Playback, CaptureError> {
        let (video, audio) =
            (self.video && options.selects(CAMERA), self.audio && options.selects(MICROPHONE));
        if video == self.video && audio == self.audio {
            playback.expect_end(self.duration_secs.map(|secs| start.plus_secs(secs)));
        }
        let name = self.path.display().to_string();
        let mut started = Vec::new();
        for paragraph in launch::paragraphs(&launch::find("file")?, &self.uri) {
            let wanted = (video && launch::has_sink(&paragraph, "video"))
                || (audio && launch::has_sink(&paragraph, "audio"));
            if !wanted {
                continue;
            }
            let pipeline = launch::build(&name, &paragraph)?;
            if let Some(sink) = launch::sink(&pipeline, "video").filter(|_| video) {
                let outlet = playback.outlet(CHANNEL_FRAMES);
                watch(&pipeline, &outlet);
                VideoTap::connect(&sink, outlet, options.source(CAMERA), start);
            }
            if let Some(sink) = launch::sink(&pipeline, "audio").filter(|_| audio) {
                let outlet = playback.outlet(CHANNEL_BLOCKS);
                watch(&pipeline, &outlet);
                AudioTap::connect(&sink, outlet, options.source(MICROPHONE), start);
            }
            started.push(pipeline.clone());
            playback.keep(Box::new(Running(pipeline)));
        }
        for pipeline in started {
            pipeline.set_state(gst::State::Playing).map_err(|error| CaptureError::Pipeline {
                name: name.clone(),
                reason: error.to_string(),
            })?;
        }
        Ok(playback)
    }
}

/// A pipeline that is stopped when it goes.
struct Running(gst::Pipeline);

impl Producer for Running {}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.set_state(gst::State::Null);
        if let Some(bus) = self.0.bus() {
            bus.unset_sync_handler();
        }
    }
}

/// Notes the pipeline's errors and stream warnings; they are told when the stream has ended.
fn watch(pipeline: &gst::Pipeline, outlet: &Outlet) {
    let Some(bus) = pipeline.bus() else { return };
    let faults = outlet.faults();
    bus.set_sync_handler(move |_, message| {
        match message.view() {
            gst::MessageView::Error(error) => faults.stopped(error.error().to_string()),
            gst::MessageView::Warning(warning) if warning.error().is::<gst::StreamError>() => {
                faults.undecodable(warning.error().to_string());
            }
            _ => {}
        }
        gst::BusSyncReply::Drop
    });
}

/// Runs one tap per appsink, in the pipeline's streaming thread.
trait Tap: Send + 'static {
    /// Takes a sample; `false` when nobody listens.
    fn sample(&mut self, sample: &gst::Sample) -> bool;
    /// The stream has ended.
    fn end(&mut self);
}

fn attach(sink: &AppSink, tap: impl Tap) {
    let tap = Arc::new(Mutex::new(tap));
    let at_end = Arc::clone(&tap);
    sink.set_callbacks(
        AppSinkCallbacks::builder()
            .new_sample(move |sink| {
                let sample = sink.pull_sample().map_err(|_| gst::FlowError::Eos)?;
                let listening = tap.lock().unwrap_or_else(PoisonError::into_inner).sample(&sample);
                if listening { Ok(gst::FlowSuccess::Ok) } else { Err(gst::FlowError::Eos) }
            })
            .eos(move |_| at_end.lock().unwrap_or_else(PoisonError::into_inner).end())
            .build(),
    );
}

struct VideoTap {
    outlet: Outlet,
    source: SourceId,
    start: Timestamp,
    next_number: u64,
    last: Option<Timestamp>,
}

impl VideoTap {
    fn connect(sink: &AppSink, outlet: Outlet, source: SourceId, start: Timestamp) {
        attach(sink, Self { outlet, source, start, next_number: 0, last: None });
    }

    fn damaged(&self, cause: Cause, number: u64, why: &str) -> bool {
        self.outlet.send(Event::Damaged(cause, format!("{} {number}: {why}", self.source)))
    }
}

impl Tap for VideoTap {
    fn sample(&mut self, sample: &gst::Sample) -> bool {
        let number = self.next_number;
        self.next_number += 1;
        let Some((nanos, 0)) = sample::stream_time(sample) else {
            return self.damaged(Cause::Undecodable, number, "a picture outside the stream's time");
        };
        let at = Timestamp::from_nanos(self.start.as_nanos().saturating_add(nanos));
        if self.last.is_some_and(|last| at <= last) {
            return self.damaged(Cause::Late, number, "a picture not later than the one before");
        }
        self.last = Some(at);
        if !self.outlet.wants(at) {
            return !self.outlet.is_closed();
        }
        match sample::i420(sample) {
            Ok((width, height, pixels)) => self.outlet.send(Event::Item(Item::Frame(Frame {
                source: self.source.clone(),
                at,
                number,
                width,
                height,
                picture: crate::media::Picture::I420(pixels),
            }))),
            Err(why) => self.damaged(Cause::Undecodable, number, &why),
        }
    }

    fn end(&mut self) {
        self.outlet.send(Event::End);
    }
}

struct AudioTap {
    outlet: Outlet,
    start: Timestamp,
    blocks: Blocks,
}

impl AudioTap {
    fn connect(sink: &AppSink, outlet: Outlet, source: SourceId, start: Timestamp) {
        attach(sink, Self { outlet, start, blocks: Blocks::new(source, Stamps::Exact) });
    }

    fn send(&self, blocks: Vec<crate::media::Block>) -> bool {
        blocks.into_iter().all(|block| {
            !self.outlet.wants(block.at) || self.outlet.send(Event::Item(Item::Block(block)))
        }) && !self.outlet.is_closed()
    }
}

impl Tap for AudioTap {
    fn sample(&mut self, sample: &gst::Sample) -> bool {
        // Sound that carries no time goes on from where the sound before it ended.
        let (nanos, before) = match sample::stream_time(sample) {
            Some(time) => time,
            None => {
                let so_far = self.blocks.end().unwrap_or(self.start);
                (so_far.as_nanos() - self.start.as_nanos(), 0)
            }
        };
        let at = Timestamp::from_nanos(self.start.as_nanos().saturating_add(nanos));
        let samples = match sample::floats(sample) {
            Ok(samples) => samples,
            Err(why) => return self.outlet.send(Event::Damaged(Cause::Undecodable, why)),
        };
        let outside = (i128::from(before) * i128::from(SAMPLE_RATE) + 500_000_000) / 1_000_000_000;
        let outside = usize::try_from(outside).unwrap_or(usize::MAX).min(samples.len());
        let mut blocks = Vec::with_capacity(samples.len() / BLOCK_SAMPLES + 1);
        let overlapped = self.blocks.push(at, &samples[outside..], &mut blocks);
        if overlapped > 0 {
            let place = format!("{overlapped} samples at {at} overlap with sound before them");
            if !self.outlet.send(Event::Damaged(Cause::Late, place)) {
                return false;
            }
        }
        self.send(blocks)
    }

    fn end(&mut self) {
        let mut blocks = Vec::new();
        self.blocks.flush(&mut blocks);
        if self.send(blocks) {
            self.outlet.send(Event::End);
        }
    }
}
