//! What values may be: ranges, and how keys must fit together.

use std::net::SocketAddr;

use toml::Value;

use super::{
    BrokerAddress, Config, EchoCancelling, EmbedderKind, Engine, MicrophoneBackend,
    TranscriberKind, http, resolve,
};

/// What a number may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// `section.key`.
    pub key: &'static str,
    /// Least value.
    pub min: f64,
    /// Greatest value.
    pub max: f64,
    /// Unit, as in the example file.
    pub unit: &'static str,
}

const fn range(key: &'static str, min: f64, max: f64, unit: &'static str) -> Range {
    Range { key, min, max, unit }
}

/// Every number of the configuration and what it may be.
pub const RANGES: &[Range] = &[
    range("models.crash_rest_secs", 1.0, 86_400.0, "seconds"),
    range("window.clip_secs", 5.0, 300.0, "seconds"),
    range("window.analyse_fps", 0.5, 30.0, "frames per second"),
    range("window.budget", 0.0, 64.0, "cores"),
    range("window.idle_timeout_secs", 0.1, 60.0, "seconds"),
    range("window.frame_queue", 1.0, 1024.0, "frames"),
    range("window.sound_queue", 1.0, 65536.0, "blocks"),
    range("window.key_frames", 0.0, 64.0, "pictures"),
    range("pipeline.workers", 1.0, 256.0, "threads"),
    range("face.min_score", 0.0, 1.0, "confidence"),
    range("face.min_size_px", 8.0, 2000.0, "px"),
    range("face.min_quality", 0.0, 1.0, "quality"),
    range("face.max_lost_secs", 0.0, 60.0, "seconds"),
    range("face.detect_every", 1.0, 10.0, "frames"),
    range("objects.min_score", 0.0, 1.0, "confidence"),
    range("objects.min_body_score", 0.0, 1.0, "confidence"),
    range("objects.nms_iou", 0.0, 1.0, "intersection over union"),
    range("objects.every", 1.0, 1000.0, "frames"),
    range("actions.most_bodies", 0.0, 64.0, "people"),
    range("text.every_secs", 1.0, 86_400.0, "s"),
    range("text.min_confidence", 0.0, 1.0, "confidence"),
    range("voice.threshold", 0.0, 1.0, "probability"),
    range("voice.min_silence_secs", 0.05, 10.0, "seconds"),
    range("voice.min_speech_secs", 0.0, 10.0, "seconds"),
    range("voice.pad_secs", 0.0, 2.0, "seconds"),
    range("voice.max_turn_secs", 1.0, 300.0, "seconds"),
    range("voice.min_embed_secs", 0.1, 30.0, "seconds"),
    range("diarization.segmentation_step_secs", 0.25, 5.0, "seconds"),
    range("active_speaker.window_secs", 0.6, 20.0, "seconds"),
    range("active_speaker.clip_budget_secs", 0.0, 3600.0, "seconds"),
    range("identity.face_accept", -1.0, 1.0, "cosine"),
    range("identity.voice_accept", -1.0, 1.0, "cosine"),
    range("identity.gallery_size", 1.0, 1000.0, "exemplars"),
    range("identity.min_new_face_secs", 0.0, 3600.0, "seconds"),
    range("identity.min_new_voice_secs", 0.0, 3600.0, "seconds"),
    range("identity.link_secs", 0.0, 3600.0, "seconds"),
    range("identity.cold_after_days", 0.0, 36_500.0, "days"),
    range("upkeep.reflect_importance", 1.0, 1_000_000.0, "importance"),
    range("upkeep.place_stay_secs", 1.0, 86_400.0, "seconds"),
    range("upkeep.place_radius_m", 0.1, 1000.0, "metres"),
    range("upkeep.place_told_secs", 1.0, 604_800.0, "seconds"),
    range("upkeep.fade_days", 0.1, 36_500.0, "days"),
    range("upkeep.retention", 0.0, 1.0, "retention"),
    range("upkeep.keep_memories", 100.0, 100_000_000.0, "memories"),
    range("upkeep.keep_answers", 1.0, 100_000_000.0, "answers"),
    range("upkeep.keep_sightings_days", 0.01, 36_500.0, "days"),
    range("upkeep.keep_answers_days", 0.01, 36_500.0, "days"),
    range("upkeep.history_days", 0.0, 36_500.0, "days"),
    range("answerer.max_evidence", 1.0, 1000.0, "memories"),
    range("answerer.concurrency", 1.0, 256.0, "questions"),
    range("answerer.queue", 0.0, 100_000.0, "questions"),
    range("answerer.rounds", 1.0, 20.0, "rounds"),
    range("answerer.model_queue", 0.0, 100_000.0, "questions"),
    range("memorizer.pictures", 0.0, 64.0, "pictures"),
    range("memorizer.timeout_secs", 1.0, 86_400.0, "seconds"),
    range("memorizer.spool_cap_mb", 1.0, 1_000_000.0, "MB"),
    range("llm.max_tokens", 16.0, 131_072.0, "tokens"),
    range("llm.thinking_tokens", 0.0, 131_072.0, "tokens"),
    range("llm.context_tokens", 1000.0, 10_000_000.0, "tokens"),
    range("llm.temperature", 0.0, 2.0, "temperature"),
    range("llm.retries", 0.0, 10.0, "times"),
    range("embedder.dimensions", 2.0, 16_384.0, "numbers"),
    range("embedder.batch", 1.0, 2048.0, "memories"),
    range("embedder.timeout_secs", 0.1, 600.0, "seconds"),
    range("mqtt.reply_rate", 0.0, 1_000_000.0, "requests per second"),
    range("mqtt.request_rate", 0.0, 1_000_000.0, "requests per second"),
    range("http.idle_secs", 60.0, 31_536_000.0, "seconds"),
    range("http.login_secs", 60.0, 31_536_000.0, "seconds"),
    range("store.media_cap_mb", 0.0, 100_000_000.0, "MB"),
    range("ring.minutes", 0.0, 1440.0, "minutes"),
    range("ring.cap_mb", 10.0, 1_000_000.0, "MB"),
    range("ring.snapshots_mb", 1.0, 1_000_000.0, "MB"),
    range("ring.keep_importance", 0.0, 1.0, "importance"),
    range("visits.absence_secs", 1.0, 86_400.0, "seconds"),
    range("privacy.stranger_secs", 60.0, 86_400.0, "seconds"),
    range("privacy.keep_days", 0.01, 36_500.0, "days"),
    range("privacy.keep_utterance_days", 0.01, 36_500.0, "days"),
    range("privacy.keep_episodic_days", 0.01, 36_500.0, "days"),
    range("privacy.keep_semantic_days", 0.01, 36_500.0, "days"),
    range("privacy.keep_reflection_days", 0.01, 36_500.0, "days"),
    range("privacy.keep_summary_days", 0.01, 36_500.0, "days"),
    range("privacy.keep_note_days", 0.01, 36_500.0, "days"),
    range("privacy.keep_lesson_days", 0.01, 36_500.0, "days"),
];

