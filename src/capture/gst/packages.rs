//! Which Debian package brings a missing GStreamer element or decoder.

/// The package that brings an element, by the element's factory name; `None`: that is not known here.
pub(super) fn of_element(factory: &str) -> Option<&'static str> {
    Some(match factory {
        "alsasrc" => "gstreamer1.0-alsa",
        "libcamerasrc" => "gstreamer1.0-libcamera",
        "pipewiresrc" => "gstreamer1.0-pipewire",
        "x264enc" => "gstreamer1.0-plugins-ugly",
        "appsink" | "appsrc" | "audioconvert" | "audioresample" | "videoconvert" | "videoscale"
        | "videorate" | "opusdec" | "identity" | "uridecodebin" | "decodebin" | "videotestsrc"
        | "audiotestsrc" => "gstreamer1.0-plugins-base",
        name if name.starts_with("av") => "gstreamer1.0-libav",
        name if name.starts_with("nv") || name.starts_with("va") => "gstreamer1.0-plugins-bad",
        "h264parse" | "h265parse" | "av1parse" | "av1dec" | "srtsrc" | "audiobuffersplit" => {
            "gstreamer1.0-plugins-bad"
        }
        "v4l2src" | "rtspsrc" | "pulsesrc" | "jpegdec" | "jpegenc" | "qtdemux"
        | "matroskademux" | "wavparse" | "flacdec" | "videoflip" | "videocrop" | "udpsrc"
        | "souphttpsrc" | "multipartdemux" | "multifilesrc" | "level" | "rtph264depay"
        | "rtph265depay" | "rtpjpegdepay" => "gstreamer1.0-plugins-good",
        _ => return None,
    })
}

/// The package that brings a decoder or demuxer, by what GStreamer says is missing
/// (an installer detail such as `gstreamer|1.0|…|H.264 decoder|decoder-video/x-h264`).
pub(super) fn of_detail(detail: &str) -> Option<&'static str> {
    let kind = detail.rsplit('|').next().unwrap_or_default();
    Some(match kind.split_once('-') {
        Some(("element", factory)) => return of_element(factory),
        Some(("urisource", _)) => "gstreamer1.0-plugins-good gstreamer1.0-plugins-bad",
        _ if ["quicktime", "matroska", "webm", "x-wav", "flac", "vp8", "vp9", "image/jpeg"]
            .iter()
            .any(|known| kind.contains(known)) =>
        {
            "gstreamer1.0-plugins-good"
        }
        _ if ["ogg", "vorbis", "opus", "theora"].iter().any(|known| kind.contains(known)) => {
            "gstreamer1.0-plugins-base"
        }
        _ => "gstreamer1.0-libav gstreamer1.0-plugins-bad",
    })
}

/// The readable part of an installer detail.
pub(super) fn name_of_detail(detail: &str) -> &str {
    detail.split('|').nth(3).unwrap_or(detail)
}
