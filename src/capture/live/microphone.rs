//! A microphone through cpal: any rate, width and number of channels → 16 kHz mono blocks.

use std::sync::{Arc, Mutex, PoisonError};

use cpal::traits::{DeviceTrait as _, HostTrait as _, StreamTrait as _};
use cpal::{SampleFormat, StreamInstant};

use super::channel::BoundedChannel;
use super::clock::CaptureClock;
use super::sound_tap::SoundTap;
use super::supervise::{Device, Source};
use crate::capture::audio::sound::{Resampled, Sample, SoundFormat};
use crate::capture::error::CaptureError;
use crate::ids::SourceId;
use crate::time::Timestamp;

/// A cpal input device, by its id or name.
pub(super) struct CpalSource {
    id: SourceId,
    device: Option<String>,
    clock: Arc<Mutex<CaptureClock>>,
}

impl CpalSource {
    /// `device`: an id or name as cpal tells it; the system's default when `None`.
    pub(super) fn new(id: &str, device: Option<&str>) -> Self {
        let device = device.map(str::to_owned);
        Self { id: SourceId::new(id), device, clock: Arc::default() }
    }

    fn error(&self, reason: String) -> CaptureError {
        let device = self.device.clone().unwrap_or_else(|| "default".to_owned());
        CaptureError::Microphone { device, reason }
    }

    fn find(&self) -> Result<cpal::Device, CaptureError> {
        let host = cpal::default_host();
        let Some(wanted) = &self.device else {
            return host.default_input_device().ok_or_else(|| {
                self.error("there is no microphone; is one plugged in?".to_owned())
            });
        };
        let mut there = Vec::new();
        for device in host.input_devices().map_err(|error| self.error(error.to_string()))? {
            let id = device.id().map(|id| id.to_string()).unwrap_or_default();
            let name = device.description().map(|d| d.name().to_owned()).unwrap_or_default();
            let bare = id.split_once(':').map_or(id.as_str(), |(_, bare)| bare);
            if [id.as_str(), bare, name.as_str()].contains(&wanted.as_str()) {
                return Ok(device);
            }
            there.push(id);
        }
        Err(self.error(format!("it is not there; there are: {}", there.join(", "))))
    }
}

/// The form of a sample, where it is one that is read here.
fn sample_form(format: SampleFormat) -> Option<Sample> {
    match format {
        SampleFormat::U8 => Some(Sample::U8),
        SampleFormat::I16 => Some(Sample::S16Le),
        SampleFormat::I32 => Some(Sample::S32Le),
        SampleFormat::F32 => Some(Sample::F32Le),
        _ => None,
    }
}

impl Source for CpalSource {
    fn id(&self) -> SourceId {
        self.id.clone()
    }

    fn yields(&self) -> (bool, bool) {
        (false, true)
    }

    fn open(
        &mut self,
        _frames: &BoundedChannel,
        sound: &BoundedChannel,
    ) -> Result<Box<dyn Device>, CaptureError> {
        let device = self.find()?;
        let config =
            device.default_input_config().map_err(|error| self.error(error.to_string()))?;
        let sample = sample_form(config.sample_format()).ok_or_else(|| {
            self.error(format!(
                "its samples are {}; use backend = \"gstreamer\"",
                config.sample_format()
            ))
        })?;
        let (rate, channels) = (config.sample_rate(), config.channels());
        let resampled = Resampled::new(SoundFormat { rate, channels, sample })
            .map_err(|reason| self.error(reason))?;
        let failure: Arc<Mutex<Option<String>>> = Arc::default();
        let told = Arc::clone(&failure);
        let mut tap = Tap {
            sound: SoundTap::new(sound.clone()),
            resampled,
            clock: Arc::clone(&self.clock),
            first: None,
        };
        {
            let mut clock = self.clock.lock().unwrap_or_else(PoisonError::into_inner);
            *clock = clock.restarted();
        }
        let stream = device
            .build_input_stream_raw(
                config.config(),
                config.sample_format(),
                move |data, info| tap.take(data.bytes(), info.timestamp()),
                move |error| {
                    if !matches!(error.kind(), cpal::ErrorKind::Xrun) {
                        let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
                        told.get_or_insert(error.to_string());
                    }
                },
                None,
            )
            .map_err(|error| self.error(error.to_string()))?;
        stream.play().map_err(|error| self.error(error.to_string()))?;
        Ok(Box::new(Recording { _stream: stream, failure }))
    }
}

/// A stream that records; stops when dropped.
struct Recording {
    _stream: cpal::Stream,
    failure: Arc<Mutex<Option<String>>>,
}

impl Device for Recording {
    fn failure(&self) -> Option<String> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Runs in cpal's thread.
struct Tap {
    sound: SoundTap,
    resampled: Resampled,
    clock: Arc<Mutex<CaptureClock>>,
    first: Option<StreamInstant>,
}

impl Tap {
    fn take(&mut self, bytes: &[u8], times: cpal::InputStreamTimestamp) {
        let first = *self.first.get_or_insert(times.capture);
        let nanos = |instant: StreamInstant| {
            i64::try_from(instant.saturating_duration_since(first).as_nanos()).unwrap_or(0)
        };
        let (capture, callback) = (nanos(times.capture), nanos(times.callback));
        let mut clock = self.clock.lock().unwrap_or_else(PoisonError::into_inner);
        let at = clock.capture_time(capture, callback, Timestamp::wall_clock());
        self.sound.stamped(clock.health());
        drop(clock);
        // Of an FFT of constant size nothing but a bug can fail; then the stall is noticed.
        let Ok((samples, earlier_secs)) = self.resampled.take(bytes) else { return };
        self.sound.push(at.plus_secs(-earlier_secs), &samples);
    }
}
