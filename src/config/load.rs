//! Reading the configuration: file, then `--set` overrides, then checks.

use std::path::{Path, PathBuf};

use serde::Deserialize as _;
use serde::de::IntoDeserializer as _;
use toml::Value;
use toml::de::DeTable;

use super::locate::{self, Text};
use super::{Config, ConfigError, ModelSet, Place, Problem, check, keys};

/// The file that is read when `--config` names none.
pub const SYSTEM_FILE: &str = "/etc/engram/engram.toml";

/// Where a configuration is to come from.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// `--config`; `None`: [`SYSTEM_FILE`] where it exists, else the built-in defaults.
    pub file: Option<PathBuf>,
    /// `--set section.key=value`, in order.
    pub overrides: Vec<String>,
    /// `--data-dir`: sets `store.dir` only.
    pub data_dir: Option<PathBuf>,
}

/// A configuration and where it came from.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The values; see [`Config::resolved`] for those that depend on the machine.
    pub config: Config,
    /// The file that was read, if any.
    pub file: Option<PathBuf>,
}

impl Config {
    /// Reads and checks the configuration.
    ///
    /// # Errors
    /// [`ConfigError::Read`] when a named file cannot be read, [`ConfigError::Invalid`] with every unknown key
    /// (and the nearest known one), wrong type, value out of range and contradiction, each with its place.
    pub fn load(source: &Source) -> Result<Loaded, ConfigError> {
        let system = Path::new(SYSTEM_FILE);
        let file = match &source.file {
            Some(path) => Some(path.clone()),
            None => system.exists().then(|| system.to_owned()),
        };
        let text = match &file {
            Some(path) => std::fs::read_to_string(path)
                .map_err(|source| ConfigError::Read { path: path.clone(), source })?,
            None => String::new(),
        };
        let path = file.as_deref().unwrap_or(system);
        let mut config = Self::parse(path, &text, &source.overrides)?;
        if let Some(dir) = &source.data_dir {
            config.store.dir = Some(dir.clone());
        }
        Ok(Loaded { config, file })
    }

    /// Parses `text`, said to be the file `path`, applies the overrides, and checks the whole.
    ///
    /// # Errors
    /// [`ConfigError::Invalid`], as [`Config::load`].
    pub fn parse(path: &Path, text: &str, overrides: &[String]) -> Result<Self, ConfigError> {
        let one = |problem| ConfigError::Invalid(vec![problem]);
        let in_file = |error: &toml::de::Error| {
            let byte = error.span().map_or(0, |span| span.start);
            Problem { place: locate::place(path, text, byte), message: plain(error) }
        };
        let table = DeTable::parse(text).map_err(|error| one(in_file(&error)))?;
        let located = Text { path, text, table };
        let mut problems: Vec<_> = locate::unknown_keys(located.table.get_ref(), keys::tree())
            .into_iter()
            .map(|unknown| Problem {
                place: located.place(unknown.span.start),
                message: keys::advice(&unknown.section, &unknown.key, &unknown.siblings),
            })
            .collect();
        if !problems.is_empty() {
            problems.sort_by_key(|problem| match problem.place {
                Place::File { line, column, .. } => (line, column),
                _ => (0, 0),
            });
            return Err(ConfigError::Invalid(problems));
        }
        let mut config: Self = toml::from_str(text).map_err(|error| one(in_file(&error)))?;
        if !overrides.is_empty() {
            let mut values: toml::Table =
                toml::from_str(text).map_err(|error| one(in_file(&error)))?;
            for text in overrides {
                let wrong =
                    |message| one(Problem { place: Place::Override(text.clone()), message });
                set(&mut values, text).map_err(wrong)?;
                config = values
                    .clone()
                    .try_into()
                    .map_err(|error: toml::de::Error| wrong(plain(&error)))?;
            }
        }
        for (key, message) in check::problems(&config) {
            let set_here = overrides
                .iter()
                .rev()
                .find(|text| text.split_once('=').is_some_and(|(path, _)| path.trim() == key));
            let place = match set_here {
                Some(text) => Place::Override(text.clone()),
                None => located.find(&key).unwrap_or(Place::Default),
            };
            problems.push(Problem { place, message });
        }
        if problems.is_empty() { Ok(config) } else { Err(ConfigError::Invalid(problems)) }
    }
}

