//! A live source behind GStreamer: the pipelines of a launch description.

use std::sync::{Arc, Mutex, PoisonError};

use gstreamer as gst;
use gstreamer::prelude::*;
use gstreamer_app::{AppSink, AppSinkCallbacks};

use super::channel::BoundedChannel;
use super::clock::CaptureClock;
use super::echo::without_echo;
use super::frame_tap::{CameraState, FrameTap, FramesWanted};
use super::sound_tap::SoundTap;
use super::supervise::{Device, Source};
use crate::capture::error::CaptureError;
use crate::capture::gst::colour::Pictures;
use crate::capture::gst::{launch, sample};
use crate::config::without_secrets;
use crate::ids::SourceId;
use crate::time::Timestamp;

/// A launch description that is looked up and started any number of times.
pub(super) struct PipelineSource {
    id: SourceId,
    launch: Launch,
    /// Frames, sound: what it was asked for at first.
    yields: (bool, bool),
    video: Arc<Mutex<CameraState>>,
    audio_clock: Arc<Mutex<CaptureClock>>,
}

/// Which launch description, and of what.
#[derive(Clone, Debug)]
pub(super) struct Launch {
    /// A name, or the description itself.
    pub(super) name: String,
    /// Fills its `{uri}`.
    pub(super) uri: String,
    /// What the loudspeaker plays, to be taken out of its sound.
    pub(super) playback: Option<String>,
}

impl Launch {
    fn paragraphs(&self) -> Result<Vec<String>, CaptureError> {
        let paragraphs = launch::paragraphs(&launch::find(&self.name)?, &self.uri);
        let Some(playback) = &self.playback else { return Ok(paragraphs) };
        let without = |paragraph| without_echo(&self.name, paragraph, playback);
        paragraphs.into_iter().map(without).collect()
    }

    /// Its pipelines, not started; `id` is for messages.
    ///
    /// # Errors
    /// When the description is not there or none, an element is not installed, or nothing can come out.
    pub(super) fn build(&self, id: &str) -> Result<Vec<gst::Pipeline>, CaptureError> {
        let paragraphs = self.paragraphs()?;
        let pipelines: Result<Vec<_>, _> =
            paragraphs.iter().map(|paragraph| launch::build(id, paragraph)).collect();
        let pipelines = pipelines?;
        let is_tapped = |pipeline: &gst::Pipeline| {
            ["video", "audio"].iter().any(|name| launch::sink(pipeline, name).is_some())
        };
        if pipelines.iter().any(is_tapped) {
            return Ok(pipelines);
        }
        let reason =
            "nothing comes out of it; end it in `appsink name=video` or `appsink name=audio`";
        Err(CaptureError::Pipeline { name: id.to_owned(), reason: reason.to_owned() })
    }
}

type Failure = Arc<Mutex<Option<String>>>;

impl PipelineSource {
    /// `launch`: pipelines with appsinks `video` and/or `audio`. While it is not there, the source is taken to yield
    /// `otherwise` (frames, sound), and fails when it is opened.
    pub(super) fn new(
        id: &str,
        launch: Launch,
        otherwise: (bool, bool),
        wanted: FramesWanted,
    ) -> Self {
        let yields = launch.paragraphs().map_or(otherwise, |paragraphs| {
            let any = |sink| paragraphs.iter().any(|text| launch::has_sink(text, sink));
            (any("video"), any("audio"))
        });
        let (video, audio_clock) = (Mutex::new(CameraState::new(wanted)), Arc::default());
        let video = Arc::new(video);
        Self { id: SourceId::new(id), launch, yields, video, audio_clock }
    }
}

impl Source for PipelineSource {
    fn id(&self) -> SourceId {
        self.id.clone()
    }

    fn yields(&self) -> (bool, bool) {
        self.yields
    }

    fn open(
        &mut self,
        frames: &BoundedChannel,
        sound: &BoundedChannel,
    ) -> Result<Box<dyn Device>, CaptureError> {
        let failure = Failure::default();
        let (pipelines, sounds) = (Vec::new(), Vec::new());
        let mut device = Pipelines { pipelines, sounds, failure: Arc::clone(&failure) };
        let (frames_wanted, sound_wanted) = self.yields;
        for pipeline in self.launch.build(self.id.as_str())? {
            launch::run_by_system_clock(&pipeline);
            watch(&pipeline, &failure);
            if let Some(sink) = launch::sink(&pipeline, "video").filter(|_| frames_wanted) {
                let tap = FrameTap::new(frames.clone(), Arc::clone(&self.video));
                tap_video(&sink, &pipeline, tap, &failure);
            }
            if let Some(sink) = launch::sink(&pipeline, "audio").filter(|_| sound_wanted) {
                let clock = Arc::clone(&self.audio_clock);
                let tap = Arc::new(Mutex::new(SoundTap::new(sound.clone())));
                device.sounds.push(Arc::clone(&tap));
                tap_audio(&sink, &pipeline, tap, clock, &failure);
            }
            device.pipelines.push(pipeline);
        }
        for pipeline in &device.pipelines {
            pipeline.set_state(gst::State::Playing).map_err(|error| CaptureError::Pipeline {
                name: self.id.to_string(),
                reason: lock(&failure).clone().unwrap_or_else(|| error.to_string()),
            })?;
        }
        Ok(Box::new(device))
    }
}

