//! What a message must not show: passwords in addresses and launch descriptions.

use std::ops::Range;

use super::Config;

/// Stands for what is hidden.
const HIDDEN: &str = "***";
/// How the names of properties and query parameters end whose values are secrets (`user-pw`, `passphrase`, `api_key`).
const SECRETS: [&str; 9] =
    ["password", "passwd", "passphrase", "pass", "pwd", "pw", "secret", "token", "key"];

/// The text as it may be logged and printed: user and password of every address (`rtsp://user:password@host`, and what
/// looks like `user:password@host` without a scheme) and the values of properties and query parameters that are secrets by
/// their names are `***`. In doubt more is hidden.
#[must_use]
pub fn without_secrets(text: &str) -> String {
    let words = text.split_inclusive(ends_a_value);
    without_values(&words.map(without_users).collect::<String>())
}

/// A word of a text: up to a space or a quote.
fn without_users(word: &str) -> String {
    let Some(user) = last_user(word) else { return word.to_owned() };
    let (before, after) = (&word[..user.start], &word[user.end..]);
    without_users(before) + HIDDEN + after
}

/// Where user and password of a word's last address stand.
fn last_user(word: &str) -> Option<Range<usize>> {
    // The last `@`: a password may hold one, and a `/`.
    let end = word.rfind('@')?;
    let before = &word[..end];
    let start = match before.find("://") {
        Some(scheme) => scheme + "://".len(),
        // A user alone is no secret; with a password it begins the word, or follows `key=`.
        None => before[..before.find(':')?].rfind('=').map_or(0, |equals| equals + 1),
    };
    Some(start..end)
}

fn without_values(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('=') {
        let (before, after) = rest.split_at(at + 1);
        let value = after.trim_start();
        shown.push_str(before);
        rest = after;
        if is_secret(&before[..at]) && !value.is_empty() {
            shown.push_str(HIDDEN);
            rest = &value[value_bytes(value)..];
        }
    }
    shown + rest
}

/// Whether the text ends in the name of a secret.
fn is_secret(before: &str) -> bool {
    let of_a_name = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    let before = before.trim_end();
    let name = before.rsplit(|c| !of_a_name(c)).next().unwrap_or_default();
    // "section.key=value" is how settings are written.
    if before.ends_with(".key") {
        return false;
    }
    let name = name.to_lowercase();
    SECRETS.iter().any(|secret| name.ends_with(secret))
}

/// How long the value at the beginning is, in or without quotes; those of a text in quotes are escaped.
fn value_bytes(text: &str) -> usize {
    for quote in ["\\\"", "\"", "'"] {
        if let Some(quoted) = text.strip_prefix(quote) {
            return quoted.find(quote).map_or(text.len(), |end| end + 2 * quote.len());
        }
    }
    text.find(ends_a_value).unwrap_or(text.len())
}

fn ends_a_value(c: char) -> bool {
    c.is_whitespace() || matches!(c, '"' | '\'' | '`')
}

