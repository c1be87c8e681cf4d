//! Matching thresholds: when two embeddings of a model are the same face or voice.
//!
//! They belong to a model, not to the code: `calibration/thresholds/<model>.toml`, measured with
//! `engramd calibrate` and on recordings. A file in `/etc/engram`, the state directory or
//! `/usr/share/engram` ([`find_file`]) comes before the one this build was made with.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::config::find_file;
use crate::ids::ModelHash;
use crate::models::error::ModelError;

/// The thresholds that this build was made with.
const BUILT_IN: [(&str, &str); 7] = [
    ("mobilefacenet", include_str!("../../calibration/thresholds/mobilefacenet.toml")),
    ("mobilefacenet192", include_str!("../../calibration/thresholds/mobilefacenet192.toml")),
    ("faceapi_descriptor", include_str!("../../calibration/thresholds/faceapi_descriptor.toml")),
    ("ge2e", include_str!("../../calibration/thresholds/ge2e.toml")),
    ("campplus", include_str!("../../calibration/thresholds/campplus.toml")),
    ("eres2netv2", include_str!("../../calibration/thresholds/eres2netv2.toml")),
    ("arcface_r50", include_str!("../../calibration/thresholds/arcface_r50.toml")),
];

/// Where calibrations lie, below each of the folders in which files are looked up.
pub const FOLDER: &str = "calibration/thresholds";

/// How two embeddings are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Metric {
    /// Dot product of unit vectors, [-1, 1].
    #[default]
    Cosine,
}

/// When two embeddings of one model are alike. Scores are of [`Metric`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Thresholds {
    /// The model they were measured for.
    pub model: String,
    /// Only for the file of this hash; `None`: for any file of the model.
    pub sha256: Option<ModelHash>,
    /// What the numbers are.
    pub metric: Metric,
    /// At least this: the same.
    pub accept: f32,
    /// Below this: surely another. Between: to be decided by more evidence.
    pub maybe: f32,
    /// The best match leads the second best by at least this.
    pub margin: f32,
    /// From here on two galleries are taken for one.
    pub merge: f32,
    /// Norm of a raw face embedding up to which it is of nobody; `None`: norms tell nothing of a face, or nobody measured it.
    pub min_norm: Option<f32>,
    /// Equal error rate of the measurement, 0–1.
    pub eer: Option<f32>,
    /// The score at which it is reached.
    pub eer_threshold: Option<f32>,
    /// Pairs that were compared.
    pub pairs: Option<u64>,
    /// How it was measured.
    pub how: String,
    /// How alike others are. `None`: nobody measured it, and the thresholds are the same however many are known.
    pub others: Option<Others>,
    /// Of a speaker network: when one voice follows another. `None`: nobody measured it.
    pub changes: Option<Changes>,
}

/// Scores of samples of two people: what a chance match is reckoned from.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Others {
    /// Their mean (or median).
    pub mean: f32,
    /// Their standard deviation, of the side above the mean.
    pub deviation: f32,
}

/// How alike what one voice says is to itself inside a turn and a clip, for a network that looks for changes of voice.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Changes {
    /// Windows before and after a place without a pause must differ by a cosine below this.
    pub peak: f32,
    /// Parts before and after a place without a pause must differ by a cosine below this.
    pub change: f32,
    /// Parts before and after a pause must differ by a cosine below this.
    pub pause: f32,
    /// Shorter sides make the cosine smaller by themselves: it is raised by this much per missing second of the shorter side.
    pub short_penalty: f32,
    /// Over a poor channel, two are two people from this clearness on: how much nearer windows are to their own middle than
    /// to the other's, as a share of how far they are from their own.
    pub clearness: f32,
    /// Three and more are so many people from this clearness of every two of them on, beyond chance.
    pub further_clearness: f32,
    /// What a change of voice costs, in windows of mean clearness.
    pub switch_penalty: f32,
    /// A reply too short for a voice of its own is the clip's voice that leads all others by this much. `None`: nobody's.
    pub short_margin: Option<f32>,
    /// And is at least so alike.
    pub short_least: Option<f32>,
}

