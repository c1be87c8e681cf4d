//! A changed configuration while the daemon runs: what applies at once, what waits for the next start, and the pause that it
//! cuts short.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::stop::Stop;
use crate::config::{Config, Engine, Privacy, Upkeep, VoicePerception};

/// How often a pause looks whether the configuration has changed.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// What the difference between two configurations asks for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Change {
    /// The configuration as it is from now on; `None`: it stays as it was.
    pub(super) taken: Option<Box<Config>>,
    /// That concerns capture, perception, identity or upkeep: a new session is due.
    pub(super) session: bool,
    /// What is read at the start only, as `section.key`.
    pub(super) later: Vec<String>,
}

impl Change {
    /// What `status.degraded` says of the changes that wait.
    pub(super) fn waiting(&self) -> Vec<String> {
        let sentence = |key: &String| match key.as_str() {
            MEDIA => {
                format!("reload: {key} waits for a restart; until then media are kept as before")
            }
            _ => format!("reload: {key} waits for a restart"),
        };
        self.later.iter().map(sentence).collect()
    }
}

/// Sections that a session takes anew.
const LIVE: [&str; 15] = [
    "camera",
    "microphone",
    "window",
    "pipeline",
    "face",
    "objects",
    "actions",
    "text",
    "sounds",
    "voice",
    "diarization",
    "active_speaker",
    "identity",
    "transcriber",
    "upkeep",
];

/// The section that is looked up each time.
const AT_ONCE: &str = "privacy";
/// But for this one of its keys: the store is opened with it.
const MEDIA: &str = "privacy.media";
/// Keys that are read at the start only, whatever their section: another speaker network has everybody's voice to learn anew.
const AT_START: [&str; 2] = ["voice.network", MEDIA];
/// So are these where a model memorizes, which concludes as it was told at the start.
const AT_START_OF_MODEL: [&str; 3] =
    ["upkeep.reflect", "upkeep.reflect_by_model", "upkeep.reflect_importance"];

/// What to do about `new` while `old` runs (both resolved).
pub(super) fn change(old: &Config, new: &Config) -> Change {
    let by_model = old.memorizer.kind == Engine::Model;
    let waits =
        |key: &str| AT_START.contains(&key) || (by_model && AT_START_OF_MODEL.contains(&key));
    let of_session = |key: &str| LIVE.contains(&section(key));
    let (now, later): (Vec<String>, Vec<String>) = differences(old, new)
        .into_iter()
        .partition(|key| !waits(key) && (of_session(key) || section(key) == AT_ONCE));
    let session = now.iter().any(|key| of_session(key));
    let taken = (!now.is_empty()).then(|| Box::new(taken(old, new, by_model)));
    Change { taken, session, later }
}

/// `section` of `section.key`.
fn section(key: &str) -> &str {
    key.split('.').next().unwrap_or_default()
}

/// `old` with all of `new` that need not wait.
fn taken(old: &Config, new: &Config, by_model: bool) -> Config {
    let mut taken = old.clone();
    let Config {
        camera,
        microphone,
        window,
        pipeline,
        face,
        objects,
        actions,
        text,
        sounds,
        voice,
        diarization,
        active_speaker,
        identity,
        transcriber,
        upkeep,
        privacy,
        ..
    } = new.clone();
    taken.camera = camera;
    taken.microphone = microphone;
    taken.window = window;
    taken.pipeline = pipeline;
    taken.face = face;
    taken.objects = objects;
    taken.actions = actions;
    taken.text = text;
    taken.sounds = sounds;
    taken.voice = VoicePerception { network: old.voice.network, ..voice };
    taken.diarization = diarization;
    taken.active_speaker = active_speaker;
    taken.identity = identity;
    taken.transcriber = transcriber;
    let of_model = if by_model { &old.upkeep } else { &upkeep };
    taken.upkeep = Upkeep {
        reflect: of_model.reflect,
        reflect_by_model: of_model.reflect_by_model,
        reflect_importance: of_model.reflect_importance,
        ..upkeep
    };
    taken.privacy = Privacy { media: old.privacy.media, ..privacy };
    taken
}

/// How a pause ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waited {
    /// It is over.
    Out,
    /// The configuration is another: no reason to wait any longer.
    Changed,
    /// The daemon is to stop.
    Stopped,
}

