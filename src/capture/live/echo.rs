//! Echo cancelling: a microphone's launch description and what the loudspeaker plays, in one pipeline.
//!
//! `pipelines/webrtc_echo.launch` holds GStreamer's `webrtcdsp` (WebRTC's audio processing module) and the `webrtcechoprobe`
//! that hears the playback; any microphone's description goes in before it, up to its appsink.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::capture::error::CaptureError;
use crate::capture::gst::launch;

/// The description that both are put into.
const TEMPLATE: &str = "webrtc_echo";
/// PulseAudio's and PipeWire's name for what the default loudspeaker plays.
const DEFAULT_MONITOR: &str = "@DEFAULT_MONITOR@";
/// Probes are found by their name in the whole process: each has one of its own.
static PROBES: AtomicU64 = AtomicU64::new(0);

/// The chain that gives what the loudspeaker plays, without a sink. `playback` is as a microphone's device: `pulse` (the
/// default loudspeaker's monitor) or `pulse:NAME`, an ALSA device, or a launch description with `!`.
pub(super) fn playback_chain(playback: &str) -> String {
    let quoted = |device: &str| device.replace('\\', "\\\\").replace('"', "\\\"");
    match playback {
        "pulse" => format!("pulsesrc device=\"{DEFAULT_MONITOR}\""),
        description if description.contains('!') => {
            description.trim().trim_end_matches('!').trim_end().to_owned()
        }
        device => match device.strip_prefix("pulse:") {
            Some(name) => format!("pulsesrc device=\"{}\"", quoted(name)),
            None => format!("alsasrc device=\"{}\"", quoted(device)),
        },
    }
}

/// A paragraph that ends in an appsink named `audio`, with the echo of `playback` taken out before it; others stay as
/// they are.
///
/// # Errors
/// When the description of the canceller is not there.
pub(super) fn without_echo(
    name: &str,
    paragraph: String,
    playback: &str,
) -> Result<String, CaptureError> {
    if !launch::has_sink(&paragraph, "audio") {
        return Ok(paragraph);
    }
    let Some((microphone, appsink)) = split_at_sink(&paragraph) else {
        let reason = "its sound does not end in `! appsink name=audio`, where the echo would be taken out; \
                      write it so, or set echo = \"none\"";
        return Err(CaptureError::Pipeline { name: name.to_owned(), reason: reason.to_owned() });
    };
    let template = launch::paragraphs(&launch::find(TEMPLATE)?, "").join(" ");
    let probe = format!("echo_probe_{}", PROBES.fetch_add(1, Ordering::Relaxed));
    // What is filled in last may hold braces of its own.
    let filled = template.replace("{probe}", &probe).replace("{appsink}", appsink);
    let filled = filled.replace("{microphone}", microphone);
    Ok(filled.replace("{playback}", &playback_chain(playback)))
}

/// The chain up to `! appsink … name=audio`, and from `appsink` on.
fn split_at_sink(paragraph: &str) -> Option<(&str, &str)> {
    let links: Vec<&str> = paragraph.split('!').collect();
    let is_sink = |link: &&str| {
        let mut words = link.split_whitespace();
        words.next() == Some("appsink") && words.any(|word| word == "name=audio")
    };
    let sink = links.iter().position(is_sink)?;
    let before: usize = links[..sink].iter().map(|link| link.len() + 1).sum();
    let microphone = paragraph.get(..before.checked_sub(1)?)?.trim_end();
    Some((microphone, paragraph.get(before..)?.trim()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
