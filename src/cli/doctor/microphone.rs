//! Microphones: each is opened for a moment as the daemon would open it, and nothing is recorded.

use std::fs;
use std::path::{Path, PathBuf};
use std::slice;

use cpal::traits::{DeviceTrait as _, HostTrait as _};
use gstreamer as gst;
use gstreamer::prelude::*;

use super::machine::{BUILT, node, nodes, unbuilt, unused};
use super::{Finding, Verdict};
use crate::capture::{needs_sound_card, playback, without_pipeline};
use crate::config::{Config, EchoCancelling, Microphone, MicrophoneBackend};

/// Why a device cannot be opened.
#[derive(Debug)]
enum Refusal {
    /// It is there, and somebody records with it: the daemon, perhaps.
    Busy,
    /// It is not there, or gives no sound.
    Failed(String),
}

pub(super) fn microphones(config: &Config) -> Vec<Finding> {
    let cards: Vec<PathBuf> = nodes("/dev/snd", "pcmC")
        .into_iter()
        .filter(|path| path.to_string_lossy().ends_with('c'))
        .collect();
    if config.microphone.is_empty() {
        return vec![unused("microphones", cards.len(), "[[microphone]]")];
    }
    let playbacks = config.microphone.iter().filter_map(tapped);
    let microphones = config.microphone.iter().map(|one| microphone(one, &cards));
    microphones.chain(playbacks).collect()
}

/// Where the loudspeaker's sound is tapped for a microphone's echo canceller, of ALSA; others are not tried.
fn tapped(microphone: &Microphone) -> Option<Finding> {
    if microphone.echo == EchoCancelling::None {
        return None;
    }
    let what = format!("playback of microphone {}", microphone.id);
    let device = playback(microphone);
    if device.contains('!') || device == "pulse" || device.starts_with("pulse:") {
        return Some(Finding::ok("devices", what, format!("{device}, not tried")));
    }
    Some(match open_alsa(device) {
        Ok(()) => Finding::ok("devices", what, format!("{device} can be opened")),
        Err(Refusal::Busy) => {
            Finding::ok("devices", what, format!("{device} is there, and in use"))
        }
        Err(Refusal::Failed(reason)) => {
            let cure = "name in playback of [[microphone]] what the loudspeaker's sound can be recorded from: a monitor of \
                        PulseAudio or PipeWire (\"pulse:NAME.monitor\", `pactl list short sources`), or a loopback device \
                        (`modprobe snd-aloop`, \"hw:Loopback,1\")";
            Finding::bad(Verdict::Failure, "devices", what, format!("{device}: {reason}"), cure)
        }
    })
}

/// `cards`: device files that sound can be taken from.
fn microphone(microphone: &Microphone, cards: &[PathBuf]) -> Finding {
    let what = format!("microphone {}", microphone.id);
    if let Some((_, error)) = without_pipeline(&[], slice::from_ref(microphone)).pop() {
        return unbuilt(what, &error, "device in [[microphone]]");
    }
    let named = microphone.device.as_deref();
    let device = named.unwrap_or("the system's");
    if !needs_sound_card(microphone) {
        let found = if device.contains('!') {
            BUILT.to_owned()
        } else {
            format!("{device}, of PulseAudio or PipeWire, not tried")
        };
        return Finding::ok("devices", what, found);
    }
    let opened = match microphone.backend {
        MicrophoneBackend::Gstreamer => open_alsa(named.unwrap_or("default")),
        MicrophoneBackend::Cpal => open_cpal(named),
    };
    let reason = match opened {
        Ok(()) => return Finding::ok("devices", what, format!("{device} can be opened")),
        Err(Refusal::Busy) => {
            return Finding::ok("devices", what, format!("{device} is there, and in use"));
        }
        Err(Refusal::Failed(reason)) => reason,
    };
    let Some(card) = cards.first() else {
        let found = format!("{device}: no sound card takes sound (/dev/snd): {reason}");
        let cure = "plug it in; `arecord -l` lists what there is (apt-get install alsa-utils)";
        return Finding::bad(Verdict::Failure, "devices", what, found, cure);
    };
    let rights = node(&what, card, "audio");
    if rights.verdict != Verdict::Ok {
        return rights;
    }
    let there: Vec<String> = match microphone.backend {
        MicrophoneBackend::Gstreamer => cards.iter().filter_map(|card| pcm(card)).collect(),
        MicrophoneBackend::Cpal => inputs(),
    };
    let cure = format!(
        "plug it in, or correct device in [[microphone]]; there are: {} (`arecord -L` lists all)",
        there.join(", ")
    );
    Finding::bad(Verdict::Failure, "devices", what, format!("{device}: {reason}"), cure)
}