/// Pipelines that run; stopped when dropped.
struct Pipelines {
    pipelines: Vec<gst::Pipeline>,
    sounds: Vec<Arc<Mutex<SoundTap>>>,
    failure: Failure,
}

impl Device for Pipelines {
    fn failure(&self) -> Option<String> {
        lock(&self.failure).clone()
    }
}

impl Drop for Pipelines {
    fn drop(&mut self) {
        for pipeline in &self.pipelines {
            let _ = pipeline.set_state(gst::State::Null);
            if let Some(bus) = pipeline.bus() {
                bus.unset_sync_handler();
            }
        }
        // No thread of theirs runs any more: nothing comes behind it.
        self.sounds.iter().for_each(|sound| lock(sound).end());
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Notes the first error, or that the stream has ended.
fn watch(pipeline: &gst::Pipeline, failure: &Failure) {
    let Some(bus) = pipeline.bus() else { return };
    let failure = Arc::clone(failure);
    bus.set_sync_handler(move |_, message| {
        let why = match message.view() {
            gst::MessageView::Error(error) => without_secrets(&error.error().to_string()),
            gst::MessageView::Eos(_) => "the stream has ended".to_owned(),
            _ => return gst::BusSyncReply::Drop,
        };
        lock(&failure).get_or_insert(why);
        gst::BusSyncReply::Drop
    });
}

/// Running times of the sample and of this moment, in nanoseconds.
fn times(sample: &gst::Sample, pipeline: &gst::glib::WeakRef<gst::Pipeline>) -> (i64, i64) {
    let now = pipeline
        .upgrade()
        .and_then(|pipeline| pipeline.current_running_time())
        .and_then(|time| i64::try_from(time.nseconds()).ok())
        .unwrap_or(0);
    (sample::running_time(sample).unwrap_or(now), now)
}

fn tap_video(sink: &AppSink, pipeline: &gst::Pipeline, tap: FrameTap, failure: &Failure) {
    let (pipeline, failure) = (pipeline.downgrade(), Arc::clone(failure));
    let mut pictures = Pictures::default();
    let callbacks = AppSinkCallbacks::builder().new_sample(move |sink| {
        let sample = sink.pull_sample().map_err(|_| gst::FlowError::Eos)?;
        let (running, now) = times(&sample, &pipeline);
        let Some(taken) = tap.take(running, now, Timestamp::wall_clock()) else {
            return Ok(gst::FlowSuccess::Ok);
        };
        let (width, height, picture) = pictures.take(&sample).map_err(|why| {
            tap.lose(taken);
            lock(&failure).get_or_insert(why);
            gst::FlowError::Error
        })?;
        tap.push(taken, (width, height), picture);
        Ok(gst::FlowSuccess::Ok)
    });
    sink.set_callbacks(callbacks.build());
}

fn tap_audio(
    sink: &AppSink,
    pipeline: &gst::Pipeline,
    sound: Arc<Mutex<SoundTap>>,
    clock: Arc<Mutex<CaptureClock>>,
    failure: &Failure,
) {
    let (pipeline, failure) = (pipeline.downgrade(), Arc::clone(failure));
    {
        let mut clock = lock(&clock);
        *clock = clock.restarted();
    }
    let mut mix = None;
    let callbacks = AppSinkCallbacks::builder().new_sample(move |sink| {
        let sample = sink.pull_sample().map_err(|_| gst::FlowError::Eos)?;
        let (running, now) = times(&sample, &pipeline);
        let (at, stamps) = {
            let mut clock = lock(&clock);
            (clock.capture_time(running, now, Timestamp::wall_clock()), clock.health())
        };
        let samples = sample::floats(&sample, &mut mix).map_err(|why| {
            lock(&failure).get_or_insert(why);
            gst::FlowError::Error
        })?;
        let mut sound = lock(&sound);
        sound.stamped(stamps);
        sound.push(at, &samples);
        Ok(gst::FlowSuccess::Ok)
    });
    sink.set_callbacks(callbacks.build());
}