impl Changes {
    fn makes_sense(&self) -> bool {
        let cosines = [self.peak, self.change, self.pause, self.short_least.unwrap_or(0.0)];
        let weights = [
            self.short_penalty,
            self.clearness,
            self.further_clearness,
            self.switch_penalty,
            self.short_margin.unwrap_or(0.0),
        ];
        cosines.iter().all(|cosine| (-1.0..=1.0).contains(cosine))
            && weights.iter().all(|weight| (0.0..=100.0).contains(weight))
    }
}

impl Thresholds {
    /// The thresholds of a model: of this machine, else of this build; `None` when there are none. `state_dir`: the
    /// state directory, where it is not the default one.
    ///
    /// # Errors
    /// [`ModelError::Thresholds`] when a file is there and cannot be understood.
    pub fn of(model: &str, state_dir: Option<&Path>) -> Result<Option<Self>, ModelError> {
        let Some(path) = Self::file(model, state_dir) else { return Self::built_in(model) };
        let text = std::fs::read_to_string(&path).map_err(ModelError::io("reading", &path))?;
        let mut read = Self::parse(&text, &path)?;
        if read.changes.is_none() {
            // `engramd calibrate` measures whole turns.
            read.changes = Self::built_in(model)?.and_then(|built_in| built_in.changes);
        }
        if read.others.is_none() {
            // A file from before they were asked for.
            read.others = Self::built_in(model)?.and_then(|built_in| built_in.others);
        }
        Ok(Some(read))
    }

    /// The file that holds this machine's calibration of a model; `None` where there is none.
    #[must_use]
    pub fn file(model: &str, state_dir: Option<&Path>) -> Option<PathBuf> {
        find_file(&Path::new(FOLDER).join(format!("{model}.toml")), state_dir)
    }

    /// The thresholds that this build was made with; `None` for a model that it does not know.
    ///
    /// # Errors
    /// [`ModelError::Thresholds`] when the file was wrong at build time.
    pub fn built_in(model: &str) -> Result<Option<Self>, ModelError> {
        let built_in = BUILT_IN.iter().find(|(name, _)| *name == model);
        built_in.map(|(name, text)| Self::parse(text, Path::new(name))).transpose()
    }