/// Everything wrong with the values, as (`section.key`, what and the cure).
pub(super) fn problems(config: &Config) -> Vec<(String, String)> {
    let mut found = Vec::new();
    robot(config, &mut found);
    wake_phrase(config, &mut found);
    sources(config, &mut found);
    separate_views(config, &mut found);
    frames(config, &mut found);
    queues(config, &mut found);
    engines(config, &mut found);
    mqtt(config, &mut found);
    found.extend(http::problems(&config.http));
    if let Some(listen) = &config.metrics.listen {
        address("metrics.listen", listen, &mut found);
    }
    wyoming(config, &mut found);
    numbers(config, &mut found);
    found
}

/// Whoever reaches the server may ask: nobody but this machine does.
fn wyoming(config: &Config, found: &mut Found) {
    let listen = &config.wyoming.listen;
    let is_here = config.wyoming.address().is_some_and(|address| address.ip().is_loopback());
    if listen != "none" && !is_here {
        let message = format!(
            "`wyoming.listen` is {listen:?}, but must be an address and port of this machine, for example 127.0.0.1:10300, or \
             \"none\""
        );
        wrong(found, "wyoming.listen", message);
    }
}

type Found = Vec<(String, String)>;

fn wrong(found: &mut Found, key: impl Into<String>, message: impl Into<String>) {
    found.push((key.into(), message.into()));
}