impl Config {
    /// The configuration as it may be printed.
    #[must_use]
    pub fn without_secrets(&self) -> Self {
        let mut shown = self.clone();
        let cameras = shown.camera.iter_mut().flat_map(|one| [&mut one.uri, &mut one.pipeline]);
        let microphones = shown.microphone.iter_mut().map(|one| &mut one.device);
        let servers = [
            &mut shown.llm.base_url,
            &mut shown.memorizer.base_url,
            &mut shown.embedder.base_url,
            &mut shown.transcriber.base_url,
        ];
        for text in cameras.chain(microphones).chain(servers).flatten() {
            *text = without_secrets(text);
        }
        shown.mqtt.broker = without_secrets(&shown.mqtt.broker);
        shown
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::config::{Camera, ConfigError, Place, Problem};

    #[test]
    fn passwords_are_hidden_wherever_they_stand() {
        for (text, shown) in [
            ("rtsp://admin:geheim@10.0.0.7:554/live", "rtsp://***@10.0.0.7:554/live"),
            ("from rtsp://u:ge/he@im@cam/a to http://x/", "from rtsp://***@cam/a to http://x/"),
            ("http://cam/v?user=u&pwd=geheim", "http://cam/v?user=u&pwd=***"),
            ("u:geheim@hub:1883", "***@hub:1883"),
            ("--set mqtt.broker=u:ge=he:i@m@hub", "--set mqtt.broker=***@hub"),
            (
                "x.toml:2:1: \"u:geheim@hub\" names no broker",
                "x.toml:2:1: \"***@hub\" names no broker",
            ),
            ("rtspsrc location=u:ge/heim@cam ! appsink", "rtspsrc location=***@cam ! appsink"),
            ("u:geheim@a,rtsp://v:geheim@b", "***@a,rtsp://***@b"),
            (
                "rtspsrc location=\"rtsp://u:geheim@cam\" user-id=u user-pw=geheim ! appsink",
                "rtspsrc location=\"rtsp://***@cam\" user-id=u user-pw=*** ! appsink",
            ),
            ("src user-pw = \"ge heim\" ! x", "src user-pw =*** ! x"),
            ("in \"src passphrase=\\\"ge heim\\\" ! x\"", "in \"src passphrase=*** ! x\""),
            ("`srtsrc Passphrase='ge heim'`", "`srtsrc Passphrase=***`"),
        ] {
            assert_eq!(without_secrets(text), shown);
        }
    }

    #[test]
    fn what_is_no_secret_is_shown() {
        for text in [
            "",
            "rtsp://10.0.0.7/live",
            "--set llm.max_tokens=30",
            "write section.key=VALUE",
            "--set window.key_frames=3",
            "--set mqtt.password_file=/etc/engram/mqtt",
            "user@host has no address",
            "engram.toml:2:3: user@host:1883 has no password",
            "it came at 12:30:00 from user@host",
            "v4l2src device=/dev/video0 ! appsink name=video",
            "pw=",
        ] {
            assert_eq!(without_secrets(text), text);
        }
    }

    #[test]
    fn a_configuration_is_shown_without_them_and_so_are_its_mistakes() {
        let mut config = Config::default();
        config.mqtt.broker = "mqtt://u:geheim@hub".into();
        config.llm.base_url = Some("http://u:geheim@llm/v1".into());
        config.transcriber.base_url = Some("u:geheim@words:9000".into());
        config.camera.push(Camera {
            id: "front".into(),
            uri: Some("rtsp://u:geheim@cam/".into()),
            pipeline: Some("rtspsrc user-pw=geheim ! appsink name=video".into()),
            calibration_file: None,
        });
        let shown = toml::to_string(&config.without_secrets()).unwrap();
        assert!(!shown.contains("geheim") && shown.contains("rtsp://***@cam/"), "{shown}");
        assert!(shown.contains("\"***@words:9000\""), "{shown}");

        for (text, set) in [
            ("[mqtt]\nbroker = \"mqtt://u:geheim@hub\"\n", None),
            ("[mqtt]\nbroker = \"u:geheim@hub:1883\"\n", None),
            ("[llm]\nmax_tokens = \"http://u:geheim@llm\"\n", None),
            ("", Some("camera.0.uri=rtsp://u:geheim@cam")),
            ("", Some("mqtt.broker=u:geheim@hub")),
        ] {
            let path = std::path::Path::new("engram.toml");
            let overrides: Vec<String> = set.map(str::to_owned).into_iter().collect();
            let told = Config::parse(path, text, &overrides).unwrap_err().to_string();
            assert!(!told.contains("geheim") && told.contains("***"), "{told}");
        }
        let place = Place::Default;
        let problem = Problem { place, message: "http://u:geheim@host".into() };
        let told = ConfigError::Invalid(vec![problem]).to_string();
        assert_eq!(told, "configuration: http://***@host");
    }
}