    /// Reads a thresholds file; `path` is for messages.
    ///
    /// # Errors
    /// [`ModelError::Thresholds`] when a key is missing or unknown, or a number makes no sense.
    pub fn parse(text: &str, path: &Path) -> Result<Self, ModelError> {
        let wrong = |why: String| ModelError::Thresholds { path: PathBuf::from(path), why };
        let read: Self = toml::from_str(text).map_err(|error| wrong(error.to_string()))?;
        let sound =
            [read.accept, read.maybe, read.merge].iter().all(|score| (-1.0..=1.0).contains(score));
        if !sound || !(0.0..=2.0).contains(&read.margin) {
            return Err(wrong("accept, maybe and merge are cosines, margin is 0–2".to_owned()));
        }
        if read.min_norm.is_some_and(|norm| !(norm.is_finite() && norm > 0.0)) {
            return Err(wrong("min_norm is a length above 0".to_owned()));
        }
        let spread = |others: Others| {
            (-1.0..=1.0).contains(&others.mean) && (0.0..=1.0).contains(&others.deviation)
        };
        if read.others.is_some_and(|others| !spread(others)) {
            return Err(wrong("in [others] mean is a cosine, deviation 0 to 1".to_owned()));
        }
        if read.changes.is_some_and(|changes| !changes.makes_sense()) {
            let what =
                "in [changes] peak, change, pause and short_least are cosines, the others 0 to 100";
            return Err(wrong(what.to_owned()));
        }
        if read.maybe > read.accept {
            return Err(wrong(format!("maybe {} is above accept {}", read.maybe, read.accept)));
        }
        Ok(read)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::models::Manifest;

    #[test]
    fn built_in_thresholds_belong_to_models() {
        let manifest = Manifest::built_in().unwrap();
        for (name, text) in BUILT_IN {
            let read = Thresholds::parse(text, Path::new(name)).unwrap();
            assert_eq!(read.model, name);
            assert!(manifest.model(name).is_some(), "{name}");
        }
    }

    #[test]
    fn a_calibration_in_the_state_directory_comes_before_the_built_in_one() {
        let (name, text) = BUILT_IN[0];
        let state = tempfile::tempdir().unwrap();
        let of_this_machine = || Thresholds::of(name, Some(state.path()));
        assert_eq!(of_this_machine().unwrap(), Thresholds::built_in(name).unwrap());
        let folder = state.path().join(FOLDER);
        std::fs::create_dir_all(&folder).unwrap();
        let measured = text.replace("margin = ", "margin = 0.123 # ");
        assert_ne!(measured, text);
        std::fs::write(folder.join(format!("{name}.toml")), measured).unwrap();
        assert_eq!(of_this_machine().unwrap().map(|found| found.margin), Some(0.123));
        std::fs::write(folder.join(format!("{name}.toml")), "garbage").unwrap();
        let error = of_this_machine().unwrap_err().to_string();
        assert!(error.contains(&*state.path().to_string_lossy()), "{error}");
        assert_eq!(Thresholds::of("of_nobody", Some(state.path())).unwrap(), None);
    }

    #[test]
    fn a_calibration_of_whole_turns_leaves_changes_as_they_were() {
        let (name, text) = BUILT_IN.into_iter().find(|(name, _)| *name == "campplus").unwrap();
        let whole = Thresholds::built_in(name).unwrap().unwrap();
        let state = tempfile::tempdir().unwrap();
        let folder = state.path().join(FOLDER);
        std::fs::create_dir_all(&folder).unwrap();
        let turns =
            text.split("\n[changes]\n").next().unwrap().replace("margin = ", "margin = 0.5 # ");
        std::fs::write(folder.join(format!("{name}.toml")), turns).unwrap();
        let read = Thresholds::of(name, Some(state.path())).unwrap().unwrap();
        assert_eq!((read.margin, read.changes), (0.5, whole.changes));
        assert!(read.changes.is_some());
        for (key, value) in [("peak", "1.5"), ("short_penalty", "-1"), ("clearness", "nan")] {
            let absurd = text.replace(&format!("\n{key} = "), &format!("\n{key} = {value} # "));
            assert_ne!(absurd, text);
            assert!(Thresholds::parse(&absurd, Path::new("t")).is_err(), "{key} = {value}");
        }
    }

    #[test]
    fn nonsense_is_refused() {
        let text = BUILT_IN[0].1;
        let swapped = text.replace("maybe = ", "maybe = 0.9 # ");
        assert!(Thresholds::parse(&swapped, Path::new("t")).is_err());
        let unknown = format!("{text}\nmatch = 1\n");
        assert!(Thresholds::parse(&unknown, Path::new("t")).is_err());
        for (key, value) in [("merge", "inf"), ("min_norm", "nan"), ("min_norm", "-1.0")] {
            let absurd = text.replace(&format!("{key} = "), &format!("{key} = {value} # "));
            assert_ne!(absurd, text);
            assert!(Thresholds::parse(&absurd, Path::new("t")).is_err(), "{key} = {value}");
        }
    }

    #[test]
    fn mutated_thresholds_never_panic_and_what_is_read_makes_sense() {
        let seeds: Vec<Vec<u8>> =
            BUILT_IN.iter().map(|(_, text)| text.as_bytes().to_vec()).collect();
        let mut read = 0;
        crate::capture::bag::mutations::hold("thresholds", 5_000, &seeds, |bytes| {
            let text = String::from_utf8_lossy(bytes);
            let Ok(found) = Thresholds::parse(&text, Path::new("t")) else { return };
            read += 1;
            assert!(found.maybe <= found.accept && found.accept.abs() <= 1.0);
            assert!(found.margin >= 0.0 && found.merge.is_finite());
        });
        assert!(read > 100, "{read}");
    }
}