fn numbers(config: &Config, found: &mut Found) {
    // As TOML, which has infinite numbers and NaN: in JSON they would be missing.
    let values = match Value::try_from(config) {
        Ok(values) => values,
        Err(error) => {
            return wrong(found, "", format!("the numbers cannot be compared: {error}"));
        }
    };
    for range in RANGES {
        let value = range
            .key
            .split_once('.')
            .and_then(|(section, key)| values.get(section)?.get(key))
            .and_then(number);
        if let Some(value) = value
            && !(range.min..=range.max).contains(&value)
        {
            let Range { key, min, max, unit } = range;
            wrong(found, *key, format!("`{key}` is {value}, but must be {min}–{max} ({unit})"));
        }
    }
    endless("", &values, found);
}

fn number(value: &Value) -> Option<f64> {
    value.as_float().or_else(|| value.as_integer().map(|whole| whole as f64))
}

/// Refuses whatever is infinite or no number at all, where no range has.
fn endless(path: &str, value: &Value, found: &mut Found) {
    let below = |name: &str| match path {
        "" => name.to_owned(),
        path => format!("{path}.{name}"),
    };
    match value {
        Value::Table(table) => {
            for (name, value) in table {
                endless(&below(name), value, found);
            }
        }
        Value::Array(entries) => {
            for (at, value) in entries.iter().enumerate() {
                endless(&below(&at.to_string()), value, found);
            }
        }
        Value::Float(float) if !float.is_finite() && found.iter().all(|(key, _)| key != path) => {
            wrong(found, path, format!("`{path}` is {float}, but must be a finite number"));
        }
        _ => {}
    }
}

/// While a silent source is waited for, what the others deliver must find room.
fn queues(config: &Config, found: &mut Found) {
    /// Blocks of sound a second.
    const BLOCKS: f64 = 10.0;
    let window = &config.window;
    let idle = window.idle_timeout_secs;
    for (key, holds, per_sec) in [
        ("frame_queue", window.frame_queue, window.analyse_fps),
        ("sound_queue", window.sound_queue, BLOCKS),
    ] {
        let least = (idle * per_sec).floor() + 1.0;
        if (holds as f64) < least && least.is_finite() {
            let message = format!(
                "`window.{key}` is {holds}: what comes in {:.1} s, but a silent source is waited for for {idle} s \
                 (`window.idle_timeout_secs`), and meanwhile the others would lose what they deliver; let it be at \
                 least {least}",
                holds as f64 / per_sec
            );
            wrong(found, format!("window.{key}"), message);
        }
    }
}

fn robot(config: &Config, found: &mut Found) {
    if let Some(id) = &config.robot.id
        && !resolve::is_robot_id(id)
    {
        let message = format!(
            "`robot.id` is {id:?}, but may hold only a–z, 0–9, `_` and `-`, at most 64 of them, because it is part of every MQTT topic"
        );
        wrong(found, "robot.id", message);
    }
    if let Some(zone) = &config.robot.timezone
        && jiff::tz::TimeZone::get(zone).is_err()
    {
        let names: Vec<String> =
            jiff::tz::db().available().map(|name| name.as_str().to_owned()).collect();
        let near = super::keys::nearest(zone, names.iter().map(String::as_str));
        let advice = near.map_or_else(
            || "write an IANA name such as Europe/Berlin or UTC".to_owned(),
            |near| format!("did you mean {near:?}?"),
        );
        wrong(found, "robot.timezone", format!("there is no time zone {zone:?}; {advice}"));
    }
}

fn wake_phrase(config: &Config, found: &mut Found) {
    let phrase = config.answerer.wake_phrase.as_deref();
    if phrase.is_some_and(|phrase| !phrase.contains(char::is_alphanumeric)) {
        let message = "`wake_phrase` holds no word; give for example wake_phrase = \"robot\", or leave it out";
        wrong(found, "answerer.wake_phrase", message);
    }
}

