//! Which keys exist, and which of them a misspelt one was meant to be.

use std::sync::OnceLock;

use serde_json::Value;

use super::{Camera, Config, Microphone};

/// The tree of every key there is: tables and arrays of tables as in the file, leaves hold defaults
/// (`null` where a key has none).
pub(super) fn tree() -> &'static Value {
    static TREE: OnceLock<Value> = OnceLock::new();
    TREE.get_or_init(|| {
        let every_kind_of_entry = Config {
            camera: vec![Camera {
                id: String::new(),
                pipeline: None,
                uri: None,
                calibration_file: None,
            }],
            microphone: vec![Microphone::default()],
            ..Config::default()
        };
        serde_json::to_value(every_kind_of_entry).unwrap_or_default()
    })
}

/// Every key as `section.key`, in the order of the file; entries of `[[camera]]` and `[[microphone]]` as `camera.id`.
#[must_use]
pub fn key_paths() -> Vec<String> {
    let mut paths = Vec::new();
    for (section, keys) in tree().as_object().into_iter().flatten() {
        let keys = keys.get(0).unwrap_or(keys);
        for key in keys.as_object().into_iter().flat_map(|keys| keys.keys()) {
            paths.push(format!("{section}.{key}"));
        }
    }
    paths
}

/// What to say about `key`, which `section` (empty: the top level) does not have.
pub(super) fn advice(section: &str, key: &str, siblings: &[&str]) -> String {
    let at =
        if section.is_empty() { "at the top level".to_owned() } else { format!("in [{section}]") };
    if let Some(near) = nearest(key, siblings.iter().copied()) {
        return format!("unknown key `{key}` {at}; did you mean `{near}`?");
    }
    let all = key_paths();
    let elsewhere =
        all.iter().filter(|path| path.split_once('.').is_some_and(|(_, own)| own == key));
    let elsewhere: Vec<_> = elsewhere.map(|path| format!("`{path}`")).collect();
    if !elsewhere.is_empty() {
        return format!("unknown key `{key}` {at}; did you mean {}?", elsewhere.join(" or "));
    }
    format!("unknown key `{key}` {at}; there are {}", siblings.join(", "))
}

/// The candidate that `word` was most likely meant to be.
pub(super) fn nearest<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(word, candidate), candidate))
        .filter(|(likeness, _)| *likeness >= 0.82)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}
