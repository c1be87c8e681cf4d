//! Video and sound files: what is in them, and playing them.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use gstreamer as gst;
use gstreamer::prelude::*;
use gstreamer_app::{AppSink, AppSinkCallbacks};
use gstreamer_pbutils::prelude::*;
use gstreamer_pbutils::{
    DiscovererContainerInfo, DiscovererInfo, DiscovererResult, DiscovererVideoInfo,
};

use super::colour::Pictures;
use super::created::{self, Created};
use super::discover::discover;
use super::tracks::PROBE_SECS;
use super::{header, launch, packages, sample, tracks};
use crate::capture::audio::blocks::{BLOCK_SAMPLES, Blocks, Stamps};
use crate::capture::audio::downmix::Downmix;
use crate::capture::bag::{Kind, Topic};
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

/// Pictures a second where nothing tells their times.
const UNTIMED_FPS: f64 = 30.0;
/// A file whose header tells of so many bytes more than there are was cut.
const FEW_BYTES: u64 = 2;

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
    /// Pictures a second of a stream that tells no times.
    untimed_fps: Option<f64>,
    /// Which of its sound tracks is heard, from 0.
    track: usize,
    /// Bytes that its header promises and that there are, if those are fewer.
    cut: Option<(u64, u64)>,
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
    let found = discover(&uri, PROBE_SECS)
        .map_err(|error| unreadable(format!("GStreamer says: {error}")))?;
    let details = found.missing_elements_installer_details();
    match found.result() {
        DiscovererResult::Ok | DiscovererResult::MissingPlugins => {}
        DiscovererResult::Timeout => {
            return Err(unreadable(format!("GStreamer found nothing in it within {PROBE_SECS} s")));
        }
        other => return Err(unreadable(format!("GStreamer cannot look into it ({other:?})"))),
    }
    let is_decoded = |caps: Option<gst::Caps>| {
        let name = caps.and_then(|caps| Some(caps.structure(0)?.name().to_string()));
        !name.is_some_and(|name| details.iter().any(|detail| packages::is_of(detail, &name)))
    };
    let videos = found.video_streams();
    let is_shown = |stream: &&DiscovererVideoInfo| {
        (!stream.is_image() || header::is_motion_jpeg(path)) && is_decoded(stream.caps())
    };
    let shown: Vec<_> = videos.iter().filter(is_shown).collect();
    let audible = found.audio_streams().iter().filter(|one| is_decoded(one.caps())).count();
    if let (Some(detail), true, 0) = (details.first(), shown.is_empty(), audible) {
        return Err(CaptureError::MissingPlugin {
            doing: format!("opening {}", path.display()),
            what: packages::name_of_detail(detail).to_owned(),
            package: packages::not_installed(detail),
        });
    }
    for detail in &details {
        let what = packages::name_of_detail(detail);
        let cure = packages::not_installed(detail)
            .map_or("no package with one is known".to_owned(), |package| {
                format!("`sudo apt-get install {package}` may bring one")
            });
        tracing::warn!(path = %path.display(), what, cure, "a track of the file is left out: there is no decoder for it");
    }
    if shown.len() > 1 {
        tracing::warn!(path = %path.display(), videos = shown.len(), "only the first video stream is played");
    }
    // A stream without a container tells no times of its pictures, at most how many there are a second.
    let is_contained = found.stream_info().is_some_and(|root| root.is::<DiscovererContainerInfo>());
    let untimed_fps = shown.first().filter(|_| !is_contained).map(|stream| {
        let told = stream.framerate();
        let fps = f64::from(told.numer()) / f64::from(told.denom().max(1));
        if (1.0..=1_000.0).contains(&fps) {
            return fps;
        }
        tracing::warn!(path = %path.display(), fps = UNTIMED_FPS, "nothing tells when its pictures were taken: so many a second are assumed");
        UNTIMED_FPS
    });
    let track = if audible > 1 { tracks::with_sound(path, &uri, audible) } else { 0 };
    let promised = header::of_file(path);
    let bytes = std::fs::metadata(path).map_err(io)?.len();
    let cut = promised.bytes.filter(|whole| *whole > bytes + FEW_BYTES).map(|whole| (whole, bytes));
    let told_secs = found.duration().map(|secs| secs.nseconds() as f64 * 1e-9);
    Ok(MediaFile {
        path: path.to_owned(),
        uri,
        created: file_tags(&found).and_then(|tags| created(path, &tags)),
        // What GStreamer guesses of such a stream by its bytes is none.
        duration_secs: told_secs
            .into_iter()
            .chain(promised.secs)
            .reduce(f64::max)
            .filter(|_| untimed_fps.is_none()),
        video: !shown.is_empty(),
        audio: audible > 0,
        untimed_fps,
        track,
        cut,
    })
}