/// Waits so long, unless it is to stop or `changed` says so, which is asked twice a second.
pub(super) fn wait(stop: &Stop, pause: Duration, changed: &dyn Fn() -> bool) -> Waited {
    let until = Instant::now() + pause;
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if stop.wait_for(left.min(LOOK_EVERY)) {
            return Waited::Stopped;
        }
        if changed() {
            return Waited::Changed;
        }
        if left.is_zero() {
            return Waited::Out;
        }
    }
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
    use std::cell::Cell;

    use super::*;
    use crate::config::{FaceDetectorKind, SpeakerNetwork};

    const NOTHING: Change = Change { taken: None, session: false, later: Vec::new() };

    fn waits(keys: &[&str]) -> Change {
        Change { later: keys.iter().map(|key| (*key).to_owned()).collect(), ..NOTHING }
    }

    #[test]
    fn sources_apply_at_once_and_the_broker_waits() {
        let old = Config::default();
        assert_eq!(change(&old, &old), NOTHING);
        let mut new = old.clone();
        new.mqtt.broker = "mqtt://elsewhere".to_owned();
        assert_eq!(change(&old, &new), waits(&["mqtt.broker"]));
        new.window.clip_secs = 10.0;
        new.active_speaker.on = !old.active_speaker.on;
        let Change { taken: Some(taken), session: true, later } = change(&old, &new) else {
            panic!("no session")
        };
        assert_eq!((taken.window.clip_secs, later.len()), (10.0, 1));
        assert_eq!(taken.active_speaker, new.active_speaker);
        assert_eq!(taken.mqtt.broker, "embedded", "a running daemon keeps its broker");
    }

    #[test]
    fn another_detector_applies_at_once_and_another_speaker_network_waits() {
        let old = Config::default();
        let mut new = old.clone();
        new.voice.network = SpeakerNetwork::Ge2e;
        let network = waits(&["voice.network"]);
        assert_eq!(change(&old, &new), network);
        new.voice.threshold = 0.6;
        new.face.detector = FaceDetectorKind::Scrfd;
        let Change { taken: Some(taken), session: true, later } = change(&old, &new) else {
            panic!("no session")
        };
        assert_eq!(later, network.later);
        assert_eq!(taken.face, new.face);
        assert_eq!(taken.voice, VoicePerception { network: SpeakerNetwork::Auto, ..new.voice });
    }

    #[test]
    fn retention_applies_without_a_new_session_and_what_waits_is_told() {
        let old = Config::default();
        let mut new = old.clone();
        new.privacy.strangers = false;
        new.privacy.keep_days = Some(30.0);
        let Change { taken: Some(taken), session: false, later } = change(&old, &new) else {
            panic!("no retention")
        };
        assert_eq!((taken.privacy, later.len()), (new.privacy.clone(), 0));
        new.privacy.media = false;
        new.robot.timezone = Some("Europe/Rome".into());
        let both = change(&old, &new);
        let told = both.waiting();
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(told.contains(&"reload: robot.timezone waits for a restart".to_owned()));
        assert!(told.iter().any(|one| one.contains("privacy.media") && one.contains("as before")));
        assert!(both.taken.is_some_and(|taken| taken.privacy.media && !taken.privacy.strangers));
    }

    #[test]
    fn upkeep_applies_with_a_new_session_and_what_a_model_concludes_waits() {
        let mut old = Config::default();
        let mut new = old.clone();
        new.upkeep.reflect = !old.upkeep.reflect;
        new.upkeep.place_told_secs = 60.0;
        let Change { taken: Some(taken), session: true, later } = change(&old, &new) else {
            panic!("no session")
        };
        assert_eq!((&taken.upkeep, later.len()), (&new.upkeep, 0));
        old.memorizer.kind = Engine::Model;
        new.memorizer.kind = Engine::Model;
        let Change { taken: Some(taken), session: true, later } = change(&old, &new) else {
            panic!("no session")
        };
        assert_eq!(later, ["upkeep.reflect"]);
        assert_eq!(taken.upkeep, Upkeep { reflect: old.upkeep.reflect, ..new.upkeep });
    }

    #[test]
    fn a_changed_configuration_and_a_stop_end_a_pause_at_once() {
        let (stop, looks) = (Stop::default(), Cell::new(0));
        let second_time = || looks.replace(looks.get() + 1) == 1;
        assert_eq!(wait(&stop, Duration::from_secs(3600), &second_time), Waited::Changed);
        assert_eq!(looks.get(), 2);
        assert_eq!(wait(&stop, Duration::ZERO, &|| false), Waited::Out);
        stop.ask();
        assert_eq!(wait(&stop, Duration::from_secs(3600), &|| false), Waited::Stopped);
    }
}
