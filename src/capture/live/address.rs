//! What the configuration says of a source: which launch description it takes, of what.

use std::path::PathBuf;

use gstreamer::glib;

use super::frame_tap::FramesWanted;
use super::gst_source::{Launch, PipelineSource};
use super::microphone::CpalSource;
use super::supervise::Source;
use crate::capture::error::CaptureError;
use crate::config::{Camera, EchoCancelling, Microphone, MicrophoneBackend};

/// Names of the sources whose pipelines cannot be built, and why: they would not come up. Nothing is started.
#[must_use]
pub fn without_pipeline(
    cameras: &[Camera],
    microphones: &[Microphone],
) -> Vec<(String, CaptureError)> {
    let of_cameras = cameras.iter().map(|camera| (&camera.id, Some(camera_launch(camera))));
    let of_microphones = microphones.iter().map(|one| (&one.id, microphone_launch(one)));
    of_cameras
        .chain(of_microphones)
        .filter_map(|(id, launch)| Some((id.clone(), launch?.build(id).err()?)))
        .collect()
}

/// Where the pictures of a `[[camera]]` come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CameraAddress {
    /// A device file.
    Device(String),
    /// Another machine: an address with `scheme://`.
    Network(String),
    /// A file.
    File(PathBuf),
    /// What only its pipeline understands.
    Other(String),
}

/// Where a camera's pictures come from, as far as its configuration tells.
#[must_use]
pub fn camera_address(camera: &Camera) -> CameraAddress {
    let Launch { name, uri, .. } = camera_launch(camera);
    match name.as_str() {
        _ if uri.starts_with("file://") => match glib::filename_from_uri(&uri) {
            Ok((path, _)) => CameraAddress::File(path),
            Err(_) => CameraAddress::Other(uri),
        },
        _ if uri.contains("://") => CameraAddress::Network(uri),
        "v4l2" => CameraAddress::Device(uri),
        _ => CameraAddress::Other(uri),
    }
}

/// The pipeline of a `[[camera]]`: the named one, else by the look of its address.
pub(super) fn camera_launch(camera: &Camera) -> Launch {
    let given = camera.uri.as_deref().unwrap_or("");
    let guessed = match given.split_once("://") {
        Some((scheme, _)) if scheme.starts_with("rtsp") => "rtsp",
        Some(_) => "uri",
        None if given.is_empty() || given.starts_with("/dev/") => "v4l2",
        None => "uri",
    };
    let name = camera.pipeline.as_deref().unwrap_or(guessed);
    let uri = match name {
        "v4l2" if given.is_empty() => "/dev/video0".to_owned(),
        // They take addresses, not paths.
        "uri" | "file" if !given.is_empty() && !given.contains("://") => file_address(given),
        _ => given.to_owned(),
    };
    Launch { name: name.to_owned(), uri, playback: None }
}

/// The `file://` address of a path; what cannot be one stays as it is.
fn file_address(path: &str) -> String {
    let address =
        std::path::absolute(path).ok().and_then(|path| glib::filename_to_uri(path, None).ok());
    address.map_or_else(|| path.to_owned(), |address| address.to_string())
}

/// Whether a microphone is a card's of this machine, taken without a sound server.
#[must_use]
pub fn needs_sound_card(microphone: &Microphone) -> bool {
    microphone_launch(microphone).is_none_or(|launch| launch.name == "alsa")
}

/// The source of a `[[microphone]]`.
pub(super) fn microphone_source(microphone: &Microphone) -> Box<dyn Source> {
    match microphone_launch(microphone) {
        Some(launch) => {
            let yields = (false, true);
            Box::new(PipelineSource::new(&microphone.id, launch, yields, FramesWanted::All))
        }
        None => Box::new(CpalSource::new(&microphone.id, microphone.device.as_deref())),
    }
}

/// Where what the loudspeaker plays is tapped, so that it can be taken out of a microphone; by default the monitor of
/// PulseAudio's default loudspeaker.
#[must_use]
pub fn playback(microphone: &Microphone) -> &str {
    microphone.playback.as_deref().unwrap_or("pulse")
}

/// Of those that come by GStreamer: `pulse` or `pulse:NAME` goes through PulseAudio, a launch description (with `!`) is
/// taken as it is, anything else is an ALSA device.
fn microphone_launch(microphone: &Microphone) -> Option<Launch> {
    if microphone.backend == MicrophoneBackend::Cpal {
        return None;
    }
    let (name, uri) = match microphone.device.as_deref().unwrap_or("default") {
        "pulse" => ("pulse", ""),
        description if description.contains('!') => (description, ""),
        device => match device.strip_prefix("pulse:") {
            Some(name) => ("pulse", name),
            None => ("alsa", device),
        },
    };
    let playback = match microphone.echo {
        EchoCancelling::None => None,
        EchoCancelling::Webrtc => Some(playback(microphone).to_owned()),
    };
    Some(Launch { name: name.to_owned(), uri: uri.to_owned(), playback })
}