fn sources(config: &Config, found: &mut Found) {
    let cameras =
        config.camera.iter().enumerate().map(|(at, one)| (format!("camera.{at}"), &one.id));
    let microphones =
        config.microphone.iter().enumerate().map(|(at, one)| (format!("microphone.{at}"), &one.id));
    let mut seen: Vec<&str> = Vec::new();
    for (entry, id) in cameras.chain(microphones) {
        let key = format!("{entry}.id");
        if id.is_empty() || id.chars().any(|c| c.is_whitespace() || c.is_control()) {
            wrong(found, key, format!("the source id {id:?} must be a word without spaces"));
        } else if seen.contains(&id.as_str()) {
            wrong(
                found,
                key,
                format!(
                    "two sources are called {id:?}; every camera and microphone needs an id of its own"
                ),
            );
        }
        seen.push(id);
    }
    for (at, microphone) in config.microphone.iter().enumerate() {
        if !(-5.0..=5.0).contains(&microphone.offset_secs) {
            let message = format!(
                "`offset_secs` of the microphone {:?} is {}, but must be -5–5 (seconds)",
                microphone.id, microphone.offset_secs
            );
            wrong(found, format!("microphone.{at}.offset_secs"), message);
        }
        let cancels = microphone.echo != EchoCancelling::None;
        if cancels && microphone.backend == MicrophoneBackend::Cpal {
            let message = format!(
                "`echo` of the microphone {:?} is taken out by GStreamer, but its backend is \"cpal\"; set backend = \"gstreamer\"",
                microphone.id
            );
            wrong(found, format!("microphone.{at}.echo"), message);
        }
        if !cancels && microphone.playback.is_some() {
            let message = format!(
                "`playback` of the microphone {:?} is what echo cancelling works with, which is off; add echo = \"webrtc\", or leave it out",
                microphone.id
            );
            wrong(found, format!("microphone.{at}.playback"), message);
        }
    }
    for (at, camera) in config.camera.iter().enumerate() {
        if let Some(file) = &camera.calibration_file
            && resolve::find_file(file, config.store.dir.as_deref()).is_none()
        {
            let message = format!(
                "`calibration_file` of the camera {:?} names {}, which does not exist; `engramd calibrate camera` writes one",
                camera.id,
                file.display()
            );
            wrong(found, format!("camera.{at}.calibration_file"), message);
        }
        if camera.pipeline.is_none() && camera.uri.is_none() {
            let message = format!(
                "the camera {:?} has neither `uri` nor `pipeline`; give for example uri = \"/dev/video0\"",
                camera.id
            );
            wrong(found, format!("camera.{at}"), message);
        }
    }
}

fn separate_views(config: &Config, found: &mut Found) {
    for (at, list) in config.identity.separate_views.iter().enumerate() {
        let several = list.iter().any(|name| *name != list[0]);
        if !several || list.iter().any(String::is_empty) {
            let message = format!(
                "`identity.separate_views` has the list {list:?}, but each must name two different cameras or more"
            );
            wrong(found, format!("identity.separate_views.{at}"), message);
        }
    }
}

fn frames(config: &Config, found: &mut Found) {
    let replay = &config.replay;
    for (key, names) in
        [("base_frames", &replay.base_frames), ("fixed_frames", &replay.fixed_frames)]
    {
        for (at, name) in names.iter().enumerate() {
            if name.is_empty() || name.starts_with('/') {
                let message = format!(
                    "`replay.{key}` has {name:?}, but a frame has a name, without `/` before it, such as \"base_link\""
                );
                wrong(found, format!("replay.{key}.{at}"), message);
            }
        }
    }
}