/// The message of a TOML error in one line.
fn plain(error: &toml::de::Error) -> String {
    error.message().replace('\n', " ")
}

/// Applies `section.key=value` or `camera.0.uri=value`; the value is TOML, or else a plain string.
fn set(table: &mut toml::Table, text: &str) -> Result<(), String> {
    let Some((path, value)) = text.split_once('=') else { return Err(no_assignment(text)) };
    let path = path.trim();
    let value = toml_value(value.trim());
    let mut known = keys::tree();
    let mut section = "";
    let parts: Vec<&str> = path.split('.').collect();
    for part in &parts {
        if known.is_array() {
            let Ok(_) = part.parse::<usize>() else {
                return Err(format!(
                    "`{section}` is a list: give its index, for example --set {section}.0.id={part}"
                ));
            };
            known = &known[0];
            continue;
        }
        let Some(level) = known.as_object() else {
            return Err(format!("`{path}` goes below `{section}`, which has no keys of its own"));
        };
        let Some(below) = level.get(*part) else {
            let siblings: Vec<&str> = level.keys().map(String::as_str).collect();
            return Err(keys::advice(section, part, &siblings));
        };
        known = below;
        section = part;
    }
    if known.is_object() {
        return Err(format!("`{path}` is a section: name one of its keys"));
    }
    let mut here = Value::Table(std::mem::take(table));
    let done = place_value(&mut here, &parts, value);
    if let Value::Table(filled) = here {
        *table = filled;
    }
    done
}

/// What to say about an override without a value: most likely a set of models was meant.
fn no_assignment(text: &str) -> String {
    let set: Result<ModelSet, serde::de::value::Error> =
        ModelSet::deserialize(text.into_deserializer());
    match set {
        Ok(_) => format!(
            "`{text}` names a set of models: write --set models.set={text} (the name alone is for `engramd models fetch`)"
        ),
        Err(_) => "write section.key=value, for example --set window.clip_secs=10".to_owned(),
    }
}

/// Puts `value` at the path below `here`, making tables and list entries on the way.
fn place_value(here: &mut Value, path: &[&str], value: Value) -> Result<(), String> {
    let Some((first, rest)) = path.split_first() else {
        *here = value;
        return Ok(());
    };
    if let (Ok(index), Value::Array(entries)) = (first.parse::<usize>(), &mut *here) {
        if index > entries.len() {
            return Err(format!("there are only {} entries before index {index}", entries.len()));
        }
        if index == entries.len() {
            entries.push(Value::Table(toml::Table::new()));
        }
        return place_value(&mut entries[index], rest, value);
    }
    let Value::Table(table) = here else {
        return Err(format!("`{first}` goes below a value that has no keys"));
    };
    let next_is_index = rest.first().is_some_and(|part| part.parse::<usize>().is_ok());
    let below = table.entry(*first).or_insert_with(|| {
        if next_is_index { Value::Array(Vec::new()) } else { Value::Table(toml::Table::new()) }
    });
    place_value(below, rest, value)
}