/// Opens a device of ALSA as `alsasrc` in `pipelines/alsa.launch` does, and closes it.
fn open_alsa(device: &str) -> Result<(), Refusal> {
    // Done once; whoever looks at a device has no need to know.
    gst::init().map_err(|error| Refusal::Failed(error.to_string()))?;
    let source = gst::ElementFactory::make("alsasrc")
        .property("device", device)
        .build()
        .map_err(|error| Refusal::Failed(error.to_string()))?;
    let bus = gst::Bus::new();
    source.set_bus(Some(&bus));
    // Ready: the device is open, and no sound flows yet.
    let opened = source.set_state(gst::State::Ready);
    let told = bus.pop_filtered(&[gst::MessageType::Error]);
    let _ = source.set_state(gst::State::Null);
    let Err(error) = opened else { return Ok(()) };
    let Some(gst::MessageView::Error(message)) = told.as_ref().map(|message| message.view()) else {
        return Err(Refusal::Failed(error.to_string()));
    };
    if message.error().matches(gst::ResourceError::Busy) {
        return Err(Refusal::Busy);
    }
    // The last line of the detail is ALSA's own word.
    let detail = message.debug().map(|detail| detail.to_string()).unwrap_or_default();
    let word = detail.lines().last().map(str::to_owned);
    Err(Refusal::Failed(word.unwrap_or_else(|| message.error().to_string())))
}

/// Finds an input of cpal by the names that `capture` knows it by, and asks for its format, for which cpal opens it.
fn open_cpal(wanted: Option<&str>) -> Result<(), Refusal> {
    let failed = |error: cpal::Error| match error.kind() {
        cpal::ErrorKind::DeviceBusy => Refusal::Busy,
        _ => Refusal::Failed(error.to_string()),
    };
    let host = cpal::default_host();
    let device = match wanted {
        None => host.default_input_device(),
        Some(wanted) => host
            .input_devices()
            .map_err(failed)?
            .find(|device| names(device).iter().any(|name| name == wanted)),
    };
    let device = device.ok_or_else(|| Refusal::Failed("it is not there".to_owned()))?;
    device.default_input_config().map(drop).map_err(failed)
}

/// What cpal has for inputs.
fn inputs() -> Vec<String> {
    let devices = cpal::default_host().input_devices().into_iter().flatten();
    devices.map(|device| names(&device)[1].clone()).collect()
}

/// What an input of cpal may be called: `alsa:plughw:CARD=Webcam,DEV=0`, the same without `alsa:`, its description.
fn names(device: &cpal::Device) -> [String; 3] {
    let id = device.id().map(|id| id.to_string()).unwrap_or_default();
    let name = device.description().map(|told| told.name().to_owned()).unwrap_or_default();
    let bare = id.split_once(':').map_or(id.as_str(), |(_, bare)| bare).to_owned();
    [id, bare, name]
}

/// What ALSA calls the device file `/dev/snd/pcmC1D0c`, by the card's own name where that can be read.
fn pcm(card: &Path) -> Option<String> {
    let numbers = card.file_name()?.to_str()?.strip_prefix("pcmC")?.strip_suffix('c')?;
    let (card, device) = numbers.split_once('D')?;
    let name = fs::read_to_string(format!("/proc/asound/card{card}/id"));
    let card = name.map_or_else(|_| card.to_owned(), |name| name.trim().to_owned());
    Some(format!("plughw:CARD={card},DEV={device}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(backend: MicrophoneBackend, device: &str, cards: &[PathBuf]) -> Finding {
        let (id, device) = ("ears".into(), Some(device.into()));
        microphone(&Microphone { id, backend, device, ..Microphone::default() }, cards)
    }

    #[test]
    fn a_playback_that_cannot_be_recorded_has_its_cure() {
        let of = |playback: &str| Microphone {
            echo: EchoCancelling::Webrtc,
            playback: Some(playback.to_owned()),
            ..Microphone::default()
        };
        let verdict = tapped(&of("pulse:speaker.monitor")).map(|finding| finding.verdict);
        assert_eq!(verdict, Some(Verdict::Ok));
        assert!(tapped(&Microphone::default()).is_none(), "nothing is tapped");
        let finding = tapped(&of("hw:CARD=nobodys,DEV=0"));
        let told = finding.map(|finding| (finding.verdict, finding.cure.unwrap_or_default()));
        assert!(
            told.is_some_and(
                |(verdict, cure)| verdict == Verdict::Failure && cure.contains("monitor")
            )
        );
    }

    #[test]
    fn only_a_microphone_of_a_card_needs_one() {
        let of = |device| look(MicrophoneBackend::Gstreamer, device, &[]).verdict;
        assert_eq!(of("audiotestsrc ! appsink name=audio"), Verdict::Ok);
        assert_eq!(of("audiotestsrc ! fakesink"), Verdict::Failure);
        assert_eq!(of("hw:CARD=nobodys,DEV=0"), Verdict::Failure);
        // Of ALSA itself: it gives silence, on every machine.
        assert_eq!(of("null"), Verdict::Ok);
    }

    #[test]
    fn a_device_that_is_not_there_is_told_with_those_that_are() {
        // A device that this user may use stands in for a card's.
        let cards: [PathBuf; 2] = ["/dev/null".into(), "/dev/snd/pcmC31D2c".into()];
        let finding = look(MicrophoneBackend::Gstreamer, "hw:CARD=nobodys,DEV=0", &cards);
        assert_eq!(finding.verdict, Verdict::Failure, "{finding:?}");
        assert!(finding.found.contains("nobodys"), "{finding:?}");
        let cure = finding.cure.unwrap_or_default();
        assert!(cure.contains("there are: plughw:CARD=31,DEV=2"), "{cure}");
        let finding = look(MicrophoneBackend::Cpal, "nobody's microphone", &cards);
        assert_eq!(finding.verdict, Verdict::Failure, "{finding:?}");
        assert!(finding.found.contains("it is not there"), "{finding:?}");
    }
}