fn engines(config: &Config, found: &mut Found) {
    for (key, url) in [
        ("llm.base_url", &config.llm.base_url),
        ("memorizer.base_url", &config.memorizer.base_url),
        ("embedder.base_url", &config.embedder.base_url),
        ("transcriber.base_url", &config.transcriber.base_url),
    ] {
        if let Some(url) = url
            && !(url.starts_with("http://") || url.starts_with("https://"))
        {
            wrong(
                found,
                key,
                format!("`{key}` is {url:?}, but must begin with http:// or https://"),
            );
        }
    }
    if config.transcriber.kind == TranscriberKind::Openai && config.transcriber.base_url.is_none() {
        wrong(
            found,
            "transcriber.kind",
            "`transcriber.kind = \"openai\"` needs `transcriber.base_url`",
        );
    }
    let embedder = &config.embedder;
    if embedder.kind == EmbedderKind::Server
        && (embedder.base_url.is_none() || embedder.model.is_none())
    {
        let message = "`embedder.kind = \"server\"` needs `embedder.base_url` and `embedder.model`";
        wrong(found, "embedder.kind", message);
    }
    let llm = &config.llm;
    let memorizer = &config.memorizer;
    let answers = llm.base_url.is_some() && llm.model.is_some();
    let memorizes = (memorizer.base_url.is_some() || llm.base_url.is_some())
        && (memorizer.model.is_some() || llm.model.is_some());
    for (key, kind, served) in [
        ("memorizer.kind", memorizer.kind, memorizes),
        ("answerer.kind", config.answerer.kind, answers),
    ] {
        if kind == Engine::Model && !served {
            wrong(found, key, format!("`{key} = \"model\"` needs `llm.base_url` and `llm.model`"));
        }
    }
    if config.answerer.fast == Engine::Model && config.answerer.kind != Engine::Model {
        let message = "`answerer.fast = \"model\"` needs `answerer.kind = \"model\"`";
        wrong(found, "answerer.fast", message);
    }
    for (key, file) in [
        ("llm.api_key_file", &config.llm.api_key_file),
        ("memorizer.api_key_file", &config.memorizer.api_key_file),
        ("embedder.api_key_file", &config.embedder.api_key_file),
        ("transcriber.api_key_file", &config.transcriber.api_key_file),
        ("store.key_file", &config.store.key_file),
        ("mqtt.password_file", &config.mqtt.password_file),
        ("mqtt.ca_file", &config.mqtt.ca_file),
        ("mqtt.client_cert_file", &config.mqtt.client_cert_file),
        ("mqtt.client_key_file", &config.mqtt.client_key_file),
        ("http.users_file", &config.http.users_file),
        ("http.tokens_file", &config.http.tokens_file),
        ("http.tls_cert_file", &config.http.tls_cert_file),
        ("http.tls_key_file", &config.http.tls_key_file),
    ] {
        if let Some(file) = file
            && resolve::find_file(file, config.store.dir.as_deref()).is_none()
        {
            wrong(found, key, format!("`{key}` names {}, which does not exist", file.display()));
        }
    }
}

fn mqtt(config: &Config, found: &mut Found) {
    let mqtt = &config.mqtt;
    if mqtt.prefix.is_empty()
        || mqtt.prefix.contains(['+', '#', '\0', '$'])
        || mqtt.prefix.split('/').any(str::is_empty)
    {
        let message = format!(
            "`mqtt.prefix` is {:?}, but must be a plain topic without `+`, `#`, `$` and empty levels",
            mqtt.prefix
        );
        wrong(found, "mqtt.prefix", message);
    }
    let prefix = &config.home_assistant.prefix;
    if prefix.is_empty()
        || prefix.contains(['+', '#', '\0', '$'])
        || prefix.split('/').any(str::is_empty)
    {
        let message = format!("`home_assistant.prefix` is {prefix:?}, but must be a plain topic");
        wrong(found, "home_assistant.prefix", message);
    }
    if mqtt.client_cert_file.is_some() != mqtt.client_key_file.is_some() {
        let message =
            "`mqtt.client_cert_file` and `mqtt.client_key_file` belong together: set both";
        wrong(found, "mqtt.client_cert_file", message);
    }
    if mqtt.password_file.is_some() && mqtt.username.is_none() {
        wrong(found, "mqtt.password_file", "`mqtt.password_file` needs `mqtt.username`");
    }
    match BrokerAddress::parse(&mqtt.broker) {
        Err(message) => wrong(found, "mqtt.broker", message),
        Ok(BrokerAddress::Embedded) => {
            let v4 = address("mqtt.listen", &mqtt.listen, found);
            let v5 = address("mqtt.listen_v5", &mqtt.listen_v5, found);
            if v4.is_some() && v4 == v5 && v4.is_some_and(|one| one.port() != 0) {
                wrong(
                    found,
                    "mqtt.listen_v5",
                    "`mqtt.listen` and `mqtt.listen_v5` are the same address; each MQTT version needs a port of its own",
                );
            }
            for (key, listen) in [("mqtt.listen", v4), ("mqtt.listen_v5", v5)] {
                if listen.is_some_and(|listen| !listen.ip().is_loopback())
                    && (mqtt.username.is_none() || mqtt.password_file.is_none())
                {
                    wrong(
                        found,
                        key,
                        format!(
                            "`{key}` is open to the network: set `mqtt.username` and `mqtt.password_file`, or listen on 127.0.0.1"
                        ),
                    );
                }
            }
        }
        Ok(BrokerAddress::Remote { .. }) => {}
    }
}

fn address(key: &str, text: &str, found: &mut Found) -> Option<SocketAddr> {
    let parsed = text.parse().ok();
    if parsed.is_none() {
        wrong(
            found,
            key,
            format!("`{key}` is {text:?}, but must be address:port, for example 127.0.0.1:1883"),
        );
    }
    parsed
}