/// `text` as a TOML value; what is none is taken as a string, so that URLs need no quotes.
fn toml_value(text: &str) -> Value {
    let as_toml = format!("value = {text}").parse::<toml::Table>().ok();
    as_toml
        .filter(|table| table.len() == 1)
        .and_then(|mut table| table.remove("value"))
        .unwrap_or_else(|| Value::String(text.to_owned()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::config::{RANGES, Renaming, key_paths};

    const EXAMPLE: &str = include_str!("../../config/engram.toml");

    fn parse(text: &str, overrides: &[&str]) -> Result<Config, String> {
        let overrides: Vec<String> = overrides.iter().map(|text| (*text).to_owned()).collect();
        Config::parse(Path::new("engram.toml"), text, &overrides).map_err(|error| error.to_string())
    }

    fn refused(text: &str, overrides: &[&str]) -> String {
        parse(text, overrides).unwrap_err()
    }

    #[test]
    fn the_example_file_says_the_defaults() {
        assert_eq!(parse(EXAMPLE, &[]).unwrap(), Config::default());
    }

    #[test]
    fn the_example_file_shows_every_key_with_its_range() {
        let mut section = String::new();
        let mut comment = String::new();
        let mut shown = Vec::new();
        for line in EXAMPLE.lines() {
            let bare = line.strip_prefix("# ").unwrap_or(line);
            if bare.starts_with('[') && bare.ends_with(']') {
                section = bare.trim_matches(['[', ']']).to_owned();
            } else if let Some((key, _)) = bare.split_once(" = ")
                && key.bytes().all(|b| b.is_ascii_lowercase() || b == b'_' || b == b'5')
                && !section.is_empty()
            {
                let path = format!("{section}.{key}");
                if let Some(range) = RANGES.iter().find(|range| range.key == path) {
                    let range = format!("{}–{}", range.min, range.max);
                    assert!(
                        comment.contains(&range),
                        "{path}: range {range} is not in {comment:?}"
                    );
                }
                shown.push(path);
                comment.clear();
            } else {
                comment.push_str(line);
                comment.push(' ');
            }
        }
        assert_eq!(shown, key_paths());
    }

    #[test]
    fn the_example_file_still_parses_with_every_key_taken_in() {
        let is_key = |line: &str| {
            line.starts_with("[[")
                || line.split_once(" = ").is_some_and(|(key, _)| {
                    key.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
                })
        };
        let all: String = EXAMPLE
            .lines()
            .map(|line| line.strip_prefix("# ").filter(|bare| is_key(bare)).unwrap_or(line))
            .filter(|line| !line.contains("_file"))
            .flat_map(|line| [line, "\n"])
            .collect();
        let config = parse(&all, &[]).unwrap();
        assert_eq!(config.camera[0].id, "front");
        assert_eq!(config.robot.id.as_deref(), Some("kitchen-9f3c"));
    }

    #[test]
    fn the_set_ups_for_language_models_are_configurations() {
        let page = include_str!("../../docs/language-models.md");
        let blocks: Vec<&str> = page.split("```toml\n").skip(1).collect();
        assert_eq!(blocks.len(), 7);
        for block in blocks {
            let text = block.split("```").next().unwrap();
            let text = text.replace(", api_key_file = \"llm.key\"", "");
            let config =
                parse(&text.replace(", api_key_file = \"embedder.key\"", ""), &[]).unwrap();
            let embeds = config.embedder.kind == crate::config::EmbedderKind::Server;
            assert!(embeds || config.answerer.kind == crate::config::Engine::Model, "{text}");
            assert!(text.lines().count() <= 3, "{text}");
        }
        let message = refused("[embedder]\nkind = \"server\"\nmodel = \"m\"\n", &[]);
        assert!(message.contains("needs `embedder.base_url` and `embedder.model`"), "{message}");
        assert!(refused("[embedder]\nbase_url = \"host:1\"\n", &[]).contains("http://"));
        for key in ["memorizer", "answerer"] {
            let message = refused(&format!("[{key}]\nkind = \"model\"\n"), &[]);
            assert!(message.contains("needs `llm.base_url` and `llm.model`"), "{message}");
        }
        assert!(refused("[answerer]\nfast = \"model\"\n", &[]).contains("answerer.kind"));
    }

    #[test]
    fn an_unknown_key_is_refused_with_its_place_and_the_nearest() {
        let message = refused("[window]\nclip_secs = 10\n  anlyse_fps = 3\n", &[]);
        assert_eq!(
            message,
            "engram.toml:3:3: unknown key `anlyse_fps` in [window]; did you mean `analyse_fps`?"
        );
        let message = refused("[mqt]\n[[camera]]\nid = \"a\"\nurl = \"b\"\n", &[]);
        assert_eq!(
            message,
            "engram.toml:1:2: unknown key `mqt` at the top level; did you mean `mqtt`?\n\
             engram.toml:4:1: unknown key `url` in [camera]; did you mean `uri`?"
        );
        let message = refused("clip_secs = 10\n", &[]);
        assert!(message.contains("did you mean `window.clip_secs`?"), "{message}");
        let message = refused("[window]\nfrobnicate = 1\n", &[]);
        assert!(message.contains("there are clip_secs, analyse_fps"), "{message}");
    }

    #[test]
    fn bad_values_are_refused_with_their_place_and_range() {
        let message = refused("[window]\nclip_secs = 1\n", &[]);
        assert_eq!(
            message,
            "engram.toml:2:13: `window.clip_secs` is 1, but must be 5–300 (seconds)"
        );
        for (text, says) in [
            ("[window]\nclip_secs = \"long\"\n", "engram.toml:2:13: invalid type: string \"long\""),
            ("[window\n", "engram.toml:1:8"),
            (
                "[models]\nset = \"opne\"\n",
                "engram.toml:2:7: unknown variant `opne`, expected one of `open`",
            ),
            (
                "[face]\ndetector = \"retina\"\n",
                "2:12: unknown variant `retina`, expected one of `auto`, `yunet`, `scrfd`, `ultraface`, `mtcnn`",
            ),
            (
                "[voice]\nnetwork = \"eres2netv2\"\n",
                "expected one of `auto`, `ge2e`, `w26s2ep2`, `w24s4ep4`, `campplus`, `ecapa`",
            ),
            ("[robot]\nid = \"My Robot\"\n", "engram.toml:2:6: `robot.id`"),
            ("[robot]\ntimezone = \"Europe/Berln\"\n", "did you mean \"Europe/Berlin\""),
            ("[mqtt]\nbroker = \"hub\"\n", "write \"embedded\""),
            ("[mqtt]\nlisten = \"0.0.0.0:1883\"\n", "open to the network"),
            ("[mqtt]\nlisten = \"127.0.0.1:1884\"\n", "same address"),
            ("[mqtt]\nprefix = \"a/#\"\n", "mqtt.prefix"),
            ("[answerer]\nkind = \"model\"\n", "needs `llm.base_url`"),
            ("[[camera]]\nid = \"a\"\n", "engram.toml:1:1: the camera \"a\" has neither"),
            (
                "[identity]\nseparate_views = [[\"a\", \"b\"], [\"a\", \"a\"]]\n",
                "engram.toml:2:31: `identity.separate_views` has the list [\"a\", \"a\"]",
            ),
            (
                "[[microphone]]\nid = \"a\"\n[[microphone]]\nid = \"a\"\n",
                "engram.toml:4:6: two sources",
            ),
            ("[llm]\napi_key_file = \"/nowhere/key\"\n", "does not exist"),
            (
                "[replay]\nremap = [\"/a\"]\n",
                "engram.toml:2:9: \"/a\" is no renaming; write OLD:=NEW",
            ),
            (
                "[replay]\nsound = [\"/mic:=S16LE,44100\"]\n",
                "engram.toml:2:9: \"/mic:=S16LE,44100\" tells of no sound; write TOPIC:=FORMAT,RATE,CHANNELS",
            ),
            ("[replay]\nsound = [\"/mic:=S16LE,1,2\"]\n", "the rate must be 4000–384000 (Hz)"),
            (
                "[replay]\nbase_frames = [\"\"]\n",
                "`replay.base_frames` has \"\", but a frame has a name",
            ),
            ("[replay]\nfixed_frames = [\"/map\"]\n", "without `/` before it"),
        ] {
            let message = refused(text, &[]);
            assert!(message.contains(says), "{text}: {message}");
        }
    }

    #[test]
    fn numbers_without_an_end_are_refused_wherever_they_stand() {
        let floats = key_paths().into_iter().filter_map(|path| {
            let (section, key) = path.split_once('.')?;
            let default = keys::tree().get(section)?.get(key)?;
            let optional = section == "privacy" && default.is_null();
            (default.is_f64() || optional).then(|| (section.to_owned(), key.to_owned()))
        });
        let floats: Vec<_> = floats.collect();
        assert!(floats.len() > 20, "{floats:?}");
        for (section, key) in floats {
            for number in ["nan", "-nan", "inf", "-inf"] {
                let message = refused(&format!("[{section}]\n{key} = {number}\n"), &[]);
                let place = format!("engram.toml:2:{}: `{section}.{key}` is ", key.len() + 4);
                assert!(message.starts_with(&place), "{message}");
                let set = format!("{section}.{key}={number}");
                let message = refused("", &[&set]);
                assert!(message.starts_with(&format!("--set {set}: ")), "{message}");
            }
        }
        let message = refused("[[microphone]]\nid = \"a\"\noffset_secs = nan\n", &[]);
        assert!(message.starts_with("engram.toml:3:15: `offset_secs`"), "{message}");
        assert_eq!(message.lines().count(), 1, "said once");
    }

    #[test]
    fn overrides_win_over_the_file() {
        let file = "[window]\nclip_secs = 20\n[[camera]]\nid = \"a\"\nuri = \"x\"\n";
        let config = parse(
            file,
            &[
                "window.clip_secs=10",
                "models.set=edge",
                "mqtt.broker=mqtt://hub:1883",
                "camera.0.uri=/dev/video2",
                "camera.1.id=b",
                "camera.1.uri=y",
                "replay.topics=[\"/a\"]",
                "replay.remap.0=/a:=/b",
            ],
        );
        let config = config.unwrap();
        assert_eq!(config.window.clip_secs, 10.0);
        assert_eq!(config.models.set, ModelSet::Edge);
        assert_eq!(config.mqtt.broker, "mqtt://hub:1883");
        assert_eq!(config.camera[0].uri.as_deref(), Some("/dev/video2"));
        assert_eq!(config.camera[1].id, "b");
        assert_eq!(config.replay.topics, ["/a"]);
        assert_eq!(config.replay.remap, [Renaming::parse("/a:=/b").unwrap()]);
    }

    #[test]
    fn bad_overrides_are_refused_by_name() {
        for (text, says) in [
            (
                "window.clip_sec=10",
                "--set window.clip_sec=10: unknown key `clip_sec` in [window]; did you mean `clip_secs`?",
            ),
            (
                "window.clip_secs=1",
                "--set window.clip_secs=1: `window.clip_secs` is 1, but must be 5–300",
            ),
            ("window.clip_secs=long", "--set window.clip_secs=long: invalid type"),
            ("window=1", "is a section"),
            ("window.clip_secs", "write section.key=value"),
            ("edge", "--set edge: `edge` names a set of models: write --set models.set=edge"),
            ("camera.uri=x", "is a list"),
            ("camera.3.uri=x", "only 0 entries"),
            ("robot.id.x=1", "no keys of its own"),
        ] {
            let message = refused("", &[text]);
            assert!(message.contains(says), "{text}: {message}");
        }
    }

    #[test]
    fn a_named_file_must_exist_and_the_data_dir_goes_to_the_store() {
        let missing = Source { file: Some("/nowhere/engram.toml".into()), ..Source::default() };
        let message = Config::load(&missing).unwrap_err().to_string();
        assert!(message.contains("/nowhere/engram.toml"), "{message}");
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("engram.toml");
        std::fs::write(&file, "[store]\nmedia_cap_mb = 7\n").unwrap();
        let source =
            Source { file: Some(file), data_dir: Some("/tmp/memory".into()), ..Source::default() };
        let config = Config::load(&source).unwrap().config;
        assert_eq!((config.store.media_cap_mb, config.store.dir), (7, Some("/tmp/memory".into())));
    }

    #[test]
    fn mutated_files_never_panic() {
        let seeds = [
            EXAMPLE.as_bytes().to_vec(),
            b"[window]\nclip_secs = 10\n[[camera]]\nid = \"a\"\n".to_vec(),
        ];
        crate::capture::bag::mutations::hold("configurations", 300, &seeds, |bytes| {
            let text = String::from_utf8_lossy(bytes);
            let _ = Config::parse(Path::new("engram.toml"), &text, &[]);
        });
    }
}
