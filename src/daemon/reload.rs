//! A changed configuration while the daemon runs: what applies at once, and what waits for the next start.

use serde_json::Value;

use crate::config::{Config, VoicePerception};

/// What the difference between two configurations asks for.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Change {
    /// They are the same.
    None,
    /// Something that is read at the start only; named as `section.key`.
    Later(Vec<String>),
    /// Capture, perception or identity: a new session with that configuration. What waits is named.
    Session(Box<Config>, Vec<String>),
}

/// Sections that a session takes anew.
const LIVE: [&str; 11] = [
    "camera",
    "microphone",
    "window",
    "pipeline",
    "face",
    "objects",
    "voice",
    "diarization",
    "active_speaker",
    "identity",
    "transcriber",
];

/// Keys of those sections that are read at the start only: another speaker network has everybody's voice to learn anew.
const AT_START: [&str; 1] = ["voice.network"];

/// What to do about `new` while `old` runs (both resolved).
pub(super) fn change(old: &Config, new: &Config) -> Change {
    let different = differences(old, new);
    let (live, later): (Vec<String>, Vec<String>) = different.into_iter().partition(|key| {
        LIVE.contains(&key.split('.').next().unwrap_or_default())
            && !AT_START.contains(&key.as_str())
    });
    if live.is_empty() {
        return if later.is_empty() { Change::None } else { Change::Later(later) };
    }
    let mut taken = old.clone();
    let Config {
        camera,
        microphone,
        window,
        pipeline,
        face,
        objects,
        voice,
        diarization,
        active_speaker,
        identity,
        transcriber,
        ..
    } = new.clone();
    taken.camera = camera;
    taken.microphone = microphone;
    taken.window = window;
    taken.pipeline = pipeline;
    taken.face = face;
    taken.objects = objects;
    taken.voice = VoicePerception { network: old.voice.network, ..voice };
    taken.diarization = diarization;
    taken.active_speaker = active_speaker;
    taken.identity = identity;
    taken.transcriber = transcriber;
    Change::Session(Box::new(taken), later)
}

/// Keys whose values differ, as `section.key` (lists of sources: the section alone), in the order of the file.
fn differences(old: &Config, new: &Config) -> Vec<String> {
    let as_object = |config| match serde_json::to_value(config) {
        Ok(Value::Object(sections)) => sections,
        _ => serde_json::Map::new(),
    };
    let (old, new) = (as_object(old), as_object(new));
    let mut found = Vec::new();
    for (section, values) in &new {
        match (values, old.get(section)) {
            (Value::Object(values), Some(Value::Object(before))) => {
                let changed = values.iter().filter(|(key, value)| before.get(*key) != Some(*value));
                found.extend(changed.map(|(key, _)| format!("{section}.{key}")));
            }
            (values, before) if before != Some(values) => found.push(section.clone()),
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{FaceDetectorKind, SpeakerNetwork};

    #[test]
    fn sources_apply_at_once_and_the_broker_waits() {
        let old = Config::default();
        assert_eq!(change(&old, &old), Change::None);
        let mut new = old.clone();
        new.mqtt.broker = "mqtt://elsewhere".to_owned();
        assert_eq!(change(&old, &new), Change::Later(vec!["mqtt.broker".to_owned()]));
        new.window.clip_secs = 10.0;
        new.active_speaker.on = !old.active_speaker.on;
        let Change::Session(taken, later) = change(&old, &new) else { panic!("no session") };
        assert_eq!((taken.window.clip_secs, later.len()), (10.0, 1));
        assert_eq!(taken.active_speaker, new.active_speaker);
        assert_eq!(taken.mqtt.broker, "embedded", "a running daemon keeps its broker");
    }

    #[test]
    fn another_detector_applies_at_once_and_another_speaker_network_waits() {
        let old = Config::default();
        let mut new = old.clone();
        new.voice.network = SpeakerNetwork::Ge2e;
        let waits = vec!["voice.network".to_owned()];
        assert_eq!(change(&old, &new), Change::Later(waits.clone()));
        new.voice.threshold = 0.6;
        new.face.detector = FaceDetectorKind::Scrfd;
        let Change::Session(taken, later) = change(&old, &new) else { panic!("no session") };
        assert_eq!(later, waits);
        assert_eq!(taken.face, new.face);
        assert_eq!(taken.voice, VoicePerception { network: SpeakerNetwork::Auto, ..new.voice });
    }
}