/// Tags of the whole file. GStreamer 1.22 attributes them to no stream and no container: what it calls
/// deprecated is the only place where they are.
#[allow(deprecated)]
fn file_tags(found: &DiscovererInfo) -> Option<gst::TagList> {
    found.tags()
}

/// The `creation_time` of the container, as far as it can be true.
fn created(path: &Path, tags: &gst::TagListRef) -> Option<Timestamp> {
    let text = tags.get::<gst::tags::DateTime>()?.get().to_iso8601_string().ok()?;
    let said = Timestamp::parse(&text).ok()?;
    match created::judge(said) {
        Created::Said(at) => Some(at),
        Created::Meant(at, why) => {
            tracing::warn!(path = %path.display(), %said, taken = %at, why, "the file says that it was made when it cannot have been");
            Some(at)
        }
        Created::Unknown(why) => {
            tracing::warn!(path = %path.display(), %said, why, "the file says that it was made when it cannot have been; it is taken to say nothing");
            None
        }
    }
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
            playback.expect(start, self.duration_secs);
        }
        if let Some((whole, there)) = self.cut {
            let place = format!("its header tells of {whole} bytes, there are {there}");
            playback.damaged(Cause::Truncated, place);
        }
        let name = self.path.display().to_string();
        let mut started = Vec::new();
        for mut paragraph in launch::paragraphs(&launch::find("file")?, &self.uri) {
            let wanted = (video && launch::has_sink(&paragraph, "video"))
                || (audio && launch::has_sink(&paragraph, "audio"));
            if !wanted {
                continue;
            }
            if launch::has_sink(&paragraph, "audio") {
                paragraph = tracks::behind(&paragraph, self.track);
            }
            let pipeline = launch::build(&name, &paragraph)?;
            if let Some(sink) = launch::sink(&pipeline, "video").filter(|_| video) {
                let outlet = playback.outlet(CHANNEL_FRAMES);
                watch(&pipeline, &outlet, "video");
                let times = Times { start, untimed_fps: self.untimed_fps };
                VideoTap::connect(&sink, outlet, options.source(CAMERA), times);
            }
            if let Some(sink) = launch::sink(&pipeline, "audio").filter(|_| audio) {
                let outlet = playback.outlet(CHANNEL_BLOCKS);
                watch(&pipeline, &outlet, "audio");
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

/// The decoders of that kind of stream which a decode bin missed, by its debug text (`gstdecodebin2.c`: "Missing decoder:
/// VP9 (video/x-vp9, …)"); it tells of every stream of the file.
fn missing_decoders(debug: &str, kind: &str) -> Vec<String> {
    let own = format!(" ({kind}/");
    let lines = debug.lines().filter_map(|line| line.strip_prefix("Missing decoder: "));
    lines.filter_map(|line| line.split_once(&own)).map(|(name, _)| name.to_owned()).collect()
}

/// Notes the pipeline's errors and stream warnings; they are told when the stream has ended. `kind`: of its stream, "video"
/// or "audio".
fn watch(pipeline: &gst::Pipeline, outlet: &Outlet, kind: &'static str) {
    let Some(bus) = pipeline.bus() else { return };
    let faults = outlet.faults();
    bus.set_sync_handler(move |_, message| {
        match message.view() {
            gst::MessageView::Error(error) => {
                let missing = missing_decoders(&error.debug().unwrap_or_default(), kind);
                faults.stopped(match missing.as_slice() {
                    [] => error.error().to_string(),
                    names => format!("its decoder is not installed: {}", names.join(", ")),
                });
            }
            // (A track that nothing decodes was named when the file was looked into.)
            gst::MessageView::Warning(warning)
                if warning.error().is::<gst::StreamError>()
                    && !warning.error().matches(gst::StreamError::CodecNotFound) =>
            {
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

/// When the pictures of a file were taken.
#[derive(Clone, Copy)]
struct Times {
    /// The file's beginning.
    start: Timestamp,
    /// So many follow each other a second, where they carry no times.
    untimed_fps: Option<f64>,
}

struct VideoTap {
    outlet: Outlet,
    source: SourceId,
    times: Times,
    pictures: Pictures,
    next_number: u64,
    last: Option<Timestamp>,
}

impl VideoTap {
    fn connect(sink: &AppSink, outlet: Outlet, source: SourceId, times: Times) {
        let pictures = Pictures::default();
        attach(sink, Self { outlet, source, times, pictures, next_number: 0, last: None });
    }

    /// When picture `number` was taken; `None`: that cannot be told.
    fn at(&self, sample: &gst::Sample, number: u64) -> Option<Timestamp> {
        let nanos = match self.times.untimed_fps {
            Some(fps) => (number as f64 / fps * 1e9).round() as i64,
            None => match sample::stream_time(sample)? {
                (nanos, 0) => nanos,
                _ => return None,
            },
        };
        Some(Timestamp::from_nanos(self.times.start.as_nanos().saturating_add(nanos)))
    }

    fn damaged(&self, cause: Cause, number: u64, why: &str) -> bool {
        self.outlet.send(Event::Damaged(cause, format!("{} {number}: {why}", self.source)))
    }
}

impl Tap for VideoTap {
    fn sample(&mut self, sample: &gst::Sample) -> bool {
        let number = self.next_number;
        self.next_number += 1;
        let Some(at) = self.at(sample, number) else {
            return self.damaged(Cause::Undecodable, number, "a picture outside the stream's time");
        };
        self.outlet.told(sample::end_nanos(sample));
        if sample::is_corrupt(sample) {
            return self.damaged(Cause::Undecodable, number, "what it builds upon is missing");
        }
        if self.last.is_some_and(|last| at <= last) {
            return self.damaged(Cause::Late, number, "a picture not later than the one before");
        }
        self.last = Some(at);
        if !self.outlet.wants(at) {
            return !self.outlet.is_closed();
        }
        match self.pictures.take(sample) {
            Ok((width, height, picture)) => self.outlet.send(Event::Item(Item::Frame(Frame {
                source: self.source.clone(),
                at,
                number,
                width,
                height,
                picture,
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
    mix: Option<Downmix>,
    blocks: Blocks,
}

impl AudioTap {
    fn connect(sink: &AppSink, outlet: Outlet, source: SourceId, start: Timestamp) {
        let blocks = Blocks::new(source, Stamps::Exact);
        attach(sink, Self { outlet, start, mix: None, blocks });
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
        self.outlet.told(sample::end_nanos(sample));
        let samples = match sample::floats(sample, &mut self.mix) {
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

#[cfg(test)]
mod tests {
    use super::missing_decoders;

    #[test]
    fn what_a_decode_bin_missed_is_named_for_the_stream_that_stopped() {
        let debug = "gsturidecodebin.c(1049): no_more_pads_full ():\nno suitable plugins found:\n\
                     Missing decoder: VP9 (video/x-vp9, codec-alpha=(boolean)true)\n\
                     Missing decoder: Opus (audio/x-opus, rate=(int)16000)\n";
        assert_eq!(missing_decoders(debug, "video"), ["VP9"]);
        assert_eq!(missing_decoders(debug, "audio"), ["Opus"]);
        assert!(missing_decoders("Internal data stream error.", "video").is_empty());
    }
}
